// Files, with promises.

import { promises } from "offshoot:node/fs";

export const {
  readFile, writeFile, appendFile, access, stat, lstat, readdir, mkdir, mkdtemp, unlink, rmdir, rename, copyFile, realpath, rm, cp, link,
  symlink, readlink, chmod, utimes, truncate, opendir, open, watch, constants,
} = promises;
export default promises;

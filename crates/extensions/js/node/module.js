// Node's `module`: a `require` for files that are modules.

import { modules as native } from "offshoot:native";
import { Module, requireFrom } from "offshoot:modules";
import { fileURLToPath } from "offshoot:node/url";

export const builtinModules = [
  "assert", "async_hooks", "buffer", "child_process", "console", "constants", "crypto", "diagnostics_channel", "events", "fs",
  "fs/promises", "module", "os", "path", "path/posix", "path/win32", "perf_hooks", "process", "querystring", "readline", "stream",
  "stream/promises", "string_decoder", "timers", "timers/promises", "tty", "url", "util", "util/types", "zlib",
];

export function createRequire(from) {
  const path = typeof from === "string" && !from.startsWith("file:") ? from : fileURLToPath(from);
  if (!path.startsWith("/")) throw new TypeError(`createRequire needs a file URL or an absolute path, not ${path}`);
  return requireFrom(path);
}

export const isBuiltin = (name) => builtinModules.includes(String(name).replace(/^node:/, ""));
export const register = () => {};
export const syncBuiltinESMExports = () => {};
export const findPackageJSON = () => undefined;
export { Module };

export default Object.assign(Module, {
  Module, builtinModules, createRequire, isBuiltin, register, syncBuiltinESMExports, findPackageJSON,
  _resolveFilename: (name, parent) => native.resolve(parent?.filename ?? "/", name, true).replace(/^commonjs:/, ""),
});

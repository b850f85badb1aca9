// Numbers of the system.

import { constants } from "offshoot:node/fs";

export const { F_OK, R_OK, W_OK, X_OK, O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = constants;
export default constants;

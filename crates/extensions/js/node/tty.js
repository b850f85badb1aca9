// Terminals: an extension has none of its own.

import { Readable, Writable } from "offshoot:node/stream";

export const isatty = () => false;
export class ReadStream extends Readable {
  isTTY = false;
}
export class WriteStream extends Writable {
  isTTY = false;
  columns = 80;
  rows = 24;
}
export default { isatty, ReadStream, WriteStream };

// Files. The host answers at once; what Node does later happens now, and promises are kept already.

import { call, start } from "offshoot:native";
import { Buffer } from "offshoot:node/buffer";
import { EventEmitter } from "offshoot:node/events";
import { basename, dirname, join } from "offshoot:node/path";
import { Readable, Writable } from "offshoot:node/stream";
import { fileURLToPath } from "offshoot:node/url";

export const constants = {
  F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128,
  O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o40000, S_IFLNK: 0o120000,
};
export const { F_OK, R_OK, W_OK, X_OK } = constants;

function pathOf(path) {
  if (typeof path === "string") return path;
  if (path instanceof Uint8Array) return Buffer.from(path).toString();
  if (path === null || typeof path !== "object") {
    throw Object.assign(new TypeError('The "path" argument must be of type string or an instance of Buffer or URL.'), { code: "ERR_INVALID_ARG_TYPE" });
  }
  return fileURLToPath(path);
}

/// The names that the system has for what is asked of the host.
const SYSCALLS = { read: "open", write: "open", list: "scandir", real: "realpath", rm: "unlink", copy: "copyfile", utimes: "utime" };

/// Calls the host; what the system says becomes an error with a code, as Node makes it.
function ask(name, values) {
  try {
    return call(`fs.${name}`, values);
  } catch (error) {
    let said;
    try {
      said = JSON.parse(error.message);
    } catch {
      throw error;
    }
    const syscall = SYSCALLS[name] ?? name.replace(/^fd\./, "");
    const words = said.message.replace(/ \(os error \d+\)$/, "").replace(/^[A-Z](?![A-Z])/, (char) => char.toLowerCase());
    const { path, to } = values;
    const paths = path === undefined ? "" : ` '${path}'${["rename", "copy", "link", "symlink"].includes(name) ? ` -> '${to}'` : ""}`;
    const more = path === undefined ? {} : { path, ...(to === undefined ? {} : { dest: to }) };
    throw Object.assign(new Error(`${said.code}: ${words}, ${syscall}${paths}`), { errno: -(said.errno ?? 1), code: said.code, syscall, ...more });
  }
}

const of = (name, path, more) => ask(name, { path: pathOf(path), ...more });

const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding);

function contentOf(data, options) {
  if (typeof data === "string") {
    const encoding = encodingOf(options);
    return encoding && !/^utf-?8$/i.test(encoding) ? { base64: Buffer.from(data, encoding).toString("base64") } : { text: data };
  }
  if (!ArrayBuffer.isView(data)) return { text: String(data) };
  return { base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") };
}

const isNumber = (file) => typeof file === "number" || file instanceof FileHandle;
const numberOf = (file) => (typeof file === "number" ? file : file.fd);

export function readFileSync(path, options) {
  const encoding = encodingOf(options);
  if (isNumber(path)) {
    const parts = [];
    for (let part; (part = readPart(numberOf(path), 1 << 16, null)).length > 0; ) parts.push(part);
    const all = Buffer.concat(parts);
    return encoding ? all.toString(encoding) : all;
  }
  const { text, base64 } = of("read", path);
  if (encoding && text !== undefined && /^utf-?8$/i.test(encoding)) return text;
  const bytes = text === undefined ? Buffer.from(base64, "base64") : Buffer.from(text);
  return encoding && encoding !== "buffer" ? bytes.toString(encoding) : bytes;
}

/// Who may do what with a file that is made; Node takes octal text, too.
function modeOf(options) {
  const mode = typeof options === "object" ? options?.mode : options;
  return { mode: typeof mode === "string" ? Number.parseInt(mode, 8) : mode };
}

function written(path, data, options, flag) {
  const values = typeof options === "string" ? { encoding: options } : options ?? {};
  if (isNumber(path)) return void ask("fd.write", { fd: numberOf(path), ...contentOf(data, values) });
  of("write", path, { ...contentOf(data, values), flag: values.flag ?? flag, ...modeOf(values) });
}

export const writeFileSync = (path, data, options) => written(path, data, options, "w");
export const appendFileSync = (path, data, options) => written(path, data, options, "a");

export function existsSync(path) {
  try {
    of("stat", path);
    return true;
  } catch {
    return false;
  }
}

export const accessSync = (path, mode = 0) => void of("access", path, { mode });

export class Stats {
  constructor(values) {
    Object.assign(this, values);
    for (const name of ["atime", "mtime", "ctime", "birthtime"]) this[name] = new Date(values[`${name}Ms`] ?? 0);
    Object.defineProperty(this, "kind", { value: values.kind, enumerable: false });
  }
  isFile() {
    return this.kind === "file";
  }
  isDirectory() {
    return this.kind === "dir";
  }
  isSymbolicLink() {
    return this.kind === "link";
  }
  isFIFO() {
    return false;
  }
  isSocket() {
    return false;
  }
  isBlockDevice() {
    return false;
  }
  isCharacterDevice() {
    return this.kind === "other";
  }
}

export class Dirent extends Stats {
  constructor(name, kind, parentPath) {
    super({ kind });
    for (const one of ["atime", "mtime", "ctime", "birthtime"]) delete this[one];
    Object.assign(this, { name, parentPath, path: parentPath });
  }
}

const statOf = (name) => (path, options) => {
  try {
    return new Stats(of(name, path));
  } catch (error) {
    if (options?.throwIfNoEntry === false && ["ENOENT", "ENOTDIR"].includes(error.code)) return undefined;
    throw error;
  }
};
export const statSync = statOf("stat");
export const lstatSync = statOf("lstat");

function listed(path, isRecursive) {
  const entries = of("list", path).map(({ name, kind }) => new Dirent(name, kind, pathOf(path)));
  if (!isRecursive) return entries;
  return entries.flatMap((one) => [one, ...(one.isDirectory() ? listed(join(one.parentPath, one.name), true) : [])]);
}

export function readdirSync(path, options) {
  const entries = listed(path, Boolean(options?.recursive));
  if (options?.withFileTypes) return entries;
  const base = pathOf(path).replace(/(?<=.)\/+$/, "");
  return entries.map((one) => (one.parentPath === pathOf(path) ? one.name : join(one.parentPath, one.name).slice(join(base, "x").length - 1)));
}

export function mkdirSync(path, options) {
  const isRecursive = Boolean(options?.recursive);
  let first;
  if (isRecursive) for (let at = pathOf(path); !existsSync(at) && at !== first; at = dirname(at)) first = at;
  of("mkdir", path, { recursive: isRecursive, ...modeOf(options) });
  return first;
}
export const mkdtempSync = (prefix) => of("mkdtemp", prefix);
export const unlinkSync = (path) => void of("rm", path);
export const renameSync = (path, to) => void of("rename", path, { to: pathOf(to) });
export const linkSync = (path, to) => void of("link", path, { to: pathOf(to) });
export const symlinkSync = (target, path) => void of("symlink", path, { to: pathOf(target) });
export const readlinkSync = (path) => of("readlink", path);
export const chmodSync = (path, mode) => void of("chmod", path, modeOf(mode));
export const truncateSync = (path, length = 0) => void of("truncate", path, { length });
export const realpathSync = Object.assign((path) => of("real", path), { native: (path) => of("real", path) });
const ms = (time) => (time instanceof Date ? time.getTime() : Number(time) * 1000);
export const utimesSync = (path, atime, mtime) => void of("utimes", path, { atimeMs: ms(atime), mtimeMs: ms(mtime) });

export function copyFileSync(path, to, mode = 0) {
  if (mode & constants.COPYFILE_EXCL && existsSync(to)) {
    throw Object.assign(new Error(`EEXIST: file already exists, copyfile '${pathOf(path)}' -> '${pathOf(to)}'`), { code: "EEXIST", errno: -17, syscall: "copyfile" });
  }
  of("copy", path, { to: pathOf(to) });
}

export function rmSync(path, options) {
  if (options?.force && lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  of("rm", path, { recursive: Boolean(options?.recursive) });
}
export const rmdirSync = (path, options) => void of("rm", path, { recursive: Boolean(options?.recursive) });

export function cpSync(path, to, options = {}) {
  if (options.filter && !options.filter(pathOf(path), pathOf(to))) return;
  const stats = (options.dereference ? statSync : lstatSync)(path);
  if (stats.isDirectory()) {
    if (!options.recursive) throw Object.assign(new Error(`Recursive option not enabled, cannot copy a directory: ${pathOf(path)}`), { code: "ERR_FS_EISDIR" });
    mkdirSync(to, { recursive: true });
    for (const { name } of listed(path, false)) cpSync(join(pathOf(path), name), join(pathOf(to), name), options);
    return;
  }
  if (existsSync(to)) {
    if (options.errorOnExist) throw Object.assign(new Error(`Target already exists: ${pathOf(to)}`), { code: "ERR_FS_CP_EEXIST" });
    if (options.force === false) return;
  }
  if (stats.isSymbolicLink()) {
    rmSync(to, { force: true });
    symlinkSync(readlinkSync(path), to);
  } else copyFileSync(path, to);
}

// Open files.

const FLAGS = { 0: "r", 1: "w", 2: "r+", 65: "a", 577: "w", 578: "w+", 193: "wx", 194: "wx+", 705: "wx", 1089: "a", 1090: "a+" };

export function openSync(path, flags = "r", mode = undefined) {
  return of("open", path, { flag: typeof flags === "number" ? FLAGS[flags] ?? `number ${flags}` : flags, ...modeOf(mode) });
}
export const closeSync = (fd) => void ask("fd.close", { fd });
export const fstatSync = (fd) => new Stats(ask("fd.stat", { fd }));
export const fsyncSync = (fd) => void ask("fd.sync", { fd });
export const fdatasyncSync = fsyncSync;
export const ftruncateSync = (fd, length = 0) => void ask("fd.truncate", { fd, length });
export const fchmodSync = (fd, mode) => void ask("fd.chmod", { fd, ...modeOf(mode) });
export const futimesSync = (fd, atime, mtime) => void ask("fd.utimes", { fd, atimeMs: ms(atime), mtimeMs: ms(mtime) });

function readPart(fd, length, position) {
  return Buffer.from(ask("fd.read", { fd, length, position: position === null || position < 0 ? null : Number(position) }), "base64");
}

export function readSync(fd, target, offset, length, position = null) {
  const given = offset !== null && typeof offset === "object" ? offset : { offset, length, position };
  const from = given.offset ?? 0;
  const part = readPart(fd, given.length ?? target.byteLength - from, given.position ?? null);
  new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(part, from);
  return part.length;
}

export function writeSync(fd, data, offset, length, position = null) {
  if (typeof data === "string") {
    return ask("fd.write", { fd, ...contentOf(data, typeof length === "string" ? length : undefined), position: offset ?? null });
  }
  const given = offset !== null && typeof offset === "object" ? offset : { offset, length, position };
  const from = given.offset ?? 0;
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength).subarray(from, from + (given.length ?? data.byteLength - from));
  return ask("fd.write", { fd, ...contentOf(bytes), position: given.position ?? null });
}
export const writevSync = (fd, parts, position) => writeSync(fd, Buffer.concat(parts), 0, undefined, position);

export class FileHandle extends EventEmitter {
  constructor(fd) {
    super();
    this.fd = fd;
  }
  async read(target, offset, length, position) {
    const buffer = ArrayBuffer.isView(target) ? target : target?.buffer ?? Buffer.alloc(target?.length ?? 16384);
    const bytesRead = ArrayBuffer.isView(target) ? readSync(this.fd, buffer, offset, length, position) : readSync(this.fd, buffer, target ?? {});
    return { bytesRead, buffer };
  }
  async write(data, ...rest) {
    return { bytesWritten: writeSync(this.fd, data, ...rest), buffer: data };
  }
  async readFile(options) {
    return readFileSync(this.fd, options);
  }
  async writeFile(data, options) {
    writeFileSync(this.fd, data, options);
  }
  async appendFile(data, options) {
    writeFileSync(this.fd, data, options);
  }
  async stat() {
    return fstatSync(this.fd);
  }
  async truncate(length) {
    ftruncateSync(this.fd, length);
  }
  async chmod(mode) {
    fchmodSync(this.fd, mode);
  }
  async utimes(atime, mtime) {
    futimesSync(this.fd, atime, mtime);
  }
  async sync() {
    fsyncSync(this.fd);
  }
  async datasync() {
    fsyncSync(this.fd);
  }
  createReadStream(options) {
    return createReadStream(undefined, { ...options, fd: this.fd, autoClose: false });
  }
  createWriteStream(options) {
    return createWriteStream(undefined, { ...options, fd: this.fd, autoClose: false });
  }
  async *readLines(options) {
    let rest = "";
    for await (const part of this.createReadStream({ ...options, encoding: "utf8" })) {
      const lines = (rest + part).split(/\r?\n/);
      rest = lines.pop();
      yield* lines;
    }
    if (rest) yield rest;
  }
  async close() {
    if (this.fd < 0) return;
    closeSync(this.fd);
    this.fd = -1;
    this.emit("close");
  }
  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

// Streams.

export class ReadStream extends Readable {
  constructor(path, options = {}) {
    const values = typeof options === "string" ? { encoding: options } : options ?? {};
    super({ highWaterMark: 65536, ...values });
    Object.assign(this, { path: path === undefined ? undefined : pathOf(path), fd: values.fd?.fd ?? values.fd ?? null, bytesRead: 0, autoClose: values.autoClose !== false });
    let at = values.start;
    const end = values.end ?? Infinity;
    this._read = (size) => {
      const left = at === undefined && end === Infinity ? size : Math.min(size, end + 1 - (at ?? 0));
      const part = left > 0 ? readPart(this.fd, left, at ?? null) : Buffer.alloc(0);
      if (at !== undefined || end !== Infinity) at = (at ?? 0) + part.length;
      this.bytesRead += part.length;
      this.push(part.length === 0 ? null : part);
    };
    opened(this, values.flags ?? "r", values.mode);
  }
  _destroy(error, done) {
    closed(this);
    done(error);
  }
  close(callback) {
    if (callback) this.once("close", callback);
    this.destroy();
  }
}

/// Opens the file of a stream. The error comes when somebody can listen.
function opened(stream, flags, mode) {
  try {
    if (stream.fd === null) stream.fd = openSync(stream.path, flags, mode);
    queueMicrotask(() => {
      stream.emit("open", stream.fd);
      stream.emit("ready");
    });
  } catch (error) {
    stream.destroy(error);
  }
}

function closed(stream) {
  if (stream.fd === null || !stream.autoClose) return;
  closeSync(stream.fd);
  stream.fd = null;
}

export class WriteStream extends Writable {
  constructor(path, options = {}) {
    const values = typeof options === "string" ? { encoding: options } : options ?? {};
    super({ ...values, defaultEncoding: values.encoding });
    Object.assign(this, { path: path === undefined ? undefined : pathOf(path), fd: values.fd?.fd ?? values.fd ?? null, bytesWritten: 0, autoClose: values.autoClose !== false });
    let at = values.start;
    this._write = (part, encoding, done) => {
      this.bytesWritten += writeSync(this.fd, part, 0, part.length, at ?? null);
      if (at !== undefined) at += part.length;
      done();
    };
    opened(this, values.flags ?? "w", values.mode);
  }
  _destroy(error, done) {
    closed(this);
    done(error);
  }
  close(callback) {
    if (callback) this.once("close", callback);
    this.end();
  }
}

export const createReadStream = (path, options) => new ReadStream(path, options);
export const createWriteStream = (path, options) => new WriteStream(path, options);

// Directories.

export class Dir {
  #entries;
  constructor(path) {
    this.path = pathOf(path);
    this.#entries = listed(path, false);
  }
  readSync() {
    return this.#entries.shift() ?? null;
  }
  async read() {
    return this.readSync();
  }
  closeSync() {}
  async close() {}
  async *[Symbol.asyncIterator]() {
    for (let entry; (entry = this.readSync()); ) yield entry;
  }
}
export const opendirSync = (path) => new Dir(path);

// Changes.

/// Tells whenever a file is not what it was.
export function watch(path, optionsOrListener, maybeListener) {
  const listener = typeof optionsOrListener === "function" ? optionsOrListener : maybeListener;
  const watcher = new EventEmitter();
  of("stat", path);
  const controller = new AbortController();
  let isOpen = true;
  watcher.close = () => {
    isOpen = false;
    controller.abort();
    watcher.emit("close");
  };
  watcher.ref = watcher.unref = () => watcher;
  optionsOrListener?.signal?.addEventListener("abort", () => watcher.close());
  if (listener) watcher.on("change", listener);
  const look = async () => {
    while (isOpen && (await start("watch", { path: pathOf(path) }, controller.signal))) {
      watcher.emit("change", existsSync(path) ? "change" : "rename", basename(pathOf(path)));
    }
  };
  look().catch((error) => watcher.emit("error", error));
  return watcher;
}

const watched = new Map();
const NOTHING = { size: 0, mtimeMs: 0, kind: "none" };

export function watchFile(path, optionsOrListener, maybeListener) {
  const listener = typeof optionsOrListener === "function" ? optionsOrListener : maybeListener;
  const now = () => statSync(path, { throwIfNoEntry: false }) ?? new Stats(NOTHING);
  let before = now();
  const interval = setInterval(() => {
    const after = now();
    if (after.mtimeMs === before.mtimeMs && after.size === before.size) return;
    listener(after, before);
    before = after;
  }, Math.max(optionsOrListener?.interval ?? 5007, 50));
  watched.set(pathOf(path), [...(watched.get(pathOf(path)) ?? []), { listener, interval }]);
}
export function unwatchFile(path, listener) {
  const all = watched.get(pathOf(path)) ?? [];
  const isMeant = (one) => listener === undefined || one.listener === listener;
  for (const one of all.filter(isMeant)) clearInterval(one.interval);
  watched.set(pathOf(path), all.filter((one) => !isMeant(one)));
}

// The same with promises, and with a function at the end.

const later = (work) => (...args) => new Promise((resolve) => resolve(work(...args)));

const SYNC = {
  readFile: readFileSync, writeFile: writeFileSync, appendFile: appendFileSync, access: accessSync, stat: statSync, lstat: lstatSync,
  readdir: readdirSync, mkdir: mkdirSync, mkdtemp: mkdtempSync, unlink: unlinkSync, rmdir: rmdirSync, rename: renameSync,
  copyFile: copyFileSync, realpath: realpathSync, rm: rmSync, cp: cpSync, link: linkSync, symlink: symlinkSync, readlink: readlinkSync,
  chmod: chmodSync, utimes: utimesSync, truncate: truncateSync, opendir: opendirSync,
};

export const promises = {
  ...Object.fromEntries(Object.entries(SYNC).map(([name, work]) => [name, later(work)])),
  open: later((...args) => new FileHandle(openSync(...args))),
  constants,
  async *watch(path, options) {
    const queue = [];
    let wake = () => {};
    const watcher = watch(path, options, (eventType, filename) => {
      queue.push({ eventType, filename });
      wake();
    });
    try {
      for (;;) {
        if (queue.length > 0) yield queue.shift();
        else await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      watcher.close();
    }
  },
};

const called = (work) => (...args) => {
  const callback = args.pop();
  if (typeof callback !== "function") throw Object.assign(new TypeError('The "cb" argument must be of type function'), { code: "ERR_INVALID_ARG_TYPE" });
  new Promise((resolve) => resolve(work(...args))).then((value) => callback(null, value), (error) => callback(error));
};
const withCallbacks = Object.fromEntries(Object.entries(SYNC).map(([name, work]) => [name, called(work)]));
export const {
  readFile, writeFile, appendFile, access, stat, lstat, readdir, mkdir, mkdtemp, unlink, rmdir, rename, copyFile, realpath, rm, cp, link,
  symlink, readlink, chmod, utimes, truncate, opendir,
} = withCallbacks;
export const open = called(openSync);
export const close = called(closeSync);
export const fstat = called(fstatSync);
export const fsync = called(fsyncSync);
export const ftruncate = called(ftruncateSync);
export const read = (fd, target, ...rest) => {
  const callback = rest.pop();
  new Promise((resolve) => resolve(readSync(fd, target, ...rest))).then((count) => callback(null, count, target), (error) => callback(error));
};
export const write = (fd, data, ...rest) => {
  const callback = rest.pop();
  new Promise((resolve) => resolve(writeSync(fd, data, ...rest))).then((count) => callback(null, count, data), (error) => callback(error));
};
export const exists = (path, callback) => queueMicrotask(() => callback(existsSync(path)));

export default {
  ...withCallbacks, open, close, fstat, fsync, ftruncate, read, write, exists, constants, F_OK, R_OK, W_OK, X_OK, readFileSync, writeFileSync,
  appendFileSync, existsSync, accessSync, statSync, lstatSync, readdirSync, mkdirSync, mkdtempSync, unlinkSync, rmdirSync, renameSync,
  copyFileSync, realpathSync, rmSync, cpSync, linkSync, symlinkSync, readlinkSync, chmodSync, utimesSync, truncateSync, openSync, closeSync,
  fstatSync, fsyncSync, fdatasyncSync, ftruncateSync, fchmodSync, futimesSync, readSync, writeSync, writevSync, opendirSync, createReadStream,
  createWriteStream, watch, watchFile, unwatchFile, promises, Stats, Dirent, Dir, ReadStream, WriteStream, FileHandle,
};

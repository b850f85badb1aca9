// Files. The host answers at once; what Node does later happens now, and promises are kept already.

import { call, start } from "offshoot:native";
import { Buffer } from "offshoot:node/buffer";
import { EventEmitter } from "offshoot:node/events";
import { fileURLToPath } from "offshoot:node/url";
import { join } from "offshoot:node/path";

export const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 };

function pathOf(path) {
  return typeof path === "string" ? path : path instanceof Uint8Array ? String(path) : fileURLToPath(path);
}

/// Calls the host; what the system says becomes an error with a code, as Node makes it.
function ask(name, path, more) {
  try {
    return call(`fs.${name}`, { path: pathOf(path), ...more });
  } catch (error) {
    let said;
    try {
      said = JSON.parse(error.message);
    } catch {
      throw error;
    }
    const failed = new Error(`${said.code}: ${said.message}, ${name} '${pathOf(path)}'`);
    throw Object.assign(failed, { code: said.code, path: pathOf(path), syscall: name });
  }
}

const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding);

function contentOf(data, options) {
  if (typeof data === "string") {
    const encoding = encodingOf(options);
    return encoding === "base64" || encoding === "hex" ? { base64: Buffer.from(data, encoding).toString("base64") } : { text: data };
  }
  return { base64: Buffer.from(data).toString("base64") };
}

export function readFileSync(path, options) {
  const { text, base64 } = ask("read", path);
  const encoding = encodingOf(options);
  if (encoding && text !== undefined && /^utf-?8$/i.test(encoding)) return text;
  const bytes = text === undefined ? Buffer.from(base64, "base64") : Buffer.from(text);
  return encoding ? bytes.toString(encoding) : bytes;
}

/// Who may do what with a file that is made; Node takes octal text, too.
function modeOf(options) {
  const mode = typeof options === "object" ? options?.mode : options;
  return { mode: typeof mode === "string" ? Number.parseInt(mode, 8) : mode };
}

function written(path, data, options, flag) {
  const values = typeof options === "string" ? { encoding: options } : options ?? {};
  ask("write", path, { ...contentOf(data, values), flag: values.flag ?? flag, ...modeOf(values) });
}

export const writeFileSync = (path, data, options) => written(path, data, options, "w");
export const appendFileSync = (path, data, options) => written(path, data, options, "a");

export function existsSync(path) {
  try {
    ask("stat", path);
    return true;
  } catch {
    return false;
  }
}

export const accessSync = (path) => void ask("stat", path);

class Stats {
  constructor({ size, mtimeMs, kind }) {
    Object.assign(this, { size, mtimeMs, mtime: new Date(mtimeMs), kind });
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
}

export function statSync(path, options) {
  if (options?.throwIfNoEntry === false && !existsSync(path)) return undefined;
  return new Stats(ask("stat", path));
}
export const lstatSync = (path) => new Stats(ask("lstat", path));

export function readdirSync(path, options) {
  const entries = ask("list", path);
  if (!options?.withFileTypes) return entries.map((entry) => entry.name);
  return entries.map(({ name, kind }) => Object.assign(new Stats({ size: 0, mtimeMs: 0, kind }), { name, parentPath: pathOf(path), path: pathOf(path) }));
}

export const mkdirSync = (path, options) => void ask("mkdir", path, { recursive: Boolean(options?.recursive), ...modeOf(options) });
export const mkdtempSync = (prefix) => ask("mkdtemp", prefix);
export const unlinkSync = (path) => void ask("rm", path);
export const rmdirSync = (path) => void ask("rm", path);
export const renameSync = (path, to) => void ask("rename", path, { to: pathOf(to) });
export const copyFileSync = (path, to) => void ask("copy", path, { to: pathOf(to) });
export const realpathSync = (path) => ask("real", path);

export function rmSync(path, options) {
  if (options?.force && !existsSync(path)) return;
  ask("rm", path, { recursive: Boolean(options?.recursive) });
}

/// Tells whenever a file is not what it was.
export function watch(path, optionsOrListener, maybeListener) {
  const listener = typeof optionsOrListener === "function" ? optionsOrListener : maybeListener;
  const watcher = new EventEmitter();
  ask("stat", path);
  const controller = new AbortController();
  let isOpen = true;
  watcher.close = () => {
    isOpen = false;
    controller.abort();
  };
  if (listener) watcher.on("change", listener);
  const look = async () => {
    while (isOpen && (await start("watch", { path: pathOf(path) }, controller.signal))) {
      watcher.emit("change", "change", pathOf(path).split("/").at(-1));
    }
  };
  look().catch((error) => watcher.emit("error", error));
  return watcher;
}

const later = (work) => (...args) => new Promise((resolve) => resolve(work(...args)));

export const promises = {
  readFile: later(readFileSync), writeFile: later(writeFileSync), appendFile: later(appendFileSync), access: later(accessSync),
  stat: later(statSync), lstat: later(lstatSync), readdir: later(readdirSync), mkdir: later(mkdirSync), mkdtemp: later(mkdtempSync),
  unlink: later(unlinkSync), rmdir: later(rmdirSync), rename: later(renameSync), copyFile: later(copyFileSync),
  realpath: later(realpathSync), rm: later(rmSync), constants,
};

/// The form with a function at the end.
const called = (work) => (...args) => {
  const callback = args.pop();
  work(...args).then((value) => callback(null, value), (error) => callback(error));
};

export const readFile = called(promises.readFile);
export const writeFile = called(promises.writeFile);
export const appendFile = called(promises.appendFile);
export const access = called(promises.access);
export const stat = called(promises.stat);
export const readdir = called(promises.readdir);
export const mkdir = called(promises.mkdir);
export const unlink = called(promises.unlink);

export default {
  constants, readFileSync, writeFileSync, appendFileSync, existsSync, accessSync, statSync, lstatSync, readdirSync, mkdirSync,
  mkdtempSync, unlinkSync, rmdirSync, renameSync, copyFileSync, realpathSync, rmSync, watch, promises, readFile, writeFile,
  appendFile, access, stat, readdir, mkdir, unlink, join,
};

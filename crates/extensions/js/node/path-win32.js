// Paths, as Windows has them: those of POSIX with another separator and drives.

import { provide } from "offshoot:native";
import posix from "offshoot:node/path";

export const sep = "\\";
export const delimiter = ";";

/// The drive or the share, whether the path begins at its root, and the rest with slashes.
function split(path) {
  const [drive] = /^(?:[A-Za-z]:|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)?/.exec(path);
  return { drive: drive.replaceAll("/", "\\"), rest: path.slice(drive.length).replaceAll("\\", "/") };
}
const back = (text) => text.replaceAll("/", "\\");

export const isAbsolute = (path) => {
  const { drive, rest } = split(path);
  return rest.startsWith("/") || drive.startsWith("\\\\");
};
export function normalize(path) {
  const { drive, rest } = split(path);
  const normal = rest === "" && drive ? "." : posix.normalize(rest);
  return drive + back(normal);
}
export function join(...parts) {
  const full = parts.filter((part) => part !== "");
  return full.length === 0 ? "." : normalize(full.join("/"));
}
export function resolve(...parts) {
  let [drive, path] = ["C:", "/"];
  for (const part of parts.filter((part) => part !== "")) {
    const one = split(part);
    if (one.drive) drive = one.drive;
    path = one.rest.startsWith("/") ? one.rest : `${path}/${one.rest}`;
  }
  const full = posix.normalize(path);
  return drive + back(full.length > 1 ? full.replace(/\/$/, "") : full);
}
export function dirname(path) {
  const { drive, rest } = split(path);
  return drive + back(rest === "" ? "" : posix.dirname(rest)) || ".";
}
export const basename = (path, suffix) => posix.basename(split(path).rest, suffix);
export const extname = (path) => posix.extname(split(path).rest);
export function relative(from, to) {
  const [a, b] = [resolve(from), resolve(to)];
  if (split(a).drive.toLowerCase() !== split(b).drive.toLowerCase()) return b;
  return back(posix.relative(split(a).rest, split(b).rest));
}
export function parse(path) {
  const { drive, rest } = split(path);
  const { root, dir, base, ext, name } = posix.parse(rest);
  return { root: drive + back(root), dir: drive + back(dir), base, ext, name };
}
export const format = ({ dir, root, base, name, ext }) => `${dir ? `${dir}${dir === root ? "" : "\\"}` : root ?? ""}${base ?? `${name ?? ""}${ext ?? ""}`}`;
export const toNamespacedPath = (path) => path;

export const win32 = { sep, delimiter, isAbsolute, normalize, join, resolve, dirname, basename, extname, relative, parse, format, toNamespacedPath, posix };
win32.win32 = win32;
provide("node/path-win32", { win32 });
export default win32;

// Paths, as POSIX has them.

import { required } from "offshoot:native";

export const sep = "/";
export const delimiter = ":";

export const isAbsolute = (path) => path.startsWith("/");

export function normalize(path) {
  if (path === "") return ".";
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!isAbsolute(path)) parts.push(part);
  }
  const end = path.endsWith("/") && parts.length > 0 ? "/" : "";
  return (isAbsolute(path) ? "/" : "") + parts.join("/") + end || (isAbsolute(path) ? "/" : ".");
}

export const join = (...parts) => normalize(parts.filter((part) => part !== "").join("/"));

export function resolve(...parts) {
  let path = "";
  for (const part of [globalThis.process.cwd(), ...parts]) path = isAbsolute(part) ? part : part === "" ? path : `${path}/${part}`;
  const full = normalize(path);
  return full.length > 1 && full.endsWith("/") ? full.slice(0, -1) : full;
}

export function dirname(path) {
  const trimmed = path.replace(/\/+$/, "");
  const at = trimmed.lastIndexOf("/");
  if (at < 0) return ".";
  return trimmed.slice(0, at) || "/";
}

export function basename(path, suffix) {
  const base = path.replace(/\/+$/, "").split("/").at(-1);
  return suffix && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
}

export function extname(path) {
  const base = basename(path);
  const at = base.lastIndexOf(".");
  return at <= 0 ? "" : base.slice(at);
}

export function relative(from, to) {
  const [a, b] = [resolve(from).split("/").filter(Boolean), resolve(to).split("/").filter(Boolean)];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/");
}

export function parse(path) {
  const [base, ext] = [basename(path), extname(path)];
  const dir = path.includes("/") ? dirname(path) : "";
  return { root: isAbsolute(path) ? "/" : "", dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
}

export const format = ({ dir, root, base, name, ext }) => `${dir ? `${dir}/` : root ?? ""}${base ?? `${name ?? ""}${ext ?? ""}`}`;
export const toNamespacedPath = (path) => path;

export function matchesGlob(path, pattern) {
  const text = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*\*\/?|\*|\?/g, (mark) => ({ "*": "[^/]*", "?": "[^/]" })[mark] ?? ".*");
  return new RegExp(`^${text}$`).test(path);
}

/// Loaded when it is used.
export const win32 = new Proxy({}, { get: (_, name) => required("node/path-win32").win32[name] });

const path = { sep, delimiter, isAbsolute, normalize, join, resolve, dirname, basename, extname, relative, parse, format, toNamespacedPath, matchesGlob };
export const posix = path;

path.posix = path;
path.win32 = win32;
export default path;

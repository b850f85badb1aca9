// Addresses: enough of URL to take one apart and put it together.

import { provide } from "offshoot:native";
import { resolve } from "offshoot:node/path";

export class URLSearchParams {
  #pairs = [];

  constructor(value = "") {
    if (typeof value === "string") {
      for (const part of value.replace(/^\?/, "").split("&").filter(Boolean)) {
        const [key, ...rest] = part.split("=");
        this.append(decode(key), decode(rest.join("=")));
      }
    } else {
      for (const [key, one] of typeof value[Symbol.iterator] === "function" ? value : Object.entries(value)) this.append(key, one);
    }
  }
  append(key, value) {
    this.#pairs.push([String(key), String(value)]);
  }
  get(key) {
    return this.#pairs.find(([name]) => name === key)?.[1] ?? null;
  }
  getAll(key) {
    return this.#pairs.filter(([name]) => name === key).map(([, value]) => value);
  }
  has(key) {
    return this.#pairs.some(([name]) => name === key);
  }
  delete(key) {
    this.#pairs = this.#pairs.filter(([name]) => name !== key);
  }
  set(key, value) {
    this.delete(key);
    this.append(key, value);
  }
  toString() {
    return this.#pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join("&");
  }
  *[Symbol.iterator]() {
    yield* this.#pairs;
  }
}

const decode = (text) => decodeURIComponent(text.replaceAll("+", " "));

export class URL {
  constructor(text, base) {
    const found = parsed(String(text)) ?? (base === undefined ? undefined : parsed(joined(String(text), new URL(base))));
    if (!found) throw new TypeError(`Invalid URL: ${text}`);
    Object.assign(this, found);
    this.searchParams = new URLSearchParams(this.search);
  }
  get host() {
    return this.port ? `${this.hostname}:${this.port}` : this.hostname;
  }
  get origin() {
    return `${this.protocol}//${this.host}`;
  }
  get href() {
    const query = this.searchParams.toString();
    return `${this.protocol}//${this.host}${this.pathname}${query ? `?${query}` : ""}${this.hash}`;
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
}

function parsed(text) {
  const found = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#:@]*)(?::(\d+))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(text);
  if (!found) return undefined;
  const [, protocol, hostname, port = "", pathname, search = "", hash = ""] = found;
  return { protocol: protocol.toLowerCase(), hostname: hostname.toLowerCase(), port, pathname: pathname || "/", search, hash, username: "", password: "" };
}

function joined(text, base) {
  if (text.startsWith("//")) return base.protocol + text;
  const directory = text.startsWith("/") ? "" : base.pathname.replace(/[^/]*$/, "");
  const [path, ...rest] = text.split(/(?=[?#])/);
  const parts = [];
  for (const part of `${directory}${path}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return `${base.protocol}//${base.host}/${parts.join("/").replace(/^\/+/, "")}${rest.join("")}`;
}

export function fileURLToPath(url) {
  const text = String(url?.href ?? url);
  if (!text.startsWith("file://")) throw new TypeError("The URL must be of scheme file");
  return decodeURIComponent(text.slice(7));
}

export function pathToFileURL(path) {
  return new URL(`file://${resolve(path).split("/").map(encodeURIComponent).join("/")}`);
}

provide("node/url", { URL, URLSearchParams });

export default { URL, URLSearchParams, fileURLToPath, pathToFileURL };

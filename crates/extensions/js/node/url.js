// Addresses. The host takes them apart by the rules of the web.

import { call, provide } from "offshoot:native";
import { resolve } from "offshoot:node/path";

const encode = (text) => encodeURIComponent(text).replaceAll("%20", "+").replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

function decode(text) {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced.replace(/(?:%[0-9a-f]{2})+/gi, (part) => globalThis.Buffer.from(part.replaceAll("%", ""), "hex").toString());
  }
}

export class URLSearchParams {
  #pairs = [];
  #changed;

  constructor(value = "", changed = undefined) {
    this.#changed = changed;
    if (value === null || typeof value !== "object") this.#pairs = pairsOf(String(value ?? ""));
    else {
      const pairs = typeof value[Symbol.iterator] === "function" ? value : Object.entries(value);
      this.#pairs = [...pairs].map(([key, one]) => [String(key), String(one)]);
    }
  }
  #set(pairs) {
    this.#pairs = pairs;
    this.#changed?.(this.toString());
  }
  get size() {
    return this.#pairs.length;
  }
  append(key, value) {
    this.#set([...this.#pairs, [String(key), String(value)]]);
  }
  get(key) {
    return this.#pairs.find(([name]) => name === key)?.[1] ?? null;
  }
  getAll(key) {
    return this.#pairs.filter(([name]) => name === key).map(([, value]) => value);
  }
  has(key, value) {
    return this.#pairs.some(([name, one]) => name === key && (value === undefined || one === value));
  }
  delete(key, value) {
    this.#set(this.#pairs.filter(([name, one]) => name !== key || (value !== undefined && one !== value)));
  }
  set(key, value) {
    const at = this.#pairs.findIndex(([name]) => name === key);
    if (at < 0) return this.append(key, value);
    const rest = this.#pairs.filter(([name], other) => name !== key || other === at);
    return this.#set(rest.map((pair) => (pair[0] === key ? [String(key), String(value)] : pair)));
  }
  sort() {
    this.#set([...this.#pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }
  forEach(callback, self) {
    for (const [key, value] of this.#pairs) callback.call(self, value, key, this);
  }
  *keys() {
    for (const [key] of this.#pairs) yield key;
  }
  *values() {
    for (const [, value] of this.#pairs) yield value;
  }
  *entries() {
    for (const pair of this.#pairs) yield [...pair];
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  toString() {
    return this.#pairs.map(([key, value]) => `${encode(key)}=${encode(value)}`).join("&");
  }
}

function pairsOf(text) {
  return text.replace(/^\?/, "").split("&").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
  });
}

const ask = (name, values) => call(`url.${name}`, values);

export class URL {
  #parts;
  #params;

  constructor(text, base) {
    this.#parts = ask("parse", { url: String(text), base: base === undefined ? null : String(base) });
    if (!this.#parts) throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: String(text) });
  }
  static canParse(text, base) {
    return ask("parse", { url: String(text), base: base === undefined ? null : String(base) }) !== null;
  }
  static parse(text, base) {
    return URL.canParse(text, base) ? new URL(text, base) : null;
  }
  get searchParams() {
    this.#params ??= new URLSearchParams(this.search, (text) => this.#change("search", text));
    return this.#params;
  }
  #change(part, value) {
    this.#parts = ask("set", { url: this.#parts.href, part, value: String(value) }) ?? this.#parts;
  }
  get origin() {
    return this.#parts.origin;
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
  static {
    for (const part of ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]) {
      Object.defineProperty(URL.prototype, part, {
        get() {
          return this.#parts[part];
        },
        set(value) {
          if (part === "href") this.#parts = new URL(value).#parts;
          else this.#change(part, value);
          if (part === "search" || part === "href") this.#params = undefined;
        },
        enumerable: true, configurable: true,
      });
    }
  }
}

export function fileURLToPath(url) {
  const { protocol, pathname } = url instanceof URL ? url : new URL(String(url?.href ?? url));
  if (protocol !== "file:") throw Object.assign(new TypeError("The URL must be of scheme file"), { code: "ERR_INVALID_URL_SCHEME" });
  return decodeURIComponent(pathname);
}

export function pathToFileURL(path) {
  const end = path.length > 1 && path.endsWith("/") ? "/" : "";
  return new URL(`file://${resolve(path).split("/").map(encodeURIComponent).join("/")}${end}`);
}

/// The older form: a plain object.
export function parse(text, parsesQuery) {
  const url = URL.parse(text) ?? { protocol: null, host: null, hostname: null, port: null, hash: null, href: text, ...splitPath(text) };
  const { protocol, host, hostname, port, pathname, search, hash, href } = url;
  const query = search ? search.slice(1) : null;
  return {
    protocol, slashes: Boolean(host), auth: url.username || null, host, hostname, port: port || null, hash: hash || null,
    search: search || null, query: parsesQuery ? Object.fromEntries(new URLSearchParams(search ?? "")) : query, pathname,
    path: pathname + (search ?? ""), href,
  };
}

function splitPath(text) {
  const at = text.indexOf("?");
  return at < 0 ? { pathname: text, search: null } : { pathname: text.slice(0, at), search: text.slice(at) };
}

export function format(url) {
  if (typeof url === "string" || url instanceof URL) return String(url);
  const search = url.search ?? (url.query ? `?${new URLSearchParams(url.query)}` : "");
  const host = url.host ?? (url.hostname ? `${url.hostname}${url.port ? `:${url.port}` : ""}` : "");
  const protocol = url.protocol ? `${url.protocol.replace(/:$/, "")}:` : "";
  return `${protocol}${host ? `//${host}` : ""}${url.pathname ?? ""}${search}${url.hash ?? ""}`;
}

const resolveUrl = (from, to) => new URL(to, from).href;
export { resolveUrl as resolve };
export const domainToASCII = (name) => URL.parse(`http://${name}`)?.hostname ?? "";
export const domainToUnicode = (name) => name;
export const urlToHttpOptions = ({ protocol, hostname, port, pathname, search, hash, href }) =>
  ({ protocol, hostname, port: port ? Number(port) : undefined, path: pathname + search, pathname, search, hash, href });

provide("node/url", { URL, URLSearchParams });

export default {
  URL, URLSearchParams, fileURLToPath, pathToFileURL, parse, format, resolve: resolveUrl, domainToASCII, domainToUnicode, urlToHttpOptions,
};

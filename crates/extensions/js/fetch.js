// `fetch` and what belongs to it. The host sends the requests; bodies of responses come in pieces.

import { provide, start } from "offshoot:native";
import { Blob, bytesOf, File } from "offshoot:bytes";
import { Buffer } from "offshoot:node/buffer";
import { ReadableStream } from "offshoot:node/stream-web";
import { URLSearchParams } from "offshoot:node/url";

/// The most bytes of a body that are collected; larger ones can be read in pieces.
const MOST = 16 << 20;

export class Headers {
  #pairs = [];

  constructor(init) {
    if (init === undefined || init === null) return;
    const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }
  append(name, value) {
    const key = String(name).toLowerCase();
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(key)) throw new TypeError(`Invalid header name: ${name}`);
    const text = String(value).trim();
    if (/[\0\r\n]/.test(text)) throw new TypeError(`Invalid value of the header ${name}`);
    this.#pairs.push([key, text]);
  }
  set(name, value) {
    this.delete(name);
    this.append(name, value);
  }
  delete(name) {
    const key = String(name).toLowerCase();
    this.#pairs = this.#pairs.filter(([other]) => other !== key);
  }
  get(name) {
    const key = String(name).toLowerCase();
    const found = this.#pairs.filter(([other]) => other === key).map(([, value]) => value);
    return found.length > 0 ? found.join(", ") : null;
  }
  getSetCookie() {
    return this.#pairs.filter(([name]) => name === "set-cookie").map(([, value]) => value);
  }
  has(name) {
    return this.get(name) !== null;
  }
  *entries() {
    for (const name of [...new Set(this.#pairs.map(([key]) => key))].sort()) yield [name, this.get(name)];
  }
  *keys() {
    for (const [name] of this.entries()) yield name;
  }
  *values() {
    for (const [, value] of this.entries()) yield value;
  }
  forEach(callback, self) {
    for (const [name, value] of this.entries()) callback.call(self, value, name, this);
  }
  [Symbol.iterator]() {
    return this.entries();
  }
}

export class FormData {
  #pairs = [];

  append(name, value, filename) {
    this.#pairs.push([String(name), entry(value, filename)]);
  }
  set(name, value, filename) {
    this.delete(name);
    this.append(name, value, filename);
  }
  delete(name) {
    this.#pairs = this.#pairs.filter(([other]) => other !== name);
  }
  get(name) {
    return this.#pairs.find(([other]) => other === name)?.[1] ?? null;
  }
  getAll(name) {
    return this.#pairs.filter(([other]) => other === name).map(([, value]) => value);
  }
  has(name) {
    return this.#pairs.some(([other]) => other === name);
  }
  forEach(callback) {
    for (const [name, value] of this.#pairs) callback(value, name, this);
  }
  *keys() {
    for (const [name] of this.#pairs) yield name;
  }
  *values() {
    for (const [, value] of this.#pairs) yield value;
  }
  *entries() {
    yield* this.#pairs;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
}

function entry(value, filename) {
  if (!(value instanceof Blob)) return String(value);
  const name = filename ?? value.name ?? "blob";
  return value instanceof File && value.name === name ? value : new File([value], name, { type: value.type });
}

/// Spells a form as `multipart/form-data`.
function multipart(form, boundary) {
  const quoted = (text) => text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const parts = [];
  for (const [name, value] of form) {
    const isFile = value instanceof Blob;
    const file = isFile ? `; filename="${quoted(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}` : "";
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n\r\n`, value, "\r\n");
  }
  return new Blob([...parts, `--${boundary}--\r\n`]).bytesNow();
}

/// Takes a body apart: its bytes or its stream, and its type.
function extracted(body) {
  if (body === undefined || body === null) return {};
  if (body instanceof ReadableStream) return { stream: body };
  if (body instanceof URLSearchParams) {
    return { bytes: bytesOf(body.toString()), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  if (body instanceof FormData) {
    const boundary = `----offshoot${Math.random().toString(36).slice(2)}${Date.now().toString(36)}`;
    return { bytes: multipart(body, boundary), type: `multipart/form-data; boundary=${boundary}` };
  }
  if (body instanceof Blob) return { bytes: body.bytesNow(), type: body.type || undefined };
  if (typeof body[Symbol.asyncIterator] === "function") return { stream: ReadableStream.from(body) };
  return { bytes: bytesOf(body), type: typeof body === "object" && !String(body).startsWith("[object ") ? undefined : typeof body === "string" ? "text/plain;charset=UTF-8" : undefined };
}

/// What requests and responses have in common.
class Body {
  #bytes;
  #stream;
  #used = false;

  constructor(body, headers) {
    const { bytes, stream, type } = extracted(body);
    this.#bytes = bytes;
    this.#stream = stream;
    this.headers = headers;
    if (type && !headers.has("content-type")) headers.set("content-type", type);
  }
  get body() {
    if (this.#bytes && !this.#stream) this.#stream = ReadableStream.from([this.#bytes]);
    return this.#stream ?? null;
  }
  get bodyUsed() {
    return this.#used || Boolean(this.#stream?.locked);
  }
  async bytes() {
    if (this.bodyUsed) throw new TypeError("Body is unusable: Body has already been read");
    this.#used = true;
    if (!this.#stream) return this.#bytes ?? new Uint8Array();
    const parts = [];
    let size = 0;
    for await (const part of this.#stream) {
      size += part.length;
      if (size > MOST) throw new TypeError(`The body is longer than ${MOST} bytes; read it in pieces`);
      parts.push(bytesOf(part));
    }
    return new Uint8Array(Buffer.concat(parts));
  }
  async arrayBuffer() {
    return (await this.bytes()).slice().buffer;
  }
  async text() {
    return new TextDecoder().decode(await this.bytes());
  }
  async json() {
    return JSON.parse(await this.text());
  }
  async blob() {
    return new Blob([await this.bytes()], { type: this.headers.get("content-type") ?? "" });
  }
  async formData() {
    const type = this.headers.get("content-type") ?? "";
    if (!type.startsWith("application/x-www-form-urlencoded")) throw new TypeError("The body is not an encoded form");
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value);
    return form;
  }
  /// The parts that a copy is made of.
  halves() {
    if (this.bodyUsed) throw new TypeError("Body has already been read");
    if (!this.#stream) return this.#bytes;
    const [one, two] = this.#stream.tee();
    this.#stream = one;
    return two;
  }
}

export class Request extends Body {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : undefined;
    super(init.body ?? from?.halves(), new Headers(init.headers ?? from?.headers));
    this.url = from ? from.url : new globalThis.URL(String(input)).href;
    this.method = normal(init.method ?? from?.method ?? "GET");
    this.signal = init.signal ?? from?.signal ?? new AbortController().signal;
    this.redirect = init.redirect ?? from?.redirect ?? "follow";
    Object.assign(this, { cache: "default", credentials: "same-origin", mode: "cors", referrer: "about:client", keepalive: false });
    const hasBody = init.body !== undefined && init.body !== null;
    if (hasBody && ["GET", "HEAD"].includes(this.method)) throw new TypeError("Request with GET/HEAD method cannot have body.");
  }
  clone() {
    return new Request(this);
  }
}

function normal(method) {
  const upper = String(method).toUpperCase();
  return ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].includes(upper) ? upper : String(method);
}

const TEXTS = {
  200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found",
  303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
  403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 413: "Payload Too Large",
  415: "Unsupported Media Type", 422: "Unprocessable Entity", 429: "Too Many Requests", 500: "Internal Server Error",
  501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
};

export class Response extends Body {
  constructor(body, init = {}) {
    super(body, new Headers(init.headers));
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.url = init.url ?? "";
    this.redirected = Boolean(init.redirected);
    this.type = "default";
  }
  get ok() {
    return this.status >= 200 && this.status < 300;
  }
  clone() {
    return new Response(this.halves(), this);
  }
  static json(value, init = {}) {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(JSON.stringify(value), { ...init, headers });
  }
  static error() {
    return Object.assign(new Response(null, { status: 200 }), { status: 0, type: "error" });
  }
  static redirect(url, status = 302) {
    return new Response(null, { status, headers: { location: String(url) } });
  }
}

/// A failure as Node words it: `fetch failed`, and the reason as its cause.
function failed({ error, code }, message = "fetch failed") {
  return new TypeError(message, { cause: Object.assign(new Error(error), { code }) });
}

/// The body of a response, read from the host piece by piece.
function incoming(id, signal) {
  return new ReadableStream({
    async pull(controller) {
      const piece = await start("fetchRead", { body: id }, signal);
      if (piece === null) controller.close();
      else if (piece.aborted) controller.error(signal.reason);
      else if (piece.error) controller.error(failed(piece, "terminated"));
      else controller.enqueue(new Uint8Array(Buffer.from(piece.base64, "base64")));
    },
    cancel: () => start("fetchClose", { body: id }),
  });
}

export async function fetch(input, init) {
  const request = new Request(input, init);
  const { signal } = request;
  signal.throwIfAborted();
  const body = Buffer.from(request.body ? await request.bytes() : []);
  const headers = [...request.headers];
  const head = await start("fetch", {
    url: request.url, method: request.method, headers, base64: body.toString("base64"), redirect: request.redirect,
  }, signal);
  if (head.aborted) throw signal.reason;
  if (head.error) throw failed(head);
  const isEmpty = [204, 205, 304].includes(head.status) || request.method === "HEAD";
  if (isEmpty) await start("fetchClose", { body: head.body });
  return new Response(isEmpty ? null : incoming(head.body, signal), { ...head, statusText: TEXTS[head.status] ?? "" });
}

provide("fetch", { fetch, Headers, FormData, Request, Response });

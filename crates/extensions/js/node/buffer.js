// Bytes that are texts too: the part of Node's buffers that extensions use.

import { provide } from "offshoot:native";

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes are written where they stay: a list of numbers would take sixteen times the room.
function utf8(text) {
  const bytes = new Uint8Array(text.length * 3);
  let at = 0;
  for (const char of text) {
    let point = char.codePointAt(0);
    // Half a character has no bytes of its own.
    if (point >= 0xd800 && point < 0xe000) point = 0xfffd;
    const more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    bytes[at++] = more === 0 ? point : ((0xff00 >> (more + 1)) & 0xff) | (point >> (6 * more));
    for (let left = more - 1; left >= 0; left--) bytes[at++] = 0x80 | ((point >> (6 * left)) & 63);
  }
  return bytes.subarray(0, at);
}

function fromUtf8(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at];
    const length = first < 0x80 ? 1 : first >> 5 === 6 ? 2 : first >> 4 === 14 ? 3 : first >> 3 === 30 ? 4 : 0;
    const rest = bytes.subarray(at + 1, at + length);
    if (length === 0 || rest.length < length - 1 || rest.some((byte) => byte >> 6 !== 2)) {
      text += "\ufffd";
      at += 1;
      continue;
    }
    let point = length === 1 ? first : first & (0xff >> (length + 1));
    for (const byte of rest) point = (point << 6) | (byte & 63);
    text += point > 0x10ffff ? "\ufffd" : String.fromCodePoint(point);
    at += length;
  }
  return text;
}

function toBase64(bytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const bits = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const end = (at + 1 < bytes.length ? BASE64[(bits >> 6) & 63] : "=") + (at + 2 < bytes.length ? BASE64[bits & 63] : "=");
    pieces.push(BASE64[bits >> 18] + BASE64[(bits >> 12) & 63] + end);
  }
  return pieces.join("");
}

function fromBase64(text) {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let [at, bits, count] = [0, 0, 0];
  for (const char of text.replaceAll("-", "+").replaceAll("_", "/")) {
    const value = BASE64.indexOf(char);
    if (value < 0) continue;
    bits = ((bits << 6) | value) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[at++] = (bits >> count) & 255;
    }
  }
  return bytes.subarray(0, at);
}

const aliases = { utf8: "utf8", "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", "utf-16le": "utf16le", binary: "latin1", ascii: "latin1" };
const named = (encoding) => aliases[String(encoding ?? "utf8").toLowerCase()] ?? String(encoding).toLowerCase();

/// The bytes of a text.
function encoded(text, encoding) {
  const name = named(encoding);
  if (name === "base64" || name === "base64url") return fromBase64(text);
  if (name === "hex") return Uint8Array.from((/^(?:[0-9a-fA-F]{2})*/.exec(text)[0].match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
  if (name === "latin1") return Uint8Array.from(text, (char) => char.charCodeAt(0) & 255);
  if (name !== "utf16le") return utf8(text);
  const bytes = new Uint8Array(text.length * 2);
  for (let at = 0; at < text.length; at++) bytes.set([text.charCodeAt(at) & 255, text.charCodeAt(at) >> 8], at * 2);
  return bytes;
}

/// The text of codes, in pieces that a call can take.
function fromCodes(codes) {
  let text = "";
  for (let at = 0; at < codes.length; at += 4096) text += String.fromCharCode(...codes.subarray(at, at + 4096));
  return text;
}

function decoded(bytes, encoding) {
  const name = named(encoding);
  if (name === "base64") return toBase64(bytes);
  if (name === "base64url") return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (name === "hex") return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (name === "latin1") return fromCodes(bytes);
  if (name !== "utf16le") return fromUtf8(bytes);
  return fromCodes(Uint16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes[at * 2] | (bytes[at * 2 + 1] << 8)));
}

/// A buffer over the bytes of a view.
const over = (view) => new Buffer(view.buffer, view.byteOffset, view.byteLength);

export class Buffer extends Uint8Array {
  static from(value, encodingOrOffset, length) {
    if (typeof value === "string") return over(encoded(value, encodingOrOffset));
    if (value instanceof ArrayBuffer || (typeof SharedArrayBuffer === "function" && value instanceof SharedArrayBuffer)) {
      return new Buffer(value, encodingOrOffset, length);
    }
    if (value?.type === "Buffer" && Array.isArray(value.data)) return Buffer.from(value.data);
    if (value === null || typeof value !== "object") throw new TypeError("A buffer is made of text, bytes or a list of numbers");
    const list = typeof value.length === "number" ? value : [...value];
    const copy = new Buffer(list.length);
    copy.set(list);
    return copy;
  }
  static alloc(size, fill = 0, encoding = undefined) {
    return new Buffer(size).fill(fill, encoding);
  }
  static allocUnsafe(size) {
    return new Buffer(size);
  }
  static allocUnsafeSlow(size) {
    return new Buffer(size);
  }
  static concat(list, total = list.reduce((sum, one) => sum + one.length, 0)) {
    const all = new Buffer(total);
    let at = 0;
    for (const one of list) {
      const part = at + one.length > total ? one.subarray(0, total - at) : one;
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
  static byteLength(value, encoding) {
    return typeof value === "string" ? encoded(value, encoding).length : value.byteLength;
  }
  static isBuffer(value) {
    return value instanceof Buffer;
  }
  static isEncoding(name) {
    return ["utf8", "utf16le", "latin1", "base64", "base64url", "hex"].includes(named(name));
  }
  static compare(a, b) {
    for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
    return Math.sign(a.length - b.length);
  }
  static get [Symbol.species]() {
    return Buffer;
  }
  toString(encoding, start = 0, end = this.length) {
    return decoded(start === 0 && end === this.length ? this : super.subarray(start, end), encoding);
  }
  toJSON() {
    return { type: "Buffer", data: [...this] };
  }
  equals(other) {
    return Buffer.compare(this, other) === 0;
  }
  compare(other) {
    return Buffer.compare(this, other);
  }
  slice(start, end) {
    return this.subarray(start, end);
  }
  write(text, offset = 0, length = undefined, encoding = undefined) {
    const name = typeof offset === "string" ? offset : typeof length === "string" ? length : encoding;
    const from = typeof offset === "number" ? offset : 0;
    const most = Math.min(typeof length === "number" ? length : Infinity, this.length - from);
    const bytes = encoded(text, name).subarray(0, most);
    this.set(bytes, from);
    return bytes.length;
  }
  copy(target, at = 0, start = 0, end = this.length) {
    const part = super.subarray(start, Math.min(end, start + target.length - at));
    target.set(part, at);
    return part.length;
  }
  fill(value, start = 0, end = this.length, encoding = undefined) {
    if (typeof value === "number") return super.fill(value, typeof start === "number" ? start : 0, typeof end === "number" ? end : this.length);
    const bytes = typeof value === "string" ? encoded(value, typeof start === "string" ? start : encoding) : value;
    if (bytes.length === 0) return super.fill(0);
    const from = typeof start === "number" ? start : 0;
    for (let at = from; at < end; at++) this[at] = bytes[(at - from) % bytes.length];
    return this;
  }
  indexOf(value, from = 0, encoding = undefined) {
    if (typeof value === "number") return super.indexOf(value & 255, from);
    const wanted = typeof value === "string" ? encoded(value, encoding) : value;
    for (let at = from < 0 ? Math.max(0, this.length + from) : from; at + wanted.length <= this.length; at++) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }
  lastIndexOf(value, from = this.length) {
    const wanted = typeof value === "number" ? [value & 255] : typeof value === "string" ? encoded(value) : value;
    for (let at = Math.min(from, this.length - wanted.length); at >= 0; at--) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }
  includes(value, from, encoding) {
    return this.indexOf(value, from, encoding) >= 0;
  }
  swap16() {
    for (let at = 0; at + 1 < this.length; at += 2) [this[at], this[at + 1]] = [this[at + 1], this[at]];
    return this;
  }
  readUIntBE(offset, length) {
    return super.subarray(offset, offset + length).reduce((sum, byte) => sum * 256 + byte, 0);
  }
  readUIntLE(offset, length) {
    return super.subarray(offset, offset + length).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }
  static {
    const kinds = {
      UInt8: ["Uint8", 1], Int8: ["Int8", 1], UInt16: ["Uint16", 2], Int16: ["Int16", 2], UInt32: ["Uint32", 4], Int32: ["Int32", 4],
      BigUInt64: ["BigUint64", 8], BigInt64: ["BigInt64", 8], Float: ["Float32", 4], Double: ["Float64", 8],
    };
    const add = (names, value) => names.forEach((name) => Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true }));
    for (const [name, [view, size]] of Object.entries(kinds)) {
      for (const [end, isLittle] of size === 1 ? [["", true]] : [["LE", true], ["BE", false]]) {
        const other = name.replace("UInt", "Uint");
        const of = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        add([`read${name}${end}`, `read${other}${end}`], function read(offset = 0) {
          return of(this)[`get${view}`](offset, isLittle);
        });
        add([`write${name}${end}`, `write${other}${end}`], function write(value, offset = 0) {
          of(this)[`set${view}`](offset, value, isLittle);
          return offset + size;
        });
      }
    }
  }
}

export const kMaxLength = 2 ** 31 - 1;
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 2 ** 29 - 24 };
export const { atob, btoa } = globalThis;
export const isUtf8 = (bytes) => Buffer.from(fromUtf8(bytes)).equals(bytes);
export const transcode = (bytes, from, to) => Buffer.from(decoded(bytes, from), to);

provide("node/buffer", { Buffer });

const all = { Buffer, SlowBuffer: Buffer, kMaxLength, constants, atob, btoa, isUtf8, transcode };
/// Blobs are loaded when they are used: most extensions have none.
for (const name of ["Blob", "File"]) Object.defineProperty(all, name, { get: () => globalThis[name], enumerable: true });
export default all;

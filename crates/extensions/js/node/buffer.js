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

export class Buffer extends Uint8Array {
  static from(value, encodingOrOffset, length) {
    if (typeof value !== "string") {
      if (value instanceof ArrayBuffer) return new Buffer(value, encodingOrOffset, length);
      return super.from(value);
    }
    const encoding = encodingOrOffset ?? "utf8";
    if (encoding === "base64" || encoding === "base64url") return super.from(fromBase64(value));
    if (encoding === "hex") return super.from((value.match(/[0-9a-fA-F]{2}/g) ?? []).map((pair) => Number.parseInt(pair, 16)));
    if (encoding === "latin1" || encoding === "binary") return super.from([...value].map((char) => char.charCodeAt(0) & 255));
    return super.from(utf8(value));
  }
  static alloc(size, fill = 0) {
    return new Buffer(size).fill(fill);
  }
  static concat(list) {
    const all = new Buffer(list.reduce((sum, one) => sum + one.length, 0));
    let at = 0;
    for (const one of list) {
      all.set(one, at);
      at += one.length;
    }
    return all;
  }
  static byteLength(value) {
    return typeof value === "string" ? utf8(value).length : value.byteLength;
  }
  static isBuffer(value) {
    return value instanceof Buffer;
  }
  toString(encoding = "utf8") {
    if (encoding === "base64") return toBase64(this);
    if (encoding === "hex") return [...this].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if (encoding === "latin1" || encoding === "binary") return [...this].map((byte) => String.fromCharCode(byte)).join("");
    return fromUtf8(this);
  }
}

provide("node/buffer", { Buffer });

export default { Buffer };

// Bytes that are texts too: the part of Node's buffers that extensions use.

import { provide } from "offshoot:native";

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function utf8(text) {
  const bytes = [];
  for (const char of text) {
    const point = char.codePointAt(0);
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
  }
  return bytes;
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
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b = 0, c = 0] = bytes.subarray(at, at + 3);
    const bits = (a << 16) | (b << 8) | c;
    text += BASE64[bits >> 18] + BASE64[(bits >> 12) & 63];
    text += at + 1 < bytes.length ? BASE64[(bits >> 6) & 63] : "=";
    text += at + 2 < bytes.length ? BASE64[bits & 63] : "=";
  }
  return text;
}

function fromBase64(text) {
  const bytes = [];
  let [bits, count] = [0, 0];
  for (const char of text.replaceAll("-", "+").replaceAll("_", "/")) {
    const value = BASE64.indexOf(char);
    if (value < 0) continue;
    bits = ((bits << 6) | value) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push((bits >> count) & 255);
    }
  }
  return bytes;
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
    return Buffer.from(list.flatMap((one) => [...one]));
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

provide("node-buffer", { Buffer });

export default { Buffer };

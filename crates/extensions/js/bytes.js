// Blobs: bytes with a type, and what can be read of them.

import { provide } from "offshoot:native";
import { Buffer } from "offshoot:node/buffer";
import { ReadableStream } from "offshoot:node/stream-web";

/// The bytes of a text, a buffer, a view or a blob.
export function bytesOf(value) {
  if (value instanceof Blob) return value.bytesNow();
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new Uint8Array(Buffer.from(String(value)));
}

export class Blob {
  #bytes;
  constructor(parts = [], options = {}) {
    this.#bytes = Buffer.concat([...parts].map(bytesOf));
    this.type = String(options.type ?? "").toLowerCase();
  }
  get size() {
    return this.#bytes.length;
  }
  bytesNow() {
    return new Uint8Array(this.#bytes);
  }
  async bytes() {
    return this.bytesNow();
  }
  async arrayBuffer() {
    return this.bytesNow().buffer;
  }
  async text() {
    return new TextDecoder().decode(this.#bytes);
  }
  slice(start, end, type) {
    return new Blob([this.#bytes.slice(start, end)], { type });
  }
  stream() {
    return ReadableStream.from([this.bytesNow()]);
  }
}

export class File extends Blob {
  constructor(parts, name, options = {}) {
    super(parts, options);
    this.name = String(name);
    this.lastModified = options.lastModified ?? Date.now();
  }
}

provide("bytes", { Blob, File });

// Compression: gzip and deflate.

import { call } from "offshoot:native";
import { Buffer } from "offshoot:node/buffer";
import { Transform } from "offshoot:node/stream";

function bytesOf(data) {
  if (typeof data === "string") return Buffer.from(data);
  return Buffer.from(data instanceof ArrayBuffer ? data.slice(0) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

function run(name, format, data, options) {
  try {
    return Buffer.from(call(`bytes.${name}`, { format, base64: bytesOf(data).toString("base64"), level: options?.level }), "base64");
  } catch (error) {
    throw Object.assign(error, { code: "Z_DATA_ERROR", errno: -3 });
  }
}

/// Both first bytes tell gzip from deflate.
const guessed = (data) => (bytesOf(data)[0] === 0x1f ? "gzip" : "deflate");

export const gzipSync = (data, options) => run("compress", "gzip", data, options);
export const gunzipSync = (data) => run("decompress", "gzip", data);
export const deflateSync = (data, options) => run("compress", "deflate", data, options);
export const inflateSync = (data) => run("decompress", "deflate", data);
export const deflateRawSync = (data, options) => run("compress", "deflate-raw", data, options);
export const inflateRawSync = (data) => run("decompress", "deflate-raw", data);
export const unzipSync = (data) => run("decompress", guessed(data), data);

const later = (work) => (data, options, callback) => {
  const done = typeof options === "function" ? options : callback;
  new Promise((resolve) => resolve(work(data, options))).then((value) => done(null, value), done);
};
export const gzip = later(gzipSync);
export const gunzip = later(gunzipSync);
export const deflate = later(deflateSync);
export const inflate = later(inflateSync);
export const deflateRaw = later(deflateRawSync);
export const inflateRaw = later(inflateRawSync);
export const unzip = later(unzipSync);

/// The whole input is kept until its end.
const stream = (work) => (options) => {
  const parts = [];
  return new Transform({
    transform: (part, encoding, done) => {
      parts.push(typeof part === "string" ? Buffer.from(part, encoding) : part);
      done();
    },
    flush: (done) => {
      try {
        done(null, work(Buffer.concat(parts), options));
      } catch (error) {
        done(error);
      }
    },
  });
};
export const createGzip = stream(gzipSync);
export const createGunzip = stream(gunzipSync);
export const createDeflate = stream(deflateSync);
export const createInflate = stream(inflateSync);
export const createUnzip = stream(unzipSync);

export const constants = { Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1 };

export default {
  gzipSync, gunzipSync, deflateSync, inflateSync, deflateRawSync, inflateRawSync, unzipSync, gzip, gunzip, deflate, inflate, deflateRaw,
  inflateRaw, unzip, createGzip, createGunzip, createDeflate, createInflate, createUnzip, constants,
};

// Numbers that nobody can guess, hashes, and keys made of them.

import { call } from "offshoot:native";
import { Buffer } from "offshoot:node/buffer";
import { Transform } from "offshoot:node/stream";

export const randomUUID = () => call("system.uuidv4");
export function randomBytes(size, callback) {
  const parts = [];
  for (let left = size; left > 0; left -= 65536) parts.push(Buffer.from(call("system.random", { bytes: Math.min(left, 65536) })));
  const bytes = Buffer.concat(parts);
  if (callback) queueMicrotask(() => callback(null, bytes));
  return bytes;
}
export function randomInt(low, high, callback) {
  const [from, to] = typeof high === "number" ? [low, high] : [0, low];
  if (!(to > from)) throw new RangeError('The value of "max" is out of range');
  const value = from + (randomBytes(6).reduce((sum, byte) => sum * 256 + byte, 0) % (to - from));
  const done = typeof high === "function" ? high : callback;
  if (done) queueMicrotask(() => done(null, value));
  return value;
}
export function randomFillSync(view) {
  new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength).set(randomBytes(view.byteLength));
  return view;
}
export const getRandomValues = (view) => randomFillSync(view);

const HASHES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
export const getHashes = () => [...HASHES];

function algorithm(name) {
  const plain = String(name).toLowerCase().replace(/^rsa-/, "").replace(/^sha-/, "sha");
  if (!HASHES.includes(plain)) throw Object.assign(new Error("Digest method not supported"), { code: "ERR_CRYPTO_INVALID_DIGEST" });
  return plain;
}

/// A copy: whoever hands bytes over may change them before the end.
function bytesOf(data, encoding) {
  if (typeof data === "string") return Buffer.from(data, encoding);
  if (data instanceof ArrayBuffer) return Buffer.from(data.slice(0));
  if (!ArrayBuffer.isView(data)) throw new TypeError("a hash is made of text or bytes");
  return Buffer.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

const base64 = (data, encoding) => bytesOf(data, encoding).toString("base64");
const made = (name, values) => Buffer.from(call(`bytes.${name}`, values), "base64");
const spelled = (bytes, encoding) => (encoding && encoding !== "buffer" ? bytes.toString(encoding) : bytes);

class Hash extends Transform {
  #parts = [];
  #finish;
  #isDone = false;
  constructor(finish, parts = []) {
    super();
    this.#finish = finish;
    this.#parts = parts;
  }
  update(more, encoding) {
    if (this.#isDone) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" });
    this.#parts.push(bytesOf(more, encoding));
    return this;
  }
  digest(encoding) {
    if (this.#isDone) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" });
    this.#isDone = true;
    return spelled(this.#finish(Buffer.concat(this.#parts).toString("base64")), encoding);
  }
  copy() {
    return new Hash(this.#finish, [...this.#parts]);
  }
  _transform(data, encoding, done) {
    this.update(data, encoding);
    done();
  }
  _flush(done) {
    done(null, this.digest());
  }
}

export function createHash(name) {
  const known = algorithm(name);
  return new Hash((data) => made("hash", { algorithm: known, base64: data }));
}

export function createHmac(name, key) {
  const [known, secret] = [algorithm(name), base64(key?.export?.() ?? key)];
  return new Hash((data) => made("hmac", { algorithm: known, key: secret, base64: data }));
}

export const hash = (name, data, encoding = "hex") => createHash(name).update(data).digest(encoding);

export function pbkdf2Sync(password, salt, rounds, length, name) {
  return made("pbkdf2", { algorithm: algorithm(name), base64: base64(password), salt: base64(salt), rounds, length });
}
export function pbkdf2(password, salt, rounds, length, name, callback) {
  const work = new Promise((resolve) => resolve(pbkdf2Sync(password, salt, rounds, length, name)));
  work.then((key) => callback(null, key), callback);
}

export function timingSafeEqual(a, b) {
  const [one, two] = [bytesOf(a), bytesOf(b)];
  if (one.length !== two.length) throw new RangeError("Input buffers must have the same byte length");
  return one.reduce((difference, byte, at) => difference | (byte ^ two[at]), 0) === 0;
}

export function createSecretKey(key, encoding) {
  const bytes = bytesOf(key, encoding);
  return { type: "secret", symmetricKeySize: bytes.length, export: () => Buffer.from(bytes) };
}

const nameOf = (one) => (typeof one === "string" ? one : one.name ?? one.hash?.name ?? one.hash);
const plain = (bytes) => new Uint8Array(bytes).buffer;
const keys = new WeakMap();

export const subtle = {
  async digest(name, data) {
    return plain(createHash(nameOf(name)).update(data).digest());
  },
  async importKey(format, data, { name, hash: kind }, extractable, usages) {
    if (format !== "raw" || name !== "HMAC") throw new Error(`${name} keys as ${format} need Node, which the embedded engine does not have`);
    const key = { type: "secret", algorithm: { name, hash: { name: nameOf(kind) } }, extractable, usages };
    keys.set(key, bytesOf(data));
    return key;
  },
  async sign(_name, key, data) {
    return plain(createHmac(key.algorithm.hash.name, keys.get(key)).update(data).digest());
  },
  async verify(name, key, signature, data) {
    return timingSafeEqual(signature, await subtle.sign(name, key, data));
  },
};
export const webcrypto = { subtle, randomUUID, getRandomValues };

/// Ciphers, keys in pairs and certificates.
const missing = (name) => () => {
  throw new Error(`crypto.${name} needs Node, which the embedded engine does not have`);
};
export const createCipheriv = missing("createCipheriv");
export const createDecipheriv = missing("createDecipheriv");
export const createSign = missing("createSign");
export const createVerify = missing("createVerify");
export const generateKeyPairSync = missing("generateKeyPairSync");
export const scryptSync = missing("scryptSync");

export default {
  randomUUID, randomBytes, randomInt, randomFillSync, getRandomValues, getHashes, createHash, createHmac, hash, pbkdf2Sync, pbkdf2,
  timingSafeEqual, createSecretKey, subtle, webcrypto, createCipheriv, createDecipheriv, createSign, createVerify, generateKeyPairSync,
  scryptSync, Hash, Hmac: Hash,
};

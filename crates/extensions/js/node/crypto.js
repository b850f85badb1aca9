// Numbers that nobody can guess, and hashes.

import { call } from "offshoot:native";
import { Buffer } from "offshoot:node/buffer";

export const randomUUID = () => call("system.uuidv4");
export const randomBytes = (size) => Buffer.from(call("system.random", { bytes: size }));
export const randomInt = (low, high) => {
  const [from, to] = high === undefined ? [0, low] : [low, high];
  return from + (randomBytes(6).reduce((sum, byte) => sum * 256 + byte, 0) % (to - from));
};

/// A copy: whoever hands bytes over may change them before the end.
function bytesOf(data, encoding) {
  if (typeof data === "string") return Buffer.from(data, encoding);
  if (!ArrayBuffer.isView(data)) throw new TypeError("a hash is made of text or bytes");
  return Buffer.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

export function createHash(name) {
  if (name !== "sha256") throw new Error(`no hash ${name}`);
  const parts = [];
  const hash = {
    update(more, encoding) {
      parts.push(bytesOf(more, encoding));
      return hash;
    },
    digest(encoding) {
      const hex = call("system.sha256", { base64: Buffer.concat(parts).toString("base64") });
      return encoding === "hex" ? hex : encoding ? Buffer.from(hex, "hex").toString(encoding) : Buffer.from(hex, "hex");
    },
  };
  return hash;
}

export default { randomUUID, randomBytes, randomInt, createHash };

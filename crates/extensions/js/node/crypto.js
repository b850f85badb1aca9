// Numbers that nobody can guess, and hashes.

import { call } from "offshoot:native";
import { Buffer } from "offshoot:node-buffer";

export const randomUUID = () => call("system.uuidv4");
export const randomBytes = (size) => Buffer.from(call("system.random", { bytes: size }));
export const randomInt = (low, high) => {
  const [from, to] = high === undefined ? [0, low] : [low, high];
  return from + (randomBytes(6).reduce((sum, byte) => sum * 256 + byte, 0) % (to - from));
};

export function createHash(name) {
  if (name !== "sha256") throw new Error(`no hash ${name}`);
  let text = "";
  const hash = {
    update(more) {
      text += String(more);
      return hash;
    },
    digest(encoding) {
      const hex = call("system.sha256", { text });
      return encoding === "hex" ? hex : encoding ? Buffer.from(hex, "hex").toString(encoding) : Buffer.from(hex, "hex");
    },
  };
  return hash;
}

export default { randomUUID, randomBytes, randomInt, createHash };

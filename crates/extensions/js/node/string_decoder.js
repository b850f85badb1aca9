// Text that comes in pieces of bytes.

import { Buffer } from "offshoot:node/buffer";

export class StringDecoder {
  #decoder;
  constructor(encoding = "utf8") {
    this.encoding = encoding;
    const web = { utf8: "utf-8", "utf-8": "utf-8", utf16le: "utf-16le", ucs2: "utf-16le", latin1: "latin1", binary: "latin1", ascii: "latin1" };
    if (web[encoding]) this.#decoder = new TextDecoder(web[encoding], { ignoreBOM: true });
  }
  write(bytes) {
    return this.#decoder ? this.#decoder.decode(bytes, { stream: true }) : Buffer.from(bytes).toString(this.encoding);
  }
  end(bytes) {
    return (bytes ? this.write(bytes) : "") + (this.#decoder?.decode() ?? "");
  }
}

export default { StringDecoder };

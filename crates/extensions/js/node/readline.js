// Lines of a stream.

import { EventEmitter } from "offshoot:node/events";

export class Interface extends EventEmitter {
  #rest = "";
  #questions = [];
  #decoder = new TextDecoder();
  closed = false;

  constructor({ input, output, signal } = {}) {
    super();
    Object.assign(this, { input, output, terminal: false, line: "", cursor: 0 });
    input?.on?.("data", (part) => this.#take(typeof part === "string" ? part : this.#decoder.decode(part, { stream: true })));
    input?.on?.("end", () => {
      if (this.#rest) this.#line(this.#rest);
      this.#rest = "";
      this.close();
    });
    signal?.addEventListener("abort", () => this.close());
  }
  #take(text) {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
  }
  #line(line) {
    const question = this.#questions.shift();
    if (question) question(line);
    else this.emit("line", line);
  }
  question(text, options, callback) {
    this.output?.write?.(text);
    this.#questions.push(typeof options === "function" ? options : callback);
  }
  close() {
    if (this.closed) return;
    this.closed = true;
    this.emit("close");
  }
  pause() {
    this.input?.pause?.();
    return this;
  }
  resume() {
    this.input?.resume?.();
    return this;
  }
  setPrompt(text) {
    this.text = text;
  }
  prompt() {
    this.output?.write?.(this.text ?? "> ");
  }
  write() {}
  async *[Symbol.asyncIterator]() {
    const queue = [];
    let wake = () => {};
    this.on("line", (line) => {
      queue.push(line);
      wake();
    });
    this.on("close", () => wake());
    for (;;) {
      if (queue.length > 0) yield queue.shift();
      else if (this.closed) return;
      else await new Promise((resolve) => (wake = resolve));
    }
  }
}

export const createInterface = (input, output) => new Interface(typeof input?.on === "function" ? { input, output } : input);
export const clearLine = () => true;
export const cursorTo = () => true;
export const moveCursor = () => true;
export const clearScreenDown = () => true;
export const emitKeypressEvents = () => {};
export const promises = {
  createInterface: (options) => {
    const made = createInterface(options);
    const ask = made.question.bind(made);
    return Object.assign(made, { question: (text) => new Promise((resolve) => ask(text, resolve)) });
  },
};

export default { Interface, createInterface, clearLine, cursorTo, moveCursor, clearScreenDown, emitKeypressEvents, promises };

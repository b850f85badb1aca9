// The streams of the web: a queue with one reader, as far as bodies of requests and responses need it.

import { provide } from "offshoot:native";

class Reader {
  #stream;
  constructor(stream) {
    if (stream.locked) throw new TypeError("The stream is locked to another reader");
    this.#stream = stream;
    stream.locked = true;
  }
  get closed() {
    return this.#stream.ended;
  }
  read() {
    return this.#stream.pull();
  }
  async cancel(reason) {
    await this.#stream.stop(reason);
  }
  releaseLock() {
    this.#stream.locked = false;
  }
}

export class ReadableStream {
  locked = false;
  #source;
  #queue = [];
  #waiting = [];
  #state = "open";
  #error;
  #isPulling = false;
  #started;
  #controller;

  constructor(source = {}) {
    this.#source = source;
    this.ended = new Promise((resolve, reject) => (this.done = { resolve, reject }));
    this.ended.catch(() => {});
    this.#controller = {
      desiredSize: 1,
      enqueue: (value) => {
        if (this.#state !== "open") throw new TypeError("The stream is closed");
        if (this.#waiting.length > 0) this.#waiting.shift().resolve({ value, done: false });
        else this.#queue.push(value);
      },
      close: () => this.#end("closed"),
      error: (error) => this.#end("failed", error),
    };
    try {
      this.#started = Promise.resolve(source.start?.(this.#controller));
      this.#started.catch((error) => this.#end("failed", error));
    } catch (error) {
      this.#started = Promise.resolve();
      this.#end("failed", error);
    }
  }
  #end(state, error) {
    if (this.#state !== "open") return;
    this.#state = state;
    this.#error = error;
    if (state === "failed") this.done.reject(error);
    else this.done.resolve();
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (state === "failed") reject(error);
      else resolve({ value: undefined, done: true });
    }
  }
  /// Returns the next value; asks the source for it.
  pull() {
    if (this.#queue.length > 0) return Promise.resolve({ value: this.#queue.shift(), done: false });
    if (this.#state === "failed") return Promise.reject(this.#error);
    if (this.#state === "closed") return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#ask();
    });
  }
  async #ask() {
    if (this.#isPulling || !this.#source.pull) return;
    this.#isPulling = true;
    try {
      await this.#started;
      while (this.#state === "open" && this.#waiting.length > 0) await this.#source.pull(this.#controller);
    } catch (error) {
      this.#end("failed", error);
    }
    this.#isPulling = false;
  }
  async stop(reason) {
    this.#queue = [];
    if (this.#state !== "open") return;
    this.#end("closed");
    await this.#source.cancel?.(reason);
  }
  getReader() {
    return new Reader(this);
  }
  async cancel(reason) {
    if (this.locked) throw new TypeError("The stream is locked to a reader");
    await this.stop(reason);
  }
  tee() {
    const reader = this.getReader();
    const branches = [];
    const pull = async () => {
      const { value, done } = await reader.read();
      for (const one of branches) done ? one.close() : one.enqueue(value);
    };
    const branch = () => new ReadableStream({ start: (controller) => void branches.push(controller), pull });
    return [branch(), branch()];
  }
  async pipeTo(target) {
    const writer = target.getWriter();
    for await (const value of this) await writer.write(value);
    await writer.close();
  }
  pipeThrough({ writable, readable }) {
    this.pipeTo(writable).catch((error) => writable.abort(error));
    return readable;
  }
  async *values() {
    const reader = this.getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel();
      reader.releaseLock();
    }
  }
  [Symbol.asyncIterator]() {
    return this.values();
  }
  static from(values) {
    const iterator = values[Symbol.asyncIterator]?.() ?? values[Symbol.iterator]();
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => iterator.return?.(reason),
    });
  }
}

export class WritableStream {
  locked = false;
  #sink;
  #error;
  #chain;
  constructor(sink = {}) {
    this.#sink = sink;
    this.#chain = Promise.resolve(sink.start?.({ error: (error) => (this.#error = error) }));
  }
  #next(work) {
    const done = this.#chain.then(() => {
      if (this.#error) throw this.#error;
      return work();
    });
    this.#chain = done.catch((error) => void (this.#error ??= error));
    return done;
  }
  write(value) {
    return this.#next(() => this.#sink.write?.(value, {}));
  }
  close() {
    return this.#next(() => this.#sink.close?.());
  }
  async abort(reason) {
    this.#error ??= reason ?? new Error("aborted");
    await this.#sink.abort?.(reason);
  }
  getWriter() {
    this.locked = true;
    return {
      ready: Promise.resolve(), closed: this.#chain, desiredSize: 1,
      write: (value) => this.write(value), close: () => this.close(), abort: (reason) => this.abort(reason),
      releaseLock: () => void (this.locked = false),
    };
  }
}

export class TransformStream {
  constructor({ start, transform, flush } = {}) {
    let controller;
    this.readable = new ReadableStream({ start: (given) => void (controller = given) });
    controller.terminate = () => controller.close();
    this.writable = new WritableStream({
      start: () => start?.(controller),
      write: (value) => (transform ? transform(value, controller) : controller.enqueue(value)),
      close: async () => {
        await flush?.(controller);
        controller.close();
      },
      abort: (reason) => controller.error(reason),
    });
  }
}

export class TextDecoderStream extends TransformStream {
  constructor(encoding) {
    const decoder = new TextDecoder(encoding);
    const put = (text, controller) => text && controller.enqueue(text);
    super({
      transform: (bytes, controller) => void put(decoder.decode(bytes, { stream: true }), controller),
      flush: (controller) => void put(decoder.decode(), controller),
    });
  }
}

export class TextEncoderStream extends TransformStream {
  constructor() {
    super({ transform: (text, controller) => controller.enqueue(new TextEncoder().encode(text)) });
  }
}

const all = { ReadableStream, WritableStream, TransformStream, TextDecoderStream, TextEncoderStream };
provide("node/stream-web", all);
export default all;

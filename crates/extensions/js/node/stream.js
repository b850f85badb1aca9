// Node's streams: readable and writable, and what connects them.

import { Buffer } from "offshoot:node/buffer";
import { EventEmitter } from "offshoot:node/events";

const later = (work) => void Promise.resolve().then(work);
const closedEarly = () => Object.assign(new Error("Premature close"), { code: "ERR_STREAM_PREMATURE_CLOSE" });
const bytesOf = (part, encoding) => (typeof part === "string" ? Buffer.from(part, encoding) : Buffer.isBuffer(part) ? part : Buffer.from(part));

export class Stream extends EventEmitter {
  destroyed = false;
  errored = null;
  closed = false;

  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.errored = error ?? null;
    const done = (failed) => later(() => {
      if (failed) this.emit("error", failed);
      this.closed = true;
      this.emit("close");
    });
    this._destroy(error ?? null, (failed) => done(failed ?? error));
    return this;
  }
  _destroy(error, done) {
    done(error);
  }
  async [Symbol.asyncDispose]() {
    this.destroy();
  }
}

export class Readable extends Stream {
  readable = true;
  readableEnded = false;
  readableFlowing = null;
  #queue = [];
  #hasEnded = false;
  #isReading = false;
  #isDraining = false;
  #encoding;
  #decoder;
  #piped = [];

  constructor(options = {}) {
    super();
    this.readableObjectMode = Boolean(options.objectMode ?? options.readableObjectMode);
    this.readableHighWaterMark = options.highWaterMark ?? (this.readableObjectMode ? 16 : 65536);
    if (options.read) this._read = options.read;
    if (options.destroy) this._destroy = options.destroy;
    if (options.encoding) this.setEncoding(options.encoding);
    options.signal?.addEventListener("abort", () => this.destroy(options.signal.reason));
  }
  _read() {}
  get readableLength() {
    return this.#queue.reduce((sum, part) => sum + (this.readableObjectMode ? 1 : part.length), 0);
  }
  setEncoding(encoding) {
    this.#encoding = encoding;
    this.#decoder = new TextDecoder(encoding === "ascii" || encoding === "binary" ? "latin1" : encoding === "utf16le" ? "utf-16le" : /^utf-?8$/i.test(encoding) ? "utf-8" : "latin1");
    return this;
  }
  #shown(part) {
    if (!this.#encoding || this.readableObjectMode) return part;
    if (["hex", "base64", "base64url"].includes(this.#encoding)) return bytesOf(part).toString(this.#encoding);
    return typeof part === "string" ? part : this.#decoder.decode(part, { stream: true });
  }
  /// Takes more. Returns whether there is room for more still.
  push(part, encoding) {
    if (this.#hasEnded) {
      if (part !== null) this.destroy(Object.assign(new Error("stream.push() after EOF"), { code: "ERR_STREAM_PUSH_AFTER_EOF" }));
      return false;
    }
    this.#isReading = false;
    if (part === null) this.#hasEnded = true;
    else {
      const value = this.readableObjectMode || part === undefined ? part : bytesOf(part, encoding);
      if (this.readableObjectMode || value.length > 0) this.#queue.push(value);
    }
    later(() => {
      this.#flow();
      if (this.readableFlowing !== true && !this.destroyed) this.emit("readable");
    });
    return this.readableLength < this.readableHighWaterMark;
  }
  unshift(part) {
    this.#queue.unshift(this.readableObjectMode ? part : bytesOf(part));
  }
  #ask() {
    if (this.#hasEnded || this.#isReading || this.destroyed) return;
    this.#isReading = true;
    try {
      this._read(this.readableHighWaterMark);
    } catch (error) {
      this.destroy(error);
    }
  }
  #flow() {
    if (this.#isDraining) return;
    this.#isDraining = true;
    while (this.readableFlowing && this.#queue.length > 0 && !this.destroyed) this.emit("data", this.#shown(this.#queue.shift()));
    this.#isDraining = false;
    if (this.#queue.length > 0 || this.destroyed) return;
    if (this.#hasEnded) this.#finish();
    else if (this.readableFlowing) this.#ask();
  }
  #finish() {
    if (this.readableEnded || this.readableFlowing === false || this.destroyed) return;
    this.readableEnded = true;
    this.readable = false;
    this.emit("end");
    if (!(this instanceof Duplex) || this.writableFinished) this.destroy();
  }
  on(name, listener) {
    super.on(name, listener);
    if (name === "data" && this.readableFlowing !== false) this.resume();
    if (name === "readable") {
      this.readableFlowing ??= false;
      later(() => (this.#queue.length > 0 || this.#hasEnded ? this.emit("readable") : this.#ask()));
    }
    return this;
  }
  addListener(name, listener) {
    return this.on(name, listener);
  }
  read(size) {
    if (this.#queue.length === 0) {
      if (this.#hasEnded) {
        this.readableFlowing = null;
        later(() => this.#finish());
      } else this.#ask();
      return null;
    }
    if (this.readableObjectMode) return this.#queue.shift();
    const all = Buffer.concat(this.#queue.splice(0));
    if (size === undefined || size >= all.length) {
      later(() => (this.#hasEnded ? this.emit("readable") : this.#ask()));
      return size > all.length && !this.#hasEnded ? (this.#queue.push(all), null) : this.#shown(all);
    }
    this.#queue.push(all.subarray(size));
    return this.#shown(all.subarray(0, size));
  }
  resume() {
    this.readableFlowing = true;
    later(() => this.#flow());
    this.emit("resume");
    return this;
  }
  pause() {
    this.readableFlowing = false;
    this.emit("pause");
    return this;
  }
  isPaused() {
    return this.readableFlowing === false;
  }
  pipe(target, { end = true } = {}) {
    const data = (part) => {
      if (target.write(part) === false) {
        this.pause();
        target.once("drain", () => this.resume());
      }
    };
    const over = () => end && target !== globalThis.process?.stdout && target !== globalThis.process?.stderr && target.end();
    this.#piped.push({ target, data, over });
    this.on("data", data);
    this.once("end", over);
    target.emit?.("pipe", this);
    return target;
  }
  unpipe(target) {
    for (const one of this.#piped.filter((one) => target === undefined || one.target === target)) {
      this.off("data", one.data);
      this.off("end", one.over);
      one.target.emit?.("unpipe", this);
    }
    this.#piped = this.#piped.filter((one) => target !== undefined && one.target !== target);
    return this;
  }
  [Symbol.asyncIterator]() {
    return this.iterator();
  }
  async *iterator() {
    const queue = [];
    let [wake, isOver, failure] = [() => {}, false, null];
    const note = (change) => (value) => {
      change(value);
      wake();
    };
    this.on("data", note((part) => queue.push(part)));
    this.once("end", note(() => (isOver = true)));
    this.once("close", note(() => (isOver = true)));
    this.once("error", note((error) => (failure = error)));
    if (this.readableEnded || this.closed) isOver = true;
    try {
      for (;;) {
        if (queue.length > 0) yield queue.shift();
        else if (failure) throw failure;
        else if (isOver) return;
        else await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      if (!isOver) this.destroy();
    }
  }
  async toArray() {
    const all = [];
    for await (const part of this) all.push(part);
    return all;
  }
  static from(values, options) {
    const list = typeof values === "string" || values instanceof Uint8Array ? [values] : values;
    const iterator = list[Symbol.asyncIterator]?.() ?? list[Symbol.iterator]();
    return new Readable({
      objectMode: true,
      ...options,
      async read() {
        try {
          const { value, done } = await iterator.next();
          this.push(done ? null : await value);
        } catch (error) {
          this.destroy(error);
        }
      },
      destroy(error, done) {
        Promise.resolve(iterator.return?.()).then(() => done(error), done);
      },
    });
  }
  static fromWeb(stream, options) {
    return Readable.from(stream, { objectMode: false, ...options });
  }
  static toWeb(stream) {
    return globalThis.ReadableStream.from(stream);
  }
}

/// The half that is written to, for writable streams and for those that are both.
const WRITABLE = {
  _initWritable(options) {
    Object.assign(this, {
      writable: true, writableEnded: false, writableFinished: false, writableNeedDrain: false, writableLength: 0,
      writableObjectMode: Boolean(options.objectMode ?? options.writableObjectMode), _pending: [], _isWriting: false, _corked: 0,
      _encoding: options.defaultEncoding ?? "utf8", _decodes: options.decodeStrings !== false,
    });
    this.writableHighWaterMark = options.highWaterMark ?? (this.writableObjectMode ? 16 : 65536);
    if (options.write) this._write = options.write;
    if (options.writev) this._writev = options.writev;
    if (options.final) this._final = options.final;
    if (options.destroy) this._destroy = options.destroy;
  },
  setDefaultEncoding(encoding) {
    this._encoding = encoding;
    return this;
  },
  write(part, encoding, callback) {
    const done = typeof encoding === "function" ? encoding : callback ?? (() => {});
    const name = typeof encoding === "string" ? encoding : this._encoding;
    if (this.writableEnded || this.destroyed) {
      const error = Object.assign(new Error(this.destroyed ? "Cannot call write after a stream was destroyed" : "write after end"), {
        code: this.destroyed ? "ERR_STREAM_DESTROYED" : "ERR_STREAM_WRITE_AFTER_END",
      });
      later(() => done(error));
      if (!this.destroyed) this.destroy(error);
      return false;
    }
    const value = !this.writableObjectMode && this._decodes ? bytesOf(part, name) : part;
    const length = this.writableObjectMode ? 1 : value.length;
    this.writableLength += length;
    this._pending.push({ value, encoding: typeof value === "string" ? name : "buffer", done, length });
    this._next();
    this.writableNeedDrain = this.writableLength >= this.writableHighWaterMark;
    return !this.writableNeedDrain;
  },
  _next() {
    if (this._isWriting || this._corked > 0 || this.destroyed) return;
    if (this._pending.length === 0) return this.writableEnded ? this._finishWriting() : undefined;
    const one = this._pending.shift();
    this._isWriting = true;
    const written = (error) => {
      this._isWriting = false;
      this.writableLength -= one.length;
      one.done(error);
      if (error) return this.destroy(error);
      if (this.writableNeedDrain && this.writableLength === 0 && !this.writableEnded) {
        this.writableNeedDrain = false;
        later(() => this.emit("drain"));
      }
      this._next();
    };
    let isNow = true;
    const done = (error) => (isNow ? later(() => written(error)) : written(error));
    try {
      if (this._write) this._write(one.value, one.encoding, done);
      else if (this._writev) this._writev([{ chunk: one.value, encoding: one.encoding }], done);
      else done();
    } catch (error) {
      done(error);
    }
    isNow = false;
  },
  end(part, encoding, callback) {
    const done = [part, encoding, callback].find((one) => typeof one === "function");
    if (part !== undefined && part !== null && typeof part !== "function") this.write(part, typeof encoding === "string" ? encoding : undefined);
    if (done) this.once("finish", done);
    if (!this.writableEnded) {
      this.writableEnded = true;
      this.writable = false;
      this._corked = 0;
      later(() => this._next());
    }
    return this;
  },
  _finishWriting() {
    if (this._isFinishing) return;
    this._isFinishing = true;
    const done = (error) => {
      if (error) return this.destroy(error);
      later(() => {
        this.writableFinished = true;
        this.emit("finish");
        if (!(this instanceof Duplex) || this.readableEnded) this.destroy();
      });
    };
    if (this._final) this._final(done);
    else done();
  },
  cork() {
    this._corked += 1;
  },
  uncork() {
    this._corked = Math.max(0, this._corked - 1);
    this._next();
  },
};

export class Writable extends Stream {
  constructor(options = {}) {
    super();
    this._initWritable(options);
    options.signal?.addEventListener("abort", () => this.destroy(options.signal.reason));
  }
  static fromWeb(stream) {
    const writer = stream.getWriter();
    return new Writable({
      write: (part, encoding, done) => void writer.write(part).then(() => done(), done),
      final: (done) => void writer.close().then(() => done(), done),
    });
  }
}
Object.assign(Writable.prototype, WRITABLE);

export class Duplex extends Readable {
  constructor(options = {}) {
    super(options);
    this._initWritable(options);
  }
}
Object.assign(Duplex.prototype, WRITABLE);

export class Transform extends Duplex {
  constructor(options = {}) {
    super(options);
    if (options.transform) this._transform = options.transform;
    if (options.flush) this._flush = options.flush;
  }
  _transform(part, encoding, done) {
    done(null, part);
  }
  _write(part, encoding, done) {
    this._transform(part, encoding, (error, value) => {
      if (!error && value !== undefined && value !== null) this.push(value);
      done(error);
    });
  }
  _final(done) {
    const end = (error, value) => {
      if (!error && value !== undefined && value !== null) this.push(value);
      if (!error) this.push(null);
      done(error);
    };
    if (this._flush) this._flush(end);
    else end();
  }
}

export class PassThrough extends Transform {}

/// Calls back when a stream has ended, failed or was closed too early.
export function finished(stream, options, callback) {
  const done = typeof options === "function" ? options : callback;
  let isDone = false;
  const once = (error) => {
    if (isDone) return;
    isDone = true;
    done(error);
  };
  const isOver = () => (stream.readable !== undefined && stream instanceof Readable ? stream.readableEnded : true) && (stream._initWritable ? stream.writableFinished : true);
  const check = () => isOver() && once();
  stream.on("error", once);
  for (const name of ["end", "finish"]) stream.on(name, check);
  stream.on("close", () => once(isOver() ? undefined : stream.errored ?? closedEarly()));
  if (stream.destroyed) later(() => once(isOver() ? undefined : stream.errored ?? closedEarly()));
  return () => void (isDone = true);
}

const asReadable = (value) => (value instanceof Stream || typeof value?.pipe === "function" ? value : Readable.from(value));

/// Connects streams; calls back when the last one has finished or one has failed.
export function pipeline(...args) {
  const callback = typeof args.at(-1) === "function" && args.length > 1 ? args.pop() : () => {};
  const list = (Array.isArray(args[0]) ? args[0] : args).filter((one) => typeof one !== "object" || one instanceof Stream || one?.[Symbol.asyncIterator] || one?.[Symbol.iterator] || one?.pipe);
  const streams = list.map((one, at) => (at === 0 ? asReadable(typeof one === "function" ? one() : one) : one));
  let current = streams[0];
  for (let at = 1; at < streams.length; at++) {
    if (typeof streams[at] === "function") streams[at] = asReadable(streams[at](current));
    else current.pipe(streams[at]);
    current = streams[at];
  }
  let isDone = false;
  const done = (error) => {
    if (isDone) return;
    isDone = true;
    if (error) for (const one of streams) one.destroy?.();
    callback(error);
  };
  for (const one of streams) {
    one.on?.("error", done);
    one.on?.("close", () => !isDone && one !== current && one instanceof Readable && !one.readableEnded && done(one.errored ?? closedEarly()));
  }
  finished(current, done);
  if (current instanceof Readable && !(current instanceof Duplex)) current.resume();
  return current;
}

export const promises = {
  pipeline: (...args) => new Promise((resolve, reject) => pipeline(...args, (error) => (error ? reject(error) : resolve()))),
  finished: (stream) => new Promise((resolve, reject) => finished(stream, (error) => (error ? reject(error) : resolve()))),
};
export const isReadable = (stream) => Boolean(stream?.readable) && !stream.destroyed;
export const addAbortSignal = (signal, stream) => {
  signal.addEventListener("abort", () => stream.destroy(signal.reason));
  return stream;
};

export default Object.assign(Stream, {
  Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, promises, isReadable, addAbortSignal,
});

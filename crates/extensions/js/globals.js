// What script expects to be there without importing it: timers, console, text, addresses, signals.

import { call, described, report, required } from "offshoot:native";
import { AbortController, AbortSignal, DOMException, Event, EventTarget } from "offshoot:abort";

// Timers.

let nextTimer = 1;
const timers = new Map();

class Timer {
  constructor(id) {
    this.id = id;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  refresh() {
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.id;
  }
}

function setTimer(callback, ms, args, repeat) {
  if (typeof callback !== "function") throw new TypeError("a timer needs a function");
  const id = nextTimer++;
  const delay = Math.max(repeat ? 1 : 0, Number(ms) || 0);
  timers.set(id, { callback, args, delay, repeat });
  call("timer.set", { id, ms: delay });
  return new Timer(id);
}

function clearTimer(timer) {
  const id = Number(timer);
  if (timers.delete(id)) call("timer.clear", { id });
}

export function tick(id) {
  const timer = timers.get(id);
  if (!timer) return;
  if (timer.repeat) call("timer.set", { id, ms: timer.delay });
  else timers.delete(id);
  try {
    const done = timer.callback(...timer.args);
    if (done instanceof Promise) done.catch((error) => report("timer", error));
  } catch (error) {
    report("timer", error);
  }
}

// Console: what extensions say there goes to the host, which has a log, or nowhere.

function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return described(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

function logger(level) {
  return (...values) => {
    call("host.log", { level, text: values.map(shown).join(" ") });
  };
}

const console = {
  log: logger("info"),
  info: logger("info"),
  debug: logger("debug"),
  trace: logger("trace"),
  warn: logger("warning"),
  error: logger("error"),
  dir: logger("info"),
  table: logger("info"),
  group() {},
  groupEnd() {},
  time() {},
  timeEnd() {},
  assert(condition, ...values) {
    if (!condition) console.error("Assertion failed", ...values);
  },
};

// Text.

const bytes = () => required("node/buffer").Buffer;

class TextEncoder {
  encoding = "utf-8";
  encode(text = "") {
    return new Uint8Array(bytes().from(String(text)));
  }
  encodeInto(text, target) {
    const all = bytes().from(String(text));
    const written = whole(all.subarray(0, target.length), "utf-8");
    target.set(all.subarray(0, written));
    return { read: all.subarray(0, written).toString().length, written };
  }
}

class TextDecoder {
  #kept = [];
  #isStarted = false;
  constructor(label = "utf-8", options = {}) {
    this.encoding = ENCODINGS[String(label).trim().toLowerCase()];
    if (!this.encoding) throw new RangeError(`The encoding label "${label}" is invalid`);
    this.fatal = Boolean(options.fatal);
    this.ignoreBOM = Boolean(options.ignoreBOM);
  }
  decode(given = new Uint8Array(), options = {}) {
    const view = given.buffer ?? given;
    let all = bytes().from(view, given.byteOffset ?? 0, given.byteLength);
    if (this.#kept.length > 0) all = bytes().concat([bytes().from(this.#kept), all]);
    const end = options.stream ? whole(all, this.encoding) : all.length;
    this.#kept = [...all.subarray(end)];
    const text = all.subarray(0, end).toString(this.encoding === "windows-1252" ? "latin1" : this.encoding);
    if (this.fatal && this.encoding === "utf-8" && !bytes().from(text).equals(all.subarray(0, end))) {
      throw Object.assign(new TypeError("The encoded data was not valid for encoding utf-8"), { code: "ERR_ENCODING_INVALID_ENCODED_DATA" });
    }
    const isFirst = !this.#isStarted;
    this.#isStarted = Boolean(options.stream) && (this.#isStarted || end > 0);
    return isFirst && !this.ignoreBOM && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

const ENCODINGS = {
  "utf-8": "utf-8", utf8: "utf-8", "utf-16le": "utf-16le", "utf-16": "utf-16le", latin1: "windows-1252", ascii: "windows-1252",
  "iso-8859-1": "windows-1252", "us-ascii": "windows-1252", "windows-1252": "windows-1252",
};

/// How many bytes are whole characters; the rest belongs to one that goes on.
function whole(all, encoding) {
  if (encoding === "utf-16le") return all.length & ~1;
  if (encoding !== "utf-8") return all.length;
  for (let back = 1; back <= Math.min(3, all.length); back++) {
    const byte = all[all.length - back];
    if (byte >> 6 === 2) continue;
    const length = byte < 0x80 ? 1 : byte >> 5 === 6 ? 2 : byte >> 4 === 14 ? 3 : byte >> 3 === 30 ? 4 : 1;
    return length > back ? all.length - back : all.length;
  }
  return all.length;
}

function structuredClone(value, seen = new Map()) {
  if (typeof value === "function" || typeof value === "symbol") throw new Error("cannot be cloned");
  if (value === null || typeof value !== "object") return value;
  if (seen.has(value)) return seen.get(value);
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof Uint8Array) return value.slice();
  const copy = Array.isArray(value) ? [] : value instanceof Map ? new Map() : value instanceof Set ? new Set() : {};
  seen.set(value, copy);
  if (value instanceof Map) {
    for (const [key, one] of value) copy.set(structuredClone(key, seen), structuredClone(one, seen));
  } else if (value instanceof Set) {
    for (const one of value) copy.add(structuredClone(one, seen));
  } else {
    for (const key of Object.keys(value)) copy[key] = structuredClone(value[key], seen);
  }
  return copy;
}

const crypto = {
  randomUUID: () => call("system.uuidv4"),
  getRandomValues(array) {
    const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    view.set(call("system.random", { bytes: view.length }));
    return array;
  },
};

// Numbers and dates as text: the engine has no language of its own.

const intl = () => required("intl").Intl;
const DATE = { year: "numeric", month: "numeric", day: "numeric" };
const TIME = { hour: "numeric", minute: "2-digit", second: "2-digit" };
const asksFor = (options, names) => names.some((name) => options?.[name] !== undefined);
const PARTS = ["weekday", "year", "month", "day", "hour", "minute", "second", "dateStyle", "timeStyle", "fractionalSecondDigits"];

function toText(usual) {
  return function toLocaleString(locale, options) {
    if (Number.isNaN(this.getTime())) return "Invalid Date";
    return new (intl().DateTimeFormat)(locale, asksFor(options, PARTS) ? options : { ...usual, ...options }).format(this);
  };
}
const method = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, configurable: true });

method(Number.prototype, "toLocaleString", function toLocaleString(locale, options) {
  return new (intl().NumberFormat)(locale, options).format(Number(this));
});
method(BigInt.prototype, "toLocaleString", function toLocaleString(locale, options) {
  return new (intl().NumberFormat)(locale, options).format(BigInt(this));
});
method(Date.prototype, "toLocaleString", toText({ ...DATE, ...TIME }));
method(Date.prototype, "toLocaleDateString", toText(DATE));
method(Date.prototype, "toLocaleTimeString", toText(TIME));
method(String.prototype, "localeCompare", function localeCompare(other, locale, options) {
  return new (intl().Collator)(locale, options).compare(String(this), String(other));
});

Object.assign(globalThis, {
  setTimeout: (callback, ms, ...args) => setTimer(callback, ms, args, false),
  setInterval: (callback, ms, ...args) => setTimer(callback, ms, args, true),
  setImmediate: (callback, ...args) => setTimer(callback, 0, args, false),
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
  clearImmediate: clearTimer,
  console,
  TextEncoder,
  TextDecoder,
  AbortController,
  AbortSignal,
  DOMException,
  Event,
  EventTarget,
  crypto,
  structuredClone,
  atob: (text) => bytes().from(text, "base64").toString("latin1"),
  btoa: (text) => bytes().from(text, "latin1").toString("base64"),
  performance: globalThis.performance ?? { now: () => Date.now() },
  global: globalThis,
});

if (typeof globalThis.queueMicrotask !== "function") {
  globalThis.queueMicrotask = (callback) => void Promise.resolve().then(callback);
}

/// Globals that most extensions do not need: their modules run when they are asked for.
const SELDOM = {
  "node/buffer": ["Buffer"],
  "node/url": ["URL", "URLSearchParams"],
  "node/process": ["process"],
  fetch: ["fetch", "Headers", "FormData", "Request", "Response"],
  bytes: ["Blob", "File"],
  intl: ["Intl"],
  "node/stream-web": ["ReadableStream", "WritableStream", "TransformStream", "TextDecoderStream", "TextEncoderStream"],
};

for (const [name, module] of Object.entries(SELDOM).flatMap(([module, names]) => names.map((name) => [name, module]))) {
  const set = (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const get = () => {
    const value = required(module)[name];
    set(value);
    return value;
  };
  Object.defineProperty(globalThis, name, { get, set, configurable: true });
}

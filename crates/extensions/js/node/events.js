// Node's event emitter. Its state is made at the first use: older classes inherit without calling the constructor.

const STATE = Symbol("events");

function eventsOf(emitter) {
  if (!Object.hasOwn(emitter, STATE)) Object.defineProperty(emitter, STATE, { value: new Map() });
  return emitter[STATE];
}

function add(emitter, name, listener, { isFirst = false, isOnce = false }) {
  if (typeof listener !== "function") throw new TypeError('The "listener" argument must be of type function');
  const events = eventsOf(emitter);
  if (events.has("newListener")) emitter.emit("newListener", name, listener);
  const entry = { listener, isOnce };
  const list = events.get(name) ?? [];
  events.set(name, isFirst ? [entry, ...list] : [...list, entry]);
  return emitter;
}

export function EventEmitter() {
  if (!(this instanceof EventEmitter)) throw new TypeError("Class constructor EventEmitter cannot be invoked without 'new'");
}

Object.assign(EventEmitter.prototype, {
  on(name, listener) {
    return add(this, name, listener, {});
  },
  addListener(name, listener) {
    return add(this, name, listener, {});
  },
  once(name, listener) {
    return add(this, name, listener, { isOnce: true });
  },
  prependListener(name, listener) {
    return add(this, name, listener, { isFirst: true });
  },
  prependOnceListener(name, listener) {
    return add(this, name, listener, { isFirst: true, isOnce: true });
  },
  off(name, listener) {
    const list = eventsOf(this).get(name) ?? [];
    const at = list.findLastIndex((one) => one.listener === listener);
    if (at < 0) return this;
    const rest = list.toSpliced(at, 1);
    if (rest.length > 0) eventsOf(this).set(name, rest);
    else eventsOf(this).delete(name);
    if (eventsOf(this).has("removeListener")) this.emit("removeListener", name, listener);
    return this;
  },
  removeListener(name, listener) {
    return this.off(name, listener);
  },
  removeAllListeners(name) {
    if (name === undefined) eventsOf(this).clear();
    else eventsOf(this).delete(name);
    return this;
  },
  listeners(name) {
    return (eventsOf(this).get(name) ?? []).map((one) => one.listener);
  },
  rawListeners(name) {
    return this.listeners(name);
  },
  listenerCount(name) {
    return (eventsOf(this).get(name) ?? []).length;
  },
  eventNames() {
    return [...eventsOf(this).keys()];
  },
  setMaxListeners() {
    return this;
  },
  getMaxListeners() {
    return EventEmitter.defaultMaxListeners;
  },
  emit(name, ...values) {
    const list = eventsOf(this).get(name) ?? [];
    if (list.length === 0 && name === "error") {
      throw values[0] instanceof Error ? values[0] : new Error(`Unhandled error. (${String(values[0])})`);
    }
    for (const { listener, isOnce } of list) {
      if (isOnce) this.off(name, listener);
      listener.apply(this, values);
    }
    return list.length > 0;
  },
});

/// Waits for an event; rejects at an error.
export function once(emitter, name, { signal } = {}) {
  return new Promise((resolve, reject) => {
    if (emitter.addEventListener) return emitter.addEventListener(name, (event) => resolve([event]), { once: true });
    const failed = (error) => {
      emitter.off(name, came);
      reject(error);
    };
    const came = (...values) => {
      emitter.off("error", failed);
      resolve(values);
    };
    emitter.once(name, came);
    if (name !== "error") emitter.once("error", failed);
    signal?.addEventListener("abort", () => failed(signal.reason));
  });
}

/// The events of one name, one after the other.
export async function* on(emitter, name, { signal } = {}) {
  const [queue, waiting] = [[], []];
  let failure;
  const came = (...values) => (waiting.length > 0 ? waiting.shift().resolve(values) : queue.push(values));
  const failed = (error) => {
    failure = error;
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  emitter.on(name, came);
  if (name !== "error") emitter.on("error", failed);
  signal?.addEventListener("abort", () => failed(signal.reason));
  try {
    for (;;) {
      if (failure && queue.length === 0) throw failure;
      yield queue.shift() ?? (await new Promise((resolve, reject) => waiting.push({ resolve, reject })));
    }
  } finally {
    emitter.off(name, came);
    emitter.off("error", failed);
  }
}

export const listenerCount = (emitter, name) => emitter.listenerCount(name);
export const setMaxListeners = () => {};
export const errorMonitor = Symbol("events.errorMonitor");
export const captureRejectionSymbol = Symbol.for("nodejs.rejection");
export const defaultMaxListeners = 10;

export default Object.assign(EventEmitter, {
  EventEmitter, once, on, listenerCount, setMaxListeners, errorMonitor, captureRejectionSymbol, defaultMaxListeners,
});

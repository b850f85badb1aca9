// Stopping: `AbortController` and `AbortSignal`, and a small `EventTarget` below them.

/// The error of an operation of the web, known by its name.
export class DOMException extends Error {
  constructor(message = "", name = "Error") {
    super(message);
    Object.defineProperty(this, "name", { value: String(name), configurable: true });
    this.code = { AbortError: 20, TimeoutError: 23, InvalidStateError: 11, DataCloneError: 25 }[name] ?? 0;
  }
}

export class Event {
  constructor(type, init) {
    this.type = type;
    Object.assign(this, init);
  }
}

export class EventTarget {
  #listeners = new Map();

  addEventListener(type, listener, options) {
    const list = this.#listeners.get(type) ?? [];
    list.push({ listener, once: Boolean(options?.once) });
    this.#listeners.set(type, list);
  }

  removeEventListener(type, listener) {
    const list = this.#listeners.get(type) ?? [];
    this.#listeners.set(type, list.filter((one) => one.listener !== listener));
  }

  dispatchEvent(event) {
    event.target = this;
    for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === "function") listener.call(this, event);
      else listener.handleEvent(event);
    }
    return true;
  }
}

function abortError(reason) {
  if (reason !== undefined) return reason;
  return new DOMException("This operation was aborted", "AbortError");
}

export class AbortSignal extends EventTarget {
  aborted = false;
  reason = undefined;
  onabort = null;

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  static abort(reason) {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static timeout(ms) {
    const controller = new AbortController();
    const late = () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    globalThis.setTimeout(late, ms);
    return controller.signal;
  }

  static any(signals) {
    const controller = new AbortController();
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    }
    return controller.signal;
  }
}

export class AbortController {
  signal = new AbortSignal();

  abort(reason) {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    this.signal.reason = abortError(reason);
    const event = new Event("abort");
    this.signal.onabort?.(event);
    this.signal.dispatchEvent(event);
  }
}

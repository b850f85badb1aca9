// A value that belongs to a call. It lasts for the part of the call that runs at once, and for one `run` at a time behind an
// `await`: the engine does not report where a promise was made.

export class AsyncLocalStorage {
  #value;
  run(value, callback, ...args) {
    const before = this.#value;
    this.#value = value;
    let result;
    try {
      result = callback(...args);
    } catch (error) {
      this.#value = before;
      throw error;
    }
    if (typeof result?.then !== "function") {
      this.#value = before;
      return result;
    }
    return result.finally(() => {
      if (this.#value === value) this.#value = before;
    });
  }
  exit(callback, ...args) {
    return this.run(undefined, callback, ...args);
  }
  getStore() {
    return this.#value;
  }
  enterWith(value) {
    this.#value = value;
  }
  disable() {
    this.#value = undefined;
  }
  static bind(callback) {
    return callback;
  }
  static snapshot() {
    return (callback, ...args) => callback(...args);
  }
}

export class AsyncResource {
  constructor(type) {
    this.type = type;
  }
  runInAsyncScope(callback, self, ...args) {
    return callback.apply(self, args);
  }
  emitDestroy() {
    return this;
  }
  bind(callback) {
    return callback;
  }
  static bind(callback) {
    return callback;
  }
}

export const createHook = () => ({ enable() {}, disable() {} });
export const executionAsyncId = () => 1;
export const triggerAsyncId = () => 0;
export default { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId, triggerAsyncId };

// Node's event emitter.

export class EventEmitter {
  #listeners = new Map();

  on(name, listener) {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
    return this;
  }
  addListener(name, listener) {
    return this.on(name, listener);
  }
  once(name, listener) {
    const once = (...values) => {
      this.off(name, once);
      listener.apply(this, values);
    };
    return this.on(name, once);
  }
  off(name, listener) {
    this.#listeners.set(name, (this.#listeners.get(name) ?? []).filter((other) => other !== listener));
    return this;
  }
  removeListener(name, listener) {
    return this.off(name, listener);
  }
  removeAllListeners(name) {
    if (name === undefined) this.#listeners.clear();
    else this.#listeners.delete(name);
    return this;
  }
  listenerCount(name) {
    return (this.#listeners.get(name) ?? []).length;
  }
  setMaxListeners() {
    return this;
  }
  emit(name, ...values) {
    const listeners = this.#listeners.get(name) ?? [];
    for (const listener of listeners) listener.apply(this, values);
    return listeners.length > 0;
  }
}

export default EventEmitter;

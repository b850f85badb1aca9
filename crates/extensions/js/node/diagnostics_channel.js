// Named channels inside one extension.

const channels = new Map();

export class Channel {
  #listeners = [];
  constructor(name) {
    this.name = name;
  }
  get hasSubscribers() {
    return this.#listeners.length > 0;
  }
  subscribe(listener) {
    this.#listeners.push(listener);
  }
  unsubscribe(listener) {
    const had = this.#listeners.includes(listener);
    this.#listeners = this.#listeners.filter((one) => one !== listener);
    return had;
  }
  publish(message) {
    for (const listener of this.#listeners) listener(message, this.name);
  }
  runStores(message, callback, self, ...args) {
    this.publish(message);
    return callback.apply(self, args);
  }
}

export function channel(name) {
  if (!channels.has(name)) channels.set(name, new Channel(name));
  return channels.get(name);
}
export const hasSubscribers = (name) => channel(name).hasSubscribers;
export const subscribe = (name, listener) => channel(name).subscribe(listener);
export const unsubscribe = (name, listener) => channel(name).unsubscribe(listener);
export function tracingChannel(name) {
  const names = ["start", "end", "asyncStart", "asyncEnd", "error"];
  const made = Object.fromEntries(names.map((one) => [one, channel(`tracing:${name}:${one}`)]));
  return { ...made, traceSync: (callback, _context, self, ...args) => callback.apply(self, args), tracePromise: (callback, _context, self, ...args) => callback.apply(self, args) };
}
export default { Channel, channel, hasSubscribers, subscribe, unsubscribe, tracingChannel };

// Timers by name.

const wait = (ms, value) => new Promise((resolve) => globalThis.setTimeout(() => resolve(value), ms));

export const setTimeout = Object.assign((first, ...rest) =>
  typeof first === "function" ? globalThis.setTimeout(first, ...rest) : wait(first, rest[0]), {});
export const setInterval = (...args) => globalThis.setInterval(...args);
export const setImmediate = (...args) => globalThis.setImmediate(...args);
export const clearTimeout = (timer) => globalThis.clearTimeout(timer);
export const clearInterval = (timer) => globalThis.clearInterval(timer);

export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval };

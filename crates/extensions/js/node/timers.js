// Timers by name.

import promises from "offshoot:node/timers-promises";

export const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
export { promises };
export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };

// Timers, with promises.

function wait(ms, value, { signal } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = globalThis.setTimeout(() => resolve(value), ms);
    signal?.addEventListener("abort", () => {
      globalThis.clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function* repeat(ms, value, options) {
  for (;;) yield await wait(ms, value, options);
}

const immediate = (value, options) => wait(0, value, options);
export const scheduler = { wait, yield: () => wait(0) };
export { wait as setTimeout, repeat as setInterval, immediate as setImmediate };
export default { setTimeout: wait, setInterval: repeat, setImmediate: immediate, scheduler };

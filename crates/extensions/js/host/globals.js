// What is global in a Node host and differs from Node: lines of the console go to the log.

import { format, inspect } from "node:util";
import { call } from "offshoot:native";

/// Timers are those of Node.
export const tick = () => {};

function logger(level) {
  return (...values) => {
    call("host.log", { level, text: format(...values) });
  };
}

for (const [name, level] of Object.entries({
  log: "info", info: "info", debug: "debug", trace: "trace", warn: "warning", error: "error", table: "info",
})) {
  console[name] = logger(level);
}
console.dir = (value, options) => void call("host.log", { level: "info", text: inspect(value, options) });

// Events: who listens to what.

import { facts } from "offshoot:native";

/// Older names, and the event that is meant.
const ALIASES = new Map(facts.aliases);

const handlers = [];

export function listen(name, handler) {
  if (typeof handler !== "function") throw new TypeError(`the handler of ${name} is no function`);
  const one = { name: String(name), event: ALIASES.get(String(name)) ?? String(name), handler };
  handlers.push(one);
  return () => {
    const at = handlers.indexOf(one);
    if (at >= 0) handlers.splice(at, 1);
  };
}

/// The names under which the agent knows what is listened to.
export function listenedTo(dialect) {
  const names = new Set(handlers.map((one) => one.event));
  // Only this one tells of navigations that came to nothing.
  if (dialect === "events" && names.has("session_tree")) names.add("session_tree_end");
  return [...names];
}

/// The handlers of an event, as they are now.
export function listeners(event) {
  return handlers.filter((one) => one.event === event);
}

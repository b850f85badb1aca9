// Events: who listens to what.

import { call, facts } from "offshoot:native";

/// Older names, and the event that is meant.
const ALIASES = new Map(facts.aliases);

const handlers = [];

const { toString } = Function.prototype;
const { apply } = Reflect;

/// Reads from the source of a function how many parameters it has and which properties it uses.
export function functionUse(handler) {
  return call("source.use", { text: apply(toString, handler, []) });
}

/// Returns true if a handler of `session_tree` asks for navigations that were cancelled or aborted, too.
function readsOutcome(handler) {
  const { ofAny } = functionUse(handler);
  return ofAny.includes("cancelled") || ofAny.includes("aborted");
}

export function listen(name, handler) {
  if (typeof handler !== "function") throw new TypeError(`the handler of ${name} is no function`);
  const one = { name: String(name), event: ALIASES.get(String(name)) ?? String(name), handler };
  if (one.event === "session_tree") one.readsOutcome = readsOutcome(handler);
  handlers.push(one);
  return () => {
    const at = handlers.indexOf(one);
    if (at >= 0) handlers.splice(at, 1);
  };
}

/// The names under which the agent knows what is listened to.
export function listenedTo(dialect) {
  const names = new Set(handlers.map((one) => one.event));
  // The agent reports navigations that were cancelled or aborted with this event only.
  if (outcomeListeners(dialect).length > 0) names.add("session_tree_end");
  // Updates have only what is new; the message that they belong to comes with its start.
  if (names.has("message_update")) names.add("message_start");
  return [...names];
}

/// The handlers of an event, as they are now.
export function listeners(event) {
  return handlers.filter((one) => one.event === event);
}

/// The handlers of `session_tree` that get navigations that were cancelled or aborted, too.
export function outcomeListeners(dialect) {
  return listeners("session_tree").filter((one) => dialect === "events" || one.readsOutcome);
}

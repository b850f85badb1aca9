// Events: who listens to what.

import { call, facts } from "offshoot:native";

const OLDER_NAMES = new Map(facts.events.older);

/// The listeners, by their numbers. Number 0 is nobody.
const listeners = new Map();
let nextNumber = 1;

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

function add(event, name, handler) {
  listeners.set(nextNumber, { event, name, handler });
  return nextNumber++;
}

/// Calls a handler of `session_tree` when a navigation was cancelled or aborted.
function withOutcome(handler) {
  return (value, context) => {
    const { outcome } = value;
    if (outcome !== "cancelled" && outcome !== "aborted") return undefined;
    delete value.outcome;
    const leaf = call("session.leafId");
    Object.assign(value, { newLeafId: leaf, oldLeafId: leaf, cancelled: true, aborted: outcome === "aborted" });
    return handler(value, context);
  };
}

export function listen(name, handler, dialect) {
  if (typeof handler !== "function") throw new TypeError(`the handler of ${name} is not a function`);
  const event = OLDER_NAMES.get(String(name)) ?? String(name);
  const numbers = [add(event, String(name), handler)];
  // The agent reports navigations that were cancelled or aborted with this event only.
  if (event === "session_tree" && (dialect === "events" || readsOutcome(handler))) {
    numbers.push(add("session_tree_end", String(name), withOutcome(handler)));
  }
  return () => numbers.forEach((number) => listeners.delete(number));
}

/// The events that are listened to, each with the number of a listener.
export function listenedTo() {
  const list = [...listeners].map(([number, { event }]) => [event, number]);
  // Updates have only what is new; the message that they belong to comes with its start.
  if (list.some(([event]) => event === "message_update")) list.push(["message_start", 0]);
  return list;
}

export const listener = (number) => listeners.get(number);

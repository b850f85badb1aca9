// Calls the listeners of an event. How the answers of several listeners become one is decided by the agent.

import { described, facts } from "offshoot:native";
import { handlerContext } from "offshoot:context";
import { listener } from "offshoot:events";
import { modelRegistry } from "offshoot:models";
import { collected } from "offshoot:processes";
import { sessionManager } from "offshoot:session";

const CANCELLED = new Set(facts.events.cancelled);
const EDITED = new Map(facts.events.edited);
const RETURNED = new Map(facts.events.returned);

/// Deletes fields that have no value. Other fields are null then: `oldLeafId: null` means "before the first entry".
function leaveOutMissing(value) {
  for (const name of facts.events.optional) if (value[name] === null) delete value[name];
}

/// The answer that is growing. Handlers get this very object: it grows while they keep it.
let growing = { role: "assistant", content: [] };

/// Stores an answer that begins, and assembles one that grows.
function assemble(event, payload) {
  if (event === "message_start" && payload.message?.role === "assistant") growing = payload.message;
  if (event !== "message_update") return;
  if (payload.message === undefined) {
    const { type, contentIndex: index, delta } = payload.assistantMessageEvent;
    const { content } = growing;
    if (payload.block) content[index] = payload.block;
    else if (type === "text_start") content[index] = { type: "text", text: "" };
    else if (type === "thinking_start") content[index] = { type: "thinking", thinking: "" };
    else if (type === "text_delta" && content[index]) content[index].text += delta;
    else if (type === "thinking_delta" && content[index]) content[index].thinking += delta;
    delete payload.block;
    payload.message = growing;
  }
  if (isObject(payload.assistantMessageEvent)) payload.assistantMessageEvent.partial = payload.message;
}

/// Calls listeners one after the other. Returns the answer of the last one that has any.
export async function dispatch({ event, listeners, payload }, signal) {
  leaveOutMissing(payload);
  if (isObject(payload.preparation)) leaveOutMissing(payload.preparation);
  assemble(event, payload);
  const context = handlerContext(signal, event);
  const errors = [];
  let answer = null;
  for (const one of listeners.map(listener)) {
    try {
      if (one) answer = (await asked(event, one, seen(payload, signal, one), context)) ?? answer;
    } catch (error) {
      errors.push(described(error));
    }
  }
  if (errors.length > 0) throw new Failed(errors);
  return answer;
}

/// Handlers failed; their messages are kept as they are.
class Failed extends Error {
  constructor(errors) {
    super(errors.join("\n"));
    this.stack = "";
  }
}

function isObject(value) {
  return value !== null && typeof value === "object";
}

/// What the events of a session have in the older dialect. Not enumerable: events can be copied and printed without.
const OF_SESSION = {
  sessionManager: { value: sessionManager, writable: true, configurable: true },
  modelRegistry: { value: modelRegistry, writable: true, configurable: true },
};

/// The event that a handler sees: all fields of all dialects.
function seen(payload, signal, one) {
  const value = { ...payload, type: one.name, signal };
  if (one.event === "session_before_compact") {
    value.previousCompactions = (value.branchEntries ?? []).filter((entry) => entry.type === "compaction").reverse();
  }
  return one.event.startsWith("session_") ? Object.defineProperties(value, OF_SESSION) : value;
}

/// Calls one listener. Its answer consists of what it returns, sets by methods of the event and changes in place.
async function asked(event, one, value, context) {
  const answer = {};
  if (CANCELLED.has(event)) addMethods(value, answer);
  const edited = EDITED.get(event);
  const before = edited && JSON.stringify(value[edited]);
  const result = await one.handler(value, context);
  if (RETURNED.has(event)) {
    if (result !== undefined) answer[RETURNED.get(event)] = result;
  } else if (isObject(result)) {
    Object.assign(answer, event === "user_bash" && result.operations ? await ranByExtension(value, result.operations) : result);
  }
  if (edited && answer[edited] === undefined && JSON.stringify(value[edited]) !== before) answer[edited] = value[edited];
  return Object.keys(answer).length > 0 ? answer : null;
}

/// Adds the methods that set fields of the answer.
function addMethods(value, answer) {
  Object.assign(value, {
    cancel: () => void (answer.cancel = true),
    setSummarize: (flag) => void (answer.summarize = Boolean(flag)),
    setCustomInstructions: (text) => void (answer.customInstructions = text),
    setReplaceInstructions: (flag) => void (answer.replaceInstructions = Boolean(flag)),
    setLabel: (label) => void (answer.label = label),
    setSummary: (summary, details) => void (answer.summary = { summary, details }),
  });
}

/// Runs a command with the operations of an extension; its result is the answer.
async function ranByExtension({ command, cwd, signal }, operations) {
  const ran = await collected(operations, command, cwd, { signal });
  return { result: { ...ran, cancelled: Boolean(signal?.aborted), truncated: false } };
}

// Asking and telling: how several answers become one.

import { described, report } from "offshoot:native";
import { handlerContext } from "offshoot:context";
import { listeners, outcomeListeners } from "offshoot:events";
import { modelRegistry } from "offshoot:models";
import { collected } from "offshoot:processes";
import { sessionManager } from "offshoot:session";

const CHAINED = new Set([
  "input", "context", "context_with_system", "message_end", "tool_result", "before_provider_request",
  "before_provider_headers", "turn_end", "agent_before_settle",
]);
/// Who was to look and failed does not let anything through.
const GUARDED = new Set(["tool_call", "user_bash"]);
const COLLECTED = new Set(["before_agent_start", "resources_discover"]);
const FIRST = new Set(["user_bash", "project_trust"]);

/// Fields that an event has only if there is something to say. The agent spells what is missing as null, as it does
/// for ids: `oldLeafId: null` means "before the first entry" and stays.
const OPTIONAL = [
  "customInstructions", "details", "editorText", "error", "errorMessage", "label", "model", "name", "previous", "previousModel",
  "previousSessionFile", "previousSummary", "responseId", "sourceSession", "targetSessionFile",
];

function leaveOutMissing(value) {
  for (const name of OPTIONAL) if (value[name] === null) delete value[name];
}

/// The answer that is growing. Handlers get this very object: it grows while they keep it.
let growing = { role: "assistant", content: [] };

/// Notes an answer that begins, and puts together one that grows.
function assemble(event, payload) {
  if (event === "message_start" && payload.message?.role === "assistant") growing = payload.message;
  if (event !== "message_update" || payload.message !== undefined) return;
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

/// Lets all handlers of an event answer, one after the other.
export async function dispatch(event, payload, signal, dialect) {
  leaveOutMissing(payload);
  assemble(event, payload);
  if (isObject(payload.preparation)) leaveOutMissing(payload.preparation);
  const asked = listeners(event);
  const context = handlerContext(signal, event);
  const errors = [];
  const ask = async (one, value) => {
    try {
      return await one.handler(value, context);
    } catch (error) {
      errors.push(described(error));
      if (GUARDED.has(event)) return { block: true, reason: `an extension failed: ${error?.message ?? error}` };
      return undefined;
    }
  };
  let answer = await merged(event, payload, signal, asked, ask);
  if (event === "session_tree_end") await tellOutcome(payload, signal, outcomeListeners(dialect), ask);
  const isEmpty = answer === undefined || answer === null || Object.keys(answer).length === 0;
  if (errors.length > 0 && isEmpty) throw new Failed(errors);
  for (const error of errors) report(`event ${event}`, { message: error });
  return isEmpty ? null : answer;
}

/// Handlers failed; what they said is kept as it is.
class Failed extends Error {
  constructor(errors) {
    super(errors.join("\n"));
    this.stack = "";
  }
}

function merged(event, payload, signal, asked, ask) {
  if (event.startsWith("session_before_")) return gate(event, payload, signal, asked, ask);
  if (event === "tool_call") return toolCall(payload, signal, asked, ask);
  if (CHAINED.has(event)) return chain(event, payload, signal, asked, ask);
  if (event === "before_agent_start") return beforeAgentStart(payload, signal, asked, ask);
  if (COLLECTED.has(event)) return collect(payload, signal, asked, ask);
  if (FIRST.has(event)) return first(event, payload, signal, asked, ask);
  return tell(payload, signal, asked, ask);
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
  return one.event.startsWith("session_") ? Object.defineProperties(value, OF_SESSION) : value;
}

/// Fields of later answers win; `cancel` ends the asking.
async function gate(event, payload, signal, asked, ask) {
  const answer = {};
  for (const one of asked) {
    const value = seen(payload, signal, one);
    Object.assign(value, {
      cancel: () => void (answer.cancel = true),
      setSummarize: (flag) => void (answer.summarize = Boolean(flag)),
      setCustomInstructions: (text) => void (answer.customInstructions = text),
      setReplaceInstructions: (flag) => void (answer.replaceInstructions = Boolean(flag)),
      setLabel: (label) => void (answer.label = label),
      setSummary: (summary, details) => void (answer.summary = { summary, details }),
    });
    if (event === "session_before_compact") addCompactions(value);
    const result = await ask(one, value);
    if (isObject(result)) Object.assign(answer, result);
    if (answer.cancel === true) break;
  }
  return answer;
}

function addCompactions(value) {
  const entries = value.branchEntries ?? [];
  value.previousCompactions = entries.filter((entry) => entry.type === "compaction").reverse();
}

/// Handlers change the input in place.
async function toolCall(payload, signal, asked, ask) {
  const value = { ...payload, input: structuredClone(payload.input) };
  const before = JSON.stringify(value.input);
  for (const one of asked) {
    const shown = seen(value, signal, one);
    const result = await ask(one, shown);
    value.input = shown.input;
    if (isObject(result) && result.block) return { block: true, reason: result.reason };
  }
  return JSON.stringify(value.input) === before ? undefined : { input: value.input };
}

/// What a handler of these may answer: other fields are its own business.
const PATCHES = {
  input: ["action", "text", "images"],
  context: ["messages"],
  context_with_system: ["messages", "systemPrompt"],
  message_end: ["message"],
  tool_result: ["content", "details", "isError"],
  before_provider_headers: ["headers"],
  turn_end: ["entries", "continue"],
  agent_before_settle: ["entries", "continue"],
};

/// Each handler sees what the one before made of it.
async function chain(event, payload, signal, asked, ask) {
  const answer = {};
  let value = payload;
  for (const one of asked) {
    const shown = seen(value, signal, one);
    const result = await ask(one, shown);
    if (event === "before_provider_request") {
      if (result !== undefined) answer.payload = result;
    } else if (event === "before_provider_headers") {
      answer.headers = isObject(result) && isObject(result.headers) ? result.headers : shown.headers;
    } else if (isObject(result)) {
      for (const key of PATCHES[event]) if (result[key] !== undefined) answer[key] = result[key];
    }
    value = { ...value, ...answer };
    if (answer.action === "handled") break;
  }
  if (answer.action === "continue" && answer.text === undefined) return undefined;
  return answer;
}

async function beforeAgentStart(payload, signal, asked, ask) {
  const messages = [];
  let { systemPrompt } = payload;
  for (const one of asked) {
    const result = await ask(one, seen({ messageType: "user", ...payload, systemPrompt }, signal, one));
    if (!isObject(result)) continue;
    if (result.message) messages.push(result.message);
    if (typeof result.systemPrompt === "string") systemPrompt = result.systemPrompt;
  }
  const answer = {};
  if (messages.length > 0) Object.assign(answer, { message: messages[0], messages });
  if (systemPrompt !== payload.systemPrompt) answer.systemPrompt = systemPrompt;
  return answer;
}

async function collect(payload, signal, asked, ask) {
  const answer = {};
  for (const one of asked) {
    const result = await ask(one, seen(payload, signal, one));
    for (const [key, list] of Object.entries(result ?? {})) {
      if (Array.isArray(list)) answer[key] = [...(answer[key] ?? []), ...list];
    }
  }
  return answer;
}

async function first(event, payload, signal, asked, ask) {
  for (const one of asked) {
    const result = await ask(one, seen(payload, signal, one));
    // Who is undecided leaves it to the others.
    if (!isObject(result) || result.trusted === "undecided") continue;
    return event === "user_bash" && result.operations ? ranByExtension(payload, result.operations, signal) : result;
  }
  return undefined;
}

/// An extension brings its own way to run commands: it is run here, and what came of it is the answer.
async function ranByExtension(payload, operations, signal) {
  const ran = await collected(operations, payload.command, payload.cwd, { signal });
  return { result: { ...ran, cancelled: Boolean(signal?.aborted), truncated: false } };
}

/// What is answered does not matter to the agent; of two answers to one field the later one is given back.
async function tell(payload, signal, asked, ask) {
  const answer = {};
  for (const one of asked) {
    const value = seen(payload, signal, one);
    if (isObject(value.assistantMessageEvent)) value.assistantMessageEvent.partial = value.message;
    const result = await ask(one, value);
    if (isObject(result)) Object.assign(answer, result);
  }
  return answer;
}

/// Tells the handlers of `session_tree` that ask for it that a navigation was cancelled or aborted.
async function tellOutcome(payload, signal, asked, ask) {
  if (payload.outcome !== "cancelled" && payload.outcome !== "aborted") return;
  const leaf = sessionManager.getLeafId();
  const value = {
    targetId: payload.targetId, newLeafId: leaf, oldLeafId: leaf, cancelled: true, aborted: payload.outcome === "aborted",
  };
  for (const one of asked) await ask(one, seen(value, signal, one));
}

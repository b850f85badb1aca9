// The second argument of every handler.

import { call, report, start } from "offshoot:native";
import { complete, modelRegistry } from "offshoot:models";
import { exec } from "offshoot:processes";
import { sessionManager } from "offshoot:session";
import { ui } from "offshoot:ui";

const info = () => call("host.info");
const state = () => call("host.state");

function usage() {
  const model = state().model;
  if (!model) return undefined;
  const tokens = call("session.tokens");
  return { tokens, contextWindow: model.contextWindow, percent: (tokens / model.contextWindow) * 100 };
}

function compact(options) {
  start("compact", { customInstructions: options?.customInstructions ?? null }).then(
    (result) => options?.onComplete?.(result),
    (error) => options?.onError?.(error),
  );
}

const VALUES = {
  ui,
  sessionManager,
  modelRegistry,
  exec,
  compact,
  isIdle: () => state().isIdle,
  isProjectTrusted: () => info().trusted,
  hasPendingMessages: () => state().hasPending,
  hasQueuedMessages: () => state().hasPending,
  abort: () => call("host.abort"),
  shutdown: () => call("host.shutdown"),
  getContextUsage: usage,
  getSystemPrompt: () => state().system,
  getSystemPromptOptions: () => ({}),
  completeWithModel: (context, options) => complete(state().model, context, options),
  // Older dialects.
  saveEntry: sessionManager.saveEntry,
  rebuildContext: () => call("session.context").messages,
};

const LAZY = {
  hasUI: () => info().hasUI,
  mode: () => info().mode,
  cwd: () => info().cwd,
  model: () => state().model ?? undefined,
  thinkingLevel: () => state().thinking,
  scopedModels: () => [],
  // Older dialects.
  sessionFile: () => sessionManager.getSessionFile() ?? null,
  entries: () => sessionManager.getEntries(),
  currentPath: () => sessionManager.getBranch(),
};

/// Made once, so that a context costs little.
const PROPERTIES = {};
for (const [name, value] of Object.entries(VALUES)) PROPERTIES[name] = { value, enumerable: true, writable: true, configurable: true };
for (const [name, get] of Object.entries(LAZY)) PROPERTIES[name] = { get, enumerable: true, configurable: true };

/// What every handler gets. The signal is that of what is going on, if something is.
export function handlerContext(signal, event = "") {
  const context = Object.create(Object.prototype, PROPERTIES);
  context.signal = signal;
  context.branchInPlace = (id, summary) => branchInEvent(event, id, summary);
  return context;
}

/// How `branchInPlace` spells its second argument: a summary, or options.
function summaryWish(summary) {
  if (typeof summary === "string") return { summary };
  return { summarize: Boolean(summary?.summarize), customInstructions: summary?.customInstructions };
}

/// Moves the leaf onto an entry while an event is handled.
///
/// The agent waits for the handler. What needs the agent itself (a summary by the model), and what would change the
/// session under a running turn or a plan that is being decided, is done as soon as the agent is free.
async function branchInEvent(event, id, summary) {
  const wish = { targetId: String(id), ...summaryWish(summary) };
  if (!sessionManager.getEntry(id)) throw new Error(`no entry ${id} in this session`);
  if (wish.summarize || event.startsWith("session_before_") || !state().isIdle) {
    start("branchInPlace", wish).catch((error) => report("branchInPlace", error));
  } else if (wish.summary === undefined) {
    sessionManager.branch(id);
  } else {
    sessionManager.branchWithSummary(id, wish.summary);
  }
}

/// What commands get besides: they may change which session it is, and where in it.
export function commandContext(id, signal) {
  const context = handlerContext(signal);
  const ask = (name, values) => start(name, { call: id, ...values }, signal);
  const replaced = async (name, values, options) => {
    const result = await ask(name, values);
    if (!result.cancelled) {
      await options?.setup?.(sessionManager);
      await options?.withSession?.(context);
    }
    return result;
  };
  const fork = (entryId, options) => replaced("fork", { entryId, position: options?.position ?? null }, options);
  const navigateTree = (targetId, options) => ask("navigateTree", { targetId, ...options });
  Object.assign(context, {
    waitForIdle: () => ask("waitForIdle", {}),
    newSession: (options) => replaced("newSession", { parentSession: options?.parentSession ?? null }, options),
    switchSession: (path, options) => replaced("switchSession", { path: String(path) }, options),
    reload: () => ask("reload", {}),
    fork,
    branch: async (entryId, options) => branchResult(await fork(entryId, options)),
    navigateTree,
    branchInPlace: (targetId, summary) => ask("branchInPlace", { targetId: String(targetId), ...summaryWish(summary) }),
  });
  return Object.defineProperty(context, "session", { get: () => limitedSession(context), configurable: true });
}

/// The result of a fork as the older dialect names it.
function branchResult(result) {
  return { ...result, selectedText: result.editorText ?? "", inPlace: false };
}

/// What the older dialect calls the session: everything but prompting.
function limitedSession(context) {
  return {
    sessionManager,
    get messages() {
      return call("session.context").messages;
    },
    navigateTree: context.navigateTree,
    branch: context.branch,
    branchInPlace: context.branchInPlace,
    getSessionTree: sessionManager.getTree,
    compact: (instructions) => start("compact", { customInstructions: instructions ?? null }),
    abort: context.abort,
  };
}

// The second argument of every handler.

import { call, start } from "offshoot:native";
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

/// Appends an entry that is spelled out: only what extensions may append.
function saveEntry(entry) {
  const { type, customType, data, content, display, details, targetId, label } = entry;
  if (type === "custom") return sessionManager.appendCustomEntry(customType, data);
  if (type === "custom_message") return sessionManager.appendCustomMessageEntry(customType, content, display, details);
  if (type === "label") return sessionManager.appendLabelChange(targetId, label);
  throw new Error(`"${type}" is no entry of an extension`);
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
  saveEntry,
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
export function handlerContext(signal) {
  const context = Object.create(Object.prototype, PROPERTIES);
  context.signal = signal;
  return context;
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
  return Object.assign(context, {
    waitForIdle: () => ask("waitForIdle", {}),
    newSession: (options) => replaced("newSession", { parentSession: options?.parentSession ?? null }, options),
    switchSession: (path, options) => replaced("switchSession", { path: String(path) }, options),
    reload: () => ask("reload", {}),
    fork,
    branch: fork,
    navigateTree,
    branchInPlace: (targetId, summary) =>
      navigateTree(targetId, typeof summary === "string" ? { summarize: true, customInstructions: summary } : {}),
  });
}

// Models: which there are, and asking one. The host adds the key.

import { call, start } from "offshoot:native";
import { registerProvider, unregisterProvider } from "offshoot:providers";
import { createAssistantMessageEventStream, failure } from "offshoot:streams";
import { plainContext } from "offshoot:transcript";

/// A placeholder where extensions expect a key.
const HELD_BY_HOST = "held-by-the-host";

function find(provider, id) {
  return call("host.models").find((model) => model.provider === provider && model.id === id);
}

export const modelRegistry = Object.freeze({
  find,
  getAll: () => call("host.models"),
  getAvailable: () => call("host.models"),
  hasConfiguredAuth: (model) => Boolean(find(model?.provider, model?.id)),
  isUsingOAuth: () => false,
  getError: () => undefined,
  refresh() {},
  complete: (model, context, options) => complete(model, context, options),
  completeSimple: (model, context, options) => complete(model, context, options),
  stream: (model, context, options) => stream(model, context, options),
  streamSimple: (model, context, options) => stream(model, context, options),
  registerProvider: (name, config) => registerProvider(name, config),
  unregisterProvider: (name) => unregisterProvider(name),
  getProviderDisplayName: (provider) => provider,
  async getApiKey(model) {
    return find(model?.provider, model?.id) ? HELD_BY_HOST : undefined;
  },
  async getApiKeyForProvider(provider) {
    return call("host.models").some((model) => model.provider === provider) ? HELD_BY_HOST : undefined;
  },
  async getApiKeyAndHeaders(model) {
    if (find(model?.provider, model?.id)) return { ok: true, apiKey: HELD_BY_HOST, headers: {} };
    return { ok: false, error: `No model ${model?.provider}/${model?.id}` };
  },
});

export function getModel(provider, id) {
  return find(provider, id);
}

export function getModels(provider) {
  return call("host.models").filter((model) => provider === undefined || model.provider === provider);
}

export function getProviders() {
  return [...new Set(call("host.models").map((model) => model.provider))];
}

/// Wire formats that this extension implements itself, by name.
const formats = new Map();

export const registerApiProvider = (provider, source) => void formats.set(provider.api, { provider, source });
export const getApiProvider = (api) => formats.get(api)?.provider;
export const getApiProviders = () => [...formats.values()].map(({ provider }) => provider);
export const resetApiProviders = () => formats.clear();
export function unregisterApiProviders(source) {
  for (const [api, format] of formats) if (format.source === source) formats.delete(api);
}

/// Asks a model and gives its events as they come.
export function stream(model, context, options = {}) {
  const own = formats.get(model.api)?.provider;
  if (own) return own.streamSimple(model, context, options);
  const { signal, apiKey: _key, headers: _headers, onPayload: _payload, ...rest } = options ?? {};
  const events = createAssistantMessageEventStream();
  const partial = failure(undefined, model, "stop");
  const values = { provider: model.provider, id: model.id, context: plainContext(context), options: rest };
  events.push({ type: "start", partial });
  read(values, signal, partial, events).then(
    (message) => {
      const { stopReason } = message;
      if (stopReason === "error" || stopReason === "aborted") events.push({ type: "error", reason: stopReason, error: message });
      else events.push({ type: "done", reason: stopReason, message });
    },
    (error) => {
      const reason = signal?.aborted ? "aborted" : "error";
      events.push({ type: "error", reason, error: failure(error.message, model, reason) });
    },
  );
  return events;
}

async function read(values, signal, partial, events) {
  const id = await start("stream", values);
  for (;;) {
    const { events: updates, message } = await start("stream.next", { stream: id }, signal);
    for (const update of updates) events.push({ ...follow(partial, update), partial });
    if (message) return message;
  }
}

/// Lets the message grow by what an update says. Returns the update as extensions expect it.
function follow({ content }, update) {
  const { type, contentIndex: at, id, toolName, ...rest } = update;
  if (type.endsWith("_start")) {
    content[at] = { text: { type: "text", text: "" }, thinking: { type: "thinking", thinking: "" }, toolcall: { type: "toolCall", id, name: toolName, arguments: {} } }[type.slice(0, -6)];
  } else if (type === "text_delta") content[at].text += rest.delta;
  else if (type === "thinking_delta") content[at].thinking += rest.delta;
  else if (type === "toolcall_end") content[at] = rest.toolCall;
  return { type, contentIndex: at, ...rest };
}

/// Asks a model. Never fails: what goes wrong is an answer with a stop reason that says so.
export const complete = (model, context, options) => stream(model, context, options).result();

// Models: which there are, and asking one. The host adds the key.

import { call, start } from "offshoot:native";

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
  registerProvider() {
    throw new Error("use pi.registerProvider");
  },
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

/// Asks a model. Never fails: what goes wrong is an answer with a stop reason that says so.
export async function complete(model, context, options = {}) {
  const { signal, apiKey: _key, headers: _headers, onPayload: _payload, ...rest } = options ?? {};
  try {
    return await start("complete", { provider: model.provider, id: model.id, context, options: rest }, signal);
  } catch (error) {
    return failed(model, error, signal);
  }
}

function failed(model, error, signal) {
  const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: zero },
    stopReason: signal?.aborted ? "aborted" : "error",
    errorMessage: error.message,
    timestamp: Date.now(),
  };
}

/// Asks a model and gives its events; they come all at once, when the answer is there.
export function stream(model, context, options) {
  const message = complete(model, context, options);
  return {
    result: () => message,
    async *[Symbol.asyncIterator]() {
      const answer = await message;
      yield { type: "start", partial: answer };
      for (const [contentIndex, block] of answer.content.entries()) {
        if (block.type === "text") {
          yield { type: "text_start", contentIndex, partial: answer };
          yield { type: "text_delta", contentIndex, delta: block.text, partial: answer };
          yield { type: "text_end", contentIndex, content: block.text, partial: answer };
        } else if (block.type === "toolCall") {
          yield { type: "toolcall_start", contentIndex, partial: answer };
          yield { type: "toolcall_end", contentIndex, toolCall: block, partial: answer };
        }
      }
      const isBad = answer.stopReason === "error" || answer.stopReason === "aborted";
      yield isBad
        ? { type: "error", reason: answer.stopReason, error: answer }
        : { type: "done", reason: answer.stopReason, message: answer };
    },
  };
}

// The package with which extensions ask models.

import { call } from "offshoot:native";
import { complete, getModel, getModels, getProviders, stream } from "offshoot:models";
import { refused } from "offshoot:refused";
import { parseJsonWithRepair, parseStreamingJson } from "offshoot:schema";
import { lazyStream, noUsage } from "offshoot:streams";

export { Type } from "offshoot:typebox";
export { complete, getModel, getModels, getProviders, stream };
export { complete as completeSimple, stream as streamSimple } from "offshoot:models";
export { getApiProvider, getApiProviders, registerApiProvider, resetApiProviders, unregisterApiProviders } from "offshoot:models";
export { AssistantMessageEventStream, EventStream, createAssistantMessageEventStream, lazyStream } from "offshoot:streams";
export * from "offshoot:transcript";
export { parseJsonWithRepair, parseStreamingJson, repairJson, validateToolArguments, validateToolCall } from "offshoot:schema";

export const uuidv7 = () => call("system.uuidv7");

/// A choice of texts that every provider understands.
export function StringEnum(values, options) {
  return { type: "string", enum: [...values], ...options };
}

export function calculateCost(model, usage) {
  const price = (name) => ((model.cost?.[name] ?? 0) / 1_000_000) * (usage[name] ?? 0);
  const cost = { input: price("input"), output: price("output"), cacheRead: price("cacheRead"), cacheWrite: price("cacheWrite") };
  cost.total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
  usage.cost = cost;
  return cost;
}

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

export function getSupportedThinkingLevels(model) {
  if (!model.reasoning) return ["off"];
  if (model.thinkingLevels?.length) return ["off", ...model.thinkingLevels.filter((level) => level !== "off")];
  const map = model.thinkingLevelMap ?? {};
  return LEVELS.filter((level) => (level === "xhigh" || level === "max" ? map[level] : map[level] !== null));
}

/// Returns the level, or the next higher one that the model has, or else the next lower one.
export function clampThinkingLevel(model, level) {
  const known = getSupportedThinkingLevels(model);
  const at = LEVELS.indexOf(level);
  if (known.includes(level) || at < 0) return known.includes(level) ? level : known[0] ?? "off";
  return LEVELS.slice(at).find((one) => known.includes(one)) ?? LEVELS.slice(0, at).reverse().find((one) => known.includes(one)) ?? "off";
}

export const supportsXhigh = (model) => getSupportedThinkingLevels(model).includes("xhigh");
export const modelsAreEqual = (a, b) => Boolean(a && b && a.provider === b.provider && a.id === b.id);
export const getModelType = (model) => model.type ?? "chat";
export const isModelType = (model, type) => getModelType(model) === type;
export const hasApi = (model, api) => isModelType(model, "chat") && model.api === api;

/// Keys stay with the program, so there is none to find.
export const getEnvApiKey = () => undefined;
export const findEnvKeys = () => undefined;

/// What services say when a conversation is too long.
const OVERFLOW = [
  /prompt (?:is )?too long/i, /request_too_large/i, /too long for requested model/i, /context window/i, /context[_ ]length[_ ]exceeded/i,
  /maximum context length/i, /input token count.*exceeds/i, /maximum prompt length/i, /reduce the length of the messages/i,
  /maximum allowed input length/i, /longer than the model'?s context length/i, /exceeds the limit of \d+/i,
  /available context size/i, /greater than the context length/i, /exceeded model token limit/i, /model_context_window_exceeded/i,
  /range of input length/i, /too many tokens/i, /token limit exceeded/i, /prompt exceeds max length/i, /the conversation is too long/i,
  /^(?:[\w -]+ API error \(413\):|413(?:\s|:|$))/i,
];

export const getOverflowPatterns = () => [...OVERFLOW];

export function isContextOverflow(message, contextWindow) {
  const { stopReason, errorMessage, usage } = message;
  if (stopReason === "error" && errorMessage) return !/rate limit|too many requests|throttl/i.test(errorMessage) && OVERFLOW.some((pattern) => pattern.test(errorMessage));
  const input = (usage?.input ?? 0) + (usage?.cacheRead ?? 0);
  if (!contextWindow) return false;
  return stopReason === "stop" ? input > contextWindow : stopReason === "length" && usage?.output === 0 && input >= contextWindow * 0.99;
}

export const isRecoverableLength = (message, wanted) => message.stopReason === "length" && wanted > 0 && message.usage.output < wanted;

const LASTING = /quota|billing|usage limit|insufficient|out of budget|available balance/i;
const PASSING = /overloaded|rate.?limit|too many requests|429|500|502|503|504|52\d|service.?unavailable|server error|internal error|network|connection|fetch failed|timed? ?out|timeout|terminated|socket hang up|reset before headers|ended (?:without|before)|try again/i;

export function isRetryableAssistantError({ stopReason, errorMessage }) {
  return stopReason === "error" && Boolean(errorMessage) && !LASTING.test(errorMessage) && PASSING.test(errorMessage);
}

export const DEFAULT_MAX_AGENT_RETRY_DELAY_MS = 60_000;

export function retryDelayMs(policy, attempt) {
  return Math.min(policy.baseDelayMs * 2 ** Math.max(0, attempt - 1), policy.maxAgentDelayMs ?? DEFAULT_MAX_AGENT_RETRY_DELAY_MS);
}

/// Asks again while the answer is an error that may pass.
export async function retryAssistantCall(ask, policy, signal, callbacks) {
  for (let attempt = 1; ; attempt++) {
    const message = await ask();
    if (!policy?.enabled || attempt > policy.maxRetries || signal?.aborted || !isRetryableAssistantError(message)) return message;
    const delayMs = retryDelayMs(policy, attempt);
    callbacks?.onRetryStart?.({ attempt, maxAttempts: policy.maxRetries, delayMs, errorMessage: message.errorMessage });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

export const formatThrownValue = (value) => (value instanceof Error ? value.message || value.name : String(value));
export const extractDiagnosticError = (error) =>
  error instanceof Error ? { name: error.name, message: error.message, stack: error.stack } : { message: formatThrownValue(error) };
export const createAssistantMessageDiagnostic = (type, error, details) => ({ type, timestamp: Date.now(), error: extractDiagnosticError(error), details });
export const appendAssistantMessageDiagnostic = (message, diagnostic) => void (message.diagnostics = [...(message.diagnostics ?? []), diagnostic]);

export class ModelsError extends Error {
  constructor(code, message, options) {
    super(message, options);
    Object.assign(this, { name: "ModelsError", code });
  }
}

/// Credentials that are kept as long as the extension runs.
export class InMemoryCredentialStore {
  #held = new Map();
  read = async (id) => this.#held.get(id);
  list = async () => [...this.#held].map(([providerId, { type }]) => ({ providerId, type }));
  delete = async (id) => void this.#held.delete(id);
  async modify(id, change) {
    const changed = await change(this.#held.get(id));
    if (changed !== undefined) this.#held.set(id, changed);
    return this.#held.get(id);
  }
}

export class InMemoryModelsStore {
  #held = new Map();
  read = async (id) => this.#held.get(id);
  write = async (id, entry) => void this.#held.set(id, entry);
  delete = async (id) => void this.#held.delete(id);
}

/// Reads arguments of a call while they arrive.
export class StreamingJsonParser {
  text = "";
  append(piece) {
    this.text += piece;
    return this.value;
  }
  get value() {
    return parseStreamingJson(this.text);
  }
}
export { StreamingJsonParser as ToolCallArgumentsStream };
export const parseToolCallArguments = (text) => (text.trim() === "" ? {} : parseJsonWithRepair(text));

export const fauxText = (text) => ({ type: "text", text });
export const fauxThinking = (thinking) => ({ type: "thinking", thinking });
export const fauxToolCall = (name, args, options) => ({ type: "toolCall", id: options?.id ?? `tool:${uuidv7()}`, name, arguments: args });
export function fauxAssistantMessage(content, options = {}) {
  const blocks = typeof content === "string" ? [fauxText(content)] : [content].flat();
  const { stopReason = "stop", errorMessage, responseId, timestamp = Date.now() } = options;
  const message = { role: "assistant", content: blocks, api: "faux", provider: "faux", model: "faux-1", usage: noUsage(), stopReason, timestamp };
  if (errorMessage !== undefined) message.errorMessage = errorMessage;
  if (responseId !== undefined) message.responseId = responseId;
  return message;
}

/// The functions of each wire format. The program knows the format of a model, so all are the same.
const format = () => ({ stream, streamSimple: stream });
export {
  stream as streamAnthropic, stream as streamAzureOpenAIResponses, stream as streamGoogle, stream as streamGoogleVertex,
  stream as streamMistral, stream as streamOpenAICodexResponses, stream as streamOpenAICompletions, stream as streamOpenAIResponses,
  stream as streamSimpleAnthropic, stream as streamSimpleAzureOpenAIResponses, stream as streamSimpleGoogle,
  stream as streamSimpleGoogleVertex, stream as streamSimpleMistral, stream as streamSimpleOpenAICodexResponses,
  stream as streamSimpleOpenAICompletions, stream as streamSimpleOpenAIResponses,
};
export {
  format as anthropicMessagesApi, format as azureOpenAIResponsesApi, format as bedrockConverseStreamApi, format as googleGenerativeAIApi,
  format as googleVertexApi, format as mistralConversationsApi, format as openAICodexResponsesApi, format as openAICompletionsApi,
  format as openAIResponsesApi, format as piMessagesApi,
};
export const lazyApi = (load) => {
  const use = (name) => (...args) => lazyStream(async () => (await load())[name](...args));
  return { stream: use("stream"), streamSimple: use("streamSimple") };
};
export const registerBuiltInApiProviders = () => {};
export const setBedrockProviderModule = () => {};

const cleanups = new Set();
export function registerSessionResourceCleanup(cleanup) {
  cleanups.add(cleanup);
  return () => cleanups.delete(cleanup);
}
export const cleanupSessionResources = (sessionId) => void cleanups.forEach((cleanup) => cleanup(sessionId));

export const PI_AI_VERSION = "1.5.0";
export const PI_ATTRIBUTION = Object.freeze({ name: "offshoot", categories: ["cli-agent"] });
export const withClientIdentity = (options, identity) => ({ ...options, identity });
export const mergeClientIdentity = (base, more) => (base || more ? { ...base, ...more } : undefined);
export const getClientVersion = (identity) => identity?.version ?? PI_AI_VERSION;
export const formatUserAgent = (identity) => identity?.userAgent?.custom ?? `offshoot/${call("system.facts").version}`;
export const getIdentityHeaders = (_target, identity) => ({ "User-Agent": formatUserAgent(identity) });
export const getAttributionHeaders = () => ({});
export const getOpenCodeSessionHeaders = () => ({});

export const ANTHROPIC_API_KEY_ENV = "ANTHROPIC_API_KEY";
export const ANTHROPIC_AUTH_TOKEN_ENV = "ANTHROPIC_AUTH_TOKEN";
export const ANTHROPIC_FEDERATION_RULE_ID_ENV = "ANTHROPIC_FEDERATION_RULE_ID";
export const ANTHROPIC_IDENTITY_TOKEN_FILE_ENV = "ANTHROPIC_IDENTITY_TOKEN_FILE";
export const ANTHROPIC_OAUTH_TOKEN_ENV = "ANTHROPIC_OAUTH_TOKEN";
export const ANTHROPIC_ORGANIZATION_ID_ENV = "ANTHROPIC_ORGANIZATION_ID";
export const ANTHROPIC_SERVICE_ACCOUNT_ID_ENV = "ANTHROPIC_SERVICE_ACCOUNT_ID";
export const ANTHROPIC_WORKSPACE_ID_ENV = "ANTHROPIC_WORKSPACE_ID";

/// Images are not generated, so there are no models for it.
export const getImageModel = () => undefined;
export const getImageModels = () => [];
export const getImageProviders = () => [];
export const getImagesApiProvider = () => undefined;
export const { generateImages, generateImagesOpenRouter, registerImagesApiProvider, registerBuiltInImagesApiProviders } = refused(
  "no model generates images",
);
export const { createModels, createProvider, envApiKeyAuth, defaultProviderAuthContext, lazyOAuth } = refused(
  "services and keys belong to the program; use `pi.registerProvider`",
);
export const { createFauxCore, fauxProvider, registerFauxProvider } = refused(
  "a provider for tests; use `pi.registerProvider` with `streamSimple`",
);
export const { AI_TELEMETRY_SCHEMA } = refused("nothing is measured for others");

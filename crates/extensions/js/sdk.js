// What programs embed pi with: agents beside the user's, settings, resources.

import { call, start } from "offshoot:native";
import { keepTool } from "offshoot:api";
import { modelRegistry } from "offshoot:models";
import { SessionManager } from "offshoot:sessions";
import { loadProjectContextFiles, loadSkills } from "offshoot:skills";
import { listTools } from "offshoot:tools";

/// Settings: those of the program to be read, and those that an extension sets for itself.
export class SettingsManager {
  #own;
  #base;

  constructor(base, own = {}) {
    this.#base = base;
    this.#own = own;
    return new Proxy(this, {
      get: (target, name) => (name in target || typeof name === "symbol" ? bound(target, name) : target.accessor(String(name))),
    });
  }

  static create() {
    return new SettingsManager(call("host.settings"));
  }
  static inMemory(settings = {}) {
    return new SettingsManager({}, { ...settings });
  }
  static fromStorage() {
    return SettingsManager.create();
  }

  getSettings() {
    return { ...this.#base, ...this.#own };
  }
  getGlobalSettings() {
    return this.getSettings();
  }
  getProjectSettings() {
    return {};
  }
  applyOverrides(overrides) {
    Object.assign(this.#own, overrides);
  }
  isProjectTrusted() {
    return call("host.info").trusted;
  }
  async reload() {
    if (Object.keys(this.#base).length > 0) this.#base = call("host.settings");
  }
  async flush() {}
  drainErrors() {
    return [];
  }
  getDefaultModel() {
    return this.getSettings().defaultModel ?? call("host.state").model?.id;
  }
  getDefaultProvider() {
    return this.getSettings().defaultProvider ?? call("host.state").model?.provider;
  }
  getDefaultThinkingLevel() {
    return this.getSettings().defaultThinkingLevel ?? call("host.state").thinking;
  }
  getCompactionSettings() {
    return { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000, ...this.getSettings().compaction };
  }
  getCompactionEnabled() {
    return this.getCompactionSettings().enabled;
  }
  getCompactionReserveTokens() {
    return this.getCompactionSettings().reserveTokens;
  }
  getCompactionKeepRecentTokens() {
    return this.getCompactionSettings().keepRecentTokens;
  }
  getBranchSummarySettings() {
    return { reserveTokens: 16_384, skipPrompt: false, ...this.getSettings().branchSummary };
  }
  getRetrySettings() {
    return { enabled: true, maxRetries: 3, baseDelayMs: 2000, maxAgentDelayMs: 60_000, ...this.getSettings().retry };
  }
  getRetryEnabled() {
    return this.getRetrySettings().enabled;
  }
  getPackages() {
    return this.getSettings().packages ?? [];
  }
  getExtensionPaths() {
    return this.getSettings().extensions ?? [];
  }
  getSkillPaths() {
    return this.getSettings().skills ?? [];
  }
  getPromptTemplatePaths() {
    return this.getSettings().prompts ?? [];
  }
  getThemePaths() {
    return this.getSettings().themes ?? [];
  }

  /// `getName` reads the setting `name`; `setName` sets it for this extension only.
  accessor(name) {
    const found = /^(get|set)([A-Z])(.*)$/.exec(name);
    if (!found) return undefined;
    const key = found[2].toLowerCase() + found[3];
    return found[1] === "get" ? () => this.getSettings()[key] : (value) => void (this.#own[key] = value);
  }
}

function bound(target, name) {
  const value = target[name];
  return typeof value === "function" && name !== "constructor" ? value.bind(target) : value;
}

/// The models of the program.
export class ModelRegistry {
  constructor() {
    Object.assign(this, modelRegistry);
  }
  static create() {
    return new ModelRegistry();
  }
  static inMemory() {
    return new ModelRegistry();
  }
}

/// The newer name of the models with their keys, which stay with the program.
export class ModelRuntime extends ModelRegistry {
  static async create() {
    return new ModelRuntime();
  }
  getModels() {
    return this.getAll();
  }
  getModel(provider, id) {
    return this.find(provider, id);
  }
  async getAuth(model) {
    return this.getApiKeyAndHeaders(model);
  }
}

export class CredentialSynchronizationError extends Error {
  name = "CredentialSynchronizationError";
}

export const readStoredCredential = () => undefined;

/// Skills and context files for an agent of the extension. It loads no extensions, prompts or themes.
export class DefaultResourceLoader {
  #skills = { skills: [], diagnostics: [] };
  #files = { agentsFiles: [] };

  constructor(options = {}) {
    this.options = options;
  }
  async reload() {
    const { cwd, agentDir, noSkills, noContextFiles, additionalSkillPaths: skillPaths = [], skillsOverride, agentsFilesOverride } = this.options;
    const skills = noSkills ? { skills: [], diagnostics: [] } : loadSkills({ cwd, agentDir, skillPaths });
    const files = { agentsFiles: noContextFiles ? [] : loadProjectContextFiles({ cwd, agentDir }) };
    this.#skills = skillsOverride?.(skills) ?? skills;
    this.#files = agentsFilesOverride?.(files) ?? files;
  }
  extendResources() {}
  getSkills() {
    return this.#skills;
  }
  getAgentsFiles() {
    return this.#files;
  }
  getExtensions() {
    return { extensions: [], errors: [], runtime: {} };
  }
  getPrompts() {
    return this.options.promptsOverride?.({ prompts: [], diagnostics: [] }) ?? { prompts: [], diagnostics: [] };
  }
  getThemes() {
    return { themes: [], diagnostics: [] };
  }
  getSystemPrompt() {
    const { systemPrompt, systemPromptOverride } = this.options;
    return systemPromptOverride ? systemPromptOverride(systemPrompt) : systemPrompt;
  }
  getAppendSystemPrompt() {
    const { appendSystemPrompt, appendSystemPromptOverride } = this.options;
    const own = [appendSystemPrompt ?? []].flat();
    return appendSystemPromptOverride ? appendSystemPromptOverride(own) : own;
  }
  getPathMetadata() {
    return new Map();
  }
}

let nextKey = 1;

/// An agent of the extension, with a session, a model and tools of its own.
export class AgentSession {
  #agent;
  #listeners = new Set();
  #isPumping = false;
  /// How many events listeners got, and who waits for how many.
  #told = 0;
  #waiting = [];

  constructor(agent, sessionManager, settingsManager, tools) {
    this.#agent = agent;
    Object.assign(this, { sessionManager, settingsManager, modelRegistry, tools });
    this.agent = { state: this.state, abort: () => this.abort(), waitForIdle: () => start("agent.settled", { agent }), subscribe: (listener) => this.subscribe(listener) };
  }

  /// Forwards events as long as somebody listens.
  async #pump() {
    if (this.#isPumping) return;
    this.#isPumping = true;
    call("agent.listen", { agent: this.#agent, listens: true });
    while (this.#listeners.size > 0) {
      const events = await start("agent.events", { agent: this.#agent }).catch(() => null);
      if (!events) break;
      for (const event of events) this.#tell(event);
    }
    this.#isPumping = false;
    this.#waiting.splice(0).forEach(({ resolve }) => resolve());
  }
  #tell(event) {
    const partial = follow(this, event);
    this.#told += 1;
    for (const listener of this.#listeners) listener(partial);
    this.#waiting = this.#waiting.filter(({ count, resolve }) => this.#told < count || resolve());
  }
  subscribe(listener) {
    this.#listeners.add(listener);
    this.#pump();
    return () => this.#listeners.delete(listener);
  }

  async prompt(text, options = {}) {
    if (this.isStreaming) {
      if (!options.streamingBehavior) throw new Error("Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.");
      return this.#queue(text, options.streamingBehavior, options.images);
    }
    const count = await start("agent.prompt", { agent: this.#agent, text: String(text), images: options.images ?? [] });
    // Listeners get everything that belongs to the prompt before it resolves.
    if (this.#isPumping && this.#told < count) await new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
  #queue(text, deliverAs, images = []) {
    call("agent.queue", { agent: this.#agent, text: String(text), deliverAs, images });
  }
  async steer(text, images) {
    this.#queue(text, "steer", images);
  }
  async followUp(text, images) {
    this.#queue(text, "followUp", images);
  }
  async sendUserMessage(content, options = {}) {
    const text = typeof content === "string" ? content : content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
    const images = typeof content === "string" ? [] : content.filter((block) => block.type === "image");
    return this.prompt(text, { images, streamingBehavior: options.deliverAs ?? "followUp" });
  }
  async abort() {
    call("agent.abort", { agent: this.#agent });
    await start("agent.settled", { agent: this.#agent });
  }
  waitForIdle() {
    return start("agent.settled", { agent: this.#agent });
  }
  compact(focus) {
    return start("agent.compact", { agent: this.#agent, focus: focus ?? null });
  }
  /// Agents of extensions load no extensions.
  async bindExtensions() {}
  dispose() {
    this.#listeners.clear();
    call("agent.dispose", { agent: this.#agent });
  }

  get #state() {
    return call("agent.state", { agent: this.#agent });
  }
  get state() {
    return { messages: this.messages, model: this.model, thinkingLevel: this.thinkingLevel, tools: this.tools, isStreaming: this.isStreaming };
  }
  get messages() {
    return this.sessionManager.buildSessionContext().messages;
  }
  get model() {
    return this.#state.model ?? undefined;
  }
  get thinkingLevel() {
    return this.#state.thinking;
  }
  get isStreaming() {
    return !this.#state.isIdle;
  }
  get isIdle() {
    return this.#state.isIdle;
  }
  get pendingMessageCount() {
    return this.#state.hasPending ? 1 : 0;
  }
  get sessionId() {
    return this.sessionManager.getSessionId();
  }
  get sessionFile() {
    return this.sessionManager.getSessionFile();
  }
  get sessionName() {
    return this.sessionManager.getSessionName();
  }
  setSessionName(name) {
    this.sessionManager.appendSessionInfo(name);
  }
  async setModel({ provider, id }) {
    call("agent.setModel", { agent: this.#agent, provider, id });
  }
  setThinkingLevel(level) {
    call("agent.setThinking", { agent: this.#agent, level });
  }
  getActiveToolNames() {
    return this.tools.map((tool) => tool.name);
  }
  getAllTools() {
    return this.tools;
  }
  getLastAssistantText() {
    const last = this.messages.findLast((message) => message.role === "assistant");
    return last?.content.filter((block) => block.type === "text").map((block) => block.text).join("").trim() || undefined;
  }
  getSessionStats() {
    const { messages } = this;
    const answers = messages.filter((message) => message.role === "assistant");
    const sum = (of) => answers.reduce((total, { usage }) => total + (of(usage ?? {}) ?? 0), 0);
    const tokens = { input: sum((u) => u.input), output: sum((u) => u.output), cacheRead: sum((u) => u.cacheRead), cacheWrite: sum((u) => u.cacheWrite) };
    return {
      sessionFile: this.sessionFile, sessionId: this.sessionId, userMessages: messages.filter((one) => one.role === "user").length,
      assistantMessages: answers.length, toolResults: messages.filter((one) => one.role === "toolResult").length, totalMessages: messages.length,
      tokens: { ...tokens, total: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite }, cost: sum((u) => u.cost?.total),
    };
  }
}

/// Keeps the names that pi has for the parts of an event.
function follow(_session, event) {
  const { assistantMessageEvent, message } = event;
  return assistantMessageEvent && message ? { ...event, assistantMessageEvent: { ...assistantMessageEvent, partial: message } } : event;
}

/// Creates an agent. Its session is a new file unless one is given.
export async function createAgentSession(options = {}) {
  const { cwd, model, thinkingLevel, tools, excludeTools = [], noTools, customTools = [], resourceLoader } = options;
  const sessionManager = options.sessionManager ?? SessionManager.create(cwd);
  const settingsManager = options.settingsManager ?? SettingsManager.create();
  const session = SessionManager.numberOf(sessionManager);
  if (session === undefined) throw new Error("the session belongs to the user's agent; use SessionManager.create, open or inMemory");
  // Older versions take tools themselves in place of their names.
  const named = tools?.map((tool) => (typeof tool === "string" ? tool : tool.name));
  const given = [...(tools ?? []).filter((tool) => typeof tool.execute === "function" && !tool.isBuiltin), ...customTools];
  const custom = given.map((tool) => {
    const key = `agent ${nextKey++}: ${tool.name}`;
    return { key, tool: keepTool(key, tool) };
  });
  const builtin = noTools ? [] : named;
  const isWanted = ({ tool }) => noTools !== "all" && (named === undefined || named.includes(tool.name) || customTools.some(({ name }) => name === tool.name));
  const agent = call("agent.create", {
    session,
    provider: model?.provider ?? null,
    model: model?.id ?? null,
    thinking: thinkingLevel ?? null,
    tools: builtin ?? null,
    exclude: excludeTools,
    custom: custom.filter(isWanted),
    system: resourceLoader?.getSystemPrompt?.() ?? options.systemPrompt ?? null,
    append: [...(resourceLoader?.getAppendSystemPrompt?.() ?? []), ...(resourceLoader?.getAgentsFiles?.().agentsFiles ?? []).map(({ path, content }) => `# ${path}\n\n${content}`)],
    cwd: cwd ?? null,
  });
  const active = [...listTools(builtin ?? undefined), ...custom.map((one) => one.tool)].filter(({ name }) => !excludeTools.includes(name));
  const made = new AgentSession(agent, sessionManager, settingsManager, active);
  return { session: made, extensionsResult: { extensions: [], errors: [], runtime: {} }, modelFallbackMessage: undefined };
}

/// What an agent needs besides its session.
export async function createAgentSessionServices(options = {}) {
  const resourceLoader = options.resourceLoader ?? new DefaultResourceLoader({ ...options, ...options.resourceLoaderOptions });
  await resourceLoader.reload();
  return {
    cwd: options.cwd ?? call("host.info").cwd, agentDir: options.agentDir ?? call("host.info").configDir, modelRegistry, resourceLoader,
    settingsManager: options.settingsManager ?? SettingsManager.create(), diagnostics: [],
  };
}

export function createAgentSessionFromServices({ services, ...options }) {
  return createAgentSession({ ...services, ...options });
}

/// An event bus of the extension's own.
export function createEventBus() {
  const handlers = new Map();
  return {
    on(channel, handler) {
      handlers.set(channel, [...(handlers.get(channel) ?? []), handler]);
      return () => handlers.set(channel, (handlers.get(channel) ?? []).filter((other) => other !== handler));
    },
    emit(channel, data) {
      for (const handler of handlers.get(channel) ?? []) handler(data);
    },
    clear: () => handlers.clear(),
  };
}

export const createSyntheticSourceInfo = (path, { source, scope = "temporary", origin = "top-level", baseDir }) => ({ path, source, scope, origin, baseDir });

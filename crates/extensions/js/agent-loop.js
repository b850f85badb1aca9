// The loop between a model and its tools, in script: for extensions that run a small agent of their own without a session.

import { stream as ask } from "offshoot:models";
import { refused } from "offshoot:refused";
import { validateToolArguments } from "offshoot:schema";
import { EventStream } from "offshoot:streams";

let streamFn = ask;
export const setDefaultStreamFn = (given) => void (streamFn = given ?? ask);

export const DEFAULT_AGENT_IDENTITY = Object.freeze({ attribution: Object.freeze({ name: "offshoot", categories: ["cli-agent"] }) });

const isForModel = ({ role }) => ["user", "assistant", "toolResult"].includes(role);

/// Runs one call of a tool. Never fails: an error is a result too.
export async function runToolCall(call, tools, signal, emit = () => {}, config = {}) {
  const { id, name, arguments: given } = call;
  emit({ type: "tool_execution_start", toolCallId: id, toolName: name, args: given });
  const tool = tools.find((one) => one.name === name);
  let [result, isError] = [undefined, false];
  try {
    if (!tool) throw new Error(`Tool ${name} not found`);
    const args = validateToolArguments(tool, { ...call, arguments: tool.prepareArguments ? tool.prepareArguments(given) : given });
    const before = await config.beforeToolCall?.({ toolCall: call, args }, signal);
    if (before?.block) throw new Error(before.reason ?? "Tool execution was blocked");
    const onUpdate = (partialResult) => emit({ type: "tool_execution_update", toolCallId: id, toolName: name, args: given, partialResult });
    result = await tool.execute(id, args, signal, onUpdate);
  } catch (error) {
    [result, isError] = [{ content: [{ type: "text", text: error?.message ?? String(error) }], details: {} }, true];
  }
  const after = await config.afterToolCall?.({ toolCall: call, result, isError }, signal);
  if (after) [result, isError] = [{ ...result, ...after }, after.isError ?? isError];
  emit({ type: "tool_execution_end", toolCallId: id, toolName: name, result, isError });
  return { role: "toolResult", toolCallId: id, toolName: name, content: result.content, details: result.details, isError, timestamp: Date.now() };
}

async function answerOf(context, config, signal, emit, ownStream) {
  const shaped = (await config.transformContext?.(context.messages, signal)) ?? context.messages;
  const messages = (await config.convertToLlm?.(shaped)) ?? shaped.filter(isForModel);
  const apiKey = (await config.getApiKey?.(config.model.provider)) ?? config.apiKey;
  const { model, convertToLlm: _c, transformContext: _t, getApiKey: _k, tools: _tools, ...options } = config;
  const events = await (ownStream ?? streamFn)(model, { systemPrompt: context.systemPrompt, messages, tools: context.tools }, { ...options, apiKey, signal });
  let hasBegun = false;
  for await (const event of events) {
    if (!event.partial || event.type === "done") continue;
    if (!hasBegun) emit({ type: "message_start", message: { ...event.partial } });
    else emit({ type: "message_update", message: { ...event.partial }, assistantMessageEvent: event });
    hasBegun = true;
  }
  const message = await events.result();
  if (!hasBegun) emit({ type: "message_start", message });
  emit({ type: "message_end", message });
  return message;
}

async function run(context, config, signal, emit, added, ownStream) {
  const messages = [...context.messages];
  const take = (message) => {
    messages.push(message);
    added.push(message);
  };
  let waiting = [];
  for (;;) {
    emit({ type: "turn_start" });
    for (const message of waiting) {
      emit({ type: "message_start", message });
      emit({ type: "message_end", message });
      take(message);
    }
    const message = await answerOf({ ...context, messages }, config, signal, emit, ownStream);
    take(message);
    const isOver = message.stopReason === "error" || message.stopReason === "aborted";
    const calls = isOver ? [] : message.content.filter((block) => block.type === "toolCall");
    const toolResults = [];
    for (const call of calls) {
      const result = await runToolCall(call, context.tools ?? [], signal, emit, config);
      emit({ type: "message_start", message: result });
      emit({ type: "message_end", message: result });
      take(result);
      toolResults.push(result);
    }
    emit({ type: "turn_end", message, toolResults });
    if (isOver) break;
    waiting = (await config.getSteeringMessages?.()) ?? [];
    if (calls.length > 0 || waiting.length > 0) continue;
    waiting = (await config.getFollowUpMessages?.()) ?? [];
    if (waiting.length === 0) break;
  }
  emit({ type: "agent_end", messages: added });
  return added;
}

/// Sends prompts and works until the model is done. Events go to `emit`; the result is the new messages.
export async function runAgentLoop(prompts, context, config, emit, signal, ownStream) {
  emit({ type: "agent_start" });
  for (const message of prompts) {
    emit({ type: "message_start", message });
    emit({ type: "message_end", message });
  }
  return run({ ...context, messages: [...context.messages, ...prompts] }, config, signal, emit, [...prompts], ownStream);
}

/// Goes on where a conversation ends with a prompt or the result of a tool.
export async function runAgentLoopContinue(context, config, emit, signal, ownStream) {
  if (context.messages.length === 0) throw new Error("Cannot continue: no messages in context");
  if (context.messages.at(-1).role === "assistant") throw new Error("Cannot continue from message role: assistant");
  emit({ type: "agent_start" });
  return run(context, config, signal, emit, [], ownStream);
}

function streamed(work) {
  const events = new EventStream((event) => event.type === "agent_end", (event) => event.messages);
  work((event) => events.push(event)).catch((error) => {
    events.push({ type: "agent_end", messages: [], errorMessage: error.message });
  });
  return events;
}

export const agentLoop = (prompts, context, config, signal, ownStream) =>
  streamed((emit) => runAgentLoop(prompts, context, config, emit, signal, ownStream));
export const agentLoopContinue = (context, config, signal, ownStream) =>
  streamed((emit) => runAgentLoopContinue(context, config, emit, signal, ownStream));

/// An agent that keeps its conversation in memory.
export class Agent {
  #listeners = new Set();
  #steering = [];
  #followUps = [];
  #running;
  #controller;

  constructor(options = {}) {
    this.options = options;
    this.streamFn = options.streamFn;
    this.state = {
      systemPrompt: "", model: undefined, thinkingLevel: "off", tools: [], messages: [], isStreaming: false, streamMessage: null,
      pendingToolCalls: new Set(), error: undefined, ...options.initialState,
    };
  }
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  setSystemPrompt(text) {
    this.state.systemPrompt = text;
  }
  setModel(model) {
    this.state.model = model;
  }
  setThinkingLevel(level) {
    this.state.thinkingLevel = level;
  }
  setTools(tools) {
    this.state.tools = tools;
  }
  replaceMessages(messages) {
    this.state.messages = [...messages];
  }
  appendMessage(message) {
    this.state.messages = [...this.state.messages, message];
  }
  clearMessages() {
    this.state.messages = [];
  }
  reset() {
    this.clearMessages();
    this.clearAllQueues();
    this.state.error = undefined;
  }
  steer(message) {
    this.#steering.push(message);
  }
  followUp(message) {
    this.#followUps.push(message);
  }
  clearAllQueues() {
    this.#steering = [];
    this.#followUps = [];
  }
  hasQueuedMessages() {
    return this.#steering.length + this.#followUps.length > 0;
  }
  get signal() {
    return this.#controller?.signal;
  }
  abort() {
    this.#controller?.abort();
  }
  async waitForIdle() {
    await this.#running?.catch(() => {});
  }
  prompt(input, images = []) {
    if (typeof input !== "string") return this.#start([input].flat());
    return this.#start([{ role: "user", content: [{ type: "text", text: input }, ...images], timestamp: Date.now() }]);
  }
  continue() {
    return this.#start(undefined);
  }

  #start(prompts) {
    if (this.#running) return Promise.reject(new Error("Agent is already processing a prompt. Use steer() or followUp() to queue messages, or wait for completion."));
    if (!this.state.model) return Promise.reject(new Error("No model configured"));
    this.#controller = new AbortController();
    this.#running = this.#run(prompts, this.#controller.signal).finally(() => {
      Object.assign(this.state, { isStreaming: false, streamMessage: null });
      this.#running = undefined;
    });
    return this.#running;
  }
  async #run(prompts, signal) {
    const { state, options } = this;
    Object.assign(state, { isStreaming: true, error: undefined });
    const { initialState: _i, streamFn: _s, ...hooks } = options;
    const config = {
      ...hooks, model: state.model, reasoning: state.thinkingLevel === "off" ? undefined : state.thinkingLevel,
      getSteeringMessages: async () => this.#steering.splice(0), getFollowUpMessages: async () => this.#followUps.splice(0),
    };
    const context = { systemPrompt: state.systemPrompt, messages: state.messages, tools: state.tools };
    const emit = (event) => this.#tell(event);
    if (prompts) await runAgentLoop(prompts, context, config, emit, signal, this.streamFn);
    else await runAgentLoopContinue(context, config, emit, signal, this.streamFn);
  }
  #tell(event) {
    const { state } = this;
    if (event.type === "message_start" || event.type === "message_update") state.streamMessage = event.message;
    if (event.type === "message_end") {
      state.streamMessage = null;
      this.appendMessage(event.message);
      if (event.message.errorMessage) state.error = event.message.errorMessage;
    }
    if (event.type === "tool_execution_start") state.pendingToolCalls.add(event.toolCallId);
    if (event.type === "tool_execution_end") state.pendingToolCalls.delete(event.toolCallId);
    for (const listener of this.#listeners) listener(event, this.#controller?.signal);
  }
}

export const { streamProxy } = refused("requests go to services directly, not through a server of pi");

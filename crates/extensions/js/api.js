// The argument of every extension: `pi`. The name is free; nothing here is global.

import { call, described, facts, lazily, report, start } from "offshoot:native";
import { functionUse, listen, listenedTo } from "offshoot:events";
import { exec } from "offshoot:processes";
import { registerProvider, unregisterProvider } from "offshoot:providers";

const schemas = lazily(() => import("offshoot:schema"));
const contexts = lazily(() => import("offshoot:context"));

const commands = new Map();
const tools = new Map();
const shortcuts = new Map();
const flags = new Map();
const messageRenderers = new Map();
const entryRenderers = new Map();
const bus = new Map();

let ownDialect = facts.dialect;
let isLoaded = false;

export const tool = (name) => tools.get(name);

/// Tools of agents that this extension creates, by a key of their own.
const kept = new Map();

/// Keeps such a tool and describes it for the host.
export function keepTool(key, one) {
  kept.set(key, one);
  return describedTool(one);
}

export const messageRenderer = (type) => messageRenderers.get(type);
export const entryRenderer = (type) => entryRenderers.get(type);

/// Loads the extension: runs its file and calls what it exports.
export async function load(path) {
  const module = await import(path);
  if (typeof module.dialect === "string") ownDialect = module.dialect;
  const factory = module.default ?? module.activate;
  if (typeof factory !== "function") throw new Error(`${path} has no default export that is a function`);
  await factory(pi);
  isLoaded = true;
  tellRegistered();
  return null;
}

/// Tells the host what is registered. While the extension is loaded, once at the end.
function tellRegistered() {
  if (!isLoaded) return;
  call("host.registered", {
    events: listenedTo(),
    commands: [...commands].map(([name, one]) => ({
      name: String(name), description: String(one.description ?? ""), completes: typeof one.getArgumentCompletions === "function",
    })),
    tools: [...tools.values()].map(describedTool),
    shortcuts: [...shortcuts].map(([key, one]) => ({ key, description: String(one.description ?? "") })),
    flags: [...flags.keys()].map(String),
    messageRenderers: [...messageRenderers.keys()].map(String),
    entryRenderers: [...entryRenderers.keys()].map(String),
  });
}

function describedTool(one) {
  return {
    name: String(one.name),
    description: String(one.description ?? ""),
    parameters: one.parameters ?? { type: "object", properties: {} },
    rendersResult: typeof one.renderResult === "function",
    promptSnippet: one.promptSnippet ? String(one.promptSnippet) : null,
    promptGuidelines: [one.promptGuidelines ?? []].flat().map(String),
    concurrent: one.executionMode === "parallel",
  };
}

function registered(map, name, value) {
  map.set(name, value);
  tellRegistered();
}

/// While the extension is loaded there is nothing yet that it could act on.
function act(name, values) {
  if (!isLoaded) throw new Error("Extension runtime not initialized: actions cannot be used while loading");
  return call(name, values);
}

/// The older form has a flag instead of options: then a running turn is never followed by another one.
function delivery(options) {
  if (typeof options === "boolean") return { triggerTurn: options, deliverAs: "afterTurn" };
  return { triggerTurn: options?.triggerTurn ?? null, deliverAs: options?.deliverAs ?? null };
}

function sendMessage(message, options) {
  const value = typeof message === "string" ? { customType: facts.name, content: message, display: true } : message;
  const { customType, content, display, details } = value;
  act("host.sendMessage", { customType, content, display: display !== false, details: details ?? null, ...delivery(options) });
}

function registerTool(one) {
  if (!one?.name || typeof one.execute !== "function") throw new TypeError("a tool needs a name and an `execute`");
  if (typeof one.onSession === "function") {
    const reasons = { session_start: "start", session_switch: "switch", session_fork: "branch", session_tree: "tree", session_shutdown: "shutdown" };
    for (const [event, reason] of Object.entries(reasons)) {
      listen(event, (value, context) => one.onSession({ ...value, reason, entries: context.sessionManager.getBranch() }, context), ownDialect);
    }
  }
  registered(tools, one.name, one);
}

const events = {
  on(channel, handler) {
    const list = bus.get(channel) ?? [];
    bus.set(channel, [...list, handler]);
    return () => bus.set(channel, (bus.get(channel) ?? []).filter((other) => other !== handler));
  },
  off(channel, handler) {
    bus.set(channel, (bus.get(channel) ?? []).filter((other) => other !== handler));
  },
  emit(channel, data) {
    heard(channel, data);
    call("host.emit", { channel, data: data ?? null });
  },
};

/// Tells those who listen to a channel.
export function heard(channel, data) {
  for (const handler of bus.get(channel) ?? []) {
    try {
      const done = handler(data);
      if (done instanceof Promise) done.catch((error) => report(`channel ${channel}`, error));
    } catch (error) {
      report(`channel ${channel}`, error);
    }
  }
  return null;
}

export const pi = {
  on(name, handler) {
    const forget = listen(name, handler, ownDialect);
    tellRegistered();
    return () => {
      forget();
      tellRegistered();
    };
  },
  sendMessage,
  send: (text) => sendMessage(text, true),
  sendUserMessage(content, options) {
    act("host.sendUserMessage", { content, deliverAs: options?.deliverAs ?? null });
  },
  appendEntry: (customType, data) => act("session.appendCustom", { customType, data: data ?? null }),
  setLabel: (id, label) => void act("host.setLabel", { id, label: label ?? null }),
  setSessionName: (name) => void act("host.setSessionName", { name: String(name) }),
  getSessionName: () => act("session.facts").name ?? undefined,
  registerCommand: (name, options) => registered(commands, name, options),
  registerTool,
  registerShortcut: (key, options) => registered(shortcuts, String(key), options),
  registerFlag: (name, options) => registered(flags, name, options),
  getFlag: (name) => facts.flags[name] ?? flags.get(name)?.default,
  registerMessageRenderer: (type, renderer) => registered(messageRenderers, type, renderer),
  registerCustomMessageRenderer: (type, renderer) => registered(messageRenderers, type, renderer),
  renderCustomMessage: (type, renderer) => registered(messageRenderers, type, renderer),
  registerEntryRenderer: (type, renderer) => registered(entryRenderers, type, renderer),
  registerProvider,
  unregisterProvider,
  exec,
  getActiveTools: () => act("host.state").activeTools,
  setActiveTools: (names) => void act("host.setActiveTools", { names: [...names] }),
  getAllTools: () => act("host.tools").map((one) => ({ ...one, sourceInfo: { source: "builtin", path: "" } })),
  getCommands: () => act("host.commands"),
  setModel: (model) => start("setModel", { provider: model.provider, id: model.id }),
  getThinkingLevel: () => act("host.state").thinking,
  setThinkingLevel: (level) => void act("host.setThinking", { level }),
  events,
};

export async function runCommand({ name, args }, signal, id) {
  const command = commands.get(name);
  if (!command) throw new Error(`there is no command /${name}`);
  const context = (await contexts()).commandContext(id, signal);
  if (!takesContextAlone(command.handler)) {
    await command.handler(args, context);
    return null;
  }
  const prompt = await command.handler(Object.assign(context, { args }));
  return typeof prompt === "string" && prompt ? { prompt } : null;
}

/// The fields of a command's context in the older dialect.
const COMMAND_CONTEXT = ["args", "session", "ui", "exec"];

/// Returns true if a command is written in the older form: `handler(ctx)` with `ctx.args`, and a returned prompt.
function takesContextAlone(handler) {
  const { parameters, ofFirst } = functionUse(handler);
  if (ownDialect === "hooks") return parameters < 2;
  return parameters === 1 && COMMAND_CONTEXT.some((name) => ofFirst.includes(name));
}

export async function completions({ name, prefix }) {
  const items = await commands.get(name)?.getArgumentCompletions?.(prefix);
  return { items: Array.isArray(items) ? items : [] };
}

export async function runShortcut(key, signal, id) {
  const shortcut = shortcuts.get(key);
  if (!shortcut) throw new Error(`there is no shortcut ${key}`);
  await shortcut.handler((await contexts()).commandContext(id, signal));
  return null;
}

export async function runTool({ name, call: id, args }, signal) {
  const one = tools.get(name) ?? kept.get(name);
  if (!one) throw new Error(`there is no tool ${name}`);
  const prepared = typeof one.prepareArguments === "function" ? one.prepareArguments(args) : args;
  const values = (await schemas()).validateToolArguments(one, { name, arguments: prepared });
  const onUpdate = (output) => {
    try {
      call("host.progress", { call: id, output });
    } catch (error) {
      report(`tool ${name}`, described(error));
    }
  };
  const context = (await contexts()).handlerContext(signal);
  const result = await one.execute(id, values, signal, onUpdate, context);
  if (typeof result === "string") return { content: [{ type: "text", text: result }] };
  const { content, details, isError } = result ?? {};
  return { content: content ?? [], details: details ?? null, isError: Boolean(isError) };
}

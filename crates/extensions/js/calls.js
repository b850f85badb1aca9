// What the agent and the screen ask of an extension, one function each.

import { described, finish, lazily, spell } from "offshoot:native";
import { AbortController } from "offshoot:abort";
import * as api from "offshoot:api";
import { answerFor } from "offshoot:providers";

const dispatching = lazily(() => import("offshoot:dispatch"));
const components = lazily(() => import("offshoot:components"));
const themes = lazily(() => import("offshoot:theme"));
const screens = lazily(() => import("offshoot:ui"));
const keys = lazily(() => import("offshoot:keys"));

const running = new Map();

const CALLS = {
  load: ({ path }) => api.load(path),
  event: async (payload, signal) => (await dispatching()).dispatch(payload, signal),
  command: (payload, signal, id) => api.runCommand(payload, signal, id),
  completions: (payload) => api.completions(payload),
  shortcut: ({ key }, signal, id) => api.runShortcut(key, signal, id),
  tool: (payload, signal) => api.runTool(payload, signal),
  "provider.stream": (payload, signal) => answerFor(payload, signal),
  bus: ({ channel, data }) => api.heard(channel, data),
  "terminal.input": async (payload) => (await screens()).terminalInput(payload),
  "component.render": async (payload) => (await components()).render(payload),
  "component.input": async (payload) => (await components()).input(payload),
  "component.close": async (payload) => (await components()).close(payload),
  "draw.message": ({ message, expanded, width }) =>
    drawn(width, (theme, keyHint) => api.messageRenderer(message.customType)?.(message, { expanded, keyHint }, theme)),
  "draw.entry": ({ entry, expanded, width }) =>
    drawn(width, (theme, keyHint) => api.entryRenderer(entry.customType)?.(entry, { expanded, keyHint }, theme)),
  "draw.tool": async ({ name, args, result, expanded, width }) => {
    const one = api.tool(name);
    const options = { expanded, isPartial: false };
    const below = await drawn(width, (theme) => one?.renderResult?.(result, options, theme, toolContext(args, result)));
    if (!below.lines) return below;
    const title = await drawn(width, (theme) => one.renderCall?.(args, theme, toolContext(args)));
    return { lines: [...(title.lines ?? [name]), ...below.lines] };
  },
};

async function drawn(width, render) {
  const [{ refreshTheme, theme }, { keyHint }] = [await themes(), await keys()];
  refreshTheme();
  return { lines: (await components()).drawn(render(theme, keyHint), width) ?? null };
}

function toolContext(args, result) {
  return { args, isError: Boolean(result?.isError), state: {}, invalidate() {}, lastComponent: undefined };
}

/// Begins a call; its answer comes when it is there.
export function begin(id, kind, text) {
  const controller = new AbortController();
  running.set(id, controller);
  answer(id, kind, text, controller.signal);
}

async function answer(id, kind, text, signal) {
  let isOk = true;
  let spelled;
  try {
    spelled = spell(await CALLS[kind](JSON.parse(text), signal, id));
  } catch (error) {
    isOk = false;
    // A model gets the message of a tool, as in pi.
    spelled = described(kind === "tool" && error instanceof Error ? { message: error.message, stack: error.stack } : error);
  }
  running.delete(id);
  finish(id, isOk, spelled);
}

export function cancel(id) {
  running.get(id)?.abort();
}

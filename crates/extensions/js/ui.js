// Asking people and showing them things. Without a screen every question has an answer that does no harm.

import { call, report, start } from "offshoot:native";
import { AbortController } from "offshoot:abort";
import * as components from "offshoot:components";
import { keybindings } from "offshoot:keys";
import { getAllThemes, getTheme, setTheme, theme } from "offshoot:theme";

function hasUI() {
  return call("host.info").hasUI;
}

/// Returns true if components can be drawn. As in pi, a program that uses the agent draws none.
function hasTerminal() {
  return call("host.info").mode === "tui";
}

/// Controls an overlay, which takes the place of the editor here: it is never hidden and always has the keys.
const overlayHandle = (hide) => ({ hide, setHidden() {}, isHidden: () => false, focus() {}, unfocus() {}, isFocused: () => true });

const textOrNull = (text) => (text === undefined || text === null ? null : String(text));

function show(kind, values) {
  call("host.show", { kind, ...values });
}

async function ask(kind, values, options) {
  if (options?.signal?.aborted) return null;
  return start("ask", { kind, ...values, title: String(values.title), timeout: options?.timeout }, options?.signal);
}

/// Shows a component until it says that it is done.
function custom(factory, options) {
  if (!hasTerminal()) return Promise.resolve(undefined);
  const id = components.reserve();
  const closing = new AbortController();
  let close;
  const closed = new Promise((resolve) => {
    close = (value) => {
      components.remove(id);
      resolve(value);
      closing.abort();
    };
  });
  const open = async () => {
    const tui = components.tuiFor(id);
    const component = typeof factory === "function" ? await factory(tui, theme, keybindings, close) : factory;
    if (closing.signal.aborted || !component) return close(undefined);
    // A component that was made before it is shown gets no `done`: it is closed by other means.
    const closesOnEscape = typeof factory !== "function";
    components.put(id, component, () => close(undefined), closesOnEscape);
    options?.onHandle?.(overlayHandle(() => close(undefined)));
    await start("ask", { kind: "custom", component: id, closesOnEscape }, closing.signal);
    close(undefined);
  };
  return open().then(() => closed, (error) => {
    close(undefined);
    throw error;
  });
}

components.onOverlay((component) => {
  let hide = () => {};
  custom((_tui, _theme, _keys, done) => {
    hide = done;
    return component;
  }).catch((error) => report("overlay", error));
  return overlayHandle(() => hide(undefined));
});

/// Puts what a factory makes under a number that the host knows.
function made(factory, ...more) {
  if (factory === undefined || factory === null) return null;
  const id = components.reserve();
  const component = factory(components.tuiFor(id), theme, ...more);
  components.put(id, component, () => components.remove(id));
  return id;
}

/// The numbers of components that stay on the screen, by their place.
const placed = new Map();

/// Puts what a factory makes in a place. What was there before is taken away first, as nobody shows it any more.
function place(where, factory, ...more) {
  components.remove(placed.get(where));
  placed.delete(where);
  const id = made(factory, ...more);
  if (id !== null) placed.set(where, id);
  return id;
}

const branchListeners = new Set();

const footerData = {
  onBranchChange(listener) {
    branchListeners.add(listener);
    return () => branchListeners.delete(listener);
  },
  getGitBranch() {
    try {
      const head = call("fs.read", { path: ".git/HEAD" }).text ?? "";
      return head.startsWith("ref: refs/heads/") ? head.slice(16).trim() : head.slice(0, 8) || null;
    } catch {
      return null;
    }
  },
  getExtensionStatuses: () => new Map(statuses),
  getAvailableProviderCount: () => new Set(call("host.models").map((model) => model.provider)).size,
};

const statuses = new Map();

const keyListeners = new Set();

/// Lets listeners see what was typed, one after the other. Answers with what is left of it.
export async function terminalInput({ data }) {
  let left = data;
  for (const listener of keyListeners) {
    try {
      const result = await listener(left);
      if (result?.consume) return { data: null };
      if (typeof result?.data === "string") left = result.data;
    } catch (error) {
      report("onTerminalInput", error);
    }
  }
  return { data: left };
}

function onTerminalInput(listener) {
  if (!hasUI()) return () => {};
  keyListeners.add(listener);
  show("terminalInput", { listens: true });
  return () => {
    if (keyListeners.delete(listener) && keyListeners.size === 0) show("terminalInput", { listens: false });
  };
}

let editorFactory;

/// Settings of the screen that have no effect here.
const IGNORED = ["addAutocompleteProvider"];

/// Extensions wrap it in proxies, so it is not frozen.
export const ui = {
  ...Object.fromEntries(IGNORED.map((name) => [name, () => () => {}])),
  async select(title, options, opts) {
    return (await ask("select", { title, options: [...options].map(String) }, opts)) ?? undefined;
  },
  async confirm(title, message, opts) {
    return (await ask("confirm", { title, message: String(message ?? "") }, opts)) === true;
  },
  async input(title, placeholder, opts) {
    return (await ask("input", { title, placeholder: String(placeholder ?? "") }, opts)) ?? undefined;
  },
  async editor(title, prefill, opts) {
    return (await ask("editor", { title, prefill: String(prefill ?? "") }, opts)) ?? undefined;
  },
  custom(factory, options) {
    // The older form: a component, and a function that runs once when the component is closed.
    if (typeof factory !== "function" && typeof options === "function") return custom(factory).finally(() => options());
    return custom(factory, options);
  },
  notify: (message, level) => show("notify", { message: String(message), level: String(level ?? "info") }),
  setStatus(key, text) {
    if (text === undefined || text === null) statuses.delete(key);
    else statuses.set(key, text);
    show("status", { key: String(key), text: textOrNull(text) });
  },
  setWidget(key, content, options) {
    const below = options?.placement === "belowEditor";
    const component = place(`widget ${key}`, typeof content === "function" ? content : null);
    const lines = component === null && content ? [...content].map(String) : null;
    show("widget", { key: String(key), component, lines, below });
  },
  setFooter: (factory) => show("footer", { component: place("footer", factory, footerData) }),
  setHeader: (factory) => show("header", { component: place("header", factory) }),
  setTitle: (text) => show("title", { text: String(text) }),
  setEditorText: (text) => show("editorText", { text: String(text) }),
  getEditorText: () => call("host.state").editorText,
  pasteToEditor: (text) => show("paste", { text: String(text) }),
  setWorkingMessage: (text) => show("working", { text: textOrNull(text) }),
  setWorkingVisible: (visible) => show("workingVisible", { visible: Boolean(visible) }),
  setWorkingIndicator: (options) => show("workingIndicator", { frames: options?.frames?.map(String) ?? null, interval: options?.intervalMs ?? null }),
  setHiddenThinkingLabel: (text) => show("thinkingLabel", { text: textOrNull(text) }),
  setToolsExpanded: (expanded) => show("toolsExpanded", { expanded: Boolean(expanded) }),
  getToolsExpanded: () => call("host.state").toolsExpanded,
  onTerminalInput,
  // The editor stays that of the program.
  setEditorComponent: (factory) => void (editorFactory = factory),
  getEditorComponent: () => editorFactory,
  theme,
  getAllThemes: () => (hasTerminal() ? getAllThemes() : []),
  getTheme,
  setTheme,
};

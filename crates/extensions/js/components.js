// Components that are on the screen, by number. They are drawn here; whoever shows them gets lines.

import { call, report } from "offshoot:native";
import { refreshTheme } from "offshoot:theme";

let nextComponent = 1;
const shown = new Map();

/// Takes a number for a component that does not exist yet.
export function reserve() {
  return nextComponent++;
}

/// Closing functions that we gave to components; a component may have a `close` of its own.
const given = new WeakSet();

/// Shows a component. One that `closesOnEscape` was made before it is shown, so it is given what closes and redraws it.
export function put(id, component, close, closesOnEscape = false) {
  shown.set(id, { component, close, closesOnEscape, escapedAt: -Infinity, hasAskedToRender: false });
  if (!closesOnEscape) return;
  give(component, "close", close);
  give(component, "requestRender", () => requestRender(id));
}

function give(component, name, value) {
  const isFree = typeof component[name] !== "function" || given.has(component[name]);
  given.add(value);
  if (isFree && Object.isExtensible(component)) component[name] = value;
}

function requestRender(id) {
  const one = shown.get(id);
  if (one) one.hasAskedToRender = true;
  call("host.show", { kind: "redraw", component: id });
}

export function remove(id) {
  const one = shown.get(id);
  shown.delete(id);
  try {
    one?.component.dispose?.();
  } catch {
    // What is taken away may fail without consequences.
  }
}

/// The part of a terminal that components may use.
export function tuiFor(id) {
  return {
    requestRender: () => requestRender(id),
    terminal: { columns: 80, rows: 24, write() {}, setTitle: (text) => call("host.show", { kind: "title", text }) },
    addChild() {},
    removeChild() {},
    setFocus() {},
    invalidate() {},
    start() {},
    stop() {},
    addInputListener: () => () => {},
    showOverlay: (component, options) => showOverlay(component, options),
    hideOverlay() {},
    hasOverlay: () => false,
  };
}

let openOverlay = () => ({ hide() {}, setHidden() {}, isHidden: () => true });

export function onOverlay(open) {
  openOverlay = open;
}

function showOverlay(component, options) {
  return openOverlay(component, options);
}

export function drawn(component, width) {
  const lines = component?.render?.(width);
  return Array.isArray(lines) ? lines.map(String) : undefined;
}

export function render({ id, width }) {
  refreshTheme();
  return { lines: drawn(shown.get(id)?.component, width) ?? [] };
}

/// Escape, as terminals send it.
const ESCAPES = ["\x1b", "\x1b[27u", "\x1b[27;1u"];
/// How soon a second Escape closes a component, in milliseconds.
const TWICE = 1000;

/// Hands a key to a component. Escape closes one that `closesOnEscape`: at once if the component makes no use of the key,
/// and in any case when it comes twice.
export async function input({ id, data }) {
  const one = shown.get(id);
  if (!one) return { done: true };
  const isEscape = one.closesOnEscape && ESCAPES.includes(data);
  const now = Date.now();
  try {
    if (isEscape && now - one.escapedAt <= TWICE) one.close();
    else if (isEscape) await escape(one, data, now);
    else await handle(one, data);
  } catch (error) {
    report("component", error);
  }
  return { done: !shown.has(id) };
}

async function handle(one, data) {
  return one.closesOnEscape ? one.component.handleInput?.(data, one.close) : one.component.handleInput?.(data);
}

async function escape(one, data, now) {
  Object.assign(one, { escapedAt: now, hasAskedToRender: false });
  let isUsed = false;
  try {
    isUsed = (await handle(one, data)) === true;
  } finally {
    if (!isUsed && !one.hasAskedToRender) one.close();
  }
}

export function close({ id }) {
  shown.get(id)?.close?.();
  return {};
}

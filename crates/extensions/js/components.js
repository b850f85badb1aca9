// Components that are on the screen, by number. They are drawn here; whoever shows them gets lines.

import { call } from "offshoot:native";

let nextComponent = 1;
const shown = new Map();

/// Takes a number for a component that does not exist yet.
export function reserve() {
  return nextComponent++;
}

export function put(id, component, close) {
  shown.set(id, { component, close });
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
    requestRender() {
      call("host.show", { kind: "redraw", component: id });
    },
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
  return { lines: drawn(shown.get(id)?.component, width) ?? [] };
}

export async function input({ id, data }) {
  const one = shown.get(id);
  if (!one) return { done: true };
  const { component } = one;
  if (typeof component.handleInput === "function") await component.handleInput(data);
  return { done: !shown.has(id) };
}

export function close({ id }) {
  shown.get(id)?.close?.();
  return {};
}

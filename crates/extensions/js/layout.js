// Components that arrange others, and small parts of terminals.

import { Container } from "offshoot:widgets";
import { matchesKey } from "offshoot:keys";
import { padded } from "offshoot:text";

/// Children below each other.
export class VStack extends Container {
  constructor(children = [], options = {}) {
    super();
    Object.assign(this, { children: [...children], options });
  }
  render(width) {
    const gap = Array.from({ length: this.options.gap ?? 0 }, () => "");
    return this.children.flatMap((child, at) => (at > 0 ? [...gap, ...child.render(width)] : child.render(width)));
  }
}

/// Children beside each other, in columns of equal width.
export class HStack extends Container {
  constructor(children = [], options = {}) {
    super();
    Object.assign(this, { children: [...children], options });
  }
  render(width) {
    const count = this.children.length;
    if (count === 0) return [];
    const gap = this.options.gap ?? 0;
    const column = Math.max(1, Math.floor((width - gap * (count - 1)) / count));
    const columns = this.children.map((child) => child.render(column));
    const height = Math.max(...columns.map((lines) => lines.length));
    return Array.from({ length: height }, (_, row) => columns.map((lines) => padded(lines[row] ?? "", column)).join(" ".repeat(gap)));
  }
}

/// A part of something long, which keys scroll.
export class ScrollView {
  offset = 0;
  constructor(child, options = {}) {
    Object.assign(this, { child, options, height: options.height ?? 10 });
  }
  setHeight(height) {
    this.height = height;
  }
  scrollTo(offset) {
    this.offset = Math.max(0, offset);
  }
  scrollBy(lines) {
    this.scrollTo(this.offset + lines);
  }
  invalidate() {
    this.child.invalidate?.();
  }
  render(width) {
    const lines = this.child.render(width);
    this.offset = Math.min(this.offset, Math.max(0, lines.length - this.height));
    return lines.slice(this.offset, this.offset + this.height);
  }
  handleInput(data) {
    const steps = { up: -1, down: 1, pageUp: -this.height, pageDown: this.height };
    const found = Object.keys(steps).find((key) => matchesKey(data, key));
    if (found) this.scrollBy(steps[found]);
    else this.child.handleInput?.(data);
  }
}

/// A component whose clicks would be handled; the screen sends no mouse events.
export class MouseRegion {
  constructor(child, onMouse) {
    Object.assign(this, { child, onMouse });
  }
  invalidate() {
    this.child.invalidate?.();
  }
  render(width) {
    return this.child.render(width);
  }
  handleInput(data) {
    this.child.handleInput?.(data);
  }
}

let capabilities = { images: null, trueColor: false, hyperlinks: false };
const DETECTED = capabilities;
export const getCapabilities = () => capabilities;
export const detectCapabilities = () => DETECTED;
export const setCapabilities = (given) => void (capabilities = given);
export const setCapabilityOverrides = (given) => void (capabilities = { ...DETECTED, ...given });
export const resetCapabilitiesCache = () => void (capabilities = DETECTED);

export const hyperlink = (text, url) => `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\`;
export const isAppleTerminalSession = () => process.env.TERM_PROGRAM === "Apple_Terminal";
export const isViewportTUI = () => false;
export const isFocusable = (component) => component !== null && typeof component === "object" && "focused" in component;
export const renderFakeCursor = (text = " ") => `\x1b[7m${text}\x1b[27m`;

/// Finds the link of the escape sequence around a column.
export function getOsc8LinkAtColumn(line, column) {
  let [at, link] = [0, undefined];
  for (const [piece, url] of line.matchAll(/\x1b\]8;[^;]*;([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b\[[0-9;]*m|[^]/gu)) {
    if (url !== undefined) link = url || undefined;
    else if (!piece.startsWith("\x1b") && at++ === column) return link;
  }
  return undefined;
}

export function parseTerminalColorSchemeReport(data) {
  const found = /^\x1b\[\?997;([12])n$/.exec(data);
  return found ? (found[1] === "1" ? "dark" : "light") : undefined;
}

/// Returns the index a page away, if the key asks for that.
export function getSelectPageIndex(bindings, data, selected, count, size) {
  const step = bindings.matches(data, "tui.select.pageUp") ? -size : bindings.matches(data, "tui.select.pageDown") ? size : 0;
  return step === 0 ? undefined : Math.max(0, Math.min(count - 1, selected + step));
}

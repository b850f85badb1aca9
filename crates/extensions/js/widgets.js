// Components: each draws lines for a width, and some take keys.

import { AbortController } from "offshoot:abort";
import { matchesKey } from "offshoot:keys";
import { padded, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "offshoot:text";

export class Text {
  constructor(text = "", paddingX = 1, paddingY = 1, background) {
    Object.assign(this, { text, paddingX, paddingY, background });
  }
  setText(text) {
    this.text = text;
  }
  setCustomBgFn(background) {
    this.background = background;
  }
  invalidate() {}
  render(width) {
    if (!this.text || this.text.trim() === "") return [];
    return framed(wrapTextWithAnsi(this.text.replaceAll("\t", "   "), Math.max(1, width - 2 * this.paddingX)), this, width);
  }
}

/// Puts space and background around lines.
function framed(lines, { paddingX, paddingY, background }, width) {
  const left = " ".repeat(paddingX);
  const empty = Array.from({ length: paddingY }, () => padded("", width, background));
  return [...empty, ...lines.map((line) => padded(left + line, width, background)), ...empty];
}

export class TruncatedText {
  constructor(text, paddingX = 0, paddingY = 0) {
    Object.assign(this, { text, paddingX, paddingY });
  }
  invalidate() {}
  render(width) {
    const [first] = this.text.split("\n");
    return framed([truncateToWidth(first, Math.max(1, width - 2 * this.paddingX))], this, width);
  }
}

export class Container {
  children = [];
  addChild(component) {
    this.children.push(component);
  }
  removeChild(component) {
    this.children = this.children.filter((child) => child !== component);
  }
  clear() {
    this.children = [];
  }
  invalidate() {
    for (const child of this.children) child.invalidate?.();
  }
  render(width) {
    return this.children.flatMap((child) => child.render(width));
  }
}

export class Box extends Container {
  constructor(paddingX = 1, paddingY = 1, background) {
    super();
    Object.assign(this, { paddingX, paddingY, background });
  }
  setBgFn(background) {
    this.background = background;
  }
  render(width) {
    const lines = super.render(Math.max(1, width - 2 * this.paddingX));
    return lines.length === 0 ? [] : framed(lines, this, width);
  }
}

export class Spacer {
  constructor(lines = 1) {
    this.lines = lines;
  }
  setLines(lines) {
    this.lines = lines;
  }
  invalidate() {}
  render() {
    return Array.from({ length: this.lines }, () => "");
  }
}

export class DynamicBorder {
  constructor(color = (text) => text) {
    this.color = color;
  }
  invalidate() {}
  render(width) {
    return [this.color("─".repeat(Math.max(1, width)))];
  }
}

const own = (theme, name) => theme?.[name] ?? ((text) => text);

/// The rows around a cursor that fit.
function windowed(count, cursor, height) {
  const start = Math.max(0, Math.min(cursor - Math.floor(height / 2), count - height));
  return { start, end: Math.min(start + height, count) };
}

export class SelectList {
  selected = 0;
  onSelect = undefined;
  onCancel = undefined;
  onSelectionChange = undefined;

  constructor(items, maxVisible = 5, theme = {}) {
    Object.assign(this, { items, maxVisible, theme, filtered: items });
  }
  setFilter(filter) {
    this.filtered = this.items.filter((item) => item.value.toLowerCase().startsWith(filter.toLowerCase()));
    this.selected = 0;
  }
  setSelectedIndex(index) {
    this.selected = Math.max(0, Math.min(index, this.filtered.length - 1));
  }
  getSelectedItem() {
    return this.filtered[this.selected] ?? null;
  }
  invalidate() {}
  render(width) {
    if (this.filtered.length === 0) return [own(this.theme, "noMatch")("  No matching commands")];
    const { start, end } = windowed(this.filtered.length, this.selected, this.maxVisible);
    const rows = this.filtered.slice(start, end).map((item, at) => this.row(item, start + at === this.selected, width));
    if (start > 0 || end < this.filtered.length) {
      rows.push(own(this.theme, "scrollInfo")(truncateToWidth(`  (${this.selected + 1}/${this.filtered.length})`, width, "")));
    }
    return rows;
  }
  row(item, isSelected, width) {
    const label = item.label ?? item.value;
    const prefix = isSelected ? "→ " : "  ";
    const gap = " ".repeat(Math.max(1, 32 - visibleWidth(label)));
    const more = item.description ? gap + item.description.replaceAll(/[\r\n]+/g, " ") : "";
    if (isSelected) return own(this.theme, "selectedText")(truncateToWidth(prefix + label + more, width - 1, ""));
    const line = truncateToWidth(prefix + label, width - 1, "");
    const room = width - 1 - visibleWidth(line);
    return more && room > 0 ? line + own(this.theme, "description")(truncateToWidth(more, room, "")) : line;
  }
  handleInput(data) {
    const count = this.filtered.length;
    if (matchesKey(data, "up")) this.move(this.selected === 0 ? count - 1 : this.selected - 1);
    else if (matchesKey(data, "down")) this.move(this.selected === count - 1 ? 0 : this.selected + 1);
    else if (matchesKey(data, "enter")) {
      const item = this.getSelectedItem();
      if (item) this.onSelect?.(item);
    } else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.onCancel?.();
  }
  move(to) {
    this.selected = Math.max(0, to);
    const item = this.getSelectedItem();
    if (item) this.onSelectionChange?.(item);
  }
}

export class SettingsList {
  selected = 0;
  submenu = null;

  constructor(items, maxVisible, theme, onChange, onCancel, options = {}) {
    Object.assign(this, { items, maxVisible, theme, onChange, onCancel, options });
  }
  updateValue(id, value) {
    const item = this.items.find((one) => one.id === id);
    if (item) item.currentValue = value;
  }
  invalidate() {
    this.submenu?.invalidate?.();
  }
  render(width) {
    if (this.submenu) return this.submenu.render(width);
    if (this.items.length === 0) return [own(this.theme, "hint")("  No settings available")];
    const { start, end } = windowed(this.items.length, this.selected, this.maxVisible);
    const column = Math.min(30, Math.max(...this.items.map((item) => visibleWidth(item.label))));
    const rows = this.items.slice(start, end).map((item, at) => this.row(item, start + at === this.selected, column, width));
    if (start > 0 || end < this.items.length) rows.push(own(this.theme, "hint")(`  (${this.selected + 1}/${this.items.length})`));
    const { description } = this.items[this.selected] ?? {};
    if (description) rows.push("", ...wrapTextWithAnsi(description, width - 4).map((line) => own(this.theme, "description")(`  ${line}`)));
    return [...rows, "", own(this.theme, "hint")(truncateToWidth("  Enter/Space to change · Esc to cancel", width))];
  }
  row(item, isSelected, column, width) {
    const prefix = isSelected ? this.theme?.cursor ?? "→ " : "  ";
    const label = item.label + " ".repeat(Math.max(0, column - visibleWidth(item.label)));
    const value = own(this.theme, "value")(truncateToWidth(item.currentValue, Math.max(1, width - column - 6), ""), isSelected);
    return truncateToWidth(`${prefix}${own(this.theme, "label")(label, isSelected)}  ${value}`, width, "");
  }
  handleInput(data) {
    if (this.submenu) return this.submenu.handleInput?.(data);
    const count = this.items.length;
    if (matchesKey(data, "up")) this.selected = this.selected === 0 ? count - 1 : this.selected - 1;
    else if (matchesKey(data, "down")) this.selected = this.selected === count - 1 ? 0 : this.selected + 1;
    else if (matchesKey(data, "enter") || data === " ") this.change();
    else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.onCancel?.();
    return undefined;
  }
  change() {
    const item = this.items[this.selected];
    if (!item) return;
    if (item.submenu) {
      this.submenu = item.submenu(item.currentValue, (value) => {
        this.submenu = null;
        if (value !== undefined) this.set(item, value);
      });
    } else if (item.values?.length) {
      this.set(item, item.values[(item.values.indexOf(item.currentValue) + 1) % item.values.length]);
    }
  }
  set(item, value) {
    item.currentValue = value;
    this.onChange?.(item.id, value);
  }
}

export class Loader extends Text {
  constructor(tui, spinnerColor, messageColor, message = "Loading...") {
    super("", 1, 0);
    Object.assign(this, { tui, spinnerColor, messageColor });
    this.setMessage(message);
  }
  setMessage(message) {
    this.message = message;
    const color = this.messageColor ?? ((text) => text);
    this.setText(`${(this.spinnerColor ?? ((text) => text))("●")} ${color(message)}`);
    this.tui?.requestRender?.();
  }
  start() {}
  stop() {}
}

export class CancellableLoader extends Loader {
  controller = new AbortController();
  onAbort = undefined;

  get signal() {
    return this.controller.signal;
  }
  get aborted() {
    return this.signal.aborted;
  }
  handleInput(data) {
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) {
      this.controller.abort();
      this.onAbort?.();
    }
  }
  dispose() {
    this.stop();
  }
}

export class BorderedLoader extends Container {
  constructor(tui, theme, message, options) {
    super();
    const color = (text) => theme.fg("border", text);
    this.loader = new CancellableLoader(tui, (text) => theme.fg("accent", text), (text) => theme.fg("muted", text), message);
    this.addChild(new DynamicBorder(color));
    this.addChild(this.loader);
    if (options?.cancellable !== false) this.addChild(new Text(theme.fg("dim", "Esc to cancel"), 1, 0));
    this.addChild(new DynamicBorder(color));
  }
  get signal() {
    return this.loader.signal;
  }
  set onAbort(callback) {
    this.loader.onAbort = callback;
  }
  get onAbort() {
    return this.loader.onAbort;
  }
  handleInput(data) {
    this.loader.handleInput(data);
  }
  dispose() {
    this.loader.dispose();
  }
}

/// Marks where the cursor is; whoever shows the lines takes it out.
export const CURSOR_MARKER = "\x1b_pi:c\x07";

/// One line or many that can be edited: what extensions need of an editor.
export class Input {
  value = "";
  cursor = 0;
  focused = false;
  onSubmit = undefined;
  onEscape = undefined;
  onChange = undefined;

  getValue() {
    return this.value;
  }
  setValue(value) {
    this.value = value;
    this.cursor = [...value].length;
  }
  invalidate() {}
  handleInput(data) {
    const before = this.value;
    if (matchesKey(data, "enter")) this.submit();
    else if (matchesKey(data, "escape")) this.onEscape?.();
    else if (matchesKey(data, "backspace")) this.remove(this.cursor - 1);
    else if (matchesKey(data, "delete")) this.remove(this.cursor);
    else if (matchesKey(data, "left")) this.cursor = Math.max(0, this.cursor - 1);
    else if (matchesKey(data, "right")) this.cursor = Math.min([...this.value].length, this.cursor + 1);
    else if (matchesKey(data, "home") || matchesKey(data, "ctrl+a")) this.cursor = 0;
    else if (matchesKey(data, "end") || matchesKey(data, "ctrl+e")) this.cursor = [...this.value].length;
    else if (!data.startsWith("\x1b") && data >= " ") this.insert(data);
    if (this.value !== before) this.onChange?.(this.value);
  }
  submit() {
    this.onSubmit?.(this.value);
  }
  insert(text) {
    const points = [...this.value];
    points.splice(this.cursor, 0, ...text);
    this.value = points.join("");
    this.cursor += [...text].length;
  }
  remove(at) {
    if (at < 0) return;
    const points = [...this.value];
    points.splice(at, 1);
    this.value = points.join("");
    this.cursor = Math.min(at, points.length);
  }
  render(width) {
    const points = [...this.value];
    const marker = this.focused ? CURSOR_MARKER : "";
    const under = points[this.cursor] ?? " ";
    const line = `> ${points.slice(0, this.cursor).join("")}${marker}\x1b[7m${under}\x1b[27m${points.slice(this.cursor + 1).join("")}`;
    return [truncateToWidth(line, width, "")];
  }
}

export class Editor extends Input {
  disableSubmit = false;

  constructor(tui, theme) {
    super();
    Object.assign(this, { tui, theme, borderColor: theme?.borderColor ?? ((text) => text) });
  }
  getText() {
    return this.value;
  }
  setText(text) {
    this.setValue(text);
  }
  getLines() {
    return this.value.split("\n");
  }
  addToHistory() {}
  setAutocompleteProvider() {}
  setPaddingX() {}
  insertTextAtCursor(text) {
    this.insert(text);
  }
  submit() {
    if (this.disableSubmit) return;
    const text = this.value;
    this.setValue("");
    this.onSubmit?.(text);
  }
  handleInput(data) {
    if (matchesKey(data, "shift+enter") || data === "\n") this.insert("\n");
    else super.handleInput(data);
  }
  render(width) {
    const border = this.borderColor("─".repeat(Math.max(1, width)));
    const points = [...this.value];
    const marker = this.focused ? CURSOR_MARKER : "";
    const after = points.slice(this.cursor).join("");
    const text = `${points.slice(0, this.cursor).join("")}${marker}${after}`;
    return [border, ...wrapTextWithAnsi(text || " ", Math.max(1, width)), border];
  }
}

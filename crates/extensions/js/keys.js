// Keys: what a terminal sends, and the names that extensions give to it.

import { theme } from "offshoot:theme";

const MODIFIERS = ["ctrl", "shift", "alt", "super"];

const NAMED = {
  escape: ["\x1b"],
  enter: ["\r", "\n", "\x1bOM"],
  tab: ["\t"],
  space: [" "],
  backspace: ["\x7f", "\b"],
  delete: ["\x1b[3~"],
  insert: ["\x1b[2~"],
  home: ["\x1b[H", "\x1bOH", "\x1b[1~"],
  end: ["\x1b[F", "\x1bOF", "\x1b[4~"],
  pageUp: ["\x1b[5~"],
  pageDown: ["\x1b[6~"],
  up: ["\x1b[A", "\x1bOA"],
  down: ["\x1b[B", "\x1bOB"],
  right: ["\x1b[C", "\x1bOC"],
  left: ["\x1b[D", "\x1bOD"],
};

/// Letters of codes with modifiers, as in `ESC [ 1 ; 5 A`.
const FINAL = { A: "up", B: "down", C: "right", D: "left", H: "home", F: "end" };
const TILDE = { 1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageUp", 6: "pageDown" };
const POINTS = { 13: "enter", 27: "escape", 9: "tab", 32: "space", 127: "backspace" };

const SAME = { esc: "escape", return: "enter", pageup: "pageUp", pagedown: "pageDown" };

function isReleaseOrRepeat(data, kind) {
  return new RegExp(`^\\x1b\\[[0-9:]*(;[0-9]+)?:${kind}[uABCDHF~]`).test(data) ||
    new RegExp(`^\\x1b\\[[0-9:]+;[0-9]+:${kind}[uABCDHF~]`).test(data);
}

export const isKeyRelease = (data) => isReleaseOrRepeat(data, 3);
export const isKeyRepeat = (data) => isReleaseOrRepeat(data, 2);

/// Spells a key with its modifiers in one order.
function spelled(base, mask) {
  const names = [[4, "ctrl"], [1, "shift"], [2, "alt"], [8, "super"]];
  const held = names.filter(([bit]) => mask & bit).map(([, name]) => name);
  return [...held, base].join("+");
}

/// Returns the name of the key that a terminal sent.
export function parseKey(data) {
  for (const [name, codes] of Object.entries(NAMED)) if (codes.includes(data)) return name;
  if (data === "\x1b[Z") return "shift+tab";
  const coded = /^\x1b\[(\d+)?(?::\d*)*(?:;(\d+)(?::\d+)?)?([uABCDHF~])$/.exec(data);
  if (coded) {
    const [, number, modifiers, final] = coded;
    const mask = modifiers ? Number(modifiers) - 1 : 0;
    if (final === "u") return spelled(POINTS[number] ?? String.fromCodePoint(Number(number)), mask & 15);
    const base = final === "~" ? TILDE[number] : FINAL[final];
    return base ? spelled(base, mask & 15) : undefined;
  }
  if (data.length === 2 && data[0] === "\x1b") {
    const inner = parseKey(data[1]);
    return inner === undefined ? undefined : canonical(`alt+${inner}`);
  }
  if ([...data].length !== 1) return undefined;
  const point = data.codePointAt(0);
  if (point >= 1 && point <= 26) return `ctrl+${String.fromCharCode(point + 96)}`;
  if (point < 32) return { 28: "ctrl+\\", 29: "ctrl+]", 30: "ctrl+^", 31: "ctrl+-" }[point];
  if (data >= "A" && data <= "Z") return `shift+${data.toLowerCase()}`;
  return data;
}

function canonical(key) {
  const parts = key.split("+");
  let base = parts.pop();
  if (base === "" && parts.length > 0) base = "+";
  const held = parts.map((part) => part.toLowerCase());
  base = SAME[base.toLowerCase()] ?? (base.length > 1 && !(base in NAMED) ? base.toLowerCase() : base);
  return [...MODIFIERS.filter((name) => held.includes(name)), base].join("+");
}

/// Tells whether what a terminal sent is that key.
export function matchesKey(data, key) {
  const wanted = canonical(String(key));
  const parsed = parseKey(data);
  if (parsed === undefined) return data === key;
  if (canonical(parsed) === wanted) return true;
  // Control keys that a terminal cannot tell from others.
  const twins = { "\t": "ctrl+i", "\r": "ctrl+m", "\n": "ctrl+j", "\b": "ctrl+h", "\x1b": "ctrl+[" };
  return twins[data] === wanted || data === key;
}

const plain = Object.fromEntries(Object.keys(NAMED).map((name) => [name, name]));
const held = (...modifiers) => (key) => [...modifiers, key].join("+");

export const Key = {
  ...plain,
  esc: "escape",
  return: "enter",
  ctrl: held("ctrl"),
  shift: held("shift"),
  alt: held("alt"),
  super: held("super"),
  ctrlShift: held("ctrl", "shift"),
  ctrlAlt: held("ctrl", "alt"),
  shiftAlt: held("shift", "alt"),
  ctrlShiftAlt: held("ctrl", "shift", "alt"),
};

/// What keys are for, as pi names it.
const DEFAULTS = {
  "tui.editor.cursorUp": "up", "tui.editor.cursorDown": "down", "tui.editor.historyPrevious": [], "tui.editor.historyNext": [],
  "tui.editor.cursorLeft": ["left", "ctrl+b"], "tui.editor.cursorRight": ["right", "ctrl+f"],
  "tui.editor.cursorWordLeft": ["alt+left", "ctrl+left", "alt+b"], "tui.editor.cursorWordRight": ["alt+right", "ctrl+right", "alt+f"],
  "tui.editor.cursorLineStart": ["home", "ctrl+a"], "tui.editor.cursorLineEnd": ["end", "ctrl+e"],
  "tui.editor.jumpForward": "ctrl+]", "tui.editor.jumpBackward": "ctrl+alt+]",
  "tui.editor.pageUp": ["pageUp", "ctrl+pageUp"], "tui.editor.pageDown": ["pageDown", "ctrl+pageDown"],
  "tui.editor.deleteCharBackward": "backspace", "tui.editor.deleteCharForward": ["delete", "ctrl+d"],
  "tui.editor.deleteWordBackward": ["ctrl+w", "alt+backspace"], "tui.editor.deleteWordForward": ["alt+d", "alt+delete"],
  "tui.editor.deleteToLineStart": "ctrl+u", "tui.editor.deleteToLineEnd": "ctrl+k", "tui.editor.yank": "ctrl+y",
  "tui.editor.yankPop": "alt+y", "tui.editor.undo": "ctrl+-",
  "tui.input.newLine": "shift+enter", "tui.input.submit": "enter", "tui.input.tab": "tab", "tui.input.copy": "ctrl+c",
  "tui.select.up": "up", "tui.select.down": "down", "tui.select.pageUp": "pageUp", "tui.select.pageDown": "pageDown",
  "tui.select.confirm": "enter", "tui.select.cancel": ["escape", "ctrl+c"],
};

/// Those of the program itself, and the names that pi had for them before.
const OF_PROGRAM = {
  "app.interrupt": "escape", "app.exit": "ctrl+d", "app.clear": "ctrl+c", "app.tools.expand": "ctrl+o",
  selectUp: "up", selectDown: "down", selectConfirm: "enter", selectCancel: ["escape", "ctrl+c"], expandTools: "ctrl+o",
  interrupt: "escape",
};

const declared = (keys) => Object.fromEntries(Object.entries(keys).map(([name, defaultKeys]) => [name, { defaultKeys, description: name }]));

export const TUI_KEYBINDINGS = declared(DEFAULTS);

/// Which keys do what: the default ones, or those of the user in their place.
export class KeybindingsManager {
  constructor(definitions, userBindings = {}) {
    this.definitions = definitions;
    this.setUserBindings(userBindings);
  }
  setUserBindings(userBindings) {
    this.userBindings = userBindings;
  }
  getUserBindings() {
    return { ...this.userBindings };
  }
  getKeys(action) {
    return [this.userBindings[action] ?? this.definitions[action]?.defaultKeys ?? []].flat();
  }
  getDefinition(action) {
    return this.definitions[action];
  }
  getResolvedBindings() {
    return Object.fromEntries(Object.keys(this.definitions).map((action) => [action, this.getKeys(action)]));
  }
  getConflicts() {
    const users = new Map();
    for (const action of Object.keys(this.userBindings)) {
      for (const key of this.getKeys(action)) users.set(key, [...(users.get(key) ?? []), action]);
    }
    return [...users].filter(([, actions]) => actions.length > 1).map(([key, keybindings]) => ({ key, keybindings }));
  }
  matches(data, action) {
    return this.getKeys(action).some((key) => matchesKey(data, key));
  }
  getDisplayString(action) {
    return this.getKeys(action).join("/");
  }
}

export const keybindings = new KeybindingsManager({ ...TUI_KEYBINDINGS, ...declared(OF_PROGRAM) });
let current = keybindings;
export const getKeybindings = () => current;
export const setKeybindings = (given) => void (current = given);

/// Says which key does something.
export const keyText = (action) => keybindings.getDisplayString(action);
export const rawKeyHint = (key, text) => theme.fg("dim", key) + theme.fg("muted", ` ${text}`);
export const keyHint = (action, text) => rawKeyHint(keyText(action), text);

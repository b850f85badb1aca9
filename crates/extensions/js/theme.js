// Colours by meaning. Sixteen-colour codes: the terminal decides how they look.

import { call } from "offshoot:native";

const FOREGROUND = {
  accent: 36, border: 34, borderAccent: 36, borderMuted: 90, success: 32, error: 31, warning: 33, muted: 90, dim: 90,
  text: 39, thinkingText: 90, userMessageText: 39, customMessageText: 39, customMessageLabel: 35, toolTitle: 39,
  toolOutput: 90, toolDiffAdded: 32, toolDiffRemoved: 31, toolDiffContext: 90, mdHeading: 33, mdLink: 34,
  mdLinkUrl: 90, mdCode: 36, mdCodeBlock: 32, mdCodeBlockBorder: 90, mdQuote: 90, mdQuoteBorder: 90, mdHr: 90,
  mdListBullet: 36, syntaxComment: 90, syntaxKeyword: 34, syntaxFunction: 33, syntaxVariable: 36, syntaxString: 32,
  syntaxNumber: 35, syntaxType: 36, syntaxOperator: 39, syntaxPunctuation: 39, thinkingOff: 90, thinkingMinimal: 90,
  thinkingLow: 34, thinkingMedium: 36, thinkingHigh: 35, thinkingXhigh: 31, bashMode: 32,
};

const BACKGROUND = {
  selectedBg: 100, userMessageBg: 100, customMessageBg: 45, toolPendingBg: 100, toolSuccessBg: 42, toolErrorBg: 41,
};

const code = (open, close) => (text) => `\x1b[${open}m${text}\x1b[${close}m`;

/// Colours by token. Without colours of its own a theme has the sixteen of the terminal.
export class Theme {
  #codes;

  constructor(fgColors, bgColors, mode, options = {}) {
    Object.assign(this, { name: options.name ?? "offshoot", sourcePath: options.sourcePath });
    this.#codes = options.codes ?? (fgColors ? codesOf({ ...fgColors }, { ...bgColors }, mode) : undefined);
  }

  /// Takes the colours of another theme.
  become({ name, path, codes }) {
    Object.assign(this, { name, sourcePath: path ?? undefined });
    this.#codes = Object.keys(codes).length > 0 ? codes : undefined;
  }
  getFgAnsi(color) {
    return this.#codes ? known(this.#codes, color) : `\x1b[${FOREGROUND[color] ?? 39}m`;
  }
  getBgAnsi(color) {
    return this.#codes ? known(this.#codes, color) : `\x1b[${BACKGROUND[color] ?? 49}m`;
  }
  fg(color, text) {
    return color in FOREGROUND || this.#codes?.[color] ? `${this.getFgAnsi(color)}${text}\x1b[39m` : String(text);
  }
  bg(color, text) {
    return color in BACKGROUND || this.#codes?.[color] ? `${this.getBgAnsi(color)}${text}\x1b[49m` : String(text);
  }
  style(text, { fg, bg, ...attributes }) {
    let styled = String(text);
    for (const name of Object.keys(attributes)) if (attributes[name]) styled = this[name]?.(styled) ?? styled;
    if (fg) styled = this.fg(fg, styled);
    return bg ? this.bg(bg, styled) : styled;
  }
  getColorMode() {
    return this.#codes ? call("theme.mode") : "16color";
  }
  getThinkingBorderColor(level) {
    return (text) => this.fg(`thinking${level.charAt(0).toUpperCase()}${level.slice(1)}`, text);
  }
  getBashModeBorderColor() {
    return (text) => this.fg("bashMode", text);
  }
}

// Fields, so that they also work without the theme: `text.map(theme.bold)`.
for (const [name, open, close] of [["bold", 1, 22], ["dim", 2, 22], ["italic", 3, 23], ["underline", 4, 24], ["inverse", 7, 27], ["strikethrough", 9, 29]]) {
  Theme.prototype[name] = code(open, close);
}

function known(codes, color) {
  return codes[color] ?? "";
}

/// The codes of colours that an extension names itself: numbers of the palette, or texts as in theme files.
function codesOf(fgColors, bgColors, mode) {
  const codes = {};
  for (const [colors, base] of [[fgColors, 38], [bgColors, 48]]) {
    for (const [token, value] of Object.entries(colors)) {
      const found = call("theme.color", { text: value });
      if (found === null) codes[token] = `\x1b[${base + 1}m`;
      else if (typeof found === "number") codes[token] = `\x1b[${base};5;${found}m`;
      else if ((mode ?? call("theme.mode")) === "truecolor") codes[token] = `\x1b[${base};2;${found.join(";")}m`;
      else codes[token] = `\x1b[${base};5;${call("theme.nearest", { rgb: found })}m`;
    }
  }
  return codes;
}

/// The theme that is used. It stays the same object when another one is chosen.
export const theme = new Theme();
let version = -1;

/// Takes the theme that the user or another extension chose.
export function refreshTheme() {
  const found = call("theme.current", { version });
  if (!found) return;
  version = found.version;
  if (found.theme) theme.become(found.theme);
}

const made = (found) => (found ? new Theme(undefined, undefined, undefined, { name: found.name, sourcePath: found.path ?? undefined, codes: Object.keys(found.codes).length > 0 ? found.codes : undefined }) : undefined);

export const getAllThemes = () => call("theme.list").map(({ name, path }) => ({ name, path: path ?? undefined }));
export const getTheme = (name) => (name === theme.name ? theme : made(call("theme.get", { name: String(name) })));

export function setTheme(wanted) {
  if (wanted instanceof Theme && !getAllThemes().some(({ name }) => name === wanted.name)) {
    return { success: false, error: "a theme that is made in script only colours what the extension draws" };
  }
  const result = call("theme.choose", { name: typeof wanted === "string" ? wanted : wanted.name });
  if (result.success) refreshTheme();
  return result;
}

export function initTheme() {
  refreshTheme();
}

export const selectListTheme = {
  selectedPrefix: (text) => theme.fg("accent", text),
  selectedText: (text) => theme.fg("accent", text),
  description: (text) => theme.fg("muted", text),
  scrollInfo: (text) => theme.fg("muted", text),
  noMatch: (text) => theme.fg("muted", text),
};

export const settingsListTheme = {
  label: (text, isSelected) => (isSelected ? theme.fg("accent", text) : text),
  value: (text, isSelected) => (isSelected ? theme.fg("accent", text) : theme.fg("muted", text)),
  description: (text) => theme.fg("dim", text),
  cursor: theme.fg("accent", "→ "),
  hint: (text) => theme.fg("dim", text),
};

export const markdownTheme = {
  heading: (text) => theme.fg("mdHeading", text),
  link: (text) => theme.fg("mdLink", text),
  linkUrl: (text) => theme.fg("mdLinkUrl", text),
  code: (text) => theme.fg("mdCode", text),
  codeBlock: (text) => theme.fg("mdCodeBlock", text),
  codeBlockBorder: (text) => theme.fg("mdCodeBlockBorder", text),
  quote: (text) => theme.fg("mdQuote", text),
  quoteBorder: (text) => theme.fg("mdQuoteBorder", text),
  hr: (text) => theme.fg("mdHr", text),
  listBullet: (text) => theme.fg("mdListBullet", text),
  bold: theme.bold,
  italic: theme.italic,
  underline: theme.underline,
  strikethrough: theme.strikethrough,
};

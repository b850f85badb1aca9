// Colours by meaning. Sixteen-colour codes: the terminal decides how they look.

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

export const theme = Object.freeze({
  name: "offshoot",
  fg(color, text) {
    return color in FOREGROUND ? code(FOREGROUND[color], 39)(text) : String(text);
  },
  bg(color, text) {
    return color in BACKGROUND ? code(BACKGROUND[color], 49)(text) : String(text);
  },
  bold: code(1, 22),
  dim: code(2, 22),
  italic: code(3, 23),
  underline: code(4, 24),
  inverse: code(7, 27),
  strikethrough: code(9, 29),
  getFgAnsi: (color) => `\x1b[${FOREGROUND[color] ?? 39}m`,
  getBgAnsi: (color) => `\x1b[${BACKGROUND[color] ?? 49}m`,
  getColorMode: () => "16color",
  getThinkingBorderColor: (level) => (text) =>
    theme.fg(`thinking${level.charAt(0).toUpperCase()}${level.slice(1)}`, text),
  getBashModeBorderColor: () => (text) => theme.fg("bashMode", text),
});

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

// The package with which extensions draw.

import { refused } from "offshoot:refused";

export {
  Key, KeybindingsManager, TUI_KEYBINDINGS, getKeybindings, isKeyRelease, isKeyRepeat, matchesKey, parseKey, setKeybindings,
} from "offshoot:keys";
export { getKeybindings as getEditorKeybindings } from "offshoot:keys";
export {
  compositeTuiLine, replaceControlCharacters, sliceByColumn, stripTerminalSequences, truncateToWidth, visibleWidth,
  wrapTextWithAnsi,
} from "offshoot:text";
export {
  Box, CURSOR_MARKER, CancellableLoader, Container, Editor, Input, Loader, SelectList, SettingsList, Spacer, Text,
  TruncatedText,
} from "offshoot:widgets";
export { Markdown } from "offshoot:markdown";
export { fuzzyFilter, fuzzyMatch } from "offshoot:fuzzy";
export { CombinedAutocompleteProvider } from "offshoot:autocomplete";
export * from "offshoot:images";
export * from "offshoot:layout";
export * from "offshoot:colors";

export const setKittyProtocolActive = () => {};
export const isKittyProtocolActive = () => false;

/// The sequence that tells a terminal what the program is doing.
export function formatProgramStatus({ state, app, kind, message }) {
  const pairs = [`state=${state}`, app && `app=${app}`, state === "blocked" && kind && `kind=${kind}`];
  if (message) pairs.push(`msg=${Buffer.from(message).toString("base64")}`);
  return `\x1b]7501;${pairs.filter(Boolean).join(":")}\x1b\\`;
}

/// Returns the letter that a key of the kitty protocol stands for.
export function decodeKittyPrintable(data) {
  const found = /^\x1b\[(\d+)(?::(\d*))?(?:;([12])(?::[12])?)?u$/.exec(data);
  if (!found) return undefined;
  const point = Number(found[3] === "2" && found[2] ? found[2] : found[1]);
  return point >= 32 && point !== 127 ? String.fromCodePoint(point) : undefined;
}

export const { ProcessTerminal, TuiMainScreen, TuiAltScreen, StdinBuffer } = refused(
  "the program owns the terminal; use `ctx.ui.custom`, or `ctx.ui.onTerminalInput` for keys",
);
export const { getNativeClipboard } = refused("no native modules are loaded; use `copyToClipboard` of pi-coding-agent");
export const { renderLatex } = refused("formulas are shown as they are written");
export const { Marked } = refused("the parser of a library; import the package `marked`");

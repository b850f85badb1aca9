// The package with which extensions draw.

export { Key, isKeyRelease, isKeyRepeat, matchesKey, parseKey } from "offshoot:keys";
export { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "offshoot:text";
export {
  Box, CURSOR_MARKER, CancellableLoader, Container, Editor, Input, Loader, SelectList, SettingsList, Spacer, Text,
  TruncatedText,
} from "offshoot:widgets";
export { Markdown } from "offshoot:markdown";
import { keybindings } from "offshoot:keys";

export const renderFakeCursor = (text = " ") => `\x1b[7m${text}\x1b[27m`;
export const getKeybindings = () => keybindings;
export const getEditorKeybindings = () => keybindings;
export const isFocusable = (component) => component !== null && typeof component === "object" && "focused" in component;
export const getCapabilities = () => ({ images: null, trueColor: false, hyperlinks: false });
export const setKittyProtocolActive = () => {};
export const isKittyProtocolActive = () => false;

/// Tells how well a text fits to what was typed: lower is better.
export function fuzzyMatch(query, text) {
  const wanted = query.toLowerCase();
  const given = text.toLowerCase();
  let [at, score, last] = [0, 0, -1];
  for (const char of wanted) {
    const found = given.indexOf(char, at);
    if (found < 0) return { matches: false, score: 0 };
    if (last >= 0) score += found - last - 1;
    [last, at] = [found, found + 1];
  }
  return { matches: true, score: score + (wanted ? given.indexOf(wanted[0]) : 0) };
}

export function fuzzyFilter(items, query, textOf = (item) => String(item)) {
  const words = query.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  const scored = [];
  for (const item of items) {
    const results = words.map((word) => fuzzyMatch(word, textOf(item)));
    if (results.every((result) => result.matches)) {
      scored.push({ item, score: results.reduce((sum, result) => sum + result.score, 0) });
    }
  }
  return scored.sort((a, b) => a.score - b.score).map((one) => one.item);
}

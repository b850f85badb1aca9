// Text on a screen: how wide it is, how it is cut and wrapped.

import { call } from "offshoot:native";

const PLAIN = /^[\x20-\x7e]*$/;

export function visibleWidth(text) {
  const value = String(text);
  return PLAIN.test(value) ? value.length : call("text.width", { text: value });
}

export function truncateToWidth(text, width, ellipsis = "...", pad = false) {
  const value = String(text);
  const columns = Math.max(0, Math.floor(width));
  const cut = PLAIN.test(value) && value.length <= columns ? value : call("text.truncate", { text: value, width: columns, ellipsis });
  return pad ? cut + " ".repeat(Math.max(0, columns - visibleWidth(cut))) : cut;
}

export function wrapTextWithAnsi(text, width) {
  return call("text.wrap", { text: String(text), width: Math.max(1, Math.floor(width)) });
}

/// Fills a line up with spaces, with a background behind all of it.
export function padded(line, width, background) {
  const full = line + " ".repeat(Math.max(0, width - visibleWidth(line)));
  return background ? background(full) : full;
}

/// Returns the columns of a line from `start` on, with the colours that apply there.
export function sliceByColumn(line, start, length) {
  return call("text.slice", { text: String(line), start: Math.max(0, Math.floor(start)), width: Math.max(0, Math.floor(length)) });
}

const SEQUENCES = /\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|[\]_P^X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g;

export const stripTerminalSequences = (text) => String(text).replace(SEQUENCES, "");
export const replaceControlCharacters = (text) => stripTerminalSequences(text).replace(/[\x00-\x1f\x7f-\x9f]/g, " ");

/// Puts a line over a part of another one.
export function compositeTuiLine(base, overlay, startColumn, overlayWidth, totalWidth) {
  const after = startColumn + overlayWidth;
  const left = padded(sliceByColumn(base, 0, startColumn), startColumn);
  const middle = padded(sliceByColumn(overlay, 0, overlayWidth), overlayWidth);
  return `${left}\x1b[0m${middle}\x1b[0m${sliceByColumn(base, after, Math.max(0, totalWidth - after))}`;
}

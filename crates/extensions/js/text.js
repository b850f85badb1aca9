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

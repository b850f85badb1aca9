// Colours as values, and the escape codes that select them.

import { call } from "offshoot:native";
import { refused } from "offshoot:refused";

export const rgbColor = (r, g, b) => ({ kind: "rgb", r, g, b });
export const indexedColor = (index) => ({ kind: "indexed", index });

/// Reads a colour: `#rgb`, `#rrggbb`, `okhsl(h s% l%)`, `oklch(l c h)`, a number of the palette, or nothing for the default.
export function parseColor(value) {
  const found = call("theme.color", { text: typeof value === "number" ? value : String(value) });
  if (found === null) return { kind: "default" };
  return typeof found === "number" ? indexedColor(found) : rgbColor(...found);
}

export const okhslColor = (h, s, l) => parseColor(`okhsl(${h} ${s * 100}% ${l * 100}%)`);
export const oklchColor = (l, c, h) => parseColor(`oklch(${l} ${c} ${h})`);

export function colorToRgb(color) {
  if (color.kind === "rgb") return { r: color.r, g: color.g, b: color.b };
  const [r, g, b] = call("theme.indexed", { index: color.index ?? 7 });
  return { r, g, b };
}

export function colorToHex(color) {
  const { r, g, b } = colorToRgb(color);
  return `#${[r, g, b].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/// Mixes two colours by their parts.
export function mixColors(one, other, amount) {
  const [a, b] = [colorToRgb(one), colorToRgb(other)];
  const mixed = (part) => Math.round(a[part] + (b[part] - a[part]) * amount);
  return rgbColor(mixed("r"), mixed("g"), mixed("b"));
}

export const getTerminalColorMode = () => call("theme.mode");

function ansi(color, mode, base) {
  if (color.kind === "default") return `\x1b[${base + 9}m`;
  if (color.kind === "rgb" && (mode ?? getTerminalColorMode()) === "truecolor") {
    return `\x1b[${base + 8};2;${color.r};${color.g};${color.b}m`;
  }
  const index = color.kind === "rgb" ? call("theme.nearest", { rgb: [color.r, color.g, color.b] }) : color.index;
  return `\x1b[${base + 8};5;${index}m`;
}

export const foregroundAnsi = (color, mode) => ansi(color, mode, 30);
export const backgroundAnsi = (color, mode) => ansi(color, mode, 40);

const ATTRIBUTES = { bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], strikethrough: [9, 29] };

export function styleTextWithAnsi(text, fg, bg, attributes = {}) {
  let [open, close] = [(fg ?? "") + (bg ?? ""), (bg ? "\x1b[49m" : "") + (fg ? "\x1b[39m" : "")];
  for (const [name, [on, off]] of Object.entries(ATTRIBUTES)) {
    if (!attributes[name]) continue;
    open += `\x1b[${on}m`;
    close = `\x1b[${off}m${close}`;
  }
  return open + text + close;
}

export const styleText = (text, options, mode) =>
  styleTextWithAnsi(text, options.fg && foregroundAnsi(options.fg, mode), options.bg && backgroundAnsi(options.bg, mode), options);

export const { colorToOkhsl, colorToOklch, oklabToOkhslLightness } = refused(
  "colours are converted only from these spaces, as theme files need it",
);

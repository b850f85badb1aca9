// Markdown for terminals: headings, lists, quotes, code, emphasis. What it does not know stays as it is written.

import { padded, wrapTextWithAnsi } from "offshoot:text";

const same = (text) => text;

function inline(text, theme) {
  const style = (name) => theme?.[name] ?? same;
  return text
    .replace(/`([^`]+)`/g, (_, code) => style("code")(code))
    .replace(/\*\*([^*]+)\*\*/g, (_, bold) => style("bold")(bold))
    .replace(/~~([^~]+)~~/g, (_, gone) => style("strikethrough")(gone))
    .replace(/(^|[^*\w])\*([^*\s][^*]*)\*/g, (_, before, word) => before + style("italic")(word))
    .replace(/\[([^\]]+)\]\(([^)]+)\)/g, (_, name, url) => `${style("link")(name)} ${style("linkUrl")(`(${url})`)}`);
}

export class Markdown {
  constructor(text, paddingX = 0, paddingY = 0, theme = {}, defaults = {}) {
    Object.assign(this, { text, paddingX, paddingY, theme, defaults });
  }
  setText(text) {
    this.text = text;
  }
  invalidate() {}
  render(width) {
    if (!this.text || this.text.trim() === "") return [];
    const room = Math.max(1, width - 2 * this.paddingX);
    const left = " ".repeat(this.paddingX);
    const background = this.defaults?.bgColor;
    const empty = Array.from({ length: this.paddingY }, () => padded("", width, background));
    const lines = this.blocks(room).map((line) => padded(left + line, width, background));
    return [...empty, ...lines, ...empty];
  }
  blocks(width) {
    const style = (name) => this.theme?.[name] ?? same;
    const color = this.defaults?.color ?? same;
    const lines = [];
    let isCode = false;
    for (const line of this.text.replaceAll("\t", "   ").split("\n")) {
      if (/^\s*(```|~~~)/.test(line)) {
        isCode = !isCode;
        lines.push(style("codeBlockBorder")(line.trim()));
      } else if (isCode) {
        lines.push(...wrapTextWithAnsi(style("codeBlock")(`  ${line}`), width));
      } else {
        lines.push(...this.line(line, width, style, color));
      }
    }
    return lines;
  }
  line(line, width, style, color) {
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading) return wrapTextWithAnsi(style("heading")(style("bold")(inline(heading[2], this.theme))), width);
    if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return [style("hr")("─".repeat(Math.min(width, 80)))];
    const quote = /^>\s?(.*)$/.exec(line);
    if (quote) {
      const inner = wrapTextWithAnsi(style("quote")(inline(quote[1], this.theme)), Math.max(1, width - 2));
      return inner.map((one) => style("quoteBorder")("│ ") + one);
    }
    const item = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/.exec(line);
    if (item) {
      const bullet = `${item[1]}${/\d/.test(item[2]) ? item[2] : "-"} `;
      const inner = wrapTextWithAnsi(color(inline(item[3], this.theme)), Math.max(1, width - bullet.length));
      return inner.map((one, at) => (at === 0 ? style("listBullet")(bullet) : " ".repeat(bullet.length)) + one);
    }
    return line.trim() === "" ? [""] : wrapTextWithAnsi(color(inline(line, this.theme)), width);
  }
}

// Nodes: everything that a session says becomes a text node. There is no other way into the page.

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.className = value;
    else if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== false && child !== "") node.append(child);
  }
  return node;
}

const byId = (id) => document.getElementById(id);

// Whatever a field holds, as text.
function textOf(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  try {
    return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
  } catch {
    return "(nested too deeply to be shown)";
  }
}

// The same on one line, and not for ever.
function briefly(value) {
  try {
    return (typeof value === "string" ? value : JSON.stringify(value) ?? "").slice(0, 200);
  } catch {
    return "…";
  }
}

function isSafeUrl(url) {
  return /^(https?:\/\/|mailto:|#)/i.test(url) && !/[\s\u0000-\u001f]/.test(url);
}

function link(url, ...children) {
  if (!isSafeUrl(url)) return el("span", {}, ...children);
  const outside = !url.startsWith("#");
  return el("a", { href: url, rel: "noopener noreferrer nofollow", target: outside && "_blank" }, ...children);
}

// Text with its web addresses as links.
function linked(text) {
  const pieces = [];
  let done = 0;
  for (const match of text.matchAll(/\bhttps?:\/\/[^\s<>"'`)\]}]+[^\s<>"'`)\]}.,;:!?]/g)) {
    pieces.push(text.slice(done, match.index), link(match[0], match[0]));
    done = match.index + match[0].length;
  }
  pieces.push(text.slice(done));
  return pieces;
}

const TAGS = ["p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "strong", "em", "del",
  "table", "tr", "th", "td", "a"];

// Builds prose from its tokens; a string is one plain paragraph.
function prose(tokens) {
  const root = el("div", { class: "prose" });
  if (typeof tokens === "string") {
    for (const paragraph of tokens.split(/\n{2,}/)) root.append(el("p", {}, linked(paragraph)));
    return root;
  }
  const open = [root];
  for (const token of Array.isArray(tokens) ? tokens : []) {
    const top = open[open.length - 1];
    if (typeof token === "string") top.append(...(top.localName === "a" ? [token] : linked(token)));
    else if (token === 0) { if (open.length > 1) open.pop(); }
    else if (token > 0) { const node = el(TAGS[token - 1] ?? "span"); top.append(node); open.push(node); }
    else if (token === -1) top.append(el("br"));
    else if (token === -2) top.append(el("hr"));
    else if (token === -3 || token === -4) top.append(token === -4 ? "☑ " : "☐ ");
    else if (token[0] === "a") { const node = link(token[1]); top.append(node); open.push(node); }
    else if (token[0] === "o") { const node = el("ol", { start: Number(token[1]) }); top.append(node); open.push(node); }
    else if (token[0] === "c") top.append(el("code", {}, token[1]));
    else if (token[0] === "p") top.append(codeBlock(token[2], token[1]));
  }
  return root;
}

const STARTS = { li: "- ", blockquote: "> ", h3: "# ", h4: "## ", h5: "### ", h6: "#### ", th: "| ", td: "| ", strong: "**", em: "*", del: "~~", a: "[" };
const ENDS = { strong: "**", em: "*", del: "~~", th: " ", td: " " };

// The text of prose as Markdown, for searching and copying.
function proseText(tokens) {
  if (typeof tokens === "string") return tokens;
  let text = "";
  const open = [];
  for (const token of Array.isArray(tokens) ? tokens : []) {
    const tag = token > 0 ? TAGS[token - 1] : { a: "a", o: "ol" }[token[0]];
    if (typeof token === "string") text += token;
    else if (tag) {
      open.push([tag, token[1]]);
      text += STARTS[tag] ?? "";
    } else if (token === 0) {
      const [closed, url] = open.pop() ?? [];
      text += closed === "a" ? `](${url})` : ENDS[closed] ?? "\n";
    } else if (Array.isArray(token)) text += token[0] === "p" ? `\`\`\`${token[1]}\n${token[2]}\`\`\`\n` : `\`${token[1]}\``;
    else text += { "-2": "---\n", "-3": "[ ] ", "-4": "[x] " }[token] ?? "\n";
  }
  return text.replace(/\n{3,}/g, "\n\n").trim();
}

// An image that opens in full size; `said` tells where it comes from.
function image(type, data, said) {
  if (!/^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type) || typeof data !== "string" || !/^[A-Za-z0-9+/=]*$/.test(data)) {
    return el("p", { class: "remark" }, "an image that cannot be shown: ", textOf(type));
  }
  const alt = `${type.slice(6).toUpperCase()} image, ${count(data.length * 0.75)}B${said ? `, of: ${said}` : ""}`;
  const picture = el("img", { class: "picture", alt, src: `data:${type};base64,${data}` });
  const enlarge = () => {
    Object.assign(byId("light-image"), { src: picture.src, alt });
    byId("light").showModal();
  };
  return el("button", { type: "button", class: "picture-frame", title: "Show in full size", on: { click: enlarge } }, picture);
}

// A button that copies what `text` returns.
function copyButton(text, what) {
  const button = el("button", { type: "button", class: "copy", title: `Copy ${what}`, "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Cannot copy";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}

// A time to the second, as the rest of the page writes it: `2025-12-09 14:02:31 UTC`.
function fullTime(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function timeNode(time, name) {
  return el("time", { class: name, title: fullTime(time) }, fullTime(time).slice(0, 16));
}

function count(number) {
  const value = Number(number) || 0;
  if (value < 1000) return String(value);
  if (value < 999_500) return `${(value / 1e3).toFixed(value < 9_950 ? 1 : 0)}k`;
  return `${(value / 1e6).toFixed(1)}M`;
}

function dollars(number) {
  const value = Number(number) || 0;
  if (value > 0 && value < 0.0005) return "<$0.001";
  return `$${value.toFixed(value > 0 && value < 0.01 ? 3 : 2)}`;
}

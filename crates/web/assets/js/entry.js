// Entries: one function per kind turns what an entry says into nodes. `shape.js` reads what is drawn here.

const SHOWN_LINES = { bash: 12, read: 12, write: 14, edit: 60, ls: 20, find: 20, grep: 20 };

// Draws an entry. `results` holds the results of its calls: place and body by the id of the call.
function drawEntry(at, body, results) {
  const draw = DRAW[body?.k] ?? drawOther;
  const node = draw(at, body ?? {}, results ?? new Map());
  node.id = `e${at}`;
  node.dataset.at = at;
  return node;
}

function speaker(at, name, ...more) {
  const label = model.labels.get(at);
  return el("header", {},
    el("b", {}, name),
    label && el("span", { class: "label", title: `labelled ${fullTime(label.time)}` }, label.text,
      el("time", { class: "label-time" }, shortTime(label.time))),
    ...more,
    el("a", { class: "anchor", href: `#${encodeURIComponent(model.ids[at])}`, title: "Link to this entry" }, "#"),
    el("time", { title: fullTime(model.time[at]) }, shortTime(model.time[at])));
}

function entryCard(kind, ...children) {
  return el("article", { class: `entry ${kind}` }, ...children);
}

function drawBlocks(blocks, results) {
  return (Array.isArray(blocks) ? blocks : []).map((block) => {
    if (block.t !== undefined) return prose(block.t);
    if (block.h !== undefined) return thinking(block.h);
    if (block.p !== undefined) return el("pre", { class: "plain" }, textOf(block.p));
    if (block.c !== undefined) return toolCard(block, results?.get(block.c));
    if (block.i !== undefined) return image(block.i, block.d);
    return foldable("other block", el("pre", {}, textOf(block.o)));
  });
}

function thinking(tokens) {
  const details = foldable("Thinking", prose(tokens));
  details.className = "thinking";
  details.open = settings.thinking && proseText(tokens).length < 600;
  return details;
}

function foldable(title, ...children) {
  return el("details", {}, el("summary", {}, title), ...children);
}

const DRAW = {
  user: (at, body) => entryCard("user", speaker(at, "You"), drawBlocks(body.b)),

  assistant(at, body, results) {
    const usage = body.u;
    const spent = usage?.total > 0 && el("small", { class: "spent",
      title: `${count(usage.input)} in, ${count(usage.output)} out, ${count(usage.read)} read from cache, ${count(usage.written)} written to cache` },
      `${count(usage.total)} tokens`, usage.cost > 0 && ` · ${dollars(usage.cost)}`);
    const stop = textOf(body.stop);
    const error = body.error !== undefined && body.error !== null;
    return entryCard("assistant",
      speaker(at, textOf(body.n) || "assistant", spent),
      drawBlocks(body.b, results),
      error && el("p", { class: "failure" }, textOf(body.error)),
      !error && stop === "error" && el("p", { class: "failure" }, "the answer failed"),
      stop === "aborted" && el("p", { class: "failure soft" }, "aborted"),
      stop === "length" && el("p", { class: "failure soft" }, "cut off at the length limit"));
  },

  result: (at, body) => entryCard("tool", speaker(at, "tool"), toolCard({ n: body.n }, { at, body })),

  bash(at, body) {
    const code = body.code === undefined || body.code === null ? "" : textOf(body.code);
    const failed = code !== "" && code !== "0";
    return entryCard("tool", speaker(at, "You ran"), toolFrame(failed, "$", textOf(body.n), failed && `exit ${code}`,
      body.p !== undefined && outputBlock(textOf(body.p), "bash")));
  },

  custom(at, body) {
    const card = entryCard("custom", speaker(at, textOf(body.n) || "extension"), drawBlocks(body.b), origin(at),
      body.j !== undefined && foldable("details", el("pre", {}, textOf(body.j))));
    return body.hidden ? el("article", { class: "entry custom quiet" }, foldable(`hidden message: ${textOf(body.n)}`, card)) : card;
  },

  system(at, body) {
    const text = typeof body.p === "string" ? body.p : textOf(body.p);
    const tools = (Array.isArray(body.tools) ? body.tools : []).map(textOf).join(", ");
    return entryCard("system", foldable(el("span", {}, "System prompt", tools && ` · tools: ${tools}`),
      el("pre", { class: "plain" }, text)));
  },

  compaction(at, body) {
    const from = model.byId.get(body.from);
    return entryCard("compaction",
      speaker(at, "Compaction", el("small", {}, `${count(body.tokens)} tokens became this summary`)),
      el("p", { class: "remark" }, "From here on the model got this summary instead of the messages above",
        from !== undefined ? [", except those ", el("a", { href: hashOf(from) }, "from here on"), "."] : "."),
      foldable("Summary", prose(body.t)));
  },

  summary(at, body) {
    const source = model.sources.get(at);
    const name = source?.kind === "merge" ? "Merged from another branch" : "What the other branch did";
    return entryCard(`summary ${source?.kind ?? ""}`, speaker(at, name), prose(body.t), origin(at));
  },

  model: (at, body) => note(at, "model", `Model: ${textOf(body.p) ? `${textOf(body.p)}/` : ""}${textOf(body.n)}`),
  level: (at, body) => note(at, "level", `Thinking: ${textOf(body.n) || "off"}`),
  title: (at, body) => note(at, "title", `Named “${textOf(body.n)}”`),
  label: (at, body) => note(at, "label-note quiet", body.n ? `Labelled “${textOf(body.n)}”` : "Label removed"),
  state: (at, body) => note(at, "state quiet", `State of ${textOf(body.n)}`, textOf(body.j)),
  damaged: (at) => note(at, "failure", "A damaged line stands here in the file; it cannot be read."),

  edit(at, body) {
    const target = model.byId.get(body.to);
    const what = body.omit ? "left out of the context" : "changed in the context";
    return note(at, "edit", [target === undefined ? textOf(body.to) : el("a", { href: hashOf(target) }, "An entry above"), ` was ${what}`]);
  },
};

function drawOther(at, body) {
  return note(at, "other", `[${textOf(body.n)}]`, textOf(body.j));
}

function note(at, kind, said, more) {
  return el("article", { class: `entry note ${kind}` }, more ? foldable(said, el("pre", {}, more)) : el("span", {}, said),
    el("time", {}, shortTime(model.time[at])));
}

// Where an entry came from: a dashed link to the other branch.
function origin(at) {
  const source = model.sources.get(at);
  if (!source) return undefined;
  const words = { merge: "merged from", pick: "picked from", summary: "about" };
  return el("a", { class: "origin", href: hashOf(source.source) }, `⇠ ${words[source.kind] ?? "from"} “${branchName(source.source)}”`);
}

// A call of a tool with what it returned.
function toolCard(call, result) {
  const name = textOf(call.n) || textOf(result?.body.n) || "tool";
  const args = call.a && typeof call.a === "object" ? call.a : {};
  const failed = Boolean(result?.body.x);
  const frame = toolFrame(failed, name, toolTitle(name, args, call.a, result),
    failed ? "failed" : result ? undefined : call.c !== undefined && "no result", toolBody(name, args, result));
  if (result) {
    frame.id = `e${result.at}`;
    frame.dataset.at = result.at;
  }
  return frame;
}

function toolFrame(failed, name, title, state, ...content) {
  return el("div", { class: `tool-card${failed ? " failed" : ""}` },
    el("div", { class: "tool-head" }, el("b", {}, name), el("code", {}, title), state && el("em", {}, state)),
    ...content);
}

function toolTitle(name, args, raw, result) {
  const path = textOf(args.path ?? args.file_path);
  if (name === "bash" && args.command !== undefined) return textOf(args.command);
  if (name === "read" && path) return path + (args.offset ? `:${textOf(args.offset)}` : "");
  if (path && /^(write|edit|ls)$/.test(name)) return path;
  if (args.pattern !== undefined) return `${textOf(args.pattern)}${path ? ` in ${path}` : ""}`;
  if (raw === undefined) return result ? model.text[result.at].replace(/^\[|\]$/g, "").replace(`${name}: `, "") : "";
  return Object.keys(args).length > 0 || typeof raw === "string" ? briefly(raw) : "";
}

function toolBody(name, args, result) {
  const parts = [];
  const path = args.path ?? args.file_path;
  if (name === "write" && args.content !== undefined) {
    parts.push(clipped(textOf(args.content), SHOWN_LINES.write, languageOf(path)));
  }
  const diff = result?.body.d ?? diffOf(args);
  if (diff && !result?.body.x) parts.push(diffBlock(diff));
  const isKnown = /^(bash|read|write|edit|ls|find|grep)$/.test(name);
  if (!isKnown && Object.keys(args).length > 0) parts.push(foldable("arguments", el("pre", {}, textOf(args))));
  for (const block of result?.body.b ?? []) {
    if (block.p === undefined) parts.push(...drawBlocks([block]));
    else if (textOf(block.p) && !(diff && !result.body.x)) {
      parts.push(outputBlock(textOf(block.p), name, name === "read" ? languageOf(path) : ""));
    }
  }
  return parts;
}

function outputBlock(text, name, language = "") {
  return clipped(text, SHOWN_LINES[name] ?? 12, language);
}

// An edit without a recorded difference: what was taken out, and what was put in.
function diffOf(args) {
  const edits = Array.isArray(args.edits) ? args.edits : args.oldText !== undefined ? [args] : [];
  const lines = (mark, text) => textOf(text).split("\n").map((line) => mark + line);
  return edits.flatMap((edit) => [...lines("-", edit?.oldText), ...lines("+", edit?.newText)]).join("\n");
}

// A long text shows its first lines; the rest opens.
function clipped(text, limit, language) {
  const clean = withoutEscapes(text).replace(/\s+$/, "");
  const lines = clean.split("\n", limit + 1);
  const isLong = lines.length > limit || clean.length > 6000;
  const head = lines.slice(0, limit).join("\n").slice(0, 6000);
  const pre = el("pre", { class: "out", tabindex: 0 });
  const fill = (all) => pre.replaceChildren(...coloured(all ? clean : head, language));
  fill(!isLong || settings.output);
  if (!isLong) return pre;
  const total = clean.split("\n").length;
  const button = el("button", { type: "button", class: "more" });
  const label = () => { button.textContent = pre.dataset.open ? "show less" : `show all ${total > limit ? `${total} lines` : ""}`; };
  if (settings.output) pre.dataset.open = "1";
  label();
  button.addEventListener("click", () => {
    if (pre.dataset.open) delete pre.dataset.open; else pre.dataset.open = "1";
    fill(pre.dataset.open);
    label();
  });
  return el("div", { class: "clip" }, pre, button);
}

// Terminal colours mean nothing here.
function withoutEscapes(text) {
  return text.includes("\u001b") ? text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, "") : text;
}

// All text of an entry, for searching.
function searchText(body) {
  if (!body) return "";
  const pieces = [];
  for (const block of Array.isArray(body.b) ? body.b : []) {
    if (block.i !== undefined) continue;
    pieces.push(proseText(block.t ?? block.h), textOf(block.p), textOf(block.n), textOf(block.a), textOf(block.o));
  }
  if (body.t !== undefined) pieces.push(proseText(body.t));
  for (const key of ["n", "p", "d", "error", "j", "tools"]) if (body[key] !== undefined) pieces.push(textOf(body[key]));
  return pieces.filter(Boolean).join("\n");
}

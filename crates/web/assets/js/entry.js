// Entries: one function per kind turns what an entry says into nodes. `shape.js` reads what is drawn here.

const SHOWN_LINES = { bash: 12, read: 12, write: 14, edit: 60, ls: 20, find: 20, grep: 20 };

const WHO = { u: "You", a: "Answer", e: "Error", t: "Tool", c: "Extension", k: "Compaction", s: "Summary" };

// Draws an entry. `results` holds the results of its calls: place and body by the id of the call.
function drawEntry(at, body, results) {
  const draw = DRAW[body?.k] ?? drawOther;
  const node = draw(at, body ?? {}, results ?? new Map());
  node.id = `e${at}`;
  node.dataset.at = at;
  node.setAttribute("aria-label", `${WHO[model.style[at]] ?? "Entry"}: ${plainRow(at)}`);
  return node;
}

function speaker(at, name, ...more) {
  const label = model.labels.get(at);
  return el("header", {},
    el("b", {}, name),
    label && el("span", { class: "label", title: `labelled ${fullTime(label.time)}` }, label.text),
    ...more,
    el("span", { class: "acts" },
      copyButton(() => messageText(bodies.at(at)), "this message"),
      el("a", { class: "anchor", href: hashOf(at), title: "Link to this entry", "aria-label": "Link to this entry" }, "#")),
    timeNode(model.time[at]));
}

function messageText(body) {
  return body.k === "system" ? systemText(body) : searchTexts(body).map(({ text }) => text).join("\n\n");
}

function entryCard(kind, ...children) {
  return el("article", { class: `entry ${kind}` }, ...children);
}

function drawBlocks(at, blocks, results) {
  return (Array.isArray(blocks) ? blocks : []).map((block) => {
    if (block.t !== undefined) return prose(block.t);
    if (block.h !== undefined) return thinking(block.h);
    if (block.p !== undefined) return el("pre", { class: "plain" }, textOf(block.p));
    if (block.c !== undefined) return toolCard(block, results?.get(block.c));
    if (block.i !== undefined) return image(block.i, block.d, plainRow(at));
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
  user: (at, body) => entryCard("user", speaker(at, "You"), drawBlocks(at, body.b)),

  assistant(at, body, results) {
    const usage = body.u;
    const spent = usage?.total > 0 && el("small", { class: "spent",
      title: `${count(usage.input)} in, ${count(usage.output)} out, ${count(usage.read)} read from cache, ${count(usage.written)} written to cache` },
      `${count(usage.total)} tokens`, usage.cost > 0 && ` · ${dollars(usage.cost)}`);
    const stop = textOf(body.stop);
    const error = body.error !== undefined && body.error !== null;
    return entryCard("assistant",
      speaker(at, textOf(body.n) || "assistant", spent),
      drawBlocks(at, body.b, results),
      error && el("p", { class: "failure" }, textOf(body.error)),
      !error && stop === "error" && el("p", { class: "failure" }, "the answer failed"),
      !error && stop === "aborted" && el("p", { class: "failure soft" }, "aborted"),
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
    const card = entryCard("custom", speaker(at, textOf(body.n) || "extension"), drawBlocks(at, body.b), origin(at),
      body.j !== undefined && foldable("details", el("pre", {}, textOf(body.j))));
    return body.hidden ? el("article", { class: "entry custom quiet" }, foldable(`hidden message: ${textOf(body.n)}`, card)) : card;
  },

  system(at, body) {
    const tools = Array.isArray(body.tools) ? body.tools : [];
    const gone = (Array.isArray(body.gone) ? body.gone : []).map((tool) => textOf(tool?.name ?? tool)).join(", ");
    return entryCard("system", speaker(at, "System"),
      foldable("System prompt", el("pre", { class: "plain" }, systemText(body))),
      tools.length > 0 && foldable(`${tools.length} ${tools.length === 1 ? "tool" : "tools"}: ${tools.map((tool) => textOf(tool?.n)).join(", ")}`,
        el("dl", {}, tools.flatMap((tool) => [el("dt", {}, el("code", {}, textOf(tool?.n))), el("dd", {}, textOf(tool?.d))]))),
      gone && el("p", { class: "remark" }, `Tools taken away: ${gone}`));
  },

  compaction(at, body) {
    const from = model.byId.get(body.from);
    return entryCard("compaction",
      speaker(at, "Compaction", el("small", {}, `${count(body.tokens)} tokens became this summary`)),
      el("p", { class: "remark" }, "From here on the model got this summary instead of the messages above",
        from !== undefined ? [", except those ", el("a", { href: hashOf(from) }, "from here on"), "."] : "."),
      foldable("Summary", prose(body.t)), filesOf(body));
  },

  summary(at, body) {
    const source = model.sources.get(at);
    const name = source?.kind === "merge" ? "Merged from another branch" : "What the other branch did";
    return entryCard(`summary ${source?.kind ?? ""}`, speaker(at, name), prose(body.t), filesOf(body), origin(at));
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
    timeNode(model.time[at]));
}

function filesOf(body) {
  const files = (Array.isArray(body.f) ? body.f : []).map(textOf);
  return files.length > 0 && foldable(`${files.length} ${files.length === 1 ? "file" : "files"}`, el("pre", { class: "plain" }, files.join("\n")));
}

// The text of a system message with its sections.
function systemText(body) {
  const sections = Object.entries(body.sections && typeof body.sections === "object" ? body.sections : {});
  const parts = [typeof body.p === "string" ? body.p : (Array.isArray(body.p) ? body.p : []).map((block) => textOf(block?.text)).join("\n")];
  return [...parts, ...sections.map(([name, text]) => `[${name}]\n${textOf(text)}`)].filter(Boolean).join("\n\n");
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
    if (block.p === undefined) parts.push(...drawBlocks(result.at, [block]));
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

// A long text shows its first lines; the rest opens, at once if what is searched for is in it.
function clipped(text, limit, language) {
  const clean = withoutEscapes(text).replace(/\s+$/, "");
  const lines = clean.split("\n");
  const head = lines.slice(0, limit).join("\n").slice(0, 6000);
  const isLong = head.length < clean.length;
  const pre = el("pre", { class: "out", tabindex: 0 });
  const frame = el("div", { class: "clip" }, copyButton(() => clean, "this output"), pre);
  const hidesHit = () => search.marks !== undefined && clean.slice(head.length).search(search.marks) >= 0;
  let isOpen = !isLong || settings.output || hidesHit();
  const more = isLong && el("button", { type: "button", class: "more" });
  const fill = () => {
    pre.replaceChildren(...coloured(isOpen ? clean : head, language));
    if (search.marks) markIn(pre, search.marks);
    if (!isLong) return;
    const left = lines.length > limit ? `${lines.length - limit} more lines` : `${clean.length - head.length} more characters`;
    more.textContent = isOpen ? "Show less" : `Show ${left}`;
    if (isOpen) delete frame.dataset.cut; else frame.dataset.cut = `… ${left}, not printed`;
  };
  fill();
  if (isLong) {
    more.addEventListener("click", () => { isOpen = !isOpen; fill(); });
    frame.showHit = () => {
      isOpen ||= hidesHit();
      fill();
    };
    frame.append(more);
  }
  return frame;
}

// Terminal colours mean nothing here.
function withoutEscapes(text) {
  return text.includes("\u001b") ? text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, "") : text;
}

// The texts of an entry that a search looks at, the same as in the terminal, each with its place: text, tool or file.
function searchTexts(body) {
  const found = [];
  const add = (text, place = "text") => { if (typeof text === "string" && text !== "") found.push({ text, place }); };
  const addStrings = (value, key) => {
    if (typeof value === "string") add(value, /^(path|file_path|paths|files)$/.test(key) ? "file" : "text");
    else if (Array.isArray(value)) value.forEach((item) => addStrings(item, key));
    else if (value && typeof value === "object") Object.entries(value).forEach(([name, item]) => addStrings(item, name));
  };
  const addBlocks = (blocks) => {
    if (typeof blocks === "string") add(blocks);
    for (const block of Array.isArray(blocks) ? blocks : []) {
      if (block?.t !== undefined) add(proseText(block.t));
      add(block?.p ?? block?.text);
      if (block?.c !== undefined) add(textOf(block.n), "tool");
      if (block?.c !== undefined) addStrings(block.a);
    }
  };
  switch (body?.k) {
    case "result": add(body.n, "tool"); break;
    case "assistant": add(body.error); break;
    case "system": addBlocks(body.p); break;
    case "other": {
      const message = body.j?.message ?? body.j;
      for (const key of ["errorMessage", "command", "output", "customType", "kind", "mode"]) add(message?.[key]);
      add(body.j?.type);
      addBlocks(message?.content);
      break;
    }
    case "bash": case "custom": case "model": case "level": case "title": case "label": case "state":
      add(body.n);
      add(body.p);
      break;
    default:
  }
  addBlocks(body?.b);
  if (body?.t !== undefined) add(proseText(body.t));
  for (const file of Array.isArray(body?.f) ? body.f : []) add(file, "file");
  return found;
}

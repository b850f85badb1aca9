// Search: the queries of the terminal, in the full text of every entry, part by part so that the page never waits.

const MOST_HITS = 400;
const AROUND = 60;
const FIELDS = /^(-?)(?:(role|tool|file|label|before|after):(?=\S))?(?:"([^"]*)"?|(\S+))/;
const ROLES = {
  user: "user", assistant: "assistant", result: "toolresult", bash: "bashexecution", system: "system", compaction: "compaction",
  summary: "branch summary", model: "model", level: "thinking", title: "title", label: "label", state: "custom",
  custom: "custom_message", edit: "context",
};
const OTHER_ROLES = {
  custom: "custom", hookMessage: "custom", branchSummary: "branch summary", compactionSummary: "compaction summary",
  fileMention: "filemention", usage: "usage", model_usage: "usage", mode_change: "mode",
};
const ALIASES = {
  result: "toolresult", tools: "toolresult", summary: "branch summary", branch_summary: "branch summary", shell: "bashexecution",
  command: "bashexecution", me: "user", prompt: "user", model: "assistant", answer: "assistant",
};

const search = {
  text: "",
  marks: undefined,
  run: 0,
  hits: [],
  at: -1,
  opened: -1,

  async start(text) {
    const run = ++this.run;
    this.text = text.trim();
    this.hits = [];
    this.at = this.opened = -1;
    const { terms, wrong } = parseQuery(this.text);
    this.mark(marksOf(terms));
    byId("tree").hidden = this.text !== "";
    byId("hits").hidden = this.text === "";
    byId("hit-list").replaceChildren();
    if (this.text === "") {
      tree.refresh();
      return tree.mark(log.target ?? log.tip);
    }
    if (wrong) return setStatus(wrong);
    for (let index = 0; index < bodies.parts.length; index++) {
      for (const hit of this.inPart(index, terms)) {
        this.hits.push(hit.at);
        if (this.hits.length <= MOST_HITS) byId("hit-list").append(hitRow(hit));
      }
      const found = this.hits.length;
      const share = Math.round(((index + 1) / bodies.parts.length) * 100);
      setStatus(`${found} ${found === 1 ? "hit" : "hits"}${found > MOST_HITS ? `, the first ${MOST_HITS} listed` : ""}${share < 100 ? ` · ${share} %` : ""}`);
      if (index === 0 || index % 4 === 3) await new Promise((resolve) => setTimeout(resolve));
      if (run !== this.run) return undefined;
    }
    return undefined;
  },

  inPart(index, terms) {
    const part = bodies.part(index);
    const start = bodies.starts[index];
    // Words that JSON spells as they are can be looked for in the lines, before any of them is parsed.
    const plain = terms.filter((term) => !term.negated && term.field === undefined && /^[a-z0-9]+$/.test(term.text)
      && !Object.values({ ...ROLES, ...OTHER_ROLES }).some((role) => role.includes(term.text)));
    const hits = [];
    part.lines.forEach((line, i) => {
      const at = start + i;
      const call = model.style[at] === "t" ? answerAbove(at) : -1;
      const raw = `${line}\n${call >= 0 ? bodies.line(call) : ""}\n${model.labels.get(at)?.text ?? ""}\n${model.ids[at]}`.toLowerCase();
      if (!plain.every((term) => raw.includes(term.text))) return;
      const texts = textsAt(at, part.body(i), call);
      if (terms.every((term) => holds(at, part.body(i), texts, term) !== term.negated)) hits.push({ at, texts });
    });
    return hits;
  },

  // Marks what is searched for in the conversation.
  mark(marks) {
    if (String(marks) === String(this.marks)) return;
    this.marks = marks;
    const shown = byId("log");
    for (const old of shown.querySelectorAll("mark")) old.replaceWith(old.textContent);
    shown.normalize();
    if (marks) markIn(shown, marks);
  },

  // Selects the next or the previous hit.
  select(step) {
    if (this.hits.length === 0) return;
    const rows = byId("hit-list").children;
    rows[this.at]?.firstChild.removeAttribute("aria-current");
    this.at = (this.at + step + this.hits.length) % this.hits.length;
    rows[this.at]?.firstChild.setAttribute("aria-current", "true");
    rows[this.at]?.scrollIntoView({ block: "nearest" });
    setStatus(`hit ${this.at + 1} of ${this.hits.length}`);
  },

  // Shows the selected hit, or the next one if it is shown already.
  next(step) {
    if (this.at < 0 || this.opened === this.at) this.select(this.at < 0 && step < 0 ? 0 : step);
    this.opened = this.at;
    if (this.at >= 0) go(this.hits[this.at]);
  },

  onKey(event) {
    const keys = { ArrowDown: () => this.select(1), ArrowUp: () => this.select(-1), Enter: () => this.next(event.shiftKey ? -1 : 1) };
    if (!keys[event.key]) return;
    event.preventDefault();
    if (byId("query").value.trim() !== this.text) this.start(byId("query").value);
    keys[event.key]();
  },
};

// The answer that a result belongs to, -1 if none stands near.
function answerAbove(at) {
  for (let up = model.up[at], left = REACH; up >= 0 && left > 0; up = model.up[up], left--) {
    if (model.style[up] !== "t") return bodies.at(up)?.k === "assistant" ? up : -1;
  }
  return -1;
}

// The texts of an entry; a result is found by its call, too.
function textsAt(at, body, answer) {
  const texts = searchTexts(body);
  if (body?.k !== "result" || answer < 0) return texts;
  const call = (bodies.at(answer).b ?? []).find((block) => block.c === body.c);
  return call ? [...searchTexts({ b: [call] }), ...texts] : texts;
}

// Reads a query: words, "phrases", -without, role:, tool:, file:, label:, before:, after:, and re: with all that follows.
function parseQuery(text) {
  const terms = [];
  for (let rest = text; rest !== "";) {
    const pattern = /^(-?)re:(\S.*)$/.exec(rest);
    const [whole, minus, field, phrase, word] = pattern ? [rest, pattern[1], "re", pattern[2].trimEnd()] : FIELDS.exec(rest);
    const term = { field, negated: minus !== "", text: (phrase ?? word).toLowerCase() };
    if (field === "re") {
      try {
        term.pattern = new RegExp(phrase, "i");
      } catch (error) {
        return { terms: [], wrong: `${whole}: ${error.message}` };
      }
    } else if (field === "before" || field === "after") {
      const time = phrase ?? word;
      term.time = Date.parse(/[tT ]\d\d:\d\d[^zZ+]*$/.test(time) ? `${time}Z` : time);
      if (!/^\d{4}-/.test(time) || Number.isNaN(term.time)) return { terms: [], wrong: `${whole}: not a date such as 2025-01-31` };
    }
    if (term.text !== "") terms.push(term);
    rest = rest.slice(whole.length).trimStart();
  }
  return { terms };
}

function holds(at, body, texts, term) {
  const label = model.labels.get(at)?.text.toLowerCase();
  const role = ROLES[body?.k] ?? OTHER_ROLES[body?.n] ?? "";
  const isIn = (place) => texts.some((one) => (!place || one.place === place) && one.text.toLowerCase().includes(term.text));
  switch (term.field) {
    case "role": return role.startsWith(term.text) || ALIASES[term.text] === role;
    case "label": return Boolean(label?.includes(term.text));
    case "before": return model.time[at] < term.time;
    case "after": return model.time[at] >= term.time;
    case "re": return texts.some(({ text }) => term.pattern.test(text)) || (label !== undefined && term.pattern.test(label));
    case "tool": case "file": return isIn(term.field);
    default: return isIn() || role.includes(term.text) || Boolean(label?.includes(term.text))
      || (/^[0-9a-f-]{4,}$/.test(term.text) && model.ids[at].toLowerCase().startsWith(term.text));
  }
}

// One expression that finds all that a query looks for; undefined if it looks for no text.
function marksOf(terms) {
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const sources = terms.filter((term) => !term.negated && (term.pattern || [undefined, "tool", "file"].includes(term.field)))
    .map((term) => (term.pattern ? term.pattern.source : escaped(term.text)));
  return sources.length > 0 ? new RegExp(sources.join("|"), "gi") : undefined;
}

// Marks hits in all text below a node.
function markIn(root, marks) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (walker.currentNode.data.search(marks) >= 0 && !walker.currentNode.parentNode.closest("button, mark")) found.push(walker.currentNode);
  for (const node of found) node.replaceWith(...marked(node.data, marks));
}

// A text with its hits marked.
function marked(text, marks) {
  const pieces = [];
  let done = 0;
  for (const match of text.matchAll(marks)) {
    if (match[0] === "") continue;
    pieces.push(text.slice(done, match.index), el("mark", {}, match[0]));
    done = match.index + match[0].length;
  }
  pieces.push(text.slice(done));
  return pieces;
}

function hitRow({ at, texts }) {
  return el("li", {}, el("a", { href: hashOf(at), class: `hit s-${model.style[at]}`, "data-at": at },
    el("b", {}, WHO[model.style[at]] ?? "Entry", model.flag[at] & ON_PATH ? "" : " · other branch", " · ", fullTime(model.time[at]).slice(0, 16)),
    el("span", {}, search.marks ? marked(snippet(at, texts), search.marks) : snippet(at, texts))));
}

// The text around the first hit.
function snippet(at, texts) {
  const first = texts.find(({ text }) => search.marks && text.search(search.marks) >= 0) ?? texts[0];
  const text = first?.text ?? plainRow(at);
  const place = search.marks ? Math.max(0, text.search(search.marks)) : 0;
  const from = Math.max(0, place - AROUND);
  return `${from > 0 ? "…" : ""}${text.slice(from, from + 3 * AROUND).replace(/\s+/g, " ")}${text.length > from + 3 * AROUND ? "…" : ""}`;
}

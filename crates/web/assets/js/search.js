// Search: the full text of every entry, part by part, so that the page never waits for it.

const MOST_HITS = 400;
const AROUND = 60;

const search = {
  query: "",
  run: 0,

  async start(text) {
    const run = ++this.run;
    this.query = text.trim();
    const words = wordsOf(this.query);
    byId("tree").hidden = words.length > 0;
    byId("hits").hidden = words.length === 0;
    byId("hit-list").replaceChildren();
    if (words.length === 0) return tree.refresh();
    let found = 0;
    for (let index = 0; index < bodies.parts.length; index++) {
      const hits = await this.inPart(index, words);
      if (run !== this.run) return;
      const room = Math.max(0, MOST_HITS - found);
      byId("hit-list").append(...hits.slice(0, room).map((hit) => hitRow(hit, words)));
      found += hits.length;
      const share = Math.round(((index + 1) / bodies.parts.length) * 100);
      setStatus(`${found} ${found === 1 ? "hit" : "hits"}${found > MOST_HITS ? `, the first ${MOST_HITS} shown` : ""}${share < 100 ? ` · ${share} %` : ""}`);
      if (index % 4 === 3) await new Promise((resolve) => setTimeout(resolve));
      if (run !== this.run) return;
    }
  },

  async inPart(index, words) {
    const start = bodies.starts[index];
    const known = bodies.kept.has(index);
    const part = known ? await bodies.part(index) : new Part(await read(bodies.parts[index]));
    // Words without anything that JSON spells otherwise can be looked for in the JSON itself.
    const plain = words.filter((word) => /^[a-z0-9 ]+$/.test(word));
    const hits = [];
    part.lines.forEach((line, i) => {
      const at = start + i;
      const row = rowText(at).toLowerCase();
      const lower = line.toLowerCase();
      if (!plain.every((word) => lower.includes(word) || row.includes(word))) return;
      const text = searchText(part.body(i));
      const all = `${row}\n${text.toLowerCase()}`;
      if (words.every((word) => all.includes(word))) hits.push({ at, text: text || model.text[at] });
    });
    return hits;
  },
};

// What the row of an entry says, with its label and its id.
function rowText(at) {
  return `${model.text[at]}\n${model.labels.get(at)?.text ?? ""}\n${model.ids[at]}`;
}

// Words, and phrases in quotes; all of them have to be there.
function wordsOf(query) {
  return [...query.toLowerCase().matchAll(/"([^"]+)"|(\S+)/g)].map((match) => (match[1] ?? match[2]).replace(/"/g, "")).filter(Boolean);
}

function hitRow({ at, text }, words) {
  const names = { u: "You", a: "Answer", e: "Error", t: "Tool", c: "Extension", k: "Compaction", s: "Summary" };
  return el("li", {}, el("a", { href: hashOf(at), class: `hit s-${model.style[at]}`, "data-at": at },
    el("b", {}, names[model.style[at]] ?? "Entry", model.flag[at] & ON_PATH ? "" : " · other branch"),
    el("span", {}, marked(snippet(text, words), words))));
}

function snippet(text, words) {
  const flat = text.replace(/\s+/g, " ");
  const lower = flat.toLowerCase();
  const first = Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0));
  const from = Number.isFinite(first) ? Math.max(0, first - AROUND) : 0;
  return `${from > 0 ? "…" : ""}${flat.slice(from, from + 3 * AROUND)}${flat.length > from + 3 * AROUND ? "…" : ""}`;
}

// A text with its hits marked.
function marked(text, words) {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pieces = [];
  let done = 0;
  for (const match of text.matchAll(new RegExp(escaped.join("|"), "gi"))) {
    pieces.push(text.slice(done, match.index), el("mark", {}, match[0]));
    done = match.index + match[0].length;
  }
  pieces.push(text.slice(done));
  return pieces;
}

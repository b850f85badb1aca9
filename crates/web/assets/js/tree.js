// Tree: the rows of the outline that are on the screen. Which rows there are and how they hang together was decided by
// the program that wrote the page; folding hides rows that stand together.

// As high as the style says; fingers need more room than a mouse.
const ROW = matchMedia("(pointer: coarse)").matches ? 40 : 27;
// Levels that are drawn; what is deeper moves no further to the right.
const MOST_LEVELS = 5;
const MOST_ARCS = 24;

const tree = {
  name: "default",
  rows: [],
  shapes: [],
  heads: [],
  leafRow: -1,
  shown: [],
  folded: new Set(),
  cursor: -1,
  onPath: new Uint8Array(0),
  arcEnds: new Map(),

  open(name) {
    const view = JSON.parse(read(model.views.get(name)));
    this.name = name;
    this.shapes = view.shapes;
    this.leafRow = view.leaf ?? -1;
    let at = 0;
    this.rows = view.rows ? view.rows.map((step) => (at += step)) : view.shapes.map((_, row) => row);
    this.findHeads();
    this.refresh();
  },

  // For every row the connector that governs it, for every connector the one above it.
  findHeads() {
    const open = [];
    this.heads = new Int32Array(this.rows.length);
    this.above = new Int32Array(this.rows.length).fill(-1);
    this.shapes.forEach((shape, row) => {
      const level = shape >> 3;
      const connected = (shape & 6) !== 0;
      while (open.length > 0 && (this.shapes[open[open.length - 1]] >> 3) > (connected ? level - 1 : level)) open.pop();
      if (connected) {
        this.above[row] = open.length > 0 ? open[open.length - 1] : -1;
        open.push(row);
      }
      this.heads[row] = open.length > 0 ? open[open.length - 1] : -1;
    });
  },

  refresh() {
    this.shown = [];
    for (let row = 0; row < this.rows.length; row++) {
      this.shown.push(row);
      if (!this.folded.has(this.rows[row])) continue;
      const end = model.end[this.rows[row]];
      while (row + 1 < this.rows.length && this.rows[row + 1] < end) row++;
    }
    byId("rows").style.height = `${this.shown.length * ROW}px`;
    this.findGroups();
    this.findArcs();
    this.draw();
    if (!search.text) setStatus(`${this.rows.length} of ${model.size} entries`);
  },

  // For every row its level, its place among the rows of the same level below the same row, and how many these are.
  findGroups() {
    const size = this.shown.length;
    this.level = new Int32Array(size);
    this.place = new Int32Array(size);
    this.group = new Int32Array(size);
    this.counts = [];
    const open = [];
    this.shown.forEach((row, i) => {
      const indent = this.shapes[row] >> 3;
      while (open.length > 0 && open[open.length - 1].indent > indent) open.pop();
      if (open.length === 0 || open[open.length - 1].indent < indent) open.push({ indent, group: this.counts.push(0) - 1 });
      const { group } = open[open.length - 1];
      this.level[i] = open.length;
      this.group[i] = group;
      this.place[i] = ++this.counts[group];
    });
  },

  // Where arcs begin and end: between what was merged, picked or summarised and its source, as rows that are shown.
  findArcs() {
    this.arcEnds = new Map();
    if (model.sources.size === 0) return;
    const place = new Int32Array(model.size).fill(-1);
    this.shown.forEach((row, i) => { place[this.rows[row]] = i; });
    for (let at = 0; at < model.size; at++) if (place[at] < 0 && model.up[at] >= 0) place[at] = place[model.up[at]];
    const add = (one, other) => {
      if (!this.arcEnds.has(one)) this.arcEnds.set(one, []);
      this.arcEnds.get(one).push(other);
    };
    for (const [at, { source }] of model.sources) {
      const one = place[at], other = place[source];
      if (one < 0 || other < 0 || one === other) continue;
      add(one, other);
      add(other, one);
    }
  },

  draw() {
    const view = byId("tree");
    const from = Math.max(0, Math.floor(view.scrollTop / ROW) - 6);
    const to = Math.min(this.shown.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW) + 6);
    const nodes = [];
    for (let i = from; i < to; i++) nodes.push(this.row(i));
    byId("rows").replaceChildren(...nodes, ...this.arcs(from, to));
    const active = nodes.find((node) => node.dataset.row === String(this.cursor));
    if (active) view.setAttribute("aria-activedescendant", active.id); else view.removeAttribute("aria-activedescendant");
  },

  row(i) {
    const row = this.shown[i];
    const at = this.rows[row];
    const shape = this.shapes[row];
    const flags = model.flag[at];
    const isFolded = this.folded.has(at);
    const canFold = (shape & 1) !== 0;
    const node = el("div", {
      class: `row s-${model.style[at]}${flags & ON_PATH ? " on" : ""}${this.onPath[at] ? " here" : ""}${flags & IS_ERROR ? " bad" : ""}${row === this.cursor ? " cursor" : ""}`,
      id: `r${row}`, role: "treeitem", "data-row": row, "data-at": at,
      "aria-level": this.level[i], "aria-setsize": this.counts[this.group[i]], "aria-posinset": this.place[i],
      "aria-selected": row === this.cursor ? "true" : "false", "aria-expanded": canFold ? String(!isFolded) : undefined,
      title: model.text[at],
    }, this.gutters(row, shape, canFold, isFolded),
    el("i", { class: "dot", "aria-hidden": "true" }, flags & ON_PATH ? "●" : "○"),
    this.label(at), this.turn(at),
    model.sources.has(at) && el("span", { class: "graft", "aria-hidden": "true" }, "⇠"),
    el("span", { class: "said" }, plainRow(at) || "…"),
    (at === model.leaf || row === this.leafRow) && el("span", { class: "leaf" }, "◀ end"));
    node.style.top = `${i * ROW}px`;
    return node;
  },

  gutters(row, shape, canFold, isFolded) {
    const levels = shape >> 3;
    const connected = (shape & 6) !== 0;
    const skip = Math.max(0, levels - MOST_LEVELS);
    const cells = new Array(levels - skip).fill("");
    for (let head = connected ? this.above[row] : this.heads[row]; head >= 0; head = this.above[head]) {
      const level = (this.shapes[head] >> 3) - 1 - skip;
      if (level < 0) break;
      if ((this.shapes[head] & 6) === 2) cells[level] = "line";
    }
    if (connected && cells.length > 0) cells[cells.length - 1] = (shape & 6) === 2 ? "tee" : "corner";
    const nodes = cells.map((cell) => el("i", { class: `g ${cell}`, "aria-hidden": "true" }));
    if (skip > 0) nodes.unshift(el("i", { class: "deep", "aria-hidden": "true" }, `+${skip}`));
    if (canFold) nodes.push(el("i", { class: "fold", "aria-hidden": "true" }, isFolded ? "▸" : "▾"));
    return nodes;
  },

  label(at) {
    const label = model.labels.get(at);
    return label && el("span", { class: "label", title: `labelled ${fullTime(label.time)}` }, label.text,
      settings.times && timeNode(label.time));
  },

  turn(at) {
    const turn = this.name === "turns" ? model.turns.get(at) : undefined;
    if (!turn) return undefined;
    const words = [`${turn.replies} ${turn.replies === 1 ? "answer" : "answers"}`];
    if (turn.tools) words.push(`${turn.tools} tools`);
    if (turn.cost) words.push(dollars(turn.cost));
    return el("span", { class: "turn", title: words.join(", ") }, `${turn.number}`, turn.failed ? " ⚠" : "",
      turn.tools > 0 && el("small", {}, ` ${turn.tools}t`));
  },

  // Dashed brackets from the rows on the screen to the rows that belong to them, cut where the screen ends: a browser
  // takes seconds for one that is a million pixels long.
  arcs(from, to) {
    const nodes = [];
    for (let i = from; i < to; i++) {
      for (const other of this.arcEnds.get(i) ?? []) {
        if (nodes.length === MOST_ARCS) return nodes;
        if (other >= from && other < i) continue;
        const first = Math.max(from, Math.min(i, other)), last = Math.min(to, Math.max(i, other));
        const node = el("i", { class: `arc${first === Math.min(i, other) ? " top" : ""}${last === Math.max(i, other) ? " bottom" : ""}`,
          "aria-hidden": "true" });
        Object.assign(node.style, { top: `${(first + 0.5) * ROW}px`, height: `${(last - first) * ROW}px`,
          width: `${8 + (nodes.length % 6) * 3}px` });
        nodes.push(node);
      }
    }
    return nodes;
  },

  // Marks the path that the transcript shows.
  showPath(path) {
    this.onPath = new Uint8Array(model.size);
    for (const at of path) this.onPath[at] = 1;
    this.draw();
  },

  // Puts the cursor on an entry, or on the nearest one above it that has a row.
  mark(at) {
    this.cursor = this.rowOf(at);
    this.reveal();
  },

  rowOf(at) {
    for (let place = at; place >= 0; place = model.up[place]) {
      let low = 0, high = this.rows.length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        if (this.rows[middle] === place) return middle;
        if (this.rows[middle] < place) low = middle + 1; else high = middle - 1;
      }
    }
    return -1;
  },

  position() {
    let low = 0, high = this.shown.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.shown[middle] <= this.cursor) low = middle; else high = middle - 1;
    }
    return this.shown.length > 0 ? low : -1;
  },

  reveal() {
    const view = byId("tree");
    const y = this.position() * ROW;
    if (y < view.scrollTop + ROW) view.scrollTop = Math.max(0, y - 3 * ROW);
    else if (y > view.scrollTop + view.clientHeight - 2 * ROW) view.scrollTop = y - view.clientHeight + 4 * ROW;
    this.draw();
  },

  move(step) {
    const next = Math.min(this.shown.length - 1, Math.max(0, this.position() + step));
    this.cursor = this.shown[next] ?? -1;
    this.reveal();
  },

  // The previous or next branch at the nearest branch point at or above the cursor.
  sibling(step) {
    for (let head = this.heads[this.cursor] ?? -1; head >= 0; head = this.above[head]) {
      const found = this.beside(head, step);
      if (found >= 0) {
        this.cursor = found;
        return this.reveal();
      }
    }
  },

  beside(head, step) {
    const level = this.shapes[head] >> 3;
    for (let row = head + step; row >= 0 && row < this.rows.length; row += step) {
      const other = this.shapes[row] >> 3;
      const connected = (this.shapes[row] & 6) !== 0;
      if (connected && other === level && this.above[row] === this.above[head]) return row;
      if (other < level && connected) return -1;
      if (other < level - 1) return -1;
    }
    return -1;
  },

  fold(row, folds) {
    const at = this.rows[row];
    if (at === undefined || (this.shapes[row] & 1) === 0) return false;
    const before = this.folded.has(at);
    if (folds ?? !before) this.folded.add(at); else this.folded.delete(at);
    if (before === this.folded.has(at)) return false;
    this.refresh();
    return true;
  },

  // Folds all branches, or unfolds everything if something is folded.
  foldAll() {
    if (this.folded.size > 0) this.folded.clear();
    else this.shapes.forEach((shape, row) => { if ((shape & 1) !== 0 && (shape & 6) !== 0) this.folded.add(this.rows[row]); });
    this.refresh();
  },

  selected() {
    return this.rows[this.cursor];
  },
};

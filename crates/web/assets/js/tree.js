// Tree: the rows of the outline, as many as fit. Which rows there are and how they hang together was decided by the
// program that wrote the page; folding hides rows that stand together.

// As high as the style says; fingers need more room than a mouse.
const ROW = matchMedia("(pointer: coarse)").matches ? 40 : 27;
const LEVEL = 14;
const MOST_LEVELS = 14;

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
  curves: [],

  open(name) {
    const text = model.views.get(name);
    const view = typeof text === "string" ? JSON.parse(text) : text;
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
    byId("tree").setAttribute("aria-description", `${this.shown.length} rows`);
    this.findArcs();
    this.draw();
    if (!search.query) setStatus(`${this.rows.length} of ${model.size} entries`);
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
    const style = model.style[at];
    const flags = model.flag[at];
    const isLeaf = at === model.leaf;
    const isFolded = this.folded.has(at);
    const canFold = (shape & 1) !== 0;
    const here = this.onPath[at];
    const node = el("div", {
      class: `row s-${style}${flags & ON_PATH ? " on" : ""}${here ? " here" : ""}${flags & IS_ERROR ? " bad" : ""}${row === this.cursor ? " cursor" : ""}`,
      id: `r${row}`, role: "treeitem", "data-row": row, "data-at": at,
      "aria-level": (shape >> 3) + 1, "aria-setsize": this.shown.length, "aria-posinset": i + 1,
      "aria-selected": row === this.cursor ? "true" : "false", "aria-expanded": canFold ? String(!isFolded) : undefined,
      title: model.text[at],
    }, this.gutters(row, shape, canFold, isFolded),
    el("i", { class: "dot" }, flags & ON_PATH ? "●" : "○"),
    this.label(at), this.turn(at),
    model.sources.has(at) && el("span", { class: "graft" }, "⇠"),
    el("span", { class: "said" }, plainRow(at) || "…"),
    isLeaf || (row === this.leafRow) ? el("span", { class: "leaf" }, "◀ end") : undefined);
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
    const nodes = cells.map((cell) => el("i", { class: `g ${cell}` }));
    if (canFold) nodes.push(el("i", { class: "fold", "aria-hidden": "true" }, isFolded ? "▸" : "▾"));
    return nodes;
  },

  label(at) {
    const label = model.labels.get(at);
    if (!label) return undefined;
    return el("span", { class: "label", title: fullTime(label.time) }, label.text,
      settings.times && el("time", {}, shortTime(label.time)));
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

  // What was merged, picked or summarised, and where it came from, as rows that are shown.
  findArcs() {
    this.curves = [];
    if (model.sources.size === 0) return;
    const places = new Map(this.shown.map((row, i) => [this.rows[row], i]));
    const place = (at) => {
      while (at >= 0 && !places.has(at)) at = model.up[at];
      return places.get(at);
    };
    for (const [at, { source, kind }] of model.sources) {
      const one = place(at), other = place(source);
      if (one !== undefined && other !== undefined && one !== other) this.curves.push({ one, other, kind });
    }
  },

  // Dashed curves between the rows that belong together.
  arcs(from, to) {
    const seen = this.curves.filter(({ one, other }) => Math.max(one, other) >= from && Math.min(one, other) < to).slice(0, 40);
    if (seen.length === 0) return [];
    const NS = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("class", "arcs");
    svg.setAttribute("width", "32");
    svg.setAttribute("height", String(this.shown.length * ROW));
    for (const { one, other, kind } of seen) {
      const [y1, y2] = [one, other].map((row) => row * ROW + ROW / 2);
      const depth = 10 + Math.min(18, Math.abs(one - other));
      const path = document.createElementNS(NS, "path");
      path.setAttribute("d", `M 30 ${y1} C ${30 - depth} ${y1} ${30 - depth} ${y2} 30 ${y2}`);
      path.setAttribute("class", `arc ${kind}`);
      svg.append(path);
    }
    return [svg];
  },

  // Marks the path that the transcript shows.
  showPath(tip) {
    this.onPath = new Uint8Array(model.size);
    for (let at = tip; at >= 0; at = model.up[at]) this.onPath[at] = 1;
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

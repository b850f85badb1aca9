// Transcript: the path to the end of a branch. Only the part around the reader is in the page.

const FIRST = 50;
const STEP = 40;
const MOST = 360;
// How far the results of a call may stand from it.
const REACH = 48;
// Entries that go on paper; a line tells how many do not.
const MOST_PRINTED = 5000;

const log = {
  tip: -1,
  target: undefined,
  path: [],
  index: new Int32Array(0),
  low: 0,
  high: 0,

  // Shows the branch that ends in `tip`, around `target` if there is one, else from its beginning.
  show(tip, target) {
    this.target = target;
    if (tip !== this.tip || this.index.length === 0) {
      this.tip = tip;
      this.path = tip < 0 ? [] : pathTo(tip);
      this.index = new Int32Array(model.size).fill(-1);
      this.path.forEach((at, i) => { this.index[at] = i; });
      this.low = this.high = 0;
      drawCrumb(tip);
      tree.showPath(this.path);
    }
    const at = target === undefined ? 0 : Math.max(0, this.index[target]);
    if (!(this.low <= at && at < this.high)) {
      this.low = Math.max(0, at - 12);
      this.high = Math.min(this.path.length, this.low + FIRST);
      this.draw();
    }
    tree.mark(target ?? tip);
    if (target === undefined) window.scrollTo(0, 0); else this.point(target);
  },

  draw() {
    this.put(this.nodes(this.low, this.high));
  },

  put(nodes) {
    byId("log").replaceChildren(this.edge("before"), ...nodes, this.edge("after"));
    this.watch();
  },

  // The nodes of a piece of the path.
  nodes(low, high) {
    const from = Math.max(0, low - REACH), to = Math.min(this.path.length, high + REACH);
    const taken = new Set();
    for (let i = from; i < low; i++) this.resultsOf(i, to, taken);
    const nodes = [];
    const start = this.contextStart();
    for (let i = low; i < high; i++) {
      const at = this.path[i];
      const body = bodies.at(at);
      const results = this.resultsOf(i, to, taken);
      if (i === start && i > 0) nodes.push(el("div", { class: "context-line" }, "in the model's context from here on"));
      if (taken.has(at)) continue;
      const node = drawEntry(at, body, results);
      node.classList.toggle("past", i < start && body?.k !== "compaction");
      if (search.marks) markIn(node, search.marks);
      nodes.push(node);
      const fork = forkStrip(at, this.path[i + 1]);
      if (fork) nodes.push(fork);
    }
    if (high === this.path.length) nodes.push(endMark(this.tip));
    return nodes;
  },

  // Finds the results of the calls of an answer; they are shown with it.
  resultsOf(i, to, taken) {
    const results = new Map();
    const body = bodies.at(this.path[i]);
    const calls = new Set((body?.k === "assistant" && Array.isArray(body.b) ? body.b : [])
      .filter((block) => block.c !== undefined).map((block) => block.c));
    if (calls.size === 0) return results;
    for (let j = i + 1; j < Math.min(to, i + REACH); j++) {
      const next = bodies.at(this.path[j]);
      if (next?.k === "result" && calls.has(next.c) && !results.has(next.c)) {
        results.set(next.c, { at: this.path[j], body: next });
        taken.add(this.path[j]);
      } else if (next?.k === "assistant" || next?.k === "user") break;
    }
    return results;
  },

  contextStart() {
    const start = model.contexts.get(this.tip);
    return start === undefined ? 0 : Math.max(0, this.index[start]);
  },

  edge(where) {
    const left = where === "before" ? this.low : this.path.length - this.high;
    return el("button", { type: "button", class: "edge", "data-edge": where, hidden: left === 0,
      on: { click: () => this.extend(where) } }, `${left} more entries ${where === "before" ? "above" : "below"}`);
  },

  // Watches the ends of what is drawn; whoever comes near one sees more.
  watch() {
    this.watcher?.disconnect();
    this.watcher = new IntersectionObserver((seen) => {
      for (const edge of seen) if (edge.isIntersecting && !edge.target.hidden) this.extend(edge.target.dataset.edge);
    }, { rootMargin: "900px 0px" });
    for (const edge of byId("log").querySelectorAll(".edge")) this.watcher.observe(edge);
  },

  extend(where) {
    const up = where === "before";
    const from = up ? Math.max(0, this.low - STEP) : this.high;
    const to = up ? this.low : Math.min(this.path.length, this.high + STEP);
    if (from === to) return;
    const nodes = this.nodes(from, to);
    const inside = [...byId("log").children].filter((node) => !node.classList.contains("edge"));
    const fixed = up ? inside[0] : inside[inside.length - 1];
    const before = fixed?.getBoundingClientRect().top ?? 0;
    if (up) this.low = from; else this.high = to;
    const all = up ? [...nodes, ...inside] : [...inside, ...nodes];
    this.trim(all, up);
    this.put(all);
    const after = fixed?.isConnected ? fixed.getBoundingClientRect().top : before;
    if (Math.abs(after - before) > 1) window.scrollBy(0, after - before);
  },

  // Lets go of what is far away from the end that grows.
  trim(all, up) {
    while (this.high - this.low > MOST && all.length > MOST / 2) {
      const gone = up ? all.pop() : all.shift();
      const at = gone.dataset.at === undefined ? -1 : this.index[gone.dataset.at];
      if (at < 0) continue;
      if (up) this.high = at; else this.low = at + 1;
    }
    const first = all.find((node) => node.dataset.at !== undefined);
    if (!up && first && this.index[first.dataset.at] >= 0) this.low = this.index[first.dataset.at];
  },

  point(at) {
    const node = byId(`e${at}`) ?? byId(`e${this.path.findLast((above) => above <= at && byId(`e${above}`))}`);
    if (!node) return;
    for (const clip of node.querySelectorAll(".clip")) clip.showHit?.();
    for (const details of node.querySelectorAll("details")) if (details.querySelector("mark")) details.open = true;
    node.scrollIntoView({ block: "start" });
    for (const old of document.querySelectorAll(".target")) old.classList.remove("target");
    node.classList.add("target");
  },

  // Puts the branch on paper: all of it, as far as a printer can be asked to go.
  startPrint() {
    this.screen ??= { low: this.low, high: this.high, y: window.scrollY };
    this.low = 0;
    this.high = Math.min(this.path.length, MOST_PRINTED);
    this.draw();
  },

  endPrint() {
    if (!this.screen) return;
    const { low, high, y } = this.screen;
    this.screen = undefined;
    Object.assign(this, { low, high });
    this.draw();
    window.scrollTo(0, y);
  },
};

function hashOf(at) {
  return `#${encodeURIComponent(model.ids[at])}`;
}

// The name of the branch that an entry is part of, as the engine gives it.
function branchName(at) {
  const tip = model.branches.has(at) ? at : tipBelow(at);
  if (tip === model.leaf && model.leafName) return model.leafName;
  const named = model.branches.get(tip)?.name;
  if (named) return named;
  while (at >= 0 && model.style[at] !== "u") at = model.up[at];
  return at >= 0 ? plainRow(at) : model.title;
}

function plainRow(at) {
  return model.text[at].replace(/^(user|assistant): /, "");
}

// How a child of a branch point is known: by its label or its first prompt.
function childName(child) {
  const end = Math.min(model.end[child], child + 60);
  for (let at = child; at < end; at = at + 1) {
    if (model.labels.has(at)) return model.labels.get(at).text;
    if (model.style[at] === "u") return plainRow(at);
    if (model.kids[at] > 1) break;
  }
  return plainRow(child);
}

// Where a path parts: the ways that were tried from here, this one marked.
function forkStrip(at, next) {
  if (model.kids[at] < 2) return undefined;
  const ways = childrenOf(at).filter(carries);
  const shown = ways.slice(0, 8);
  if (next !== undefined && ways.includes(next) && !shown.includes(next)) shown.push(next);
  return el("div", { class: "fork", role: "group", "aria-label": `Branches from here: ${plainRow(at)}` },
    el("span", {}, `↳ ${ways.length} ways from here`),
    shown.map((child) => {
      const tip = tipBelow(child);
      const state = model.branches.get(tip)?.state ?? (tip === model.leaf ? "current" : "left");
      return el("a", { href: hashOf(child), class: `way ${state}${child === next ? " here" : ""}`,
        "aria-current": child === next && "true" }, childName(child));
    }),
    ways.length > shown.length && el("span", {}, `and ${ways.length - shown.length} more in the tree`));
}

const FATES = {
  current: "● The session ends here.",
  merged: "⇢ This branch was merged.",
  failed: "✕ This branch ended in an error and was abandoned.",
  left: "○ This branch was abandoned here.",
};

function endMark(tip) {
  const branch = model.branches.get(tip);
  const state = tip === model.leaf ? "current" : branch?.state ?? "left";
  const below = tip === model.leaf && model.kids[tip] > 0;
  const into = branch?.into;
  return el("div", { class: `end ${state}` }, FATES[state],
    state === "merged" && into !== undefined && el("a", { class: "origin", href: hashOf(into) }, `into “${branchName(into)}”`),
    below && " What comes below was left again.",
    state !== "current" && el("a", { href: "#" }, "Go to where the session ends"));
}

function drawCrumb(tip) {
  const crumb = byId("crumb");
  if (tip < 0) return crumb.replaceChildren(el("p", { class: "hint" }, "The session has no entries."));
  const isLeaf = tip === model.leaf;
  const state = isLeaf ? "current" : model.branches.get(tip)?.state ?? "left";
  crumb.className = `scripted crumb ${state}`;
  const words = { current: "where the session ends", merged: "merged", failed: "ended in an error", left: "abandoned" };
  crumb.replaceChildren(...el("div", {},
    el("b", {}, branchName(tip)), el("span", {}, words[state]), el("small", {}, `${log.path.length} entries`),
    !isLeaf && el("a", { href: "#" }, "◎ back to the session end")).childNodes);
}

// Data: the parts of the page, read when they are needed. An entry is known by its place in the outline.

const KEPT_PARTS = 40;

const model = {
  ids: [], up: [], end: [], time: [], text: [], style: "", flag: [],
  byId: new Map(), labels: new Map(), sources: new Map(), uses: new Map(), contexts: new Map(),
  turns: new Map(), branches: new Map(), tip: [], views: new Map(),
  leaf: -1, leafName: "", title: "", size: 0,
};
const ON_PATH = 1, IS_ERROR = 2, IS_BOOKKEEPING = 4;

function partsOf(kind) {
  return document.querySelectorAll(`template[data-part="${kind}"]`);
}

function bytesOf(part) {
  const text = atob(part.content.textContent);
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) packed[at] = text.charCodeAt(at);
  return inflate(packed, Number(part.dataset.packed));
}

function read(part) {
  return part.hasAttribute("data-packed") ? new TextDecoder().decode(bytesOf(part)) : part.content.textContent;
}

function loadModel() {
  const chunks = [...partsOf("rows")].map((part) => JSON.parse(read(part)));
  const size = chunks.reduce((sum, chunk) => sum + chunk.id.length, 0);
  model.size = size;
  model.up = new Int32Array(size);
  model.time = new Float64Array(size);
  model.flag = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    let time = 0;
    for (let i = 0; i < chunk.id.length; i++, at++) {
      time += chunk.at[i];
      model.time[at] = time;
      model.up[at] = chunk.up[i] ? at - chunk.up[i] : -1;
      model.flag[at] = chunk.flag[i];
      model.ids.push(chunk.id[i]);
      model.text.push(chunk.text[i]);
      model.byId.set(chunk.id[i], at);
    }
    model.style += chunk.style;
  }
  linkChildren();
  for (const part of partsOf("view")) model.views.set(part.dataset.name, part);
  takeRest(JSON.parse(read(partsOf("rest")[0])));
}

// Every entry stands after its parent, and all that is below it stands together.
function linkChildren() {
  const size = model.size;
  model.end = new Int32Array(size);
  model.kids = new Int32Array(size);
  for (let at = size - 1; at >= 0; at--) {
    model.end[at] = Math.max(model.end[at], at + 1);
    const up = model.up[at];
    if (up >= 0) {
      model.end[up] = Math.max(model.end[up], model.end[at]);
      if (carries(at)) model.kids[up]++;
    }
  }
}

// Whether an entry or anything below it is conversation.
function carries(at) {
  return !(model.flag[at] & IS_BOOKKEEPING) || model.kids[at] > 0;
}

function takeRest(rest) {
  model.title = rest.title;
  model.leaf = rest.leaf;
  model.leafName = rest.leafName;
  for (const [at, text, time] of rest.labels) if (at >= 0) model.labels.set(at, { text, time });
  for (const [at, source, kind] of rest.links) {
    if (isBelow(at, source)) continue;
    model.sources.set(at, { source, kind });
    if (!model.uses.has(source)) model.uses.set(source, []);
    model.uses.get(source).push(at);
  }
  for (const [end, start] of rest.contexts) model.contexts.set(end, start);
  for (const [at, number, replies, tools, tokens, cost, failed] of rest.turns) {
    model.turns.set(at, { number, replies, tools, tokens, cost, failed });
  }
  for (const [tip, state, name, into] of rest.branches) model.branches.set(tip, { state, name, into });
  findTips([...model.branches.keys()]);
}

// For every entry the newest tip below it, in one go: a tree may part at every step.
function findTips(tips) {
  model.tip = new Int32Array(model.size).fill(-1);
  for (const tip of tips) model.tip[tip] = tip;
  for (let at = model.size - 1; at >= 0; at--) {
    const up = model.up[at], tip = model.tip[at];
    if (up < 0 || tip < 0) continue;
    if (model.tip[up] < 0 || model.time[tip] > model.time[model.tip[up]]) model.tip[up] = tip;
  }
}

// Whether an entry is, or stands below, another one.
function isBelow(at, above) {
  return at >= above && at < model.end[above];
}

function childrenOf(at) {
  const found = [];
  const end = at < 0 ? model.size : model.end[at];
  for (let child = at + 1; child < end; child = model.end[child]) found.push(child);
  return found;
}

function pathTo(at) {
  const path = [];
  for (; at >= 0; at = model.up[at]) path.push(at);
  return path.reverse();
}

// The end of the branch that an entry is part of: the session's own, or the newest.
function tipBelow(at) {
  if (model.leaf >= 0 && isBelow(model.leaf, at)) return model.leaf;
  return model.tip[at] >= 0 ? model.tip[at] : at;
}

// What entries say, by place. The parts that were used last are kept.
const bodies = {
  parts: [],
  starts: [],
  kept: new Map(),

  open() {
    this.parts = [...partsOf("entries")];
    this.starts = this.parts.map((part) => Number(part.dataset.from));
  },

  indexOf(at) {
    let low = 0, high = this.starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= at) low = middle; else high = middle;
    }
    return low;
  },

  part(index) {
    const part = this.kept.get(index) ?? new Part(read(this.parts[index]));
    this.kept.delete(index);
    this.kept.set(index, part);
    if (this.kept.size > KEPT_PARTS) this.kept.delete(this.kept.keys().next().value);
    return part;
  },

  at(at) {
    const index = this.indexOf(at);
    return this.part(index).body(at - this.starts[index]);
  },

  line(at) {
    const index = this.indexOf(at);
    return this.part(index).lines[at - this.starts[index]];
  },
};

// Lines of JSON, each parsed when it is first used.
class Part {
  constructor(text) {
    this.lines = text.split("\n");
    this.bodies = new Array(this.lines.length);
  }

  body(at) {
    return this.bodies[at] ??= shaped(this.lines[at]);
  }
}

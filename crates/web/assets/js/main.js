// Main: what the page shows follows its address; keys, buttons and the drawer change the address or the view.

const settings = { thinking: true, output: false, times: false, wait: undefined };
const FILTERS = {
  default: "Conversation", "no-tools": "Without tools", "user-only": "Prompts", "labeled-only": "Labels", all: "Everything",
  turns: "Turns", branches: "Branches", errors: "Errors", files: "Files",
};
const THEMES = { auto: "◐", light: "☀", dark: "☾" };

function setStatus(text) {
  byId("status").textContent = text;
}

// Shows what the address names: `#entry`, `#end/entry`, or nothing for where the session ends.
function route(isFirst) {
  const [first, second] = location.hash.slice(1).split("/").map(decode);
  const place = model.byId.get(second ?? first);
  if (!first || place === undefined) {
    return isFirst ? log.show(model.leaf) : log.show(model.leaf, model.leaf >= 0 ? model.leaf : undefined);
  }
  const end = second === undefined ? undefined : model.byId.get(first);
  const isShown = log.tip >= 0 && isBelow(log.tip, place);
  const tip = end !== undefined && isBelow(end, place) ? end : isShown ? log.tip : tipBelow(place);
  return log.show(tip, place);
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function go(at) {
  if (at === undefined || at < 0) return;
  const hash = hashOf(at);
  closeDrawer();
  if (location.hash === hash) route(false); else location.hash = hash;
}

// Goes to where the session ends.
function goToEnd() {
  closeSearch();
  closeDrawer();
  if (location.hash === "" || location.hash === "#") route(false); else location.hash = "";
}

// Ends a search; the conversation stays where it is.
function closeSearch() {
  clearTimeout(settings.wait);
  byId("query").value = "";
  if (search.text) search.start("");
}

const isNarrow = () => matchMedia("(max-width: 900px)").matches;

// Shows or hides the tree: on a phone it is a drawer above the conversation.
function showTree(isOpen) {
  document.body.classList.toggle(isNarrow() ? "drawer" : "folded-side", isNarrow() === isOpen);
  byId("menu").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) tree.draw();
}

function closeDrawer() {
  if (isNarrow()) showTree(false);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = THEMES[name] ?? "◐";
  byId("theme").title = `Colours: ${name}`;
}

function nextTheme() {
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
  setTheme(next);
  try { localStorage.setItem("offshoot-theme", next); } catch { /* a page without storage has no memory */ }
}

function toggle(name) {
  settings[name] = !settings[name];
  byId(name).setAttribute("aria-pressed", String(settings[name]));
  if (name === "times") return tree.draw();
  if (name === "thinking") {
    document.body.classList.toggle("no-thinking", !settings.thinking);
    return undefined;
  }
  return log.draw();
}

const KEYS = {
  j: () => tree.move(1), k: () => tree.move(-1), ArrowDown: () => tree.move(1), ArrowUp: () => tree.move(-1),
  PageDown: () => tree.move(20), PageUp: () => tree.move(-20), Home: () => tree.move(-1e9), End: () => tree.move(1e9),
  "[": () => tree.sibling(-1), "]": () => tree.sibling(1),
  Enter: () => go(tree.selected()), " ": () => tree.fold(tree.cursor),
  ArrowLeft: () => tree.fold(tree.cursor, true) || tree.sibling(-1), ArrowRight: () => tree.fold(tree.cursor, false),
  "/": () => openSearch(), n: () => search.next(1), N: () => search.next(-1), Escape: () => { closeSearch(); closeDrawer(); },
  e: () => goToEnd(), t: () => toggle("thinking"), o: () => toggle("output"), "?": () => byId("keys").showModal(),
};
// Keys that a page has its own use for; they move in the tree only when it has the focus.
const TREE_ONLY = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", "ArrowLeft", "ArrowRight", " "]);

function openSearch() {
  showTree(true);
  byId("query").focus();
  byId("query").select();
}

// Hands out the session that the page was made of.
function saveFile() {
  const blob = new Blob([...partsOf("file")].map(bytesOf), { type: "application/jsonl" });
  const name = `${model.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "session"}.jsonl`;
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return undefined;
  const place = event.target;
  const isTyping = place.matches?.("input, select, textarea");
  if (event.key === "Escape" && isTyping) place.blur();
  else if (isTyping) return undefined;
  const inTree = place.closest?.("#tree");
  if (TREE_ONLY.has(event.key) && !inTree) return undefined;
  if (event.key === "Enter" && !inTree && place !== document.body) return undefined;
  const act = KEYS[event.key];
  if (!act) return undefined;
  event.preventDefault();
  return act();
}

function listen() {
  const on = (id, event, act) => byId(id).addEventListener(event, act);
  on("menu", "click", () => showTree(byId("menu").getAttribute("aria-expanded") !== "true"));
  on("shade", "click", closeDrawer);
  on("reset", "click", goToEnd);
  on("help", "click", () => byId("keys").showModal());
  byId("file")?.addEventListener("click", saveFile);
  on("theme", "click", nextTheme);
  for (const name of ["thinking", "output", "times"]) on(name, "click", () => toggle(name));
  on("unfold", "click", () => tree.foldAll());
  on("filter", "change", () => { tree.open(byId("filter").value); tree.mark(log.tip); });
  on("query", "input", () => {
    clearTimeout(settings.wait);
    settings.wait = setTimeout(() => search.start(byId("query").value), 120);
  });
  on("query", "keydown", (event) => search.onKey(event));
  let isDue = false;
  on("tree", "scroll", () => {
    if (!isDue) requestAnimationFrame(() => { isDue = false; tree.draw(); });
    isDue = true;
  });
  on("tree", "click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    tree.cursor = Number(row.dataset.row);
    if (event.target.closest(".fold")) tree.fold(tree.cursor); else go(Number(row.dataset.at));
  });
  on("hit-list", "click", () => closeDrawer());
  on("light", "click", () => byId("light").close());
  on("keys", "click", (event) => { if (event.target.matches("dialog, button")) byId("keys").close(); });
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => route(false));
  addEventListener("resize", () => tree.draw());
  addEventListener("beforeprint", () => log.startPrint());
  addEventListener("afterprint", () => log.endPrint());
}

function start() {
  document.documentElement.classList.add("js");
  let theme;
  try { theme = localStorage.getItem("offshoot-theme"); } catch { theme = null; }
  setTheme(THEMES[theme] ? theme : document.documentElement.dataset.theme);
  history.scrollRestoration = "manual";
  bodies.open();
  loadModel();
  for (const [name, words] of Object.entries(FILTERS)) {
    if (model.views.has(name)) byId("filter").append(el("option", { value: name }, words));
  }
  tree.open("default");
  listen();
  showTree(!isNarrow());
  route(true);
  byId("still").remove();
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
}

try {
  start();
} catch (error) {
  document.documentElement.classList.remove("js");
  setStatus(String(error));
  document.documentElement.dataset.ready = "failed";
  console.error(error);
}

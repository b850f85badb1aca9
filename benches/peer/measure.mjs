// Times the reference program on one session file and prints one JSON object: CPU milliseconds by name.
//
//   node measure.mjs PACKAGE_DIR FILE RUNS QUESTION... < ids
//
// QUESTION: open, path, children, tree, context, outline, keys. Standard input holds ids, one per line, for `path` and
// `children`. Every figure is the best of RUNS, per call. Reads the file only; the home directory is a scratch one.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packageDir, file, runsText, ...questions] = process.argv.slice(2);
const runs = Number(runsText);
const ids = readFileSync(0, "utf8").split("\n").filter(Boolean);

const home = mkdtempSync(join(tmpdir(), "peer-home-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
process.env.HOME = home;
process.env.PI_CODING_AGENT_DIR = join(home, "agent");
process.env.PI_OFFLINE = "1";

// The newer version is one bundle, the older one is not.
const bundle = join(packageDir, "dist/bundle/index.js");
const main = existsSync(bundle) ? bundle : join(packageDir, "dist/index.js");
const peer = await import(pathToFileURL(main).href);

function once(work) {
	const before = process.cpuUsage();
	work();
	const spent = process.cpuUsage(before);
	return (spent.user + spent.system) / 1000;
}

function best(work, calls = 1) {
	let least = Infinity;
	for (let run = 0; run < runs; run++) least = Math.min(least, once(work) / calls);
	return least;
}

let manager;
const answers = { open: best(() => (manager = peer.SessionManager.open(file))) };
if (questions.includes("path")) {
	answers.path = best(() => ids.forEach((id) => manager.getBranch(id)), ids.length);
}
if (questions.includes("children")) {
	const some = ids.slice(0, 20);
	answers.children = best(() => some.forEach((id) => manager.getChildren(id)), some.length);
}
if (questions.includes("tree")) answers.tree = best(() => manager.getTree());
if (questions.includes("context")) answers.context = best(() => manager.buildSessionContext());
let screen;
const show = () => {
	const nothing = () => {};
	screen = new peer.TreeSelectorComponent(manager.getTree(), manager.getLeafId(), 50, nothing, nothing);
	screen.render(120);
};
const filters = ["user-only", "no-tools", "labeled-only", "all", "default"];
// The keys of filters belong to the program around the component; this is what they do to it.
const setFilter = (filter) => {
	const list = screen.getTreeList();
	list.filterMode = filter;
	list.applyFilter();
	screen.render(120);
};
// Presses keys one after another, several times over; gives the best time of each key, and of these the slowest.
const slowest = (keys, press) => {
	const times = keys.map(() => Infinity);
	for (let run = 0; run < runs; run++) {
		show();
		keys.forEach((key, at) => (times[at] = Math.min(times[at], once(() => press(key)))));
	}
	return Math.max(...times);
};
if (questions.includes("outline") || questions.includes("keys")) {
	peer.initTheme();
	answers.outline = best(show);
}
if (questions.includes("outline")) answers.filter = best(() => filters.forEach(setFilter), filters.length);
if (questions.includes("keys")) {
	answers.filterKey = slowest(filters, setFilter);
	answers.letter = slowest([..."parser"], (letter) => {
		screen.handleInput(letter);
		screen.render(120);
	});
	if (screen.getTreeList().getSearchQuery() !== "parser") throw new Error("the query did not change");
	answers.move = slowest(["\x1b[A", "\x1b[A", "\x1b[5~", "\x1b[5~", "\x1b[B"], (key) => {
		screen.handleInput(key);
		screen.render(120);
	});
}
console.log(JSON.stringify(answers));

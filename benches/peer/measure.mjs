// Times the reference program on one session file and prints one JSON object: CPU milliseconds by name.
//
//   node measure.mjs PACKAGE_DIR FILE RUNS QUESTION... < ids
//
// QUESTION: open, path, children, tree, context, outline. Standard input holds ids, one per line, for `path` and
// `children`. Every figure is the best of RUNS, per call. Reads the file only; the home directory is a scratch one.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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

const peer = await import(pathToFileURL(join(packageDir, "dist/bundle/index.js")).href);

function best(work, calls = 1) {
	let least = Infinity;
	for (let run = 0; run < runs; run++) {
		const before = process.cpuUsage();
		work();
		const spent = process.cpuUsage(before);
		least = Math.min(least, (spent.user + spent.system) / 1000 / calls);
	}
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
if (questions.includes("outline")) {
	peer.initTheme();
	let screen;
	const show = () => {
		const nothing = () => {};
		screen = new peer.TreeSelectorComponent(manager.getTree(), manager.getLeafId(), 50, nothing, nothing);
		screen.render(120);
	};
	const press = (key) => {
		screen.handleInput(key);
		screen.render(120);
	};
	const filters = ["no-tools", "user-only", "labeled-only", "all", "default"];
	let turn = 0;
	// The keys of filters belong to the program around the component; this is what they do to it.
	const nextFilter = () => {
		const list = screen.getTreeList();
		list.filterMode = filters[turn++ % filters.length];
		list.applyFilter();
		screen.render(120);
	};
	answers.outline = best(show);
	answers.filter = best(() => filters.forEach(nextFilter), filters.length);
	let search = Infinity;
	for (let run = 0; run < runs; run++) {
		show();
		search = Math.min(search, best(() => press("f")));
		if (screen.getTreeList().getSearchQuery() === "") throw new Error("the query did not change");
	}
	answers.search = search;
}
console.log(JSON.stringify(answers));

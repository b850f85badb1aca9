// Does work with a peer, inside its own process, and prints a line of JSON after each question: its name and the CPU
// milliseconds that it took.
//
//   node|bun measure.mjs PROGRAM LIBRARY FILE HOME RUNS QUESTION... < ids
//
// PROGRAM: pi or oh-my-pi. LIBRARY: what is imported; for oh-my-pi, the folder of its package. Questions are
// the names of STEPS below, asked in the order in which they are named. What the peer cannot do is null. Every figure is
// the best of RUNS, per call, unless the step says otherwise; `memory`, the last line, is the most this process had, in
// bytes. FILE is a copy if it is asked to append or fork, and a directory if it is asked to
// list. HOME is a scratch directory. Standard input holds ids, one per line, for `path` and `children`.
import { mkdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, library, file, home, runsText, ...questions] = process.argv.slice(2);
const runs = Number(runsText);
process.env.HOME = home;
process.env.PI_CODING_AGENT_DIR = join(home, "agent");
process.env.PI_OFFLINE = "1";
mkdirSync(process.env.PI_CODING_AGENT_DIR, { recursive: true });

const load = (path) => import(pathToFileURL(path).href);
const nothing = () => {};
const ADAPTERS = {
	async pi() {
		const peer = await load(library);
		return {
			Manager: peer.SessionManager,
			selector: async () => {
				peer.initTheme();
				return peer.TreeSelectorComponent;
			},
		};
	},
	async "oh-my-pi"() {
		const { SessionManager } = await load(join(library, "src/session/session-manager.ts"));
		return {
			Manager: SessionManager,
			selector: async () => {
				await (await load(join(library, "src/modes/theme/theme.ts"))).initTheme();
				return (await load(join(library, "src/modes/components/tree-selector.ts"))).TreeSelectorComponent;
			},
		};
	},
};

async function once(work) {
	const before = process.cpuUsage();
	await work();
	const spent = process.cpuUsage(before);
	return (spent.user + spent.system) / 1000;
}

// The best of all runs; what has to be made anew for each is not counted.
async function best(work, calls = 1, prepare = nothing) {
	let least = Infinity;
	for (let run = 0; run < runs; run++) {
		await prepare();
		least = Math.min(least, await once(work));
	}
	return least / calls;
}

const { Manager, selector } = await ADAPTERS[program]();
let manager;
let Selector;
let screen;
const show = () => {
	screen = new Selector(manager.getTree(), manager.getLeafId(), 50, nothing, nothing);
	screen.render(120);
};
const press = (key) => {
	screen.handleInput(key);
	screen.render(120);
};
// The keys of filters belong to the program around the component; this is what they do to it.
const FILTERS = ["user-only", "no-tools", "labeled-only", "all", "default"];
const setFilter = (filter) => {
	const list = screen.getTreeList();
	list.filterMode = filter;
	list.applyFilter();
	screen.render(120);
};
// Presses keys one after another, several times over; gives the best time of each key, and of these the slowest.
async function slowest(keys, act) {
	const times = keys.map(() => Infinity);
	for (let run = 0; run < runs; run++) {
		show();
		for (const [at, key] of keys.entries()) times[at] = Math.min(times[at], await once(() => act(key)));
	}
	return Math.max(...times);
}
let given;
const ids = () => (given ??= readFileSync(0, "utf8").split("\n").filter(Boolean));
const list = () => Manager.list("/project", file);

const STEPS = {
	open: () => best(async () => (manager = await Manager.open(file))),
	context: () => best(() => manager.buildSessionContext()),
	tree: () => best(() => manager.getTree()),
	path: () => best(() => ids().forEach((id) => manager.getBranch(id)), ids().length),
	children: () => {
		const some = ids().slice(0, 20);
		return best(() => some.forEach((id) => manager.getChildren(id)), some.length);
	},
	// Back to the middle of the path, and what a model would get there.
	branch: async () => {
		const leaf = manager.getLeafId();
		const path = manager.getBranch();
		const target = path[Math.floor(path.length / 2)].id;
		const time = await best(() => {
			manager.branch(target);
			manager.buildSessionContext();
		});
		manager.branch(leaf);
		return time;
	},
	append: () => {
		const calls = 50;
		const content = [{ type: "text", text: "x".repeat(200) }];
		return best(async () => {
			for (let call = 0; call < calls; call++) manager.appendMessage({ role: "user", content, timestamp: 1 });
			await manager.flush?.();
		}, calls);
	},
	// Opens the view that the steps about keys press them in.
	view: async () => {
		Selector = await selector();
		return best(show);
	},
	key: () => best(() => ["\x1b[A", "\x1b[A", "\x1b[B", "\x1b[A"].forEach(press), 4),
	filter: () => best(() => FILTERS.forEach(setFilter), FILTERS.length),
	slowestFilter: () => slowest(FILTERS, setFilter),
	slowestLetter: async () => {
		const time = await slowest([..."parser"], press);
		if (screen.getTreeList().getSearchQuery() !== "parser") throw new Error("the query did not change");
		return time;
	},
	search: () => best(() => press("f"), 1, show),
	// Makes this manager one of the new file.
	fork: () => {
		const fork = async () => {
			manager.createBranchedSession(manager.getLeafId());
			await manager.flush?.();
		};
		return best(fork, 1, async () => (manager = await Manager.open(file)));
	},
	// A first time there is only once; what a peer remembers of it counts for the times after.
	list: () => once(list),
	listAgain: () => best(list),
};
// At once: who dies at a question has answered those before it.
const answer = (question, figure) => writeSync(1, `${JSON.stringify([question, figure])}\n`);
for (const question of questions) {
	try {
		answer(question, await STEPS[question]());
	} catch (error) {
		answer(question, null);
		console.error(`${program} ${question}: ${error?.message ?? error}`);
	}
}
// Linux counts in kilobytes.
answer("memory", process.resourceUsage().maxRSS * 1024);

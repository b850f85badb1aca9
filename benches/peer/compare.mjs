// Times a program that keeps sessions as trees on one file, and prints one JSON object: CPU milliseconds by name.
//
//   node|bun compare.mjs PROGRAM PACKAGE_DIR FILE SCRATCH_DIR RUNS QUESTION...
//
// PROGRAM: pi or oh-my-pi. QUESTION: open, context, tree, branch, append, fork, view, key, search, list. What it cannot
// do is null. Every figure is the best of RUNS, per call; `memory` is the most this process had, in bytes. FILE is a
// copy that may be written to; for `list` it is a directory. The home directory is a scratch one.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, packageDir, file, scratch, runsText, ...questions] = process.argv.slice(2);
const runs = Number(runsText);
process.env.HOME = scratch;
process.env.PI_CODING_AGENT_DIR = join(scratch, "agent");
process.env.PI_OFFLINE = "1";
mkdirSync(process.env.PI_CODING_AGENT_DIR, { recursive: true });

const load = (path) => import(pathToFileURL(join(packageDir, path)).href);
const ADAPTERS = {
	async pi() {
		const peer = await load(process.env.PEER_ENTRY);
		const nothing = () => {};
		return {
			Manager: peer.SessionManager,
			view: (manager) => {
				peer.initTheme();
				return new peer.TreeSelectorComponent(manager.getTree(), manager.getLeafId(), 50, nothing, nothing);
			},
		};
	},
	async "oh-my-pi"() {
		const { SessionManager } = await load("src/session/session-manager.ts");
		const nothing = () => {};
		let Selector;
		return {
			Manager: SessionManager,
			prepare: async () => {
				await (await load("src/modes/theme/theme.ts")).initTheme();
				Selector = (await load("src/modes/components/tree-selector.ts")).TreeSelectorComponent;
			},
			view: (manager) => new Selector(manager.getTree(), manager.getLeafId(), 50, nothing, nothing),
		};
	},
};

async function best(work, calls = 1, times = runs) {
	let least = Infinity;
	for (let run = 0; run < times; run++) {
		const before = process.cpuUsage();
		await work();
		const spent = process.cpuUsage(before);
		least = Math.min(least, (spent.user + spent.system) / 1000 / calls);
	}
	return least;
}

const { Manager, view, prepare } = await ADAPTERS[program]();
let manager;
let screen;
const press = (key) => {
	screen.handleInput(key);
	screen.render(120);
};
const message = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const somewhere = () => {
	const path = manager.getBranch();
	return path[Math.floor(path.length / 2)].id;
};
const STEPS = {
	open: () => best(async () => (manager = await Manager.open(file))),
	context: () => best(() => manager.buildSessionContext()),
	tree: () => best(() => manager.getTree()),
	// Back to the middle of the path, and what a model would get there.
	branch: async () => {
		const leaf = manager.getLeafId();
		const target = somewhere();
		const time = await best(() => {
			manager.branch(target);
			manager.buildSessionContext();
		});
		manager.branch(leaf);
		return time;
	},
	append: () => {
		const calls = 50;
		const text = "x".repeat(200);
		return best(async () => {
			for (let call = 0; call < calls; call++) manager.appendMessage(message(text));
			await manager.flush?.();
		}, calls);
	},
	view: async () => {
		await prepare?.();
		return best(() => {
			screen = view(manager);
			screen.render(120);
		});
	},
	key: () => best(() => ["\x1b[A", "\x1b[A", "\x1b[B", "\x1b[A"].forEach(press), 4),
	search: () => best(() => press("f"), 1, 1),
	// Makes this manager one of the new file, so it comes last.
	fork: () => best(async () => {
		manager.createBranchedSession(manager.getLeafId());
		await manager.flush?.();
	}, 1, 1),
	list: () => best(() => Manager.list("/project", file)),
};
const answers = {};
for (const question of questions) {
	try {
		answers[question] = await STEPS[question]();
	} catch (error) {
		answers[question] = null;
		console.error(`${program} ${question}: ${error?.message ?? error}`);
	}
}
// Linux counts in kilobytes.
answers.memory = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify(answers));

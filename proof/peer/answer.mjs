// What the reference program makes of session files: one JSON line per path on standard input.
//
//   node answer.mjs LIBRARY < paths
//
// Works on the files it is given: hand it copies. The home directory is a scratch one.
import { readFileSync } from "node:fs";
import { peer } from "./reference.mjs";

// Keys in one order, so that equal values are equal texts.
function canonical(value) {
	if (Array.isArray(value)) return `[${value.map((item) => canonical(item === undefined ? null : item)).join(",")}]`;
	if (value === null || typeof value !== "object") return JSON.stringify(value);
	const keys = Object.keys(value).filter((key) => value[key] !== undefined);
	return `{${keys.sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

// A circle of parents above the leaf would be followed for ever.
function hasCircle(manager, entries) {
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const seen = new Set();
	for (let id = manager.getLeafId(); id && byId.has(id); id = byId.get(id).parentId) {
		if (seen.has(id)) return true;
		seen.add(id);
	}
	return false;
}

function answer(path) {
	const manager = peer.SessionManager.open(path);
	const entries = manager.getEntries();
	if (hasCircle(manager, entries)) return { circle: true };
	const leaf = manager.getLeafId();
	return {
		ids: entries.map((entry) => String(entry.id)),
		leaf: leaf === null ? null : String(leaf),
		path: manager.getBranch().map((entry) => String(entry.id)),
		context: manager.buildSessionContext().messages.map(canonical),
	};
}

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
	let line;
	try {
		line = answer(path);
	} catch (error) {
		line = { error: String(error?.message ?? error) };
	}
	process.stdout.write(`${JSON.stringify(line)}\n`);
}

// Appends to a session file with the reference program while others do: prints the id of each entry.
//
//   node append.mjs LIBRARY FILE COUNT
import { setTimeout as wait } from "node:timers/promises";
import { peer } from "./reference.mjs";

const [, file, count] = process.argv.slice(2);
const manager = peer.SessionManager.open(file);
for (let number = 0; number < Number(count); number++) {
	const id = manager.appendMessage({ role: "user", content: `theirs ${number}`, timestamp: Date.now() });
	process.stdout.write(`${id}\n`);
	if (number % 5 === 0) await wait(1);
}

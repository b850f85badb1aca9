// Appends to a session file with the reference program while others do: prints the id of each entry.
//
//   node append.mjs PACKAGE_DIR FILE COUNT
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [packageDir, file, count] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "peer-home-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
process.env.HOME = home;
process.env.PI_CODING_AGENT_DIR = join(home, "agent");
process.env.PI_OFFLINE = "1";

const bundle = join(packageDir, "dist/bundle/index.js");
const peer = await import(pathToFileURL(existsSync(bundle) ? bundle : join(packageDir, "dist/index.js")).href);
const manager = peer.SessionManager.open(file);
for (let number = 0; number < Number(count); number++) {
	const id = manager.appendMessage({ role: "user", content: `theirs ${number}`, timestamp: Date.now() });
	process.stdout.write(`${id}\n`);
	if (number % 5 === 0) await wait(1);
}

// The reference program, imported from LIBRARY, the first argument of whoever imports this; its home is a scratch one.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const home = mkdtempSync(join(tmpdir(), "peer-home-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
process.env.HOME = home;
process.env.PI_CODING_AGENT_DIR = join(home, "agent");
process.env.PI_OFFLINE = "1";

export const peer = await import(pathToFileURL(process.argv[2]).href);

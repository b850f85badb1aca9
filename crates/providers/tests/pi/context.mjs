// Tells what pi makes of session files, one JSON object per line.
//
//   node context.mjs LIBRARY FILE...
//
// Only copies are opened: opening a file may change it. The home directory is a scratch one.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [library, ...files] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "pi-context-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
process.env.HOME = scratch;
process.env.PI_CODING_AGENT_DIR = join(scratch, "agent");
process.env.PI_OFFLINE = "1";

const { SessionManager, convertToLlm } = await import(pathToFileURL(library).href);

files.forEach((file, number) => {
  const copy = join(scratch, `${number}.jsonl`);
  copyFileSync(file, copy);
  const manager = SessionManager.open(copy);
  const context = manager.buildSessionContext();
  console.log(
    JSON.stringify({
      entries: manager.getEntries().map((entry) => entry.id),
      leaf: manager.getLeafId() ?? null,
      name: manager.getSessionName() ?? null,
      messages: context.messages,
      llm: convertToLlm(context.messages),
      thinkingLevel: context.thinkingLevel,
      model: context.model ?? null,
    }),
  );
});

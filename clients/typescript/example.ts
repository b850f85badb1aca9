// Walks a session, goes back to a prompt, and starts a new branch there.
//
//   node --experimental-strip-types example.ts PROGRAM SESSION
import { Offshoot } from "./offshoot.ts";

const [program, session] = process.argv.slice(2);
const agent = new Offshoot({ program: [program], session, args: ["--model", "offshoot/offline"] });
for (const row of await agent.tree()) console.log("  ".repeat(row.depth) + row.text);
const prompts = (await agent.tree()).filter((row) => row.text.startsWith("user: "));
const moved = await agent.navigate(prompts.at(-1)!.id, { note: "The other one was faster." });
console.log("back to:", moved.editorText);
console.log("answered:", (await agent.prompt("Use Go instead")) ? "True" : "False");
console.log("branches:", (await agent.branches()).length);
await agent.close();

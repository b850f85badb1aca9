// Runs one script with pi's own RpcClient and prints what happened in each step, as JSON.
//
//   node drive.mjs '{"client": FILE, "cli": FILE, "args": [...], "cwd": DIR, "env": {...}}'
import { pathToFileURL } from "node:url";

const config = JSON.parse(process.argv[2]);
const { RpcClient } = await import(pathToFileURL(config.client).href);
const client = new RpcClient({
  cliPath: config.cli, cwd: config.cwd, env: config.env, provider: "mock", model: "one", args: config.args,
});
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const transcript = [];
let events = [];
const answers = { Sure: { confirmed: true }, Which: { value: "two" }, Name: { value: "Ada" }, Text: { value: "after" }, Again: { cancelled: true } };
client.onEvent((event) => {
  events.push(event);
  const answer = event.type === "extension_ui_request" && answers[event.title?.replace("?", "")];
  if (answer) write({ type: "extension_ui_response", id: event.id, ...answer });
});
const write = (record) => client.process.stdin.write(typeof record === "string" ? record : `${JSON.stringify(record)}\n`);
const until = async (found) => {
  for (let waited = 0; !found(); waited += 10) {
    if (waited > 20_000) throw new Error("nothing came");
    await sleep(10);
  }
};
const seen = (type) => events.some((event) => event.type === type);

async function step(name, run) {
  events = [];
  let outcome;
  try {
    outcome = { result: (await run()) ?? null };
  } catch (error) {
    outcome = { error: error.message };
  }
  await sleep(60);
  transcript.push({ step: name, ...outcome, events });
}

await client.start();
await step("state at the start", () => client.getState());
await step("models", () => client.getAvailableModels());
await step("thinking levels", () => client.getAvailableThinkingLevels());
await step("empty tree", () => client.getTree());
await step("clone of nothing", () => client.clone());
await step("a prompt", async () => { await client.promptAndWait("hello\u2028there"); });
await step("a tool that reads", async () => { await client.promptAndWait("read it"); });
await step("a tool that runs", async () => { await client.promptAndWait("run it"); });
await step("a tool that fails", async () => { await client.promptAndWait("read what is not there"); });
await step("prompts during a turn", async () => {
  const idle = client.waitForIdle();
  const results = [await client.prompt("work")];
  await until(() => seen("tool_execution_start"));
  const refused = await client.prompt("now").catch((error) => error.message);
  results.push(refused, await client.steer("steer"), await client.prompt("follow", undefined, "followUp"));
  const { isStreaming, pendingMessageCount } = await client.getState();
  results.push({ isStreaming, pendingMessageCount });
  await idle;
  return results;
});
await step("a queue that is cleared", async () => {
  const idle = client.waitForIdle();
  await client.prompt("work again");
  await until(() => seen("tool_execution_start"));
  await client.followUp("later");
  const cleared = await client.clearQueue();
  await idle;
  return cleared;
});
await step("abort", async () => {
  const idle = client.waitForIdle();
  await client.prompt("never ends");
  await until(() => seen("message_update"));
  await client.abort();
  await idle;
});
await step("a request that is repeated", async () => { await client.promptAndWait("fails once"); });
await step("entries", () => client.getEntries());
await step("entries after the last one", async () => {
  const { entries } = await client.getEntries();
  return client.getEntries(entries.at(-1).id);
});
await step("entries after an unknown one", () => client.getEntries("00000000"));
await step("tree", () => client.getTree());
await step("messages", () => client.getMessages());
await step("prompts to fork at", () => client.getForkMessages());
await step("last answer", () => client.getLastAssistantText());
await step("statistics", () => client.getSessionStats());
await step("an unknown model", () => client.setModel("no", "such"));
await step("another model", () => client.setModel("mock", "two"));
await step("its thinking levels", () => client.getAvailableThinkingLevels());
await step("a thinking level", () => client.setThinkingLevel("high"));
await step("the next thinking level", () => client.cycleThinkingLevel());
await step("the next model", () => client.cycleModel());
await step("modes", async () => {
  await client.setSteeringMode("all");
  await client.setFollowUpMode("all");
  await client.setAutoCompaction(false);
  await client.setAutoRetry(false);
  await client.abortRetry();
  const { steeringMode, followUpMode, autoCompactionEnabled } = await client.getState();
  return { steeringMode, followUpMode, autoCompactionEnabled };
});
await step("a name", () => client.setSessionName("  my   work "));
await step("an empty name", () => client.setSessionName("  "));
await step("a shell command", () => client.bash("printf 'out\\n'; exit 3"));
await step("abort of no shell command", () => client.abortBash());
await step("a long prompt", async () => { await client.promptAndWait("word ".repeat(400)); });
await step("compaction", () => client.compact("Keep the names."));
await step("compaction right after it", () => client.compact());
await step("messages after the compaction", () => client.getMessages());
await step("state after the compaction", () => client.getState());
await step("a prompt after the compaction", async () => { await client.promptAndWait("and then"); });
await step("a page", async () => { const { path } = await client.exportHtml("page.html"); return path.endsWith("page.html"); });
const before = await client.getState();
await step("fork at an unknown entry", () => client.fork("00000000"));
await step("fork at an answer", async () => {
  const { entries } = await client.getEntries();
  return client.fork(entries.find((entry) => entry.message?.role === "assistant").id);
});
await step("fork at a prompt", async () => client.fork((await client.getForkMessages())[1].entryId));
await step("entries of the fork", () => client.getEntries());
await step("a prompt in the fork", async () => { await client.promptAndWait("and on"); });
await step("clone", () => client.clone());
await step("entries of the clone", () => client.getEntries());
await step("a new session", () => client.newSession(before.sessionFile));
await step("state of the new session", () => client.getState());
await step("compaction of nothing", () => client.compact());
await step("a session that is not there", () => client.switchSession("/nowhere/x.jsonl"));
await step("back to the first session", () => client.switchSession(before.sessionFile));
await step("state after the return", () => client.getState());
await step("commands", async () => (await client.getCommands()).filter(({ name }) => ["ask", "fail"].includes(name)));
await step("dialogs", () => client.prompt("/ask"));
await step("a command that fails", () => client.prompt("/fail"));
await step("a queued command", () => client.steer("/ask"));
await step("bad lines", async () => {
  write("{bad\n");
  write("\n");
  write("[1]\n");
  write("7\r\n");
  write("{}\n");
  write({ type: "no_such_command", id: "x" });
  write({ type: "get_last_assistant_text", id: 5 });
  write({ type: "extension_ui_response", id: "no such dialog", cancelled: true });
  await sleep(200);
});
const { process: child } = client;
const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
await step("the end of the input", async () => {
  child.stdin.end(JSON.stringify({ type: "get_last_assistant_text", id: "last" }));
  return ended;
});
process.stdout.write(JSON.stringify(transcript), () => process.exit(0));

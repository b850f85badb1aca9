// Drives `offshoot acp` with the TypeScript SDK and prints what happened as JSON.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Readable, Writable } from "node:stream";

const { packages, program, cwd } = JSON.parse(process.argv[2]);
const require = createRequire(`${packages}/package.json`);
const acp = await import(pathToFileURL(require.resolve("@agentclientprotocol/sdk/unstable")));

const updates = [];
const permissions = [];
let decide = "yes";
const agent = spawn(program, ["acp"], { stdio: ["pipe", "pipe", "inherit"], cwd });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const client = acp
  .client({ name: "test" })
  .onRequest("session/request_permission", ({ params }) => {
    permissions.push(params);
    return { outcome: { outcome: "selected", optionId: decide } };
  })
  .onNotification("session/update", ({ params }) => {
    updates.push(params);
  });

/** Returns the updates of a session since the last call. */
function taken(sessionId) {
  const own = updates.filter((update) => update.sessionId === sessionId).map((update) => update.update);
  updates.length = 0;
  return own;
}

const text = (text) => [{ type: "text", text }];
const result = await client.connectWith(stream, async (agent) => {
  const steps = {};
  steps.initialize = await agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { session: { compaction: {} } },
  });
  const opened = await agent.request("session/new", { cwd, mcpServers: [] });
  const { sessionId } = opened;
  steps.opened = opened;
  steps.first = await agent.request("session/prompt", { sessionId, prompt: text("hello") });
  steps.firstUpdates = taken(sessionId);
  steps.written = await agent.request("session/prompt", { sessionId, prompt: text("write it") });
  steps.writtenUpdates = taken(sessionId);
  decide = "no";
  steps.refused = await agent.request("session/prompt", { sessionId, prompt: text("write more") });
  steps.refusedUpdates = taken(sessionId);
  const running = agent.request("session/prompt", { sessionId, prompt: text("never ends") });
  while (!updates.some((update) => update.update.sessionUpdate === "agent_message_chunk")) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await agent.notify("session/cancel", { sessionId });
  steps.cancelled = await running;
  taken(sessionId);
  steps.list = await agent.request("session/list", { cwd });
  steps.tree = await agent.request("_offshoot/tree", { sessionId });
  const anchor = steps.firstUpdates.find((update) => update.messageId).messageId;
  steps.labelled = await agent.request("_offshoot/label", { sessionId, entryId: anchor, label: "start" });
  steps.fork = await agent.request("session/fork", { sessionId, cwd, mcpServers: [], _meta: { offshoot: { entryId: anchor } } });
  steps.forkUpdates = taken(steps.fork.sessionId);
  steps.forkPrompt = await agent.request("session/prompt", { sessionId: steps.fork.sessionId, prompt: text("another way") });
  steps.forkPromptUpdates = taken(steps.fork.sessionId);
  steps.navigated = await agent.request("_offshoot/navigate", { sessionId, targetId: anchor });
  steps.option = await agent.request("session/set_config_option", { sessionId, configId: "model", value: "mock/two" });
  await agent.request("session/set_mode", { sessionId, modeId: "read-only" });
  await agent.request("session/close", { sessionId });
  updates.length = 0;
  steps.loaded = await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  steps.loadedUpdates = taken(sessionId);
  await agent.request("session/close", { sessionId });
  steps.resumed = await agent.request("session/resume", { sessionId, cwd, mcpServers: [] });
  await agent.request("session/delete", { sessionId: steps.fork.sessionId });
  steps.listAfterDelete = await agent.request("session/list", { cwd });
  steps.unknownMethod = await agent.request("_offshoot/nothing", {}).catch((error) => error.code);
  steps.unknownSession = await agent.request("session/prompt", { sessionId: "nope", prompt: text("x") }).catch((error) => error.code);
  return steps;
});
agent.stdin.end();
const code = await new Promise((resolve) => agent.on("exit", resolve));
console.log(JSON.stringify({ ...result, permissions, code }));

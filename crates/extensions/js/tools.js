// The agent's own tools, for extensions that put something around them.

import { call, start } from "offshoot:native";
import { collected } from "offshoot:processes";

import { readFileSync } from "node:fs";
import { spawn } from "node:child_process";

const SCHEMAS = new Map();

function schemaOf(name) {
  if (SCHEMAS.size === 0) for (const one of call("host.builtinTools")) SCHEMAS.set(one.name, one);
  return SCHEMAS.get(name) ?? { name, description: "", parameters: { type: "object", properties: {} } };
}

function toolFactory(name) {
  return (cwd, options = {}) => {
    const { description, parameters } = schemaOf(name);
    return {
      name,
      label: name,
      isBuiltin: true,
      description,
      parameters,
      async execute(_id, args, signal) {
        if (options.operations?.exec && name === "bash") return executed(options.operations, args, cwd, signal);
        const hooked = name === "bash" && options.spawnHook ? options.spawnHook({ command: args.command, cwd, env: {} }) : undefined;
        const values = hooked ? { ...args, command: hooked.command } : args;
        const result = await start("tool", { name, arguments: values, cwd: hooked?.cwd ?? cwd ?? "" }, signal);
        if (result.isError) throw new Error(result.content.map((block) => block.text ?? "").join("\n"));
        return { content: result.content, details: result.details ?? undefined };
      },
    };
  };
}

async function executed(operations, args, cwd, signal) {
  const { output, exitCode } = await collected(operations, args.command, cwd, { signal, timeout: args.timeout });
  if (exitCode !== 0 && exitCode !== null) throw new Error(`${output}\nCommand exited with code ${exitCode}`);
  return { content: [{ type: "text", text: output || "(no output)" }], details: undefined };
}

export const createReadTool = toolFactory("read");
export const createBashTool = toolFactory("bash");
export const createEditTool = toolFactory("edit");
export const createWriteTool = toolFactory("write");
export const createGrepTool = toolFactory("grep");
export const createFindTool = toolFactory("find");
export const createLsTool = toolFactory("ls");
export {
  createBashTool as createBashToolDefinition, createEditTool as createEditToolDefinition,
  createFindTool as createFindToolDefinition, createGrepTool as createGrepToolDefinition,
  createLsTool as createLsToolDefinition, createReadTool as createReadToolDefinition,
  createWriteTool as createWriteToolDefinition,
};
export const createCodingTools = (cwd) => [createReadTool, createBashTool, createEditTool, createWriteTool].map((make) => make(cwd));
export const createReadOnlyTools = (cwd) => [createReadTool, createGrepTool, createFindTool, createLsTool].map((make) => make(cwd));

/// Describes built-in tools of these names, or those of an agent that is told nothing.
export function listTools(names = ["read", "bash", "edit", "write"]) {
  return names.filter((name) => (schemaOf(name), SCHEMAS.has(name))).map((name) => ({ ...schemaOf(name), label: name }));
}

export const getShellConfig = (shell) => ({ shell: shell ?? "/bin/bash", args: ["-c"] });

/// Runs commands on this machine, for tools that may run them elsewhere too.
export function createLocalBashOperations({ shellPath } = {}) {
  return {
    exec: (command, cwd, { onData, signal, timeout, env } = {}) =>
      new Promise((resolve, reject) => {
        const { shell, args } = getShellConfig(shellPath);
        const child = spawn(shell, [...args, command], { cwd, env, signal, timeout: timeout && timeout * 1000 });
        child.stdout?.on("data", onData);
        child.stderr?.on("data", onData);
        child.on("error", reject);
        child.on("close", (exitCode) => (signal?.aborted ? reject(new Error("aborted")) : resolve({ exitCode })));
      }),
  };
}

const MAGIC = { "89504e47": "image/png", ffd8ff: "image/jpeg", "474946": "image/gif" };

export async function detectSupportedImageMimeTypeFromFile(path) {
  const hex = readFileSync(path).subarray(0, 12).toString("hex");
  if (hex.startsWith("52494646") && hex.endsWith("57454250")) return "image/webp";
  return MAGIC[Object.keys(MAGIC).find((start) => hex.startsWith(start))] ?? null;
}

export function formatDimensionNote({ wasResized, originalWidth, originalHeight, width, height }) {
  if (!wasResized) return undefined;
  const scale = (originalWidth / width).toFixed(2);
  return `[Image: original ${originalWidth}x${originalHeight}, displayed at ${width}x${height}. Multiply coordinates by ${scale} to map to original image.]`;
}

/// Compares two texts line by line, with numbers and a few lines around each change.
export function generateDiffString(before, after) {
  const { diff, firstChangedLine } = call("text.diff", { text: before, after, path: "" });
  return { diff, firstChangedLine: firstChangedLine ?? undefined };
}

export const generateUnifiedPatch = (path, before, after) => call("text.diff", { text: before, after, path: String(path) }).patch;

export const DEFAULT_MAX_LINES = 2000;
export const DEFAULT_MAX_BYTES = 50 * 1024;

export function formatReadLineRange(args) {
  if (args?.offset === undefined && args?.limit === undefined) return "";
  const first = args.offset ?? 1;
  return args.limit === undefined ? `:${first}` : `:${first}-${first + args.limit - 1}`;
}

export function formatSize(bytes) {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)}MB`;
}

const bytesOf = (text) => Buffer.byteLength(text);

function truncated(content, options, takeFrom) {
  const maxLines = options?.maxLines ?? DEFAULT_MAX_LINES;
  const maxBytes = options?.maxBytes ?? DEFAULT_MAX_BYTES;
  const lines = content.split("\n");
  const totalBytes = bytesOf(content);
  const facts = { totalLines: lines.length, totalBytes, maxLines, maxBytes, lastLinePartial: false, firstLineExceedsLimit: false };
  if (lines.length <= maxLines && totalBytes <= maxBytes) {
    return { content, truncated: false, truncatedBy: null, outputLines: lines.length, outputBytes: totalBytes, ...facts };
  }
  const kept = [];
  let bytes = 0;
  let truncatedBy = "lines";
  for (const line of takeFrom === "head" ? lines : [...lines].reverse()) {
    const more = bytesOf(line) + (kept.length > 0 ? 1 : 0);
    if (kept.length >= maxLines) break;
    if (bytes + more > maxBytes) {
      truncatedBy = "bytes";
      break;
    }
    kept.push(line);
    bytes += more;
  }
  const text = (takeFrom === "head" ? kept : kept.reverse()).join("\n");
  return { content: text, truncated: true, truncatedBy, outputLines: kept.length, outputBytes: bytesOf(text), ...facts, firstLineExceedsLimit: kept.length === 0 };
}

export const truncateHead = (content, options) => truncated(content, options, "head");
export const truncateTail = (content, options) => truncated(content, options, "tail");
export function truncateLine(line, maxChars = 500) {
  return line.length <= maxChars ? { text: line, wasTruncated: false } : { text: `${line.slice(0, maxChars)}... [truncated]`, wasTruncated: true };
}

const queues = new Map();

/// Lets changes of one file happen one after the other.
export function withFileMutationQueue(path, work) {
  const before = queues.get(path) ?? Promise.resolve();
  const now = before.catch(() => {}).then(work);
  queues.set(path, now);
  return now.finally(() => queues.get(path) === now && queues.delete(path));
}

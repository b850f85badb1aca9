// Processes. What a process writes comes when it has ended.

import { call, start } from "offshoot:native";
import { Buffer } from "offshoot:node/buffer";
import { EventEmitter } from "offshoot:node/events";
import { promisify } from "offshoot:node/util";

const shell = (command) => ["sh", ["-c", command]];

/// What the host is told of a process. Input that is no text goes as the bytes it is.
function described(command, args, { cwd, env, timeout, input }) {
  const given = input === undefined || typeof input === "string" ? { input } : { inputBase64: Buffer.from(input).toString("base64") };
  return { command, args: (args ?? []).map(String), cwd: cwd === undefined ? "" : String(cwd), env, timeout, ...given };
}

function started(command, args, options = {}) {
  return start("exec", described(command, args, options), options.signal);
}

export function execFile(command, args, options, callback) {
  const [list, values, done] = normalised(args, options, callback);
  const child = new EventEmitter();
  started(command, list, values).then((result) => {
    const error = result.code === 0 ? null : Object.assign(new Error(`Command failed: ${command}\n${result.stderr}`), result);
    done?.(error, result.stdout, result.stderr);
    child.emit("close", result.code);
  }, (error) => done?.(error, "", ""));
  return child;
}

/// Arguments, options and a function, of which the first two may be missing.
function normalised(args, options, callback) {
  if (typeof args === "function") return [[], {}, args];
  if (typeof options === "function") return Array.isArray(args) ? [args, {}, options] : [[], args ?? {}, options];
  return Array.isArray(args) ? [args, options ?? {}, callback] : [[], options ?? args ?? {}, callback];
}

export function exec(command, options, callback) {
  const [program, args] = shell(command);
  const [, values, done] = normalised([], options, callback);
  return execFile(program, args, values, done);
}

const both = (run) => (...args) => new Promise((resolve, reject) => {
  run(...args, (error, stdout, stderr) => (error ? reject(Object.assign(error, { stdout, stderr })) : resolve({ stdout, stderr })));
});
exec[promisify.custom] = both(exec);
execFile[promisify.custom] = both(execFile);

export function spawn(command, args, options) {
  const [list, values] = normalised(args, options);
  const [program, all] = values.shell ? shell([command, ...list].join(" ")) : [command, list];
  const controller = new AbortController();
  values.signal?.addEventListener("abort", () => controller.abort());
  let input = "";
  const child = Object.assign(new EventEmitter(), {
    stdout: new EventEmitter(),
    stderr: new EventEmitter(),
    stdin: { write: (text) => void (input += text), end: (text) => void (input += text ?? "") },
    pid: undefined,
    killed: false,
    exitCode: null,
    unref() {},
    kill() {
      child.killed = true;
      controller.abort();
      return true;
    },
  });
  const run = async () => {
    // Whoever starts a process attaches to it first.
    await null;
    const result = await started(program, all, { ...values, signal: controller.signal, input });
    if (result.error) return child.emit("error", Object.assign(new Error(result.error), { code: "ENOENT" }));
    if (result.stdout) child.stdout.emit("data", Buffer.from(result.stdout));
    if (result.stderr) child.stderr.emit("data", Buffer.from(result.stderr));
    child.stdout.emit("end");
    child.stderr.emit("end");
    child.exitCode = result.killed ? null : result.code;
    child.emit("exit", child.exitCode, result.killed ? "SIGTERM" : null);
    return child.emit("close", child.exitCode, result.killed ? "SIGTERM" : null);
  };
  run().catch((error) => child.emit("error", error));
  return child;
}

export function spawnSync(command, args, options) {
  const [list, values] = normalised(args, options);
  const [program, all] = values.shell ? shell([command, ...list].join(" ")) : [command, list];
  const result = call("system.run", described(program, all, values));
  const text = values.encoding && values.encoding !== "buffer" ? (out) => out : (out) => Buffer.from(out);
  const error = result.killed
    ? Object.assign(new Error(`spawnSync ${program} ETIMEDOUT`), { code: "ETIMEDOUT" })
    : result.error && new Error(result.error);
  return {
    status: result.killed ? null : result.code, signal: result.killed ? "SIGTERM" : null,
    stdout: text(result.stdout), stderr: text(result.stderr), pid: 0,
    ...(error ? { error } : {}),
  };
}

export function execFileSync(command, args, options) {
  const [list, values] = normalised(args, options);
  const result = spawnSync(command, list, values);
  if (result.error) throw Object.assign(result.error, { ...result, error: undefined });
  if (result.status !== 0) throw Object.assign(new Error(`Command failed: ${command}\n${result.stderr}`), result);
  return result.stdout;
}

export const execSync = (command, options) => execFileSync("sh", ["-c", command], options);

export default { exec, execFile, spawn, spawnSync, execSync, execFileSync };

// The process, as far as an extension may know it. It cannot end it.

import { call, facts, provide } from "offshoot:native";

const known = call("system.facts");
const begin = Date.now();
const silent = { isTTY: false, columns: 80, rows: 24, write: () => true, on() {}, once() {}, off() {} };

const process = {
  env: known.env,
  platform: known.platform,
  arch: known.arch,
  pid: known.pid,
  version: "v20.0.0",
  versions: { node: "20.0.0" },
  argv: ["offshoot", facts.path],
  execPath: "offshoot",
  execArgv: [],
  title: "offshoot",
  exitCode: undefined,
  stdout: silent,
  stderr: silent,
  stdin: silent,
  cwd: () => call("host.info").cwd,
  uptime: () => (Date.now() - begin) / 1000,
  hrtime: Object.assign(() => [Math.floor(Date.now() / 1000), 0], { bigint: () => BigInt(Date.now()) * 1_000_000n }),
  memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0 }),
  nextTick: (callback, ...args) => void Promise.resolve().then(() => callback(...args)),
  on() {
    return process;
  },
  once() {
    return process;
  },
  off() {
    return process;
  },
  removeListener() {
    return process;
  },
  emitWarning() {},
  exit() {
    throw new Error("an extension cannot end the program; use ctx.shutdown()");
  },
  kill() {
    throw new Error("an extension cannot send signals");
  },
  chdir() {
    throw new Error("an extension cannot change the directory");
  },
};

provide("node/process", { process });

export default process;
export const { env, platform, arch, argv, cwd, exit, stdout, stderr, stdin, pid } = process;

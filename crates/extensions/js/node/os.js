// The machine.

import { call } from "offshoot:native";

const facts = () => call("system.facts");

export const EOL = "\n";
export const homedir = () => facts().home;
export const tmpdir = () => facts().tmp;
export const platform = () => facts().platform;
export const arch = () => facts().arch;
export const type = () => ({ darwin: "Darwin", win32: "Windows_NT" })[platform()] ?? "Linux";
export const hostname = () => facts().env.HOSTNAME ?? "localhost";
export const release = () => facts().release ?? "";
export const version = () => "";
export const machine = () => ({ x64: "x86_64" })[arch()] ?? arch();
export const endianness = () => "LE";
export const availableParallelism = () => facts().cpus;
export const cpus = () => Array.from({ length: facts().cpus }, () => ({ model: "", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }));
export const totalmem = () => facts().memory;
export const freemem = () => facts().memory;
export const uptime = () => 0;
export const loadavg = () => [0, 0, 0];
export const networkInterfaces = () => ({});
export const userInfo = () => ({ username: facts().env.USER ?? "", uid: -1, gid: -1, homedir: homedir(), shell: facts().env.SHELL ?? null });
export const devNull = "/dev/null";
export const constants = {
  signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGUSR1: 10, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15 },
  errno: { ENOENT: 2, EACCES: 13, EEXIST: 17, ENOTDIR: 20, EISDIR: 21, EINVAL: 22, ENOTEMPTY: 39 }, priority: {},
};

export default {
  EOL, homedir, tmpdir, platform, arch, type, hostname, release, version, machine, endianness, availableParallelism, cpus, totalmem, freemem,
  uptime, loadavg, networkInterfaces, userInfo, devNull, constants,
};

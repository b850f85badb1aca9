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
export const release = () => "";
export const cpus = () => [];
export const totalmem = () => 0;
export const freemem = () => 0;
export const userInfo = () => ({ username: facts().env.USER ?? "", homedir: homedir(), shell: facts().env.SHELL ?? null });

export default { EOL, homedir, tmpdir, platform, arch, type, hostname, release, cpus, totalmem, freemem, userInfo };

// Lets pi's RpcClient, which starts `node FILE --mode rpc ...`, start our program.
import { spawn } from "node:child_process";

const args = process.argv.slice(2);
const provider = args.indexOf("--provider");
if (provider >= 0) {
  const [, name] = args.splice(provider, 2);
  const model = args.indexOf("--model") + 1;
  args[model] = `${name}/${args[model]}`;
}
const child = spawn(process.env.OFFSHOOT_PROGRAM, args, { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));

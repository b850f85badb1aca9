// Processes: how extensions start them, and what comes of those that an extension runs in its own way.

import { start } from "offshoot:native";

export function exec(command, args, options) {
  const { signal, ...rest } = options ?? {};
  return start("exec", { command: String(command), args: (args ?? []).map(String), ...rest }, signal);
}

/// Runs a command with operations of an extension and collects what it writes.
export async function collected(operations, command, cwd, options) {
  let output = "";
  const onData = (data) => void (output += String(data));
  const { exitCode } = await operations.exec(command, cwd, { onData, ...options });
  return { output, exitCode };
}

// Asks before a command runs that deletes, overwrites or publishes. Where nobody can be asked, it does not run.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const DANGEROUS = [
  { pattern: /\brm\s+(-\w*[rf]\w*|--recursive|--force)/, why: "deletes files" },
  { pattern: /\bgit\s+(push\b.*(--force|-f\b)|reset\s+--hard|clean\s+-\w*f)/, why: "throws work away" },
  { pattern: /\b(npm|cargo)\s+publish\b/, why: "publishes" },
  { pattern: /\bsudo\b/, why: "runs as root" },
];

export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return;
    const command = String(event.input.command);
    const danger = DANGEROUS.find(({ pattern }) => pattern.test(command));
    if (!danger) return;
    if (!ctx.hasUI) return { block: true, reason: `It ${danger.why}, and nobody is there to be asked` };
    const choice = await ctx.ui.select(`This command ${danger.why}:\n\n  ${command}`, ["Do not run it", "Run it"]);
    if (choice !== "Run it") return { block: true, reason: `The user does not want it: it ${danger.why}` };
  });
}

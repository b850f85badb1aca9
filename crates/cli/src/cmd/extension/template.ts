// An extension: a file that is asked before something happens, and brings commands along.
// Types are taken out when it is loaded; nothing is built. `offshoot types > offshoot.d.ts` writes them for your editor.

import type { ExtensionAPI } from "offshoot";

export default function (pi: ExtensionAPI) {
  // A command: type /NAME in the conversation.
  pi.registerCommand("NAME", {
    description: "Say where this conversation stands",
    handler: async (_args, ctx) => {
      const path = ctx.sessionManager.getBranch();
      ctx.ui.notify(`${path.length} entries up to ${ctx.sessionManager.getLeafId() ?? "the start"}`);
    },
  });

  // A hook: asked before you go elsewhere in the tree. `{ cancel: true }` says no, and nothing has changed.
  pi.on("session_before_tree", async (event, ctx) => {
    const label = ctx.sessionManager.getLabel(event.preparation.targetId);
    if (label === "do not touch") return { cancel: true };
  });

  // Another one: told after each prompt is answered.
  pi.on("agent_end", async (_event, ctx) => {
    ctx.ui.setStatus("NAME", `NAME: ${ctx.sessionManager.getEntries().length} entries`);
  });
}

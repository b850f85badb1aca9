// /bookmark NAME puts a label on the last answer; /bookmarks shows all labels and goes to one of them.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.registerCommand("bookmark", {
    description: "Label the last answer: /bookmark NAME",
    handler: async (args, ctx) => {
      const answer = ctx.sessionManager
        .getBranch()
        .findLast((entry) => entry.type === "message" && entry.message.role === "assistant");
      if (!answer) return ctx.ui.notify("Nothing was answered yet", "warning");
      const name = args.trim() || "bookmark";
      pi.setLabel(answer.id, name);
      ctx.ui.notify(`Labelled: ${name}`);
    },
  });

  pi.registerCommand("bookmarks", {
    description: "Go to a label",
    handler: async (_args, ctx) => {
      const labels = new Map<string, string>();
      for (const entry of ctx.sessionManager.getEntries()) {
        const label = ctx.sessionManager.getLabel(entry.id);
        if (label) labels.set(label, entry.id);
      }
      if (labels.size === 0) return ctx.ui.notify("There are no labels", "info");
      const choice = await ctx.ui.select("Go to", [...labels.keys()]);
      if (choice) await ctx.navigateTree(labels.get(choice)!, { summarize: false });
    },
  });
}

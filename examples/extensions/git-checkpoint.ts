// Keeps the files of every turn in git, and brings them back when the tree is navigated.
//
// A checkpoint is a stash commit that is on no branch. Its name is kept in the session, at the place in the tree where
// it was made, so that every branch of the conversation knows its own files.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const TYPE = "git-checkpoint";

export default function (pi: ExtensionAPI) {
  pi.on("turn_end", async () => {
    const { stdout, code } = await pi.exec("git", ["stash", "create", "offshoot checkpoint"]);
    const commit = stdout.trim();
    // Without changes there is nothing to keep; outside of a repository there is no git.
    if (code === 0 && commit) pi.appendEntry(TYPE, { commit });
  });

  pi.on("session_tree", async (_event, ctx) => {
    const commit = latest(ctx);
    if (!commit || !ctx.hasUI) return;
    const choice = await ctx.ui.select("Files of this branch", ["Keep the files as they are", "Restore the checkpoint"]);
    if (choice !== "Restore the checkpoint") return;
    const { code, stderr } = await pi.exec("git", ["checkout", commit, "--", "."]);
    ctx.ui.notify(code === 0 ? "Files restored" : `Cannot restore: ${stderr.trim()}`, code === 0 ? "info" : "error");
  });
}

/// Returns the last checkpoint on the path to the leaf.
function latest(ctx: ExtensionContext): string | undefined {
  const entries = ctx.sessionManager.getBranch().filter((entry) => entry.type === "custom" && entry.customType === TYPE);
  return (entries.at(-1)?.data as { commit: string } | undefined)?.commit;
}

// Asks one question of each kind and reports the answers.
export default function (pi: any) {
  pi.registerCommand("ask", {
    description: "Asks",
    handler: async (_args: string, ctx: any) => {
      ctx.ui.setStatus("key", "busy");
      const confirmed = await ctx.ui.confirm("Sure?", "Really sure?");
      const chosen = await ctx.ui.select("Which?", ["one", "two"]);
      const typed = await ctx.ui.input("Name?", "your name");
      const edited = await ctx.ui.editor("Text?", "before");
      const late = await ctx.ui.confirm("Late?", "Nobody answers", { timeout: 50 });
      const cancelled = await ctx.ui.select("Again?", ["one"]);
      ctx.ui.setWidget("w", ["line"], { placement: "belowEditor" });
      ctx.ui.setTitle("title");
      ctx.ui.setEditorText("draft");
      ctx.ui.setStatus("key", undefined);
      ctx.ui.notify(JSON.stringify([confirmed, chosen, typed, edited, late, cancelled ?? null, ctx.hasUI]), "warning");
      pi.appendEntry("state", { count: 1 });
    },
  });
  pi.registerCommand("fail", {
    description: "Fails",
    handler: async () => {
      throw new Error("on purpose");
    },
  });
}

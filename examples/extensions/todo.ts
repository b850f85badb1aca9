// A list of things to do that the model keeps. Its state is in the results of the tool, so it follows the branch:
// whoever goes back in the tree finds the list as it was there.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { StringEnum } from "@earendil-works/pi-ai";
import { Text } from "@earendil-works/pi-tui";
import { Type } from "typebox";

interface Todo {
  text: string;
  done: boolean;
}

export default function (pi: ExtensionAPI) {
  let todos: Todo[] = [];

  /// Finds the list that the path to the leaf ends with.
  const rebuild = (ctx: ExtensionContext) => {
    const results = ctx.sessionManager
      .getBranch()
      .filter((entry) => entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolName === "todos");
    todos = structuredClone(results.at(-1)?.message.details?.todos ?? []);
  };
  pi.on("session_start", (_event, ctx) => rebuild(ctx));
  pi.on("session_tree", (_event, ctx) => rebuild(ctx));

  const spelled = () => todos.map((todo, index) => `${index + 1}. [${todo.done ? "x" : " "}] ${todo.text}`).join("\n") || "Nothing to do";

  pi.registerTool({
    name: "todos",
    label: "Todos",
    description: "Keep a list of things to do: `add` a text, mark a number as `done`, or `list` them.",
    parameters: Type.Object({
      action: StringEnum(["add", "done", "list"]),
      text: Type.Optional(Type.String({ description: "What to do (add)" })),
      number: Type.Optional(Type.Integer({ description: "Which one (done), counted from one" })),
    }),
    async execute(_id, { action, text, number }) {
      if (action === "add") {
        if (!text) throw new Error("`text` is missing");
        todos.push({ text, done: false });
      } else if (action === "done") {
        const todo = todos[(number ?? 0) - 1];
        if (!todo) throw new Error(`there is no number ${number}`);
        todo.done = true;
      }
      return { content: [{ type: "text", text: spelled() }], details: { todos: structuredClone(todos) } };
    },
    renderResult: (result, _options, theme) => {
      const list: Todo[] = result.details?.todos ?? [];
      const lines = list.map((todo) => (todo.done ? theme.fg("dim", theme.strikethrough(todo.text)) : `${theme.fg("accent", "○")} ${todo.text}`));
      return new Text(lines.join("\n") || theme.fg("dim", "Nothing to do"), 0, 0);
    },
  });

  pi.registerCommand("todos", {
    description: "Show what is to be done",
    handler: async (_args, ctx) => ctx.ui.notify(spelled()),
  });
}

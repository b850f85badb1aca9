// Parts of a conversation as components: messages, calls of tools, and the dialogs that extensions show.

import { keyHint } from "offshoot:keys";
import { Markdown } from "offshoot:markdown";
import { markdownTheme, selectListTheme, theme } from "offshoot:theme";
import { Box, Container, DynamicBorder, Editor, Input, SelectList, Spacer, Text } from "offshoot:widgets";
import { contentText } from "offshoot:transcript";

const border = () => new DynamicBorder((text) => theme.fg("border", text));

/// Shows the last lines of a text as they are wrapped, and counts those above.
export function truncateToVisualLines(text, maxVisualLines, width, paddingX = 0) {
  const lines = new Text(text, paddingX, 0).render(width);
  const skippedCount = Math.max(0, lines.length - maxVisualLines);
  return { visualLines: lines.slice(skippedCount), skippedCount };
}

/// Colours the lines of a difference.
export function renderDiff(diff) {
  const color = { "+": "toolDiffAdded", "-": "toolDiffRemoved" };
  return diff.split("\n").map((line) => theme.fg(color[line[0]] ?? "toolDiffContext", line.replaceAll("\t", "   "))).join("\n");
}

export class UserMessageComponent extends Container {
  constructor(text, mdTheme = markdownTheme) {
    super();
    const box = new Box(1, 1, (line) => theme.bg("userMessageBg", line));
    box.addChild(new Markdown(text, 0, 0, mdTheme, { color: (line) => theme.fg("userMessageText", line) }));
    this.addChild(box);
  }
}

export class AssistantMessageComponent extends Container {
  constructor(message, hideThinking = false, mdTheme = markdownTheme) {
    super();
    Object.assign(this, { hideThinking, mdTheme });
    if (message) this.updateContent(message);
  }
  setHideThinkingBlock(hide) {
    this.hideThinking = hide;
    if (this.message) this.updateContent(this.message);
  }
  updateContent(message) {
    this.message = message;
    this.clear();
    for (const block of message.content) {
      if (block.type === "text" && block.text.trim()) this.addChild(new Markdown(block.text.trim(), 1, 0, this.mdTheme));
      else if (block.type === "thinking" && block.thinking.trim()) this.addChild(this.thoughts(block.thinking.trim()));
    }
    if (message.stopReason === "aborted") this.addChild(new Text(theme.fg("error", "Operation aborted"), 1, 0));
    else if (message.stopReason === "error") this.addChild(new Text(theme.fg("error", `Error: ${message.errorMessage ?? "Unknown error"}`), 1, 0));
  }
  thoughts(text) {
    const color = (line) => theme.italic(theme.fg("thinkingText", line));
    return this.hideThinking ? new Text(color("Thinking..."), 1, 0) : new Markdown(text, 1, 0, this.mdTheme, { color });
  }
}

/// A labelled block that can be expanded.
class LabelledBlock extends Box {
  constructor(background, label) {
    super(1, 1, (line) => theme.bg(background, line));
    Object.assign(this, { label, expanded: false });
  }
  setExpanded(expanded) {
    this.expanded = expanded;
    this.fill();
  }
  head() {
    this.clear();
    this.addChild(new Text(theme.fg("customMessageLabel", theme.bold(`[${this.label}]`)), 0, 0));
  }
  body(text, short) {
    if (this.expanded) this.addChild(new Markdown(text, 0, 0, markdownTheme, { color: (line) => theme.fg("customMessageText", line) }));
    else this.addChild(new Text(theme.fg("customMessageText", short), 0, 0));
  }
}

export class BranchSummaryMessageComponent extends LabelledBlock {
  constructor(message) {
    super("customMessageBg", "branch");
    this.message = message;
    this.fill();
  }
  fill() {
    this.head();
    this.body(`**Branch Summary**\n\n${this.message.summary}`, `Branch summary (${keyHint("app.tools.expand", "to expand")})`);
  }
}

export class CompactionSummaryMessageComponent extends LabelledBlock {
  constructor(message) {
    super("customMessageBg", "compaction");
    this.message = message;
    this.fill();
  }
  fill() {
    const tokens = Number(this.message.tokensBefore ?? 0);
    this.head();
    this.body(`**Compacted from ${tokens} tokens**\n\n${this.message.summary}`, `Compacted from ${tokens} tokens (${keyHint("app.tools.expand", "to expand")})`);
  }
}

export class SkillInvocationMessageComponent extends LabelledBlock {
  constructor(block) {
    super("customMessageBg", "skill");
    this.block = block;
    this.fill();
  }
  fill() {
    this.head();
    this.body(`**${this.block.name}**\n\n${this.block.content}`, `${this.block.name} (${keyHint("app.tools.expand", "to expand")})`);
  }
}

export class CustomMessageComponent extends Container {
  constructor(message, renderer) {
    super();
    Object.assign(this, { message, renderer, expanded: false });
    this.fill();
  }
  setExpanded(expanded) {
    this.expanded = expanded;
    this.fill();
  }
  fill() {
    this.clear();
    this.addChild(new Spacer(1));
    const own = this.renderer?.(this.message, { expanded: this.expanded }, theme);
    if (own) return this.addChild(own);
    const block = new LabelledBlock("customMessageBg", this.message.customType);
    block.head();
    block.addChild(new Markdown(contentText(this.message.content), 0, 0, markdownTheme));
    this.addChild(block);
  }
}

export class BashExecutionComponent extends Container {
  output = "";
  constructor(command) {
    super();
    this.command = command;
  }
  appendOutput(piece) {
    this.output += piece;
  }
  setExpanded(expanded) {
    this.expanded = expanded;
  }
  setComplete(exitCode, cancelled) {
    Object.assign(this, { exitCode, cancelled });
  }
  getOutput() {
    return this.output;
  }
  getCommand() {
    return this.command;
  }
  render(width) {
    const { visualLines, skippedCount } = truncateToVisualLines(theme.fg("muted", this.output.trimEnd()), this.expanded ? Infinity : 20, width, 1);
    const lines = new Text(theme.fg("bashMode", theme.bold(`$ ${this.command}`)), 1, 0).render(width);
    if (skippedCount > 0) lines.push(theme.fg("muted", ` ... ${skippedCount} more lines`));
    lines.push(...visualLines);
    if (this.cancelled) lines.push(theme.fg("warning", " (cancelled)"));
    else if (this.exitCode) lines.push(theme.fg("error", ` (exit ${this.exitCode})`));
    return lines;
  }
}

/// A call of a tool with its result, drawn by the tool itself if it can.
export class ToolExecutionComponent extends Container {
  constructor(name, id, args, options, definition, ui, cwd) {
    super();
    Object.assign(this, { name, id, args, definition, ui, cwd, isPartial: true, expanded: false, state: {} });
  }
  updateArgs(args) {
    this.args = args;
  }
  markExecutionStarted() {}
  setArgsComplete() {}
  setShowImages() {}
  setExpanded(expanded) {
    this.expanded = expanded;
  }
  updateResult(result, isPartial = false) {
    Object.assign(this, { result, isPartial });
  }
  render(width) {
    const { definition, args, result, expanded, isPartial, state } = this;
    const context = { args, isError: Boolean(result?.isError), state, invalidate: () => this.ui?.requestRender?.(), lastComponent: undefined, cwd: this.cwd, toolCallId: this.id, expanded, isPartial };
    const background = isPartial ? "toolPendingBg" : result?.isError ? "toolErrorBg" : "toolSuccessBg";
    const box = new Box(1, 1, (line) => theme.bg(background, line));
    box.addChild(definition?.renderCall?.(args, theme, context) ?? new Text(theme.fg("toolTitle", theme.bold(this.name)), 0, 0));
    if (result) {
      const text = theme.fg("toolOutput", contentText(result.content ?? []));
      box.addChild(definition?.renderResult?.(result, { expanded, isPartial }, theme, context) ?? new Text(text, 0, 0));
    }
    return box.render(width);
  }
}

/// A dialog: a title between borders, and what is asked.
class Dialog extends Container {
  constructor(title, hint) {
    super();
    this.head = new Text(theme.fg("accent", theme.bold(title)), 1, 0);
    this.hint = hint;
  }
  frame(content) {
    for (const child of [border(), this.head, new Spacer(1), content, new Spacer(1), new Text(theme.fg("dim", this.hint), 1, 0), border()]) this.addChild(child);
  }
  dispose() {}
}

export class ExtensionSelectorComponent extends Dialog {
  constructor(title, options, onSelect, onCancel) {
    super(title, "↑↓ navigate  enter select  escape cancel");
    this.list = new SelectList(options.map((value) => ({ value, label: value })), Math.min(options.length, 10), selectListTheme);
    this.list.onSelect = ({ value }) => onSelect(value);
    this.list.onCancel = onCancel;
    this.frame(this.list);
  }
  handleInput(data) {
    this.list.handleInput(data);
  }
}

export class ExtensionInputComponent extends Dialog {
  constructor(title, _placeholder, onSubmit, onCancel) {
    super(title, "enter submit  escape cancel");
    this.input = Object.assign(new Input(), { onSubmit, onEscape: onCancel });
    this.frame(this.input);
  }
  set focused(value) {
    this.input.focused = value;
  }
  get focused() {
    return this.input.focused;
  }
  handleInput(data) {
    this.input.handleInput(data);
  }
}

export class ExtensionEditorComponent extends Dialog {
  constructor(tui, _keys, title, prefill, onSubmit, onCancel) {
    super(title, "enter submit  shift+enter new line  escape cancel");
    this.editor = Object.assign(new Editor(tui, {}), { onSubmit, onEscape: onCancel });
    if (prefill) this.editor.setText(prefill);
    this.frame(this.editor);
  }
  handleInput(data) {
    this.editor.handleInput(data);
  }
}

/// Lists choices for a setting of the program.
class Choice extends Container {
  constructor(values, current, onSelect, onCancel, onPreview) {
    super();
    this.list = new SelectList(values, Math.min(values.length, 10), selectListTheme);
    this.list.setSelectedIndex(Math.max(0, values.findIndex((one) => one.value === current)));
    this.list.onSelect = ({ value }) => onSelect(value);
    this.list.onCancel = onCancel;
    if (onPreview) this.list.onSelectionChange = ({ value }) => onPreview(value);
    for (const child of [border(), this.list, border()]) this.addChild(child);
  }
  getSelectList() {
    return this.list;
  }
  handleInput(data) {
    this.list.handleInput(data);
  }
}

const named = (values) => values.map((value) => ({ value, label: value }));

export class ThinkingSelectorComponent extends Choice {
  constructor(current, levels, onSelect, onCancel) {
    super(named(levels), current, onSelect, onCancel);
  }
}

export class ShowImagesSelectorComponent extends Choice {
  constructor(current, onSelect, onCancel) {
    super(named(["yes", "no"]), current ? "yes" : "no", (value) => onSelect(value === "yes"), onCancel);
  }
}


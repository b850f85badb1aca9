// The package of the agent itself.

import { call } from "offshoot:native";
import { keybindings } from "offshoot:keys";
import { markdownTheme, selectListTheme, settingsListTheme, theme } from "offshoot:theme";
import { Editor } from "offshoot:widgets";

export { BorderedLoader, DynamicBorder } from "offshoot:widgets";
export { keyHint } from "offshoot:keys";
export { complete } from "offshoot:models";
export * from "offshoot:tools";

export const VERSION = call("system.facts").version;
export const CONFIG_DIR_NAME = ".offshoot";
export const getAgentDir = () => call("host.info").configDir;
export const convertToLlm = (messages) => call("host.convertToLlm", { messages });
export const serializeConversation = (messages) => call("host.serializeConversation", { messages });
export const estimateTokens = (message) => call("host.estimateTokens", { messages: [message] });
export const getMarkdownTheme = () => markdownTheme;
export const getSelectListTheme = () => selectListTheme;
export const getSettingsListTheme = () => settingsListTheme;
export const defineTool = (tool) => tool;
export const rawKeyHint = (key, text) => theme.fg("dim", `${key} ${text}`);
export const uuidv7 = () => call("system.uuidv7");
export { theme };

export const isToolCallEventType = (name, event) => event.toolName === name;
export const isBashToolResult = (event) => event.toolName === "bash";
export const isReadToolResult = (event) => event.toolName === "read";
export const isEditToolResult = (event) => event.toolName === "edit";
export const isWriteToolResult = (event) => event.toolName === "write";

/// The editor that extensions put into the place of ours.
export class CustomEditor extends Editor {
  constructor(tui, editorTheme, bindings) {
    super(tui, editorTheme);
    this.keybindings = bindings ?? keybindings;
  }
}

/// Takes the settings at the beginning of a Markdown file apart.
export function parseFrontmatter(content) {
  const found = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(content);
  if (!found) return { frontmatter: {}, body: content };
  const frontmatter = {};
  for (const line of found[1].split(/\r?\n/)) {
    const pair = /^([\w-]+):\s*(.*)$/.exec(line);
    if (pair) frontmatter[pair[1]] = pair[2].replace(/^(["'])(.*)\1$/, "$2");
  }
  return { frontmatter, body: content.slice(found[0].length) };
}

export const stripFrontmatter = (content) => parseFrontmatter(content).body;

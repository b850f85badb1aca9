// The package of the agent itself.

import { call } from "offshoot:native";
import { keybindings } from "offshoot:keys";
import { markdownTheme, selectListTheme, settingsListTheme, theme } from "offshoot:theme";
import { Editor } from "offshoot:widgets";
import { refused } from "offshoot:refused";

export { BorderedLoader, DynamicBorder } from "offshoot:widgets";
export { keyHint, keyText, rawKeyHint } from "offshoot:keys";
export { complete } from "offshoot:models";
export * from "offshoot:tools";
export * from "offshoot:sessions";
export * from "offshoot:compaction";
export * from "offshoot:skills";
export * from "offshoot:messages";
export * from "offshoot:sdk";
export { Theme, initTheme } from "offshoot:theme";
export { getLanguageFromPath, highlightCode } from "offshoot:highlight";

export const VERSION = call("system.facts").version;
export const CONFIG_DIR_NAME = ".offshoot";
export const VIRTUAL_MODEL_STATE_ENTRY = "pi.virtual-model-state";
export const getAgentDir = () => call("host.info").configDir;
/// The program has no package directory; files that belong to it are in the configuration directory.
export const getPackageDir = getAgentDir;
/// A part of resource loaders. Agents of extensions load no extensions, so it stays empty.
export const createExtensionRuntime = () => ({ flagValues: new Map(), pendingProviderRegistrations: [] });
export const convertToLlm = (messages) => call("host.convertToLlm", { messages });
export const getMarkdownTheme = () => ({ ...markdownTheme });
export const getSelectListTheme = () => selectListTheme;
export const getSettingsListTheme = () => settingsListTheme;
export const defineTool = (tool) => tool;
export const uuidv7 = () => call("system.uuidv7");
export { theme };

export const isToolCallEventType = (name, event) => event.toolName === name;
const isResultOf = (name) => (event) => event.toolName === name;
export const isBashToolResult = isResultOf("bash");
export const isPowerShellToolResult = isResultOf("powershell");
export const isReadToolResult = isResultOf("read");
export const isEditToolResult = isResultOf("edit");
export const isWriteToolResult = isResultOf("write");
export const isGrepToolResult = isResultOf("grep");
export const isFindToolResult = isResultOf("find");
export const isLsToolResult = isResultOf("ls");

/// Puts a text into the clipboard of the user's terminal.
export async function copyToClipboard(text) {
  call("host.show", { kind: "copy", text: String(text) });
}

/// The editor that extensions put into the place of ours.
export class CustomEditor extends Editor {
  actionHandlers = new Map();
  constructor(tui, editorTheme, bindings) {
    super(tui, editorTheme);
    this.keybindings = bindings ?? keybindings;
  }
  onAction(action, handler) {
    this.actionHandlers.set(action, handler);
  }
}

export const { AgentSessionRuntime, createAgentSessionRuntime } = refused("sessions are replaced with `ctx.newSession`, `ctx.switchSession` and `ctx.fork`");
export const { InteractiveMode, RpcClient, main, parseArgs, runPrintMode, runRpcMode } = refused(
  "an extension runs inside the program; start `offshoot` for another one",
);
export const { ExtensionRunner, discoverAndLoadExtensions, wrapRegisteredTool, wrapRegisteredTools } = refused(
  "extensions are loaded by the program",
);
export const { DefaultPackageManager } = refused("packages are installed by the program");
export const { ProjectTrustStore, hasTrustRequiringProjectResources } = refused("the user decides about trust; `ctx.isProjectTrusted()` says how");
export const { createCodemodeExtension, createMcpExtension, createToolSearchExtension } = refused(
  "built-in extensions of pi; offshoot connects MCP servers itself",
);
export const { createPowerShellTool, createPowerShellToolDefinition, createLocalPowerShellOperations, getPowerShellConfig } = refused(
  "there is no PowerShell tool",
);
export const { resolveCliModel, resolveModelScopeWithDiagnostics } = refused("use `ctx.modelRegistry.find`");
export const { getDocsPath, getExamplesPath, getReadmePath } = refused("the program is one file, without a package directory");
export const { convertToPng, resizeImage } = refused("no image decoder is built in");
export const {
  FooterComponent, LoginDialogComponent, ModelSelectorComponent, OAuthSelectorComponent, SessionSelectorComponent,
  SettingsSelectorComponent, ThemeSelectorComponent, TreeSelectorComponent, UserMessageSelectorComponent, ArminComponent,
} = refused("a screen of pi's own chat; ours is drawn by the program");

// Types of everything that extensions may use. `offshoot types > offshoot.d.ts` writes this file.
//
// Extensions for pi import the same names from `@earendil-works/pi-coding-agent`, `pi-ai`, `pi-tui` and `typebox`;
// those packages need not be installed to run, only to check types. With this file alone, import from "offshoot".

declare module "offshoot" {
  type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
  type Awaitable<T> = T | Promise<T>;

  // ---------------------------------------------------------------- the session

  export interface EntryBase {
    type: string;
    id: string;
    parentId: string | null;
    timestamp: string;
  }

  /** One entry of the session, as it is stored. Fields depend on `type`. */
  export interface SessionEntry extends EntryBase {
    /** Older names of `id` and `parentId`; not enumerable. */
    readonly uuid: string;
    readonly parentUuid: string | null;
    [field: string]: any;
  }

  /** What a branch that was left did. */
  export interface BranchSummaryEntry<T = unknown> extends SessionEntry {
    type: "branch_summary";
    /** The leaf that was left. */
    fromId: string;
    summary: string;
    details?: T;
    /** True if an extension made the summary. */
    fromHook?: boolean;
  }

  export interface SessionTreeNode {
    entry: SessionEntry;
    children: SessionTreeNode[];
    label?: string;
    labelTimestamp?: string;
  }

  /** The session. Everything is answered at once, with what was just written. */
  export interface SessionManager {
    getCwd(): string;
    getSessionDir(): string;
    getSessionId(): string;
    getSessionFile(): string | undefined;
    getSessionName(): string | undefined;
    getHeader(): SessionEntry;
    isPersisted(): boolean;
    /** The current position; null before the first entry. */
    getLeafId(): string | null;
    /** Older name of `getLeafId`. */
    getLeafUuid(): string | null;
    getLeafEntry(): SessionEntry | undefined;
    /** Older name of `getLeafEntry`. */
    getCurrentLeaf(): SessionEntry | undefined;
    getEntry(id: string): SessionEntry | undefined;
    /** All entries, in the order of the file. */
    getEntries(): SessionEntry[];
    /** The entries from the root to the leaf, or to another entry. */
    getBranch(from?: string): SessionEntry[];
    /** Older name of `getBranch`. */
    getPath(from?: string): SessionEntry[];
    getChildren(id: string): SessionEntry[];
    getLabel(id: string): string | undefined;
    getTree(): SessionTreeNode[];
    /** What a model would be sent. */
    buildSessionContext(): { messages: any[]; thinkingLevel: string; model: { provider: string; modelId: string } | null };
    buildSessionProjection(): { messages: any[] };
    buildContextEntries(): SessionEntry[];
    /** Older forms of `pi.appendEntry`, `pi.sendMessage`, `pi.setLabel` and `pi.setSessionName`. */
    appendCustomEntry(customType: string, data?: unknown): string;
    appendCustomMessageEntry(customType: string, content: string | Json[], display: boolean, details?: unknown): string;
    appendLabelChange(id: string, label?: string): void;
    appendSessionInfo(name: string): void;
    /** The calls below append to the conversation or move the leaf. They throw while a turn is running. */
    appendMessage(message: any): string;
    /** Appends a message below the leaf, or below another entry. */
    saveMessage(message: any, parentId?: string): string;
    saveCompaction(compaction: { summary: string; firstKeptEntryId: string; tokensBefore: number; [field: string]: any }): string;
    /** Appends an entry that is spelled out: `custom`, `custom_message`, `label`, `message` or `compaction`. */
    saveEntry(entry: Partial<SessionEntry>): string | void;
    /** Moves the leaf onto an entry; writes nothing. Returns its id. */
    branch(id: string): string;
    /** Moves the leaf before the first entry. */
    resetLeaf(): void;
    /** Moves the leaf and appends a summary of the branch that is left. Returns the id of the summary. */
    branchWithSummary(id: string | null, summary: string, details?: unknown): string;
  }

  // ---------------------------------------------------------------- models

  export interface Model {
    provider: string;
    id: string;
    name: string;
    api: string;
    contextWindow: number;
    maxTokens: number;
    reasoning: boolean;
    thinkingLevels: ThinkingLevel[];
    input: ("text" | "image")[];
    cost: { input: number; output: number; cacheRead: number; cacheWrite: number };
  }

  export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

  export interface ModelRegistry {
    find(provider: string, id: string): Model | undefined;
    getAll(): Model[];
    getAvailable(): Model[];
    hasConfiguredAuth(model: Model): boolean;
    complete(model: Model, context: ModelContext, options?: CompleteOptions): Promise<AssistantMessage>;
    stream(model: Model, context: ModelContext, options?: CompleteOptions): AsyncIterable<any> & { result(): Promise<AssistantMessage> };
    /** A placeholder for the key, which `complete` and `stream` accept. Extensions do not get keys. */
    getApiKey(model: Model): Promise<string | undefined>;
    getApiKeyAndHeaders(model: Model): Promise<{ ok: true; apiKey: string; headers: Record<string, string> } | { ok: false; error: string }>;
  }

  export interface ModelContext {
    systemPrompt?: string;
    messages: any[];
    tools?: any[];
  }

  export interface CompleteOptions {
    maxTokens?: number;
    reasoning?: ThinkingLevel;
    signal?: AbortSignal;
    [option: string]: any;
  }

  export interface AssistantMessage {
    role: "assistant";
    content: ({ type: "text"; text: string } | { type: "thinking"; thinking: string } | { type: "toolCall"; id: string; name: string; arguments: any })[];
    stopReason: "stop" | "length" | "toolUse" | "error" | "aborted";
    errorMessage?: string;
    usage: any;
    [field: string]: any;
  }

  /** Asks a model. Never rejects: what goes wrong is in `stopReason` and `errorMessage`. */
  export function complete(model: Model, context: ModelContext, options?: CompleteOptions): Promise<AssistantMessage>;
  /** Makes messages that a model understands: summaries and custom messages become text. */
  export function convertToLlm(messages: any[]): any[];
  /** Spells a conversation as text. */
  export function serializeConversation(messages: any[]): string;
  export function getAgentDir(): string;
  export function uuidv7(): string;

  // ---------------------------------------------------------------- the screen

  export interface Component {
    /** Lines, none of them wider than `width`; escape codes for colours are allowed. */
    render(width: number): string[];
    handleInput?(data: string): void;
    invalidate?(): void;
    dispose?(): void;
  }

  /** A component that was made before it is shown: `ui.custom(component, done)`. */
  export interface ShownComponent {
    render(width: number): string[];
    /** Takes a key. `close` closes the component. Return `true` if Escape was used and must not close it. */
    handleInput?(data: string, close: () => void): unknown;
    /** Closes the component; set when it is shown. */
    close?: () => void;
    /** Draws the component again; set when it is shown. */
    requestRender?: () => void;
    invalidate?(): void;
    dispose?(): void;
  }

  export interface Theme {
    fg(color: string, text: string): string;
    bg(color: string, text: string): string;
    bold(text: string): string;
    italic(text: string): string;
    underline(text: string): string;
    inverse(text: string): string;
    strikethrough(text: string): string;
  }

  export interface DialogOptions {
    signal?: AbortSignal;
    /** Milliseconds until the question closes itself. */
    timeout?: number;
  }

  /** What people see and are asked. Without a screen, questions answer `undefined` or `false` and the rest does nothing. */
  export interface UI {
    select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
    confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
    input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
    editor(title: string, prefill?: string, dialog?: DialogOptions): Promise<string | undefined>;
    /** A component takes the keyboard until it calls `done`. */
    custom<T>(
      factory: (tui: { requestRender(): void }, theme: Theme, keybindings: any, done: (value: T) => void) => Awaitable<Component>,
      options?: { overlay?: boolean; overlayOptions?: any },
    ): Promise<T>;
    /**
     * The older form. The component closes when it calls `close`, when it makes no use of Escape (it neither returns
     * `true` nor requests a render), and when Escape comes twice within a second. Then `done` runs, once.
     */
    custom(component: ShownComponent, done?: () => void): Promise<void>;
    notify(message: string, level?: "info" | "warning" | "error"): void;
    setStatus(key: string, text?: string): void;
    setWidget(key: string, content?: string[] | ((tui: any, theme: Theme) => Component), options?: { placement?: "aboveEditor" | "belowEditor" }): void;
    setFooter(factory?: (tui: any, theme: Theme, data: any) => Component): void;
    setHeader(factory?: (tui: any, theme: Theme) => Component): void;
    setTitle(text: string): void;
    setEditorText(text: string): void;
    getEditorText(): string;
    pasteToEditor(text: string): void;
    setWorkingMessage(text?: string): void;
    setWorkingVisible(visible: boolean): void;
    setWorkingIndicator(indicator?: { frames?: string[]; intervalMs?: number }): void;
    setHiddenThinkingLabel(label?: string): void;
    setToolsExpanded(expanded: boolean): void;
    getToolsExpanded(): boolean;
    addAutocompleteProvider(provider: any): () => void;
    setEditorComponent(factory?: any): void;
    getEditorComponent(): any;
    onTerminalInput(handler: (data: string) => { consume?: boolean; data?: string } | undefined | void): () => void;
    readonly theme: Theme;
    getAllThemes(): { name: string; path: string | undefined }[];
    getTheme(name: string): Theme | undefined;
    setTheme(theme: any): { success: boolean; error?: string };
  }

  // ---------------------------------------------------------------- contexts

  /** The second argument of every event handler. */
  export interface ExtensionContext {
    ui: UI;
    readonly hasUI: boolean;
    readonly mode: "tui" | "rpc" | "json" | "print";
    readonly cwd: string;
    sessionManager: SessionManager;
    modelRegistry: ModelRegistry;
    readonly model: Model | undefined;
    readonly thinkingLevel: ThinkingLevel;
    readonly scopedModels: Model[];
    /** Tells that nobody waits for the handler any more. */
    signal?: AbortSignal;
    exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>;
    isIdle(): boolean;
    isProjectTrusted(): boolean;
    hasPendingMessages(): boolean;
    hasQueuedMessages(): boolean;
    abort(): void;
    /** Ends the program as soon as no turn is going on. */
    shutdown(): void;
    compact(options?: { customInstructions?: string; onComplete?(result: any): void; onError?(error: Error): void }): void;
    getContextUsage(): { tokens: number | null; contextWindow: number; percent: number | null } | undefined;
    getSystemPrompt(): string;
    getSystemPromptOptions(): any;
    completeWithModel(context: ModelContext, options?: CompleteOptions): Promise<AssistantMessage>;
    /** Of older dialects. */
    sessionFile: string | null;
    readonly entries: SessionEntry[];
    readonly currentPath: SessionEntry[];
    saveEntry(entry: Partial<SessionEntry>): string | void;
    rebuildContext(): any[];
    /**
     * Moves the leaf onto an entry in the same file. A text is stored as the summary of the branch that is left; with
     * `{ summarize: true }` the model makes one. In an event handler the move is made at once if no turn is running and
     * no model is needed; otherwise as soon as the agent is free.
     */
    branchInPlace(parentId: string, summary?: string | { summarize?: boolean; customInstructions?: string }): Promise<any>;
  }

  /** What commands and shortcuts get: they may change which session it is, and where in it. */
  export interface ExtensionCommandContext extends ExtensionContext {
    waitForIdle(): Promise<void>;
    navigateTree(
      targetId: string,
      options?: { summarize?: boolean; customInstructions?: string; replaceInstructions?: boolean; label?: string },
    ): Promise<NavigateTreeResult>;
    fork(entryId: string, options?: { position?: "before" | "at"; withSession?(ctx: ExtensionCommandContext): Awaitable<void> }): Promise<{ cancelled: boolean }>;
    /** Other name of `fork`, with the result of the older dialect. */
    branch(entryId: string): Promise<BranchResult>;
    branchInPlace(parentId: string, summary?: string | { summarize?: boolean; customInstructions?: string }): Promise<NavigateTreeResult>;
    /** The session as the older dialect has it. */
    readonly session: LimitedAgentSession;
    newSession(options?: {
      parentSession?: string;
      setup?(session: SessionManager): Awaitable<void>;
      withSession?(ctx: ExtensionCommandContext): Awaitable<void>;
    }): Promise<{ cancelled: boolean }>;
    switchSession(path: string, options?: { withSession?(ctx: ExtensionCommandContext): Awaitable<void> }): Promise<{ cancelled: boolean }>;
    reload(): Promise<void>;
  }

  export interface NavigateTreeResult {
    cancelled: boolean;
    /** True if the user stopped it. */
    aborted: boolean;
    /** The text of the prompt that was selected. */
    editorText?: string;
    /** The summary that was appended. */
    summaryEntry?: BranchSummaryEntry;
  }

  export interface BranchResult {
    selectedText: string;
    cancelled: boolean;
    newSessionFile?: string;
    inPlace: boolean;
  }

  /** The session in the older dialect: everything but prompting, for which there is `sendMessage`. */
  export interface LimitedAgentSession {
    sessionManager: SessionManager;
    readonly messages: any[];
    navigateTree: ExtensionCommandContext["navigateTree"];
    branch: ExtensionCommandContext["branch"];
    branchInPlace: ExtensionCommandContext["branchInPlace"];
    getSessionTree(): SessionTreeNode[];
    compact(customInstructions?: string): Promise<any>;
    abort(): void;
  }

  /** The only argument of a command in the older dialect. */
  export interface CommandContext extends ExtensionCommandContext {
    /** Everything behind the name of the command. */
    args: string;
  }

  export interface ExecOptions {
    cwd?: string;
    timeout?: number;
    signal?: AbortSignal;
    env?: Record<string, string>;
    input?: string;
  }

  export interface ExecResult {
    stdout: string;
    stderr: string;
    code: number;
    killed: boolean;
  }

  // ---------------------------------------------------------------- events

  /** What the events before something is done have besides their fields. */
  interface Gate {
    signal: AbortSignal;
    /** The same as returning `{ cancel: true }`. */
    cancel(): void;
    /** The same as returning these fields, for `session_before_tree`. */
    setSummarize(summarize: boolean): void;
    setCustomInstructions(text: string): void;
    setReplaceInstructions(replace: boolean): void;
    setLabel(label: string): void;
    setSummary(summary: string, details?: unknown): void;
  }

  /** What all events of a session have in the older dialect; not enumerable. */
  interface SessionEventBase {
    readonly sessionManager: SessionManager;
    readonly modelRegistry: ModelRegistry;
  }

  export type SessionBeforeTreeEvent = Events["session_before_tree"][0];
  export type SessionBeforeTreeResult = Events["session_before_tree"][1];
  export type SessionBeforeCompactEvent = Events["session_before_compact"][0] & { previousCompactions: SessionEntry[] };
  export type SessionTreeEvent = Events["session_tree"][0];
  export type BoundaryResult = Events["turn_end"][1];

  export type EntryDraft =
    | { type: "custom"; customType: string; data?: unknown }
    | { type: "custom_message"; customType: string; content: string | any[]; display: boolean; details?: unknown }
    | { type: "context_edit"; targetId: string; replacement: null | { content: string | any[] } }
    | { type: "compaction"; summary: string; firstKeptEntryId: string | null; details?: unknown; usage?: any };

  // <events> This part is generated from the table of events in crates/agent/src/hooks/events.rs.
  export interface TreePreparation {
    targetId: string;
    oldLeafId: string | null;
    commonAncestorId: string | null;
    entriesToSummarize: SessionEntry[];
    userWantsSummary: boolean;
    customInstructions?: string;
    replaceInstructions?: boolean;
    label?: string;
  }

  export interface CompactionPreparation {
    messagesToSummarize: any[];
    turnPrefixMessages: any[];
    isSplitTurn: boolean;
    firstKeptEntryId: string;
    tokensBefore: number;
    previousSummary?: string;
    settings: any;
  }

  export interface CherryPickPreparation {
    targetLeafId: string | null;
    sourceEntries: SessionEntry[];
    mode: string;
    sourceSession?: any;
  }

  export interface MergePreparation {
    baseId: string | null;
    sourceLeafId: string;
    sourceEntries: SessionEntry[];
    targetEntries: SessionEntry[];
    contestedFiles: string[];
    mode: string;
    sourceSession?: any;
  }

  export interface BoundaryContext {
    contextMessages: any[];
    llmMessages: any[];
    pendingMessages: any[];
    canContinue: boolean;
  }

  /** Events, their payloads, and the answers of handlers. Unknown names are accepted too. */
  export interface Events {
    /** A summary counts only if one is wanted: by the user, or because a handler set `summarize`. */
    session_before_tree: [Gate & SessionEventBase & { preparation: TreePreparation; targetId: string; model?: Model }, { cancel?: boolean; summary?: { summary: string, details?: unknown, usage?: any }; summarize?: boolean; customInstructions?: string; replaceInstructions?: boolean; label?: string }];
    /** `event.previousCompactions` has the compactions of the branch, the latest first. */
    session_before_compact: [Gate & SessionEventBase & { preparation: CompactionPreparation; branchEntries: SessionEntry[]; customInstructions?: string; reason: "manual" | "threshold" | "overflow"; willRetry: boolean; model?: Model }, { cancel?: boolean; compaction?: { summary: string, firstKeptEntryId: string, tokensBefore: number, details?: unknown } }];
    session_before_switch: [Gate & SessionEventBase & { reason: "new" | "resume"; targetSessionFile?: string }, { cancel?: boolean }];
    session_before_fork: [Gate & SessionEventBase & { entryId: string; position: "before" | "at" }, { cancel?: boolean }];
    session_before_cherry_pick: [Gate & SessionEventBase & { preparation: CherryPickPreparation }, { cancel?: boolean; mode?: string; text?: string; extraEntries?: EntryDraft[] }];
    session_before_merge: [Gate & SessionEventBase & { preparation: MergePreparation }, { cancel?: boolean; summary?: any; conflicts?: any; extraEntries?: EntryDraft[] }];
    /** After `handled` no model is asked. Also for prompts that are sent while the model answers. */
    input: [{ text: string; images?: any[]; source: "interactive" | "rpc" | "extension" }, { action: "continue" | "transform" | "handled"; text?: string; images?: any[] }];
    /** The messages of all handlers go behind the prompt; the system prompt holds for this prompt. */
    before_agent_start: [{ messageType: "user" | "custom"; prompt?: string; images?: any[]; message?: CustomMessage; systemPrompt: string }, { message?: CustomMessage; systemPrompt?: string }];
    /** The messages that the model is sent; the session stays as it is. */
    context: [{ messages: any[] }, { messages?: any[] }];
    /** After `context`, with the system prompt as the first message. */
    context_with_system: [{ messages: any[] }, { messages?: any[] }];
    /** Change `event.input` in place; if a handler fails, it is blocked. */
    tool_call: [{ toolCallId: string; toolName: string; input: any }, { block?: boolean; reason?: string }];
    tool_result: [{ toolCallId: string; toolName: string; input: any; content: any[]; details?: any; isError: boolean }, { content?: any[]; details?: any; isError?: boolean }];
    /** The role of a message cannot be changed. */
    message_end: [{ message: any }, { message?: any }];
    /** The returned value replaces `payload`; the body as the service gets it. */
    before_provider_request: [{ payload: any }, any];
    /** Change `event.headers` in place; null removes a header; keys are not among them. */
    before_provider_headers: [{ headers: Record<string, string | null> }, void];
    /** The entries are appended if all of them can be; with `continue` the model is asked once more. */
    turn_end: [{ turnIndex: number; message: any; toolResults: any[]; messageEntryId: string; toolResultEntryIds: string[]; outcome: "completed" | "aborted" | "error"; entries: EntryDraft[]; continue: boolean; context: BoundaryContext }, { entries?: EntryDraft[]; continue?: boolean }];
    /** Like `turn_end`, when the model has nothing more to do. */
    agent_before_settle: [{ outcome: "completed" | "error"; entries: EntryDraft[]; continue: boolean; context: BoundaryContext }, { entries?: EntryDraft[]; continue?: boolean }];
    /** If a handler fails, it is blocked. */
    user_bash: [{ command: string; cwd: string; excludeFromContext: boolean }, { block?: boolean; reason?: string; operations?: { exec: any }; result?: { output: string, exitCode: number | null, cancelled: boolean, truncated: boolean } }];
    /** For programs that embed the agent: offshoot itself asks the user (`offshoot trust`). */
    project_trust: [{ cwd: string }, { trusted: "yes" | "no" | "undecided"; remember?: boolean }];
    /** Files or directories; those that others name before keep their names. */
    resources_discover: [{ cwd: string; reason: string }, { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] }];
    session_start: [SessionEventBase & { reason: "startup" | "reload" | "new" | "resume" | "fork"; previousSessionFile?: string }, void];
    /** All handlers together have five seconds. */
    session_shutdown: [SessionEventBase & { reason: string; targetSessionFile?: string }, void];
    /** A navigation that was cancelled or aborted is reported only to handlers whose source reads `cancelled` or `aborted`. */
    session_tree: [SessionEventBase & { newLeafId: string | null; oldLeafId: string | null; targetId: string; summaryEntry?: BranchSummaryEntry; editorText?: string; fromExtension?: boolean; fromHook?: boolean; cancelled: boolean; aborted: boolean }, void];
    session_tree_end: [SessionEventBase & { targetId: string; outcome: "navigated" | "cancelled" | "aborted" | "failed" | "noop"; error?: string }, void];
    session_compact: [SessionEventBase & { compactionEntry: SessionEntry; fromExtension: boolean; fromHook: boolean; reason: string; willRetry: boolean }, void];
    session_compact_failed: [SessionEventBase & { reason: string; errorMessage?: string; aborted: boolean; willRetry: boolean; fromExtension: boolean }, void];
    /** After `session_start` of the new session. */
    session_fork: [SessionEventBase & { reason: "fork"; previousSessionFile?: string }, void];
    /** After `session_start` of the new session. */
    session_switch: [SessionEventBase & { reason: "new" | "resume"; previousSessionFile?: string }, void];
    /** Every entry that was appended. */
    session_entry: [SessionEventBase & { entry: SessionEntry; source: "agent" | "extension" }, void];
    session_label: [SessionEventBase & { targetId: string; label?: string; previous?: string }, void];
    session_info_changed: [SessionEventBase & { name?: string }, void];
    session_cherry_pick: [SessionEventBase & { mode: string; entries: SessionEntry[] }, void];
    session_merge: [SessionEventBase & { mode: string; entry?: SessionEntry; extraEntries?: SessionEntry[]; entries?: SessionEntry[]; fromExtension?: boolean }, void];
    model_select: [{ model: Model; previousModel?: Model; source: "set" | "cycle" | "restore" }, void];
    thinking_level_select: [{ level: ThinkingLevel; previousLevel: ThinkingLevel }, void];
    agent_start: [{}, void];
    agent_end: [{ messages: any[]; outcome: "done" | "aborted" | "failed"; errorMessage?: string }, void];
    agent_settled: [{ aborted: boolean }, void];
    turn_start: [{ turnIndex: number; timestamp: number }, void];
    message_start: [{ message: any; responseId?: string }, void];
    message_update: [{ message: any; assistantMessageEvent: any }, void];
    after_provider_response: [{ status: number; headers: Record<string, string> }, void];
    tool_execution_start: [{ toolCallId: string; toolName: string; args: any }, void];
    tool_execution_update: [{ toolCallId: string; toolName: string; args: any; partialResult: any }, void];
    tool_execution_end: [{ toolCallId: string; toolName: string; result: any; isError: boolean }, void];
  }
  // </events>

  // ---------------------------------------------------------------- registering

  export interface CustomMessage<T = unknown> {
    customType: string;
    content: string | any[];
    display: boolean;
    details?: T;
  }

  export interface ToolDefinition<P = any, D = any> {
    name: string;
    label?: string;
    description: string;
    /** A JSON schema of an object; `Type.Object({ … })` of typebox makes one. */
    parameters?: any;
    promptSnippet?: string;
    promptGuidelines?: string[];
    /** `parallel`: a call may run while other calls of the same answer run. By default calls run in order. */
    executionMode?: "parallel" | "sequential";
    prepareArguments?(args: any): any;
    execute(
      id: string,
      params: P,
      signal: AbortSignal | undefined,
      onUpdate: ((output: { content: any[]; details?: D }) => void) | undefined,
      ctx: ExtensionContext,
    ): Awaitable<{ content: any[]; details?: D; isError?: boolean } | string>;
    renderCall?(args: P, theme: Theme, context: any): Component | undefined;
    renderResult?(result: any, options: { expanded: boolean; isPartial: boolean }, theme: Theme, context: any): Component | undefined;
    /** Told of session changes: `start`, `switch`, `branch`, `tree`, `shutdown`. */
    onSession?(event: any, ctx: ExtensionContext): Awaitable<void>;
  }

  type Renderer = (value: any, options: { expanded: boolean; keyHint(action: string, text: string): string }, theme: Theme) => Component | undefined;

  /** The argument of the default export of every extension. */
  export interface ExtensionAPI {
    /** Listens to an event; what is returned stops it. */
    on<E extends keyof Events>(event: E, handler: (event: Events[E][0], ctx: ExtensionContext) => Awaitable<Events[E][1] | undefined | void>): () => void;
    on(event: string, handler: (event: any, ctx: ExtensionContext) => any): () => void;
    sendMessage(message: CustomMessage, options?: { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn" } | boolean): void;
    sendUserMessage(content: string | any[], options?: { deliverAs?: "steer" | "followUp" }): void;
    /** Older form of `sendMessage`. */
    send(text: string): void;
    /** Appends state of the extension at the leaf; no model sees it. */
    appendEntry<T>(customType: string, data?: T): string;
    setLabel(id: string, label?: string): void;
    setSessionName(name: string): void;
    getSessionName(): string | undefined;
    registerCommand(
      name: string,
      options: {
        description?: string;
        /** With one parameter of which `args`, `session`, `ui` or `exec` is read, the older form: a returned text is sent as a prompt. */
        handler: ((args: string, ctx: ExtensionCommandContext) => Awaitable<void>) | ((ctx: CommandContext) => Awaitable<string | void>);
        getArgumentCompletions?(prefix: string): Awaitable<{ value: string; label?: string; description?: string }[] | null>;
      },
    ): void;
    registerTool(tool: ToolDefinition): void;
    registerShortcut(key: string, options: { description?: string; handler(ctx: ExtensionCommandContext): Awaitable<void> }): void;
    registerFlag(name: string, options: { description?: string; type: "boolean" | "string"; default?: boolean | string }): void;
    getFlag(name: string): boolean | string | undefined;
    registerMessageRenderer(customType: string, renderer: Renderer): void;
    /** Other names of `registerMessageRenderer`. */
    registerCustomMessageRenderer(customType: string, renderer: Renderer): void;
    renderCustomMessage(customType: string, renderer: Renderer): void;
    registerEntryRenderer(customType: string, renderer: Renderer): void;
    /** Adds models: of a service, or answered by `streamSimple`. */
    registerProvider(name: string, config: ProviderConfig): void;
    unregisterProvider(name: string): void;
    /** Runs a program without a shell. Never rejects. */
    exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>;
    getActiveTools(): string[];
    setActiveTools(names: string[]): void;
    getAllTools(): { name: string; description: string; parameters: any }[];
    getCommands(): { name: string; description: string; source: string }[];
    setModel(model: Model): Promise<boolean>;
    getThinkingLevel(): ThinkingLevel;
    setThinkingLevel(level: ThinkingLevel): void;
    /** A bus between extensions. What is sent is copied. */
    events: { on(channel: string, handler: (data: any) => void): () => void; off(channel: string, handler: any): void; emit(channel: string, data?: unknown): void };
  }

  /** A provider that an extension registers. */
  export interface ProviderConfig {
    /** The address of the service. */
    baseUrl?: string;
    /** The wire format. */
    api?: string;
    /** The name of an environment variable, or the key itself. */
    apiKey?: string;
    /** True if the key is also sent as a bearer token. */
    authHeader?: boolean;
    headers?: Record<string, string>;
    models?: {
      id: string; name?: string; api?: string; reasoning?: boolean; thinkingLevelMap?: Record<string, string | null>;
      input?: ("text" | "image")[]; cost?: { input: number; output: number; cacheRead: number; cacheWrite: number };
      contextWindow?: number; maxTokens?: number;
    }[];
    /** Answers in place of a service. */
    streamSimple?(model: any, context: any, options: any): AsyncIterable<any> | Promise<AsyncIterable<any>>;
  }

  /** Older name of `ExtensionAPI`. */
  export type HookAPI = ExtensionAPI;
}

declare module "@earendil-works/pi-coding-agent" {
  export * from "offshoot";
  import type { Component, Theme, ToolDefinition } from "offshoot";
  export class BorderedLoader implements Component {
    constructor(tui: any, theme: Theme, message: string, options?: { cancellable?: boolean });
    readonly signal: AbortSignal;
    onAbort?: () => void;
    render(width: number): string[];
    handleInput(data: string): void;
  }
  export class DynamicBorder implements Component {
    constructor(color?: (text: string) => string);
    render(width: number): string[];
  }
  export function defineTool<T extends ToolDefinition>(tool: T): T;
  export function getMarkdownTheme(): any;
  export function getSelectListTheme(): any;
  export function getSettingsListTheme(): any;
  export function parseFrontmatter(content: string): { frontmatter: Record<string, string>; body: string };
  export function createBashTool(cwd?: string, options?: any): ToolDefinition;
  export function createReadTool(cwd?: string, options?: any): ToolDefinition;
  export function createEditTool(cwd?: string, options?: any): ToolDefinition;
  export function createWriteTool(cwd?: string, options?: any): ToolDefinition;
  export function createGrepTool(cwd?: string, options?: any): ToolDefinition;
  export function createFindTool(cwd?: string, options?: any): ToolDefinition;
  export function createLsTool(cwd?: string, options?: any): ToolDefinition;
  /** A session beside the user's: a file, or in memory. */
  export class SessionManager {
    static create(cwd?: string, dir?: string, options?: { id?: string; parentSession?: string }): SessionManager;
    static open(path: string): SessionManager;
    static continueRecent(cwd: string, dir?: string): SessionManager;
    static inMemory(cwd?: string, options?: { id?: string }, entries?: any[]): SessionManager;
    static forkFrom(path: string, cwd: string, dir?: string): SessionManager;
    static list(cwd: string, dir?: string): Promise<any[]>;
    static listAll(dir?: string): Promise<any[]>;
    appendMessage(message: any): string;
    close(): void;
    [method: string]: any;
  }
  /** An agent beside the user's. */
  export class AgentSession {
    prompt(text: string, options?: { images?: any[]; streamingBehavior?: "steer" | "followUp" }): Promise<void>;
    subscribe(listener: (event: any) => void): () => void;
    steer(text: string): Promise<void>;
    followUp(text: string): Promise<void>;
    abort(): Promise<void>;
    dispose(): void;
    getLastAssistantText(): string | undefined;
    readonly messages: any[];
    readonly isStreaming: boolean;
    readonly sessionManager: SessionManager;
  }
  export function createAgentSession(options?: any): Promise<{ session: AgentSession }>;
  export function buildSessionContext(entries: any[], leafId?: string | null): { messages: any[]; thinkingLevel: string; model: any };
  export function copyToClipboard(text: string): Promise<void>;
  export const VERSION: string;
  export const CONFIG_DIR_NAME: string;
}

declare module "@earendil-works/pi-ai" {
  export { complete, uuidv7 } from "offshoot";
  export type { AssistantMessage, Model, ModelContext } from "offshoot";
  export { Type } from "typebox";
  import type { Model } from "offshoot";
  /** A choice of texts that every provider understands. */
  export function StringEnum<T extends readonly string[]>(values: T, options?: any): any;
  export function getModel(provider: string, id: string): Model | undefined;
}

declare module "@earendil-works/pi-tui" {
  import type { Component } from "offshoot";
  export type { Component } from "offshoot";
  export class Text implements Component {
    constructor(text?: string, paddingX?: number, paddingY?: number, background?: (text: string) => string);
    setText(text: string): void;
    render(width: number): string[];
  }
  export class Container implements Component {
    addChild(component: Component): void;
    removeChild(component: Component): void;
    clear(): void;
    render(width: number): string[];
    invalidate(): void;
  }
  export class Box extends Container {
    constructor(paddingX?: number, paddingY?: number, background?: (text: string) => string);
  }
  export class Spacer implements Component {
    constructor(lines?: number);
    render(width: number): string[];
  }
  export class Markdown implements Component {
    constructor(text: string, paddingX?: number, paddingY?: number, theme?: any, defaults?: any);
    render(width: number): string[];
  }
  export interface SelectItem {
    value: string;
    label: string;
    description?: string;
  }
  export class SelectList implements Component {
    constructor(items: SelectItem[], maxVisible?: number, theme?: any);
    onSelect?: (item: SelectItem) => void;
    onCancel?: () => void;
    render(width: number): string[];
    handleInput(data: string): void;
  }
  export interface SettingItem {
    id: string;
    label: string;
    description?: string;
    currentValue: string;
    values?: string[];
  }
  export class SettingsList implements Component {
    constructor(items: SettingItem[], maxVisible: number, theme: any, onChange: (id: string, value: string) => void, onCancel: () => void);
    render(width: number): string[];
    handleInput(data: string): void;
  }
  /** Tells whether what a terminal sent is a key such as `up`, `enter` or `ctrl+c`. */
  export function matchesKey(data: string, key: string): boolean;
  export const Key: any;
  export function visibleWidth(text: string): number;
  export function truncateToWidth(text: string, width: number, ellipsis?: string, pad?: boolean): string;
  export function wrapTextWithAnsi(text: string, width: number): string[];
}

declare module "typebox" {
  /** Makes JSON schemas. */
  export const Type: any;
}

//! The table of events: names, payloads, answers, and how the answers of several handlers are combined.
//!
//! **events** -> combine -> `agent`
//!
//! The event part of `offshoot.d.ts`, the tables in `docs/extensions.md` and the facts that the script of extensions
//! needs about events come from here. A new event is one entry of [`EVENTS`].

use serde_json::{Map, Value as Json};

/// One event.
#[derive(Debug)]
pub struct Event {
    /// The name.
    pub name: &'static str,
    /// Names that older extensions use.
    pub older_names: &'static [&'static str],
    /// The fields of the payload as TypeScript declares them, separated by `; `.
    pub payload: &'static str,
    /// The fields of an answer, in the same form. Others are ignored.
    pub answer: &'static str,
    /// The field of the payload that a handler may change in place instead of returning it.
    pub edited: Option<&'static str>,
    /// The field of the payload that a returned value replaces as a whole.
    pub returned: Option<&'static str>,
    /// How the answers of several handlers are combined.
    pub combine: Combine,
    /// The answer that ends the calls: a field and its values.
    pub ends: Option<(&'static str, &'static [&'static str])>,
    /// True if a failed handler blocks the action. Otherwise the failure is skipped.
    pub failure_blocks: bool,
    /// A remark for the documentation.
    pub note: &'static str,
}

/// How the answers of several handlers are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Field by field. The last answer to a field wins.
    Merge,
    /// Each answer changes the payload that the next handler gets.
    Chain,
    /// All answers are kept. An answer to this field also changes the payload that the next handler gets.
    Collect(Option<&'static str>),
    /// The first deciding answer wins.
    First,
    /// Answers are ignored.
    Notify,
}

impl Event {
    /// Returns true if a handler may cancel the action.
    pub fn can_be_cancelled(&self) -> bool {
        self.ends.is_some_and(|(field, _)| field == "cancel")
    }

    /// Returns true if an answer may have this field.
    pub(super) fn takes(&self, field: &str) -> bool {
        fields(self.answer).chain(self.edited).chain(self.returned).any(|known| name_of(known) == field)
    }

    /// Returns true if no further handler is called after this answer.
    pub(super) fn is_ended_by(&self, answer: &Map<String, Json>) -> bool {
        let Some((field, values)) = self.ends else { return self.combine == Combine::First };
        match answer.get(field) {
            Some(Json::String(text)) => values.contains(&text.as_str()),
            Some(Json::Bool(true)) => values.contains(&"true"),
            _ => false,
        }
    }

    const fn older(mut self, names: &'static [&'static str]) -> Self {
        self.older_names = names;
        self
    }

    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    const fn edits(mut self, field: &'static str) -> Self {
        self.edited = Some(field);
        self
    }

    const fn ends_with(mut self, field: &'static str, values: &'static [&'static str]) -> Self {
        self.ends = Some((field, values));
        self
    }

    const fn guards(mut self) -> Self {
        self.failure_blocks = true;
        self
    }
}

/// Finds an event by its name, or by an older one.
pub fn event(name: &str) -> Option<&'static Event> {
    EVENTS.iter().find(|event| event.name == name || event.older_names.contains(&name))
}

/// Splits a declaration into its fields.
pub fn fields(declaration: &'static str) -> impl Iterator<Item = &'static str> {
    declaration.split("; ").filter(|field| !field.is_empty())
}

/// Returns the name of a declared field.
pub fn name_of(field: &str) -> &str {
    field.split(['?', ':']).next().unwrap_or(field)
}

/// Lists the payload fields that are omitted without a value. Other fields are null then.
pub fn optional_fields() -> impl Iterator<Item = &'static str> {
    let declarations =
        EVENTS.iter().map(|event| event.payload).chain(TYPES.iter().map(|(_, fields)| *fields));
    declarations.flat_map(fields).filter_map(|field| field.split_once("?: ")).map(|(name, _)| name)
}

/// An event after an action; it is only reported.
const fn after(name: &'static str, payload: &'static str) -> Event {
    Event {
        name,
        older_names: &[],
        payload,
        answer: "",
        edited: None,
        returned: None,
        combine: Combine::Notify,
        ends: None,
        failure_blocks: false,
        note: "",
    }
}

/// An event with answers.
const fn asked(name: &'static str, payload: &'static str, answer: &'static str, combine: Combine) -> Event {
    Event { answer, combine, ..after(name, payload) }
}

/// An event before an action, which a handler may cancel.
const fn before(name: &'static str, payload: &'static str, answer: &'static str) -> Event {
    asked(name, payload, answer, Combine::Merge).ends_with("cancel", &["true"])
}

/// Object types that payloads use: names and fields.
pub const TYPES: &[(&str, &str)] = &[
    (
        "TreePreparation",
        "targetId: string; oldLeafId: string | null; commonAncestorId: string | null; \
         entriesToSummarize: SessionEntry[]; userWantsSummary: boolean; customInstructions?: string; \
         replaceInstructions?: boolean; label?: string",
    ),
    (
        "CompactionPreparation",
        "messagesToSummarize: any[]; turnPrefixMessages: any[]; isSplitTurn: boolean; firstKeptEntryId: string; \
         tokensBefore: number; previousSummary?: string; settings: any",
    ),
    (
        "CherryPickPreparation",
        "targetLeafId: string | null; sourceEntries: SessionEntry[]; mode: string; sourceSession?: any",
    ),
    (
        "MergePreparation",
        "baseId: string | null; sourceLeafId: string; sourceEntries: SessionEntry[]; \
         targetEntries: SessionEntry[]; contestedFiles: string[]; mode: string; sourceSession?: any",
    ),
    (
        "BoundaryContext",
        "contextMessages: any[]; llmMessages: any[]; pendingMessages: any[]; canContinue: boolean",
    ),
];

/// All events, in the order of the documentation.
pub const EVENTS: &[Event] = &[
    before(
        "session_before_tree",
        "preparation: TreePreparation; targetId: string; model?: Model",
        "cancel?: boolean; summary?: { summary: string, details?: unknown, usage?: any }; summarize?: boolean; \
         customInstructions?: string; replaceInstructions?: boolean; label?: string",
    )
    .older(&["before_tree"])
    .note("a summary counts only if one is wanted: by the user, or because a handler set `summarize`"),
    before(
        "session_before_compact",
        "preparation: CompactionPreparation; branchEntries: SessionEntry[]; customInstructions?: string; \
         reason: 'manual' | 'threshold' | 'overflow'; willRetry: boolean; model?: Model",
        "cancel?: boolean; \
         compaction?: { summary: string, firstKeptEntryId: string, tokensBefore: number, details?: unknown }",
    )
    .older(&["before_compact", "session.compacting"])
    .note("`event.previousCompactions` has the compactions of the branch, the latest first"),
    before(
        "session_before_switch",
        "reason: 'new' | 'resume'; targetSessionFile?: string",
        "cancel?: boolean",
    )
    .older(&["before_switch"]),
    before("session_before_fork", "entryId: string; position: 'before' | 'at'", "cancel?: boolean")
        .older(&["session_before_branch"]),
    before(
        "session_before_cherry_pick",
        "preparation: CherryPickPreparation",
        "cancel?: boolean; mode?: string; text?: string; extraEntries?: EntryDraft[]",
    ),
    before(
        "session_before_merge",
        "preparation: MergePreparation",
        "cancel?: boolean; summary?: any; conflicts?: any; extraEntries?: EntryDraft[]",
    ),
    asked(
        "input",
        "text: string; images?: any[]; source: 'interactive' | 'rpc' | 'extension'",
        "action: 'continue' | 'transform' | 'handled'; text?: string; images?: any[]",
        Combine::Chain,
    )
    .ends_with("action", &["handled"])
    .note("after `handled` no model is asked. Also for prompts that are sent while the model answers"),
    asked(
        "before_agent_start",
        "messageType: 'user' | 'custom'; prompt?: string; images?: any[]; message?: CustomMessage; \
         systemPrompt: string",
        "message?: CustomMessage; systemPrompt?: string",
        Combine::Collect(Some("systemPrompt")),
    )
    .note("the messages of all handlers go behind the prompt; the system prompt holds for this prompt"),
    asked("context", "messages: any[]", "messages?: any[]", Combine::Chain)
        .note("the messages that the model is sent; the session stays as it is"),
    asked("context_with_system", "messages: any[]", "messages?: any[]", Combine::Chain)
        .note("after `context`, with the system prompt as the first message"),
    asked(
        "tool_call",
        "toolCallId: string; toolName: string; input: any",
        "block?: boolean; reason?: string",
        Combine::Chain,
    )
    .edits("input")
    .ends_with("block", &["true"])
    .guards(),
    asked(
        "tool_result",
        "toolCallId: string; toolName: string; input: any; content: any[]; details?: any; isError: boolean",
        "content?: any[]; details?: any; isError?: boolean",
        Combine::Chain,
    ),
    asked("message_end", "message: any", "message?: any", Combine::Chain)
        .note("the role of a message cannot be changed"),
    Event {
        returned: Some("payload"),
        ..asked("before_provider_request", "payload: any", "", Combine::Chain)
    }
    .note("the body as the service gets it"),
    asked("before_provider_headers", "headers: Record<string, string | null>", "", Combine::Chain)
        .edits("headers")
        .note("null removes a header; keys are not among them"),
    asked(
        "turn_end",
        "turnIndex: number; message: any; toolResults: any[]; messageEntryId: string; \
         toolResultEntryIds: string[]; outcome: 'completed' | 'aborted' | 'error'; entries: EntryDraft[]; \
         continue: boolean; context: BoundaryContext",
        "entries?: EntryDraft[]; continue?: boolean",
        Combine::Chain,
    )
    .note("the entries are appended if all of them can be; with `continue` the model is asked once more"),
    asked(
        "agent_before_settle",
        "outcome: 'completed' | 'error'; entries: EntryDraft[]; continue: boolean; context: BoundaryContext",
        "entries?: EntryDraft[]; continue?: boolean",
        Combine::Chain,
    )
    .note("like `turn_end`, when the model has nothing more to do"),
    asked(
        "user_bash",
        "command: string; cwd: string; excludeFromContext: boolean",
        "block?: boolean; reason?: string; operations?: { exec: any }; \
         result?: { output: string, exitCode: number | null, cancelled: boolean, truncated: boolean }",
        Combine::First,
    )
    .guards(),
    asked(
        "project_trust",
        "cwd: string",
        "trusted: 'yes' | 'no' | 'undecided'; remember?: boolean",
        Combine::First,
    )
    .ends_with("trusted", &["yes", "no"])
    .note("for programs that embed the agent: offshoot itself asks the user (`offshoot trust`)"),
    asked(
        "resources_discover",
        "cwd: string; reason: string",
        "skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[]",
        Combine::Collect(None),
    )
    .note("files or directories; those that others name before keep their names"),
    after(
        "session_start",
        "reason: 'startup' | 'reload' | 'new' | 'resume' | 'fork'; previousSessionFile?: string",
    ),
    after("session_shutdown", "reason: string; targetSessionFile?: string")
        .note("all handlers together have five seconds"),
    after(
        "session_tree",
        "newLeafId: string | null; oldLeafId: string | null; targetId: string; \
         summaryEntry?: BranchSummaryEntry; editorText?: string; fromExtension?: boolean; fromHook?: boolean; \
         cancelled: boolean; aborted: boolean",
    )
    .older(&["tree"])
    .note(
        "a navigation that was cancelled or aborted is reported only to handlers whose source reads \
         `cancelled` or `aborted`",
    ),
    after(
        "session_tree_end",
        "targetId: string; outcome: 'navigated' | 'cancelled' | 'aborted' | 'failed' | 'noop'; error?: string",
    ),
    after(
        "session_compact",
        "compactionEntry: SessionEntry; fromExtension: boolean; fromHook: boolean; reason: string; \
         willRetry: boolean",
    )
    .older(&["compact"]),
    after(
        "session_compact_failed",
        "reason: string; errorMessage?: string; aborted: boolean; willRetry: boolean; fromExtension: boolean",
    ),
    after("session_fork", "reason: 'fork'; previousSessionFile?: string")
        .older(&["session_branch"])
        .note("after `session_start` of the new session"),
    after("session_switch", "reason: 'new' | 'resume'; previousSessionFile?: string")
        .older(&["switch"])
        .note("after `session_start` of the new session"),
    after("session_entry", "entry: SessionEntry; source: 'agent' | 'extension'")
        .note("every entry that was appended"),
    after("session_label", "targetId: string; label?: string; previous?: string"),
    after("session_info_changed", "name?: string"),
    after("session_cherry_pick", "mode: string; entries: SessionEntry[]"),
    after(
        "session_merge",
        "mode: string; entry?: SessionEntry; extraEntries?: SessionEntry[]; entries?: SessionEntry[]; \
         fromExtension?: boolean",
    ),
    after("model_select", "model: Model; previousModel?: Model; source: 'set' | 'cycle' | 'restore'"),
    after("thinking_level_select", "level: ThinkingLevel; previousLevel: ThinkingLevel"),
    after("agent_start", ""),
    after("agent_end", "messages: any[]; outcome: 'done' | 'aborted' | 'failed'; errorMessage?: string"),
    after("agent_settled", "aborted: boolean"),
    after("turn_start", "turnIndex: number; timestamp: number"),
    after("message_start", "message: any; responseId?: string"),
    after("message_update", "message: any; assistantMessageEvent: any"),
    after("after_provider_response", "status: number; headers: Record<string, string>"),
    after("tool_execution_start", "toolCallId: string; toolName: string; args: any"),
    after("tool_execution_update", "toolCallId: string; toolName: string; args: any; partialResult: any"),
    after("tool_execution_end", "toolCallId: string; toolName: string; result: any; isError: boolean"),
];

//! The commands and answers of the protocol as types. `offshoot schema rpc` prints their JSON Schema.

use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::turn::QueueMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use session_tree::{EntryId, Image};

/// A command. The first 33 are those of pi 1.5.0.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the commands describe their fields")]
pub enum Command {
    /// Sends a prompt. While a turn runs, `streamingBehavior` is required and the prompt is queued.
    Prompt { message: String, images: Option<Vec<ImageInput>>, streaming_behavior: Option<StreamingBehavior> },
    /// Queues a prompt that is sent after the tools that run now.
    Steer { message: String, images: Option<Vec<ImageInput>> },
    /// Queues a prompt that is sent when the model has answered.
    FollowUp { message: String, images: Option<Vec<ImageInput>> },
    /// Stops the turn and answers when the agent is idle.
    Abort {},
    /// Empties the queue and returns its prompts.
    ClearQueue {},
    /// Continues in a new session.
    NewSession { parent_session: Option<String> },
    /// Returns the state of the agent.
    GetState {},
    /// Chooses a model.
    SetModel { provider: String, model_id: String },
    /// Chooses the next model.
    CycleModel {},
    /// Returns the models that can be used.
    GetAvailableModels {},
    /// Chooses the thinking level; one that the model does not have becomes the nearest weaker one.
    SetThinkingLevel { level: ThinkingLevel },
    /// Chooses the next thinking level.
    CycleThinkingLevel {},
    /// Returns the thinking levels of the model.
    GetAvailableThinkingLevels {},
    /// Sets whether queued prompts that steer are sent together.
    SetSteeringMode { mode: SendMode },
    /// Sets whether queued prompts that follow are sent together.
    SetFollowUpMode { mode: SendMode },
    /// Replaces older messages of the context by a summary.
    Compact { custom_instructions: Option<String> },
    /// Sets whether the context is compacted automatically.
    SetAutoCompaction { enabled: bool },
    /// Sets whether a failed request to the model is repeated.
    SetAutoRetry { enabled: bool },
    /// Stops the wait before a repeated request.
    AbortRetry {},
    /// Runs a shell command and appends it with its output.
    Bash { command: String, exclude_from_context: Option<bool> },
    /// Stops the shell commands that run.
    AbortBash {},
    /// Returns counts, tokens and cost of the session.
    GetSessionStats {},
    /// Writes the session as an HTML page.
    ExportHtml { output_path: Option<String> },
    /// Continues in the session of a file.
    SwitchSession { session_path: String },
    /// Continues in a new session that ends before a prompt.
    Fork { entry_id: String },
    /// Continues in a copy of the current path.
    Clone {},
    /// Returns all prompts of the session.
    GetForkMessages {},
    /// Returns all entries in the order of the file, or those after an entry.
    GetEntries { since: Option<String> },
    /// Returns the tree; with `preview` its rows in one line each, without bodies.
    GetTree { preview: Option<bool> },
    /// Returns the text of the last answer.
    GetLastAssistantText {},
    /// Names the session.
    SetSessionName { name: String },
    /// Returns the messages of the context.
    GetMessages {},
    /// Returns the commands of extensions, which a prompt can name.
    GetCommands {},

    /// Moves the leaf. A null target resets it to before the first entry.
    NavigateTree {
        /// A reference to the entry.
        #[serde(alias = "ref")]
        target_id: Option<String>,
        /// True to summarise the branch that is left.
        summarize: Option<bool>,
        /// The subject of the summary, or with `replaceInstructions` the whole instruction.
        custom_instructions: Option<String>,
        replace_instructions: Option<bool>,
        /// A label for the summary, or for the target without one.
        label: Option<String>,
        /// The text of the summary; no model is asked.
        note: Option<String>,
    },
    /// Stops the summary of a branch, and with it the move.
    AbortBranchSummary {},
    /// Labels an entry; null removes the label.
    SetLabel { entry_id: String, label: Option<String> },
    /// Returns all labels.
    GetLabels {},
    /// Returns all branches, newest first.
    ListBranches {},
    /// Returns sessions without their entries.
    ListSessions {
        /// `project` (default) or `all`.
        scope: Option<Scope>,
        /// A query, as `offshoot sessions` takes it.
        query: Option<String>,
        /// `recent` (default) or `threaded`.
        sort: Option<Sort>,
        /// The largest number of rows; the default is 100.
        limit: Option<usize>,
        /// The `nextCursor` of the answer before.
        cursor: Option<String>,
    },
    /// Names a session; without `sessionPath` the current one.
    RenameSession { session_path: Option<String>, name: String },
    /// Moves a session file to the trash. `trash` must be true: nothing is deleted for good.
    DeleteSession { session_path: String, trash: Option<bool> },
    /// Returns an entry.
    GetEntry {
        #[serde(rename = "ref")]
        reference: String,
    },
    /// Returns the entries from the root to an entry.
    GetPath {
        #[serde(rename = "ref")]
        reference: Option<String>,
    },
    /// Returns the messages that a model would get at an entry, with token counts.
    GetContext {
        #[serde(rename = "ref")]
        reference: Option<String>,
    },
    /// Returns the id of the entry that a reference names.
    ResolveRef {
        #[serde(rename = "ref")]
        reference: String,
    },
    /// Copies entries to the leaf.
    CherryPick {
        /// A reference, or a range `REF..REF`.
        #[serde(rename = "ref")]
        reference: String,
        #[serde(rename = "as")]
        mode: Option<PickMode>,
        turn: Option<bool>,
        note: Option<String>,
        again: Option<bool>,
        with_state: Option<bool>,
        dry_run: Option<bool>,
    },
    /// Merges another branch at the leaf.
    Merge {
        #[serde(rename = "ref")]
        reference: String,
        mode: Option<MergeMode>,
        focus: Option<String>,
        message: Option<String>,
        note: Option<String>,
        no_fast_forward: Option<bool>,
        dry_run: Option<bool>,
    },
    /// Compares two branches from their common ancestor.
    Diff { a: String, b: Option<String> },
    /// Writes a branch to a new session file.
    ExportBranch {
        #[serde(rename = "ref")]
        reference: String,
        output_path: Option<String>,
        scope: Option<ExportScope>,
        dry_run: Option<bool>,
    },
    /// Copies a session file into the project and continues in the copy.
    ImportSession { path: String, dry_run: Option<bool> },
    /// Sends the events of the tree too, all with a number; see the page about the protocol.
    Subscribe {
        /// The names of the wanted events; all if absent.
        events: Option<Vec<String>>,
        /// The number of the last event that was received: those after it are sent again.
        since: Option<u64>,
        /// True to be asked about tool calls that the rules do not decide about.
        approvals: Option<bool>,
    },
    /// Answers a dialog. There is no answer line for it in `--mode rpc`.
    ExtensionUiResponse {
        id: String,
        value: Option<String>,
        confirmed: Option<bool>,
        cancelled: Option<bool>,
    },
}

/// An image of a prompt.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageInput {
    /// The bytes in Base64.
    pub data: String,
    /// The type, such as `image/png`.
    pub mime_type: String,
}

impl From<ImageInput> for Image {
    fn from(ImageInput { data, mime_type }: ImageInput) -> Self {
        Image { data, mime_type }
    }
}

/// When a prompt is sent that arrives during a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StreamingBehavior {
    /// After the tools that run now.
    Steer,
    /// When the model has answered.
    FollowUp,
}

/// Whether queued prompts are sent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SendMode {
    /// All that wait.
    All,
    /// One, then an answer, then the next.
    OneAtATime,
}

impl From<SendMode> for QueueMode {
    fn from(mode: SendMode) -> Self {
        match mode {
            SendMode::All => QueueMode::All,
            SendMode::OneAtATime => QueueMode::OneAtATime,
        }
    }
}

impl From<QueueMode> for SendMode {
    fn from(mode: QueueMode) -> Self {
        match mode {
            QueueMode::All => SendMode::All,
            QueueMode::OneAtATime => SendMode::OneAtATime,
        }
    }
}

/// The sessions of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// Those of the working directory.
    Project,
    /// Those of all projects.
    All,
}

/// The order of a list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Sort {
    /// Latest activity first.
    Recent,
    /// Forks below the session that they were made from.
    Threaded,
}

/// How entries are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PickMode {
    /// Quoted under a line that names the origin.
    Quote,
    /// With their own type.
    Native,
}

/// How the text of a merge is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MergeMode {
    /// It quotes the turns of the branch.
    Digest,
    /// A model writes it.
    Summary,
}

/// The part of the tree that is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExportScope {
    /// The path to the entry and everything below it.
    Branch,
    /// The path alone.
    Path,
    /// The entry and everything below it, as the root.
    Subtree,
}

/// The first step of the agent with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disposition {
    /// A turn has begun.
    Started,
    /// It waits in the queue.
    Queued,
    /// An extension handled it; no turn begins.
    Handled,
}

/// The answer to `prompt`, `steer` and `follow_up`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Accepted {
    /// The first step of the agent with the prompt.
    pub disposition: Disposition,
}

/// The answer to `clear_queue`, and the queue in an event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueTexts {
    /// The prompts that steer the turn.
    pub steering: Vec<String>,
    /// The prompts that follow it.
    pub follow_up: Vec<String>,
}

/// The answer to commands that an extension can cancel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Cancellable {
    /// The prompt that the fork takes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// True if it was cancelled; nothing changed.
    pub cancelled: bool,
}

/// The answer to `get_state`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Json>,
    /// The thinking level.
    pub thinking_level: ThinkingLevel,
    /// True while a turn runs.
    pub is_streaming: bool,
    /// True while the context is compacted.
    pub is_compacting: bool,
    /// Whether prompts that steer are sent together.
    pub steering_mode: SendMode,
    /// Whether prompts that follow are sent together.
    pub follow_up_mode: SendMode,
    /// The file of the session; absent in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// The id of the session.
    pub session_id: String,
    /// The name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// True if the context is compacted automatically.
    pub auto_compaction_enabled: bool,
    /// The messages of the context.
    pub message_count: usize,
    /// The prompts in the queue.
    pub pending_message_count: usize,
}

/// The answer to `get_session_stats`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionStats {
    /// The file of the session; absent in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// The id of the session.
    pub session_id: String,
    /// The number of prompts.
    pub user_messages: usize,
    /// The number of answers.
    pub assistant_messages: usize,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The number of results of tools.
    pub tool_results: usize,
    /// The number of all messages.
    pub total_messages: usize,
    /// The tokens of all branches.
    pub tokens: Tokens,
    /// The cost in dollars.
    pub cost: f64,
    /// The part of the model's window that is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<ContextUsage>,
}

/// Tokens by kind.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names are those of services")]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub total: u64,
}

/// The part of a model's window that the context takes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// The tokens; null if they are not known.
    pub tokens: Option<u64>,
    /// The window of the model.
    pub context_window: u64,
    /// The tokens in percent of the window.
    pub percent: Option<f64>,
}

/// A prompt of `get_fork_messages`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkMessage {
    /// The entry.
    pub entry_id: EntryId,
    /// The text.
    pub text: String,
}

/// The answer to `navigate_tree`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Navigated {
    /// True if an extension cancelled the move or it was stopped.
    pub cancelled: bool,
    /// True if it was stopped.
    pub aborted: bool,
    /// The text of the prompt that was selected, to be edited and sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor_text: Option<String>,
    /// The images of that prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub editor_images: Vec<Json>,
    /// The summary that was appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_entry: Option<Json>,
    /// The leaf after the move.
    pub leaf_id: Option<EntryId>,
}

/// The answer to `subscribe`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Subscribed {
    /// The number of the latest event.
    pub seq: u64,
    /// False if events after `since` are no longer stored: read the entries again.
    pub resumed: bool,
}

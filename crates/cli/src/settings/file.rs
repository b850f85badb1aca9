//! What a settings file may hold. The schema that `offshoot settings schema` prints is made from these types, and files
//! are checked against it.

use std::collections::BTreeMap;

use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::turn::QueueMode;
use offshoot_providers::ProviderSettings;
use schemars::JsonSchema;
use serde::Deserialize;

use super::screen::{EscapeAction, FilterName, KeymapName, ThemeName};

/// Settings of offshoot. Everything may be left out.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(title = "offshoot settings")]
pub(crate) struct File {
    /// Where the schema of this file is, for editors.
    #[serde(rename = "$schema")]
    pub(crate) schema: Option<String>,
    /// The model for new sessions: `provider/id`, or a part of it that only one has.
    pub(crate) model: Option<String>,
    /// How hard the model thinks; what it does not know becomes the next weaker level.
    #[schemars(extend("default" = "off"))]
    pub(crate) thinking_level: Option<ThinkingLevel>,
    /// When the context is compacted.
    pub(crate) compaction: Compaction,
    /// How branches are summed up.
    pub(crate) branch_summary: BranchSummary,
    /// How failures of a model service are met.
    pub(crate) retry: Retry,
    /// Whether messages that are to steer a turn are sent one by one.
    #[schemars(extend("default" = "one-at-a-time"))]
    pub(crate) steering_mode: Option<Queue>,
    /// Whether messages that wait for the end of a turn are sent one by one.
    #[schemars(extend("default" = "one-at-a-time"))]
    pub(crate) follow_up_mode: Option<Queue>,
    /// The colours of the conversation at the terminal.
    #[schemars(extend("default" = "auto"))]
    pub(crate) theme: Option<ThemeName>,
    /// Which keys are usual; `keybindings.json` goes over them.
    #[schemars(extend("default" = "offshoot"))]
    pub(crate) keymap: Option<KeymapName>,
    /// What Escape does when it is pressed twice in an empty editor.
    #[schemars(extend("default" = "tree"))]
    pub(crate) double_escape_action: Option<EscapeAction>,
    /// Which entries the tree shows at first.
    #[schemars(extend("default" = "default"))]
    pub(crate) tree_filter_mode: Option<FilterName>,
    /// True if the chat shows a line when a hook of an extension cancels a command.
    #[schemars(extend("default" = false))]
    pub(crate) show_hook_cancel: Option<bool>,
    /// Which tool calls may run. A project can ask and deny, but not allow.
    pub(crate) permissions: Rules,
    /// How commands run.
    pub(crate) shell: Shell,
    /// Extensions to load besides those in the directories of extensions: files or directories, seen from this file;
    /// `~` is the home directory. Counts only in your own settings.
    pub(crate) extensions: Vec<String>,
    /// Whether to load the extensions in pi's own directory, too. Counts only in your own settings.
    #[schemars(extend("default" = true))]
    pub(crate) pi_extensions: Option<bool>,
    /// What becomes of projects whose own settings and code nobody has decided about. Counts only in your own settings.
    #[schemars(extend("default" = "ask"))]
    pub(crate) default_project_trust: Option<DefaultTrust>,
    /// Model services of your own, by name. Counts only in your own settings.
    pub(crate) providers: BTreeMap<String, ProviderSettings>,
}

/// When the context is compacted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Compaction {
    /// Whether to compact without being asked.
    #[schemars(extend("default" = true))]
    pub(crate) enabled: Option<bool>,
    /// Compact when fewer tokens of the model's window are left.
    #[schemars(extend("default" = 16_384))]
    pub(crate) reserve_tokens: Option<u64>,
    /// How much of the latest conversation stays as it is, in tokens.
    #[schemars(extend("default" = 20_000))]
    pub(crate) keep_recent_tokens: Option<u64>,
}

/// How branches are summed up.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BranchSummary {
    /// What a summary leaves free of the model's window, in tokens.
    #[schemars(extend("default" = 16_384))]
    pub(crate) reserve_tokens: Option<u64>,
    /// Whether to sum up what lies before the latest compaction of the branch, too.
    #[schemars(extend("default" = false))]
    pub(crate) through_compactions: Option<bool>,
    /// Whether branches are left without a question what to tell of them.
    #[schemars(extend("default" = false))]
    pub(crate) skip_prompt: Option<bool>,
}

/// How failures of a model service are met.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Retry {
    /// How often a failure that may pass is met by asking again.
    #[schemars(extend("default" = 3))]
    pub(crate) max_retries: Option<u32>,
    /// How long it is waited before the first time, in milliseconds; twice as long before each further one.
    #[schemars(extend("default" = 2_000))]
    pub(crate) base_delay_ms: Option<u64>,
}

/// How messages that wait are sent.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Queue {
    /// One message, then an answer, then the next.
    OneAtATime,
    /// All together.
    All,
}

/// Rules for tool calls, such as `read`, `write(src/**)`, `bash(cargo *)`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Rules {
    /// Calls that run without a question. Counts only in your own settings.
    pub(crate) allow: Vec<String>,
    /// Calls that somebody must be asked about; beats `allow`.
    pub(crate) ask: Vec<String>,
    /// Calls that never run; beats all.
    pub(crate) deny: Vec<String>,
}

/// How commands run: those of the tool `bash`, and those that are typed behind `!`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Shell {
    /// Environment variables that commands inherit although their names look like those of credentials. Counts only in
    /// your own settings.
    pub(crate) pass_variables: Vec<String>,
}

/// What becomes of projects that nobody has decided about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DefaultTrust {
    /// Somebody is asked; where nobody is there to ask, they are not trusted.
    #[default]
    Ask,
    /// They are trusted.
    Always,
    /// They are not trusted.
    Never,
}

impl From<Queue> for QueueMode {
    fn from(queue: Queue) -> Self {
        match queue {
            Queue::OneAtATime => QueueMode::OneAtATime,
            Queue::All => QueueMode::All,
        }
    }
}

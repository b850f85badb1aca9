//! The JSON Schema of the protocol, from its types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use session_tree::Entry;
use session_view::{Comparison, OutlineRow};

use super::protocol::{
    Accepted, Cancellable, Command, ForkMessage, Navigated, QueueTexts, SessionStats, State, Subscribed,
};

/// The commands and their answers.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Protocol {
    /// A command; `id` is repeated in its answer.
    command: Command,
    /// The `data` of the answers, by the name of the command. Commands that are not listed answer without data.
    answers: Answers,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Answers {
    prompt: Accepted,
    steer: Accepted,
    follow_up: Accepted,
    clear_queue: QueueTexts,
    new_session: Cancellable,
    switch_session: Cancellable,
    fork: Cancellable,
    clone: Cancellable,
    get_state: State,
    get_session_stats: SessionStats,
    get_fork_messages: ForkMessages,
    get_entries: Entries,
    get_path: Path,
    get_tree: Tree,
    navigate_tree: Navigated,
    diff: Comparison,
    subscribe: Subscribed,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ForkMessages {
    messages: Vec<ForkMessage>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct Entries {
    entries: Vec<Entry>,
    leaf_id: Option<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Path {
    entries: Vec<Entry>,
}

/// The tree in the shape of pi, or its rows with `preview`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct Tree {
    tree: Option<Vec<TreeNode>>,
    rows: Option<Vec<OutlineRow>>,
    leaf_id: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct TreeNode {
    entry: Entry,
    children: Vec<TreeNode>,
    label: Option<String>,
    label_timestamp: Option<String>,
}

/// Returns the schema of the commands and their answers.
pub fn schema() -> Schema {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<Protocol>();
    schema.insert("title".to_owned(), "offshoot --mode rpc".into());
    schema
}

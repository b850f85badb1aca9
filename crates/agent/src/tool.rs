//! Tools: what a model may ask to be done.
//!
//! A tool never decides whether it may run; that is the business of [`Permissions`](crate::permission::Permissions)
//! and of whoever is asked.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::cancel::Cancel;
use crate::model::ToolSpec;
use crate::secrets::Secrets;
use crate::tools::ResolvedPath;

/// What a running tool becomes.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// Something a model may ask to be done.
pub trait Tool: fmt::Debug + Send + Sync {
    /// Returns the tool as models see it.
    fn spec(&self) -> ToolSpec;

    /// Tells what a call would do to the world, for whoever has to permit it.
    fn effect(&self, arguments: &Json) -> Effect;

    /// Tells whether a call may run while other calls of the same answer run. By default that is a call that only reads;
    /// all others run in the order of the answer.
    fn runs_concurrently(&self, arguments: &Json) -> bool {
        matches!(self.effect(arguments), Effect::Reads(_))
    }

    /// Brings arguments, as models write them, to the shape that the schema describes; it is done before anything else
    /// looks at them.
    fn prepare(&self, arguments: Json) -> Json {
        arguments
    }

    /// Works out what a call would change, without changing anything. May block.
    fn preview(&self, _arguments: &Json, _place: &ToolPlace) -> Preview {
        Preview::Nothing
    }

    /// Runs a call. A call that fails says so in its output; one that is cancelled ends soon, with what it has.
    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a>;
}

pub use session_tree::ToolCall;

/// What a tool call would do to the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It looks at these files or directories.
    Reads(Vec<PathBuf>),
    /// It changes these files.
    Writes(Vec<PathBuf>),
    /// It runs this command.
    Runs(String),
    /// Something else, in words.
    Other(String),
}

impl Effect {
    /// Returns the paths that the call reads or writes.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Effect::Reads(paths) | Effect::Writes(paths) => paths,
            Effect::Runs(_) | Effect::Other(_) => &[],
        }
    }
}

/// The change that a call would make, shown before it is approved.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Preview {
    /// The tool has nothing to show.
    #[default]
    Nothing,
    /// The change of a file.
    Change(FileChange),
    /// The call would fail and change nothing; its output says why.
    Fails(ToolOutput),
}

/// The change that a call would make to a file, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChange {
    /// The content of the file; none if there is no file, or if its content is not text.
    pub old: Option<String>,
    /// The content that the file would have.
    pub new: String,
    /// The lines that would change: `+12 new`, `-12 old`, ` 13 same`.
    pub diff: String,
}

/// Where a tool runs.
#[derive(Clone)]
pub struct ToolPlace {
    /// The directory that relative paths start from.
    pub cwd: PathBuf,
    /// Tells the tool to stop.
    pub cancel: Cancel,
    /// Takes what the tool has so far, for whoever watches.
    pub progress: Arc<dyn Fn(ToolOutput) + Send + Sync>,
    /// The secrets that commands do not inherit and tools do not open.
    pub secrets: Arc<Secrets>,
    /// The paths of the call: permissions judge them, and the tool opens them.
    pub(crate) paths: Vec<ResolvedPath>,
}

impl ToolPlace {
    /// Makes a place that reports no progress. [`ToolBox::check`](crate::tools::ToolBox::check) adds the paths of a call.
    pub fn new(cwd: impl Into<PathBuf>, cancel: Cancel) -> Self {
        ToolPlace {
            cwd: cwd.into(),
            cancel,
            progress: Arc::new(drop),
            secrets: Arc::default(),
            paths: Vec::new(),
        }
    }

    /// Returns the paths of the call, with links followed. A tool opens nothing else.
    pub fn paths(&self) -> &[ResolvedPath] {
        &self.paths
    }
}

impl fmt::Debug for ToolPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPlace").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// The blocks that the model gets: text and images, in the shape sessions store.
    pub content: Vec<Json>,
    /// More, for people and extensions, such as a diff. Models do not get it.
    pub details: Option<Json>,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolOutput {
    /// Makes the output of a call that went well.
    pub fn text(text: impl Into<String>) -> Self {
        ToolOutput { content: vec![text_block(text.into())], ..ToolOutput::default() }
    }

    /// Makes the output of a call that failed.
    pub fn error(text: impl Into<String>) -> Self {
        ToolOutput { is_error: true, ..ToolOutput::text(text) }
    }

    /// Returns all text blocks, one per line.
    pub fn all_text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| block.get("text").and_then(Json::as_str));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Adds details.
    pub fn with_details(mut self, details: Json) -> Self {
        self.details = Some(details);
        self
    }
}

/// Makes a block of text.
pub fn text_block(text: impl Into<String>) -> Json {
    serde_json::json!({"type": "text", "text": text.into()})
}

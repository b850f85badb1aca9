//! Tools that a model may call.
//!
//! A tool never decides whether it may run; that is up to [`Permissions`](crate::permission::Permissions) and the
//! [`Approver`](crate::approval::Approver).

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::cancel::Cancel;
use crate::editor::Editor;
use crate::model::ToolSpec;
use crate::secrets::Secrets;
use crate::tools::ResolvedPath;

/// A running call.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// A tool that a model may call.
pub trait Tool: fmt::Debug + Send + Sync {
    /// Returns the tool as models see it.
    fn spec(&self) -> ToolSpec;

    /// Returns the effect of a call, which permissions judge.
    fn effect(&self, arguments: &Json) -> Effect;

    /// Returns true if a call may run concurrently with other calls of the same answer. The default is true for calls
    /// that only read; all others run in order.
    fn runs_concurrently(&self, arguments: &Json) -> bool {
        matches!(self.effect(arguments), Effect::Reads(_))
    }

    /// Normalises arguments to the shape of the schema, before they are checked.
    fn prepare(&self, arguments: Json) -> Json {
        arguments
    }

    /// Computes the change that a call would make, without making it. May block.
    fn preview(&self, _arguments: &Json, _place: &ToolPlace) -> Preview {
        Preview::Nothing
    }

    /// Runs a call. A failure is reported in the output. A cancelled call returns soon, with partial output.
    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a>;
}

pub use session_tree::ToolCall;

/// The effect of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Reads these files or directories.
    Reads(Vec<PathBuf>),
    /// Changes these files.
    Writes(Vec<PathBuf>),
    /// Runs this command.
    Runs(String),
    /// Runs code of an extension.
    Extension {
        /// The name of the tool.
        tool: String,
        /// The extension, as rules name it: `web`, or `./web` if it belongs to the project.
        extension: String,
    },
    /// Any other effect, described in words.
    Other(String),
}

impl Effect {
    /// Returns the paths that the call reads or writes.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Effect::Reads(paths) | Effect::Writes(paths) => paths,
            Effect::Runs(_) | Effect::Extension { .. } | Effect::Other(_) => &[],
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
    /// The call would fail and change nothing; the output has the reason.
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

/// The environment in which a tool runs.
#[derive(Clone)]
pub struct ToolPlace {
    /// The directory that relative paths start from.
    pub cwd: PathBuf,
    /// Cancels the tool.
    pub cancel: Cancel,
    /// Receives partial output for subscribers.
    pub progress: Arc<dyn Fn(ToolOutput) + Send + Sync>,
    /// The secrets that commands do not inherit and tools do not open.
    pub secrets: Arc<Secrets>,
    /// The editor that has files open.
    pub(crate) editor: Editor,
    /// The paths of the call: permissions judge them, and the tool opens them.
    pub(crate) paths: Vec<ResolvedPath>,
}

impl ToolPlace {
    /// Creates an environment without progress reports. [`ToolBox::check`](crate::tools::ToolBox::check) adds the paths
    /// of a call.
    pub fn new(cwd: impl Into<PathBuf>, cancel: Cancel) -> Self {
        ToolPlace {
            cwd: cwd.into(),
            cancel,
            progress: Arc::new(drop),
            secrets: Arc::default(),
            editor: Editor::default(),
            paths: Vec::new(),
        }
    }

    /// Returns the paths of the call, with links followed. A tool opens no other path.
    pub fn paths(&self) -> &[ResolvedPath] {
        &self.paths
    }
}

impl fmt::Debug for ToolPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPlace").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// The output of a tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// The blocks that the model gets: text and images, in the shape sessions store.
    pub content: Vec<Json>,
    /// More data for users and extensions, such as a diff. It is not part of the context.
    pub details: Option<Json>,
    /// True if the call failed.
    pub is_error: bool,
}

impl ToolOutput {
    /// Creates the output of a successful call.
    pub fn text(text: impl Into<String>) -> Self {
        ToolOutput { content: vec![text_block(text.into())], ..ToolOutput::default() }
    }

    /// Creates the output of a failed call.
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

/// Creates a text block.
pub fn text_block(text: impl Into<String>) -> Json {
    serde_json::json!({"type": "text", "text": text.into()})
}

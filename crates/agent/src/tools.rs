//! The built-in tools, and the set of tools that a model may call.
//!
//! call -> **checked arguments** -> [`Tool`] -> [`ToolOutput`]
//!
//! Tools touch files and processes only when they run; [`permission`](crate::permission) decides whether they may. File
//! work runs on blocking threads. Calls that only read may run concurrently.

pub mod arguments;
mod bash;
mod built_in;
mod diff;
mod edit;
pub(crate) mod files;
mod find;
mod grep;
mod ls;
mod output;
pub(crate) mod paths;
mod read;
mod resolved;
mod shell;
mod user;
mod walk;
mod work;
mod write;

use std::fmt;
use std::sync::Arc;

use self::built_in::BuiltIn;
pub use self::read::{prompt_image, prompt_image_at};
pub use self::resolved::ResolvedPath;
pub use self::shell::Group as ProcessGroup;
pub(crate) use self::shell::is_own_output;
#[cfg(test)]
pub(crate) use self::shell::new_output_file;
pub(crate) use self::user::{CommandOutput, command_message};
pub use self::user::{UserCommand, run_user_command};
use crate::model::ToolSpec;
use crate::permission::ProvenanceWarning;
use crate::tool::{Effect, Preview, Tool, ToolCall, ToolOutput, ToolPlace};
pub use diff::details as diff_details;

/// A set of tools, each with its own name, in the order in which models see them.
#[derive(Debug, Clone, Default)]
pub struct ToolBox {
    tools: Vec<Slot>,
}

#[derive(Debug, Clone)]
struct Slot {
    name: String,
    tool: Arc<dyn Tool>,
}

impl ToolBox {
    /// Creates a set without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the default set: `read`, `bash`, `edit`, `write`.
    pub fn coding() -> Self {
        Self::of(&[read::TOOL, bash::TOOL, edit::TOOL, write::TOOL])
    }

    /// Creates the set of all built-in tools: those of [`ToolBox::coding`], then `grep`, `find`, `ls`.
    pub fn all() -> Self {
        Self::of(&[read::TOOL, bash::TOOL, edit::TOOL, write::TOOL, grep::TOOL, find::TOOL, ls::TOOL])
    }

    fn of(tools: &[BuiltIn]) -> Self {
        let slot = |tool: &BuiltIn| Slot { name: tool.name.to_owned(), tool: Arc::new(*tool) };
        ToolBox { tools: tools.iter().map(slot).collect() }
    }

    /// Adds a tool. It takes the place of a tool with the same name.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        let slot = Slot { name: tool.spec().name, tool };
        match self.tools.iter_mut().find(|other| other.name == slot.name) {
            Some(other) => *other = slot,
            None => self.tools.push(slot),
        }
    }

    /// Keeps only the tools whose names `is_wanted` accepts.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&str) -> bool) {
        self.tools.retain(|slot| is_wanted(&slot.name));
    }

    /// Returns the tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.slot(name).map(|slot| &slot.tool)
    }

    fn slot(&self, name: &str) -> Option<&Slot> {
        self.tools.iter().find(|slot| slot.name == name)
    }

    /// Returns the names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|slot| slot.name.as_str())
    }

    /// Returns the tools as models see them, in order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|slot| slot.tool.spec()).collect()
    }

    /// Checks a call without running it: the tool exists, the arguments match its schema, and its paths can be
    /// resolved. Paths are resolved only here: permissions judge them, and the tool opens them.
    ///
    /// The error is the output for the model.
    pub fn check(&self, mut call: ToolCall, mut place: ToolPlace) -> Result<ReadyCall, ToolOutput> {
        let Some(slot) = self.slot(&call.name) else {
            return Err(ToolOutput::error(self.unknown(&call.name)));
        };
        call.arguments = slot.tool.prepare(call.arguments);
        arguments::check(&slot.tool.spec().parameters, &call.arguments)
            .map_err(|error| ToolOutput::error(format!("{}: {error}", slot.name)))?;
        let effect = slot.tool.effect(&call.arguments);
        let resolved = effect.paths().iter().map(|path| {
            ResolvedPath::new(&place.cwd, path).map_err(|error| {
                ToolOutput::error(format!("cannot open {}: {error}", paths::shown(&place.cwd, path)))
            })
        });
        place.paths = resolved.collect::<Result<_, _>>()?;
        Ok(ReadyCall { effect, tool: Arc::clone(&slot.tool), call, place, provenance: None })
    }

    /// Returns true if a call may run concurrently; see [`Tool::runs_concurrently`].
    pub(crate) fn runs_concurrently(&self, call: &ToolCall) -> bool {
        // A call of an unknown tool has no effect.
        self.tool(&call.name).is_none_or(|tool| tool.runs_concurrently(&tool.prepare(call.arguments.clone())))
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.names().collect();
        format!("there is no tool `{name}`; the tools are: {}", names.join(", "))
    }
}

/// A call whose tool exists and whose arguments are valid.
#[derive(Clone)]
pub struct ReadyCall {
    /// The call.
    pub call: ToolCall,
    /// The effect of the call outside the conversation.
    pub effect: Effect,
    /// The environment, with the resolved paths of the call.
    pub place: ToolPlace,
    /// The reason to show the call to the user even if a rule allows it.
    pub provenance: Option<ProvenanceWarning>,
    tool: Arc<dyn Tool>,
}

impl ReadyCall {
    /// Computes the change that the call would make, on a blocking thread. Reads the files of the call.
    pub async fn preview(&self) -> Preview {
        let ReadyCall { tool, call, place, .. } = self.clone();
        let work = tokio::task::spawn_blocking(move || tool.preview(&call.arguments, &place));
        work.await.unwrap_or_default()
    }

    /// Runs the call.
    pub async fn run(self) -> ToolOutput {
        self.tool.run(self.call, &self.place).await
    }
}

impl fmt::Debug for ReadyCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadyCall").field(&self.call).finish()
    }
}

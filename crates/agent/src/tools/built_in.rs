//! The frame of the built-in tools: description and schema for models, effect for permissions, preview and run.

use std::convert::identity;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::work::{self, FileTarget};
use super::{bash, files};
use crate::model::ToolSpec;
use crate::tool::{Effect, Preview, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};

/// A built-in tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The JSON schemas of its arguments.
    pub(super) arguments: fn() -> Json,
    pub(super) required: &'static [&'static str],
    pub(super) work: Work,
}

/// The output of a call; an error is the output of a call that failed.
pub(super) type ToolResult = Result<ToolOutput, ToolOutput>;

/// The work of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// Looks at what `path` names, or at the working directory.
    Reads(fn(&Json, &ToolPlace) -> ToolResult),
    /// Changes the file that `path` names.
    Changes {
        /// Brings arguments, as models write them, to the shape of the schema.
        prepare: fn(Json) -> Json,
        /// Works out the diff of a call.
        diff: fn(&Json, &FileTarget, &ToolPlace) -> Result<String, ToolOutput>,
        run: fn(&Json, &FileTarget, &ToolPlace) -> ToolResult,
    },
    /// Runs a command line.
    Runs,
}

impl Tool for BuiltIn {
    fn spec(&self) -> ToolSpec {
        let properties = (self.arguments)();
        ToolSpec {
            name: self.name.into(),
            description: self.description.into(),
            parameters: json!({"type": "object", "properties": properties, "required": self.required}),
        }
    }

    fn effect(&self, arguments: &Json) -> Effect {
        let fields = Fields(arguments);
        let here = (!self.required.contains(&"path")).then_some(".");
        let paths = || fields.text("path").or(here).map(PathBuf::from).into_iter().collect();
        match self.work {
            Work::Reads(_) => Effect::Reads(paths()),
            Work::Changes { .. } => Effect::Writes(paths()),
            Work::Runs => Effect::Runs(fields.text("command").unwrap_or_default().to_owned()),
        }
    }

    fn prepare(&self, arguments: Json) -> Json {
        match self.work {
            Work::Changes { prepare, .. } => prepare(arguments),
            Work::Reads(_) | Work::Runs => arguments,
        }
    }

    fn preview(&self, arguments: &Json, place: &ToolPlace) -> Preview {
        let Work::Changes { diff, .. } = self.work else { return Preview::Nothing };
        let path = Path::new(Fields(arguments).text("path").unwrap_or_default());
        match place.target(path).and_then(|target| diff(arguments, &target, place)) {
            Ok(diff) if diff.is_empty() => Preview::Diff("(no change)".to_owned()),
            Ok(diff) => Preview::Diff(place.secrets.mask(&diff).into_owned()),
            Err(output) => Preview::Fails(output),
        }
    }

    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        match self.work {
            Work::Reads(read) => {
                Box::pin(work::run(place, move |place| read(&call.arguments, place).unwrap_or_else(identity)))
            }
            Work::Changes { run, .. } => {
                Box::pin(async move { change(call, place, run).await.unwrap_or_else(identity) })
            }
            Work::Runs => Box::pin(bash::run(call, place)),
        }
    }
}

/// Runs work that changes the file under `path`, when it is this call's turn.
async fn change(
    call: ToolCall,
    place: &ToolPlace,
    work: fn(&Json, &FileTarget, &ToolPlace) -> ToolResult,
) -> ToolResult {
    let target = place.target(Fields(&call.arguments).path()?)?;
    let turn = place.cancel.unless_cancelled(files::turn(&target.real)).await.ok_or_else(work::cancelled)?;
    let done = work::run_to_the_end(place, move |place| {
        let output = work(&call.arguments, &target, place).unwrap_or_else(identity);
        // Held until here, even if the call was dropped before.
        drop(turn);
        output
    });
    Ok(done.await)
}

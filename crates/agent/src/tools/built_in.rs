//! The frame of the built-in tools: what a model is told of them, what they do to the world, how they run.

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

/// What a tool does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// Looks at what `path` names, or at the working directory.
    Reads(fn(&Json, &ToolPlace) -> ToolOutput),
    /// Changes the file that `path` names.
    Changes {
        /// Brings arguments, as models write them, to the shape of the schema.
        prepare: fn(Json) -> Json,
        /// Works out the diff of a call.
        diff: fn(&Json, &FileTarget, &ToolPlace) -> Result<String, ToolOutput>,
        run: fn(&Json, &FileTarget, &ToolPlace) -> ToolOutput,
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
            Work::Reads(read) => Box::pin(work::run(place, move |place| read(&call.arguments, place))),
            Work::Changes { run, .. } => Box::pin(change(call, place, run)),
            Work::Runs => Box::pin(bash::run(call, place)),
        }
    }
}

/// Runs work that changes the file under `path`, when it is this call's turn.
async fn change(
    call: ToolCall,
    place: &ToolPlace,
    work: fn(&Json, &FileTarget, &ToolPlace) -> ToolOutput,
) -> ToolOutput {
    let Some(path) = Fields(&call.arguments).text("path") else {
        return ToolOutput::error("the argument `path` is missing");
    };
    let target = match place.target(Path::new(path)) {
        Ok(target) => target,
        Err(output) => return output,
    };
    let Some(turn) = place.cancel.unless_cancelled(files::turn(&target.real)).await else {
        return work::cancelled();
    };
    work::run_to_the_end(place, move |place| {
        let output = work(&call.arguments, &target, place);
        // Held until here even if the call was dropped meanwhile.
        drop(turn);
        output
    })
    .await
}

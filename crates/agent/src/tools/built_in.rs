//! The common part of the built-in tools: description and schema for models, effect, preview and run.

use std::convert::identity;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::resolved::ResolvedPath;
use super::{bash, files, work};
use crate::model::ToolSpec;
use crate::secrets::Protection;
use crate::tool::{Effect, FileChange, Preview, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};

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

/// The output of a call; an error is the output of a failed call.
pub(super) type ToolResult = Result<ToolOutput, ToolOutput>;

/// A function that works on the judged path.
pub(super) type PathWork = fn(&Json, &ResolvedPath, &ToolPlace) -> ToolResult;

/// The kind of work that a tool does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// Reads `path`, or the working directory.
    Reads(PathWork),
    /// Changes the file `path`.
    Changes {
        /// Normalises the arguments to the shape of the schema.
        prepare: fn(Json) -> Json,
        /// Returns the change that a call would make.
        change: fn(&Json, &ResolvedPath, &ToolPlace) -> Result<FileChange, ToolOutput>,
        run: PathWork,
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
        let Work::Changes { change, .. } = self.work else { return Preview::Nothing };
        let mask = |text: String| place.secrets.mask(&text).into_owned();
        match judged(place).and_then(|path| change(arguments, &path, place)) {
            Ok(FileChange { old, new, diff }) => Preview::Change(FileChange {
                old: old.map(mask),
                new: mask(new),
                diff: if diff.is_empty() { "(no change)".to_owned() } else { mask(diff) },
            }),
            Err(output) => Preview::Fails(output),
        }
    }

    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        match self.work {
            Work::Reads(read) => Box::pin(work::run(place, move |place| {
                judged(place).and_then(|path| read(&call.arguments, &path, place)).unwrap_or_else(identity)
            })),
            Work::Changes { run, .. } => {
                Box::pin(async move { change(call, place, run).await.unwrap_or_else(identity) })
            }
            Work::Runs => Box::pin(bash::run(call, place)),
        }
    }
}

/// Returns the judged path, unless the file is closed to tools.
fn judged(place: &ToolPlace) -> Result<ResolvedPath, ToolOutput> {
    let Some(path) = place.paths.first() else {
        return Err(ToolOutput::error("the call names no path"));
    };
    if place.secrets.protection(path.real()) == Some(Protection::Denied) {
        let shown = path.shown(&place.cwd);
        return Err(ToolOutput::error(format!("{shown} holds credentials; no tool may open it")));
    }
    Ok(path.clone())
}

/// Runs work on the judged file after earlier calls that change it.
async fn change(call: ToolCall, place: &ToolPlace, work: PathWork) -> ToolResult {
    let path = judged(place)?;
    let turn = place.cancel.unless_cancelled(files::turn(&path)).await.ok_or_else(work::cancelled)?;
    let done = work::run_to_the_end(place, move |place| {
        let output = work(&call.arguments, &path, place).unwrap_or_else(identity);
        // Held until here, even if the call was dropped before.
        drop(turn);
        output
    });
    Ok(done.await)
}

/// Runs a tool on one directory, for tests.
#[cfg(test)]
pub(super) fn run_in(directory: &std::path::Path, tool: BuiltIn, arguments: &Json) -> ToolOutput {
    let mut place = ToolPlace::new(directory, crate::cancel::Cancel::new());
    let effect = tool.effect(arguments);
    place.paths = effect.paths().iter().map(|path| ResolvedPath::new(directory, path).unwrap()).collect();
    let (Work::Reads(run) | Work::Changes { run, .. }) = tool.work else { panic!("{}", tool.name) };
    judged(&place).and_then(|path| run(arguments, &path, &place)).unwrap_or_else(identity)
}

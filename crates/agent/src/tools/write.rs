//! The tool `write`: a whole file at once.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::files::{self, FileError};
use super::work::{self, FileTarget};
use super::{diff, output, paths};
use crate::model::ToolSpec;
use crate::tool::{Effect, Preview, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};

/// Up to this size the old content is compared with the new one.
const COMPARED: u64 = 1024 * 1024;

/// The tool `write`.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteTool;

impl Tool for WriteTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write".into(),
            description: "Writes a whole file: makes it, with the directories it needs, or replaces what it holds. Use \
                          edit to change parts of a file."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, relative or absolute"},
                    "content": {"type": "string", "description": "All that the file shall hold"},
                },
                "required": ["path", "content"],
            }),
        }
    }

    fn effect(&self, arguments: &Json) -> Effect {
        Effect::Writes(Fields(arguments).text("path").map(PathBuf::from).into_iter().collect())
    }

    fn preview(&self, arguments: &Json, place: &ToolPlace) -> Preview {
        let content = Fields(arguments).text("content").unwrap_or_default().as_bytes();
        previewed(arguments, place, |target, _| {
            Ok(match old_text(&target.real) {
                None => diff::numbered_text(b"", content),
                Some(Old::Text(old)) => diff::numbered_text(old.as_bytes(), content),
                Some(Old::Other(size)) => {
                    let size = output::size(size);
                    format!("-  {size} that cannot be shown\n{}", diff::numbered_text(b"", content))
                }
            })
        })
    }

    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(changing(call, place, write))
    }
}

/// Works out the diff of a call that changes the file under `path`.
pub(super) fn previewed(
    arguments: &Json,
    place: &ToolPlace,
    diff: impl FnOnce(&FileTarget, &ToolPlace) -> Result<String, ToolOutput>,
) -> Preview {
    let path = Path::new(Fields(arguments).text("path").unwrap_or_default());
    match place.target(path).and_then(|target| diff(&target, place)) {
        Ok(diff) if diff.is_empty() => Preview::Diff("(no change)".to_owned()),
        Ok(diff) => Preview::Diff(place.secrets.mask(&diff).into_owned()),
        Err(output) => Preview::Fails(output),
    }
}

/// Runs work that changes the file under `path`, when it is this call's turn.
pub(super) async fn changing(
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

/// Says why a file cannot be changed.
pub(super) fn refused(error: &FileError, target: &FileTarget, place: &ToolPlace) -> String {
    format!("cannot write {}: {error}", paths::shown(&place.cwd, &target.shown))
}

fn write(arguments: &Json, target: &FileTarget, place: &ToolPlace) -> ToolOutput {
    let content = Fields(arguments).text("content").unwrap_or_default();
    let old = old_text(&target.real);
    if let Err(error) = files::replace(&target.real, content.as_bytes()) {
        return ToolOutput::error(refused(&error, target, place));
    }
    let shown = paths::shown(&place.cwd, &target.shown);
    let size_now = match content.len() {
        1 => "1 byte".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    let held = |size: u64| format!("Wrote {size_now} to {shown}, which held {}.", output::size(size));
    match old {
        None => ToolOutput::text(format!("Wrote {size_now} to {shown}.")),
        Some(Old::Text(old)) => {
            ToolOutput::text(held(old.len() as u64)).with_details(diff::details(&shown, &old, content))
        }
        Some(Old::Other(size)) => ToolOutput::text(held(size)),
    }
}

/// What a file held before.
enum Old {
    Text(String),
    /// Something that is not compared, and its size.
    Other(u64),
}

fn old_text(path: &Path) -> Option<Old> {
    let (file, metadata) = files::open(path).ok()?;
    let mut text = String::new();
    if metadata.len() > COMPARED || file.take(COMPARED).read_to_string(&mut text).is_err() {
        return Some(Old::Other(metadata.len()));
    }
    Some(Old::Text(text))
}

#[cfg(test)]
mod tests;

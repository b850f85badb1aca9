//! The tool `edit`: replaces parts of a file by exact match.
//!
//! Every edit is matched against the original file. All other bytes stay unchanged.

mod matching;

use std::io::Read;

use serde_json::{Value as Json, json};

use self::matching::Edit;
use super::built_in::{BuiltIn, ToolResult, Work};
use super::files::{self, FileError};
use super::resolved::ResolvedPath;
use super::{diff, output};
use crate::tool::{FileChange, ToolOutput, ToolPlace};

/// The maximum size of a file to edit.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// The tool `edit`.
pub(super) const TOOL: BuiltIn = BuiltIn {
    name: "edit",
    description: "Changes parts of a file. Each oldText must occur exactly once in the file, with the same \
                  white space. All edits of a call are looked for in the file as it is now and must not \
                  overlap; put several changes of one file into one call.",
    arguments: || {
        json!({
            "path": {"type": "string", "description": "The file, relative or absolute"},
            "edits": {
                "type": "array",
                "description": "The changes, each for another place of the file",
                "items": {
                    "type": "object",
                    "properties": {
                        "oldText": {"type": "string", "description": "The text to replace, exactly as it is"},
                        "newText": {"type": "string", "description": "The text to put there"},
                    },
                    "required": ["oldText", "newText"],
                },
            },
        })
    },
    required: &["path", "edits"],
    work: Work::Changes { prepare: canonical, change, run: edit },
};

/// A file before and after its edits.
struct Planned {
    old: Vec<u8>,
    new: Vec<u8>,
    /// The number of changed places.
    places: usize,
}

/// Normalises the forms in which models write edits: a single `oldText` and `newText` beside the path, and a list
/// encoded as JSON text.
fn canonical(mut arguments: Json) -> Json {
    if let Some(list) = arguments.get("edits").and_then(Json::as_str)
        && let Ok(edits @ (Json::Array(_) | Json::Object(_))) = serde_json::from_str(list)
    {
        arguments["edits"] = edits;
    }
    if arguments.get("edits").is_some_and(Json::is_object) {
        arguments["edits"] = Json::Array(vec![arguments["edits"].take()]);
    }
    let Some(fields) = arguments.as_object_mut() else { return arguments };
    if fields.contains_key("oldText") && fields.contains_key("newText") {
        // Removing keeps the order of the other fields.
        let lone =
            json!({"oldText": fields.shift_remove("oldText"), "newText": fields.shift_remove("newText")});
        match fields.get_mut("edits").and_then(Json::as_array_mut) {
            Some(edits) => edits.push(lone),
            None => drop(fields.insert("edits".into(), json!([lone]))),
        }
    }
    arguments
}

fn change(arguments: &Json, path: &ResolvedPath, place: &ToolPlace) -> Result<FileChange, ToolOutput> {
    let Planned { old, new, .. } = plan(arguments, path, place)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(FileChange { old: Some(text(&old)), new: text(&new), diff: diff::numbered_text(&old, &new) })
}

fn edit(arguments: &Json, path: &ResolvedPath, place: &ToolPlace) -> ToolResult {
    let Planned { old, new, places } = plan(arguments, path, place)?;
    files::write(path, &new, place)?;
    let shown = path.shown(&place.cwd);
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let places = if places == 1 { "1 place".to_owned() } else { format!("{places} places") };
    let output = ToolOutput::text(format!("Changed {places} in {shown}."));
    Ok(output.with_details(diff::details(&shown, &old, &new)))
}

/// Applies the edits of a call to the content of a file. Writes nothing.
fn plan(arguments: &Json, path: &ResolvedPath, place: &ToolPlace) -> Result<Planned, ToolOutput> {
    let shown = path.shown(&place.cwd);
    let edits = arguments["edits"].as_array().into_iter().flatten().map(Edit::read);
    let Some(edits) = edits.collect::<Option<Vec<Edit<'_>>>>() else {
        return Err(ToolOutput::error("every edit needs oldText and newText"));
    };
    let old = content(path, place).map_err(|error| error.output("edit", path, place))?;
    let new = matching::apply(&old, &edits)
        .map_err(|error| ToolOutput::error(format!("nothing was changed in {shown}: {error}")))?;
    let places = edits.len();
    Ok(Planned { old, new, places })
}

fn content(path: &ResolvedPath, place: &ToolPlace) -> Result<Vec<u8>, FileError> {
    if let Some(text) = files::editor_text(path, place) {
        return Ok(text.into_bytes());
    }
    let (file, size) = files::open(path)?;
    if size > MAX_FILE {
        let size = output::size(size);
        return Err(FileError::Io(std::io::Error::other(format!("the file is too large ({size})"))));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;

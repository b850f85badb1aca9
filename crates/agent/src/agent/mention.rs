//! Attaches the files that a prompt names as `@path`. The text of the prompt is not changed.
//!
//! Only text typed by the user counts, never piped input: the text of others must not choose files.

use std::path::Path;

use serde_json::{Value as Json, json};
use session_tree::Image;

use crate::handle::CustomMessage;
use crate::secrets::Secrets;
use crate::tools::files::{self, Beginning};
use crate::tools::paths::resolve;
use crate::tools::{ResolvedPath, prompt_image_at};

/// The type of the messages that carry the content of a file.
pub const FILE_MESSAGE: &str = "file";

/// The maximum number of files per prompt.
const MAX_FILES: usize = 16;
/// The maximum size of one text; the model can read the rest with a tool.
const MAX_MENTION_BYTES: u64 = 256 * 1024;
/// Punctuation that may follow a path in a sentence.
const AFTER_PATH: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', '"', '\''];

/// The contents of the files that a prompt names.
#[derive(Debug, Default)]
pub(super) struct MentionedFiles {
    pub(super) files: Vec<CustomMessage>,
    pub(super) images: Vec<Image>,
}

/// Reads the files that a text names. Credential files and unsupported types are skipped, keys are masked.
pub(super) fn read(text: &str, cwd: &Path, secrets: &Secrets) -> MentionedFiles {
    let mut mentioned = MentionedFiles::default();
    let mut known: Vec<&str> = Vec::new();
    for word in words(text) {
        if known.len() == MAX_FILES {
            break;
        }
        let Some(name) = file_in(word, cwd).filter(|name| !known.contains(name)) else { continue };
        known.push(name);
        let path = resolve(cwd, Path::new(name));
        let Ok(resolved) = ResolvedPath::new(cwd, Path::new(name)) else { continue };
        if secrets.is_denied(resolved.real()) {
            continue;
        }
        let Ok(beginning) = files::beginning(&resolved, MAX_MENTION_BYTES) else { continue };
        match is_text(&beginning.bytes) {
            true => mentioned.files.push(message(name, &path, &beginning, secrets)),
            false => mentioned.images.extend(prompt_image_at(&path)),
        }
    }
    mentioned
}

/// Returns the words that look like paths but match no file. A bare `@name` is not a path.
pub(super) fn missing(text: &str, cwd: &Path) -> Vec<String> {
    let exists = |name: &str| resolve(cwd, Path::new(name)).exists();
    let mut missing: Vec<String> = Vec::new();
    for word in words(text) {
        let name = word.trim_end_matches(AFTER_PATH);
        let is_path = name.contains(['/', '.', ' ']);
        if is_path && !exists(word) && !exists(name) && !missing.iter().any(|known| known == name) {
            missing.push(name.to_owned());
        }
    }
    missing
}

/// Returns the text after each `@` at the beginning of a word. Quoted text may contain spaces.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices('@').filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '"' | '\''))
    });
    starts.filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        let word = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split(['"', '\n']).next(),
            None => rest.split(char::is_whitespace).next(),
        };
        word.filter(|word| !word.is_empty())
    })
}

/// Returns the part of a word that names a file, without trailing punctuation.
fn file_in<'w>(word: &'w str, cwd: &Path) -> Option<&'w str> {
    let is_file = |name: &&str| !name.is_empty() && resolve(cwd, Path::new(name)).is_file();
    Some(word).filter(is_file).or_else(|| Some(word.trim_end_matches(AFTER_PATH)).filter(is_file))
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0)
}

fn message(
    name: &str,
    path: &Path,
    Beginning { bytes, size }: &Beginning,
    secrets: &Secrets,
) -> CustomMessage {
    let text = String::from_utf8_lossy(bytes);
    let text = secrets.mask(&text);
    let cut = match *size > bytes.len() as u64 {
        true => format!("\n[cut after {} of {size} bytes; the rest can be read with a tool]", bytes.len()),
        false => String::new(),
    };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let content = format!("<file name=\"{}\">\n{text}{end}</file>{cut}", path.display());
    CustomMessage {
        custom_type: FILE_MESSAGE.to_owned(),
        content: Json::String(content),
        display: false,
        details: Some(json!({"path": name, "bytes": size})),
    }
}

#[cfg(test)]
mod tests;

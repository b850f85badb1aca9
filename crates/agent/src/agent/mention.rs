//! Files that a prompt names as `@path`: what they hold goes to the model behind the prompt, whose text stays as it was
//! typed.
//!
//! Only what a person typed is looked at, never what came through a pipe: a text of others must not choose files.

use std::path::Path;

use serde_json::{Value as Json, json};
use session_tree::PromptImage;

use crate::handle::CustomMessage;
use crate::secrets::Secrets;
use crate::tools::files::{self, Beginning};
use crate::tools::paths::resolve;
use crate::tools::prompt_image_at;

/// The type of the messages that hold what a file holds.
pub const FILE_MESSAGE: &str = "file";

/// The most files of one prompt.
const MOST_FILES: usize = 16;
/// The most bytes of one text; the model can read on with a tool.
const MOST_BYTES: u64 = 256 * 1024;
/// What may follow a path in a sentence.
const AFTER_PATH: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', '"', '\''];

/// What the files hold that a prompt names.
#[derive(Debug, Default)]
pub(super) struct Mentioned {
    pub(super) files: Vec<CustomMessage>,
    pub(super) images: Vec<PromptImage>,
}

/// Reads the files that a text names. Credential files and files that no model reads are skipped, keys are masked.
pub(super) fn read(text: &str, cwd: &Path, secrets: &Secrets) -> Mentioned {
    let mut mentioned = Mentioned::default();
    let mut known: Vec<&str> = Vec::new();
    for word in words(text) {
        if known.len() == MOST_FILES {
            break;
        }
        let Some(name) = file_in(word, cwd).filter(|name| !known.contains(name)) else { continue };
        known.push(name);
        let path = resolve(cwd, Path::new(name));
        if secrets.is_denied(&path) {
            continue;
        }
        let Ok(beginning) = files::beginning(&path, MOST_BYTES) else { continue };
        match is_text(&beginning.bytes) {
            true => mentioned.files.push(message(name, &path, &beginning, secrets)),
            false => mentioned.images.extend(prompt_image_at(&path)),
        }
    }
    mentioned
}

/// What stands behind an `@` at the beginning of a word; in quotes it may hold blanks.
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

/// Finds the file that a word names, without what a sentence puts behind it.
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
mod tests {
    use std::fs;

    use super::*;

    fn project() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.md"), "greet\nkindly\n").unwrap();
        fs::write(dir.path().join("a b.txt"), "blank").unwrap();
        fs::write(dir.path().join("shot.png"), b"\x89PNG\r\n\x1a\n\0...").unwrap();
        fs::write(dir.path().join("program"), b"\x7fELF\0\0").unwrap();
        dir
    }

    fn names(text: &str) -> Vec<String> {
        let dir = project();
        let files = read(text, dir.path(), &Secrets::new()).files;
        files.iter().map(|file| file.details.as_ref().unwrap()["path"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn files_are_found_wherever_a_sentence_names_them() {
        assert_eq!(names("see @notes.md, please"), ["notes.md"]);
        assert_eq!(names("(@notes.md) and @\"a b.txt\"."), ["notes.md", "a b.txt"]);
        assert_eq!(names("@notes.md @./notes.md @notes.md"), ["notes.md", "./notes.md"]);
        assert_eq!(names("mail me@notes.md or @gone.md or @ or @. or @program"), Vec::<String>::new());
    }

    #[test]
    fn the_model_gets_what_a_file_holds_and_people_do_not() {
        let dir = project();
        let file = read("see @notes.md", dir.path(), &Secrets::new()).files.remove(0);
        let path = dir.path().join("notes.md");
        let expected = format!("<file name=\"{}\">\ngreet\nkindly\n</file>", path.display());
        assert_eq!((file.content, file.display), (Json::String(expected), false));
    }

    #[test]
    fn an_image_becomes_an_image_of_the_prompt() {
        let dir = project();
        let mentioned = read("what is on @shot.png?", dir.path(), &Secrets::new());
        assert_eq!((mentioned.images.len(), mentioned.files.len()), (1, 0));
    }

    #[test]
    fn a_large_file_is_cut_and_says_so() {
        let dir = project();
        fs::write(dir.path().join("large"), "é".repeat(200_000)).unwrap();
        let file = read("@large", dir.path(), &Secrets::new()).files.remove(0);
        let text = file.content.as_str().unwrap();
        assert!(
            text.ends_with("[cut after 262144 of 400000 bytes; the rest can be read with a tool]"),
            "{}",
            text.len()
        );
        assert!(!text.contains(char::REPLACEMENT_CHARACTER));
    }

    #[test]
    fn a_file_keeps_what_it_ends_with() {
        let dir = project();
        fs::write(dir.path().join("odd"), "kept\u{fffd}").unwrap();
        let file = read("@odd", dir.path(), &Secrets::new()).files.remove(0);
        assert!(file.content.as_str().unwrap().contains("kept\u{fffd}\n</file>"));
    }
}

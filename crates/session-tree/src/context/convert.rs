//! Messages as a model reads them. The texts are those of pi, letter by letter.
//!
//! Texts are spliced as the file spells them, so a lone surrogate or a byte that is not UTF-8 goes through.

use std::borrow::Cow;

use crate::entry::Message;
use crate::json::{self, Kind as JsonKind, ObjectWriter, ValueRef};
use crate::kind::Role;

const BRANCH_SUMMARY_BEGIN: &str =
    r"The following is a summary of a branch that this conversation came back from:\n\n<summary>\n";
const BRANCH_SUMMARY_END: &str = "</summary>";
const COMPACTION_SUMMARY_BEGIN: &str =
    r"The conversation history before this point was compacted into the following summary:\n\n<summary>\n";
const COMPACTION_SUMMARY_END: &str = r"\n</summary>";

/// Returns a message as a model reads it; none if no model reads it.
pub fn convert_to_llm(message: &Message) -> Option<Message> {
    let value = message.value();
    match message.role() {
        Role::System | Role::User | Role::Assistant | Role::ToolResult => Some(message.clone()),
        Role::Custom => Some(custom_to_user(value)),
        Role::BranchSummary => Some(summary_to_user(value, BRANCH_SUMMARY_BEGIN, BRANCH_SUMMARY_END)),
        Role::CompactionSummary => {
            Some(summary_to_user(value, COMPACTION_SUMMARY_BEGIN, COMPACTION_SUMMARY_END))
        }
        Role::BashExecution => {
            let is_hidden = is_true(value.get("excludeFromContext"));
            (!is_hidden).then(|| user_text(&bash_text(value), value))
        }
        Role::FileMention => Some(user_text(&files_text(value), value)),
        Role::Other => None,
    }
}

/// Wraps a string literal into a list of one text block.
pub(super) fn text_block(literal: &[u8]) -> Vec<u8> {
    [b"[{\"type\":\"text\",\"text\":", literal, b"}]"].concat()
}

/// Returns a value as the inside of a string literal.
///
/// A missing value is empty. Values that are no strings are spelled as JavaScript spells them.
pub(super) fn text_of(value: Option<ValueRef<'_>>) -> Cow<'_, [u8]> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Cow::Borrowed(b"") };
    if value.kind() == JsonKind::String {
        let raw = value.raw();
        return Cow::Borrowed(&raw[1..raw.len() - 1]);
    }
    let literal = json::literal(&value.js_string());
    Cow::Owned(literal.as_bytes()[1..literal.len() - 1].to_vec())
}

/// Returns true if JavaScript takes a value for true.
fn is_true(value: Option<ValueRef<'_>>) -> bool {
    value.is_some_and(|value| match value.kind() {
        JsonKind::Null => false,
        JsonKind::Bool => value.as_bool() == Some(true),
        JsonKind::Number => value.as_f64() != Some(0.0),
        JsonKind::String => value.raw().len() > 2,
        JsonKind::Array | JsonKind::Object => true,
    })
}

fn custom_to_user(message: ValueRef<'_>) -> Message {
    let content = message.get("content").map(|content| match content.kind() {
        JsonKind::String => text_block(content.raw()),
        _ => content.raw().to_vec(),
    });
    user(content.as_deref(), message)
}

fn summary_to_user(message: ValueRef<'_>, begin: &str, end: &str) -> Message {
    let text = [begin.as_bytes(), &text_of(message.get("summary")), end.as_bytes()].concat();
    user_text(&text, message)
}

/// Makes a prompt of one text block; `text` is the inside of a string literal.
fn user_text(text: &[u8], message: ValueRef<'_>) -> Message {
    user(Some(&text_block(&[b"\"", text, b"\""].concat())), message)
}

/// Makes a prompt with the time of another message.
fn user(content: Option<&[u8]>, message: ValueRef<'_>) -> Message {
    let prompt = ObjectWriter::new().string("role", "user").optional_raw("content", content);
    prompt.copy("timestamp", message).message()
}

fn bash_text(message: ValueRef<'_>) -> Vec<u8> {
    let mut text = [b"Ran `", &*text_of(message.get("command")), br"`\n"].concat();
    let output = message.get("output");
    if is_true(output) {
        text.extend([br"```\n", &*text_of(output), br"\n```"].concat());
    } else {
        text.extend_from_slice(b"(no output)");
    }
    let exit_code = message.get("exitCode").filter(|code| !code.is_null() && code.as_f64() != Some(0.0));
    if is_true(message.get("cancelled")) {
        text.extend_from_slice(br"\n\n(command cancelled)");
    } else if exit_code.is_some() {
        text.extend([br"\n\nCommand exited with code ", &*text_of(exit_code)].concat());
    }
    let full_output = message.get("fullOutputPath");
    if is_true(message.get("truncated")) && is_true(full_output) {
        text.extend([br"\n\n[Output truncated. Full output: ", &*text_of(full_output), b"]"].concat());
    }
    text
}

/// Returns the files of a file mention, one block for each.
fn files_text(message: ValueRef<'_>) -> Vec<u8> {
    let files = message.get("files").into_iter().flat_map(ValueRef::items);
    let block = |file: ValueRef<'_>| {
        let (path, content) = (text_of(file.get("path")), text_of(file.get("content")));
        [b"<file path=\\\"", &*path, br#"\">\n"#, &*content, br"\n</file>"].concat()
    };
    files.map(block).collect::<Vec<_>>().join(&br"\n\n"[..])
}

/// Removes the images of a message that oh-my-pi keeps in other files.
pub(super) fn omit_external_images(message: &mut Message) {
    let is_external = |block: &ValueRef<'_>| {
        let is_image = block.get("type").is_some_and(|kind| kind.is_str("image"));
        is_image && block.get("data").is_some_and(|data| data.raw().starts_with(b"\"blob:sha256:"))
    };
    let blocks = message.value().get("content").into_iter().flat_map(ValueRef::items);
    if blocks.clone().any(|block| is_external(&block)) {
        let kept = blocks.filter(|block| !is_external(block)).map(ValueRef::raw);
        *message = message.with_content(&json::array(kept));
    }
}

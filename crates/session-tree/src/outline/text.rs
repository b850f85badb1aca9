//! What a row says: one line per entry, the same in every front end.

use std::borrow::Cow;

use super::row::RowStyle;
use super::{call, glance, result};
use crate::branch_summary::BRANCH_SUMMARY_PREAMBLE;
use crate::entry::{Body, Content, Entry, Replacement};
use crate::error::Result;
use crate::json::ValueRef;
use crate::kind::Role;
use crate::session::Session;
use crate::tree::Node;

/// How many characters of a text are shown.
const SHOWN: usize = 200;
/// How many characters of an error are shown.
const SHOWN_ERROR: usize = 80;

/// The text of a row and how it is meant.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) style: RowStyle,
    pub(super) is_error: bool,
}

impl Line {
    fn new(text: impl Into<String>, style: RowStyle) -> Self {
        Self { text: text.into(), style, is_error: false }
    }

    fn muted(text: impl Into<String>) -> Self {
        Self::new(text, RowStyle::Muted)
    }
}

/// Tells what an entry is.
pub(super) fn line_at(session: &Session, node: Node, home: Option<&str>) -> Result<Line> {
    let known = match session.tree().role(node) {
        Some(Role::ToolResult) => match result::ends_of(session, node)? {
            Some(ends) => {
                let (id, tool) = (Some(ends.call_id.as_str()), Some(ends.tool.as_str()));
                Some(result_line(session, node, id, tool, ends.is_error, home)?)
            }
            None => None,
        },
        Some(role @ (Role::User | Role::Assistant)) => said_line(session, node, role)?,
        _ => None,
    };
    known.map_or_else(|| line(session, &session.entry_at(node)?, home), Ok)
}

/// Tells what a prompt or an answer says, if that can be told at a glance.
fn said_line(session: &Session, node: Node, role: Role) -> Result<Option<Line>> {
    let said = glance::said_at(session, node, role, SHOWN)?;
    let said = said.map(|said| shown(&said)).filter(|said| !said.is_empty());
    Ok(said.map(|said| match role {
        Role::User => Line::new(format!("user: {said}"), RowStyle::User),
        _ => Line::new(format!("assistant: {said}"), RowStyle::Assistant),
    }))
}

/// Describes an entry in one line.
pub(super) fn line(session: &Session, entry: &Entry, home: Option<&str>) -> Result<Line> {
    let name =
        |text: Option<Cow<'_, str>>, none: &str| text.map_or_else(|| none.to_owned(), |text| shown(&text));
    let title = |text: Option<Cow<'_, str>>| {
        let title = name(text, "");
        Line::new(format!("[title: {}]", if title.is_empty() { "empty" } else { &title }), RowStyle::Title)
    };
    let body = entry.body();
    let merge = body.merge();
    Ok(match body {
        Body::Message(message) => return message_line(session, entry, message, home),
        Body::CustomMessage { custom_type, content, details, .. } => {
            let content = Content::of(content);
            match pick_source(session, details) {
                Some(source) => pick(&source, without_attribution(&content.text())),
                None => {
                    let text = shown_content(content);
                    Line::new(format!("[{}]: {text}", name(custom_type, "custom")), RowStyle::Custom)
                }
            }
        }
        Body::Compaction { tokens_before, .. } => {
            let tokens = match tokens_before.unwrap_or(0.0).max(0.0) {
                few if few < 1000.0 => format!("{}", few.floor()),
                many => format!("{}k", (many / 1000.0).round()),
            };
            Line::new(format!("[compaction: {tokens} tokens]"), RowStyle::Compaction)
        }
        Body::BranchSummary { summary, .. } => {
            let summary = summary.unwrap_or_default();
            let text = shown(summary.strip_prefix(BRANCH_SUMMARY_PREAMBLE).map_or(&*summary, substance));
            let head = match merge {
                Some(merge) => format!("[merge ⇠ {}]", source_name(session, merge, None)),
                None => "[branch summary]".to_owned(),
            };
            Line::new(format!("{head}: {text}"), RowStyle::Summary)
        }
        Body::ModelChange { model_id, .. } => Line::muted(format!("[model: {}]", name(model_id, "none"))),
        Body::ThinkingLevelChange { level } => Line::muted(format!("[thinking: {}]", name(level, "off"))),
        Body::Usage { kind, .. } => Line::muted(format!("[usage: {}]", name(kind, "other"))),
        Body::Custom { custom_type, .. } => {
            Line::muted(format!("[custom: {}]", name(custom_type, "unknown")))
        }
        Body::Label { label, .. } => Line::muted(format!("[label: {}]", name(label, "(cleared)"))),
        Body::SessionInfo { name } => title(name),
        Body::TitleChange { title: name } => title(name),
        Body::ContextEdit { target, replacement } => {
            let what = match replacement {
                Replacement::Omit => "omit",
                Replacement::Content(_) | Replacement::Unreadable => "replace",
            };
            Line::muted(format!("[context {what}: {}]", name(target, "none")))
        }
        Body::Placeholder => Line { is_error: true, ..Line::muted("[damaged line]") },
        Body::LeafMove { .. }
        | Body::ModeChange { .. }
        | Body::RuleInjection { .. }
        | Body::ResetBoundary
        | Body::ModelUsage { .. }
        | Body::Opaque { .. } => Line::muted(format!("[{}]", shown(&entry.type_name()))),
    })
}

fn message_line(
    session: &Session,
    entry: &Entry,
    message: Option<ValueRef<'_>>,
    home: Option<&str>,
) -> Result<Line> {
    let Some(message) = message else { return Ok(Line::muted("[message]")) };
    let [role, content] = message.get_each(["role", "content"]);
    let written_role = role.and_then(ValueRef::as_str);
    let role = written_role.as_deref().map_or(Role::Other, |role| Role::from_name(role.as_bytes()));
    let content = Content::of(content);
    let origin = entry.value().and_then(|value| value.get("origin"));
    if let Some(source) = pick_source(session, origin) {
        return Ok(pick(&source, &content.beginning(SHOWN)));
    }
    Ok(match role {
        Role::User => Line::new(format!("user: {}", prompt_text(content)), RowStyle::User),
        Role::Assistant => answer(message, content),
        Role::ToolResult => return result(session, entry, message, home),
        Role::BashExecution => {
            let command = shown(&message.get("command").and_then(ValueRef::as_str).unwrap_or_default());
            let failed = exited_badly(message);
            Line { is_error: failed, ..Line::new(format!("[bash]: {command}"), RowStyle::Tool) }
        }
        Role::System
        | Role::Custom
        | Role::HookMessage
        | Role::BranchSummary
        | Role::CompactionSummary
        | Role::FileMention
        | Role::Other => Line::muted(format!("[{}]", shown(&written_role.unwrap_or("message".into())))),
    })
}

/// Tells whether a command of the person has an exit code that means failure.
pub(super) fn exited_badly(message: ValueRef<'_>) -> bool {
    message.get("exitCode").and_then(ValueRef::as_f64).is_some_and(|code| code != 0.0)
}

fn answer(message: ValueRef<'_>, content: Content<'_>) -> Line {
    let reason = message.get("stopReason");
    let ended = |how: &str| reason.is_some_and(|reason| reason.is_str(how));
    let failed = ended("error");
    let said = shown_content(content);
    if !said.is_empty() {
        return Line { is_error: failed, ..Line::new(["assistant: ", &said].concat(), RowStyle::Assistant) };
    }
    if ended("aborted") {
        return Line::new("assistant: (aborted)", RowStyle::Assistant);
    }
    match message.get("errorMessage").and_then(ValueRef::as_str).filter(|error| !error.is_empty()) {
        Some(error) => {
            let error = one_line(&error);
            let text = format!("assistant: {}", clip(&error, SHOWN_ERROR));
            Line { is_error: true, ..Line::new(text, RowStyle::Error) }
        }
        None => Line { is_error: failed, ..Line::new("assistant: (no content)", RowStyle::Assistant) },
    }
}

fn result(session: &Session, entry: &Entry, message: ValueRef<'_>, home: Option<&str>) -> Result<Line> {
    let text = |key: &str| message.get(key).and_then(ValueRef::as_str);
    let failed = message.get("isError").and_then(ValueRef::as_bool).unwrap_or(false);
    let (call_id, tool) = (text("toolCallId"), text("toolName"));
    result_line(session, entry.node(), call_id.as_deref(), tool.as_deref(), failed, home)
}

pub(super) fn result_line(
    session: &Session,
    node: Node,
    call_id: Option<&str>,
    tool: Option<&str>,
    failed: bool,
    home: Option<&str>,
) -> Result<Line> {
    let call = match call_id {
        Some(id) => call::call_of(session, node, id, home)?,
        None => None,
    };
    let line = call.unwrap_or_else(|| {
        let tool = tool.filter(|tool| !tool.is_empty()).unwrap_or("tool");
        format!("[{}]", shown(tool))
    });
    Ok(Line { is_error: failed, ..Line::new(line, RowStyle::Tool) })
}

/// The text of a prompt; one that has only images says how many.
pub(crate) fn prompt_text(content: Content<'_>) -> String {
    let text = shown_content(content);
    if !text.is_empty() {
        return text;
    }
    match content.image_count() {
        0 => text,
        1 => "[1 image]".to_owned(),
        count => format!("[{count} images]"),
    }
}

fn pick(source: &str, text: &str) -> Line {
    Line::new(format!("⇠ pick from \"{source}\": {}", shown(text)), RowStyle::Summary)
}

/// Describes an entry without looking at any other: for names, which must not lead back to themselves.
pub(super) fn plain_line(entry: &Entry) -> String {
    let content = match entry.body() {
        Body::Message(Some(message)) => shown_content(Content::of(message.get("content"))),
        Body::CustomMessage { content, .. } => shown_content(Content::of(content)),
        Body::Compaction { summary, .. } => shown(&summary.unwrap_or_default()),
        Body::BranchSummary { summary, .. } => shown(gist(&summary.unwrap_or_default())),
        _ => String::new(),
    };
    if content.is_empty() { format!("[{}]", shown(&entry.type_name())) } else { content }
}

/// Returns the first line of a summary that differs from those of other summaries.
fn gist(summary: &str) -> &str {
    let text = summary.strip_prefix(BRANCH_SUMMARY_PREAMBLE).unwrap_or(summary);
    substance(text).lines().next().unwrap_or_default()
}

/// Skips blank lines and headings at the beginning of a text, unless it has nothing else.
fn substance(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        let Some((_, after)) = rest.split_once('\n') else { return text };
        rest = after.trim_start();
    }
    if rest.is_empty() { text } else { rest }
}

/// Returns the id of the entry that a pick, a merge or a branch summary came from.
pub(super) fn source(entry: &Entry) -> Option<String> {
    let picked = |origin: ValueRef<'_>| {
        let ids = origin
            .get("sourceEntryIds")
            .filter(|_| origin.get("kind").is_some_and(|kind| kind.is_str("cherry-pick")))?;
        ids.items().next()?.as_str().map(Cow::into_owned)
    };
    let body = entry.body();
    let merge = body.merge();
    match body {
        Body::BranchSummary { from_id, .. } => {
            let merged = merge.and_then(|merge| merge.get("sourceLeafId")).and_then(ValueRef::as_str);
            let from = from_id.filter(|from| Some(&**from) != entry.parent_id().map(|id| id.as_str()));
            merged.or(from).map(Cow::into_owned)
        }
        Body::CustomMessage { details, .. } => picked(details?),
        Body::Message(_) => picked(entry.value()?.get("origin")?),
        _ => None,
    }
}

/// Names the branch that a pick came from; `None` if this is no pick.
fn pick_source(session: &Session, origin: Option<ValueRef<'_>>) -> Option<String> {
    let origin = origin?;
    if !origin.get("kind")?.is_str("cherry-pick") {
        return None;
    }
    let picked = origin.get("sourceEntryIds").and_then(|ids| ids.items().next());
    Some(source_name(session, origin, picked))
}

/// The name of the branch a graft came from, or the best id the file has for it.
fn source_name(session: &Session, graft: ValueRef<'_>, entry: Option<ValueRef<'_>>) -> String {
    let leaf = graft.get("sourceLeafId").and_then(ValueRef::as_str);
    let known = leaf.as_deref().and_then(|id| session.tree().node(id));
    let named = known.and_then(|node| session.branch_name(node).ok());
    let other = || graft.get("sourceSession").and_then(|source| source.get("id")?.as_str());
    named
        .map(|name| shown(&name))
        .filter(|name| !name.is_empty())
        .or_else(|| Some(shown(&other().or(leaf).or_else(|| entry?.as_str())?)))
        .unwrap_or_else(|| "elsewhere".to_owned())
}

/// A quote begins with a line for the model that says where it comes from; a row says so by its mark.
fn without_attribution(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("Copied from ") => rest,
        _ => text,
    }
}

/// The first characters of what a content says, on one line.
pub(crate) fn shown_content(content: Content<'_>) -> String {
    shown(&content.beginning(SHOWN))
}

/// The first characters of a text, on one line.
pub(super) fn shown(text: &str) -> String {
    // No need to go through a megabyte of text for two hundred characters; a long margin of blanks is the exception.
    let head = clip(text.trim_start(), SHOWN);
    clip(&one_line(head), SHOWN).to_owned()
}

/// Puts a text on one line.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    without_breaks(text.trim())
}

/// Makes what would break a line visible.
fn without_breaks(text: &str) -> Cow<'_, str> {
    // 0xc2 begins the control characters that take two bytes.
    let is_odd = |byte: u8| byte < b' ' || byte == 0x7f || byte == 0xc2;
    // No early end, so that many bytes are looked at together.
    if !text.bytes().fold(false, |found, byte| found | is_odd(byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_odd) {
        let (plain, odd) = rest.split_at(at);
        let mut behind = odd.chars();
        out.push_str(plain);
        out.extend(behind.next().map(visible));
        rest = behind.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The first characters of a text on one line, with dots if that is not all of it.
pub(super) fn clip_dots(text: &str, limit: usize) -> String {
    let text = text.trim();
    let head = clip(text, limit);
    let dots = if head.len() < text.len() { "..." } else { "" };
    [&*without_breaks(head), dots].concat()
}

/// Line breaks and tabs become blanks; other control characters would reach a terminal, and show as what they are.
fn visible(c: char) -> char {
    match c {
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// The first `limit` characters.
pub(crate) fn clip(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    if text.as_bytes()[..=limit].is_ascii() {
        return &text[..limit];
    }
    text.char_indices().nth(limit).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::Doc;

    /// Pieces of strings between two quotes: blanks, escapes, halves of pairs, bytes that are no UTF-8.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"abc".to_vec()),
            Just("é漢😀".as_bytes().to_vec()),
            Just(b"   \\n\\t".to_vec()),
            Just(b"\\ud83d\\ude00\\ud800".to_vec()),
            Just(b"\xff\xc3".to_vec()),
            Just("\u{3000}\u{85}".as_bytes().to_vec()),
            Just(b" ".repeat(300)),
            Just(b"x".repeat(300)),
        ];
        proptest::collection::vec(piece, 0..200).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_row_shows_the_same_whether_all_of_a_text_was_read_or_its_beginning(first in content(), second in content()) {
            let block = |text: &[u8]| [br#"{"type":"text","text":""#, text, br#""}"#].concat();
            let blocks = [b"[".as_slice(), &block(&first), b",", &block(&second), b"]"].concat();
            let plain = [b"\"".as_slice(), &first, b"\""].concat();
            for json in [blocks, plain] {
                let doc = Doc::parse(json).unwrap();
                let content = Content::of(Some(doc.root()));
                prop_assert_eq!(shown_content(content), shown(&content.text()));
            }
        }
    }
}

//! The text of a row: one line per entry.

use std::borrow::Cow;

use super::row::RowStyle;
use super::{call, peek};
use session_tree::json::{Cursor, ValueRef};
use session_tree::{
    BRANCH_SUMMARY_PREAMBLE, Body, Content, Entry, Node, Replacement, Result, Role, Session, excerpt,
    skip_headings,
};

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

/// Describes an entry in one line; long lines are not decoded if possible.
pub(super) fn line_at(session: &Session, node: Node, home: Option<&str>) -> Result<Line> {
    let known = match session.tree().role(node) {
        Some(Role::ToolResult) => match peek::tool_result(session, node)? {
            Some(result) => {
                let (id, tool) = (Some(result.call_id.as_str()), Some(result.tool.as_str()));
                Some(result_line(session, node, id, tool, result.is_error, home)?)
            }
            None => None,
        },
        Some(role @ (Role::User | Role::Assistant)) => said_line(session, node, role)?,
        _ => None,
    };
    known.map_or_else(|| line(session, &session.entry_at(node)?, home), Ok)
}

/// Describes a prompt or an answer without decoding its line, if possible.
fn said_line(session: &Session, node: Node, role: Role) -> Result<Option<Line>> {
    let said = peek::text(session, node, SHOWN)?;
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
                    let text = content.excerpt(SHOWN);
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
            let text = shown(summary.strip_prefix(BRANCH_SUMMARY_PREAMBLE).map_or(&*summary, skip_headings));
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
        Role::User => Line::new(format!("user: {}", content.prompt_excerpt(SHOWN)), RowStyle::User),
        Role::Assistant => answer(message, content),
        Role::ToolResult => return result(session, entry, message, home),
        Role::BashExecution => {
            let command = shown(&message.get("command").and_then(ValueRef::as_str).unwrap_or_default());
            let failed = exited_badly(message.get("exitCode").map(ValueRef::cursor));
            Line { is_error: failed, ..Line::new(format!("[bash]: {command}"), RowStyle::Tool) }
        }
        Role::System
        | Role::Custom
        | Role::BranchSummary
        | Role::CompactionSummary
        | Role::FileMention
        | Role::Other => Line::muted(format!("[{}]", shown(&written_role.unwrap_or("message".into())))),
    })
}

/// Returns true if the exit code of a shell command means failure.
pub(super) fn exited_badly(code: Option<Cursor<'_>>) -> bool {
    code.and_then(Cursor::as_f64).is_some_and(|code| code != 0.0)
}

fn answer(message: ValueRef<'_>, content: Content<'_>) -> Line {
    let reason = message.get("stopReason");
    let ended = |how: &str| reason.is_some_and(|reason| reason.is_str(how));
    let failed = ended("error");
    let said = content.excerpt(SHOWN);
    if !said.is_empty() {
        return Line { is_error: failed, ..Line::new(["assistant: ", &said].concat(), RowStyle::Assistant) };
    }
    if ended("aborted") {
        return Line::new("assistant: (aborted)", RowStyle::Assistant);
    }
    match message.get("errorMessage").and_then(ValueRef::as_str).filter(|error| !error.is_empty()) {
        Some(error) => {
            let text = format!("assistant: {}", excerpt(&error, SHOWN_ERROR));
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

fn pick(source: &str, text: &str) -> Line {
    Line::new(format!("⇠ pick from \"{source}\": {}", shown(text)), RowStyle::Summary)
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

/// Returns the name of the branch that a pick or merge came from, or the best id that the file has for it.
fn source_name(session: &Session, origin: ValueRef<'_>, entry: Option<ValueRef<'_>>) -> String {
    let leaf = origin.get("sourceLeafId").and_then(ValueRef::as_str);
    let known = leaf.as_deref().and_then(|id| session.tree().node(id));
    let named = known.and_then(|node| session.branch_name(node).ok());
    let other = || origin.get("sourceSession").and_then(|source| source.get("id")?.as_str());
    named
        .map(|name| shown(&name))
        .filter(|name| !name.is_empty())
        .or_else(|| Some(shown(&other().or(leaf).or_else(|| entry?.as_str())?)))
        .unwrap_or_else(|| "elsewhere".to_owned())
}

/// Removes the first line of a quote, which names its origin for the model; a row has a mark instead.
fn without_attribution(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("Copied from ") => rest,
        _ => text,
    }
}

fn shown(text: &str) -> String {
    excerpt(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use session_tree::json::Doc;

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
                prop_assert_eq!(content.excerpt(SHOWN), shown(&content.text()));
            }
        }
    }
}

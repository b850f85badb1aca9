//! Drafts in the spelling of files: what scripts and other programs hand in.
//!
//! A draft is an entry without its envelope. What it says is kept byte for byte; what every reader of the format
//! relies on has to be there.

use super::{Draft, ENVELOPE, Member};
use crate::entry::{Message, Shape, check_content, check_members};
use crate::error::{InvalidReason, Result};
use crate::json::{self, Doc, Kind as JsonKind, ValueRef};
use crate::kind::Kind;

impl Draft {
    /// Reads a draft from an entry as files spell it, without `id`, `parentId` and `timestamp`.
    ///
    /// White space between the parts is not kept, everything else is. A message without a time gets that of the
    /// entry. Types that only other programs write are refused, and so is a draft that lacks what its type needs.
    ///
    /// ```
    /// use session_tree::{Draft, Options};
    ///
    /// let mut session = Options::new().in_memory("/project")?;
    /// session.append(Draft::parse(r#"{"type": "message", "message": {"role": "user", "content": "hi"}}"#)?)?;
    /// assert_eq!(session.context()?.messages().next().unwrap().text(), "hi");
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self> {
        let doc = Doc::parse(text.as_ref());
        let doc =
            doc.map_err(|error| InvalidReason::NotJson { at: error.at, reason: error.reason }.of("draft"))?;
        Self::from_entry(doc.root())
    }

    /// Reads a draft from an object; its `parentId` is left to the caller.
    pub fn from_entry(entry: ValueRef<'_>) -> Result<Self> {
        if entry.kind() != JsonKind::Object {
            return Err(InvalidReason::NotAnObject.of("draft"));
        }
        if let Some(given) =
            ["id", "timestamp", "uuid", "parentUuid"].into_iter().find(|key| entry.get(key).is_some())
        {
            return Err(InvalidReason::SetBySession { field: given.to_owned() }.of("draft"));
        }
        let kind = kind_of(entry)?;
        let name = kind.name().unwrap_or("draft");
        check_members(entry, members(kind)).map_err(|reason| reason.of(name))?;
        let mut draft = Draft::new(kind);
        if kind == Kind::CustomMessage {
            entry.get("content").map_or(Ok(()), check_content).map_err(|reason| reason.of(name))?;
        }
        for (key, value) in entry.members() {
            let key = key.as_str().unwrap_or_default();
            if kind == Kind::Message && key == "message" {
                let message = Draft::message(&Message::parse(value.raw())?)?;
                draft.role = message.role;
                draft.members.extend(message.members);
            } else if !ENVELOPE.contains(&&*key) {
                let text = String::from_utf8(json::minify(value.raw()));
                let text = text.map_err(|_| InvalidReason::NotUtf8.of(name))?;
                draft = draft.member(Member::raw(&key, &text));
            }
        }
        Ok(draft)
    }
}

fn kind_of(entry: ValueRef<'_>) -> Result<Kind> {
    let name = entry.get("type").and_then(ValueRef::as_str);
    let name = name.ok_or_else(|| InvalidReason::Missing { field: "type".into() }.of("draft"))?;
    match Kind::from_name(name.as_bytes()) {
        // Other spellings of a type are read, never written.
        kind if kind.name() != Some(&name) => {
            Err(InvalidReason::UnknownType { kind: name.into_owned() }.of("draft"))
        }
        Kind::Opaque | Kind::LeafMove | Kind::ModeChange | Kind::RuleInjection | Kind::ResetBoundary => {
            Err(InvalidReason::UnknownType { kind: name.into_owned() }.of("draft"))
        }
        kind @ (Kind::Message
        | Kind::ThinkingLevelChange
        | Kind::ModelChange
        | Kind::Usage
        | Kind::Compaction
        | Kind::BranchSummary
        | Kind::Custom
        | Kind::CustomMessage
        | Kind::Label
        | Kind::SessionInfo
        | Kind::ContextEdit) => Ok(kind),
    }
}

/// The members that every reader of the format relies on.
fn members(kind: Kind) -> &'static [(&'static str, Shape)] {
    use Shape::{Bool, Content, Number, Object, Replacement, String};
    match kind {
        Kind::Message => &[("message", Object)],
        Kind::ThinkingLevelChange => &[("thinkingLevel", String)],
        Kind::ModelChange => &[("provider", String), ("modelId", String)],
        Kind::Usage => &[("kind", String), ("provider", String), ("model", String), ("usage", Object)],
        Kind::Compaction => &[("summary", String), ("firstKeptEntryId", String), ("tokensBefore", Number)],
        Kind::BranchSummary => &[("fromId", String), ("summary", String)],
        Kind::Custom => &[("customType", String)],
        Kind::CustomMessage => &[("customType", String), ("content", Content), ("display", Bool)],
        Kind::Label => &[("targetId", String)],
        Kind::SessionInfo => &[("name", String)],
        Kind::ContextEdit => &[("targetId", String), ("replacement", Replacement)],
        Kind::Opaque | Kind::LeafMove | Kind::ModeChange | Kind::RuleInjection | Kind::ResetBoundary => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn line_of(draft: &str) -> String {
        let mut session = Options::new().in_memory("/w").unwrap();
        let id = session.append(Draft::parse(draft).unwrap()).unwrap();
        String::from_utf8(session.entry(id.as_str()).unwrap().raw().to_vec()).unwrap()
    }

    fn refusal(draft: &str) -> String {
        Draft::parse(draft).unwrap_err().to_string()
    }

    #[test]
    fn what_a_draft_says_is_kept_byte_for_byte() {
        let line = line_of(r#"{ "type": "custom", "customType": "x", "data": {"n": 1e400, "s": "\ud800"} }"#);
        assert!(
            line.starts_with(r#"{"type":"custom","customType":"x","data":{"n":1e400,"s":"\ud800"},"id":"#)
        );
    }

    #[test]
    fn a_message_without_a_time_gets_that_of_its_entry() {
        let line = line_of(r#"{"type":"message","message":{"role":"user","content":"hi"},"origin":7}"#);
        assert!(line.contains(r#""message":{"role":"user","content":"hi","timestamp":"#), "{line}");
        assert!(line.ends_with(r#","origin":7}"#), "{line}");
        let line = line_of(r#"{"type":"message","message":{"timestamp":5,"role":"user","content":"hi"}}"#);
        assert!(line.ends_with(r#""message":{"timestamp":5,"role":"user","content":"hi"}}"#), "{line}");
    }

    #[test]
    fn a_draft_that_lacks_what_its_type_needs_is_refused() {
        let refusals = [
            "[]",
            "{",
            "{}",
            r#"{"type":"label","id":"a","targetId":"b"}"#,
            r#"{"type":"lable","targetId":"b"}"#,
            r#"{"type":"leaf","targetId":"b"}"#,
            r#"{"type":"label"}"#,
            r#"{"type":"label","targetId":7}"#,
            r#"{"type":"message","message":{"content":"hi"}}"#,
            r#"{"type":"message","message":{"role":"assistant","content":"hi"}}"#,
            r#"{"type":"message","message":{"role":"branchSummary","summary":"x"}}"#,
            r#"{"type":"context_edit","targetId":"a","replacement":{}}"#,
            r#"{"type":"message","message":{"role":"tool","content":"x"}}"#,
            r#"{"type":"message","message":{"role":"toolResult","content":[]}}"#,
            r#"{"type":"message","message":{"role":"assistant","content":[{"type":"tool_call"}]}}"#,
        ];
        assert_eq!(
            refusals.map(refusal),
            [
                "cannot write this draft: it is not a JSON object",
                "cannot write this draft: unexpected end of text at byte 1",
                "cannot write this draft: it has no `type`",
                "cannot write this draft: `id` is set by the session",
                "cannot write this draft: the type `lable` is not one that is written",
                "cannot write this draft: the type `leaf` is not one that is written",
                "cannot write this label: it has no `targetId`",
                "cannot write this label: `targetId` is not a string",
                "cannot write this message: it has no `role`",
                "cannot write this message: `content` is not an array of blocks",
                "cannot write this message: a summary is an entry of its own, `branch_summary` or `compaction`",
                "cannot write this context_edit: `replacement` is not null or an object with `content`",
                "cannot write this message: the role `tool` is unknown",
                "cannot write this message: it has no `toolCallId`",
                "cannot write this message: the block `content[0]` has the unknown type `tool_call`",
            ]
        );
    }
}

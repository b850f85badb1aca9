//! Drafts read from JSON, as scripts and other programs pass them: an entry as files spell it, without its envelope.

use super::{Draft, ENVELOPE};
use crate::entry::{Message, Shape, check_content, check_members};
use crate::error::{InvalidReason, Result};
use crate::json::{self, Doc, Kind as JsonKind, ValueRef};
use crate::kind::Kind;

impl Draft {
    /// Reads a draft from an entry as files spell it, without `id`, `parentId` and `timestamp`.
    ///
    /// White space between the parts is not kept, everything else is. A message without a time gets that of the
    /// entry. Types that only other programs write are refused, and so is a draft without the fields that its type needs.
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
                draft = draft.raw(&key, &text);
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

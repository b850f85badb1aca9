//! Drafts in the spelling of files: what scripts and other programs hand in.
//!
//! A draft is an entry without its envelope. What it says is kept byte for byte; what every reader of the format
//! relies on has to be there.

use super::{Draft, ENVELOPE, Member};
use crate::entry::Message;
use crate::error::{Error, Result};
use crate::json::{self, Doc, Kind as JsonKind, ValueRef};
use crate::kind::{Kind, Role};

/// A field that has to be there, and what it has to be.
type Field = (&'static str, Shape);

/// What a field has to be.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Number,
    Truth,
    Object,
    /// One text, or blocks.
    Content,
    Blocks,
    /// What a context edit puts in the place of a content.
    Replacement,
}

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
    /// session.append(&Draft::parse(r#"{"type": "message", "message": {"role": "user", "content": "hi"}}"#)?)?;
    /// assert_eq!(session.build_context()?.messages().next().unwrap().text(), "hi");
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self> {
        let doc = Doc::parse(text.as_ref()).map_err(|error| bad("draft", error.to_string()))?;
        Self::from_entry(doc.root())
    }

    /// Reads a draft from an object; its `parentId` is left to the caller.
    pub fn from_entry(entry: ValueRef<'_>) -> Result<Self> {
        if entry.kind() != JsonKind::Object {
            return Err(bad("draft", "it is not a JSON object"));
        }
        if let Some(given) =
            ["id", "timestamp", "uuid", "parentUuid"].into_iter().find(|key| entry.get(key).is_some())
        {
            return Err(bad("draft", format!("`{given}` is given by the session")));
        }
        let kind = kind_of(entry)?;
        let name = kind.name().unwrap_or("draft");
        check(entry, name, fields(kind))?;
        let mut draft = Draft::new(kind);
        if kind == Kind::Message {
            draft.role = check_message(entry)?;
        }
        for (key, value) in entry.members() {
            let key = key.as_str().unwrap_or_default();
            if !ENVELOPE.contains(&&*key) {
                draft = draft.member(member(name, &key, value)?);
            }
        }
        Ok(draft)
    }
}

fn bad(what: &'static str, reason: impl Into<String>) -> Error {
    Error::BadDraft { what, reason: reason.into() }
}

fn kind_of(entry: ValueRef<'_>) -> Result<Kind> {
    let name = entry.get("type").and_then(ValueRef::as_str);
    let name = name.ok_or_else(|| bad("draft", "it has no `type`"))?;
    match Kind::from_name(name.as_bytes()) {
        Kind::Opaque
        | Kind::LeafMove
        | Kind::ModeChange
        | Kind::RuleInjection
        | Kind::ResetBoundary
        | Kind::TitleChange
        | Kind::ModelUsage
        | Kind::StackSummary => Err(bad("draft", format!("the type `{name}` is not one that is written"))),
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

/// What every reader of the format takes for granted.
fn fields(kind: Kind) -> &'static [Field] {
    use Shape::{Content, Number, Object, Replacement, Text, Truth};
    match kind {
        Kind::Message => &[("message", Object)],
        Kind::ThinkingLevelChange => &[("thinkingLevel", Text)],
        Kind::ModelChange => &[("provider", Text), ("modelId", Text)],
        Kind::Usage => &[("kind", Text), ("provider", Text), ("model", Text), ("usage", Object)],
        Kind::Compaction => &[("summary", Text), ("firstKeptEntryId", Text), ("tokensBefore", Number)],
        Kind::BranchSummary => &[("fromId", Text), ("summary", Text)],
        Kind::Custom => &[("customType", Text)],
        Kind::CustomMessage => &[("customType", Text), ("content", Content), ("display", Truth)],
        Kind::Label => &[("targetId", Text)],
        Kind::SessionInfo => &[("name", Text)],
        Kind::ContextEdit => &[("targetId", Text), ("replacement", Replacement)],
        Kind::Opaque
        | Kind::LeafMove
        | Kind::ModeChange
        | Kind::RuleInjection
        | Kind::ResetBoundary
        | Kind::TitleChange
        | Kind::ModelUsage
        | Kind::StackSummary => &[],
    }
}

fn check_message(entry: ValueRef<'_>) -> Result<Role> {
    use Shape::{Blocks, Content, Text};
    let Some(message) = entry.get("message") else { return Ok(Role::Other) };
    check(message, "message", &[("role", Text)])?;
    let role = message.get("role").and_then(ValueRef::as_str).unwrap_or_default();
    let role = Role::from_name(role.as_bytes());
    let needed: &[Field] = match role {
        Role::User | Role::Custom => &[("content", Content)],
        Role::Assistant => &[("content", Blocks)],
        Role::ToolResult => &[("toolCallId", Text), ("content", Blocks)],
        Role::BashExecution => &[("command", Text)],
        Role::BranchSummary | Role::CompactionSummary => {
            return Err(bad("message", "a summary is an entry of its own, `branch_summary` or `compaction`"));
        }
        Role::System | Role::HookMessage | Role::FileMention | Role::Other => &[],
    };
    check(message, "message", needed).map(|()| role)
}

fn check(object: ValueRef<'_>, what: &'static str, fields: &[Field]) -> Result<()> {
    for (name, shape) in fields {
        match object.get(name) {
            Some(value) if shape.fits(value) => {}
            Some(_) => return Err(bad(what, format!("`{name}` is not {}", shape.words()))),
            None => return Err(bad(what, format!("it has no `{name}`"))),
        }
    }
    Ok(())
}

impl Shape {
    fn fits(self, value: ValueRef<'_>) -> bool {
        match self {
            Shape::Text => value.kind() == JsonKind::String,
            Shape::Number => value.kind() == JsonKind::Number,
            Shape::Truth => value.as_bool().is_some(),
            Shape::Object => value.kind() == JsonKind::Object,
            Shape::Content => matches!(value.kind(), JsonKind::String | JsonKind::Array),
            Shape::Blocks => value.kind() == JsonKind::Array,
            Shape::Replacement => {
                value.is_null() || value.get("content").is_some_and(|content| Shape::Content.fits(content))
            }
        }
    }

    fn words(self) -> &'static str {
        match self {
            Shape::Text => "a text",
            Shape::Number => "a number",
            Shape::Truth => "true or false",
            Shape::Object => "an object",
            Shape::Content => "a text or a list of blocks",
            Shape::Blocks => "a list of blocks",
            Shape::Replacement => "null or an object with `content`",
        }
    }
}

fn member(what: &'static str, key: &str, value: ValueRef<'_>) -> Result<Member> {
    let text = String::from_utf8(json::compact(value.raw())).map_err(|_| bad(what, "it is not UTF-8"))?;
    if what == "message" && key == "message" && value.get("timestamp").is_none() {
        let message = Message::parse(&text)?;
        return Ok(Member::timed(key, &message));
    }
    Ok(Member::raw(key, &text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn line_of(draft: &str) -> String {
        let mut session = Options::new().in_memory("/w").unwrap();
        let id = session.append(&Draft::parse(draft).unwrap()).unwrap();
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
        ];
        assert_eq!(
            refusals.map(refusal),
            [
                "cannot write this draft: it is not a JSON object",
                "cannot write this draft: unexpected end of text at byte 1",
                "cannot write this draft: it has no `type`",
                "cannot write this draft: `id` is given by the session",
                "cannot write this draft: the type `lable` is not one that is written",
                "cannot write this draft: the type `leaf` is not one that is written",
                "cannot write this label: it has no `targetId`",
                "cannot write this label: `targetId` is not a text",
                "cannot write this message: it has no `role`",
                "cannot write this message: `content` is not a list of blocks",
                "cannot write this message: a summary is an entry of its own, `branch_summary` or `compaction`",
                "cannot write this context_edit: `replacement` is not null or an object with `content`",
            ]
        );
    }
}

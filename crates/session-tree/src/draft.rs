//! A draft: the body of a new entry, before it has an id, a parent and a time.
//!
//! A draft holds the JSON of its fields, in the order in which pi writes them; the session adds the envelope
//! when it appends. Never touches a session.

mod parse;

use serde_json::Value as Json;

use crate::entry::{Entry, Message};
use crate::error::{Error, InvalidReason, Result};
use crate::id::EntryId;
use crate::json::{self, ObjectWriter, ValueRef};
use crate::kind::{Kind, Role};
use crate::time::Timestamp;

/// The body of a new entry.
///
/// ```
/// use session_tree::{Draft, Options};
///
/// let mut session = Options::new().in_memory("/project")?;
/// let id = session.append(Draft::custom("my-extension", Some(&serde_json::json!({"step": 1}))))?;
/// assert_eq!(session.leaf_id(), Some(id));
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Draft {
    kind: Kind,
    role: Role,
    members: Vec<(String, Value)>,
    /// The id that the entry gets if it is free.
    id: Option<EntryId>,
}

/// The value of a member of the entry.
#[derive(Debug, Clone)]
enum Value {
    /// JSON text.
    Json(String),
    /// The id of the new entry itself.
    OwnId,
    /// An object that gets the time of the new entry in milliseconds, between these two parts of its text.
    Timed(String, String),
}

/// The names that a session file uses for the ids of its entries and the links between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `id`, `parentId`, `firstKeptEntryId`.
    #[default]
    Id,
    /// `uuid`, `parentUuid`, `firstKeptEntryUuid`. A root names the uuid of the header as its parent, if there is one.
    Uuid { header: Option<String> },
}

/// The fields that the session adds to an entry, in both spellings.
const ENVELOPE: [&str; 6] = ["type", "id", "parentId", "timestamp", "uuid", "parentUuid"];
/// The field of a compaction that names an entry.
const FIRST_KEPT: &str = "firstKeptEntryId";

/// The entries before a compaction that stay in the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeepFrom {
    /// The latest prompt of the path and everything after it.
    LastPrompt,
    /// An entry of the path and everything after it.
    Entry(EntryId),
    /// Nothing.
    Nothing,
}

impl From<EntryId> for KeepFrom {
    fn from(id: EntryId) -> Self {
        KeepFrom::Entry(id)
    }
}

/// A new compaction.
#[derive(Debug, Clone)]
pub struct NewCompaction {
    /// The summary that replaces the older entries.
    pub summary: String,
    /// The entries that stay in the context.
    pub keep: KeepFrom,
    /// The tokens of the context before the compaction.
    pub tokens_before: u64,
    /// Data of the program that made the summary.
    pub details: Option<Json>,
    /// The tokens and the cost of the summary.
    pub usage: Option<Json>,
    /// True if an extension made the summary.
    pub from_hook: bool,
}

/// A new summary of an abandoned branch.
///
/// [`Session::branch_with_summary`](crate::Session::branch_with_summary) also accepts the text alone.
#[derive(Debug, Clone, Default)]
pub struct NewBranchSummary {
    /// The summary.
    pub summary: String,
    /// Data of the program that made the summary.
    pub details: Option<Json>,
    /// The tokens and the cost of the summary.
    pub usage: Option<Json>,
    /// True if an extension made the summary.
    pub from_hook: bool,
}

impl From<&str> for NewBranchSummary {
    fn from(summary: &str) -> Self {
        Self { summary: summary.to_owned(), ..Self::default() }
    }
}

impl From<String> for NewBranchSummary {
    fn from(summary: String) -> Self {
        Self { summary, ..Self::default() }
    }
}

impl From<&NewBranchSummary> for NewBranchSummary {
    fn from(new: &NewBranchSummary) -> Self {
        new.clone()
    }
}

/// A message becomes a `message` entry, a message of an extension a `custom_message` entry.
impl TryFrom<&Message> for Draft {
    type Error = Error;

    fn try_from(message: &Message) -> Result<Self> {
        match message.role() {
            Role::Custom => Draft::custom_entry(message),
            _ => Draft::message(message),
        }
    }
}

impl TryFrom<Message> for Draft {
    type Error = Error;

    fn try_from(message: Message) -> Result<Self> {
        Draft::try_from(&message)
    }
}

impl From<&Draft> for Draft {
    fn from(draft: &Draft) -> Self {
        draft.clone()
    }
}

/// The replacement of a context edit for the content of its target.
#[derive(Debug, Clone, PartialEq)]
pub enum NewContent {
    /// The target contributes nothing.
    Omit,
    /// One text.
    Text(String),
    /// Blocks, as a JSON array.
    Blocks(Json),
}

impl Draft {
    /// Gives the entry an id that [`Session::new_id`](crate::Session::new_id) returned. The entry gets another id if a
    /// line of the file has this one by then.
    #[must_use]
    pub fn with_id(mut self, id: EntryId) -> Self {
        self.id = Some(id);
        self
    }

    /// Returns the id that the entry gets if it is free.
    pub(crate) fn wanted_id(&self) -> Option<&EntryId> {
        self.id.as_ref()
    }

    /// Drafts a `message` entry. A message without a time gets that of the entry.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the message breaks a rule for messages that are written, unless it was made with
    /// [`Message::parse_unchecked`]. Summaries are entries of their own type: see
    /// [`Session::compact`](crate::Session::compact) and
    /// [`Session::branch_with_summary`](crate::Session::branch_with_summary).
    pub fn message(message: &Message) -> Result<Self> {
        let role = message.check().map_err(|reason| reason.of("message"))?;
        if matches!(role, Role::BranchSummary | Role::CompactionSummary) {
            return Err(InvalidReason::Summary.of("message"));
        }
        Ok(Draft { role, ..Draft::new(Kind::Message) }.member("message", Value::of_message(message)?))
    }

    /// Drafts a copy of a message that a session holds, whatever it lacks.
    pub(crate) fn copied_message(message: &Message) -> Self {
        let role = message.role();
        Draft { role, ..Draft::new(Kind::Message) }.raw("message", &message.json())
    }

    /// Drafts a change of the thinking level.
    pub fn thinking_level_change(level: &str) -> Self {
        Draft::new(Kind::ThinkingLevelChange).text("thinkingLevel", level)
    }

    /// Drafts a change of the model.
    pub fn model_change(provider: &str, model_id: &str) -> Self {
        Draft::new(Kind::ModelChange).text("provider", provider).text("modelId", model_id)
    }

    /// Drafts a note of tokens and cost spent outside an answer.
    pub fn usage(kind: &str, provider: &str, model: &str, usage: &Json, note: Option<&str>) -> Self {
        let draft =
            Draft::new(Kind::Usage).text("kind", kind).text("provider", provider).text("model", model);
        draft.json("usage", Some(usage)).optional_text("note", note)
    }

    /// Drafts a compaction that keeps the entries from `first_kept` on. `system_message` is the replayed prompt state of
    /// the path, if there is any.
    pub(crate) fn compaction(
        new: &NewCompaction,
        first_kept: Option<&EntryId>,
        system_message: Option<&Message>,
    ) -> Self {
        let first_kept = first_kept.map_or(Value::OwnId, |id| Value::Json(json::literal(id.as_str())));
        let draft = Draft::new(Kind::Compaction).text("summary", &new.summary).member(FIRST_KEPT, first_kept);
        let draft = draft.raw("tokensBefore", &new.tokens_before.to_string());
        let draft = draft.json("details", new.details.as_ref()).json("usage", new.usage.as_ref());
        let draft = draft.raw("fromHook", &new.from_hook.to_string());
        match system_message {
            Some(message) => draft.member("systemMessage", Value::redated(message)),
            None => draft,
        }
    }

    /// Drafts a branch summary; `from` is the leaf that was left.
    pub fn branch_summary(from: Option<&EntryId>, new: &NewBranchSummary) -> Self {
        let draft = Draft::new(Kind::BranchSummary).text("fromId", from.map_or("root", EntryId::as_str));
        let draft = draft.text("summary", &new.summary);
        let draft = draft.json("details", new.details.as_ref()).json("usage", new.usage.as_ref());
        draft.raw("fromHook", &new.from_hook.to_string())
    }

    /// Drafts state of an extension.
    pub fn custom(custom_type: &str, data: Option<&Json>) -> Self {
        Draft::new(Kind::Custom).text("customType", custom_type).json("data", data)
    }

    /// Drafts a message of an extension; `content` is a string or an array of text and image blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the content is neither.
    pub fn custom_message(
        custom_type: &str,
        content: &Json,
        display: bool,
        details: Option<&Json>,
    ) -> Result<Self> {
        let message =
            Message::custom(custom_type, content.clone()).display(display).details(details.cloned());
        Draft::custom_entry(&message.build())
    }

    /// Drafts the `custom_message` entry of a message with the role `custom`.
    fn custom_entry(message: &Message) -> Result<Self> {
        message.check().map_err(|reason| reason.of("custom_message"))?;
        let mut draft = Draft::new(Kind::CustomMessage);
        for name in ["customType", "content", "display", "details"] {
            if let Some(value) = message.value().get(name) {
                let text = std::str::from_utf8(value.raw());
                draft = draft.raw(name, text.map_err(|_| InvalidReason::NotUtf8.of("custom_message"))?);
            }
        }
        Ok(draft)
    }

    /// Drafts a label; no text, or a blank one, clears it.
    pub fn label(target: &EntryId, label: Option<&str>) -> Self {
        Draft::new(Kind::Label)
            .text("targetId", target.as_str())
            .optional_text("label", label.map(json::trim_js))
    }

    /// Drafts the name of the session; an empty one clears it. Line breaks become spaces.
    pub fn session_info(name: &str) -> Self {
        Draft::new(Kind::SessionInfo).text("name", &spelled_name(name).unwrap_or_default())
    }

    /// Drafts a context edit. The session checks the target.
    pub(crate) fn context_edit(target: &EntryId, replacement: &str) -> Self {
        Draft::new(Kind::ContextEdit).text("targetId", target.as_str()).raw("replacement", replacement)
    }

    /// Drafts the marker that keeps the position of the leaf.
    pub(crate) fn leaf_marker(target: Option<&EntryId>) -> Self {
        let target = target.map_or(Json::Null, |id| Json::from(id.as_str()));
        Draft::custom(crate::line::LEAF_MARKER, Some(&serde_json::json!({ "targetId": target })))
    }

    /// Drafts a copy of an entry: its own fields as the file spells them, without the `left_out` ones.
    ///
    /// Invalid UTF-8 is replaced, as every reader of the source replaces it. A line that cannot be read has no fields.
    pub(crate) fn copy_of(entry: &Entry, left_out: &[&str]) -> Self {
        let mut draft = Draft::new(entry.kind());
        for (key, value) in entry.value().into_iter().flat_map(ValueRef::members) {
            let name = key.as_str().unwrap_or_default();
            if !ENVELOPE.iter().chain(left_out).any(|other| *other == name) {
                draft = draft.raw(&name, &String::from_utf8_lossy(&json::minify(value.raw())));
            }
        }
        draft
    }

    /// Sets a field that the format does not define, such as where a copied message came from. A field of this name
    /// that the draft already has is replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the session itself sets the field: `type`, `id`, `parentId`, `timestamp`, `uuid` and
    /// `parentUuid`. A line with two of them would mean something else to each reader.
    pub fn with_field(mut self, name: &str, value: &Json) -> Result<Self> {
        if ENVELOPE.contains(&name) {
            let reason = InvalidReason::SetBySession { field: name.to_owned() };
            return Err(reason.of(self.kind.name().unwrap_or("entry")));
        }
        self.members.retain(|(known, _)| known != name);
        Ok(self.json(name, Some(value)))
    }

    /// Returns the type of the entry to be.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns true if the entry begins a conversation, so that the session is worth a file.
    pub(crate) fn is_conversation(&self) -> bool {
        match self.kind {
            Kind::Message => self.role != Role::System,
            Kind::CustomMessage => true,
            _ => false,
        }
    }

    /// Returns a lower bound of the length of the line that the draft becomes.
    pub(crate) fn min_len(&self) -> u64 {
        self.members.iter().map(|(name, value)| (name.len() + value.min_len()) as u64).sum()
    }

    /// Writes the line of the entry, with its line feed.
    pub(crate) fn write_spelled(
        &self,
        out: &mut Vec<u8>,
        id: &EntryId,
        parent: Option<&EntryId>,
        time: Timestamp,
        spelling: &Spelling,
    ) {
        let (id_key, parent_key, root) = match spelling {
            Spelling::Id => ("id", "parentId", None),
            Spelling::Uuid { header } => ("uuid", "parentUuid", header.as_deref()),
        };
        let parent = parent.map(EntryId::as_str).or(root).map_or_else(|| "null".into(), json::literal);
        let envelope = |entry: ObjectWriter| {
            entry.string(id_key, id.as_str()).raw(parent_key, &parent).string("timestamp", &time.to_string())
        };
        // pi writes the fields of these two before the envelope.
        let own_first = matches!(self.kind, Kind::Custom | Kind::CustomMessage);
        let mut entry = ObjectWriter::with_capacity(self.min_len() as usize + 32 * self.members.len() + 192);
        entry = entry.string("type", self.kind.name().unwrap_or("custom"));
        if !own_first {
            entry = envelope(entry);
        }
        for (name, value) in &self.members {
            let name = match spelling {
                Spelling::Uuid { .. } if name == FIRST_KEPT => "firstKeptEntryUuid",
                _ => name,
            };
            entry = match value {
                Value::Json(text) => entry.raw(name, text),
                Value::OwnId => entry.string(name, id.as_str()),
                Value::Timed(head, tail) => {
                    entry.raw(name, format!("{head}\"timestamp\":{}{tail}", time.as_millis()))
                }
            };
        }
        if own_first {
            entry = envelope(entry);
        }
        out.extend(entry.finish());
        out.push(b'\n');
    }

    fn new(kind: Kind) -> Self {
        Draft { kind, role: Role::Other, members: Vec::new(), id: None }
    }

    fn member(mut self, name: &str, value: Value) -> Self {
        self.members.push((name.to_owned(), value));
        self
    }

    fn text(self, name: &str, value: &str) -> Self {
        self.member(name, Value::Json(json::literal(value)))
    }

    fn optional_text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    fn json(self, name: &str, value: Option<&Json>) -> Self {
        match value {
            Some(value) => self.raw(name, &value.to_string()),
            None => self,
        }
    }

    fn raw(self, name: &str, value: &str) -> Self {
        self.member(name, Value::Json(value.to_owned()))
    }
}

impl Value {
    /// Makes the `message` member of an entry.
    fn of_message(message: &Message) -> Result<Self> {
        let string = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec()).map_err(|_| InvalidReason::NotUtf8.of("message"))
        };
        if message.value().get("timestamp").is_some() {
            return Ok(Value::Json(string(message.raw())?));
        }
        let (head, tail) = message.around_time();
        Ok(Value::Timed(string(&head)?, string(&tail)?))
    }

    /// Creates a message whose time is that of its entry.
    fn redated(message: &Message) -> Self {
        let mut edit = json::Edit::new(message.value());
        edit.remove("timestamp");
        let text = String::from_utf8_lossy(&edit.object_text()).into_owned();
        let head = text.strip_suffix('}').unwrap_or(&text);
        let comma = if head == "{" { "" } else { "," };
        Value::Timed(format!("{head}{comma}"), "}".into())
    }

    /// Returns a lower bound of the length of the value.
    fn min_len(&self) -> usize {
        match self {
            Value::Json(text) => text.len(),
            Value::OwnId => 0,
            Value::Timed(head, tail) => head.len() + tail.len(),
        }
    }
}

/// Returns the name of a session as files keep it: line breaks become spaces, and the ends are trimmed. None if it is
/// blank, which removes the name.
pub fn spelled_name(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split(['\r', '\n']).filter(|part| !part.is_empty()).collect();
    let name = words.join(" ");
    Some(json::trim_js(&name)).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests;

//! Bodies: the fields of each type of entry, as views into its line.

use std::borrow::Cow;

use crate::json::ValueRef;
use crate::kind::Kind;

/// Text that may be missing.
type Text<'e> = Option<Cow<'e, str>>;

/// The content of an entry. Every field may be missing in a file.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "fields carry the names of the format, which docs/format.md describes")]
pub enum Body<'e> {
    /// A message of the conversation; `None` if the file has none there.
    Message(Option<ValueRef<'e>>),
    /// A change of the thinking level; none means off.
    ThinkingLevelChange { level: Text<'e> },
    /// A change of the model. `role` is the purpose of the model; the main model has none, or `default`.
    ModelChange { provider: Text<'e>, model_id: Text<'e>, role: Text<'e> },
    /// Tokens and cost spent outside an answer.
    Usage { kind: Text<'e>, usage: Option<ValueRef<'e>> },
    /// A summary that replaces older entries of its path.
    Compaction {
        summary: Text<'e>,
        first_kept: Text<'e>,
        tokens_before: Option<f64>,
        details: Option<ValueRef<'e>>,
        usage: Option<ValueRef<'e>>,
        from_hook: bool,
        system_message: Option<ValueRef<'e>>,
    },
    /// A summary of an abandoned branch.
    BranchSummary {
        from_id: Text<'e>,
        summary: Text<'e>,
        details: Option<ValueRef<'e>>,
        usage: Option<ValueRef<'e>>,
        from_hook: bool,
    },
    /// State of an extension.
    Custom { custom_type: Text<'e>, data: Option<ValueRef<'e>> },
    /// A message of an extension.
    CustomMessage {
        custom_type: Text<'e>,
        content: Option<ValueRef<'e>>,
        display: bool,
        details: Option<ValueRef<'e>>,
    },
    /// A name put on another entry; no text clears it.
    Label { target: Text<'e>, label: Text<'e> },
    /// The name of the session; empty clears it.
    SessionInfo { name: Text<'e> },
    /// A replacement of the content of another entry in the context.
    ContextEdit { target: Text<'e>, replacement: Replacement<'e> },
    /// A move of the leaf; no target means before the first entry.
    LeafMove { target: Text<'e> },
    /// The mode of oh-my-pi; none means no mode.
    ModeChange { mode: Text<'e>, data: Option<ValueRef<'e>> },
    /// Rules that oh-my-pi injected.
    RuleInjection { rules: Vec<Cow<'e, str>> },
    /// From here on oh-my-pi starts afresh.
    ResetBoundary,
    /// A type the engine does not know.
    Opaque { value: ValueRef<'e> },
    /// A line that could not be read.
    Placeholder,
}

/// The replacement that a context edit has for the content of its target.
#[derive(Debug, Clone, Copy)]
pub enum Replacement<'e> {
    /// The target contributes nothing.
    Omit,
    /// The target contributes this content.
    Content(ValueRef<'e>),
    /// Neither of the two; the edit is ignored.
    Unreadable,
}

impl<'e> Body<'e> {
    /// Returns the origin that a merge stores; none if this is no merge.
    pub fn merge(&self) -> Option<ValueRef<'e>> {
        match self {
            Body::BranchSummary { details, .. } => {
                details.as_ref()?.get("merge").filter(|merge| !merge.is_null())
            }
            _ => None,
        }
    }

    pub(crate) fn of(kind: Kind, value: ValueRef<'e>) -> Self {
        let text = |key: &str| value.get(key).and_then(ValueRef::as_str);
        let some = |key: &str| value.get(key).filter(|value| !value.is_null());
        match kind {
            Kind::Message => Body::Message(some("message")),
            Kind::ThinkingLevelChange => Body::ThinkingLevelChange { level: text("thinkingLevel") },
            Kind::ModelChange => model_change(value),
            Kind::Usage => Body::Usage { kind: text("kind"), usage: some("usage") },
            Kind::Compaction => Body::Compaction {
                summary: text("summary"),
                first_kept: text("firstKeptEntryId"),
                tokens_before: value.get("tokensBefore").and_then(ValueRef::as_f64),
                details: some("details"),
                usage: some("usage"),
                from_hook: from_hook(value),
                system_message: some("systemMessage"),
            },
            Kind::BranchSummary => Body::BranchSummary {
                from_id: text("fromId"),
                summary: text("summary"),
                details: some("details"),
                usage: some("usage"),
                from_hook: from_hook(value),
            },
            Kind::Custom => Body::Custom { custom_type: text("customType"), data: value.get("data") },
            Kind::CustomMessage => Body::CustomMessage {
                custom_type: text("customType"),
                content: some("content"),
                display: value.get("display").and_then(ValueRef::as_bool).unwrap_or(false),
                details: some("details"),
            },
            Kind::Label => {
                Body::Label { target: text("targetId"), label: text("label").filter(|l| !l.is_empty()) }
            }
            Kind::SessionInfo => Body::SessionInfo { name: text("name").or_else(|| text("title")) },
            Kind::ContextEdit => {
                Body::ContextEdit { target: text("targetId"), replacement: replacement(value) }
            }
            Kind::LeafMove => Body::LeafMove { target: text("targetId") },
            Kind::ModeChange => {
                Body::ModeChange { mode: text("mode").filter(|mode| mode != "none"), data: some("data") }
            }
            Kind::RuleInjection => Body::RuleInjection {
                rules: some("injectedRules")
                    .into_iter()
                    .flat_map(ValueRef::items)
                    .filter_map(ValueRef::as_str)
                    .collect(),
            },
            Kind::ResetBoundary => Body::ResetBoundary,
            Kind::Opaque => Body::Opaque { value },
        }
    }
}

/// oh-my-pi calls the flag `fromExtension`.
fn from_hook(value: ValueRef<'_>) -> bool {
    let on = |key: &str| value.get(key).and_then(ValueRef::as_bool).unwrap_or(false);
    on("fromHook") || on("fromExtension")
}

/// oh-my-pi writes `model: "provider/id"`, pi two fields.
fn model_change(value: ValueRef<'_>) -> Body<'_> {
    let text = |key: &str| value.get(key).and_then(ValueRef::as_str);
    let role = text("role");
    if let (None, Some(model)) = (text("modelId"), text("model"))
        && let Some((provider, id)) = model.split_once('/')
    {
        let (provider, id) = (provider.to_owned(), id.to_owned());
        return Body::ModelChange { provider: Some(provider.into()), model_id: Some(id.into()), role };
    }
    Body::ModelChange { provider: text("provider"), model_id: text("modelId"), role }
}

fn replacement(value: ValueRef<'_>) -> Replacement<'_> {
    match value.get("replacement") {
        Some(replacement) if replacement.is_null() => Replacement::Omit,
        Some(replacement) => replacement.get("content").map_or(Replacement::Unreadable, Replacement::Content),
        None => Replacement::Unreadable,
    }
}

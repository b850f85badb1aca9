//! Provenance: the origin that a pick stores, and the origins that earlier picks stored.

use serde_json::{Value as Json, json};

use super::plan::PickMode;
use super::target::Target;
use crate::entry::{Body, Entry};
use crate::error::Result;
use crate::id::EntryId;
use crate::json::ValueRef;
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::Node;

/// The `customType` of quoted picks, and the `kind` of every stored origin.
pub const CHERRY_PICK: &str = "cherry-pick";

/// The origin of one picked entry.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) sources: Vec<EntryId>,
    pub(crate) mode: PickMode,
    /// The stored form of this pick, without its time.
    step: Json,
    /// The origin that the source stores, if it is a pick itself.
    first: Option<Json>,
}

/// The source of all picks of one plan.
pub(crate) struct PickSource<'s> {
    pub(crate) session: &'s Session,
    pub(crate) session_json: Json,
    pub(crate) leaf: EntryId,
    pub(crate) common_ancestor: Option<EntryId>,
    pub(crate) note: Option<String>,
}

impl PickSource<'_> {
    /// Returns the origin of an entry that is made of some entries of the source.
    pub(crate) fn origin(
        &self,
        nodes: &[Node],
        mode: PickMode,
        usage: Option<ValueRef<'_>>,
    ) -> Result<Origin> {
        let head = nodes.first().map(|node| self.session.entry_at(*node)).transpose()?;
        let first = head.as_ref().and_then(pick_origin).and_then(ValueRef::to_serde).filter(Json::is_object);
        let sources: Vec<EntryId> = nodes.iter().map(|node| self.session.tree().id(*node)).collect();
        let ids: Vec<&str> = sources.iter().map(EntryId::as_str).collect();
        let mut step = if first.is_some() { json!({}) } else { json!({ "v": 1, "kind": CHERRY_PICK }) };
        step["sourceSession"] = self.session_json.clone();
        step["sourceEntryIds"] = ids.into();
        step["sourceLeafId"] = self.leaf.as_str().into();
        if first.is_none() {
            step["commonAncestorId"] = self.common_ancestor.as_ref().map(EntryId::as_str).into();
        }
        step["pickedAt"] = Json::Null;
        step["mode"] = mode.name().into();
        let note = self.note.clone().map(Json::from);
        for (key, value) in [("note", note), ("originalUsage", usage.and_then(ValueRef::to_serde))] {
            if let Some(value) = value {
                step[key] = value;
            }
        }
        Ok(Origin { sources, mode, step, first })
    }
}

/// Names a session: by its id, and by its file if that is another one than `here`.
pub(crate) fn session_json(here: &Session, source: &Session) -> Json {
    let mut session = json!({ "id": source.header().id() });
    if let Some(file) = source.file().filter(|_| here.header().id() != source.header().id()) {
        session["file"] = Json::from(file.to_string_lossy());
    }
    session
}

impl Origin {
    /// Returns the stored form. A pick of a pick keeps the first origin and lists the later picks.
    pub(crate) fn to_json(&self, picked_at: Timestamp) -> Json {
        let mut step = self.step.clone();
        step["pickedAt"] = picked_at.to_string().into();
        let Some(first) = &self.first else { return step };
        let mut origin = first.clone();
        let mut via = match origin.as_object_mut().and_then(|members| members.remove("via")) {
            Some(Json::Array(steps)) => steps,
            _ => Vec::new(),
        };
        via.push(step);
        origin["via"] = via.into();
        origin
    }
}

/// Returns the stored origin of an entry; none if it is no pick.
pub fn pick_origin(entry: &Entry) -> Option<ValueRef<'_>> {
    let details = match entry.body() {
        Body::CustomMessage { details, .. } => details,
        _ => None,
    };
    let is_pick = |note: &ValueRef<'_>| note.get("kind").is_some_and(|kind| kind.is_str(CHERRY_PICK));
    details.filter(is_pick).or_else(|| entry.value()?.get("origin").filter(is_pick))
}

/// The picks on a path, each with the entries that it came from.
pub(crate) struct EarlierPicks(Vec<(EntryId, Vec<String>)>);

impl EarlierPicks {
    pub(crate) fn on(here: &Target<'_>) -> Result<Self> {
        let finder = memchr::memmem::Finder::new(CHERRY_PICK);
        let mut picks = Vec::new();
        for node in here.path.iter().copied() {
            // Nearly no entry is a pick, and searching a word is cheaper than decoding a line.
            if finder.find(&here.session.line_at(node)?).is_none() {
                continue;
            }
            let entry = here.session.entry_at(node)?;
            if let Some(origin) = pick_origin(&entry) {
                picks.push((entry.id().clone(), sources_in(origin)));
            }
        }
        Ok(Self(picks))
    }

    /// Returns the earlier pick of an entry.
    pub(crate) fn of(&self, id: &EntryId) -> Option<&EntryId> {
        let mut picks = self.0.iter();
        picks.find(|(_, sources)| sources.iter().any(|source| id == source.as_str())).map(|(pick, _)| pick)
    }
}

/// Lists the source entries of a pick and of the picks before it.
fn sources_in(origin: ValueRef<'_>) -> Vec<String> {
    let via = origin.get("via").into_iter().flat_map(ValueRef::items);
    let steps = std::iter::once(origin).chain(via);
    let ids = steps.filter_map(|step| step.get("sourceEntryIds")).flat_map(ValueRef::items);
    ids.filter_map(ValueRef::as_str).map(Into::into).collect()
}

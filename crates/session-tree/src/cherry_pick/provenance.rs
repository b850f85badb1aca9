//! Provenance: what a pick notes about where it came from, and what earlier picks noted.

use serde_json::{Map, Value as Json, json};

use super::plan::{PickMode, PickRequest};
use super::target::Target;
use crate::entry::{Body, Entry};
use crate::error::Result;
use crate::id::EntryId;
use crate::json::ValueRef;
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::Node;

/// The `customType` of quoted picks, and the `kind` of what every pick notes.
pub const CHERRY_PICK: &str = "cherry-pick";

/// The provenance that all picks of one plan share.
#[derive(Debug, Clone)]
pub(crate) struct Provenance {
    pub(crate) session: Json,
    pub(crate) leaf: EntryId,
    pub(crate) common_ancestor: Option<EntryId>,
    pub(crate) note: Option<String>,
}

/// The origin of one picked entry.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    provenance: Provenance,
    sources: Vec<EntryId>,
    mode: PickMode,
    usage: Option<Json>,
    /// The origin that the source stores, if it is a pick itself.
    first: Option<Map<String, Json>>,
}

impl Provenance {
    pub(crate) fn of(
        here: &Target<'_>,
        source: &Session,
        tip: Node,
        end: Node,
        request: &PickRequest,
    ) -> Self {
        let common = here.common_ancestor(source, end);
        Self {
            session: session_json(here.session, source),
            leaf: source.tree().id(tip),
            common_ancestor: common.map(|common| source.tree().id(common.there)),
            note: request.note.clone(),
        }
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
    pub(crate) fn of(
        provenance: &Provenance,
        source: &Session,
        nodes: &[Node],
        mode: PickMode,
    ) -> Result<Self> {
        let head = nodes.first().map(|node| source.entry_at(*node)).transpose()?;
        let first = head.as_ref().and_then(origin_of).and_then(ValueRef::to_serde);
        Ok(Self {
            provenance: provenance.clone(),
            sources: nodes.iter().map(|node| source.tree().id(*node)).collect(),
            mode,
            usage: None,
            first: first.and_then(|first| match first {
                Json::Object(map) => Some(map),
                _ => None,
            }),
        })
    }

    pub(crate) fn with_usage(mut self, usage: Option<ValueRef<'_>>) -> Self {
        self.usage = usage.and_then(ValueRef::to_serde);
        self
    }

    pub(crate) fn sources(&self) -> &[EntryId] {
        &self.sources
    }

    pub(crate) fn mode(&self) -> PickMode {
        self.mode
    }

    /// Writes the note. A pick of a pick keeps the first origin and lists the places it came through.
    pub(crate) fn to_json(&self, picked_at: Timestamp) -> Json {
        let Some(first) = &self.first else {
            let mut origin = json!({ "v": 1, "kind": CHERRY_PICK });
            extend(&mut origin, self.step(picked_at, true));
            return origin;
        };
        let mut origin = first.clone();
        let mut via = match origin.remove("via") {
            Some(Json::Array(steps)) => steps,
            _ => Vec::new(),
        };
        via.push(self.step(picked_at, false));
        origin.insert("via".into(), Json::Array(via));
        Json::Object(origin)
    }

    fn step(&self, picked_at: Timestamp, is_first: bool) -> Json {
        let ids: Vec<&str> = self.sources.iter().map(EntryId::as_str).collect();
        let mut step = json!({
            "sourceSession": self.provenance.session,
            "sourceEntryIds": ids,
            "sourceLeafId": self.provenance.leaf.as_str(),
        });
        if is_first {
            step["commonAncestorId"] = self.provenance.common_ancestor.as_ref().map(EntryId::as_str).into();
        }
        step["pickedAt"] = picked_at.to_string().into();
        step["mode"] = self.mode.name().into();
        for (key, value) in
            [("note", self.provenance.note.clone().map(Json::from)), ("originalUsage", self.usage.clone())]
        {
            if let Some(value) = value {
                step[key] = value;
            }
        }
        step
    }
}

fn extend(object: &mut Json, more: Json) {
    if let (Json::Object(object), Json::Object(more)) = (object, more) {
        object.extend(more);
    }
}

/// Returns what an entry notes about where it was picked; none if it is no pick.
pub(crate) fn origin_of(entry: &Entry) -> Option<ValueRef<'_>> {
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
            // Nearly no entry is a pick, and looking for a word is cheaper than reading a line.
            if finder.find(&here.session.line_at(node)?).is_none() {
                continue;
            }
            let entry = here.session.entry_at(node)?;
            if let Some(origin) = origin_of(&entry) {
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

/// Lists the entries that a pick came from, at first and on the way.
fn sources_in(origin: ValueRef<'_>) -> Vec<String> {
    let via = origin.get("via").into_iter().flat_map(ValueRef::items);
    let steps = std::iter::once(origin).chain(via);
    let ids = steps.filter_map(|step| step.get("sourceEntryIds")).flat_map(ValueRef::items);
    ids.filter_map(ValueRef::as_str).map(Into::into).collect()
}

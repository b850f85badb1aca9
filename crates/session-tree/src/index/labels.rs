//! Labels and names: they count for the whole file, whatever branch they were given on.

use hashbrown::HashMap;

use crate::id::{EntryId, IdKey};
use crate::json::{ValueRef, trim_js};
use crate::kind::Kind;
use crate::time::Timestamp;

/// A label as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Label {
    /// The text.
    #[cfg_attr(feature = "serde", serde(rename = "label"))]
    pub text: String,
    /// When it was set.
    #[cfg_attr(feature = "serde", serde(rename = "labelTimestamp"))]
    pub set_at: Timestamp,
    /// How many labels were first set before this one.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) order: usize,
}

/// The labels by target, and the names of the session.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    by_target: HashMap<IdKey<'static>, Label>,
    next_order: usize,
    /// The name of the last `session_info`; an empty one clears it.
    pub(crate) name: Option<String>,
    /// The title of oh-my-pi.
    pub(crate) title: Option<String>,
}

impl Labels {
    /// No labels and no name, but the title that stands before the entries.
    pub(crate) fn titled(title: Option<String>) -> Self {
        Labels { title, ..Labels::default() }
    }

    /// Applies an entry that sets a label or a name.
    pub(crate) fn note(&mut self, kind: Kind, value: ValueRef<'_>, time: Timestamp) {
        let text = |key: &str| value.get(key).and_then(ValueRef::as_str);
        match kind {
            Kind::Label => {
                let Some(target) = text("targetId") else { return };
                self.set(&target, text("label").as_deref(), time);
            }
            // oh-my-pi's title is the name only as long as nothing else gives one.
            Kind::SessionInfo if text("type").as_deref() == Some("title_change") => {
                self.title = text("title").map(|title| title.into_owned());
            }
            Kind::SessionInfo => self.name = text("name").map(|name| trim_js(&name).to_owned()),
            _ => {}
        }
    }

    /// Sets or clears a label. A blank label clears it.
    pub(crate) fn set(&mut self, target: &str, text: Option<&str>, set_at: Timestamp) {
        let target = IdKey::of(target).into_owned();
        match text.map(trim_js).filter(|text| !text.is_empty()) {
            None => {
                self.by_target.remove(&target);
            }
            Some(text) => {
                let order = self.by_target.get(&target).map_or(self.next_order, |label| label.order);
                self.next_order += 1;
                self.by_target.insert(target, Label { text: text.to_owned(), set_at, order });
            }
        }
    }

    /// Returns the label of an entry. Called for every entry of a tree, so the id is not copied.
    pub(crate) fn get<'k>(&'k self, target: &IdKey<'k>) -> Option<&'k Label> {
        // A table of keys that live longer.
        let by_target: &HashMap<IdKey<'k>, Label> = &self.by_target;
        by_target.get(target)
    }

    /// Returns all labels in the order in which their targets were first labelled.
    pub(crate) fn in_order(&self) -> Vec<(EntryId, &Label)> {
        let mut all: Vec<_> = self.by_target.iter().collect();
        all.sort_by_key(|(_, label)| label.order);
        all.into_iter().map(|(target, label)| (target.to_id(), label)).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_target.is_empty()
    }

    pub(crate) fn name(&self) -> Option<&str> {
        let name = self.name.as_deref().or(self.title.as_deref());
        name.map(trim_js).filter(|name| !name.is_empty())
    }
}

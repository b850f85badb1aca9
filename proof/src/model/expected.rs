//! The model: what a session should show, said as plainly as possible.

use std::collections::BTreeMap;

use session_tree::Session;
use testkit::rng::Rng;

/// The meaning of an entry in the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Adds a message to the context, and is taken back into the editor when it is selected.
    Prompt,
    /// Adds a message to the context.
    Message,
    /// Tells the context of a branch; a copy of it is one, too, however it is copied.
    Summary,
    /// Adds nothing.
    Other,
    Name(String),
    Label {
        target: String,
        text: Option<String>,
    },
    Compaction {
        kept: Option<String>,
    },
    Marker {
        target: Option<String>,
    },
}

impl Kind {
    fn is_message(&self) -> bool {
        matches!(self, Self::Prompt | Self::Message | Self::Summary)
    }

    /// Entries that only keep books do not count when positions are compared.
    fn keeps_books(&self) -> bool {
        match self {
            Self::Prompt | Self::Message | Self::Summary | Self::Compaction { .. } => false,
            Self::Other | Self::Name(_) | Self::Label { .. } | Self::Marker { .. } => true,
        }
    }
}

#[derive(Debug, Clone)]
struct Entry {
    id: String,
    parent: Option<String>,
    kind: Kind,
}

/// All entries in file order, and a leaf.
#[derive(Debug, Default)]
pub(super) struct Model {
    entries: Vec<Entry>,
    pub(super) leaf: Option<String>,
}

impl Model {
    /// Appends below the leaf and moves it.
    pub(super) fn append(&mut self, id: &str, kind: Kind) {
        let parent = self.leaf.clone();
        self.append_under(parent, id, kind);
        self.leaf = Some(id.to_owned());
    }

    pub(super) fn append_under(&mut self, parent: Option<String>, id: &str, kind: Kind) {
        self.entries.push(Entry { id: id.to_owned(), parent, kind });
    }

    /// Any entry.
    pub(super) fn any(&self, rng: &mut Rng) -> Option<String> {
        if self.entries.is_empty() { None } else { Some(rng.pick(&self.entries).id.clone()) }
    }

    /// Any entry that adds a message.
    pub(super) fn any_message(&self, rng: &mut Rng) -> Option<String> {
        self.any(rng).filter(|id| self.entry(id).is_some_and(|entry| entry.kind.is_message()))
    }

    /// Returns the meaning of an entry.
    pub(super) fn kind(&self, id: &str) -> Kind {
        self.entry(id).map_or(Kind::Other, |entry| entry.kind.clone())
    }

    /// Returns the leaf after an entry was selected: a prompt is taken back, a bookkeeping root means the start.
    pub(super) fn selected(&self, target: &str) -> Option<String> {
        let Some(entry) = self.entry(target) else { return self.leaf.clone() };
        let is_there = self.leaf.as_deref() == Some(target)
            || self.effective(Some(target.to_owned())) == self.effective(self.leaf.clone());
        if is_there {
            return self.leaf.clone();
        }
        match entry.kind {
            Kind::Prompt => entry.parent.clone(),
            _ if entry.parent.is_none() && entry.kind.keeps_books() => None,
            _ => Some(target.to_owned()),
        }
    }

    /// The nearest entry at or above one that does more than keep books.
    fn effective(&self, id: Option<String>) -> Option<String> {
        let mut at = id;
        while let Some(entry) = at.as_ref().and_then(|id| self.entry(id)) {
            if !entry.kind.keeps_books() {
                return at;
            }
            at.clone_from(&entry.parent);
        }
        None
    }

    /// Tells whether an entry goes on from where the leaf is, apart from entries that keep books.
    pub(super) fn is_ahead(&self, to: &str) -> bool {
        let here = self.effective(self.leaf.clone());
        let mut at = Some(to.to_owned());
        while let Some(entry) = at.as_ref().and_then(|id| self.entry(id)) {
            if Some(&entry.id) == here.as_ref() {
                return true;
            }
            at.clone_from(&entry.parent);
        }
        here.is_none()
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// The ids from the root to the leaf.
    pub(super) fn path(&self) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = self.leaf.clone();
        while let Some(entry) = at.and_then(|id| self.entry(&id)) {
            path.push(entry.id.clone());
            at = entry.parent.clone();
        }
        path.reverse();
        path
    }

    /// Returns the leaf of a freshly opened file: see `docs/format.md`, "The leaf".
    pub(super) fn leaf_of_file(&self) -> Option<String> {
        let is_name = |entry: &&Entry| matches!(entry.kind, Kind::Name(_));
        let last = self.entries.iter().rposition(|entry| !is_name(&entry));
        let names = &self.entries[last.map_or(0, |at| at + 1)..];
        let mut leaf = match last.map(|at| &self.entries[at]) {
            Some(Entry { kind: Kind::Marker { target }, .. }) if names.is_empty() => return target.clone(),
            other => other.map(|entry| entry.id.clone()),
        };
        for name in names {
            if name.parent == leaf {
                leaf = Some(name.id.clone());
            }
        }
        leaf
    }

    /// The entries that give the context its messages.
    fn context(&self) -> Vec<String> {
        let path: Vec<&Entry> = self.path().iter().filter_map(|id| self.entry(id)).collect();
        let is_message = |entry: &&&Entry| entry.kind.is_message();
        let compaction = path.iter().rposition(|entry| matches!(entry.kind, Kind::Compaction { .. }));
        let Some(at) = compaction else {
            return path.iter().filter(is_message).map(|entry| entry.id.clone()).collect();
        };
        let Kind::Compaction { kept } = &path[at].kind else { return Vec::new() };
        let from = path[..at].iter().position(|entry| Some(&entry.id) == kept.as_ref()).unwrap_or(at);
        let summary = std::iter::once(path[at].id.clone());
        let rest =
            path[from..at].iter().chain(&path[at + 1..]).filter(is_message).map(|entry| entry.id.clone());
        summary.chain(rest).collect()
    }

    fn labels(&self) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::new();
        for entry in &self.entries {
            match &entry.kind {
                Kind::Label { target, text: Some(text) } => {
                    labels.insert(target.clone(), text.clone());
                }
                Kind::Label { target, text: None } => {
                    labels.remove(target);
                }
                _ => {}
            }
        }
        labels
    }

    fn name(&self) -> Option<&str> {
        self.entries.iter().rev().find_map(|entry| match &entry.kind {
            Kind::Name(name) => Some(name.as_str()),
            _ => None,
        })
    }

    pub(super) fn compare_leaf(&self, session: &Session) -> Result<(), String> {
        same("the leaf", &session.leaf_id().map(|id| id.to_string()), &self.leaf)
    }

    /// Says how a session differs from the model.
    pub(super) fn compare(&self, session: &Session) -> Result<(), String> {
        let tree = session.tree();
        let name = |node| tree.id(node).to_string();
        let entries: Vec<(String, Option<String>)> =
            tree.nodes().map(|node| (name(node), tree.parent(node).map(name))).collect();
        let expected: Vec<(String, Option<String>)> =
            self.entries.iter().map(|entry| (entry.id.clone(), entry.parent.clone())).collect();
        same("the entries", &entries, &expected)?;
        self.compare_leaf(session)?;
        let labels =
            session.labels().into_iter().map(|(node, label)| (name(node), label.text.clone())).collect();
        same("the labels", &labels, &self.labels())?;
        same("the name", &session.name(), &self.name())?;
        let context = session.context().map_err(|error| format!("no context: {error}"))?;
        same("the context", &context.items.iter().map(|item| name(item.source)).collect(), &self.context())
    }
}

/// A fork.
impl Model {
    /// Returns how a fork differs from the expected one: the path without label entries, and new entries for its labels.
    pub(super) fn compare_fork(&self, fork: &Session) -> Result<(), String> {
        let tree = fork.tree();
        let name = |node| tree.id(node).to_string();
        let is_label = |entry: &&Entry| matches!(entry.kind, Kind::Label { .. });
        let path: Vec<&Entry> = self.path().iter().filter_map(|id| self.entry(id)).collect();
        let expected: Vec<String> =
            path.iter().filter(|entry| !is_label(entry)).map(|entry| entry.id.clone()).collect();
        let (labels, entries): (Vec<_>, Vec<_>) =
            tree.nodes().partition(|node| tree.kind(*node) == session_tree::Kind::Label);
        same("the entries of a fork", &entries.into_iter().map(name).collect::<Vec<_>>(), &expected)?;
        let expected: BTreeMap<String, String> =
            self.labels().into_iter().filter(|(target, _)| expected.contains(target)).collect();
        same("the number of labels of a fork", &labels.len(), &expected.len())?;
        let found = fork.labels().into_iter().map(|(node, label)| (name(node), label.text.clone())).collect();
        same("the labels of a fork", &found, &expected)?;
        let context = fork.context().map_err(|error| format!("no context: {error}"))?;
        let found: Vec<String> = context.items.iter().map(|item| name(item.source)).collect();
        same("the context of a fork", &found, &self.context())
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}")) }
}

//! Decides which terms of a query an entry holds: by the index, by its line, and by the calls of an answer.

use std::ops::{ControlFlow, Range};

use super::super::haystack::{Line, Needle, Place, between_quotes, each_text, has_odd_escapes};
use super::super::query::{Field, Query, looks_like_id, role_alias};
use super::super::text::line_at;
use session_tree::json::Cursor;
use session_tree::{Kind, Node, Result, Role, Session, Tree};

/// The calls of an answer, in order: the id of each, and the terms it holds.
pub(super) type CallTerms = Vec<(String, u64)>;

/// The terms of a query, ready to be looked for. Sets of terms are bits.
#[derive(Debug)]
pub(super) struct QueryMatcher {
    needles: Vec<Needle>,
    /// The terms that must not be held.
    negated: u64,
    /// The terms that need the line of an entry.
    readable: u64,
    /// Labels in lower case, by entry.
    labels: Vec<(Node, String)>,
    seeks_ids: bool,
    seeks_slashes: bool,
}

impl QueryMatcher {
    pub(super) fn new(session: &Session, query: &Query) -> Self {
        let terms = &query.terms;
        let bits = |test: &dyn Fn(usize) -> bool| {
            (0..terms.len()).filter(|at| test(*at)).fold(0, |bits, at| bits | 1_u64 << at)
        };
        let mut labels: Vec<(Node, String)> =
            session.labels().into_iter().map(|(node, label)| (node, label.text.to_lowercase())).collect();
        labels.sort_unstable_by_key(|(node, _)| *node);
        Self {
            negated: bits(&|at| terms[at].negated),
            readable: bits(&|at| is_readable(terms[at].field)),
            needles: terms.iter().map(Needle::new).collect(),
            labels,
            seeks_ids: terms.iter().any(|term| looks_like_id(&term.text)),
            seeks_slashes: terms.iter().any(|term| term.text.contains('/')),
        }
    }

    /// Returns true if an entry that holds these terms is a hit.
    pub(super) fn accepts(&self, held: u64) -> bool {
        held == self.all() & !self.negated
    }

    /// Returns true if an entry that holds these terms without being read can still be a hit.
    pub(super) fn may_accept(&self, held: u64) -> bool {
        held & self.negated == 0 && held | self.readable | self.negated == self.all()
    }

    /// Returns true if no line has to be read.
    pub(super) fn needs_no_reading(&self) -> bool {
        self.readable == 0
    }

    /// Returns true if there are terms that the index alone decides.
    pub(super) fn asks_the_index(&self) -> bool {
        self.readable != self.all()
    }

    fn all(&self) -> u64 {
        u64::MAX.checked_shl(self.needles.len() as u32).map_or(u64::MAX, |high| !high)
    }

    /// Returns the terms that an entry holds by its role, its label and its id.
    pub(super) fn held_by_index(&self, tree: &Tree, node: Node) -> u64 {
        let words = words(tree, node);
        let label = match self.labels.binary_search_by_key(&node, |(node, _)| *node) {
            Ok(at) => Some(self.labels[at].1.as_str()),
            Err(_) => None,
        };
        let mut held = 0;
        for (at, Needle { term, .. }) in self.needles.iter().enumerate() {
            let text = term.text.as_str();
            let is_held = match term.field {
                Field::Any => {
                    words.contains(text)
                        || label.is_some_and(|label| label.contains(text))
                        || self.seeks_ids && looks_like_id(text) && has_id(tree, node, text)
                }
                Field::Role => words.starts_with(text) || role_alias(text) == Some(words),
                Field::Label => label.is_some_and(|label| label.contains(text)),
                Field::Pattern => label
                    .is_some_and(|label| term.pattern.as_ref().is_some_and(|pattern| pattern.is_in(label))),
                Field::Before(time) => time.is_some_and(|time| tree.timestamp(node) < time),
                Field::After(time) => time.is_some_and(|time| tree.timestamp(node) >= time),
                Field::Tool | Field::File => false,
            };
            held |= u64::from(is_held) << at;
        }
        held
    }

    /// Returns the terms that the row of an entry shows. A path is compared without the `~` of the home directory.
    pub(super) fn held_by_row(&self, session: &Session, node: Node) -> Result<u64> {
        let label = session.label(node).map(|label| format!("[{}] ", label.text)).unwrap_or_default();
        let row = (label + &line_at(session, node, None)?.text).to_lowercase();
        let shows = |needle: &Needle| {
            let text = &needle.term.text;
            row.contains(text.as_str()) || text.strip_prefix('~').is_some_and(|path| row.contains(path))
        };
        let is_word = |needle: &Needle| needle.term.field == Field::Any;
        let held = self.needles.iter().enumerate().filter(|(_, needle)| is_word(needle) && shows(needle));
        Ok(held.fold(0, |bits, (at, _)| bits | 1 << at))
    }

    /// Returns the terms among `terms` that a line may hold, by its raw bytes.
    pub(super) fn possible_in(&self, line: &Line<'_>, terms: u64) -> u64 {
        let odd = || has_odd_escapes(line.low, self.seeks_slashes);
        let wanted = self.needles_of(terms & self.readable);
        wanted.filter(|(_, needle)| needle.may_be_in(line, &odd)).fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// Returns the terms among `terms` that a line holds. Parses the line if `terms` is not empty.
    pub(super) fn held_by_line(&self, line: &Line<'_>, terms: u64) -> u64 {
        if terms == 0 {
            return 0;
        }
        let mut held = 0;
        let _ = each_text(line, &mut |place, text| {
            held |= self.held_by_string(line, place, between_quotes(text), terms & !held);
            if held == terms { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        held
    }

    /// Returns the terms that each call of an answer holds; nothing if no call holds any.
    pub(super) fn held_by_calls(&self, line: &Line<'_>) -> CallTerms {
        let terms = self.possible_in(line, self.readable);
        if terms == 0 {
            return Vec::new();
        }
        let mut held: Vec<u64> = Vec::new();
        let _ = each_text(line, &mut |place, text| {
            if let Some(call) = place.call() {
                held.resize(held.len().max(call + 1), 0);
                held[call] |= self.held_by_string(line, place, between_quotes(text), terms & !held[call]);
            }
            ControlFlow::Continue(())
        });
        if held.iter().all(|bits| *bits == 0) {
            return Vec::new();
        }
        let ids = call_ids(line);
        held.resize(ids.len(), 0);
        ids.into_iter().zip(held).collect()
    }

    /// Returns true if some term must not be held.
    pub(super) fn negates(&self) -> bool {
        self.negated != 0
    }

    /// Returns true if these terms include all that must be held.
    pub(super) fn includes_required(&self, terms: u64) -> bool {
        terms | self.negated == self.all()
    }

    fn needles_of(&self, terms: u64) -> impl Iterator<Item = (usize, &Needle)> {
        self.needles.iter().enumerate().filter(move |(at, _)| terms & 1 << at != 0)
    }

    fn held_by_string(&self, line: &Line<'_>, place: Place, text: Range<usize>, terms: u64) -> u64 {
        let wanted = self.needles_of(terms);
        wanted
            .filter(|(_, needle)| needle.is_in(line, place, text.clone()))
            .fold(0, |bits, (at, _)| bits | 1 << at)
    }
}

/// Returns true if a line has to be read for a term.
fn is_readable(field: Field) -> bool {
    match field {
        Field::Any | Field::Tool | Field::File | Field::Pattern => true,
        Field::Role | Field::Label | Field::Before(_) | Field::After(_) => false,
    }
}

/// Returns the ids of the calls of an answer, in order; empty where an id is missing.
fn call_ids(line: &Line<'_>) -> Vec<String> {
    let content = Cursor::new(line.raw).at(&["message", "content"]);
    let calls = content.into_iter().flat_map(Cursor::items).filter_map(|block| {
        let [kind, id] = block.get_each(["type", "id"]);
        let id = || id.and_then(Cursor::as_str).unwrap_or_default().into_owned();
        kind.is_some_and(|kind| kind.is_str("toolCall")).then(id)
    });
    calls.collect()
}

/// Returns true if the id of an entry begins with a text in lower case.
pub(super) fn has_id(tree: &Tree, node: Node, prefix: &str) -> bool {
    let id = tree.id(node);
    id.as_str().get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// Returns the word for entries of this type, in lower case.
fn words(tree: &Tree, node: Node) -> &'static str {
    match tree.kind(node) {
        Kind::Message => match tree.role(node).unwrap_or(Role::Other) {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::ToolResult => "toolresult",
            Role::BashExecution => "bashexecution",
            Role::Custom => "custom",
            Role::System => "system",
            Role::BranchSummary => "branch summary",
            Role::CompactionSummary => "compaction summary",
            Role::FileMention => "filemention",
            Role::Other => "",
        },
        Kind::Compaction => "compaction",
        Kind::BranchSummary => "branch summary",
        Kind::SessionInfo => "title",
        Kind::ModelChange => "model",
        Kind::ThinkingLevelChange => "thinking",
        Kind::Custom => "custom",
        Kind::CustomMessage => "custom_message",
        Kind::Label => "label",
        Kind::ContextEdit => "context",
        Kind::Usage => "usage",
        Kind::ModeChange => "mode",
        Kind::LeafMove => "leaf",
        Kind::RuleInjection => "rules",
        Kind::ResetBoundary => "reset",
        Kind::Opaque => "",
    }
}

//! Judging one line: which terms of a query it holds.

use std::collections::HashMap;

use super::super::haystack::{Line, Needle, Place, Verdict, each_text, has_odd_escapes};
use super::super::query::{Field, Query, looks_like_id, role_alias};
use crate::entry::{Block, Content};
use crate::json::Doc;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::{Node, Tree};

/// The terms of a query, ready to be looked for. Sets of terms are bits.
#[derive(Debug)]
pub(super) struct Judge {
    needles: Vec<Needle>,
    /// The terms that must not be held.
    negated: u64,
    /// The terms that only reading can tell.
    readable: u64,
    /// Labels in lower case, by entry.
    labels: Vec<(Node, String)>,
    seeks_ids: bool,
    seeks_slashes: bool,
}

impl Judge {
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

    /// Tells whether an entry that holds these terms is a hit.
    pub(super) fn accepts(&self, held: u64) -> bool {
        held == self.all() & !self.negated
    }

    /// Tells whether an entry that holds these terms without being read can still be a hit.
    pub(super) fn may_accept(&self, held: u64) -> bool {
        held & self.negated == 0 && held | self.readable | self.negated == self.all()
    }

    /// Tells whether no line has to be read.
    pub(super) fn needs_no_reading(&self) -> bool {
        self.readable == 0
    }

    /// Tells whether there are terms that the index alone decides.
    pub(super) fn asks_the_index(&self) -> bool {
        self.readable != self.all()
    }

    fn all(&self) -> u64 {
        u64::MAX.checked_shl(self.needles.len() as u32).map_or(u64::MAX, |high| !high)
    }

    /// Tells what an entry holds by its role, its label and its id.
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

    /// Tells what a line holds, given what is known already; `None` if it cannot be a hit.
    pub(super) fn held_by_line(&self, line: &Line<'_>, known: u64) -> Option<u64> {
        let (mut held, mut unsure) = (known, 0);
        for (at, needle) in self.unknown(known) {
            let negated = self.negated & 1 << at != 0;
            match (needle.look(line, &|| self.is_odd(line)), negated) {
                (Verdict::Ask, _) => unsure |= 1 << at,
                (Verdict::Yes, true) | (Verdict::No, false) => return None,
                (Verdict::Yes, false) => held |= 1 << at,
                (Verdict::No, true) => {}
            }
        }
        if unsure != 0 {
            held |= self.held_by_text(line, unsure, None);
        }
        Some(held)
    }

    /// Tells what an answer holds, and adds what each of its calls holds to `calls`.
    pub(super) fn held_by_answer(
        &self,
        line: &Line<'_>,
        known: u64,
        calls: &mut HashMap<String, u64>,
    ) -> Option<u64> {
        let odd = || self.is_odd(line);
        // A term known by the role, say, may still stand in a call.
        let found = self.unknown(0).any(|(_, needle)| needle.look(line, &odd) != Verdict::No);
        if !found || memchr::memmem::find(line.low, b"\"toolcall\"").is_none() {
            return self.held_by_line(line, known);
        }
        Some(known | self.held_by_text(line, self.readable, Some(calls)))
    }

    /// Tells whether some term must not be held.
    pub(super) fn negates(&self) -> bool {
        self.negated != 0
    }

    /// Tells whether a line may hold any term that only reading can tell.
    pub(super) fn finds_any(&self, line: &Line<'_>) -> bool {
        self.needles.len() > 1
            && self.unknown(0).any(|(_, needle)| needle.look(line, &|| self.is_odd(line)) != Verdict::No)
    }

    /// Decodes an answer and adds what each of its calls holds to `calls`.
    pub(super) fn held_by_calls(&self, raw: &[u8], kind: Kind, calls: &mut HashMap<String, u64>) {
        let line = Line { raw, low: raw, kind, role: Some(Role::Assistant) };
        self.held_by_text(&line, self.readable, Some(calls));
    }

    fn unknown(&self, known: u64) -> impl Iterator<Item = (usize, &Needle)> {
        let open = self.readable & !known;
        self.needles.iter().enumerate().filter(move |(at, _)| open & 1 << at != 0)
    }

    fn is_odd(&self, line: &Line<'_>) -> bool {
        has_odd_escapes(line.low, self.seeks_slashes)
    }

    /// Decodes a line and tells which of the terms it holds; notes what each call holds.
    fn held_by_text(&self, line: &Line<'_>, terms: u64, calls: Option<&mut HashMap<String, u64>>) -> u64 {
        let Ok(doc) = Doc::parse(line.raw) else { return 0 };
        let mut held = 0;
        let mut by_call: Vec<u64> = Vec::new();
        each_text(line.kind, &doc, &mut |place: Place, text: &str| {
            let bits = self.held_by_string(place, text, terms);
            held |= bits;
            if let Some(call) = place.call().filter(|_| bits != 0) {
                by_call.resize(by_call.len().max(call + 1), 0);
                by_call[call] |= bits;
            }
        });
        if let Some(calls) = calls.filter(|_| !by_call.is_empty()) {
            let ids = call_ids(&doc).into_iter().zip(by_call);
            calls.extend(ids.filter(|(_, bits)| *bits != 0));
        }
        held
    }

    fn held_by_string(&self, place: Place, text: &str, terms: u64) -> u64 {
        let wanted = self.needles.iter().enumerate().filter(|(at, _)| terms & 1 << at != 0);
        wanted.filter(|(_, needle)| needle.is_in(place, text)).fold(0, |bits, (at, _)| bits | 1 << at)
    }
}

/// Tells whether a line has to be read for a term.
fn is_readable(field: Field) -> bool {
    match field {
        Field::Any | Field::Tool | Field::File | Field::Pattern => true,
        Field::Role | Field::Label | Field::Before(_) | Field::After(_) => false,
    }
}

/// The ids of the calls of an answer, in order.
fn call_ids(doc: &Doc) -> Vec<String> {
    let content = super::super::call::message(doc).and_then(|message| message.get("content"));
    let calls = Content::of(content).blocks().filter_map(|block| match block {
        Block::ToolCall { id, .. } => Some(id.into_owned()),
        _ => None,
    });
    calls.collect()
}

/// Tells whether the id of an entry begins with a text in lower case.
pub(super) fn has_id(tree: &Tree, node: Node, prefix: &str) -> bool {
    let id = tree.id(node);
    id.as_str().get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// What a person calls an entry of this type, in lower case.
fn words(tree: &Tree, node: Node) -> &'static str {
    match tree.kind(node) {
        Kind::Message => match tree.role(node).unwrap_or(Role::Other) {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::ToolResult => "toolresult",
            Role::BashExecution => "bashexecution",
            Role::Custom | Role::HookMessage => "custom",
            Role::System => "system",
            Role::BranchSummary => "branch summary",
            Role::CompactionSummary => "compaction summary",
            Role::FileMention => "filemention",
            Role::Other => "",
        },
        Kind::Compaction => "compaction",
        Kind::BranchSummary | Kind::StackSummary => "branch summary",
        Kind::SessionInfo | Kind::TitleChange => "title",
        Kind::ModelChange => "model",
        Kind::ThinkingLevelChange => "thinking",
        Kind::Custom => "custom",
        Kind::CustomMessage => "custom_message",
        Kind::Label => "label",
        Kind::ContextEdit => "context",
        Kind::Usage | Kind::ModelUsage => "usage",
        Kind::ModeChange => "mode",
        Kind::LeafMove => "leaf",
        Kind::RuleInjection => "rules",
        Kind::ResetBoundary => "reset",
        Kind::Opaque => "",
    }
}

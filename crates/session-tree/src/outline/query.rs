//! Queries: what a person typed, as terms that an entry must or must not hold.

use std::ops::Range;

/// The most terms of a query that count; the rest is ignored.
const MOST_TERMS: usize = 64;

/// A query: all its terms must be met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    pub(super) terms: Vec<Term>,
}

/// One condition on an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// What is looked for, in lower case.
    pub(super) text: String,
    pub(super) field: Field,
    /// The entry must not hold it.
    pub(super) negated: bool,
}

/// Where a term is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// In everything an entry says, its label, its role, and the beginning of its id.
    Any,
    Role,
    Tool,
    File,
    Label,
}

impl Query {
    /// Reads a query: words that must all occur, `"phrases"`, `-without`, `role:`, `tool:`, `file:`, `label:`.
    pub fn parse(text: &str) -> Self {
        let mut rest = text.trim_start();
        let mut terms = Vec::new();
        while !rest.is_empty() && terms.len() < MOST_TERMS {
            let (term, after) = next_term(rest);
            terms.extend(term);
            rest = after.trim_start();
        }
        Self { terms }
    }

    /// Tells whether the query asks for nothing, so that everything meets it.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Tells whether everything that meets this query meets `earlier` too, unless it is found by its id.
    pub fn narrows(&self, earlier: &Query) -> bool {
        earlier.terms.iter().all(|old| self.terms.iter().any(|new| new.implies(old)))
    }

    /// Finds what to highlight in a text, as byte ranges in order.
    pub fn highlights(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for term in self.terms.iter().filter(|term| !term.negated) {
            match term.field {
                Field::Any | Field::Tool | Field::File => find_all(text, &term.text, &mut found),
                Field::Role | Field::Label => {}
            }
        }
        found.sort_by_key(|range| (range.start, range.end));
        found.dedup_by(|next, before| {
            let touches = next.start <= before.end;
            if touches {
                before.end = before.end.max(next.end);
            }
            touches
        });
        found
    }
}

impl Term {
    fn implies(&self, old: &Term) -> bool {
        if self.field != old.field || self.negated != old.negated {
            return false;
        }
        match self.field {
            // Fewer entries hold a longer text, so more of them pass "without".
            _ if self.negated => self.text == old.text,
            Field::Role => self.text.starts_with(&old.text),
            Field::Any | Field::Tool | Field::File | Field::Label => self.text.contains(&old.text),
        }
    }
}

/// How many characters of an id have to be typed before it is found by them.
const ID_PREFIX: usize = 4;

/// Tells whether a term could be the beginning of an id as pi draws them: hex digits, or a UUID.
pub(super) fn looks_like_id(text: &str) -> bool {
    text.len() >= ID_PREFIX && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

fn next_term(text: &str) -> (Option<Term>, &str) {
    let (negated, body) = match text.strip_prefix('-') {
        Some(body) if !body.is_empty() && !body.starts_with(char::is_whitespace) => (true, body),
        _ => (false, text),
    };
    let (field, body) = field_of(body);
    let (value, after) = value_of(body);
    let text = value.to_lowercase();
    (Some(Term { text, field, negated }).filter(|term| !term.text.is_empty()), after)
}

/// Takes the name of a field off a term; a name without a value is a word.
fn field_of(text: &str) -> (Field, &str) {
    let fields =
        [("role:", Field::Role), ("tool:", Field::Tool), ("file:", Field::File), ("label:", Field::Label)];
    for (name, field) in fields {
        if let Some(rest) = text.strip_prefix(name)
            && !rest.is_empty()
            && !rest.starts_with(char::is_whitespace)
        {
            return (field, rest);
        }
    }
    (Field::Any, text)
}

/// Takes a word or a phrase; a phrase that is still being typed reaches to the end.
fn value_of(text: &str) -> (&str, &str) {
    if let Some(phrase) = text.strip_prefix('"') {
        return phrase.split_once('"').unwrap_or((phrase, ""));
    }
    text.find(char::is_whitespace).map_or((text, ""), |end| text.split_at(end))
}

/// Finds `wanted`, which is in lower case, wherever it stands in `text`.
fn find_all(text: &str, wanted: &str, found: &mut Vec<Range<usize>>) {
    let mut starts = text.char_indices();
    while let Some((start, _)) = starts.next() {
        if let Some(len) = match_len(&text[start..], wanted) {
            found.push(start..start + len);
            while starts.clone().next().is_some_and(|(next, _)| next < start + len) {
                starts.next();
            }
        }
    }
}

/// Returns how many bytes at the beginning of `text` read `wanted` in lower case.
fn match_len(text: &str, wanted: &str) -> Option<usize> {
    let mut left = wanted.chars();
    let mut len = 0;
    for c in text.chars() {
        if left.as_str().is_empty() {
            break;
        }
        for lower in c.to_lowercase() {
            // A character may become several; a term may end in the middle of them.
            match left.next() {
                Some(want) if want != lower => return None,
                _ => {}
            }
        }
        len += c.len_utf8();
    }
    left.as_str().is_empty().then_some(len).filter(|len| *len > 0)
}

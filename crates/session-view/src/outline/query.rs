//! Queries: what a person typed, as terms that an entry must or must not hold.

use std::ops::Range;

use session_tree::{Pattern, QueryError, Timestamp};

/// The most terms of a query that count; the rest is ignored.
const MAX_TERMS: usize = 64;

/// Characters that rows add to the text of their entries. Only queries with one of them are compared with whole rows.
const ROW_SIGNS: &[char] = &['[', ']', '(', ')', ':', '~', '⇠'];

/// A query: all its terms must be met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    pub(super) terms: Vec<Term>,
}

/// One condition on an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// The text to find, in lower case; a pattern as it was typed.
    pub(super) text: String,
    pub(super) field: Field,
    /// The pattern, if the field is one.
    pub(super) pattern: Option<Pattern>,
    /// The entry must not hold it.
    pub(super) negated: bool,
}

/// The part of an entry in which a term is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// In everything an entry says, its label, its role, and the beginning of its id.
    Any,
    Role,
    Tool,
    File,
    Label,
    /// Like `Any`, but without role and id.
    Pattern,
    /// In the time: earlier than this. A time that cannot be read is met by nothing.
    Before(Option<Timestamp>),
    /// In the time: not earlier than this.
    After(Option<Timestamp>),
}

impl Query {
    /// Reads a query: words that must all occur, `"phrases"`, `-without`, `role:`, `tool:`, `file:`, `label:`.
    ///
    /// `before:` and `after:` take a date (its midnight in UTC) or a time. `re:` takes all that follows as a regular
    /// expression that ignores case; nothing meets one that cannot be understood.
    pub fn parse(text: &str) -> Self {
        let mut rest = text.trim_start();
        let mut terms = Vec::new();
        while !rest.is_empty() && terms.len() < MAX_TERMS {
            let (term, after) = next_term(rest);
            terms.extend(term);
            rest = after.trim_start();
        }
        Self { terms }
    }

    /// Reads a query as [`parse`](Query::parse) does, for a caller that has all of it.
    ///
    /// # Errors
    ///
    /// Names the first part that nothing can match: a bad date, pattern or role, or a condition of lists of sessions.
    /// The same text in double quotes is searched for as it is.
    pub fn parse_strict(text: &str) -> Result<Self, QueryError> {
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (term, after) = next_term(rest);
            let typed = rest[..rest.len() - after.len()].trim_end();
            term.map_or(Ok(()), |term| term.check(typed))?;
            rest = after.trim_start();
        }
        Ok(Self::parse(text))
    }

    /// Returns true if the query asks for nothing, so that everything meets it.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns true if some term may be part of what a row adds to the text of its entry: `user:`, `[read:`, `52k`.
    pub(super) fn reads_rows(&self) -> bool {
        self.terms.iter().any(|term| term.field == Field::Any && term.text.contains(ROW_SIGNS))
    }

    /// Returns true if everything that meets this query meets `earlier` too, unless it is found by its id.
    pub fn narrows(&self, earlier: &Query) -> bool {
        if self.reads_rows() && !earlier.reads_rows() {
            return false;
        }
        earlier.terms.iter().all(|old| self.terms.iter().any(|new| new.implies(old)))
    }

    /// Finds what to highlight in a text, as byte ranges in order.
    pub fn highlights(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for term in self.terms.iter().filter(|term| !term.negated) {
            match term.field {
                Field::Any | Field::Tool | Field::File => find_all(text, &term.text, &mut found),
                Field::Pattern => term.pattern.iter().for_each(|pattern| pattern.find_all(text, &mut found)),
                Field::Role | Field::Label | Field::Before(_) | Field::After(_) => {}
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
    /// Returns an error if nothing can match the term; `typed` is its part of the query.
    fn check(&self, typed: &str) -> Result<(), QueryError> {
        let part = typed.to_owned();
        let body = typed.strip_prefix('-').unwrap_or(typed);
        match self.field {
            Field::Before(None) | Field::After(None) => Err(QueryError::Time { part }),
            Field::Role if !names_role(&self.text) => Err(QueryError::Value { part, expected: &ROLES }),
            Field::Pattern => match self.pattern.as_ref().and_then(Pattern::problem) {
                Some(reason) => Err(QueryError::Pattern { part, reason }),
                None => Ok(()),
            },
            Field::Any if SESSION_FIELDS.iter().any(|name| value_after(name, body).is_some()) => {
                Err(QueryError::Condition { part, conditions: &FIELDS })
            }
            Field::Any
            | Field::Role
            | Field::Tool
            | Field::File
            | Field::Label
            | Field::Before(Some(_))
            | Field::After(Some(_)) => Ok(()),
        }
    }

    fn implies(&self, old: &Term) -> bool {
        if self.field != old.field || self.negated != old.negated {
            return false;
        }
        match self.field {
            // Fewer entries hold a longer text, so more of them pass "without".
            _ if self.negated => self.text == old.text,
            Field::Pattern | Field::Before(_) | Field::After(_) => self.text == old.text,
            // A name that stands for another role is one as a whole only.
            Field::Role if role_alias(&self.text).is_some() => self.text == old.text,
            Field::Role => self.text.starts_with(&old.text),
            Field::Any | Field::Tool | Field::File | Field::Label => self.text.contains(&old.text),
        }
    }
}

/// The conditions of a query.
const FIELDS: [&str; 7] = ["role:", "tool:", "file:", "label:", "before:", "after:", "re:"];

/// The conditions of a search in a list of sessions.
const SESSION_FIELDS: [&str; 3] = ["has:", "is:", "cwd:"];

/// The words for roles and types of entries; `role:` takes the beginning of one.
const ROLES: [&str; 21] = [
    "user",
    "assistant",
    "toolresult",
    "bashexecution",
    "custom",
    "system",
    "branch summary",
    "compaction summary",
    "filemention",
    "compaction",
    "title",
    "model",
    "thinking",
    "custom_message",
    "label",
    "context",
    "usage",
    "mode",
    "leaf",
    "rules",
    "reset",
];

fn names_role(text: &str) -> bool {
    role_alias(text).is_some() || ROLES.iter().any(|role| role.starts_with(text))
}

/// Other names of roles that people type.
pub(super) fn role_alias(text: &str) -> Option<&'static str> {
    match text {
        "result" | "tools" => Some("toolresult"),
        "summary" | "branch_summary" => Some("branch summary"),
        "shell" | "command" => Some("bashexecution"),
        "me" | "prompt" => Some("user"),
        "model" | "answer" => Some("assistant"),
        _ => None,
    }
}

/// How many characters of an id have to be typed before it is found by them.
const ID_PREFIX: usize = 4;

/// Returns true if a term could be the beginning of an id as pi draws them: hex digits, or a UUID.
pub(super) fn looks_like_id(text: &str) -> bool {
    text.len() >= ID_PREFIX && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

fn next_term(text: &str) -> (Option<Term>, &str) {
    let (negated, body) = match text.strip_prefix('-') {
        Some(body) if !body.is_empty() && !body.starts_with(char::is_whitespace) => (true, body),
        _ => (false, text),
    };
    if let Some(source) = value_after("re:", body) {
        let (text, pattern) = (source.trim_end().to_owned(), Some(Pattern::parse(source.trim_end())));
        return (Some(Term { text, field: Field::Pattern, pattern, negated }), "");
    }
    let (field, body) = field_of(body);
    let (value, after) = value_of(body);
    let field = match field {
        Field::Before(_) => Field::Before(Timestamp::parse(value)),
        Field::After(_) => Field::After(Timestamp::parse(value)),
        Field::Any | Field::Role | Field::Tool | Field::File | Field::Label | Field::Pattern => field,
    };
    let term = Term { text: value.to_lowercase(), field, pattern: None, negated };
    (Some(term).filter(|term| !term.text.is_empty()), after)
}

/// Takes the name of a field off a term; a name without a value is a word.
fn field_of(text: &str) -> (Field, &str) {
    let fields = [
        ("role:", Field::Role),
        ("tool:", Field::Tool),
        ("file:", Field::File),
        ("label:", Field::Label),
        ("before:", Field::Before(None)),
        ("after:", Field::After(None)),
    ];
    let named = fields.into_iter().find_map(|(name, field)| Some((field, value_after(name, text)?)));
    named.unwrap_or((Field::Any, text))
}

/// Returns what follows the name of a field at once.
fn value_after<'t>(name: &str, text: &'t str) -> Option<&'t str> {
    text.strip_prefix(name).filter(|rest| !rest.is_empty() && !rest.starts_with(char::is_whitespace))
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

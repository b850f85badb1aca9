//! What a search looks at: the strings of one entry, told from its raw line where that is sure.
//!
//! Decoding every line of a large file for every key would be slow. A term is first looked for in the raw bytes,
//! in lower case. Where it is found, the bytes around it nearly always tell whether it stands in something a
//! person would call text; where they do not, the line is decoded and asked. Both ways give the same answer.

use memchr::{memchr, memmem, memrchr};

use super::call::each_string;
use super::query::{Field, Term};
use crate::entry::{Block, Content};
use crate::json::{Doc, Value};
use crate::kind::{Kind, Role};

/// A line as a search sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'b> {
    pub(super) raw: &'b [u8],
    /// The same bytes with ASCII letters in lower case.
    pub(super) low: &'b [u8],
    pub(super) kind: Kind,
    pub(super) role: Option<Role>,
}

/// Whether a line holds a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No,
    /// Only the decoded line can tell.
    Ask,
}

/// Where a string of an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    /// The name of a tool; of the nth call, if it is one.
    Tool(Option<usize>),
    /// An argument of the nth call.
    Argument(usize),
    /// The path of a file; in the nth call, if it is one.
    File(Option<usize>),
}

impl Place {
    /// Returns the number of the call the string belongs to.
    pub(super) fn call(self) -> Option<usize> {
        match self {
            Place::Text => None,
            Place::Argument(call) => Some(call),
            Place::Tool(call) | Place::File(call) => call,
        }
    }

    fn is_in(self, field: Field) -> bool {
        match field {
            Field::Any | Field::Pattern => true,
            Field::Tool => matches!(self, Place::Tool(_)),
            Field::File => matches!(self, Place::File(_)),
            Field::Role | Field::Label | Field::Before(_) | Field::After(_) => false,
        }
    }
}

/// A term with what is needed to find it in raw lines.
#[derive(Debug)]
pub(super) struct Needle {
    pub(super) term: Term,
    /// The longest part of the text that JSON spells as it is.
    plain: Option<memmem::Finder<'static>>,
    /// That part is all of it.
    is_plain: bool,
}

impl Needle {
    pub(super) fn new(term: &Term) -> Self {
        let plain_byte = |b: char| b.is_ascii() && !b.is_ascii_control() && b != '"' && b != '\\';
        let run = term.text.split(|c| !plain_byte(c)).max_by_key(|run| run.len()).unwrap_or_default();
        let is_plain = run.len() == term.text.len();
        let plain = (is_plain || run.len() > 1).then(|| memmem::Finder::new(run.as_bytes()).into_owned());
        Self { term: term.clone(), plain, is_plain }
    }

    /// Tells from the raw bytes whether a line holds the term. `odd`: whether the line spells plain characters as
    /// escapes, asked only if it matters.
    pub(super) fn look(&self, line: &Line<'_>, odd: &dyn Fn() -> bool) -> Verdict {
        if !line.may_have(self.term.field) {
            return Verdict::No;
        }
        if self.term.field == Field::Pattern {
            return Verdict::Ask;
        }
        let absent = || if odd() { Verdict::Ask } else { Verdict::No };
        let Some(finder) = &self.plain else {
            let could = !line.low.is_ascii() || memmem::find(line.low, b"\\").is_some();
            return if could || self.term.text.is_ascii() { Verdict::Ask } else { Verdict::No };
        };
        if self.term.field == Field::Tool
            && self.is_plain
            && let Some(name) = line.tool_name()
        {
            return if finder.find(name).is_some() { Verdict::Yes } else { Verdict::No };
        }
        if !self.is_plain || self.term.field != Field::Any {
            return if finder.find(line.low).is_some() { Verdict::Ask } else { absent() };
        }
        if let Some(name) = line.custom_type() {
            return if finder.find(name).is_some() { Verdict::Yes } else { absent() };
        }
        let mut from = 0;
        while let Some(at) = finder.find(&line.low[from..]).map(|at| at + from) {
            if starts_in_escape(line.low, at) {
                from = at + 1;
                continue;
            }
            match line.place_of(at) {
                Found::Here => return Verdict::Yes,
                Found::Unsure => return Verdict::Ask,
                Found::NotBefore(next) => from = next,
            }
        }
        absent()
    }

    /// Tells whether a string holds the term.
    pub(super) fn is_in(&self, place: Place, text: &str) -> bool {
        match &self.term.pattern {
            Some(pattern) => pattern.is_in(text),
            None => place.is_in(self.term.field) && holds(text, &self.term.text),
        }
    }
}

/// Tells whether a text holds another, which is in lower case.
fn holds(text: &str, wanted: &str) -> bool {
    if wanted.is_ascii() {
        let low = text.as_bytes().to_ascii_lowercase();
        return memmem::find(&low, wanted.as_bytes()).is_some();
    }
    text.to_lowercase().contains(wanted)
}

/// Tells whether a line spells plain characters as escapes, which nobody does who writes JSON for size.
///
/// Slashes are asked for only if a term has one.
pub(super) fn has_odd_escapes(low: &[u8], slashes: bool) -> bool {
    let unicode = memmem::find_iter(low, b"\\u00").any(|at| matches!(low.get(at + 4), Some(b'2'..=b'7')));
    unicode || slashes && memmem::find(low, b"\\/").is_some()
}

/// What the bytes around a hit tell.
enum Found {
    Here,
    Unsure,
    /// Not in text; the next place that could be.
    NotBefore(usize),
}

impl Line<'_> {
    /// Only calls and summaries name files; a result is found by the file that its call names.
    fn may_have(&self, field: Field) -> bool {
        let is_answer = self.role == Some(Role::Assistant);
        match field {
            Field::Any | Field::Pattern => true,
            Field::Tool => is_answer || self.role == Some(Role::ToolResult),
            Field::File => is_answer || matches!(self.kind, Kind::Compaction | Kind::BranchSummary),
            Field::Role | Field::Label | Field::Before(_) | Field::After(_) => false,
        }
    }

    fn place_of(&self, at: usize) -> Found {
        let Some(quote) = quote_before(self.low, at) else { return Found::NotBefore(at + 1) };
        if could_be_outside(&self.low[quote + 1..at], self.low[at]) {
            return Found::Unsure;
        }
        let before = self.low[..quote].trim_ascii_end();
        match before.last() {
            Some(b':') => match key_before(&before[..before.len() - 1]) {
                Some((key, key_at)) => self.member(key, key_at, at),
                None => Found::Unsure,
            },
            Some(b',' | b'{') => {
                let end = string_end(self.low, quote);
                let is_key =
                    self.low.get(end..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"));
                if is_key { Found::NotBefore(end) } else { Found::Unsure }
            }
            _ => Found::Unsure,
        }
    }

    /// Judges a hit in the value of the member `key`, which starts at `key_at`.
    fn member(&self, key: &[u8], key_at: usize, at: usize) -> Found {
        let after = |text: &[u8]| self.low[..key_at].ends_with(text);
        let is_text = match (self.kind, self.role, key) {
            (Kind::Message | Kind::CustomMessage, _, b"text") if after(b"{\"type\":\"text\",") => true,
            (Kind::Message, Some(Role::User), b"content") => after(b"{\"role\":\"user\","),
            (Kind::Compaction | Kind::BranchSummary, _, b"summary") => true,
            (Kind::Message, Some(Role::ToolResult), b"toolname") => true,
            (Kind::Message, Some(Role::BashExecution), b"command" | b"output") => true,
            (Kind::Message, Some(Role::Assistant), _) => self.is_in_call(key, key_at),
            _ => false,
        };
        if is_text {
            return Found::Here;
        }
        if is_noise(key) && self.is_conversation() && !self.is_after_arguments(key_at) {
            return Found::NotBefore(string_end(self.low, at.saturating_sub(1)));
        }
        Found::Unsure
    }

    /// Reads the name of the tool of a result where pi writes it.
    fn tool_name(&self) -> Option<&[u8]> {
        const KEY: &[u8] = b"\"toolname\":\"";
        if self.role != Some(Role::ToolResult) {
            return None;
        }
        let head = &self.low[..self.low.len().min(1024)];
        let value = &head[memmem::find(head, KEY)? + KEY.len()..];
        let end = memchr::memchr2(b'"', b'\\', value)?;
        (value[end] == b'"').then_some(&value[..end])
    }

    /// Reads the type of a custom entry where pi writes it: nothing else of such an entry is text.
    fn custom_type(&self) -> Option<&[u8]> {
        const START: &[u8] = b"{\"type\":\"custom\",\"customtype\":\"";
        if self.kind != Kind::Custom {
            return None;
        }
        let value = self.low.strip_prefix(START)?;
        let end = memchr::memchr2(b'"', b'\\', value)?;
        let is_only = memmem::find(&value[end..], b"\"customtype\"").is_none();
        (value[end] == b'"' && is_only).then_some(&value[..end])
    }

    /// Tells whether a member is the name or the first argument of a call, spelled as pi does.
    fn is_in_call(&self, key: &[u8], key_at: usize) -> bool {
        const START: &[u8] = b"{\"type\":\"toolcall\",\"id\":\"";
        let before = &self.low[..key_at];
        let head = match before.strip_suffix(b"\"arguments\":{") {
            Some(head) => head,
            None if key == b"name" => before,
            None => return false,
        };
        let near = &head[head.len().saturating_sub(256)..];
        let Some(at) = memmem::rfind(near, START) else { return false };
        let rest = &near[at + START.len()..];
        // The id, and the name if the member is an argument: no other quotes, no escapes.
        let quotes = if head.len() == before.len() { 1 } else { 5 };
        !rest.contains(&b'\\') && rest.iter().filter(|byte| **byte == b'"').count() == quotes
    }

    fn is_conversation(&self) -> bool {
        matches!(self.kind, Kind::Message | Kind::CustomMessage | Kind::Compaction | Kind::BranchSummary)
    }

    /// Arguments of tools may have any names, also those that are noise elsewhere.
    fn is_after_arguments(&self, at: usize) -> bool {
        self.role == Some(Role::Assistant) && memmem::find(&self.low[..at], b"\"arguments\"").is_some()
    }
}

/// Members that hold nothing a person would search for.
fn is_noise(key: &[u8]) -> bool {
    matches!(
        key,
        b"type"
            | b"id"
            | b"parentid"
            | b"timestamp"
            | b"role"
            | b"toolcallid"
            | b"thinking"
            | b"thinkingsignature"
            | b"textsignature"
            | b"data"
            | b"mimetype"
            | b"api"
            | b"provider"
            | b"model"
            | b"stopreason"
            | b"responseid"
            | b"firstkeptentryid"
            | b"fromid"
    )
}

/// Finds the last quote before `at` that is not escaped.
fn quote_before(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    while let Some(quote) = memrchr(b'"', &text[..end]) {
        if !is_escaped(text, quote) {
            return Some(quote);
        }
        end = quote;
    }
    None
}

fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Finds the place after the quote that ends the string around `at` (or begun by a quote at `at`).
fn string_end(text: &[u8], at: usize) -> usize {
    let mut from = at + 1;
    while let Some(quote) = text.get(from..).and_then(|rest| memchr(b'"', rest)).map(|found| found + from) {
        from = quote + 1;
        if !is_escaped(text, quote) {
            return from;
        }
    }
    text.len()
}

/// Tells whether a hit may stand outside of strings: nothing but structure and literals between it and a quote.
fn could_be_outside(between: &[u8], first: u8) -> bool {
    let literal = |byte: &u8| {
        matches!(byte, b'[' | b']' | b'{' | b'}' | b':' | b',' | b' ' | b'\t' | b'\r')
            || matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'a'..=b'z')
    };
    let opener = between.first().copied().unwrap_or(first);
    matches!(opener, b':' | b',' | b']' | b'}' | b' ' | b'\t' | b'\r') && between.iter().all(literal)
}

/// Reads the key that ends before a colon: its bytes and where it starts.
fn key_before(text: &[u8]) -> Option<(&[u8], usize)> {
    let text = text.trim_ascii_end();
    let end = text.len().checked_sub(1).filter(|end| text[*end] == b'"')?;
    let start = memrchr(b'"', &text[..end])?;
    let key = &text[start + 1..end];
    (!key.contains(&b'\\') && !is_escaped(text, start)).then_some((key, start))
}

/// Tells whether a hit starts inside an escape (`\nfoo` does not hold `nfoo`, `\u001b` not `001b`).
fn starts_in_escape(text: &[u8], at: usize) -> bool {
    if at > 0 && text[at - 1] == b'\\' && is_escaped(text, at) {
        return true;
    }
    (2..=5).any(|back| {
        let Some(u) = at.checked_sub(back - 1).filter(|u| text.get(*u) == Some(&b'u')) else { return false };
        u > 0 && text[u - 1] == b'\\' && is_escaped(text, u)
    })
}

/// Calls `take` with every string of an entry that a search looks at.
pub(super) fn each_text(kind: Kind, doc: &Doc, take: &mut dyn FnMut(Place, &str)) {
    let root = doc.root();
    let mut member = |value: Value<'_>, key: &str| {
        if let Some(text) = value.get(key).and_then(Value::as_str) {
            take(Place::Text, &text);
        }
    };
    match kind {
        Kind::Message => {
            let Some(message) = super::call::message(doc) else { return };
            for key in ["errorMessage", "command", "output", "customType"] {
                member(message, key);
            }
            if let Some(tool) = message.get("toolName").and_then(Value::as_str) {
                take(Place::Tool(None), &tool);
            }
            each_block(message.get("content"), take);
        }
        Kind::CustomMessage => {
            member(root, "customType");
            each_block(root.get("content"), take);
        }
        Kind::Compaction | Kind::BranchSummary | Kind::StackSummary => {
            member(root, "summary");
            let Some(details) = root.get("details") else { return };
            for list in ["readFiles", "modifiedFiles"].into_iter().filter_map(|key| details.get(key)) {
                each_string(list, &mut |_, path| take(Place::File(None), path));
            }
        }
        Kind::ModelChange => ["provider", "modelId", "model"].into_iter().for_each(|key| member(root, key)),
        Kind::ThinkingLevelChange => member(root, "thinkingLevel"),
        Kind::Custom => member(root, "customType"),
        Kind::Label => member(root, "label"),
        Kind::SessionInfo => member(root, "name"),
        Kind::TitleChange => member(root, "title"),
        Kind::ModeChange => member(root, "mode"),
        Kind::Usage => member(root, "kind"),
        Kind::Opaque => member(root, "type"),
        Kind::ContextEdit => each_block(root.get("replacement").and_then(|new| new.get("content")), take),
        Kind::LeafMove | Kind::RuleInjection | Kind::ResetBoundary | Kind::ModelUsage => {}
    }
}

fn each_block(content: Option<Value<'_>>, take: &mut dyn FnMut(Place, &str)) {
    let mut call = 0;
    for block in Content::of(content).blocks() {
        match block {
            Block::Text(text) => take(Place::Text, &text),
            Block::ToolCall { name, arguments, .. } => {
                take(Place::Tool(Some(call)), &name);
                if let Some(arguments) = arguments {
                    each_string(arguments, &mut |key, text| take(argument(call, key), text));
                }
                call += 1;
            }
            Block::Image { .. } | Block::Thinking(_) | Block::Other(_) => {}
        }
    }
}

fn argument(call: usize, key: Option<&str>) -> Place {
    match key {
        Some("path" | "file_path" | "paths" | "files") => Place::File(Some(call)),
        _ => Place::Argument(call),
    }
}

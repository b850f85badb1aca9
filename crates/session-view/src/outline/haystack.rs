//! The strings of an entry that a search looks at, and how a term is found in them.
//!
//! The raw bytes of a line, in lower case, show quickly that a term is absent. A line that may hold a term is parsed
//! (a tool result in the exact spelling of pi need not be), so its structure alone decides which strings count; each
//! of these is then searched in its raw bytes, and decoded only if its escapes leave the answer open.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

use memchr::memmem;

use super::query::{Field, Term};
use session_tree::json::{Cursor, Kind as JsonKind, decode_lossy};
use session_tree::{Kind, Role};

/// A line as a search sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'b> {
    pub(super) raw: &'b [u8],
    /// The same bytes with ASCII letters in lower case.
    pub(super) low: &'b [u8],
    pub(super) kind: Kind,
    pub(super) role: Option<Role>,
}

/// The place of a string in its entry.
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

/// A term with a searcher for raw lines.
#[derive(Debug)]
pub(super) struct Needle {
    pub(super) term: Term,
    /// The longest part of the text that JSON spells as it is.
    plain: Option<memmem::Finder<'static>>,
    /// True if that part is the whole text.
    is_plain: bool,
}

impl Needle {
    pub(super) fn new(term: &Term) -> Self {
        let folds = !term.text.is_ascii();
        let is_plain_char = |c: char| match c {
            // The Kelvin sign and the dotted capital I become these in lower case; only texts beyond ASCII are
            // compared that way.
            'k' | 'i' if folds => false,
            '"' | '\\' => false,
            c => c.is_ascii() && !c.is_ascii_control(),
        };
        let run = term.text.split(|c| !is_plain_char(c)).max_by_key(|run| run.len()).unwrap_or_default();
        let is_plain = run.len() == term.text.len();
        let plain = (is_plain || run.len() > 1).then(|| memmem::Finder::new(run.as_bytes()).into_owned());
        Self { term: term.clone(), plain, is_plain }
    }

    /// Returns false only if the raw bytes show that a line does not hold the term. `odd` returns whether the line
    /// spells plain characters as escapes.
    pub(super) fn may_be_in(&self, line: &Line<'_>, odd: &dyn Fn() -> bool) -> bool {
        if !line.may_have(self.term.field) {
            return false;
        }
        if self.term.field == Field::Pattern {
            return true;
        }
        let Some(finder) = &self.plain else {
            return self.term.text.is_ascii()
                || !line.low.is_ascii()
                || memchr::memchr(b'\\', line.low).is_some();
        };
        if self.term.field == Field::Tool
            && self.is_plain
            && let Some(name) = line.tool_name()
        {
            return holds(&name, &self.term.text);
        }
        finder.find(line.low).is_some() || odd()
    }

    /// Returns true if a string of a line holds the term; `string` is the range between its quotes.
    pub(super) fn is_in(&self, line: &Line<'_>, place: Place, string: Range<usize>) -> bool {
        if !place.is_in(self.term.field) {
            return false;
        }
        let decoded = || decode_lossy(line.raw.get(string.clone()).unwrap_or_default());
        if let Some(pattern) = &self.term.pattern {
            return pattern.is_in(&decoded());
        }
        match self.in_raw_string(line.low.get(string.clone()).unwrap_or_default()) {
            Some(answer) => answer,
            None => holds(&decoded(), &self.term.text),
        }
    }

    /// Searches the raw content of a string, in lower case; `None` if the decoded string has to be searched.
    fn in_raw_string(&self, content: &[u8]) -> Option<bool> {
        let finder = self.plain.as_ref()?;
        let mut from = 0;
        while let Some(at) = finder.find(&content[from..]).map(|at| at + from) {
            if !self.is_plain {
                return None;
            }
            if !starts_in_escape(content, at) {
                return Some(true);
            }
            from = at + 1;
        }
        if has_odd_escapes(content, true) { None } else { Some(false) }
    }
}

/// Returns true if a text holds another, which is in lower case.
fn holds(text: &str, wanted: &str) -> bool {
    if wanted.is_ascii() {
        let low = text.as_bytes().to_ascii_lowercase();
        return memmem::find(&low, wanted.as_bytes()).is_some();
    }
    text.to_lowercase().contains(wanted)
}

/// Returns true if bytes of JSON spell plain characters as escapes, which no common writer does.
///
/// Slashes are checked only if a term has one.
pub(super) fn has_odd_escapes(low: &[u8], slashes: bool) -> bool {
    static UNICODE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\\u00"));
    let unicode = UNICODE.find_iter(low).any(|at| matches!(low.get(at + 4), Some(b'2'..=b'7')));
    unicode || slashes && memmem::find(low, b"\\/").is_some()
}

impl Line<'_> {
    /// Returns true if an entry of this type can have strings of a field. Only answers and summaries name files; a
    /// result is found by the file that its call names.
    fn may_have(&self, field: Field) -> bool {
        let is_answer = self.role == Some(Role::Assistant);
        match field {
            Field::Any | Field::Pattern => true,
            Field::Tool => is_answer || self.role == Some(Role::ToolResult),
            Field::File => is_answer || is_summary(self.kind),
            Field::Role | Field::Label | Field::Before(_) | Field::After(_) => false,
        }
    }

    /// Reads the name of the tool of a result.
    fn tool_name(&self) -> Option<Cow<'_, str>> {
        let is_result = self.role == Some(Role::ToolResult);
        Cursor::new(self.raw).at(&["message", "toolName"]).filter(|_| is_result)?.as_str()
    }
}

fn is_summary(kind: Kind) -> bool {
    matches!(kind, Kind::Compaction | Kind::BranchSummary)
}

/// Returns true if a hit starts inside an escape (`\nfoo` does not hold `nfoo`, `\u001b` not `001b`).
fn starts_in_escape(text: &[u8], at: usize) -> bool {
    if at > 0 && text[at - 1] == b'\\' && is_escaped(text, at) {
        return true;
    }
    (2..=5).any(|back| {
        let Some(u) = at.checked_sub(back - 1).filter(|u| text.get(*u) == Some(&b'u')) else { return false };
        u > 0 && text[u - 1] == b'\\' && is_escaped(text, u)
    })
}

fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns the range of a string without its quotes.
pub(super) fn between_quotes(string: Cursor<'_>) -> Range<usize> {
    let range = string.range();
    range.start + 1..range.end - 1
}

/// Takes a string of an entry; a search that needs no more of them breaks off.
pub(super) type TakeText<'t, 'd> = &'t mut dyn FnMut(Place, Cursor<'d>) -> ControlFlow<()>;

/// Calls `take` with every string of an entry that a search looks at, until it breaks off.
pub(super) fn each_text<'d>(line: &Line<'d>, take: TakeText<'_, 'd>) -> ControlFlow<()> {
    let root = Cursor::new(line.raw);
    let mut members = |keys: &[&str]| {
        keys.iter().try_for_each(|key| string(root.get(key), &mut |text| take(Place::Text, text)))
    };
    match line.kind {
        Kind::Message => {
            let paths: [&[&str]; 7] = [
                &["message", "errorMessage"],
                &["message", "command"],
                &["message", "output"],
                &["message", "customType"],
                &["message", "summary"],
                &["message", "toolName"],
                &["message", "content"],
            ];
            let ([error, command, output, custom_type, summary, tool, content], blocks) =
                root.find_with_items(paths, BLOCK);
            for text in [error, command, output, custom_type, summary] {
                string(text, &mut |text| take(Place::Text, text))?;
            }
            if line.role == Some(Role::ToolResult) {
                string(tool, &mut |name| take(Place::Tool(None), name))?;
            }
            string(content, &mut |text| take(Place::Text, text))?;
            each_block(blocks, line.role == Some(Role::Assistant), take)
        }
        Kind::CustomMessage => {
            let ([content], blocks) = root.find_with_items([&["content"]], BLOCK);
            members(&["customType"])?;
            string(content, &mut |text| take(Place::Text, text))?;
            each_block(blocks, false, take)
        }
        Kind::Compaction | Kind::BranchSummary => {
            members(&["summary"])?;
            let Some(details) = root.get("details") else { return ControlFlow::Continue(()) };
            let mut lists = ["readFiles", "modifiedFiles"].into_iter().filter_map(|key| details.get(key));
            lists.try_for_each(|list| each_string(list, &mut |_, path| take(Place::File(None), path)))
        }
        Kind::ModelChange => members(&["provider", "modelId", "model"]),
        Kind::ThinkingLevelChange => members(&["thinkingLevel"]),
        Kind::Custom => members(&["customType"]),
        Kind::Label => members(&["label"]),
        Kind::SessionInfo => members(&["name", "title"]),
        Kind::ModeChange => members(&["mode"]),
        Kind::Usage => members(&["kind"]),
        Kind::Opaque => members(&["type"]),
        Kind::ContextEdit => {
            let ([content], blocks) = root.find_with_items([&["replacement", "content"]], BLOCK);
            string(content, &mut |text| take(Place::Text, text))?;
            each_block(blocks, false, take)
        }
        Kind::LeafMove | Kind::RuleInjection | Kind::ResetBoundary => ControlFlow::Continue(()),
    }
}

/// The members of a block that a search looks at.
const BLOCK: [&str; 4] = ["type", "text", "name", "arguments"];

/// The values of these members.
type Block<'d> = [Option<Cursor<'d>>; BLOCK.len()];

/// Visits the text blocks of a content, and its calls if it is the content of an answer.
fn each_block<'d>(blocks: Vec<Block<'d>>, has_calls: bool, take: TakeText<'_, 'd>) -> ControlFlow<()> {
    let mut call = 0;
    for [kind, text, name, arguments] in blocks {
        let is = |wanted: &str| kind.is_some_and(|kind| kind.is_str(wanted));
        if is("text") {
            string(text, &mut |text| take(Place::Text, text))?;
        } else if has_calls && is("toolCall") {
            string(name, &mut |name| take(Place::Tool(Some(call)), name))?;
            if let Some(arguments) = arguments {
                each_string(arguments, &mut |key, text| take(argument(call, key), text))?;
            }
            call += 1;
        }
    }
    ControlFlow::Continue(())
}

/// Calls `take` with a value if it is a string.
fn string<'d>(
    value: Option<Cursor<'d>>,
    take: &mut dyn FnMut(Cursor<'d>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match value.filter(|value| value.kind() == JsonKind::String) {
        Some(string) => take(string),
        None => ControlFlow::Continue(()),
    }
}

/// Calls `take` with every string inside a value, and the key it stands under.
fn each_string<'d>(
    value: Cursor<'d>,
    take: &mut dyn FnMut(Option<Cursor<'d>>, Cursor<'d>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut stack: Vec<(Option<Cursor<'d>>, Cursor<'d>)> = vec![(None, value)];
    while let Some((key, value)) = stack.pop() {
        string(Some(value), &mut |string| take(key, string))?;
        stack.extend(value.items().map(|item| (key, item)));
        stack.extend(value.members().map(|(key, value)| (Some(key), value)));
    }
    ControlFlow::Continue(())
}

fn argument(call: usize, key: Option<Cursor<'_>>) -> Place {
    let names_file =
        |key: Cursor<'_>| ["path", "file_path", "paths", "files"].iter().any(|name| key.is_str(name));
    if key.is_some_and(names_file) { Place::File(Some(call)) } else { Place::Argument(call) }
}

//! Markdown as tokens, from which the page builds its nodes and the readable part is made.
//!
//! A list of tokens is all the markup there is: a closed set of tags, texts, and links whose scheme is allowed. Raw
//! HTML is text, images are links, nesting has an end. Knows nothing of sessions.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag as Source};
use session_tree::json::{Kind, TextOut as _, ValueRef, write_string};

use crate::text::{Json, push_integer, raw};

/// How deep elements may nest; what is deeper is shown without its markup.
const DEEPEST: usize = 24;
/// A text longer than this is no prose; it is shown as it is.
const LONGEST: usize = 256 * 1024;

/// A piece of rendered Markdown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token<'t> {
    /// An element begins.
    Open(Tag),
    /// A link begins; its address is one of the allowed ones.
    Link(String),
    /// An ordered list begins with this number.
    Numbered(u64),
    /// The end of this element, which was opened last.
    Close(Tag),
    /// Text.
    Text(Cow<'t, str>),
    /// Code inside a line.
    Code(Cow<'t, str>),
    /// A block of code and its language, which may be empty.
    Block(String, String),
    /// A line break.
    Break,
    /// A rule.
    Rule,
    /// A box of a task list.
    Check(bool),
}

macro_rules! tags {
    ($($tag:ident = $name:literal,)*) => {
        /// The elements that Markdown becomes, in the order of their numbers in the page.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Tag { $(#[doc = $name] $tag,)* }

        impl Tag {
            /// Returns the name of the element.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Tag::$tag => $name,)* }
            }
        }
    };
}

tags! {
    Paragraph = "p",
    H3 = "h3",
    H4 = "h4",
    H5 = "h5",
    H6 = "h6",
    List = "ul",
    Numbered = "ol",
    Item = "li",
    Quote = "blockquote",
    Strong = "strong",
    Emphasis = "em",
    Strike = "del",
    Table = "table",
    Row = "tr",
    Head = "th",
    Cell = "td",
    Link = "a",
}

impl Tag {
    /// Returns the element of a heading below `depth` others; the page itself has the first two levels.
    fn of_heading(depth: usize) -> Self {
        [Tag::H3, Tag::H4, Tag::H5, Tag::H6][depth.min(3)]
    }
}

/// Writes a string of the session for the page: unchanged if it is plain, else as tokens. Other values are empty.
pub(crate) fn write_json(out: &mut Json, text: ValueRef<'_>) {
    if text.kind() == Kind::String && is_plain_json(text.raw()) {
        return raw(out, text);
    }
    write_text(out, &text.as_str().unwrap_or_default());
}

/// Writes a text for the page: a string if it is plain, else its tokens.
pub(crate) fn write_text(out: &mut Json, text: &str) {
    if is_plain(text) || text.len() > LONGEST {
        return write_string(out, text);
    }
    crate::text::list(out, tokens(text), |out, token| write_token(out, &token));
}

fn write_token(out: &mut Json, token: &Token<'_>) {
    let mut tuple = |name: &str, texts: &[&str]| {
        crate::text::list(out, std::iter::once(&name).chain(texts), |out, text| write_string(out, text));
    };
    match token {
        Token::Text(text) => write_string(out, text),
        Token::Open(tag) => push_integer(out, *tag as i64 + 1),
        Token::Close(_) => out.push(b'0'),
        Token::Break => out.put("-1"),
        Token::Rule => out.put("-2"),
        Token::Check(false) => out.put("-3"),
        Token::Check(true) => out.put("-4"),
        Token::Link(url) => tuple("a", &[url]),
        Token::Numbered(start) => tuple("o", &[&start.to_string()]),
        Token::Code(text) => tuple("c", &[text]),
        Token::Block(lang, text) => tuple("p", &[lang, text]),
    }
}

/// The bytes that may be Markdown syntax anywhere.
const MARKS: [bool; 256] = table(b"*_`#[]<>|&\\~!");
/// The bytes that may be Markdown syntax at the start of a line.
const STARTS: [bool; 256] = table(b" \t\n\r-+=0123456789");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Returns true if a text has no Markdown syntax.
fn is_plain(text: &str) -> bool {
    let starts_block = |line: &[u8]| line.first().is_some_and(|byte| STARTS[usize::from(*byte)]);
    let bytes = text.as_bytes();
    !bytes.iter().any(|byte| MARKS[usize::from(*byte)])
        && !starts_block(bytes)
        && !memchr::memchr_iter(b'\n', bytes).any(|at| starts_block(&bytes[at + 1..]))
}

/// The same for a JSON string with its quotes. False means that it has to be decoded first.
fn is_plain_json(raw: &[u8]) -> bool {
    let Some(bytes) = raw.get(1..raw.len().saturating_sub(1)) else { return false };
    let starts_block =
        |line: &[u8]| line.first().is_some_and(|byte| STARTS[usize::from(*byte)] || *byte == b'\\');
    let is_break = |at: usize| bytes.get(at + 1) == Some(&b'n') && !starts_block(&bytes[at + 2..]);
    let mut marks = (0..bytes.len()).filter(|at| MARKS[usize::from(bytes[*at])]);
    !starts_block(bytes) && marks.all(|at| bytes[at] == b'\\' && is_break(at))
}

/// Reads Markdown.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    if text.len() > LONGEST {
        return vec![Token::Block(String::new(), text.to_owned())];
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader::default();
    for event in Parser::new_ext(text, options) {
        reader.take(event);
    }
    reader.tokens
}

#[derive(Default)]
struct Reader<'t> {
    tokens: Vec<Token<'t>>,
    /// The open elements; `None` for one that is shown without markup.
    open: Vec<Option<Tag>>,
    depth: usize,
    /// The language and the text of a code block that is being read.
    block: Option<(String, String)>,
    in_table_head: bool,
    /// The levels of the headings that the last one stands below, and its own.
    headings: Vec<HeadingLevel>,
}

impl<'t> Reader<'t> {
    fn take(&mut self, event: Event<'t>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(text.into()),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.tokens.push(Token::Code(text.into()));
            }
            Event::SoftBreak => self.text("\n".into()),
            Event::HardBreak => self.tokens.push(Token::Break),
            Event::Rule => self.tokens.push(Token::Rule),
            Event::TaskListMarker(done) => self.tokens.push(Token::Check(done)),
            Event::FootnoteReference(name) => self.text(name.into()),
        }
    }

    fn text(&mut self, text: Cow<'t, str>) {
        match (&mut self.block, self.tokens.last_mut()) {
            (Some((_, block)), _) => block.push_str(&text),
            (None, Some(Token::Text(before))) => before.to_mut().push_str(&text),
            (None, _) => self.tokens.push(Token::Text(text)),
        }
    }

    fn start(&mut self, tag: Source<'t>) {
        match tag {
            Source::CodeBlock(kind) => {
                let lang = match kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or("").to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.block = Some((lang, String::new()));
                self.open.push(None);
            }
            Source::Link { dest_url, .. } | Source::Image { dest_url, .. } => match is_safe_url(&dest_url) {
                true => self.open_as(Token::Link(dest_url.into_string()), Tag::Link),
                false => self.open.push(None),
            },
            Source::Heading { level, .. } => {
                while self.headings.pop_if(|above| *above >= level).is_some() {}
                self.open(Tag::of_heading(self.headings.len()));
                self.headings.push(level);
            }
            Source::List(Some(start)) => self.open_as(Token::Numbered(start), Tag::Numbered),
            Source::TableHead => {
                self.in_table_head = true;
                self.open(Tag::Row);
            }
            Source::TableCell if self.in_table_head => self.open(Tag::Head),
            other => match element(&other) {
                Some(tag) => self.open(tag),
                None => self.open.push(None),
            },
        }
    }

    fn open(&mut self, tag: Tag) {
        self.open_as(Token::Open(tag), tag);
    }

    fn open_as(&mut self, token: Token<'t>, tag: Tag) {
        if self.depth >= DEEPEST {
            return self.open.push(None);
        }
        self.depth += 1;
        self.tokens.push(token);
        self.open.push(Some(tag));
    }

    fn end(&mut self) {
        if let Some((lang, text)) = self.block.take() {
            self.tokens.push(Token::Block(lang, text));
        }
        if let Some(tag) = self.open.pop().flatten() {
            self.depth -= 1;
            self.in_table_head &= tag != Tag::Row;
            self.tokens.push(Token::Close(tag));
        }
    }
}

/// The element that a part of a text becomes; none for what is shown without one.
fn element(source: &Source<'_>) -> Option<Tag> {
    Some(match source {
        Source::Paragraph | Source::HtmlBlock => Tag::Paragraph,
        Source::BlockQuote(_) => Tag::Quote,
        Source::List(_) => Tag::List,
        Source::Item => Tag::Item,
        Source::Table(_) => Tag::Table,
        Source::TableHead | Source::TableRow => Tag::Row,
        Source::TableCell => Tag::Cell,
        Source::Emphasis => Tag::Emphasis,
        Source::Strong => Tag::Strong,
        Source::Strikethrough => Tag::Strike,
        _ => return None,
    })
}

/// Returns true if a page may link to an address: the web, mail, and places in the page itself.
pub(crate) fn is_safe_url(url: &str) -> bool {
    if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return false;
    }
    let is_scheme =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    url.starts_with('#') || ["http://", "https://", "mailto:"].into_iter().any(is_scheme)
}

#[cfg(test)]
mod tests;

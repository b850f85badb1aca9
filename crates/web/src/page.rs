//! The page: head, the readable part, the parts with everything, and the script that shows them.
//!
//! session -> **page** -> any writer

use std::io::Write;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use session_tree::{Filter, Outline, OutlineOptions, Session};
use sha2::{Digest, Sha256};

use crate::card::{self, Card};
use crate::error::Result;
use crate::export::Export;
use crate::markdown::Token;
use crate::readable::{self, Item, Piece};
use crate::{ExportOptions, Progress};

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../assets/js/data.js"),
    include_str!("../assets/js/shape.js"),
    include_str!("../assets/js/dom.js"),
    include_str!("../assets/js/code.js"),
    include_str!("../assets/js/entry.js"),
    include_str!("../assets/js/transcript.js"),
    include_str!("../assets/js/tree.js"),
    include_str!("../assets/js/search.js"),
    include_str!("../assets/js/main.js"),
    "})();\n",
);
/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// How many entries the page holds.
    pub entries: usize,
    /// How many branches.
    pub branches: usize,
}

/// Writes a session as one HTML page that needs nothing but itself.
///
/// ```
/// use offshoot_web::{ExportOptions, write_html};
/// use session_tree::Options;
///
/// let mut session = Options::new().in_memory("/project")?;
/// session.append_user_text("Say <b>hello</b>")?;
/// let mut page = Vec::new();
/// write_html(&session, &ExportOptions::default(), &mut page, &mut |_, _| {})?;
/// assert!(String::from_utf8(page)?.contains("Say &#60;b&#62;hello"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_html(
    session: &Session,
    options: &ExportOptions,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<Exported> {
    let all = Outline::new(session, outline_options(options, Filter::All));
    let theme = options.theme.name();
    render(&Head { policy: policy(), style: STYLE, theme, title: &card::title(session)? }, out)?;
    let mut export = Export::new(session, options, &all, out);
    let card = Card::of(session, export.entries(progress)?)?;
    export.views()?;
    export.rest(&card)?;
    let out = export.into_out();
    let readable = readable::last_part(session, options)?;
    render(&Body { card: &card, entries: all.len(), skipped: readable.skipped }, out)?;
    for item in &readable.items {
        render(&Row { item }, out)?;
    }
    render(&Tail { script: SCRIPT }, out)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(Exported { entries: all.len(), branches: card.branches.len() + card.more_branches })
}

#[derive(Template)]
#[template(path = "head.html")]
struct Head<'p> {
    policy: String,
    style: &'static str,
    theme: &'static str,
    title: &'p str,
}

#[derive(Template)]
#[template(path = "body.html")]
struct Body<'p> {
    card: &'p Card,
    entries: usize,
    skipped: usize,
}

#[derive(Template)]
#[template(path = "item.html")]
struct Row<'p> {
    item: &'p Item,
}

#[derive(Template)]
#[template(path = "tail.html")]
struct Tail {
    script: &'static str,
}

fn render(template: &impl Template, out: &mut dyn Write) -> Result<()> {
    Ok(Template::write_into(template, &mut &mut *out)?)
}

/// How the outlines of a page are made.
pub(crate) fn outline_options(options: &ExportOptions, filter: Filter) -> OutlineOptions {
    OutlineOptions { filter, home: options.home.clone(), ..OutlineOptions::default() }
}

/// What the page may do: run our script, use our style, show images that are part of it. Nothing else.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE),
    )
}

//! The page: head, the readable part, the parts with everything, and the script that shows them.
//!
//! session -> **page** -> any writer

use std::io::Write;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use session_tree::{Extract, NewHeader, Session, Timestamp};
use session_view::{Filter, Outline, OutlineOptions};
use sha2::{Digest, Sha256};

use crate::card::{self, Card};
use crate::entry_text::Piece;
use crate::error::Result;
use crate::export::{Export, bytes_of};
use crate::markdown::Token;
use crate::parts::{HUGE, Packer};
use crate::readable::{self, Item};
use crate::{ExportOptions, Progress};

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../assets/js/inflate.js"),
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

/// Writes a session as one HTML page that needs nothing but itself. Returns the number of entries in it.
///
/// ```
/// use offshoot_web::{ExportOptions, write_html};
/// use session_tree::{Message, Options};
///
/// let mut session = Options::new().in_memory("/project")?;
/// session.append(Message::user("Say <b>hello</b>"))?;
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
) -> Result<usize> {
    let all = Outline::new(session, outline_options(options, Filter::All));
    let has_file = has_file(session, options);
    render(&Head { policy: policy(), style: STYLE, title: &card::title(session)?, has_file }, out)?;
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
    render(&Script { script: SCRIPT }, out)?;
    // After the script, so that the tree does not wait for the file.
    if has_file {
        write_file(session, out)?;
    }
    out.write_all(b"</body>\n</html>\n")?;
    out.flush()?;
    Ok(all.len())
}

#[derive(Template)]
#[template(path = "head.html")]
struct Head<'p> {
    policy: String,
    style: &'static str,
    title: &'p str,
    has_file: bool,
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
#[template(path = "script.html")]
struct Script {
    script: &'static str,
}

fn render(template: &impl Template, out: &mut dyn Write) -> Result<()> {
    Ok(Template::write_into(template, &mut &mut *out)?)
}

/// Returns true if the page contains the session file. A page that leaves something out does not, nor does a huge one.
fn has_file(session: &Session, options: &ExportOptions) -> bool {
    options.tools && options.thinking && bytes_of(session) <= HUGE
}

/// Writes the session as a file that can be saved from the page. Its header does not name the parent session.
fn write_file(session: &Session, out: &mut dyn Write) -> Result<()> {
    let header = session.header();
    let new = NewHeader {
        cwd: header.cwd().unwrap_or_default().into_owned(),
        id: header.id().into_owned(),
        parent_session: None,
        time: header.timestamp().unwrap_or(Timestamp::from_millis(0)),
    };
    let plan = session.plan_extract(Extract::All)?;
    let mut file = Packer::new(out, "file");
    session.write_extract(&plan, &new, &mut file)?;
    Ok(file.flush()?)
}

/// How the outlines of a page are made.
pub(crate) fn outline_options(options: &ExportOptions, filter: Filter) -> OutlineOptions {
    OutlineOptions { filter, home: options.home.clone(), ..OutlineOptions::default() }
}

/// The content security policy: our script, our style, images that are part of the page, nothing else.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE),
    )
}

//! `offshoot tree`: a session as rows with connectors.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use session_tree::{Charset, Filter, Outline, OutlineOptions, OutlineRow, RowStyle, Session};

use crate::error::CommandError;
use crate::ui::{Tone, Ui};

/// Arguments of `offshoot tree`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session file.
    session: PathBuf,
    /// Which entries to show.
    #[arg(long, value_parser = filter_parser(), default_value = "default")]
    filter: Filter,
    /// Show only entries that contain all of these words.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    search: Option<String>,
    /// Show the id of every entry.
    #[arg(long)]
    ids: bool,
    /// Draw connectors with ASCII characters.
    #[arg(long)]
    ascii: bool,
}

/// Offers the names of the engine's filters.
fn filter_parser() -> impl TypedValueParser<Value = Filter> {
    PossibleValuesParser::new(Filter::CYCLE.map(Filter::name))
        .map(|name| Filter::from_name(&name).unwrap_or_default())
}

pub(crate) fn run(args: &Args, ui: &mut Ui) -> Result<(), CommandError> {
    let session = Session::open_read_only(&args.session)?;
    let options = OutlineOptions { filter: args.filter, ..OutlineOptions::default() };
    let mut outline = Outline::new(&session, options);
    if let Some(query) = &args.search {
        outline.set_query(&session, query)?;
        outline.search_all(&session)?;
    }
    let charset = if args.ascii { Charset::Ascii } else { Charset::Unicode };
    print(&session, &outline, charset, args.ids, ui)
}

/// Prints all rows of an outline.
pub(crate) fn print(
    session: &Session,
    outline: &Outline,
    charset: Charset,
    ids: bool,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    // In portions, so that the first rows of a large session are there at once.
    const PORTION: usize = 500;
    for start in (0..outline.len()).step_by(PORTION) {
        for row in outline.rows(session, start..(start + PORTION).min(outline.len()))? {
            print_row(&row, charset, ids, ui)?;
        }
    }
    if outline.is_empty() {
        ui.plain("No entries found")?;
    }
    Ok(())
}

fn print_row(row: &OutlineRow, charset: Charset, ids: bool, ui: &mut Ui) -> Result<(), CommandError> {
    let (dot, here) = match charset {
        Charset::Unicode => ("• ", " ← active"),
        Charset::Ascii => ("* ", " <- active"),
    };
    let id = if ids { format!("{} ", row.id) } else { String::new() };
    let label = row.label.as_ref().map_or_else(String::new, |label| format!("[{}] ", label.text));
    let prefix = row.prefix(charset);
    ui.line(&[
        (Tone::Dim, &id),
        (Tone::Dim, &prefix),
        (Tone::Accent, if row.on_path { dot } else { "" }),
        (Tone::Notice, &label),
        (tone(row.style), &row.text),
        (Tone::Accent, if row.is_leaf { here } else { "" }),
    ])
}

fn tone(style: RowStyle) -> Tone {
    match style {
        RowStyle::User => Tone::Accent,
        RowStyle::Assistant => Tone::Good,
        RowStyle::Error => Tone::Bad,
        RowStyle::Summary | RowStyle::Compaction => Tone::Notice,
        RowStyle::Tool | RowStyle::Muted => Tone::Dim,
        _ => Tone::Plain,
    }
}

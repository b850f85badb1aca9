//! The outline of 100,000 entries: first rows, filters, searches.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use session_tree::Session;
use session_view::{Filter, Outline, OutlineOptions, OutlineRow};

use super::{Bench, against_peer};
use crate::Failure;
use crate::clock::{best, best_of_pairs, cpu_of, program};
use crate::table::Line;

const SCREEN: usize = 50;
/// From rare to everywhere: a word of few entries, words of many, a letter of nearly all.
const QUERIES: [&str; 4] = ["zzyzx", "parser", "function", "f"];
/// A query and what it becomes with the next key.
const LONGER: (&str, &str) = ("functio", "function");

/// Makes the outline and the rows of one screen.
pub(super) fn first_rows(session: &Session) -> Result<(Outline, Vec<OutlineRow>), Failure> {
    let outline = Outline::new(session, OutlineOptions::default());
    let rows = outline.rows(session, 0..SCREEN)?;
    Ok((outline, rows))
}

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.realistic(100_000)?;
    let session = Session::open_read_only(&file)?;
    let peer = bench.ask_peer(&bench.files.realistic(12_000)?, &["open", "view", "filter"], "")?;
    let peer = peer.as_ref();
    let first = best(bench.runs, || cpu_of(|| first_rows(&session)))?;
    let filter = best(bench.runs, || filters(&session))?;
    let mut lines = vec![
        against_peer("outline of 100k entries: first rows (pi: of 12k)", first, peer, "view", 20.0)?,
        Line::limit("the same", first, Duration::from_millis(50)),
        against_peer("filter keystroke, mean of five filters (pi: of 12k)", filter, peer, "filter", 20.0)?,
        Line::limit("the same", filter, Duration::from_millis(16)),
    ];
    for query in QUERIES {
        lines.extend(searches(bench, &session, &file, query)?);
    }
    lines.push(longer(bench, &session)?);
    Ok(lines)
}

fn filters(session: &Session) -> Result<Duration, Failure> {
    let (mut outline, _) = first_rows(session)?;
    let filters = [Filter::NoTools, Filter::UserOnly, Filter::LabeledOnly, Filter::All, Filter::default()];
    let time = cpu_of(|| {
        for filter in filters {
            outline.set_filter(session, filter);
            std::hint::black_box(outline.rows(session, 0..SCREEN)?);
        }
        Ok(())
    })?;
    Ok(time / u32::try_from(filters.len())?)
}

/// Types a query and looks at the rows around the last one.
fn visible_hits(session: &Session, query: &str) -> Result<Duration, Failure> {
    let (mut outline, _) = first_rows(session)?;
    cpu_of(|| {
        outline.set_query(session, query)?;
        let end = outline.len();
        Ok(outline.rows(session, end.saturating_sub(SCREEN)..end)?)
    })
}

fn searches(bench: &Bench<'_>, session: &Session, file: &Path, query: &str) -> Result<[Line; 2], Failure> {
    let visible = best(bench.runs, || visible_hits(session, query))?;
    let (all, grep) = best_of_pairs(
        bench.runs.min(4),
        || all_hits(session, query),
        || {
            // Into a file: grep stops at the first hit when its output goes nowhere.
            let count = File::create(bench.files.scratch("count"))?;
            program(Command::new("grep").args(["-ciF", query]).arg(file), Some(count))
        },
    )?;
    Ok([
        Line::limit(&format!("search `{query}`: visible hits"), visible, Duration::from_millis(16)),
        Line::cost(&format!("search `{query}`: all hits"), all, ("grep -ciF", grep), 5.0),
    ])
}

fn all_hits(session: &Session, query: &str) -> Result<Duration, Failure> {
    let (mut outline, _) = first_rows(session)?;
    cpu_of(|| {
        outline.set_query(session, query)?;
        Ok(outline.search_all(session)?)
    })
}

/// One more key after a search that went through everything.
fn longer(bench: &Bench<'_>, session: &Session) -> Result<Line, Failure> {
    let (short, long) = LONGER;
    let (refined, fresh) = best_of_pairs(
        bench.runs.min(4),
        || {
            let (mut outline, _) = first_rows(session)?;
            outline.set_query(session, short)?;
            outline.search_all(session)?;
            cpu_of(|| {
                outline.set_query(session, long)?;
                Ok(outline.search_all(session)?)
            })
        },
        || all_hits(session, long),
    )?;
    Ok(Line::cost(&format!("one more key: `{short}` to `{long}`"), refined, ("a new search", fresh), 1.0))
}

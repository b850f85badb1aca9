//! `search`: finds entries in all sessions, the newest first.

use serde_json::json;
use session_tree::{Node, Session, excerpt};
use session_view::{Query, Search};
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::arguments::{Branches, SearchArguments};
use super::library::{Library, reference, words};
use super::text;

/// How much of an entry is shown, in bytes.
const EXCERPT: usize = 240;

pub(super) fn run(
    library: &Library,
    wanted: &SearchArguments,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let query = query(wanted)?;
    let mut answer = Answer::new("hits", wanted.page);
    let remark = library.each(wanted.project.as_deref(), cancel, |summary, session| {
        for node in hits(session, &query)?.into_iter().rev() {
            let state = text::state(session, node);
            let fits = match wanted.branch {
                Branches::All => true,
                Branches::Active => state == "active",
                Branches::Abandoned => state == "abandoned",
            };
            if !fits || answer.skips() {
                continue;
            }
            let entry = session.entry_at(node).map_err(words)?;
            answer.push(&json!({
                "reference": reference(&summary.id, entry.id()),
                "time": entry.timestamp().to_string(),
                "kind": text::kind(session, node),
                "state": state,
                "project": summary.cwd,
                "text": around(&text::full(&entry), &query),
            }));
            if answer.is_full() {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    if let Some(remark) = remark {
        answer.field("incomplete", remark);
    }
    Ok(answer.finish())
}

/// Returns the entries of a session that match, in the order of the file.
pub(super) fn hits(session: &Session, query: &Query) -> Result<Vec<Node>, String> {
    let mut search = Search::new(session, query.clone());
    search.run(session).map_err(words)?;
    Ok(search.hits(session))
}

/// Puts the query together: the conditions first, because `re:` takes all that follows.
fn query(wanted: &SearchArguments) -> Result<Query, String> {
    let conditions =
        [("role", &wanted.role), ("tool", &wanted.tool), ("file", &wanted.file), ("after", &wanted.since)];
    let mut text = String::new();
    for (name, value) in conditions {
        if let Some(value) = value {
            text.push_str(&condition(name, value)?);
        }
    }
    text.push_str(&wanted.query);
    let query = Query::parse_strict(&text).map_err(|error| error.to_string())?;
    match query.is_empty() {
        true => Err("`search` needs a query or a condition".to_owned()),
        false => Ok(query),
    }
}

/// Writes a condition of a query.
pub(super) fn condition(name: &str, value: &str) -> Result<String, String> {
    match value.contains('"') || value.is_empty() {
        true => Err(format!("the value of `{name}` is empty or contains a quotation mark")),
        false => Ok(format!("{name}:\"{value}\" ")),
    }
}

/// Returns the part of a text around the first match.
fn around(text: &str, query: &Query) -> String {
    let at = query.highlights(text).first().map_or(0, |range| range.start);
    let start = text::boundary(text, at.saturating_sub(EXCERPT / 3));
    let before = if start > 0 { "…" } else { "" };
    format!("{before}{}", excerpt(&text[start..], EXCERPT))
}

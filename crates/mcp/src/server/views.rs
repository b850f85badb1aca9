//! The tools that show one session, and the list of sessions.

use serde::Serialize;
use serde_json::{Value as Json, json};
use session_tree::{EntryId, Node, Session, SessionQuery, SessionSummary, estimate_tokens, excerpt};
use session_view::{Filter, Outline, OutlineOptions, Query, Side, compare, iter_branches};
use tokio_util::sync::CancellationToken;

use super::answer::{Answer, budget};
use super::arguments::{
    BranchesArguments, ContextArguments, DiffArguments, Page, ReadArguments, SessionsArguments, TreeArguments,
};
use super::library::{Library, reference, resolve, words};
use super::text;

/// The longest text of a row, in bytes.
const ROW_TEXT: usize = 200;
/// The longest text of a message of a context.
const MESSAGE_TEXT: usize = 400;
/// The longest resource.
const MAX_RESOURCE: usize = 256 << 10;

#[derive(Serialize)]
struct SessionRow<'a> {
    session: &'a str,
    text: String,
    project: &'a str,
    modified: String,
    messages: u64,
    branches: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<String>,
}

pub(super) fn sessions(
    library: &Library,
    wanted: &SessionsArguments,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let query = SessionQuery::parse_strict(&wanted.query).map_err(|error| error.to_string())?;
    let catalogs = (library.catalogs)()?;
    let matches = |row: &SessionSummary| {
        let text = || catalogs.iter().find_map(|catalog| catalog.text(&row.path).ok());
        let by_text = || query.asks_for_text().then(|| query.matches(row, text().as_deref())).flatten();
        query.is_empty() || query.matches(row, None).or_else(by_text).is_some()
    };
    let mut answer = Answer::new("sessions", wanted.page);
    for row in library.summaries(wanted.project.as_deref())? {
        if cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        if answer.is_full() {
            break;
        }
        if !matches(&row) || answer.skips() {
            continue;
        }
        answer.push(&SessionRow {
            session: &row.id,
            text: excerpt(row.title(), ROW_TEXT),
            project: &row.cwd,
            modified: row.modified.to_string(),
            messages: row.message_count,
            branches: row.tip_count,
            damage: row.damage.as_ref().map(ToString::to_string),
        });
    }
    Ok(answer.finish())
}

#[derive(Serialize)]
struct TreeRow {
    entry: EntryId,
    indent: usize,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    state: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    leaf: bool,
}

pub(super) fn tree(
    library: &Library,
    wanted: &TreeArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let session = library.open(&wanted.session)?;
    let filter = match wanted.filter.as_deref() {
        None => Filter::Default,
        Some(name) => Filter::from_name(name).ok_or_else(|| unknown_filter(name))?,
    };
    let mut outline = Outline::new(&session, OutlineOptions { filter, ..OutlineOptions::default() });
    if let Some(query) = &wanted.query {
        Query::parse_strict(query).map_err(|error| error.to_string())?;
        outline.set_query(&session, query).and_then(|_| outline.search_all(&session)).map_err(words)?;
    }
    let mut answer = Answer::new("rows", wanted.page);
    answer.field("session", session.header().id());
    for at in 0..outline.len() {
        if answer.is_full() {
            break;
        }
        let is_deep =
            wanted.depth.is_some_and(|depth| outline.shape(at).is_some_and(|shape| shape.indent > depth));
        if is_deep || answer.skips() {
            continue;
        }
        let Some(row) = outline.bare_row(&session, at).map_err(words)? else { break };
        answer.push(&TreeRow {
            state: if row.on_path { "active" } else { "abandoned" },
            entry: row.id,
            indent: row.indent,
            text: excerpt(&row.text, ROW_TEXT),
            label: row.label.map(|label| label.text),
            leaf: row.is_leaf || row.leaf_below,
        });
    }
    Ok(answer.finish())
}

fn unknown_filter(name: &str) -> String {
    let names: Vec<&str> = Filter::ALL.iter().map(|filter| filter.name()).collect();
    format!("there is no filter `{name}`; the filters are: {}", names.join(", "))
}

#[derive(Serialize)]
struct EntryRow {
    entry: EntryId,
    time: String,
    kind: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    text: String,
}

impl EntryRow {
    fn of(session: &Session, node: Node, text: String) -> Self {
        let tree = session.tree();
        EntryRow {
            entry: tree.id(node),
            time: tree.timestamp(node).to_string(),
            kind: text::kind(session, node),
            state: text::state(session, node),
            label: session.label(node).map(|label| label.text.clone()),
            text,
        }
    }
}

pub(super) fn read(
    library: &Library,
    wanted: &ReadArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let session = library.open(&wanted.session)?;
    let last = resolve(&session, wanted.entry.as_deref())?;
    let nodes = match wanted.from.as_deref() {
        None => vec![last],
        Some(from) => range(&session, resolve(&session, Some(from))?, last)?,
    };
    let page = Page { limit: Some(nodes.len()), skip: 0, max_bytes: wanted.max_bytes };
    let mut answer = Answer::new("entries", page);
    answer.field("session", session.header().id());
    let id = |node: Node| session.tree().id(node);
    for (at, node) in nodes.iter().enumerate() {
        let text = text::full(&session.entry_at(*node).map_err(words)?);
        let start = if at == 0 { text::boundary(&text, wanted.offset) } else { 0 };
        let row = EntryRow::of(&session, *node, String::new());
        let (part, end) = fitting(&text, start, &row, answer.left());
        if part.is_empty() && !text[start..].is_empty() {
            return Ok(answer.finish_with(Some(json!({"from": id(*node), "entry": id(last)}))));
        }
        answer.push(&EntryRow { text: part, ..row });
        if end < text.len() {
            let next = json!({"from": id(*node), "entry": id(last), "offset": end});
            return Ok(answer.finish_with(Some(next)));
        }
    }
    Ok(answer.finish_with(None))
}

/// Returns the nodes of the path from one entry down to another.
fn range(session: &Session, first: Node, last: Node) -> Result<Vec<Node>, String> {
    let tree = session.tree();
    if !tree.is_on_path(first, last) {
        return Err(format!("{} is not on the path to {}", tree.id(first), tree.id(last)));
    }
    Ok(tree.path(last).into_iter().skip_while(|node| *node != first).collect())
}

/// Returns the part of a text from `start` on that fits beside the rest of a row, and where it ends.
fn fitting(text: &str, start: usize, row: &EntryRow, left: usize) -> (String, usize) {
    let room = left.saturating_sub(serde_json::to_string(row).map_or(0, |row| row.len()) + 2);
    let mut end = text::boundary(text, start.saturating_add(room));
    // Escapes make a text longer.
    while end > start {
        let length = Json::from(&text[start..end]).to_string().len();
        if length <= room {
            break;
        }
        let excess = (length - room).max(1);
        end = text::boundary(text, end.saturating_sub(excess).max(start));
    }
    (text[start..end].to_owned(), end)
}

pub(super) fn branches(
    library: &Library,
    wanted: &BranchesArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let session = library.open(&wanted.session)?;
    let mut answer = Answer::new("branches", wanted.page);
    answer.field("session", session.header().id());
    for (at, branch) in iter_branches(&session).map_err(words)?.enumerate() {
        if answer.is_full() {
            break;
        }
        if answer.skips() {
            continue;
        }
        let branch = branch.map_err(words)?;
        let state = match (branch.is_current, &branch.merged_into_id) {
            (true, _) => "active",
            (false, Some(_)) => "merged",
            (false, None) => "abandoned",
        };
        let mut row = serde_json::to_value(&branch).unwrap_or_default();
        row["branch"] = format!("branch:{}", at + 1).into();
        row["name"] = excerpt(&branch.name, ROW_TEXT).into();
        row["from"] = branch.from.as_deref().map(|from| excerpt(from, ROW_TEXT)).into();
        row["state"] = state.into();
        if let Some(row) = row.as_object_mut() {
            row.retain(|_, value| !matches!(value, Json::Null | Json::Bool(false)));
        }
        answer.push(&row);
    }
    Ok(answer.finish())
}

pub(super) fn context(
    library: &Library,
    wanted: &ContextArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let session = library.open(&wanted.session)?;
    let node = resolve(&session, wanted.entry.as_deref())?;
    let position = session.position_of(node).map_err(words)?;
    let context = session.context_at(position).map_err(words)?;
    let mut answer = Answer::new("messages", wanted.page);
    answer.field("session", session.header().id());
    answer.field("count", context.items.len());
    answer.field("tokens", context.items.iter().map(|item| estimate_tokens(&item.message)).sum::<u64>());
    answer
        .field("model", context.model.as_ref().map(|model| format!("{}/{}", model.provider, model.model_id)));
    for item in &context.items {
        if answer.is_full() {
            break;
        }
        if answer.skips() {
            continue;
        }
        let text = excerpt(&text::of_message(item.message.value()), MESSAGE_TEXT);
        let entry = session.tree().id(item.source);
        answer.push(&json!({
            "entry": entry, "role": item.message.role().to_string(), "tokens": estimate_tokens(&item.message), "text": text,
        }));
    }
    Ok(answer.finish())
}

pub(super) fn diff(
    library: &Library,
    wanted: &DiffArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let session = library.open(&wanted.session)?;
    let (one, other) = (resolve(&session, Some(&wanted.one))?, resolve(&session, wanted.other.as_deref())?);
    let comparison = compare(&session, one, other).map_err(words)?;
    let budget = budget(wanted.max_bytes);
    // Lists become shorter until the answer fits.
    let mut rows = 64;
    loop {
        let side = |side: &Side| side_json(side, rows);
        let answer = json!({
            "session": session.header().id(),
            "base": comparison.base,
            "sides": comparison.sides.each_ref().map(side),
            "filesInBoth": listed(&comparison.files_in_both, rows, |file| json!(excerpt(file, ROW_TEXT))),
            "changedByBoth": listed(&comparison.contested_files, rows, |file| json!(excerpt(file, ROW_TEXT))),
        });
        let text = answer.to_string();
        if text.len() <= budget || rows == 0 {
            return Ok(text);
        }
        rows /= 2;
    }
}

fn side_json(side: &Side, rows: usize) -> Json {
    let files = |files: Vec<&str>| listed(&files, rows, |file| json!(excerpt(file, ROW_TEXT)));
    json!({
        "at": side.at,
        "entries": side.entries.len(),
        "prompts": listed(&side.prompts, rows, |prompt| json!({"entry": prompt.id, "text": excerpt(&prompt.text, ROW_TEXT)})),
        "changed": files(side.files.modified_files()),
        "read": files(side.files.read_files()),
        "commands": listed(&side.commands, rows, |run| json!({
            "entry": run.id, "tool": run.tool, "text": excerpt(&run.argument, 80), "outcome": run.outcome,
        })),
        "endsWith": side.ends_with.as_deref().map(|text| excerpt(text, ROW_TEXT)),
    })
}

/// Returns the first rows of a list, and the number of the others.
fn listed<T>(list: &[T], rows: usize, show: impl Fn(&T) -> Json) -> Json {
    let mut shown: Vec<Json> = list.iter().take(rows).map(show).collect();
    if list.len() > rows {
        shown.push(format!("… and {} more", list.len() - rows).into());
    }
    shown.into()
}

/// Reads `session://ID/ENTRY`, or `session://ID` for the outline of a session.
pub(super) fn resource(library: &Library, uri: &str) -> Result<String, String> {
    let path =
        uri.strip_prefix("session://").ok_or_else(|| format!("`{uri}` is not a `session://` address"))?;
    let (id, entry) = path.split_once('/').unwrap_or((path, ""));
    if entry.is_empty() {
        let page = Page { limit: Some(usize::MAX), skip: 0, max_bytes: Some(MAX_RESOURCE) };
        let wanted = TreeArguments { session: id.to_owned(), filter: None, query: None, depth: None, page };
        return tree(library, &wanted, &CancellationToken::new());
    }
    let session = library.open(id)?;
    let node = resolve(&session, Some(entry))?;
    let text = text::full(&session.entry_at(node).map_err(words)?);
    let mut row = json!(EntryRow::of(&session, node, String::new()));
    row["reference"] = reference(&session.header().id(), session.tree().id(node));
    row["parent"] = json!(session.tree().parent(node).map(|parent| session.tree().id(parent)));
    row["text"] = text[..text::boundary(&text, MAX_RESOURCE)].into();
    Ok(row.to_string())
}

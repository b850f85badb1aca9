//! Sessions that an extension opens beside the agent's: files, and those in memory.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use session_tree::journal::MemoryJournal;
use session_tree::{
    Catalog, Destination, Draft, Extract, NewSession, Options, Position, Session, SessionSummary, fork_from,
};

use super::{Answer, json as spelled, said, session, text, trusted, unknown};
use crate::engine::Shared;
use crate::extension::given;

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    let host = &shared.setting.host;
    let options = || (host.options)();
    match name {
        // Reads nothing but its argument.
        "context" => return of_entries(arguments, session::context_at),
        "migrated" => return of_entries(arguments, |session, _| session::entries(session)),
        _ => trusted(shared, "sessions")?,
    }
    let catalog = || -> Result<Catalog, String> {
        match arguments["dir"].as_str() {
            Some(dir) => Ok(Catalog::new(host.cwd.join(dir)).flat()),
            None => host.catalog.clone().ok_or_else(|| "this program stores no sessions".to_owned()),
        }
    };
    let cwd =
        || arguments["cwd"].as_str().map_or_else(|| host.cwd.to_string_lossy().into_owned(), str::to_owned);
    let directory = || -> Result<PathBuf, String> {
        match arguments["dir"].as_str() {
            Some(dir) => Ok(host.cwd.join(dir)),
            None => Ok(catalog()?.project_dir(&cwd())),
        }
    };
    let path = || Ok::<_, String>(host.cwd.join(text(arguments, "path")?));
    let opened = match name {
        "create" => options().create_in(directory()?, new_session(arguments, cwd())).map_err(said)?,
        "open" => {
            let path = path()?;
            super::refuse_secret(shared, &path).map_err(|_| {
                format!("{} holds credentials, which extensions may not touch", path.display())
            })?;
            options().open_or_create(path, cwd()).map_err(said)?
        }
        "inMemory" => in_memory(options(), arguments, cwd())?,
        "continueRecent" => match catalog()?.most_recent(&cwd()) {
            Some(row) => options().open(row.path).map_err(said)?,
            None => options().create_in(directory()?, cwd()).map_err(said)?,
        },
        "forkFrom" => {
            let to = Destination::Directory(directory()?);
            let id = given(arguments, "id").and_then(Json::as_str).map(str::to_owned);
            fork_from(&path()?, &cwd(), to, options(), id).map_err(said)?
        }
        "branched" => return branched(shared, arguments, options()),
        "list" => return listed(catalog()?.list(&cwd()).rows()),
        "listAll" => return listed(catalog()?.list_all().rows()),
        "find" => {
            let found = catalog()?.find(text(arguments, "id")?, Some(&cwd()));
            return spelled(found.ok().map(|path| path.to_string_lossy().into_owned()));
        }
        "directory" => return spelled(directory()?.to_string_lossy()),
        "close" => {
            host.sessions.close(arguments["session"].as_u64().unwrap_or_default());
            return spelled(Json::Null);
        }
        _ => return unknown("sessions", name),
    };
    spelled(host.sessions.add(&shared.setting.handle, opened)?)
}

fn new_session(arguments: &Json, cwd: String) -> NewSession {
    let field = |name: &str| given(arguments, name).and_then(Json::as_str).map(str::to_owned);
    NewSession { cwd, id: field("id"), parent_session: field("parentSession") }
}

/// Makes a session in memory, of entries if there are any.
fn in_memory(options: Options, arguments: &Json, cwd: String) -> Result<Session, String> {
    match arguments["entries"].as_array() {
        Some(entries) if !entries.is_empty() => opened(options, entries, &cwd),
        _ => options.in_memory(new_session(arguments, cwd)).map_err(said),
    }
}

/// Opens entries that are spelled out as a session.
fn opened(options: Options, entries: &[Json], cwd: &str) -> Result<Session, String> {
    let mut lines = String::new();
    if entries.first().is_none_or(|first| first["type"] != "session") {
        let time = "1970-01-01T00:00:00.000Z";
        let header = json!({"type": "session", "version": 3, "id": "entries", "timestamp": time, "cwd": cwd});
        lines.push_str(&format!("{header}\n"));
    }
    for entry in entries {
        lines.push_str(&format!("{entry}\n"));
    }
    options.open_journal(MemoryJournal::from_bytes(lines.into_bytes())).map_err(said)
}

/// Answers a question about entries that are spelled out, at their leaf or another entry.
fn of_entries(arguments: &Json, work: impl Fn(&Session, Position) -> Answer) -> Answer {
    let entries = arguments["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    let session = opened(Options::new(), entries, "")?;
    let position = match arguments.get("leaf") {
        Some(Json::String(id)) => Position::from(id.as_str()),
        Some(Json::Bool(false)) => Position::Start,
        _ => Position::Leaf,
    };
    work(&session, position)
}

/// Makes a session of the path to an entry, beside the session of the entry. Answers with the file.
fn branched(shared: &Shared, arguments: &Json, options: Options) -> Answer {
    let (sessions, id) = (&shared.setting.host.sessions, arguments["session"].as_u64().unwrap_or_default());
    let made = sessions.with(id, |session| {
        let leaf = text(arguments, "id")?;
        let at = session.tree().node(leaf).ok_or_else(|| format!("no entry {leaf} in this session"))?;
        let plan = session.plan_extract(Extract::Path { at }).map_err(said)?;
        let to = match session.file().and_then(Path::parent) {
            Some(directory) => Destination::Directory(directory.to_owned()),
            None => Destination::Memory,
        };
        session.extract(&plan, to, options).map_err(said)
    })??;
    let file = made.file().map(|file| file.to_string_lossy().into_owned());
    sessions.replace(id, made);
    spelled(file)
}

fn listed(rows: Vec<SessionSummary>) -> Answer {
    let rows = rows.into_iter().filter(SessionSummary::is_session);
    spelled(rows.map(|row| {
        json!({
            "path": row.path.to_string_lossy(), "id": row.id, "cwd": row.cwd, "name": row.name,
            "parentSessionPath": row.parent_session, "created": row.created.unwrap_or(row.modified).as_millis(),
            "modified": row.modified.as_millis(), "messageCount": row.message_count,
            "firstMessage": row.first_message.clone().unwrap_or_else(|| "(no messages)".to_owned()),
            "allMessagesText": row.first_message.unwrap_or_default(),
        })
    }).collect::<Vec<_>>())
}

/// Appends any entry to a session of the extension.
pub(super) fn append(session: &mut Session, arguments: &Json) -> Answer {
    let draft = Draft::parse(arguments["draft"].to_string()).map_err(said)?;
    let parent = given(arguments, "parent").and_then(Json::as_str);
    let appended = session.append_under(parent.map_or(Position::Leaf, Position::from), draft);
    spelled(appended.map_err(said)?.to_string())
}

//! The sessions that a server offers: found by id or name, opened to be read, and changed through commands of the program.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use session_tree::{Catalog, Error, Options, Session, SessionSummary};
use tokio_util::sync::CancellationToken;

use super::arguments::{ForkArguments, LabelArguments, NoteArguments};

/// How long one call looks through sessions.
const PATIENCE: Duration = Duration::from_secs(20);

/// The sessions that a server offers.
pub struct Library {
    /// Returns the catalogs in which sessions are searched, the most important first.
    pub catalogs: Box<dyn Fn() -> Result<Vec<Catalog>, String> + Send + Sync>,
    /// Returns how sessions are opened.
    pub options: Box<dyn Fn() -> Options + Send + Sync>,
    /// The working directory: sessions of this project are found by name first.
    pub cwd: String,
    /// Changes sessions; without it they are only read.
    pub writer: Option<Writer>,
}

/// Runs a command of the program that changes a session, and returns its result as JSON.
pub type Writer = Box<dyn Fn(Write) -> Result<String, String> + Send + Sync>;

/// A change of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The id of the session.
    pub session: String,
    /// The name of the command: `fork`, `label`, `note`.
    pub command: &'static str,
    /// The options of the command.
    pub options: Vec<&'static str>,
    /// The arguments of the command after the session; none of them is an option.
    pub arguments: Vec<String>,
}

impl Library {
    pub(super) fn can_write(&self) -> bool {
        self.writer.is_some()
    }

    /// Lists the sessions of a project or of all, the latest first.
    pub(super) fn summaries(&self, project: Option<&str>) -> Result<Vec<SessionSummary>, String> {
        let mut found: Vec<SessionSummary> = Vec::new();
        for catalog in (self.catalogs)()? {
            let rows = catalog.list_all().rows().into_iter();
            found.extend(
                rows.filter(|row| {
                    row.is_session() && project.is_none_or(|project| row.cwd.contains(project))
                }),
            );
        }
        found.sort_by_key(|row| std::cmp::Reverse(row.modified));
        Ok(found)
    }

    /// Opens a session to read it. Paths are refused: a client may read sessions, not files.
    pub(super) fn open(&self, wanted: &str) -> Result<Session, String> {
        if wanted.contains(['/', '\\']) {
            return Err("`session` is an id, the beginning of one, or a name, not a path".to_owned());
        }
        for catalog in (self.catalogs)()? {
            match catalog.find(wanted, Some(&self.cwd)) {
                Err(Error::UnknownSession { .. }) => {}
                found => return found.and_then(|path| (self.options)().open_read_only(path)).map_err(words),
            }
        }
        Err(format!("there is no session `{wanted}`; the tool `sessions` lists them"))
    }

    /// Opens sessions one after the other until `each` returns false. Returns a remark if not all of them were opened.
    pub(super) fn each(
        &self,
        project: Option<&str>,
        cancel: &CancellationToken,
        mut each: impl FnMut(&SessionSummary, &Session) -> Result<bool, String>,
    ) -> Result<Option<String>, String> {
        let (summaries, started) = (self.summaries(project)?, Instant::now());
        for (at, summary) in summaries.iter().enumerate() {
            if cancel.is_cancelled() {
                return Err("cancelled".to_owned());
            }
            if started.elapsed() > PATIENCE {
                let total = summaries.len();
                return Ok(Some(format!(
                    "only {at} of {total} sessions were searched; `project` or `since` narrow it"
                )));
            }
            // A session that cannot be read does not hide the others.
            let Ok(session) = (self.options)().open_read_only(&summary.path) else { continue };
            if !each(summary, &session)? {
                break;
            }
        }
        Ok(None)
    }

    fn write(&self, write: Write) -> Result<String, String> {
        let writer = self.writer.as_ref().ok_or("this server only reads")?;
        let session = self.open(&write.session)?.header().id().into_owned();
        writer(Write { session, ..write })
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("cwd", &self.cwd)
            .field("can_write", &self.can_write())
            .finish_non_exhaustive()
    }
}

/// Writes an error of the engine with its causes.
#[expect(clippy::needless_pass_by_value, reason = "used in map_err")]
pub(super) fn words(error: Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// Finds the entry that a reference names; the default is the leaf.
pub(super) fn resolve(session: &Session, reference: Option<&str>) -> Result<session_tree::Node, String> {
    let reference = reference.unwrap_or("leaf");
    // A reference of an answer names its session, too.
    let reference = match session_view::split_reference(reference) {
        (Some(id), entry) if id == session.header().id() => entry,
        _ => reference,
    };
    session_view::resolve(session, reference).map_err(words)
}

/// Returns the id of the entry that a reference names.
fn entry(library: &Library, session: &str, reference: &str) -> Result<String, String> {
    let session = library.open(session)?;
    let node = resolve(&session, Some(reference))?;
    Ok(session.tree().id(node).to_string())
}

pub(super) fn fork(
    library: &Library,
    wanted: &ForkArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let arguments = match &wanted.entry {
        Some(reference) => vec![entry(library, &wanted.session, reference)?],
        None => Vec::new(),
    };
    library.write(Write {
        session: wanted.session.clone(),
        command: "fork",
        options: vec!["--stay"],
        arguments,
    })
}

pub(super) fn label(
    library: &Library,
    wanted: &LabelArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let id = entry(library, &wanted.session, &wanted.entry)?;
    let (options, arguments) = match &wanted.label {
        Some(label) => (Vec::new(), vec![id, label.clone()]),
        None => (vec!["--delete"], vec![id]),
    };
    library.write(Write { session: wanted.session.clone(), command: "label", options, arguments })
}

pub(super) fn note(
    library: &Library,
    wanted: &NoteArguments,
    _: &CancellationToken,
) -> Result<String, String> {
    let arguments = vec![wanted.text.clone()];
    library.write(Write { session: wanted.session.clone(), command: "note", options: Vec::new(), arguments })
}

/// Returns `SESSION:ENTRY`.
pub(super) fn reference(session: &str, entry: impl fmt::Display) -> Json {
    format!("{session}:{entry}").into()
}

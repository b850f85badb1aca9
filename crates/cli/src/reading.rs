//! Reads one session, several sessions, or a list of them from standard input.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead};

use offshoot_tui::time::Local;
use serde::Serialize;
use session_tree::Session;

use crate::app::App;
use crate::database;
use crate::error::{CommandError, Failure};
use crate::ui::{Progress, Tone};

/// Opens a session.
type Open = fn(&App, &OsStr) -> Result<Session, CommandError>;

/// The function that reads a session and prints the result.
type Read<'r> = &'r mut dyn FnMut(&mut App, &Session) -> Result<(), CommandError>;

// The sessions a command reads. (A documentation comment would replace the help of the command.)
#[derive(Debug, clap::Args)]
pub(crate) struct Sessions {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project, which is
    /// the default.
    #[arg(value_name = "SESSION", conflicts_with = "batch")]
    sessions: Vec<OsString>,
    #[command(flatten)]
    pub(crate) output: Output,
}

// A session that a command reads, and an entry of it.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionAt {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project, which is
    /// the default.
    #[arg(value_name = "SESSION")]
    session: Option<OsString>,
    /// An entry: an id or a prefix of it, `@label`, `branch:2`, `leaf~1`, `root`; the default is the leaf.
    #[arg(value_name = "REF")]
    at: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

// The output options of a reading command.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Output {
    /// Print JSON: one value, or one line for each of several sessions.
    #[arg(long)]
    pub(crate) json: bool,
    /// Read the sessions from standard input, one per line.
    #[arg(long)]
    pub(crate) batch: bool,
}

impl SessionAt {
    /// Returns the entry, which comes first if the sessions come from standard input.
    pub(crate) fn at(&self) -> Option<&str> {
        if self.output.batch { self.session.as_ref().and_then(|at| at.to_str()) } else { self.at.as_deref() }
    }

    /// Calls `read` with the session, or with every session of standard input.
    pub(crate) fn each(&self, app: &mut App, read: Read<'_>) -> Result<(), CommandError> {
        self.each_opened(|app, name| app.open(name), app, read)
    }

    /// Calls `read` with the session, or with every one of standard input, of which only the path to the leaf is needed
    /// unless an entry is given.
    pub(crate) fn each_path(&self, app: &mut App, read: Read<'_>) -> Result<(), CommandError> {
        match self.at() {
            None => self.each_opened(|app, name| app.open_path(name), app, read),
            Some(_) => self.each(app, read),
        }
    }

    fn each_opened(&self, open: Open, app: &mut App, read: Read<'_>) -> Result<(), CommandError> {
        let session = self.session.as_ref().filter(|_| !self.output.batch);
        each(session.map(std::slice::from_ref).unwrap_or_default(), self.output, open, app, read)
    }
}

impl Sessions {
    /// Calls `read` with every session.
    pub(crate) fn each(&self, app: &mut App, read: Read<'_>) -> Result<(), CommandError> {
        each(&self.sessions, self.output, |app, name| app.open(name), app, read)
    }
}

/// Reads the sessions in order. A failed one does not stop the others, unless it is the only one.
fn each(
    names: &[OsString],
    output: Output,
    open: Open,
    app: &mut App,
    read: Read<'_>,
) -> Result<(), CommandError> {
    if names.len() < 2 && !output.batch {
        let session = open(app, names.first().map_or("-".as_ref(), OsString::as_os_str))?;
        return read(app, &session);
    }
    let mut outcome = Outcome::default();
    if output.batch {
        each_line(app, &mut |app, name| outcome.one(name.as_ref(), output, open, app, read))?;
        return outcome.end();
    }
    let mut progress = Progress::new("reading", names.len());
    for (at, name) in names.iter().enumerate() {
        outcome.one(name.as_ref(), output, open, app, read)?;
        progress.set(at + 1, names.len());
    }
    outcome.end()
}

/// Calls `one` with every name on standard input, one per line.
pub(crate) fn each_line(
    app: &mut App,
    one: &mut dyn FnMut(&mut App, &str) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let (mut input, mut line) = (io::stdin().lock(), Vec::new());
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| CommandError::system("read", "standard input".as_ref(), &error))? == 0 {
            return Ok(());
        }
        // Invalid UTF-8 names no session; it is reported, and the others follow.
        let name = String::from_utf8_lossy(&line);
        if !name.trim().is_empty() {
            one(app, name.trim())?;
            // The writer may wait for the answer before it sends the next line.
            app.ui.flush()?;
        }
    }
}

/// The JSON of a session that could not be read.
#[derive(Debug, Serialize)]
struct FailedSession<'f> {
    session: &'f str,
    error: &'f Failure,
}

/// The outcome of reading several sessions.
#[derive(Debug, Default)]
struct Outcome {
    seen: usize,
    failed: bool,
}

impl Outcome {
    fn one(
        &mut self,
        name: &OsStr,
        output: Output,
        open: Open,
        app: &mut App,
        read: Read<'_>,
    ) -> Result<(), CommandError> {
        let text = database::shown(name);
        if !output.json {
            let gap = if self.seen > 0 { "\n" } else { "" };
            app.ui.raw(gap.as_bytes())?;
            app.ui.line(&[(Tone::Dim, "==> "), (Tone::Plain, &*text), (Tone::Dim, " <==")])?;
        }
        self.seen += 1;
        app.ui.set_json_session(Some(text.clone().into_owned()));
        let outcome = open(app, name).and_then(|session| read(app, &session));
        app.ui.set_json_session(None);
        let error = match outcome {
            Ok(()) => return Ok(()),
            Err(error @ CommandError::BrokenPipe) => return Err(error),
            Err(error) => error,
        };
        self.failed = true;
        match error.failure() {
            None => Ok(()),
            Some(error) if output.json => app.ui.json(&FailedSession { session: &text, error }),
            Some(failure) => {
                app.ui.error(&failure.about(&text), &failure.hints);
                Ok(())
            }
        }
    }

    fn end(self) -> Result<(), CommandError> {
        if self.failed { Err(CommandError::Several) } else { Ok(()) }
    }
}

/// Replaces dates in words (`since:yesterday`, `before:3d`) in a query by times; `since:` is `after:`.
pub(crate) fn with_dates(query: &str, app: &App) -> String {
    let local = Local { now: app.env.now(), zone: app.env.zone() };
    let word = |word: &str| match word.split_once(':') {
        Some((name @ ("before" | "after" | "since"), date)) => {
            let name = if name == "before" { "before" } else { "after" };
            let time = local.named(&date.to_lowercase()).map(|time| time.to_string());
            format!("{name}:{}", time.as_deref().unwrap_or(date))
        }
        _ => word.to_owned(),
    };
    query.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

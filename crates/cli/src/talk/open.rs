//! Chooses the session of a conversation.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use session_tree::{Destination, Extract, Session, Severity, fork_from};
use session_view::split_reference;

use crate::app::App;
use crate::change::quoted;
use crate::database;
use crate::error::CommandError;
use crate::ui::count;

/// The session to continue; the default is a new one.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Continue the latest session of this project.
    #[arg(long = "continue", short = 'c', group = "which")]
    latest: bool,
    /// Choose a session from a list and continue it.
    #[arg(long, short, group = "which")]
    pub(super) resume: bool,
    /// Continue this session.
    #[arg(long, value_name = "SESSION", group = "which")]
    session: Option<OsString>,
    /// Continue in a copy of this session, or of its path to an entry: `SESSION:REF`.
    #[arg(long, value_name = "SESSION[:REF]", group = "which")]
    fork: Option<String>,
    /// Save nothing.
    #[arg(long, group = "which")]
    no_session: bool,
    /// The name of the session.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
}

impl Args {
    /// Names the session, if a name was given.
    pub(super) fn name(&self, session: &mut Session) -> Result<(), CommandError> {
        if let Some(name) = &self.name {
            session.append_session_info(name)?;
        }
        Ok(())
    }

    /// Opens or creates the session.
    pub(super) fn open(&self, app: &mut App) -> Result<Session, CommandError> {
        let cwd = app.env.cwd()?;
        let session = self.find(&cwd, app)?;
        tell_other_place(&session, &cwd, app)?;
        if let Some(damage) = damage(&session) {
            app.ui.tell(&format!("note: {damage}"))?;
        }
        Ok(session)
    }

    fn find(&self, cwd: &str, app: &mut App) -> Result<Session, CommandError> {
        if self.no_session {
            return Ok(app.options().in_memory(cwd)?);
        }
        if self.latest {
            return app.open_to_change("-", false);
        }
        if let Some(wanted) = &self.session {
            // The address of a database without a session begins a new one there.
            let database = database::address(wanted).map(|address| app.databases.add(address, &app.env));
            return match database.transpose()?.filter(|path| app.databases.is_database(path)) {
                Some(database) => Ok(app.options().create_in(database, cwd)?),
                None => app.open_to_change(wanted, false),
            };
        }
        let directory = app.catalog()?.project_dir(cwd);
        match &self.fork {
            Some(wanted) => fork(wanted, directory, cwd, app),
            None => Ok(app.options().create_in(directory, cwd)?),
        }
    }
}

/// Reports that a session names another directory, which is not used.
fn tell_other_place(session: &Session, cwd: &str, app: &mut App) -> Result<(), CommandError> {
    match session.header().cwd().filter(|made| !made.is_empty() && *made != cwd) {
        Some(made) => app.ui.tell(&format!("note: this session was made in {made}; tools work in {cwd}")),
        None => Ok(()),
    }
}

/// Returns a warning about unreadable lines of a session, with a suggestion.
pub(crate) fn damage(session: &Session) -> Option<String> {
    let found = session.diagnostics();
    let lines = found.iter().filter(|found| found.problem.severity() == Severity::Damage).count();
    let file = session.file().filter(|_| lines > 0)?;
    let lines = count(lines, "line");
    let file = quoted(&file.to_string_lossy());
    Some(format!(
        "{lines} of this session cannot be read, all others can; `offshoot check {file}` tells which"
    ))
}

/// Copies a session into this project, or a path of it beside the session.
fn fork(wanted: &str, directory: PathBuf, cwd: &str, app: &App) -> Result<Session, CommandError> {
    match split_reference(wanted) {
        (Some(session), reference) => {
            let session = app.open(session)?;
            let at = session_view::resolve(&session, reference)?;
            let own = session.header().cwd().map(|own| own.into_owned());
            let beside = session.file().filter(|file| database::is_address(file)).and_then(Path::parent);
            let directory = match beside {
                Some(database) => database.to_path_buf(),
                None => app.catalog()?.project_dir(own.as_deref().unwrap_or(cwd)),
            };
            let to = Destination::Directory(directory);
            let plan = session.plan_extract(Extract::Path { at })?;
            Ok(session.extract(&plan, to, app.options())?)
        }
        (None, session) => {
            let source = app.find(session)?;
            let beside = source.parent().filter(|_| database::is_address(&source)).map(Path::to_path_buf);
            let to = Destination::Directory(beside.unwrap_or(directory));
            Ok(fork_from(&source, cwd, to, app.options(), None)?)
        }
    }
}

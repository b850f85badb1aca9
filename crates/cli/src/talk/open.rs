//! Which session a conversation goes on in.

use session_tree::{Destination, Extract, Session, fork_from, split_reference};

use crate::app::App;
use crate::error::CommandError;

/// Which session to talk in; a new one if nothing is said.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Go on with the latest session of this project.
    #[arg(long = "continue", short = 'c', group = "which")]
    latest: bool,
    /// Go on with this session.
    #[arg(long, value_name = "SESSION", group = "which")]
    session: Option<String>,
    /// Go on in a copy of this session, or of its path to an entry: `SESSION:REF`.
    #[arg(long, value_name = "SESSION[:REF]", group = "which")]
    fork: Option<String>,
    /// Keep nothing.
    #[arg(long, group = "which")]
    no_session: bool,
    /// The name of the session.
    #[arg(long, value_name = "TEXT")]
    pub(super) name: Option<String>,
}

impl Args {
    /// Tells whether anything was said.
    pub(super) fn is_used(&self) -> bool {
        self.latest || self.session.is_some() || self.fork.is_some() || self.no_session || self.name.is_some()
    }

    /// Opens or makes the session.
    pub(super) fn open(&self, app: &mut App) -> Result<Session, CommandError> {
        let cwd = app.cwd()?;
        if self.no_session {
            return Ok(app.options().in_memory(cwd.as_str())?);
        }
        if self.latest {
            return app.open_to_change("-", false);
        }
        if let Some(wanted) = &self.session {
            return app.open_to_change(wanted, false);
        }
        let directory = app.catalog()?.project_dir(&cwd);
        match &self.fork {
            Some(wanted) => fork(wanted, directory, &cwd, app),
            None => Ok(app.options().create_in(directory, cwd.as_str())?),
        }
    }
}

/// Copies a session into this project, or a path of it beside the session.
fn fork(wanted: &str, directory: std::path::PathBuf, cwd: &str, app: &App) -> Result<Session, CommandError> {
    match split_reference(wanted) {
        (Some(session), reference) => {
            let session = app.open(session)?;
            let at = session.resolve(reference)?;
            let own = session.header().cwd().map(|own| own.into_owned());
            let to = Destination::Directory(app.catalog()?.project_dir(own.as_deref().unwrap_or(cwd)));
            let plan = session.plan_extract(Extract::Path { at })?;
            Ok(session.extract(&plan, to, app.options())?)
        }
        (None, session) => {
            let to = Destination::Directory(directory);
            Ok(fork_from(&app.find(session)?, cwd, to, app.options(), None)?)
        }
    }
}

//! Commands that change a session: how `offshoot x`, `/x` in the chat and `-p '/x'` run one implementation.
//!
//! arguments -> **an agent with the extensions of the project** -> plan -> hooks -> apply -> [`Change`]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::Applied;
use offshoot_agent::event::Events;
use offshoot_agent::handle::{AgentHandle, Reply};
use session_tree::{Destination, EntryId, Session};

use super::SessionCommand;
use crate::app::{App, file_of};
use crate::change::{Change, Changing, SessionState};
use crate::database;
use crate::error::CommandError;
use crate::exporting::free;
use crate::extensions::{self, Extended, ExtensionFrontEnd, Sources};
use crate::setup::Setup;
use crate::talk::{self, waiting};
use crate::trust;

/// The result of a command.
pub(crate) type Outcome = Result<Change, CommandError>;

/// The parts that a command works with.
pub(crate) struct Work<'a> {
    /// The agent; its session is the one to change.
    pub(crate) agent: &'a AgentHandle,
    /// The other sessions, and the output.
    pub(crate) app: &'a mut App,
    /// True if the command only reports what it would do.
    pub(crate) dry_run: bool,
    /// True in the chat: a new session without a message needs no file yet.
    pub(crate) is_chat: bool,
    /// Cancels the command.
    pub(crate) cancel: &'a Cancel,
}

impl Work<'_> {
    /// Chooses a model if the agent has none: the one of the session or of the settings, or the offline model.
    pub(crate) async fn choose_model(&mut self) -> Result<(), CommandError> {
        if self.is_chat || self.agent.state().model.is_some() {
            return Ok(());
        }
        let setup = Setup::read(self.app, trust::Args::default())?.0;
        let choice = self.agent.read(|session| talk::choose_model(session, &setup, self.app))?;
        if let Some((model, level)) = choice {
            self.agent.restore_model(model, Some(level)).await?;
        }
        Ok(())
    }

    /// Waits for a change; fails if the user or an extension cancels it.
    pub(crate) async fn finish<T>(&self, reply: Reply<Applied<T>>) -> Result<T, CommandError> {
        match reply.unless(self.cancel).await? {
            Applied::Done(done) => Ok(done),
            Applied::Cancelled(by) => Err(by.into()),
        }
    }

    /// Returns the place of a session that is made from this one: a file that must not exist, or the directory of the
    /// project that the session belongs to.
    pub(crate) fn destination(&self, output: Option<&Path>) -> Result<Destination, CommandError> {
        if let Some(path) = output {
            return Ok(Destination::File(match database::address(path.as_os_str()) {
                Some(address) => self.app.databases.add(address, &self.app.env)?,
                None => free(path)?,
            }));
        }
        if let Some(database) = self.database() {
            return Ok(Destination::Directory(database));
        }
        self.agent.read(|session| match session.file() {
            None => Ok(Destination::Memory),
            Some(_) => Ok(Destination::Directory(project_directory(session, self.app)?)),
        })
    }

    /// Returns the database that holds the session; none for a file or in memory.
    pub(crate) fn database(&self) -> Option<PathBuf> {
        let parent = |file: &Path| Some(file.parent()?.to_path_buf()).filter(|_| database::is_address(file));
        self.agent.read(|session| session.file().and_then(parent))
    }

    /// Returns the leaf.
    pub(crate) fn leaf(&self) -> Option<EntryId> {
        self.agent.read(Session::leaf_id)
    }

    /// Returns the file of the session; empty if it has none.
    pub(crate) fn file(&self) -> String {
        self.agent.read(file_of)
    }

    /// Returns the file and the leaf of the session, for the JSON form of a change.
    pub(crate) fn state(&self) -> SessionState {
        self.agent.read(SessionState::of)
    }

    /// Returns the name of the session for messages: its file, or `this session` in the chat.
    pub(crate) fn session_name(&self) -> String {
        let file = self.file();
        if self.is_chat || file.is_empty() { "this session".to_owned() } else { file }
    }

    /// Writes the session, except in the chat, where the first message does it.
    pub(crate) fn save(&self) -> Result<(), CommandError> {
        if !self.is_chat {
            self.agent.save()?;
        }
        Ok(())
    }
}

/// Returns the directory for sessions of the project that a session belongs to.
pub(crate) fn project_directory(session: &Session, app: &App) -> Result<PathBuf, CommandError> {
    let cwd = session.header().cwd().filter(|cwd| !cwd.is_empty());
    let cwd = cwd.map_or_else(|| app.env.cwd(), |cwd| Ok(cwd.into_owned()))?;
    Ok(app.catalog()?.project_dir(&cwd))
}

// The arguments of `offshoot x` in addition to those of `/x`. (A documentation comment would replace the help of the
// command.)
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct OnLatest<A: clap::Args> {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project, which is the
    /// default.
    #[arg(value_name = "SESSION")]
    session: Option<OsString>,
    #[command(flatten)]
    pub(crate) args: A,
    #[command(flatten)]
    options: Options,
}

// The same for commands with only optional arguments, so that the session must be named.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct OnSession<A: clap::Args> {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    #[command(flatten)]
    pub(crate) args: A,
    #[command(flatten)]
    options: Options,
}

// The same for commands that need no session.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Alone<A: clap::Args> {
    #[command(flatten)]
    pub(crate) args: A,
    #[command(flatten)]
    options: Options,
}

// The options of every changing command on the command line.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
struct Options {
    #[command(flatten)]
    how: Changing,
    #[command(flatten, next_help_heading = "Extensions")]
    extensions: extensions::Args,
    #[command(flatten, next_help_heading = "Extensions")]
    trust: trust::Args,
}

impl<A: clap::Args> OnLatest<A> {
    /// Runs a command on the session that the command line names, or on the latest.
    pub(super) fn run(&self, command: &SessionCommand, app: &mut App) -> Result<(), CommandError> {
        self.options.run_on(self.session.as_deref().unwrap_or("-".as_ref()), command, app)
    }
}

impl<A: clap::Args> OnSession<A> {
    /// Runs a command on the session that the command line names.
    pub(super) fn run(&self, command: &SessionCommand, app: &mut App) -> Result<(), CommandError> {
        self.options.run_on(&self.session, command, app)
    }
}

impl<A: clap::Args> Alone<A> {
    /// Runs a command that creates a session.
    pub(super) fn run(&self, command: &SessionCommand, app: &mut App) -> Result<(), CommandError> {
        let session = app.options().in_memory(app.env.cwd()?)?;
        self.options.run(session, command, app)
    }
}

impl Options {
    fn run_on(&self, wanted: &OsStr, command: &SessionCommand, app: &mut App) -> Result<(), CommandError> {
        let mut session = app.open_to_change(wanted, self.how.dry_run)?;
        if session.needs_migration() && command.writes_here() && !self.how.dry_run {
            // A command that fails or changes nothing must not migrate the file.
            let copy = app.open(wanted)?;
            if plan(copy, command, &mut app.capturing(None))?.has_undo() {
                app.migrate(&mut session)?;
            }
        }
        self.run(session, command, app)
    }

    fn run(&self, session: Session, command: &SessionCommand, app: &mut App) -> Result<(), CommandError> {
        if self.how.dry_run {
            return plan(session, command, app)?.tell(app, self.how);
        }
        let setup = Setup::read(app, self.trust)?.0;
        // There is no user to ask, so a project's extensions need `--approve`, as with `-p`.
        let is_approved = self.trust.approves();
        let sources = Sources::for_one_run(&self.extensions, &setup, is_approved, app)?;
        let model = match sources.is_empty() {
            true => None,
            false => talk::choose_model(&session, &setup, &mut app.capturing(None))?,
        };
        let mut agent = Agent::new(session, &setup.cwd)
            .with_settings(setup.settings.agent())
            .with_secrets(setup.secrets()?)
            .with_events(Events::new(|event| talk::warn(&event.event)));
        if let Some((model, level)) = model {
            agent = agent.with_model(model, level);
        }
        let agent = spawn(agent)?;
        let outcome = waiting(async |cancel| {
            let output = ExtensionFrontEnd::words();
            let extended = Extended::new(&self.extensions, sources, &agent, &setup, output, app)?;
            extensions::start(&agent, extended.as_ref(), None).await?;
            let mut work = Work { agent: &agent, app, dry_run: false, is_chat: false, cancel };
            let outcome = match agent.until_unlocked().unless(cancel).await {
                Ok(()) => command.run(&mut work).await,
                Err(error) => Err(error.into()),
            };
            agent.quit().await?;
            outcome
        })?;
        outcome?.tell(app, self.how)
    }
}

/// Returns what a command would do. Runs no hook.
fn plan(session: Session, command: &SessionCommand, app: &mut App) -> Result<Change, CommandError> {
    let agent = spawn(Agent::new(session, app.env.cwd()?))?;
    waiting(async |cancel| {
        let mut work = Work { agent: &agent, app, dry_run: true, is_chat: false, cancel };
        command.run(&mut work).await
    })?
}

/// Starts an agent without a model on an empty session, which is not stored.
pub(crate) fn spawn_empty(setup: &Setup, app: &App) -> Result<AgentHandle, CommandError> {
    let session = app.options().in_memory(app.env.cwd()?)?;
    spawn(Agent::new(session, &setup.cwd).with_secrets(setup.secrets()?))
}

/// Starts an agent on its own thread.
pub(crate) fn spawn(agent: Agent) -> Result<AgentHandle, CommandError> {
    agent.spawn().map_err(|error| CommandError::system("start", "the thread of the agent".as_ref(), &error))
}

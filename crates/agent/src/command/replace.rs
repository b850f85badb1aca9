//! `/new`, `/resume` and `/import`: one session takes the place of another.
//!
//! before hook -> the new session is made -> shutdown of the old -> extensions are loaded anew -> start of the new
//!
//! Until the shutdown nothing has changed; from then on nothing can fail.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use session_tree::{Destination, ModelRef, NewSession, Options, Session, import};

use super::fork::beside;
use super::{Applied, History};
use crate::agent::{Agent, Move};
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::AgentEvent;
use crate::extension::ExtensionBundle;
use crate::hooks::Gate;
use crate::turn::Turn;

/// The extensions of a session while they are loaded.
pub type ReloadFuture = Pin<Box<dyn Future<Output = ExtensionBundle> + Send>>;

/// Loads extensions anew for a session that takes the place of another.
#[derive(Clone)]
pub struct Reload(Arc<dyn Fn(&Session) -> ReloadFuture + Send + Sync>);

impl Reload {
    /// Loads extensions with a function.
    pub fn new(load: impl Fn(&Session) -> ReloadFuture + Send + Sync + 'static) -> Self {
        Reload(Arc::new(load))
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reload")
    }
}

/// What came of replacing a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replaced {
    /// The file of the session that the agent works on now.
    pub session_file: Option<PathBuf>,
    /// The file of the session that it left.
    pub previous_session_file: Option<PathBuf>,
    /// The model that the path of the new session names; who knows models may want to choose it.
    pub model: Option<ModelRef>,
    /// The working directory that the new session names, if it is another one than the agent's.
    pub other_cwd: Option<String>,
}

/// A session that is about to take the place of the one at hand.
#[derive(Debug)]
pub struct Replacement {
    /// The session.
    pub session: Session,
    pub(super) reason: Reason,
}

/// An empty session to start.
#[derive(Debug, Clone, Default)]
pub struct NewRequest {
    /// The header of the session; an empty working directory means the agent's.
    pub new: NewSession,
    /// The place of the session; the default is beside the old one.
    pub to: Option<Destination>,
    /// The name of the session.
    pub name: Option<String>,
}

/// A file that is about to be imported.
#[derive(Debug)]
pub struct Import {
    /// What is in it.
    pub source: Session,
    /// The file.
    pub file: PathBuf,
    /// The directory that its copy goes into; no file there is ever replaced.
    pub directory: PathBuf,
}

/// Why a session takes the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    New,
    Resume,
    Fork,
}

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Reason::New => "new",
            Reason::Resume => "resume",
            Reason::Fork => "fork",
        }
    }
}

impl Agent {
    /// Reloads extensions whenever the session is replaced; without this they stay.
    pub fn set_reload(&mut self, reload: Reload) {
        self.reload = Some(reload);
    }

    /// Plans to go on in the session of a file. Changes nothing; see [`Agent::replace_session`].
    ///
    /// # Errors
    ///
    /// The errors of [`Options::open`].
    pub fn plan_resume(&self, file: &Path, options: Options) -> Result<Replacement> {
        Ok(Replacement { session: options.open(file)?, reason: Reason::Resume })
    }

    /// Plans to continue in an empty session, whose file is created with its first message. Changes nothing; see
    /// [`Agent::replace_session`].
    pub fn plan_new(&self, request: NewRequest, options: Options) -> Result<Replacement> {
        let NewRequest { mut new, to, name } = request;
        if new.cwd.is_empty() {
            new.cwd = self.cwd.to_string_lossy().into_owned();
        }
        let mut session = match to.unwrap_or_else(|| beside(&self.session())) {
            Destination::File(path) => options.create(path, new)?,
            Destination::Directory(directory) => options.create_in(directory, new)?,
            Destination::Memory => options.in_memory(new)?,
        };
        if let Some(name) = &name {
            session.append_session_info(name)?;
        }
        Ok(Replacement { session, reason: Reason::New })
    }

    /// Plans to start over in the same file: the next prompt becomes a root. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingBehind`] if the leaf is before the first entry already.
    pub fn plan_new_here(&self) -> Result<Move> {
        let plan = self.session().plan_reset().ok_or(AgentError::NothingBehind)?;
        Ok(Move { summary_target: None, ..Move::new(&self.session(), plan) })
    }

    /// Plans to copy a session file into a directory of sessions and to go on in the copy. Changes nothing.
    ///
    /// # Errors
    ///
    /// What [`Options::open_read_only`] refuses.
    pub fn plan_import(&self, file: &Path, directory: &Path, options: Options) -> Result<Import> {
        let source = options.open_read_only(file)?;
        Ok(Import { source, file: file.to_path_buf(), directory: directory.to_path_buf() })
    }

    /// Copies the file as planned and goes on in the copy.
    pub async fn import(
        &mut self,
        planned: Import,
        options: Options,
        cancel: &Cancel,
    ) -> Result<Applied<Replaced>> {
        if let Applied::Cancelled(by) = self.may_switch(Reason::Resume, Some(&planned.file), cancel).await? {
            return Ok(Applied::Cancelled(by));
        }
        let copy = import(&planned.file, &planned.directory, &options)?;
        let session = options.open(copy)?;
        let replaced = self.replace(session, Reason::Resume, cancel).await?;
        self.is_imported = true;
        Ok(Applied::Done(replaced))
    }

    /// Puts a session that was planned by [`Agent::plan_new`] or [`Agent::plan_resume`] into the place of this one.
    ///
    /// Model and working directory stay the agent's; [`Replaced`] tells what the session says of them. The thinking
    /// level is that of the session, and what waited to be sent in the old one is dropped.
    pub async fn replace_session(
        &mut self,
        planned: Replacement,
        cancel: &Cancel,
    ) -> Result<Applied<Replaced>> {
        let Replacement { session, reason } = planned;
        let target = match reason {
            Reason::New => None,
            Reason::Resume | Reason::Fork => session.file(),
        };
        match self.may_switch(reason, target, cancel).await? {
            Applied::Cancelled(by) => Ok(Applied::Cancelled(by)),
            Applied::Done(_) => Ok(Applied::Done(self.replace(session, reason, cancel).await?)),
        }
    }

    /// Tells extensions that the agent begins to work.
    pub async fn start(&mut self, cancel: &Cancel) {
        self.tell_start("startup", None, cancel).await;
        self.discover("startup", cancel).await;
        self.tell_news(cancel).await;
    }

    /// Reloads the extensions of the current session, if [`Agent::set_reload`] was called.
    pub async fn reload(&mut self, cancel: &Cancel) {
        if self.reload.is_none() {
            return;
        }
        self.tell_shutdown("reload", None).await;
        self.load_extensions().await;
        self.tell_start("reload", None, cancel).await;
        self.discover("reload", cancel).await;
        self.tell_news(cancel).await;
    }

    pub(crate) async fn load_extensions(&mut self) {
        if let Some(Reload(load)) = self.reload.clone() {
            let loading = load(&self.session());
            let bundle = loading.await;
            self.install(bundle);
        }
    }

    /// Tells extensions that resources could be loaded now. This agent loads none, so the answers are not used.
    async fn discover(&self, reason: &str, cancel: &Cancel) {
        let payload = || json!({"cwd": self.cwd.to_string_lossy(), "reason": reason});
        self.tell_of("resources_discover", payload, cancel).await;
    }

    /// Tells extensions that the agent ends, and keeps the position.
    pub async fn quit(&mut self) {
        self.tell_shutdown("quit", None).await;
        self.keep_position_if_saved();
    }

    /// Asks extensions whether the session may be left for a new one, or for the one in a file.
    async fn may_switch(
        &self,
        reason: Reason,
        target: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Applied<Gate>> {
        let payload = || Ok(json!({"reason": reason.name(), "targetSessionFile": file_json(target)}));
        self.gate("session_before_switch", payload, cancel).await
    }

    /// Puts a session into the place of the one at hand.
    pub(super) async fn replace(
        &mut self,
        new: Session,
        reason: Reason,
        cancel: &Cancel,
    ) -> Result<Replaced> {
        // Reads all that can fail before anything is told.
        let context = new.context()?;
        let target = new.file().map(Path::to_path_buf);
        self.tell_shutdown(reason.name(), target.as_deref()).await;
        self.keep_position_if_saved();
        let old = self.put_session(new);
        let previous = old.file().map(Path::to_path_buf);
        drop(old);
        let previous_file = previous.clone();
        self.events.emit(AgentEvent::SessionReplaced { reason: reason.name(), previous_file });
        self.load_extensions().await;
        self.restore_thinking();
        self.tell_start(reason.name(), previous.as_deref(), cancel).await;
        self.tell_replaced(reason, previous.as_deref(), cancel).await;
        self.discover("startup", cancel).await;
        self.tell_news(cancel).await;
        let own = self.cwd.to_string_lossy();
        let session = self.session();
        let cwd = session.header().cwd().filter(|cwd| !cwd.is_empty() && *cwd != own);
        Ok(Replaced {
            session_file: target,
            previous_session_file: previous,
            model: context.model,
            other_cwd: cwd.map(|cwd| cwd.into_owned()),
        })
    }

    /// Thinks as hard as the path says, if it says anything.
    fn restore_thinking(&mut self) {
        if let (Some(model), Some(level)) = (&self.model, self.said_thinking()) {
            let level = model.spec().clamp(level);
            self.think(level);
        }
    }

    /// Changes the session; what waits for the old one is dropped with it.
    fn put_session(&mut self, new: Session) -> Session {
        self.turn = Turn::new(self.settings.retry.clone());
        self.queue.clear();
        self.history = History::default();
        self.publish_state();
        self.is_imported = false;
        self.session.replace(new)
    }

    /// Keeps the position of a session that is left.
    fn keep_position_if_saved(&mut self) {
        let mut session = self.session();
        if session.is_saved() && session.read_only().is_none() {
            // Where a file cannot be written any more, the position is the least of what is lost.
            drop(session.mark_leaf());
        }
    }

    async fn tell_shutdown(&self, reason: &str, target: Option<&Path>) {
        let payload = || json!({"reason": reason, "targetSessionFile": file_json(target)});
        // Limits the time that extensions get.
        let leaving = Cancel::new();
        leaving.cancel();
        self.tell_of("session_shutdown", payload, &leaving).await;
        self.report_hook_failures();
    }

    async fn tell_start(&self, reason: &str, previous: Option<&Path>, cancel: &Cancel) {
        let payload = || json!({"reason": reason, "previousSessionFile": file_json(previous)});
        self.tell_of("session_start", payload, cancel).await;
    }

    /// Tells those who still listen to the older names.
    async fn tell_replaced(&self, reason: Reason, previous: Option<&Path>, cancel: &Cancel) {
        let event = match reason {
            Reason::Fork => "session_fork",
            Reason::New | Reason::Resume => "session_switch",
        };
        let payload = || json!({"reason": reason.name(), "previousSessionFile": file_json(previous)});
        self.tell_of(event, payload, cancel).await;
    }
}

/// Spells a path for extensions.
pub(super) fn file_json(path: Option<&Path>) -> Json {
    path.map_or(Json::Null, |path| path.to_string_lossy().into())
}

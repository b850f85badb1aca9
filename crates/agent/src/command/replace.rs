//! `/new`, `/resume` and `/import`: replace the session of the agent.
//!
//! before hook -> create the new session -> shut down the old one -> reload extensions -> start the new one
//!
//! Before the shutdown nothing has changed; after it nothing can fail.

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

/// The future of loading extensions.
pub type ReloadFuture = Pin<Box<dyn Future<Output = ExtensionBundle> + Send>>;

/// A function that loads the extensions of a session.
#[derive(Clone)]
pub struct Reload(Arc<dyn Fn(&Session) -> ReloadFuture + Send + Sync>);

impl Reload {
    /// Wraps a function.
    pub fn new(load: impl Fn(&Session) -> ReloadFuture + Send + Sync + 'static) -> Self {
        Reload(Arc::new(load))
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reload")
    }
}

/// The result of replacing the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replaced {
    /// The file of the new session.
    pub session_file: Option<PathBuf>,
    /// The file of the previous session.
    pub previous_session_file: Option<PathBuf>,
    /// The model that the new session names. A front end that has it may choose it.
    pub model: Option<ModelRef>,
    /// The working directory of the new session, if it differs from the agent's.
    pub other_cwd: Option<String>,
}

/// A session that is ready to replace the current one.
#[derive(Debug)]
pub struct Replacement {
    /// The session.
    pub session: Session,
    pub(super) reason: Reason,
}

/// A request for an empty session.
#[derive(Debug, Clone, Default)]
pub struct NewRequest {
    /// The header of the session; an empty working directory means the agent's.
    pub new: NewSession,
    /// The place of the session; the default is beside the old one.
    pub to: Option<Destination>,
    /// The name of the session.
    pub name: Option<String>,
}

/// A planned import.
#[derive(Debug)]
pub struct Import {
    /// The session to import.
    pub source: Session,
    /// The file.
    pub file: PathBuf,
    /// The directory of the copy. No existing file is replaced.
    pub directory: PathBuf,
}

/// The reason of a replacement.
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
    /// Sets how to reload extensions when the session is replaced. Without this they stay loaded.
    pub fn set_reload(&mut self, reload: Reload) {
        self.reload = Some(reload);
    }

    /// Plans to continue in the session of a file. Changes nothing; see [`Agent::replace_session`].
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
    /// [`AgentError::NothingBehind`] if the leaf is already before the first entry.
    pub fn plan_new_here(&self) -> Result<Move> {
        let plan = self.session().plan_reset().ok_or(AgentError::NothingBehind)?;
        Ok(Move { summary_target: None, ..Move::new(&self.session(), plan) })
    }

    /// Plans to copy a session file into a directory and to continue in the copy. Changes nothing.
    ///
    /// # Errors
    ///
    /// The errors of [`Options::open_read_only`].
    pub fn plan_import(&self, file: &Path, directory: &Path, options: Options) -> Result<Import> {
        let source = options.open_read_only(file)?;
        Ok(Import { source, file: file.to_path_buf(), directory: directory.to_path_buf() })
    }

    /// Copies the file as planned and continues in the copy.
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

    /// Replaces the session by one that [`Agent::plan_new`] or [`Agent::plan_resume`] returned.
    ///
    /// The agent keeps its model and working directory; [`Replaced`] has those of the session. The thinking level is
    /// that of the session. The queue of the previous session is dropped.
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

    /// Reports to extensions that the agent starts.
    pub async fn start(&mut self, cancel: &Cancel) {
        self.notify_start("startup", None, cancel).await;
        self.discover("startup", cancel).await;
        self.notify_new_entries(cancel).await;
    }

    /// Reloads the extensions of the current session, if [`Agent::set_reload`] was called.
    pub async fn reload(&mut self, cancel: &Cancel) {
        if self.reload.is_none() {
            return;
        }
        self.notify_shutdown("reload", None).await;
        self.load_extensions().await;
        self.notify_start("reload", None, cancel).await;
        self.discover("reload", cancel).await;
        self.notify_new_entries(cancel).await;
    }

    pub(crate) async fn load_extensions(&mut self) {
        if let Some(Reload(load)) = self.reload.clone() {
            let loading = load(&self.session());
            let bundle = loading.await;
            self.install(bundle);
        }
    }

    /// Loads the skills, templates and themes that extensions name.
    async fn discover(&mut self, reason: &str, cancel: &Cancel) {
        const EVENT: &str = "resources_discover";
        if !self.hooks.wants(EVENT) {
            return;
        }
        let payload = json!({"type": EVENT, "cwd": self.cwd.to_string_lossy(), "reason": reason});
        let (answers, _) = self.hooks.collect(EVENT, payload, cancel).await;
        self.add_resources(&answers);
        self.report_hook_failures();
    }

    /// Reports to extensions that the agent ends, and writes the position of the leaf.
    pub async fn quit(&mut self) {
        self.notify_shutdown("quit", None).await;
        self.keep_position_if_saved();
    }

    /// Asks extensions whether the session may be replaced by a new one or by that of a file.
    async fn may_switch(
        &self,
        reason: Reason,
        target: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Applied<Gate>> {
        let payload = || Ok(json!({"reason": reason.name(), "targetSessionFile": file_json(target)}));
        self.gate("session_before_switch", payload, cancel).await
    }

    /// Replaces the session.
    pub(super) async fn replace(
        &mut self,
        new: Session,
        reason: Reason,
        cancel: &Cancel,
    ) -> Result<Replaced> {
        // Fallible steps come before the first event.
        let context = new.context()?;
        let target = new.file().map(Path::to_path_buf);
        self.notify_shutdown(reason.name(), target.as_deref()).await;
        self.keep_position_if_saved();
        let old = self.put_session(new);
        let previous = old.file().map(Path::to_path_buf);
        drop(old);
        let previous_file = previous.clone();
        self.events.emit(AgentEvent::SessionReplaced { reason: reason.name(), previous_file });
        self.load_extensions().await;
        self.restore_thinking();
        self.notify_start(reason.name(), previous.as_deref(), cancel).await;
        self.notify_replaced(reason, previous.as_deref(), cancel).await;
        self.discover("startup", cancel).await;
        self.notify_new_entries(cancel).await;
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

    /// Sets the thinking level stored on the path, if any.
    fn restore_thinking(&mut self) {
        if let (Some(model), Some(level)) = (&self.model, self.stored_thinking()) {
            let level = model.spec().clamp(level);
            self.think(level);
        }
    }

    /// Replaces the session and drops the queue of the previous one.
    fn put_session(&mut self, new: Session) -> Session {
        self.turn = Turn::new(self.settings.retry.clone());
        self.queue.clear();
        self.history = History::default();
        self.publish_state();
        self.is_imported = false;
        self.session.replace(new)
    }

    /// Writes the position of the leaf of a session that is left.
    fn keep_position_if_saved(&mut self) {
        let mut session = self.session();
        if session.is_saved() && session.read_only().is_none() {
            // Best effort: the file may no longer be writable.
            drop(session.mark_leaf());
        }
    }

    async fn notify_shutdown(&self, reason: &str, target: Option<&Path>) {
        let payload = || json!({"reason": reason, "targetSessionFile": file_json(target)});
        // Limits the time of the handlers.
        let leaving = Cancel::new();
        leaving.cancel();
        self.notify_with("session_shutdown", payload, &leaving).await;
        self.report_hook_failures();
    }

    async fn notify_start(&self, reason: &str, previous: Option<&Path>, cancel: &Cancel) {
        let payload = || json!({"reason": reason, "previousSessionFile": file_json(previous)});
        self.notify_with("session_start", payload, cancel).await;
    }

    /// Reports the events with older names.
    async fn notify_replaced(&self, reason: Reason, previous: Option<&Path>, cancel: &Cancel) {
        let event = match reason {
            Reason::Fork => "session_fork",
            Reason::New | Reason::Resume => "session_switch",
        };
        let payload = || json!({"reason": reason.name(), "previousSessionFile": file_json(previous)});
        self.notify_with(event, payload, cancel).await;
    }
}

/// Returns a path as JSON.
pub(super) fn file_json(path: Option<&Path>) -> Json {
    path.map_or(Json::Null, |path| path.to_string_lossy().into())
}

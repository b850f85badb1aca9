//! Waits while another program holds the lock of the session file, without blocking the thread.

use std::time::Duration;

use session_tree::{Error, Session};
use tokio::time::Instant;

use super::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::AgentEvent;
use crate::settings::LockWait;

/// How long to wait if [`LockWait::Limited`] is set.
const LIMIT: Duration = Duration::from_secs(10);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

impl Agent {
    /// Waits until no other program holds the lock of the session file. Writes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if the lock is still held when the [limit](LockWait) is reached or the work is cancelled.
    pub async fn until_unlocked(&self, cancel: &Cancel) -> Result<()> {
        self.when_unlocked(cancel, |session| Ok(session.check_lock()?)).await
    }

    /// Runs a step that appends to the session, and retries while another program holds the lock of the file.
    pub(super) async fn when_unlocked<T>(
        &self,
        cancel: &Cancel,
        mut append: impl FnMut(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let start = Instant::now();
        let mut is_reported = false;
        loop {
            let result = append(&mut self.session());
            let Err(AgentError::Session(Error::Locked { path, holder, .. })) = result else { return result };
            let waited = start.elapsed();
            let is_over = match self.settings.lock_wait {
                LockWait::Limited => waited >= LIMIT,
                LockWait::UntilCancelled => false,
            };
            if is_over || cancel.is_cancelled() {
                return Err(Error::Locked { path, holder, waited }.into());
            }
            if !std::mem::replace(&mut is_reported, true) {
                self.events.emit(AgentEvent::SessionLocked { path, holder });
            }
            cancel.unless_cancelled(tokio::time::sleep(PAUSE)).await;
        }
    }
}

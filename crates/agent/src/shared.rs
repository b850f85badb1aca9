//! A session that several parts of a program hold at once: the agent, extensions, whoever draws.
//!
//! Everybody takes it for as long as one step lasts. It is never held while something is waited for.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use session_tree::Session;

/// A session behind a lock; clones share it.
#[derive(Clone)]
pub struct SharedSession(Arc<Shared>);

struct Shared {
    session: Mutex<Session>,
    /// Who holds the session, to tell a deadlock from a wait.
    holder: Mutex<Option<ThreadId>>,
}

impl SharedSession {
    /// Shares a session.
    pub fn new(session: Session) -> Self {
        SharedSession(Arc::new(Shared { session: Mutex::new(session), holder: Mutex::new(None) }))
    }

    /// Waits for the session. Whoever holds it already must not ask again, and must not wait for anything.
    pub fn lock(&self) -> SessionGuard<'_> {
        let me = Some(thread::current().id());
        debug_assert_ne!(*self.holder(), me, "the session is taken twice in one step");
        let session = self.0.session.lock().unwrap_or_else(PoisonError::into_inner);
        *self.holder() = me;
        SessionGuard { shared: self, session }
    }

    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.0.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSession")
    }
}

/// The session, for one step.
pub struct SessionGuard<'s> {
    shared: &'s SharedSession,
    session: MutexGuard<'s, Session>,
}

impl Deref for SessionGuard<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for SessionGuard<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Drop for SessionGuard<'_> {
    fn drop(&mut self) {
        *self.shared.holder() = None;
    }
}

impl fmt::Debug for SessionGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.session.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use session_tree::Options;

    use super::*;

    #[test]
    fn clones_see_one_session() {
        let shared = SharedSession::new(Options::new().in_memory("/w").unwrap());
        let other = shared.clone();
        let id = shared.lock().append_user_text("hi").unwrap();
        assert_eq!(thread::spawn(move || other.lock().leaf_id()).join().unwrap(), Some(id));
    }

    #[test]
    #[should_panic(expected = "taken twice")]
    fn taking_it_twice_in_one_step_is_a_mistake_that_tests_find() {
        let shared = SharedSession::new(Options::new().in_memory("/w").unwrap());
        let _held = shared.lock();
        drop(shared.lock());
    }
}

//! A session shared by the agent, extensions and front ends.
//!
//! Each of them locks it for one step and never across an await. The source of every appended entry is recorded, so
//! that the others can be notified.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use session_tree::{EntryId, Node, Session};

/// How long an append blocks while another program holds the lock of the file. The agent then retries without blocking.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// The source of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The agent: messages and commands.
    Agent,
    /// An extension, or a program that embeds the agent.
    Extension,
}

impl Source {
    /// Returns the name for extensions.
    pub fn name(self) -> &'static str {
        match self {
            Source::Agent => "agent",
            Source::Extension => "extension",
        }
    }
}

/// A session behind a lock. Clones share it.
#[derive(Clone)]
pub struct SharedSession(Arc<Shared>);

struct Shared {
    session: Mutex<Session>,
    /// The thread that holds the session, to distinguish a deadlock from a wait.
    holder: Mutex<Option<ThreadId>>,
    unreported: Mutex<Unreported>,
}

/// Entries that are not reported yet: how many from which source, oldest first.
#[derive(Debug, Default)]
struct Unreported {
    /// The number of entries when the session was last released.
    known: usize,
    counts: Vec<(usize, Source)>,
}

impl Unreported {
    fn note(&mut self, len: usize, source: Source) {
        let new = len.saturating_sub(self.known);
        self.known = len;
        match self.counts.last_mut() {
            _ if new == 0 => {}
            Some((count, last)) if *last == source => *count += new,
            _ => self.counts.push((new, source)),
        }
    }
}

impl SharedSession {
    /// Shares a session.
    pub fn new(mut session: Session) -> Self {
        session.set_lock_wait(LOCK_WAIT);
        let unreported = Unreported { known: session.tree().len(), counts: Vec::new() };
        SharedSession(Arc::new(Shared {
            session: Mutex::new(session),
            holder: Mutex::new(None),
            unreported: Mutex::new(unreported),
        }))
    }

    /// Locks the session. The guard must be dropped before the next call on the same thread, and before any await.
    ///
    /// # Panics
    ///
    /// If this thread already holds the session, because it would wait forever.
    pub fn lock(&self) -> SessionGuard<'_> {
        self.lock_as(Source::Agent)
    }

    /// Locks the session to append entries of a source.
    ///
    /// # Panics
    ///
    /// See [`SharedSession::lock`].
    pub fn lock_as(&self, source: Source) -> SessionGuard<'_> {
        let me = Some(thread::current().id());
        // Checked before the assertion: a panic must not poison the lock.
        let is_held = *self.holder() == me;
        assert!(!is_held, "the session is locked twice by one thread; this is a bug in the program");
        let session = lock(&self.0.session);
        *self.holder() = me;
        SessionGuard { shared: self, session, source }
    }

    /// Replaces the session and returns the previous one.
    pub(crate) fn replace(&self, mut new: Session) -> Session {
        new.set_lock_wait(LOCK_WAIT);
        let mut guard = self.lock();
        *self.unreported() = Unreported { known: new.tree().len(), counts: Vec::new() };
        std::mem::replace(&mut *guard, new)
    }

    /// Takes the entries appended since the last call, oldest first.
    pub(crate) fn take_unreported(&self) -> Vec<(Node, Source)> {
        let session = self.lock();
        let counts = std::mem::take(&mut self.unreported().counts);
        let new = counts.iter().map(|(count, _)| count).sum();
        let mut nodes: Vec<Node> = session.tree().nodes().rev().take(new).collect();
        nodes.reverse();
        let sources = counts.into_iter().flat_map(|(count, source)| std::iter::repeat_n(source, count));
        nodes.into_iter().zip(sources).collect()
    }

    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        lock(&self.0.holder)
    }

    fn unreported(&self) -> MutexGuard<'_, Unreported> {
        lock(&self.0.unreported)
    }
}

impl fmt::Debug for SharedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSession")
    }
}

/// The locked session.
pub struct SessionGuard<'s> {
    shared: &'s SharedSession,
    session: MutexGuard<'s, Session>,
    source: Source,
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
        self.shared.unreported().note(self.session.tree().len(), self.source);
        *self.shared.holder() = None;
    }
}

impl fmt::Debug for SessionGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.session.fmt(f)
    }
}

/// Locks a value, even if a panic poisoned the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if the path to the leaf contains an entry. Without an entry, or if it does not exist, returns true.
pub fn continues_from(session: &Session, entry: Option<&EntryId>) -> bool {
    let node = entry.and_then(|id| session.tree().node(id.as_str()));
    node.is_none_or(|node| session.leaf().is_some_and(|leaf| session.tree().is_on_path(node, leaf)))
}

#[cfg(test)]
mod tests;

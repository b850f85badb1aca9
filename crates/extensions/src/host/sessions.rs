//! The sessions that extensions opened beside the agent's, by number.

use std::collections::BTreeMap;
use std::sync::Weak;

use offshoot_agent::handle::AgentHandle;
use parking_lot::Mutex;
use session_tree::Session;

use crate::handle::Handle;

/// The most sessions that are open at the same time.
const MOST: usize = 256;

/// The sessions that extensions opened.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<State>);

#[derive(Default)]
struct State {
    next: u64,
    open: BTreeMap<u64, (Weak<Handle>, Place)>,
}

/// The place of a session.
enum Place {
    Here(Box<Session>),
    /// An agent of the extension works on it.
    Lent(AgentHandle),
}

impl Sessions {
    /// Adds a session. It is closed when the extension is no longer loaded.
    pub(crate) fn add(&self, owner: &Weak<Handle>, session: Session) -> Result<u64, String> {
        let mut state = self.0.lock();
        state.open.retain(|_, (owner, _)| owner.strong_count() > 0);
        if state.open.len() >= MOST {
            return Err(format!("extensions may have at most {MOST} sessions open; `close()` ends one"));
        }
        state.next += 1;
        let id = state.next;
        state.open.insert(id, (owner.clone(), Place::Here(Box::new(session))));
        Ok(id)
    }

    /// Reads or changes a session.
    pub(crate) fn with<T>(&self, id: u64, work: impl FnOnce(&mut Session) -> T) -> Result<T, String> {
        let mut state = self.0.lock();
        let lent = match &mut state.open.get_mut(&id).ok_or("this session was closed")?.1 {
            Place::Here(session) => return Ok(work(session)),
            Place::Lent(agent) => agent.clone(),
        };
        drop(state);
        Ok(lent.change(work))
    }

    /// Puts another session in the place of one.
    pub(crate) fn replace(&self, id: u64, session: Session) {
        if let Some((_, old @ Place::Here(_))) = self.0.lock().open.get_mut(&id) {
            *old = Place::Here(Box::new(session));
        }
    }

    pub(crate) fn close(&self, id: u64) {
        self.0.lock().open.remove(&id);
    }

    /// Takes a session out, for an agent that works on it.
    pub(crate) fn take(&self, id: u64) -> Option<Session> {
        let mut state = self.0.lock();
        match state.open.remove(&id)? {
            (_, Place::Here(session)) => Some(*session),
            lent => {
                state.open.insert(id, lent);
                None
            }
        }
    }

    /// Puts the session of an agent where it was taken from.
    pub(crate) fn lend(&self, id: u64, owner: &Weak<Handle>, agent: AgentHandle) {
        self.0.lock().open.insert(id, (owner.clone(), Place::Lent(agent)));
    }
}

//! The desk: the agent works on one thing at a time, and who waits can go on drawing.
//!
//! ```text
//!   free --start--> busy --done--> free, and what is to be done then
//! ```
//!
//! While the agent works nobody else has it; it comes back with its work. The session is shared: it can be read at any
//! time, for one step.

use std::pin::Pin;

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::handle::Wish;
use offshoot_agent::shared::SharedSession;
use session_tree::Session;

use super::front::Front;

/// What is to be done when work is done.
pub(super) type Then = Box<dyn FnOnce(&mut Front<'_>)>;

/// What happens at the desk.
pub(super) enum Next {
    /// The work is done.
    Done(Then),
    /// An extension wishes for some.
    Wished(Wish),
}

type Work = Pin<Box<dyn Future<Output = (Agent, Then)>>>;

/// Where the agent is.
pub(super) struct Desk {
    state: State,
    session: SharedSession,
}

enum State {
    Free(Box<Agent>),
    Busy {
        work: Work,
        cancel: Cancel,
    },
    /// Only while one becomes the other.
    Between,
}

impl Desk {
    /// Puts an agent at the desk.
    pub(super) fn new(agent: Agent) -> Self {
        Desk { session: agent.shared_session(), state: State::Free(Box::new(agent)) }
    }

    /// Tells whether the agent works.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.state, State::Busy { .. })
    }

    /// Returns the agent, unless it works.
    pub(super) fn agent(&mut self) -> Option<&mut Agent> {
        match &mut self.state {
            State::Free(agent) => Some(agent),
            State::Busy { .. } | State::Between => None,
        }
    }

    /// Reads the session, for one step.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        read(&self.session.lock())
    }

    /// Changes the session, for one step.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Session) -> T) -> T {
        change(&mut self.session.lock())
    }

    /// Lets the agent work. It must not work already.
    pub(super) fn start<F>(&mut self, work: impl FnOnce(Agent, Cancel) -> F)
    where
        F: Future<Output = (Agent, Then)> + 'static,
    {
        self.state = match std::mem::replace(&mut self.state, State::Between) {
            State::Free(agent) => {
                let cancel = Cancel::new();
                State::Busy { work: Box::pin(work(*agent, cancel.clone())), cancel }
            }
            busy => {
                debug_assert!(false, "the agent works already");
                busy
            }
        };
    }

    /// Asks the agent to stop.
    pub(super) fn stop(&self) {
        if let State::Busy { cancel, .. } = &self.state {
            cancel.cancel();
        }
    }

    /// Waits until the work is done; while there is none, until somebody wishes for some.
    pub(super) async fn next(&mut self) -> Next {
        match &mut self.state {
            State::Busy { .. } => Next::Done(self.done().await),
            State::Free(agent) => Next::Wished(agent.next_wish().await),
            State::Between => std::future::pending().await,
        }
    }

    async fn done(&mut self) -> Then {
        let State::Busy { work, .. } = &mut self.state else { return std::future::pending().await };
        let (agent, then) = work.await;
        self.session = agent.shared_session();
        self.state = State::Free(Box::new(agent));
        then
    }

    /// Ends: waits for the work to stop, and gives the agent back.
    pub(super) async fn close(mut self) -> Option<Agent> {
        self.stop();
        if self.is_busy() {
            drop(self.done().await);
        }
        match self.state {
            State::Free(agent) => Some(*agent),
            State::Busy { .. } | State::Between => None,
        }
    }
}

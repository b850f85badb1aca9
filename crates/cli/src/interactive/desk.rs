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
use offshoot_agent::handle::IdleTask;
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
    Wished(IdleTask),
}

type Work = Pin<Box<dyn Future<Output = (Agent, Then)>>>;

/// The agent, idle or at work.
pub(super) struct Desk {
    /// The agent while it is idle.
    agent: Option<Box<Agent>>,
    /// Its work, and what stops it.
    work: Option<(Work, Cancel)>,
    session: SharedSession,
}

impl Desk {
    /// Puts an agent at the desk.
    pub(super) fn new(agent: Agent) -> Self {
        Desk { session: agent.shared_session(), agent: Some(Box::new(agent)), work: None }
    }

    /// Returns true while the agent works.
    pub(super) fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// Returns the agent, unless it works.
    pub(super) fn agent(&mut self) -> Option<&mut Agent> {
        self.agent.as_deref_mut()
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
        debug_assert!(!self.is_busy(), "the agent works already");
        if let Some(agent) = self.agent.take() {
            let cancel = Cancel::new();
            self.work = Some((Box::pin(work(*agent, cancel.clone())), cancel));
        }
    }

    /// Asks the agent to stop.
    pub(super) fn stop(&self) {
        if let Some((_, cancel)) = &self.work {
            cancel.cancel();
        }
    }

    /// Waits until the work is done; while there is none, until an extension requests some.
    pub(super) async fn next(&mut self) -> Next {
        match &mut self.agent {
            Some(agent) => Next::Wished(agent.next_task().await),
            None => Next::Done(self.done().await),
        }
    }

    async fn done(&mut self) -> Then {
        let Some((work, _)) = &mut self.work else { return std::future::pending().await };
        let (agent, then) = work.await;
        self.work = None;
        self.session = agent.shared_session();
        self.agent = Some(Box::new(agent));
        then
    }

    /// Waits for the work to stop, and gives the agent back.
    pub(super) async fn close(mut self) -> Option<Agent> {
        self.stop();
        if self.is_busy() {
            drop(self.done().await);
        }
        self.agent.map(|agent| *agent)
    }
}

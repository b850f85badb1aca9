//! The agent as an actor: its thread takes work from the queue, one item after the other.
//!
//! handle -> queue -> **thread of the agent** -> replies, events
//!
//! Files are read and written on this thread, so a slow disk never blocks a front end.

use std::io;
use std::sync::Arc;
use std::thread;

use session_tree::{Role, Session};

use crate::agent::{Agent, Submission, Submitted};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::event::AgentEvent;
use crate::handle::AgentHandle;
use crate::queue::{NextWork, Queue};
use crate::turn::Outcome;

impl Agent {
    /// Starts the agent on a new thread and returns its handle. [`AgentHandle::quit`] ends it.
    ///
    /// # Errors
    ///
    /// The errors of starting a thread.
    pub fn spawn(self) -> io::Result<AgentHandle> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = self.handle();
        thread::Builder::new().name("agent".to_owned()).spawn(move || {
            runtime.block_on(self.serve());
            // A tool may still wait for a process that does not end.
            runtime.shutdown_background();
        })?;
        Ok(handle)
    }

    /// Runs the items of the queue until a request ends the agent.
    async fn serve(mut self) {
        // Closes the queue even if a request panics, so that no reply hangs.
        let _close = CloseOnDrop(self.queue.clone());
        while !self.has_quit {
            self.run_next(&Cancel::new()).await;
        }
    }

    /// Waits for the next request or prompt in the queue and runs it. The thread of [`Agent::spawn`] calls this.
    pub async fn run_next(&mut self, cancel: &Cancel) {
        let next = self.queue.next().await;
        self.run_item(next, cancel).await;
    }

    /// Runs all requests and prompts in the queue, and those that they add.
    pub async fn run_queue(&mut self, cancel: &Cancel) {
        while let Some(next) = self.queue.try_next() {
            self.run_item(next, cancel).await;
        }
    }

    async fn run_item(&mut self, next: NextWork, cancel: &Cancel) {
        self.events.emit(AgentEvent::QueueChanged);
        match next {
            NextWork::Job(job) => self.run_job(job, cancel).await,
            NextWork::Prompt(submission) => {
                let outer = self.queue.begin_job(cancel);
                if let Err(error) = self.run_prompt(submission, cancel).await {
                    self.events.emit(AgentEvent::Failed { error: Arc::new(error) });
                }
                self.queue.end_job(outer);
            }
        }
    }

    /// Sends a prompt and works until the model has answered. After a failure, waiting prompts are returned to the
    /// front end, because they were written for an answer that never came.
    pub(crate) async fn run_prompt(&mut self, submission: Submission, cancel: &Cancel) -> Result<Submitted> {
        let known = self.session().tree().len();
        let result = self.try_prompt(submission.clone(), cancel).await;
        let mut returned = Vec::new();
        let is_typed = submission.source != Submission::EXTENSION;
        if result.is_err() && is_typed && !has_prompt_since(&self.session(), known) {
            returned.push(submission);
        }
        if !matches!(result, Ok(Submitted::Handled | Submitted::Answered(Outcome::Done))) {
            returned.extend(self.queue.take_back_prompts());
        }
        if !returned.is_empty() {
            self.events.emit(AgentEvent::Returned { prompts: returned });
        }
        result
    }

    async fn try_prompt(&mut self, submission: Submission, cancel: &Cancel) -> Result<Submitted> {
        self.until_unlocked(cancel).await?;
        self.store_choice()?;
        self.submit(submission, cancel).await
    }
}

/// Closes a queue when it is dropped.
struct CloseOnDrop(Queue);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Returns true if a prompt was appended after the first `known` entries.
fn has_prompt_since(session: &Session, known: usize) -> bool {
    let tree = session.tree();
    tree.nodes().skip(known).any(|node| tree.role(node) == Some(Role::User))
}

//! The queue: all work that waits for an agent.
//!
//! Prompts and messages wait for a turn, jobs until the agent is idle. Front ends show the queue, and Esc moves its
//! prompts back into the editor. A prompt and its attachments are one item.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use session_tree::Message;
use tokio::sync::Notify;

use crate::agent::{Agent, Submission};
use crate::cancel::Cancel;
use crate::shared::{Source, lock};
use crate::turn::QueueMode;

/// The time at which a queued message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// After the running tools.
    Steer,
    /// When the model has answered.
    FollowUp,
    /// When the turn is over, without asking the model.
    AfterTurn,
    /// With the next prompt.
    NextTurn,
}

impl Delivery {
    /// Returns true if the model answers the message in this turn.
    fn is_answered(self) -> bool {
        matches!(self, Delivery::Steer | Delivery::FollowUp)
    }
}

/// An item of the queue, as front ends show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// The prompt, or the description of the job.
    pub text: String,
    /// The delivery of a prompt; none for a job.
    pub delivery: Option<Delivery>,
}

/// The queue of an agent. Clones share it.
#[derive(Clone, Default)]
pub struct Queue(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// Wakes the agent when a job or a prompt arrives.
    arrived: Notify,
}

#[derive(Default)]
struct State {
    /// Cancels the current turn; none while no turn is running.
    turn: Option<Cancel>,
    /// Cancels the current job; none while the agent is idle.
    job: Option<Cancel>,
    items: Vec<Item>,
    /// True when the agent has ended. Nothing is queued any longer.
    is_closed: bool,
}

enum Item {
    Message(QueuedMessage, Delivery),
    Job(Job),
}

/// A message that waits for a turn.
#[derive(Clone)]
pub(crate) enum QueuedMessage {
    Prompt(Submission),
    /// A custom message of an extension.
    Custom(Message),
}

/// The text of a job in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueText {
    /// A command that the user typed. It returns to the editor if it is taken back.
    Typed(String),
    /// A description of the job.
    Description(String),
}

impl QueueText {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match self {
            QueueText::Typed(text) | QueueText::Description(text) => text,
        }
    }
}

/// Work that needs the whole agent.
pub(crate) struct Job {
    /// The text to show while the job waits; none to hide it.
    pub(crate) text: Option<QueueText>,
    pub(crate) source: Source,
    /// Cancels the job.
    pub(crate) cancel: Cancel,
    pub(crate) run: Box<JobFn>,
}

type JobFn = dyn for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> JobFuture<'a> + Send;

/// A running job.
pub(crate) type JobFuture<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The next work of an idle agent.
pub(crate) enum NextWork {
    Job(Job),
    Prompt(Submission),
}

impl Queue {
    /// Queues a prompt.
    pub(crate) fn add_prompt(&self, delivery: Delivery, submission: Submission) {
        self.add(Item::Message(QueuedMessage::Prompt(submission), delivery));
    }

    /// Queues a custom message.
    pub(crate) fn add_message(&self, delivery: Delivery, message: Message) {
        self.add(Item::Message(QueuedMessage::Custom(message), delivery));
    }

    /// Queues a custom message for the current turn. Returns it if there is no turn.
    pub(crate) fn add_to_turn(&self, delivery: Delivery, message: Message) -> Result<(), Message> {
        let mut state = self.state();
        if state.turn.is_none() {
            return Err(message);
        }
        state.items.push(Item::Message(QueuedMessage::Custom(message), delivery));
        Ok(())
    }

    /// Queues a job.
    pub(crate) fn add_job(&self, job: Job) {
        self.add(Item::Job(job));
    }

    fn add(&self, item: Item) {
        let mut state = self.state();
        if !state.is_closed {
            state.items.push(item);
            self.0.arrived.notify_one();
        }
    }

    /// Drops all items, and all that are queued later.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        (state.is_closed, state.turn, state.job) = (true, None, None);
        // Dropping a job may run code that uses the queue.
        let items = std::mem::take(&mut state.items);
        drop(state);
        drop(items);
    }

    /// Returns the prompts and jobs of the user.
    pub fn list(&self) -> Vec<Queued> {
        self.state().items.iter().filter_map(Item::queued).collect()
    }

    /// Removes the prompts of the user and returns them.
    pub(crate) fn take_back_prompts(&self) -> Vec<Submission> {
        let mut state = self.state();
        state.items.extract_if(.., |item| item.is_typed_prompt()).filter_map(Item::into_typed).collect()
    }

    /// Removes the prompts and jobs of the user. Returns the prompts and the typed commands.
    pub(crate) fn take_back(&self) -> Vec<Submission> {
        let is_of_user = |item: &mut Item| match item {
            Item::Message(..) => item.is_typed_prompt(),
            Item::Job(job) => job.source == Source::Agent && job.text.is_some(),
        };
        self.state().items.extract_if(.., is_of_user).filter_map(Item::into_typed).collect()
    }

    /// Returns true while a turn is running.
    pub fn has_turn(&self) -> bool {
        self.state().turn.is_some()
    }

    /// Returns true while a turn or a job is running.
    pub fn is_busy(&self) -> bool {
        let state = self.state();
        state.turn.is_some() || state.job.is_some()
    }

    /// Returns true if messages wait for the current turn or for its end.
    pub fn has_waiting(&self) -> bool {
        let is_waiting = |delivery| delivery != Delivery::NextTurn;
        self.state().items.iter().filter_map(Item::delivery).any(is_waiting)
    }

    /// Returns true if messages wait for an answer of the model.
    pub(crate) fn has_unanswered(&self) -> bool {
        self.state().items.iter().filter_map(Item::delivery).any(Delivery::is_answered)
    }

    /// Returns the messages that wait for the current turn or for its end.
    pub(crate) fn waiting(&self) -> Vec<QueuedMessage> {
        let state = self.state();
        let with = |is_answered| {
            state.items.iter().filter_map(move |item| match item {
                Item::Message(message, delivery)
                    if *delivery != Delivery::NextTurn && delivery.is_answered() == is_answered =>
                {
                    Some(message.clone())
                }
                Item::Message(..) | Item::Job(_) => None,
            })
        };
        with(true).chain(with(false)).collect()
    }

    /// Cancels the current turn or job.
    pub fn abort(&self) {
        let state = self.state();
        state.turn.iter().chain(&state.job).for_each(Cancel::cancel);
    }

    pub(crate) fn begin_turn(&self, cancel: &Cancel) {
        self.state().turn = Some(cancel.clone());
    }

    /// Ends the turn. The items stay.
    pub(crate) fn end_turn(&self) {
        self.state().turn = None;
    }

    pub(crate) fn begin_job(&self, cancel: &Cancel) -> Option<Cancel> {
        self.state().job.replace(cancel.clone())
    }

    pub(crate) fn end_job(&self, outer: Option<Cancel>) {
        self.state().job = outer;
    }

    /// Ends the turn and drops all prompts and messages.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.turn = None;
        state.items.retain(|item| matches!(item, Item::Job(_)));
    }

    /// Takes the prompts and messages with this delivery, in the order in which they were queued.
    pub(crate) fn take(&self, delivery: Delivery, mode: QueueMode) -> Vec<QueuedMessage> {
        let max = match mode {
            QueueMode::OneAtATime => 1,
            QueueMode::All => usize::MAX,
        };
        let mut count = 0;
        let is_taken = |item: &mut Item| {
            let fits = item.delivery() == Some(delivery) && count < max;
            count += usize::from(fits);
            fits
        };
        self.state().items.extract_if(.., is_taken).filter_map(Item::into_message).collect()
    }

    /// Waits until `take` returns an item.
    async fn until<T>(&self, take: impl Fn(&Self) -> Option<T>) -> T {
        loop {
            let arrived = self.0.arrived.notified();
            if let Some(taken) = take(self) {
                return taken;
            }
            arrived.await;
        }
    }

    /// Waits for the next job that is not shown in the queue.
    pub(crate) async fn next_job(&self) -> Job {
        self.until(Self::try_next_job).await
    }

    /// Returns the next job that is not shown in the queue.
    fn try_next_job(&self) -> Option<Job> {
        let is_hidden = |item: &mut Item| matches!(item, Item::Job(job) if job.text.is_none());
        self.state().items.extract_if(.., is_hidden).next().and_then(Item::into_job)
    }

    /// Waits for the next job or prompt.
    pub(crate) async fn next(&self) -> NextWork {
        self.until(Self::try_next).await
    }

    /// Returns the next job or prompt.
    pub(crate) fn try_next(&self) -> Option<NextWork> {
        let is_next = |item: &mut Item| match item {
            Item::Message(QueuedMessage::Prompt(_), delivery) => delivery.is_answered(),
            Item::Message(QueuedMessage::Custom(_), _) => false,
            Item::Job(_) => true,
        };
        match self.state().items.extract_if(.., is_next).next()? {
            Item::Message(QueuedMessage::Prompt(submission), _) => Some(NextWork::Prompt(submission)),
            Item::Message(QueuedMessage::Custom(_), _) => None,
            Item::Job(job) => Some(NextWork::Job(job)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }
}

impl Item {
    fn delivery(&self) -> Option<Delivery> {
        match self {
            Item::Message(_, delivery) => Some(*delivery),
            Item::Job(_) => None,
        }
    }

    /// Returns true for a prompt of the user, false for one of an extension.
    fn is_typed_prompt(&self) -> bool {
        matches!(self, Item::Message(QueuedMessage::Prompt(prompt), _) if prompt.source != Submission::EXTENSION)
    }

    fn queued(&self) -> Option<Queued> {
        match self {
            Item::Message(QueuedMessage::Prompt(prompt), delivery) if self.is_typed_prompt() => {
                Some(Queued { text: prompt.text.clone(), delivery: Some(*delivery) })
            }
            Item::Job(Job { text: Some(text), .. }) => {
                Some(Queued { text: text.as_str().to_owned(), delivery: None })
            }
            Item::Message(..) | Item::Job(_) => None,
        }
    }

    /// Returns the prompt or the command that was typed.
    fn into_typed(self) -> Option<Submission> {
        match self {
            Item::Message(QueuedMessage::Prompt(prompt), _) => Some(prompt),
            Item::Job(Job { text: Some(QueueText::Typed(text)), .. }) => Some(Submission::typed(text)),
            Item::Message(..) | Item::Job(_) => None,
        }
    }

    fn into_message(self) -> Option<QueuedMessage> {
        match self {
            Item::Message(message, _) => Some(message),
            Item::Job(_) => None,
        }
    }

    fn into_job(self) -> Option<Job> {
        match self {
            Item::Job(job) => Some(job),
            Item::Message(..) => None,
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queue").field(&self.list()).finish()
    }
}

#[cfg(test)]
mod tests;

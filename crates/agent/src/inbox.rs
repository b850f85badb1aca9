//! The inbox: messages for a turn that is going on, and for the one that comes next.
//!
//! People type while a model answers, and extensions have something to say at any time. What they send waits here, and
//! nowhere else, until the turn takes it; until then it can be taken back. What was sent together stays together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_tree::Message;

use crate::cancel::Cancel;
use crate::turn::QueueMode;

/// When a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// After the tools that run now.
    Steer,
    /// When the model has answered.
    FollowUp,
    /// When the turn is over; the model is not asked because of it.
    AfterTurn,
    /// With the next prompt.
    NextTurn,
}

impl Delivery {
    /// Tells whether the model is asked in this turn because of it.
    fn is_answered(self) -> bool {
        matches!(self, Delivery::Steer | Delivery::FollowUp)
    }
}

/// What a person submitted, as long as it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(u64);

/// Messages that wait; clones share one box.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// What stops the turn that takes the messages; none while there is none.
    turn: Option<Cancel>,
    sent: Vec<Sent>,
    tickets: u64,
}

/// Messages that were sent together, and who sent them.
#[derive(Debug)]
pub(crate) struct Sent {
    ticket: Ticket,
    delivery: Delivery,
    pub(crate) messages: Vec<Message>,
    /// As the source of a submission.
    pub(crate) source: &'static str,
}

impl Waiting {
    fn put(&mut self, delivery: Delivery, messages: Vec<Message>, source: &'static str) -> Ticket {
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        self.sent.push(Sent { ticket, delivery, messages, source });
        ticket
    }
}

impl Inbox {
    /// Lets a message wait until a turn takes it.
    pub fn send(&self, delivery: Delivery, message: Message) {
        self.waiting().put(delivery, vec![message], "extension");
    }

    /// Lets what a person said wait until a turn takes it: a prompt, and what goes with it.
    pub fn submit(&self, delivery: Delivery, messages: Vec<Message>) -> Ticket {
        self.waiting().put(delivery, messages, "interactive")
    }

    /// Sends a message to the turn that is going on; gives it back if there is none.
    pub fn send_to_turn(&self, delivery: Delivery, message: Message) -> Result<(), Message> {
        let mut waiting = self.waiting();
        match waiting.turn {
            None => Err(message),
            Some(_) => {
                waiting.put(delivery, vec![message], "extension");
                Ok(())
            }
        }
    }

    /// Tells whether what was submitted still waits.
    pub fn holds(&self, ticket: Ticket) -> bool {
        self.waiting().sent.iter().any(|sent| sent.ticket == ticket)
    }

    /// Takes back what was submitted; false if a turn has taken it.
    pub fn take_back(&self, ticket: Ticket) -> bool {
        let mut waiting = self.waiting();
        let before = waiting.sent.len();
        waiting.sent.retain(|sent| sent.ticket != ticket);
        waiting.sent.len() < before
    }

    /// Tells whether a turn is going on.
    pub fn is_busy(&self) -> bool {
        self.waiting().turn.is_some()
    }

    /// Tells whether messages wait for the turn that is going on, or for its end.
    pub fn has_waiting(&self) -> bool {
        self.waiting().sent.iter().any(|sent| sent.delivery != Delivery::NextTurn)
    }

    /// Tells whether messages wait that the model is to answer.
    pub(crate) fn has_unanswered(&self) -> bool {
        self.waiting().sent.iter().any(|sent| sent.delivery.is_answered())
    }

    /// Returns the messages that wait for the turn that is going on, or for its end.
    pub(crate) fn waiting_messages(&self) -> Vec<Message> {
        let waiting = self.waiting();
        let sent = |is_answered| {
            let sent = waiting.sent.iter().filter(|sent| sent.delivery != Delivery::NextTurn);
            sent.filter(move |sent| sent.delivery.is_answered() == is_answered)
                .flat_map(|sent| &sent.messages)
        };
        sent(true).chain(sent(false)).cloned().collect()
    }

    /// Stops the turn that is going on.
    pub fn abort(&self) {
        if let Some(turn) = &self.waiting().turn {
            turn.cancel();
        }
    }

    pub(crate) fn open(&self, cancel: &Cancel) {
        self.waiting().turn = Some(cancel.clone());
    }

    /// Ends the turn; what waits goes on waiting.
    pub(crate) fn close(&self) {
        self.waiting().turn = None;
    }

    /// Ends the turn and drops everything that waits.
    pub(crate) fn clear(&self) {
        let mut waiting = self.waiting();
        waiting.turn = None;
        waiting.sent.clear();
    }

    /// Takes what waits to be delivered like this, in the order in which it was sent.
    pub(crate) fn take(&self, delivery: Delivery, mode: QueueMode) -> Vec<Sent> {
        let most = match mode {
            QueueMode::OneAtATime => 1,
            QueueMode::All => usize::MAX,
        };
        let mut taken = 0;
        let is_taken = |sent: &mut Sent| {
            let fits = sent.delivery == delivery && taken < most;
            taken += usize::from(fits);
            fits
        };
        self.waiting().sent.extract_if(.., is_taken).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;

//! The inbox: messages for a turn that is going on, and for the one that comes next.
//!
//! People type while a model answers, and extensions have something to say at any time. What they send waits here
//! until the turn takes it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_tree::Message;

use crate::cancel::Cancel;

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

/// Messages that wait; clones share one box.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// What stops the turn that takes the messages; none while there is none.
    turn: Option<Cancel>,
    messages: Vec<Sent>,
    after_turn: Vec<Message>,
    next_turn: Vec<Message>,
}

/// A message for a turn that is going on, and who sent it.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) delivery: Delivery,
    pub(crate) message: Message,
    /// As the source of a submission.
    pub(crate) source: &'static str,
}

impl Waiting {
    fn put(&mut self, delivery: Delivery, message: Message, source: &'static str) {
        match delivery {
            Delivery::Steer | Delivery::FollowUp => self.messages.push(Sent { delivery, message, source }),
            Delivery::AfterTurn => self.after_turn.push(message),
            Delivery::NextTurn => self.next_turn.push(message),
        }
    }
}

/// What is left when a turn ends.
#[derive(Debug)]
pub(crate) struct Left {
    /// What was sent to the turn and not taken.
    pub(crate) messages: Vec<Sent>,
    /// What was to wait for the end.
    pub(crate) after_turn: Vec<Message>,
}

impl Inbox {
    /// Lets a message wait until a turn takes it.
    pub fn send(&self, delivery: Delivery, message: Message) {
        self.waiting().put(delivery, message, "extension");
    }

    /// Lets a message of the person wait until a turn takes it.
    pub fn submit(&self, delivery: Delivery, message: Message) {
        self.waiting().put(delivery, message, "interactive");
    }

    /// Sends a message to the turn that is going on; gives it back if there is none.
    pub fn send_to_turn(&self, delivery: Delivery, message: Message) -> Result<(), Message> {
        let mut waiting = self.waiting();
        match waiting.turn {
            None => Err(message),
            Some(_) => {
                waiting.put(delivery, message, "extension");
                Ok(())
            }
        }
    }

    /// Tells whether a turn is going on.
    pub fn is_busy(&self) -> bool {
        self.waiting().turn.is_some()
    }

    /// Tells whether messages wait for the turn that is going on.
    pub fn has_waiting(&self) -> bool {
        let waiting = self.waiting();
        !(waiting.messages.is_empty() && waiting.after_turn.is_empty())
    }

    /// Returns the messages that wait for the turn that is going on.
    pub(crate) fn waiting_messages(&self) -> Vec<Message> {
        let waiting = self.waiting();
        waiting.messages.iter().map(|sent| &sent.message).chain(&waiting.after_turn).cloned().collect()
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

    /// Ends the turn; gives what waits for it or for its end.
    pub(crate) fn close(&self) -> Left {
        let mut waiting = self.waiting();
        waiting.turn = None;
        Left {
            messages: std::mem::take(&mut waiting.messages),
            after_turn: std::mem::take(&mut waiting.after_turn),
        }
    }

    /// Takes back what was sent to the turn and not taken yet.
    pub fn take(&self) -> Vec<(Delivery, Message)> {
        self.take_sent().into_iter().map(|sent| (sent.delivery, sent.message)).collect()
    }

    pub(crate) fn take_sent(&self) -> Vec<Sent> {
        std::mem::take(&mut self.waiting().messages)
    }

    pub(crate) fn take_for_next_turn(&self) -> Vec<Message> {
        std::mem::take(&mut self.waiting().next_turn)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

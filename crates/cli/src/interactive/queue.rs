//! Prompts and what waits: sent at once, after the tools that run, or when all is done.
//!
//! What is to be said after the tools that run is in the agent's inbox, too, as soon as a turn goes on; the ticket
//! tells whether it still waits there. What is for later waits only here: it may be a command.

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_agent::agent::{Delivery, Submission, Submitted, Ticket};
use offshoot_agent::error::AgentError;
use offshoot_agent::tool::ToolPlace;
use offshoot_agent::tools::UserCommand;
use offshoot_agent::turn::Outcome;
use offshoot_tui::chat::item::{Item, Tone};
use offshoot_tui::chat::working::{Activity, Queued};

use session_tree::{Role, Session};

use super::desk::Then;
use super::front::Front;
use super::listen;

/// What can be done after an answer was stopped.
const AFTER_STOP: &str = "stopped; /undo takes the prompt back, /tree shows everything";

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    text: String,
    delivery: Delivery,
    /// What the agent holds it as, once it was handed over.
    ticket: Option<Ticket>,
}

impl Front<'_> {
    /// Says something to the model: at once, or after the tools that run.
    pub(super) fn say(&mut self, text: &str) {
        match self.desk.is_busy() {
            _ if self.is_read_only() => self.chat.editor.set_text(text),
            true => self.enqueue(text, Delivery::Steer),
            false => self.prompt(text),
        }
    }

    /// Says something to the model when all is done.
    pub(super) fn follow_up(&mut self, text: &str) {
        match self.desk.is_busy() || self.view.is_some() {
            true => self.enqueue(text, Delivery::FollowUp),
            false => self.submit(text),
        }
    }

    fn enqueue(&mut self, text: &str, delivery: Delivery) {
        self.waiting.push_back(Waiting { text: text.to_owned(), delivery, ticket: None });
        self.hand_over();
    }

    fn show_waiting(&mut self) {
        let queued = |waiting: &Waiting| Queued {
            text: waiting.text.clone(),
            is_follow_up: waiting.delivery == Delivery::FollowUp,
        };
        self.chat.working.queue = self.waiting.iter().map(queued).collect();
    }

    /// Forgets what the turn that goes on has taken, and hands steering messages over to it.
    pub(super) fn hand_over(&mut self) {
        self.waiting.retain(|waiting| waiting.ticket.is_none_or(|ticket| self.inbox.holds(ticket)));
        let is_new = |waiting: &Waiting| waiting.delivery == Delivery::Steer && waiting.ticket.is_none();
        while self.inbox.is_busy()
            && let Some(at) = self.waiting.iter().position(is_new)
        {
            let text = self.waiting[at].text.clone();
            match self.submission(&text).to_messages(self.app.now(), &self.cwd) {
                Ok(messages) => {
                    self.waiting[at].ticket = Some(self.inbox.submit(Delivery::Steer, messages));
                }
                Err(error) => {
                    self.waiting.remove(at);
                    self.put_into_editor(vec![text]);
                    self.fail_with(error);
                }
            }
        }
        self.show_waiting();
    }

    /// Makes a prompt of what was typed, with the images and files that it names.
    fn submission(&self, text: &str) -> Submission {
        let images = self.chat.editor.images_in(text);
        Submission::typed(text).with_images(images).naming_files_in(text)
    }

    /// Goes on with what waits, now that the agent has time.
    pub(super) fn go_on(&mut self) {
        if self.is_over || self.desk.is_busy() {
            return;
        }
        if let Some(then) = self.after.take() {
            return then(self);
        }
        if self.view.is_some() {
            return;
        }
        self.waiting = self.taken_back();
        let next = self.waiting.pop_front();
        self.show_waiting();
        if let Some(next) = next {
            self.submit(&next.text);
        }
    }

    /// Takes back everything that waits, into the editor.
    pub(super) fn take_back(&mut self) {
        let texts = self.taken_back().into_iter().map(|waiting| waiting.text).collect();
        self.show_waiting();
        self.put_into_editor(texts);
    }

    /// Takes everything that waits, also out of the agent's inbox; what a turn has taken is said already.
    fn taken_back(&mut self) -> VecDeque<Waiting> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let is_left = |waiting: &Waiting| waiting.ticket.is_none_or(|ticket| self.inbox.take_back(ticket));
        waiting.filter(is_left).map(|waiting| Waiting { ticket: None, ..waiting }).collect()
    }

    /// Puts texts before what is in the editor.
    fn put_into_editor(&mut self, mut texts: Vec<String>) {
        if texts.is_empty() {
            return;
        }
        let draft = self.chat.editor.text();
        if !draft.trim().is_empty() {
            texts.push(draft);
        }
        self.chat.editor.set_text(&texts.join("\n\n"));
    }

    /// Stops what is going on; what waits comes back into the editor.
    pub(super) fn interrupt(&mut self) {
        self.take_back();
        for asked in self.asked.drain(..) {
            asked.give(None);
        }
        self.guests.stop();
        self.desk.stop();
    }

    /// Begins a turn.
    fn prompt(&mut self, text: &str) {
        let now = self.now();
        let submission = self.submission(text);
        let text = text.to_owned();
        let before = self.desk.read(|session| session.tree().len());
        self.chat.working.hush();
        self.chat.working.begin(Activity::Turn, now);
        self.moved_at = None;
        self.desk.start(|mut agent, cancel| async move {
            let result = match agent.until_unlocked(&cancel).await.and_then(|()| agent.keep_choice()) {
                Ok(()) => agent.submit(submission, &cancel).await,
                Err(error) => Err(error),
            };
            let then: Then = Box::new(move |front| front.answered(result, text, before));
            (agent, then)
        });
    }

    /// Ends a turn. A prompt that is not in the session goes back into the editor.
    fn answered(&mut self, result: Result<Submitted, AgentError>, text: String, before: usize) {
        self.chat.working.end();
        self.chat.transcript.finish_all();
        match result {
            Ok(Submitted::Answered(Outcome::Done) | Submitted::Handled) => return,
            Ok(Submitted::Answered(Outcome::Aborted)) => self.tell(Tone::Info, AFTER_STOP),
            Ok(Submitted::Answered(Outcome::Failed(_))) => {}
            Err(error) => {
                self.fail_with(error);
                if !self.has_prompt_since(before) {
                    self.put_into_editor(vec![text]);
                }
            }
        }
        // What waited was meant for an answer that did not come.
        self.take_back();
    }

    /// Returns true if a prompt was appended after the first `before` entries.
    fn has_prompt_since(&self, before: usize) -> bool {
        let is_prompt = |session: &Session| {
            let tree = session.tree();
            tree.nodes().skip(before).any(|node| tree.role(node) == Some(Role::User))
        };
        self.desk.read(is_prompt)
    }

    /// Runs a command of the person and keeps it in the session.
    pub(super) fn run_shell(&mut self, command: UserCommand) {
        let mark = if command.is_private { "!!" } else { "!" };
        let text = format!("{mark}{}", command.command);
        if self.is_read_only() {
            return self.chat.editor.set_text(&text);
        }
        if self.desk.is_busy() {
            return self.enqueue(&text, Delivery::FollowUp);
        }
        let now = self.now();
        self.chat.working.begin(Activity::Shell, now);
        let item = self.chat.transcript.begin(listen::running(&command.command, command.is_private));
        let cwd = self.cwd.clone();
        self.desk.start(move |mut agent, cancel| async move {
            let place = ToolPlace { cwd, cancel, progress: Arc::new(drop) };
            let ran = agent.run_command(&command, &place).await;
            let kept = ran.as_ref().map_or(Ok(None), |message| agent.keep_command(message).map(Some));
            let then: Then = Box::new(move |front| {
                front.chat.working.end();
                if let Ok(message) = &ran {
                    front.chat.transcript.change(item, |item| *item = Item::of_shell(message));
                }
                front.chat.transcript.finish(item);
                if let Some(error) = ran.err().or(kept.err()) {
                    front.fail_with(error);
                }
            });
            (agent, then)
        });
    }

    /// Does something as soon as the agent has time; what it does now is stopped.
    pub(super) fn when_free(&mut self, then: Then) {
        if self.desk.is_busy() {
            self.interrupt();
            self.after = Some(then);
        } else {
            then(self);
        }
    }

    /// Tells that something has to wait until the agent has time; true if it has none.
    pub(super) fn is_refused_now(&mut self) -> bool {
        if self.desk.is_busy() {
            let key = self.keymap.name(offshoot_tui::keys::Action::Interrupt).unwrap_or_default();
            self.tell(Tone::Warning, format!("not while something runs; {key} stops it"));
        }
        self.desk.is_busy()
    }
}

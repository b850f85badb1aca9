//! Prompts and the queue: sent at once, after the tools that run, or when the agent is idle.
//!
//! A steering message is also in the agent's inbox as soon as a turn runs; its ticket says whether it is still there. A
//! follow-up waits only here, because it may be a command. A task, such as a move in the tree, waits only here, too.

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_agent::agent::{Delivery, Submission, Submitted, Ticket};
use offshoot_agent::error::AgentError;
use offshoot_agent::event::AgentEvent;
use offshoot_agent::tools::UserCommand;
use offshoot_agent::turn::Outcome;
use offshoot_tui::chat::item::{Item, ShellItem, Tone, item_of};
use offshoot_tui::chat::working::{Activity, Queued};
use offshoot_tui::dialog::{self, Question};

use session_tree::{Role, Session};

use super::desk::Then;
use super::front::Front;
use super::view::{Chosen, View};

/// What can be done after an answer was stopped.
const AFTER_STOP: &str = "stopped; /undo takes the prompt back, /tree shows everything";

/// The call id under which the output of a command of the user arrives; models give none like it.
const USER_COMMAND: &str = "!";

/// A queued message or task.
pub(super) struct Waiting {
    /// The message, or the description of the task.
    text: String,
    kind: WaitingKind,
}

enum WaitingKind {
    /// A message for the turn that runs, with the agent's handle once the agent has it.
    Steer(Option<Ticket>),
    FollowUp,
    Task(Then),
}

impl Waiting {
    fn ticket(&self) -> Option<Ticket> {
        match self.kind {
            WaitingKind::Steer(ticket) => ticket,
            WaitingKind::FollowUp | WaitingKind::Task(_) => None,
        }
    }

    fn is_task(&self) -> bool {
        matches!(self.kind, WaitingKind::Task(_))
    }
}

impl Front<'_> {
    /// Says something to the model: at once, or after the tools that run.
    pub(super) fn say(&mut self, text: &str) {
        match self.desk.is_busy() {
            _ if self.is_read_only() => self.chat.editor.set_text(text),
            true => self.enqueue(text, WaitingKind::Steer(None)),
            false => self.prompt(text),
        }
    }

    /// Says something to the model when all is done.
    pub(super) fn follow_up(&mut self, text: &str) {
        match self.desk.is_busy() || self.view.is_some() {
            true => self.enqueue(text, WaitingKind::FollowUp),
            false => self.submit(text),
        }
    }

    fn enqueue(&mut self, text: &str, kind: WaitingKind) {
        self.waiting.push_back(Waiting { text: text.to_owned(), kind });
        self.hand_over();
    }

    fn show_waiting(&mut self) {
        let queued = |waiting: &Waiting| Queued {
            text: waiting.text.clone(),
            is_follow_up: !matches!(waiting.kind, WaitingKind::Steer(_)),
        };
        self.chat.working.queue = self.waiting.iter().map(queued).collect();
    }

    /// Forgets what the turn that goes on has taken, and hands steering messages over to it.
    pub(super) fn hand_over(&mut self) {
        self.waiting.retain(|waiting| waiting.ticket().is_none_or(|ticket| self.inbox.holds(ticket)));
        while self.inbox.is_busy()
            && let Some(at) =
                self.waiting.iter().position(|waiting| matches!(waiting.kind, WaitingKind::Steer(None)))
        {
            let text = self.waiting[at].text.clone();
            match self.submission(&text).to_messages(self.app.env.now(), &self.cwd, &self.secrets) {
                Ok(messages) => {
                    let ticket = self.inbox.submit(Delivery::Steer, messages);
                    self.waiting[at].kind = WaitingKind::Steer(Some(ticket));
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

    /// Makes a prompt of what was typed, with the images and files that it names. Reports files that do not exist.
    fn submission(&mut self, text: &str) -> Submission {
        let images = self.chat.editor.images_in(text);
        let submission = Submission { images, typed: text.to_owned(), ..Submission::typed(text) };
        for file in submission.missing_files(&self.cwd) {
            self.warn(format!("{file} does not exist, so nothing was attached for it"));
        }
        submission
    }

    /// Runs the next queued message or task if the agent is idle.
    pub(super) fn go_on(&mut self) {
        if self.is_over || self.desk.is_busy() {
            return;
        }
        if let Some(then) = self.after.take() {
            return then(self);
        }
        let is_early = self.is_being_typed() && self.waiting.front().is_some_and(Waiting::is_task);
        if self.view.is_some() || is_early {
            return;
        }
        self.waiting = self.taken_back();
        let next = self.waiting.pop_front();
        self.show_waiting();
        match next {
            None => {}
            Some(Waiting { kind: WaitingKind::Task(task), .. }) => {
                task(self);
                if self.view.is_some() {
                    self.opened_unasked();
                }
            }
            Some(message) => self.submit(&message.text),
        }
    }

    /// Runs a queued task that had to wait for a pause in typing.
    pub(super) fn run_delayed_task(&mut self) {
        if self.waiting.front().is_some_and(Waiting::is_task) {
            self.go_on();
        }
    }

    /// Empties the queue: messages go back into the editor, tasks are dropped.
    pub(super) fn take_back(&mut self) {
        self.take_back_messages();
        self.waiting.clear();
        self.show_waiting();
    }

    /// Puts queued messages back into the editor; tasks stay queued.
    fn take_back_messages(&mut self) {
        let (tasks, messages): (VecDeque<_>, VecDeque<_>) =
            self.taken_back().into_iter().partition(Waiting::is_task);
        self.waiting = tasks;
        self.show_waiting();
        self.put_into_editor(messages.into_iter().map(|message| message.text).collect());
    }

    /// Takes the whole queue, also out of the agent's inbox; messages that a turn has taken are left out.
    fn taken_back(&mut self) -> VecDeque<Waiting> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|waiting| waiting.ticket().is_none_or(|ticket| self.inbox.take_back(ticket)));
        for waiting in &mut waiting {
            if let WaitingKind::Steer(ticket) = &mut waiting.kind {
                *ticket = None;
            }
        }
        waiting
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
        let is_lost = result.is_err() && !self.has_prompt_since(before);
        match result {
            Ok(Submitted::Answered(Outcome::Done) | Submitted::Handled) => return,
            Ok(Submitted::Answered(Outcome::Aborted)) => self.tell(Tone::Info, AFTER_STOP),
            Ok(Submitted::Answered(Outcome::Failed(_))) => {}
            Err(error) => self.fail_with(error),
        }
        // Queued messages were written for an answer that did not come.
        self.take_back_messages();
        if is_lost {
            // Before the queued messages, as it was typed.
            self.put_into_editor(vec![text]);
        }
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
            return self.enqueue(&text, WaitingKind::FollowUp);
        }
        let now = self.now();
        self.chat.working.begin(Activity::Shell, now);
        let item = self.chat.transcript.begin(Item::Shell(ShellItem {
            command: command.command.clone(),
            is_private: command.is_private,
            is_running: true,
            ..ShellItem::default()
        }));
        self.listener.calls.push((USER_COMMAND.to_owned(), item));
        let tell = self.tell.clone();
        self.desk.start(move |mut agent, cancel| async move {
            let mut place = agent.tool_place(cancel);
            place.progress = Arc::new(move |output| {
                // The receiver may be gone during shutdown.
                drop(tell.send(AgentEvent::ToolUpdate { call_id: USER_COMMAND.to_owned(), output }));
            });
            let ran = agent.run_command(&command, &place).await;
            let kept = ran.as_ref().map_or(Ok(None), |message| agent.keep_command(message).map(Some));
            let then: Then = Box::new(move |front| {
                front.chat.working.end();
                front.listener.calls.retain(|(_, known)| *known != item);
                if let Some(ended) = ran.as_ref().ok().and_then(item_of) {
                    front.chat.transcript.change(item, |item| *item = ended);
                }
                front.chat.transcript.finish(item);
                if let Some(error) = ran.err().or(kept.err()) {
                    front.fail_with(error);
                }
            });
            (agent, then)
        });
    }

    /// Runs `task` now if the agent is idle, else as soon as it is.
    pub(super) fn when_idle(&mut self, task: Then) {
        match self.desk.is_busy() {
            true => self.after = Some(task),
            false => task(self),
        }
    }

    /// Runs `task`; asks first if that would interrupt running work.
    ///
    /// `what` names the task in the answers, and `stay` runs if the user decides against it.
    pub(super) fn ask_to_interrupt(&mut self, what: &str, task: Then, stay: Then) {
        if !self.desk.is_busy() {
            return task(self);
        }
        let title = match self.chat.working.activity() {
            Some(Activity::Turn) => "The model is still answering",
            Some(Activity::Shell) => "A command is still running",
            Some(Activity::Compaction) => "The context is being compacted",
            Some(Activity::Summary) => "A summary is being written",
            Some(Activity::Other(_)) | None => "Something is still running",
        };
        let answers = vec![
            dialog::Item::new("Wait until it ends", format!("then {what}")),
            dialog::Item::new("Stop it", format!("and {what} now")),
            dialog::Item::new("Stay here", "nothing changes"),
        ];
        let text = what.to_owned();
        let chosen: Chosen<Option<usize>> = Box::new(move |front, answer| match answer {
            Some(0) => {
                front.waiting.push_back(Waiting { text, kind: WaitingKind::Task(task) });
                front.show_waiting();
            }
            Some(1) => {
                front.interrupt();
                front.when_idle(task);
            }
            _ => stay(front),
        });
        self.open_view(View::Question(Question::new(title, "", answers), chosen));
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

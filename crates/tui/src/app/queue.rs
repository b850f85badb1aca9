//! Prompts and the queue: sent at once, after the tools that run, or when the agent is idle.
//!
//! Everything that waits is in the queue of the agent. A command or a move that waits holds the queue while
//! it runs, so that the prompts behind it stay behind it.

use crate::chat::item::{Item, ShellItem, Tone, item_of};
use crate::chat::working::{Activity, Queued};
use crate::dialog::{self, Question};
use offshoot_agent::agent::{Delivery, Submission, Submitted, USER_COMMAND};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::error::AgentError;
use offshoot_agent::handle::QueueHold;
use offshoot_agent::queue::QueueText;
use offshoot_agent::tools::UserCommand;

use super::App;
use super::requests::NextStep;
use super::services::Line;

/// The notice after an answer was stopped.
pub(super) const AFTER_STOP: &str = "stopped; /undo takes the prompt back, /tree shows everything";

/// The tasks of the chat that wait in the queue of the agent.
#[derive(Default)]
pub(super) struct QueuedTasks {
    /// The task that is next, until it can run.
    due: Option<DueTask>,
    /// Keeps the queue waiting while a task runs.
    hold: Option<QueueHold>,
}

struct DueTask {
    hold: QueueHold,
    text: QueueText,
    due: Due,
    task: NextStep,
}

impl QueuedTasks {
    /// Returns true while a task runs.
    pub(super) fn holds_queue(&self) -> bool {
        self.hold.is_some()
    }
}

/// When the user expects a queued task to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// As soon as the work that was just stopped has ended.
    Now,
    /// At some time: keys that are typed then are not meant for it.
    Later,
}

impl App<'_> {
    /// Sends a prompt: at once, or after the tools that run.
    pub(super) fn say(&mut self, text: &str) {
        match self.is_busy() {
            _ if self.is_read_only() => self.chat.editor.set_text(text),
            true => self.queue_prompt(text, Delivery::Steer),
            false => self.prompt(text),
        }
    }

    /// Sends a prompt or runs a command when everything else is done.
    pub fn follow_up(&mut self, text: &str) {
        let is_prompt = matches!(self.services.parse(text), Line::Text) && UserCommand::parse(text).is_none();
        match self.is_busy() || self.views.is_open() {
            // A prompt behind an open view waits until the view is closed.
            true if is_prompt && self.is_busy() && !self.extensions.is_loading() => {
                self.queue_prompt(text, Delivery::FollowUp);
            }
            true => self.queue_command(text),
            false => self.submit(text),
        }
    }

    fn queue_prompt(&mut self, text: &str, delivery: Delivery) {
        let submission = self.submission(text);
        self.agent.queue_prompt(submission, delivery);
    }

    /// Runs a typed line when everything before it in the queue is done.
    pub(super) fn queue_command(&mut self, text: &str) {
        let line = text.to_owned();
        let task: NextStep = Box::new(move |app| app.submit(&line));
        self.queue_task(QueueText::Typed(text.to_owned()), Due::Later, task);
    }

    /// Runs a task when everything before it in the queue is done.
    fn queue_task(&mut self, text: QueueText, due: Due, task: NextStep) {
        let held = self.agent.hold(text.clone());
        self.call_idle(held, move |app, held| {
            if let Ok(hold) = held {
                app.tasks.due = Some(DueTask { hold, text, due, task });
            }
        });
    }

    /// Runs the task that is next, at a pause in typing and when no view is open. Lets the queue go on when the
    /// task is done.
    pub(super) fn run_due_task(&mut self) {
        let (now, tasks) = (self.now(), &mut self.tasks);
        if tasks.holds_queue() && !self.requests.is_busy() && !self.views.is_open() {
            tasks.hold = None;
        }
        if self.is_over || tasks.holds_queue() || self.views.is_open() || self.chat.is_being_typed(now) {
            return;
        }
        let Some(DueTask { hold, due, task, .. }) = tasks.due.take() else { return };
        tasks.hold = Some(hold);
        task(self);
        if self.views.is_open() && due == Due::Later {
            let now = self.now();
            self.views.delay_answer(now);
        }
    }

    /// Shows the queue.
    pub(super) fn show_queue(&mut self) {
        let due = self.tasks.due.iter().map(|due| (due.text.as_str().to_owned(), None));
        let queued = self.agent.queue().into_iter().map(|queued| (queued.text, queued.delivery));
        let shown = |(text, delivery)| Queued { text, is_follow_up: delivery != Some(Delivery::Steer) };
        self.chat.working.queue = due.chain(queued).map(shown).collect();
    }

    /// Makes a prompt of what was typed, with the images and files that it names. Reports files that do not exist.
    fn submission(&mut self, text: &str) -> Submission {
        let images = self.chat.editor.images_in(text);
        let submission = Submission { images, typed: text.to_owned(), ..Submission::typed(text) };
        for file in submission.missing_files(&self.environment.cwd) {
            self.warn(format!("{file} does not exist, so nothing was attached for it"));
        }
        submission
    }

    /// Empties the queue: prompts and commands go back into the editor, tasks are dropped.
    pub(super) fn take_back(&mut self) {
        let due = self.tasks.due.take().and_then(|due| match due.text {
            QueueText::Typed(text) => Some(Submission::typed(text)),
            QueueText::Description(_) => None,
        });
        let prompts = due.into_iter().chain(self.agent.take_back()).collect();
        self.return_prompts(prompts);
    }

    /// Puts prompts before what is in the editor.
    pub(super) fn return_prompts(&mut self, prompts: Vec<Submission>) {
        if prompts.is_empty() {
            return;
        }
        let mut texts: Vec<String> = prompts.into_iter().map(|prompt| prompt.text).collect();
        let draft = self.chat.editor.text();
        if !draft.trim().is_empty() {
            texts.push(draft);
        }
        self.chat.editor.set_text(&texts.join("\n\n"));
    }

    /// Stops the work that runs; the queue goes back into the editor.
    pub(super) fn interrupt(&mut self) {
        self.take_back();
        self.approvals.clear();
        self.extensions.stop();
        self.stop_export.iter().for_each(Cancel::cancel);
        self.agent.abort();
    }

    /// Begins a turn.
    fn prompt(&mut self, text: &str) {
        let submission = self.submission(text);
        self.chat.working.hush();
        self.begin(Activity::Turn);
        self.navigation.forget_move();
        let reply = self.agent.prompt(submission);
        self.call(reply, |app, result| app.answered(result));
    }

    fn answered(&mut self, result: Result<Submitted, AgentError>) {
        self.chat.working.end();
        self.chat.transcript.finish_all();
        if let Err(error) = result {
            self.fail_with(error);
        }
    }

    /// Runs a shell command of the user and appends it to the session.
    pub(super) fn run_shell(&mut self, command: UserCommand) {
        let mark = if command.is_private { "!!" } else { "!" };
        let text = format!("{mark}{}", command.command);
        if self.is_read_only() {
            return self.chat.editor.set_text(&text);
        }
        if self.is_busy() {
            return self.queue_command(&text);
        }
        self.begin(Activity::Shell);
        let item = self.chat.transcript.begin(Item::Shell(ShellItem {
            command: command.command.clone(),
            is_private: command.is_private,
            is_running: true,
            ..ShellItem::default()
        }));
        self.live.add_call(USER_COMMAND, item);
        let reply = self.agent.run_command(command);
        self.call(reply, move |app, ran| {
            app.chat.working.end();
            app.live.remove_call(item);
            if let Some(ended) = ran.as_ref().ok().and_then(|ran| item_of(&ran.message)) {
                app.chat.transcript.change(item, |item| *item = ended);
            }
            app.chat.transcript.finish(item);
            if let Err(error) = ran.and_then(|ran| ran.appended) {
                app.fail_with(error);
            }
        });
    }

    /// Runs `task`; asks first if that would interrupt running work.
    ///
    /// `what` names the task in the answers, and `stay` runs if the user decides against it.
    pub(super) fn ask_to_interrupt(&mut self, what: &str, task: NextStep, stay: NextStep) {
        if !self.is_busy() {
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
        let text = QueueText::Description(what.to_owned());
        self.open_question(Question::new(title, "", answers), move |app, answer| match answer {
            Some(0) => app.queue_task(text, Due::Later, task),
            Some(1) => {
                app.interrupt();
                app.queue_task(text, Due::Now, task);
            }
            _ => stay(app),
        });
    }

    /// Returns true, and reports it, if a command has to wait because something runs.
    pub(super) fn is_refused_now(&mut self) -> bool {
        let is_busy = self.is_busy();
        if is_busy {
            let key = self.settings.keymap.name(crate::keys::Action::Interrupt).unwrap_or_default();
            self.tell(Tone::Warning, format!("not while something runs; {key} stops it"));
        }
        is_busy
    }
}

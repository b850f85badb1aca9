//! The front: everything that is on the screen, and the loop that waits for somebody to do something.
//!
//! ```text
//!   keys, signals, the agent, questions, time  ->  front  ->  frame
//! ```

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use offshoot_agent::approval::ApprovalRequest;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::{AgentEvent, Subscription};
use offshoot_agent::handle::{AgentHandle, QueueHold};
use offshoot_agent::model::{ModelSpec, ThinkingLevel};
use offshoot_agent::shared::Source;
use offshoot_agent::turn::Outcome;
use offshoot_providers::Providers;
use offshoot_tui::chat::inline::{self, Inline};
use offshoot_tui::chat::item::{Item, Tone, items_at};
use offshoot_tui::chat::working::Activity;
use offshoot_tui::chat::{Chat, DoubleEscape, Intent, Overlay};
use offshoot_tui::crossterm::event::Event;
use offshoot_tui::dialog::Unasked;
use offshoot_tui::keys::{Action, Keymap};
use offshoot_tui::ratatui::buffer::Buffer;
use offshoot_tui::ratatui::layout::Rect;
use offshoot_tui::summary::Choice;
use offshoot_tui::time::{Local, Zone};
use offshoot_tui::tree::TreeSelector;
use session_tree::{Image, Usage};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use super::extensions::{ChatUpdate, Guests, Place};
use super::listen::Listener;
use super::pending::{Pending, Then};
use super::picking::Picking;
use super::presence::Presence;
use super::queue::{AFTER_STOP, DueTask};
use super::reader::Found;
use super::sources::ProjectFiles;
use super::status::Spending;
use super::terminal::Terminal;
use super::view::View;
use crate::app::App;
use crate::error::{CommandError, chain};
use crate::setup::Setup;
use crate::signal::Signals;
use crate::talk;

/// How often a frame is drawn while something moves.
const BEAT: Duration = Duration::from_millis(100);
/// How often it is looked for what others append.
const LOOK: Duration = Duration::from_millis(500);
/// How long after a move the position is made durable.
const SETTLED: Duration = Duration::from_secs(5);

/// Everything that is on the screen.
pub(super) struct Front<'a> {
    pub(super) chat: Chat,
    pub(super) agent: AgentHandle,
    /// The events of the agent.
    events: Subscription,
    /// The requests whose replies the chat waits for.
    pub(super) pending: Pending,
    /// The task that is next in the queue, until it can run.
    pub(super) due: Option<DueTask>,
    /// Keeps the queue waiting while a task runs.
    pub(super) hold: Option<QueueHold>,
    pub(super) app: &'a App,
    pub(super) args: &'a talk::Args,
    /// The extensions, and what they show.
    pub(super) guests: Guests,
    pub(super) setup: Setup,
    pub(super) providers: Providers,
    pub(super) keymap: Keymap,
    pub(super) home: Option<String>,
    zone: &'static Zone,
    pub(super) cwd: PathBuf,
    /// What has the keyboard instead of the editor.
    pub(super) view: Option<View>,
    /// Since when the view has been there, if it opened by itself.
    pub(super) unasked: Option<Unasked>,
    /// Keys that were typed while a move ran; the editor gets them when no view is open.
    pub(super) typed_ahead: Vec<Event>,
    /// When a key last went to the editor.
    pub(super) typed_at: Duration,
    /// What gets the keyboard when the view is closed; the last one first.
    pub(super) behind: Vec<View>,
    /// The tree, kept as it was left.
    pub(super) tree: Option<Box<TreeSelector>>,
    /// What is told of branches that are left, once and for all.
    pub(super) always: Option<Choice>,
    /// The command that was typed last, until it has succeeded or opened a view.
    submitted: Option<String>,
    /// Stops the export that runs.
    pub(super) stop_export: Option<Cancel>,
    /// Stops the move that the summary dialog has started.
    pub(super) stop_move: Option<Cancel>,
    /// The model and how hard it thinks, also while the agent works.
    pub(super) model: Option<ModelSpec>,
    pub(super) thinking: ThinkingLevel,
    /// What all branches cost so far.
    pub(super) spending: Spending,
    /// Looks for an image in the clipboard.
    pub(super) pasting: Option<JoinHandle<Option<Image>>>,
    /// The files of the project, for completion.
    pub(super) files: ProjectFiles,
    /// What the picker of sessions needs.
    pub(super) picking: Picking,
    /// Shows others that the session is open here.
    pub(super) presence: Presence,
    pub(super) listener: Listener,
    pub(super) terminal: Terminal,
    /// Whether somebody else had the terminal since the last look.
    was_lent: bool,
    signals: Signals,
    pub(super) inline: Inline,
    approvals: UnboundedReceiver<ApprovalRequest>,
    pub(super) asked: VecDeque<ApprovalRequest>,
    started: Instant,
    pub(super) moved_at: Option<Duration>,
    looked_at: Duration,
    pub(super) is_over: bool,
    /// Stops the commands that run when the chat ends.
    pub(super) leaving: Cancel,
    pub(super) columns: u16,
}

/// Something happened.
enum Happened {
    Terminal(Option<std::io::Result<Event>>),
    Told(Option<AgentEvent>),
    Asked(Option<ApprovalRequest>),
    Done(Then),
    ChatUpdate(ChatUpdate),
    Counted(Option<Usage>),
    Found(Found),
    Pasted(Option<Image>),
    Files(Option<Vec<String>>),
    Signal,
    Time,
}

impl<'a> Front<'a> {
    /// Takes the terminal over and puts everything together.
    pub(super) fn new(
        chat: Chat,
        agent: AgentHandle,
        app: &'a App,
        args: &'a talk::Args,
        setup: Setup,
    ) -> Result<Self, CommandError> {
        let providers = setup.providers()?;
        // Before the terminal changes, so that no signal leaves it that way.
        let signals = Signals::listen()?;
        let terminal = Terminal::enter().map_err(broken)?;
        let columns = terminal.size().0;
        Ok(Front {
            keymap: chat.keymap.clone(),
            cwd: setup.cwd.clone(),
            events: agent.subscribe(),
            approvals: agent.approvals(),
            model: agent.state().model.map(|model| model.spec().clone()),
            thinking: agent.state().thinking,
            agent,
            pending: Pending::default(),
            due: None,
            hold: None,
            zone: app.env.zone(),
            chat,
            guests: Guests::new(app.ui.is_plain()),
            app,
            args,
            setup,
            providers,
            home: app.env.home(),
            view: None,
            unasked: None,
            typed_ahead: Vec::new(),
            typed_at: Duration::ZERO,
            behind: Vec::new(),
            tree: None,
            always: None,
            submitted: None,
            stop_export: None,
            stop_move: None,
            spending: Spending::default(),
            pasting: None,
            files: ProjectFiles::default(),
            picking: Picking::default(),
            presence: Presence::default(),
            listener: Listener::default(),
            terminal,
            was_lent: false,
            signals,
            inline: Inline::default(),
            asked: VecDeque::new(),
            started: Instant::now(),
            moved_at: None,
            looked_at: Duration::ZERO,
            is_over: false,
            leaving: Cancel::new(),
            columns,
        })
    }

    /// Returns how long the front has been there; all its times are counted like this.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits and draws until the user leaves.
    pub(super) async fn run(mut self) -> Result<(), CommandError> {
        let talked = self.talk().await.and_then(|()| self.say_goodbye());
        self.leaving.cancel();
        self.agent.abort();
        // A command is not left half done.
        while self.pending.is_busy() {
            drop(self.pending.next().await);
        }
        talked
    }

    async fn talk(&mut self) -> Result<(), CommandError> {
        while !self.is_over {
            self.draw()?;
            self.feed_picker();
            let happened = self.wait().await;
            self.take(happened)?;
            self.hear_events();
            self.show_queue();
            if std::mem::take(&mut self.was_lent) {
                self.signals.forget_interrupts().await;
            }
        }
        Ok(())
    }

    /// Leaves everything in the scrollback, and the terminal as it was.
    fn say_goodbye(&mut self) -> Result<(), CommandError> {
        self.close_full_screen()?;
        let bytes = self.inline.leave();
        self.write(&bytes)?;
        self.chat.transcript.close();
        let nothing = Buffer::empty(Rect::new(0, 0, self.columns, 0));
        while !self.chat.transcript.is_empty() {
            let printed = self.chat.transcript.take_done(usize::from(self.columns), 0);
            let bytes = self.inline.frame(&printed, &nothing, None, self.terminal.size().1);
            self.write(&bytes)?;
        }
        // The next program's output stands apart from the conversation.
        self.write("\r\n")?;
        self.terminal.pause().map_err(broken)
    }

    async fn wait(&mut self) -> Happened {
        let pause = match self.chat.working.moves() || self.is_busy() {
            _ if self.chat.transcript.has_done() => Duration::ZERO,
            _ if self.search_on() => Duration::ZERO,
            _ if self.waits_for_calm() => BEAT,
            true => BEAT,
            false => LOOK,
        };
        tokio::select! {
            biased;
            event = self.terminal.events().next() => Happened::Terminal(event),
            () = self.signals.arrived() => Happened::Signal,
            then = self.pending.next() => Happened::Done(then),
            event = self.events.next() => Happened::Told(event.map(|event| event.event)),
            counted = self.spending.counted() => Happened::Counted(counted),
            image = finished(&mut self.pasting) => Happened::Pasted(image),
            files = self.files.listed() => Happened::Files(files),
            asked = self.approvals.recv() => Happened::Asked(asked),
            news = self.guests.next() => Happened::ChatUpdate(news),
            found = self.picking.found() => Happened::Found(found),
            () = tokio::time::sleep(pause) => Happened::Time,
        }
    }

    fn take(&mut self, happened: Happened) -> Result<(), CommandError> {
        match happened {
            Happened::Terminal(Some(Ok(event))) => self.on_event(&event)?,
            // Whoever reads us is gone.
            Happened::Terminal(_) | Happened::Signal => self.leave(),
            Happened::Told(Some(event)) => self.hear(event),
            Happened::Asked(Some(asked)) => {
                self.asked.push_back(asked);
                self.show_question();
            }
            Happened::Done(then) => {
                // What was told before the end belongs before it.
                self.hear_events();
                self.hear_extensions();
                then(self);
                self.refresh();
                self.pass_keyboard();
            }
            Happened::ChatUpdate(news) => self.take_news(news),
            Happened::Counted(counted) => self.counted(counted),
            Happened::Found(found) => self.found(found),
            Happened::Pasted(image) => self.pasted(image),
            Happened::Files(files) => self.files_are_listed(files),
            Happened::Time => self.on_time(),
            Happened::Told(None) | Happened::Asked(None) => {}
        }
        if self.view.is_none() {
            for event in std::mem::take(&mut self.typed_ahead) {
                self.on_event(&event)?;
            }
        }
        // Questions and tasks wait for a pause in typing.
        self.show_question();
        self.run_due_task();
        if !self.is_busy() {
            self.submitted = None;
        }
        Ok(())
    }

    fn on_event(&mut self, event: &Event) -> Result<(), CommandError> {
        if let Event::Resize(columns, _) = event {
            self.columns = *columns;
            self.inline.resized(*columns);
            self.redraw_extensions();
            return Ok(());
        }
        if self.view.is_some() {
            if !self.is_too_early(event) {
                self.unasked = None;
                self.view_event(event);
            }
            return Ok(());
        }
        if self.press_foreign(event) {
            return Ok(());
        }
        if let Event::Paste(text) = event
            && !self.chat.editor.shown_text().starts_with(['/', '!'])
            && self.attach_file(text)
        {
            return Ok(());
        }
        let now = self.now();
        self.typed_at = now;
        let sources = super::sources::Known {
            agent: &self.agent,
            guests: &self.guests,
            providers: &self.providers,
            files: &self.files,
            app: self.app,
        };
        let intent = self.chat.update(event, &sources, now);
        self.list_files();
        self.inform_extensions();
        self.ask_for_arguments();
        intent.map_or(Ok(()), |intent| self.want(intent))
    }

    /// Does what the person wants.
    fn want(&mut self, intent: Intent) -> Result<(), CommandError> {
        match intent {
            Intent::Submit(text) => {
                self.begin_submission(&text);
                self.submit(&text);
            }
            Intent::FollowUp(text) => {
                self.begin_submission(&text);
                self.follow_up(&text);
            }
            Intent::Interrupt => self.interrupt(),
            Intent::Escaped(DoubleEscape::Fork) => self.act(Action::SessionFork)?,
            Intent::Escaped(DoubleEscape::Tree | DoubleEscape::Nothing) => self.open_tree(None),
            Intent::Quit => self.leave(),
            Intent::Dequeue => self.take_back(),
            Intent::Act(action) => self.act(action)?,
        }
        Ok(())
    }

    /// Forgets notices about what was before, and notes the text of a command in case it fails.
    fn begin_submission(&mut self, text: &str) {
        self.chat.working.hush();
        self.presence.has_appended = false;
        self.submitted = text.starts_with('/').then(|| text.trim_end().to_owned());
    }

    /// Ends the loop.
    pub(super) fn leave(&mut self) {
        self.is_over = true;
    }

    /// Takes all events that have arrived.
    fn hear_events(&mut self) {
        while let Some(event) = self.events.try_next() {
            self.hear(event.event);
        }
    }

    fn hear(&mut self, event: AgentEvent) {
        let now = self.now();
        self.count(&event);
        match event {
            AgentEvent::AgentStart if self.chat.working.activity() != Some(&Activity::Turn) => {
                self.chat.working.begin(Activity::Turn, now);
            }
            AgentEvent::Returned { prompts } => return self.return_prompts(prompts),
            AgentEvent::Failed { error } => {
                return match Arc::try_unwrap(error) {
                    Ok(error) => self.fail_with(error),
                    Err(error) => self.fail(&chain(&error)),
                };
            }
            AgentEvent::PositionChanged { session, from, by: Source::Extension } => {
                return self.follow_extension(
                    &Place { session, leaf: from },
                    "an extension went here; /back returns",
                );
            }
            AgentEvent::AgentEnd(ref outcome) => {
                self.chat.working.end();
                if *outcome == Outcome::Aborted {
                    self.tell(Tone::Info, AFTER_STOP);
                }
            }
            _ => {}
        }
        let is_end = matches!(event, AgentEvent::AgentEnd(_));
        if !self.show_foreign(&event) {
            self.listener.take(event, &mut self.chat, now);
        }
        // The reply to a prompt of the chat refreshes, too.
        if is_end && !self.pending.is_busy() {
            self.refresh();
        }
    }

    fn on_time(&mut self) {
        let now = self.now();
        if now.saturating_sub(self.looked_at) >= LOOK {
            self.looked_at = now;
            self.look_for_others();
        }
        if self.moved_at.is_some_and(|moved| now.saturating_sub(moved) >= SETTLED) {
            self.keep_position();
        }
    }

    /// Makes the position durable, if a move is not followed by an append.
    pub(super) fn keep_position(&mut self) {
        if self.is_busy() {
            return;
        }
        self.moved_at = None;
        if self.agent.read(|session| session.is_saved() && session.read_only().is_none()) {
            let reply = self.agent.keep_position();
            self.call_idle(reply, |front, kept| {
                if let Err(error) = kept {
                    front.fail_with(error);
                }
            });
        }
    }

    /// Tells that something went well, or is good to know.
    pub(super) fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        let now = self.now();
        self.chat.working.tell(tone, text, now);
    }

    /// Tells what a person should know later, too; it stays in the scrollback.
    pub(super) fn warn(&mut self, text: impl Into<String>) {
        self.chat.transcript.push(Item::Notice(Tone::Warning, text.into()));
    }

    /// Tells that something went wrong; it stays in the scrollback.
    pub(super) fn fail(&mut self, text: &str) {
        tracing::warn!("{text}");
        self.chat.transcript.push(Item::Notice(Tone::Error, text.to_owned()));
    }

    /// Tells why something could not be done, and what to do about it. The command goes back into the editor.
    pub(super) fn fail_with(&mut self, error: impl Into<CommandError>) {
        let error = error.into();
        let Some(failure) = error.failure() else { return };
        let hints = failure.hints.iter().map(|hint| format!("\nhint: {hint}"));
        let text = format!("{}{}", failure.message, hints.collect::<String>());
        self.fail(&text);
        let command = self.submitted.take().filter(|_| self.chat.editor.is_blank());
        if let Some(command) = command {
            self.chat.editor.set_text(&command);
        }
    }

    /// Prints something that the person asked for.
    pub(super) fn print(&mut self, text: impl Into<String>) {
        self.chat.transcript.push(Item::Notice(Tone::Info, text.into()));
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self) -> Result<(), CommandError> {
        let (columns, rows) = self.terminal.size();
        if matches!(self.view, Some(View::Viewer(..))) {
            return self.draw_full_screen(columns, rows);
        }
        self.close_full_screen()?;
        let now = self.now();
        let beat = (now.as_millis() / BEAT.as_millis()) as usize;
        let frame = match self.view.take() {
            None => self.chat.frame(columns, rows, now, None),
            Some(mut view) => {
                let height = self.view_height(&view, columns, rows);
                let (agent, keymap, theme) = (&self.agent, &self.keymap, self.chat.theme);
                let local = Local { now: self.app.env.now(), zone: self.zone };
                let early = self.unasked.filter(|unasked| !unasked.is_over(now));
                let mut draw = |area: Rect, buf: &mut Buffer| {
                    super::view::draw(&mut view, agent, theme, keymap, local, beat, area, buf);
                    if let Some(unasked) = early {
                        unasked.draw(theme, keymap, area, buf);
                    }
                };
                let frame = self.chat.frame(columns, rows, now, Some(Overlay { height, draw: &mut draw }));
                self.view = Some(view);
                frame
            }
        };
        let bytes = self.inline.frame(&frame.printed, &frame.live, frame.cursor, rows);
        self.write(&bytes)
    }

    fn draw_full_screen(&mut self, columns: u16, rows: u16) -> Result<(), CommandError> {
        let Some(View::Viewer(viewer, path)) = &mut self.view else { return Ok(()) };
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        let entries = |at| self.agent.read(|session| items_at(session, path, at));
        viewer.draw(&self.keymap, &entries, buffer.area, &mut buffer);
        self.terminal.show_full(true).map_err(broken)?;
        self.write(&inline::screen(&buffer))
    }

    fn close_full_screen(&mut self) -> Result<(), CommandError> {
        self.terminal.show_full(false).map_err(broken)
    }

    pub(super) fn write(&self, bytes: &str) -> Result<(), CommandError> {
        self.terminal.write(bytes).map_err(broken)
    }

    /// Gives the terminal away while `work` runs, and draws anew afterwards.
    pub(super) fn lend_terminal<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, CommandError> {
        self.close_full_screen()?;
        let bytes = self.inline.leave();
        self.write(&bytes)?;
        self.terminal.pause().map_err(broken)?;
        let result = work();
        self.was_lent = true;
        self.terminal.resume().map_err(broken)?;
        self.inline.forget();
        self.columns = self.terminal.size().0;
        Ok(result)
    }
}

/// Waits until work beside us is done; for ever if there is none.
pub(super) async fn finished<T>(work: &mut Option<JoinHandle<Option<T>>>) -> Option<T> {
    match work {
        Some(work) => work.await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// The terminal cannot be used any more.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives errors away")]
fn broken(error: std::io::Error) -> CommandError {
    CommandError::system("use", "the terminal".as_ref(), &error)
}

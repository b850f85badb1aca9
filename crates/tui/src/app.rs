//! The app: the chat at a terminal, over the event stream of an agent.
//!
//! ```text
//!   keys, agent events, replies, extensions, time -> update -> state -> draw -> terminal
//! ```
//!
//! [`App`] owns the parts of the chat. A part keeps its state to itself: its fields are private to its module, and other
//! modules call its methods. A step that concerns several parts is a method of [`App`], in the module of its topic.
//! Nothing blocks the loop: a request to the agent has a reply, which is the next step (`requests`), and slow work runs
//! beside the loop.

mod approvals;
mod background;
mod commands;
mod completion;
mod extensions;
mod external;
mod images;
mod live;
mod navigation;
mod queue;
mod requests;
mod review;
mod screen;
mod services;
mod session_reader;
mod sessions;
mod sharing;
mod signals;
mod status;
mod views;
mod welcome;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::Event;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::error::chain;
use offshoot_agent::event::{AgentEvent, Subscription};
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::shared::Source;
use offshoot_agent::turn::Outcome;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use session_tree::{Image, Usage};
use tokio::task::JoinHandle;

use crate::chat::command::CommandSpec;
use crate::chat::item::{Item, ItemStyle, Tone};
use crate::chat::transcript::Transcript;
use crate::chat::working::Activity;
use crate::chat::{Chat, DoubleEscape, Intent, Overlay};
use crate::keys::Action;
use crate::theme::Theme;
use crate::time::Local;
use approvals::Approvals;
use completion::ProjectFiles;
use extensions::{ChatUpdate, ExtensionUi, Place};
use live::LiveItems;
use navigation::Navigation;
use queue::{AFTER_STOP, QueuedTasks};
use requests::{NextStep, Requests};
use screen::Screen;
use services::ChatError;
use session_reader::ReaderResult;
use sessions::SessionList;
use sharing::Sharing;
use status::Status;
use views::{View, Views};

pub use background::theme as terminal_theme;
pub use completion::references;
pub use live::lock_notice;
pub use review::merge_warnings;
pub use screen::is_terminal;
pub use services::{
    AvailableModel, ChangeCommand, ChangeEffect, ChangeResult, ChatCommand, ChatSettings, Environment,
    ErrorText, Export, Line, Report, RuleScope, RunChange, Services, SessionChange, SessionCommand,
    TrustQuestion,
};
pub use signals::Signals;

/// The time between two frames while something moves.
const FRAME_TIME: Duration = Duration::from_millis(100);
/// How often to poll for entries appended by other programs.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The time after a move when the position is written.
const POSITION_DELAY: Duration = Duration::from_secs(5);

/// The chat at a terminal.
pub struct App<'a> {
    services: Box<dyn Services + 'a>,
    environment: Environment,
    settings: ChatSettings,
    agent: AgentHandle,
    events: Subscription,
    approvals: Approvals,
    requests: Requests,
    tasks: QueuedTasks,
    chat: Chat,
    /// The items of the transcript that still change.
    live: LiveItems,
    views: Views,
    screen: Screen,
    extensions: ExtensionUi,
    status: Status,
    navigation: Navigation,
    sharing: Sharing,
    sessions: SessionList,
    /// The files of the project, for completion.
    files: ProjectFiles,
    /// Looks for an image in the clipboard.
    pasting: Option<JoinHandle<Option<Image>>>,
    /// Stops the export that runs.
    stop_export: Option<Cancel>,
    /// Stops the commands that run when the chat ends.
    leaving: Cancel,
    /// The command that was typed last, until it has succeeded or opened a view.
    submitted: Option<String>,
    started: Instant,
    polled_at: Duration,
    is_over: bool,
}

/// An event of the main loop.
enum AppEvent {
    /// An event of the terminal; `None` if the program has to end.
    Terminal(Option<Event>),
    Agent(AgentEvent),
    Approval,
    Reply(NextStep),
    Extension(ChatUpdate),
    Counted(Option<Usage>),
    Sessions(ReaderResult),
    Pasted(Option<Image>),
    Files(Option<Vec<String>>),
    Tick,
}

impl<'a> App<'a> {
    /// Takes the terminal over.
    pub fn new(
        agent: AgentHandle,
        theme: Theme,
        commands: Vec<CommandSpec>,
        environment: Environment,
        settings: ChatSettings,
        services: Box<dyn Services + 'a>,
    ) -> io::Result<Self> {
        let mut chat = Chat::new(Transcript::new(ItemStyle::new(theme)), settings.keymap.clone());
        chat.commands = commands;
        let mut app = App {
            screen: Screen::enter()?,
            events: agent.subscribe(),
            approvals: Approvals::new(agent.approvals()),
            requests: Requests::default(),
            tasks: QueuedTasks::default(),
            chat,
            live: LiveItems::default(),
            views: Views::default(),
            extensions: ExtensionUi::new(environment.is_plain),
            status: Status::default(),
            navigation: Navigation::default(),
            sharing: Sharing::default(),
            sessions: SessionList::default(),
            files: ProjectFiles::default(),
            pasting: None,
            stop_export: None,
            leaving: Cancel::new(),
            submitted: None,
            started: Instant::now(),
            polled_at: Duration::ZERO,
            is_over: false,
            services,
            environment,
            settings: ChatSettings::default(),
            agent,
        };
        app.use_settings(settings);
        Ok(app)
    }

    /// Shows a warning about something that the program found before the chat began.
    pub fn warn_about(&mut self, text: &str) {
        self.fail(text);
    }

    fn use_settings(&mut self, settings: ChatSettings) {
        // What was printed keeps the names of the old keys.
        let expand_key = settings.keymap.name(Action::ToolsExpand).unwrap_or_default();
        let item_style = self.chat.transcript.item_style().clone();
        self.chat.transcript.set_item_style(ItemStyle { expand_key, ..item_style });
        self.chat.keymap = settings.keymap.clone();
        self.chat.double_escape = settings.double_escape;
        settings.warnings.iter().for_each(|warning| self.fail(warning));
        self.settings = settings;
    }

    /// Returns the time since the start; all times of the chat are counted like this.
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Runs the chat until the user leaves.
    pub async fn run(mut self) -> io::Result<()> {
        let ended = self.run_loop().await.and_then(|()| self.screen.leave(&mut self.chat.transcript));
        self.leaving.cancel();
        self.agent.abort();
        // A command is not left half done.
        while self.requests.is_busy() {
            drop(self.requests.next().await);
        }
        ended
    }

    async fn run_loop(&mut self) -> io::Result<()> {
        while !self.is_over {
            self.draw()?;
            self.feed_sessions();
            let event = self.next_event().await;
            self.update(event)?;
            self.take_agent_events();
            self.show_queue();
            self.screen.settle().await;
        }
        Ok(())
    }

    async fn next_event(&mut self) -> AppEvent {
        let now = self.now();
        let has_question = !self.approvals.is_empty() || self.extensions.has_question();
        let waits_for_pause =
            self.views.early(now).is_some() || has_question && self.chat.is_being_typed(now);
        let pause = match self.chat.working.moves() || self.is_busy() || waits_for_pause {
            _ if self.chat.transcript.has_done() => Duration::ZERO,
            _ if self.views.search_step(&self.agent) => Duration::ZERO,
            true => FRAME_TIME,
            false => POLL_INTERVAL,
        };
        tokio::select! {
            biased;
            event = self.screen.next() => AppEvent::Terminal(event),
            next = self.requests.next() => AppEvent::Reply(next),
            Some(event) = self.events.next() => AppEvent::Agent(event.event),
            counted = self.status.counted() => AppEvent::Counted(counted),
            image = finished(&mut self.pasting) => AppEvent::Pasted(image),
            files = self.files.listed() => AppEvent::Files(files),
            () = self.approvals.receive() => AppEvent::Approval,
            update = self.extensions.next() => AppEvent::Extension(update),
            found = self.sessions.found() => AppEvent::Sessions(found),
            () = tokio::time::sleep(pause) => AppEvent::Tick,
        }
    }

    /// Applies one event to the state.
    fn update(&mut self, event: AppEvent) -> io::Result<()> {
        match event {
            AppEvent::Terminal(Some(event)) => self.terminal_event(&event)?,
            AppEvent::Terminal(None) => self.is_over = true,
            AppEvent::Agent(event) => self.agent_event(event),
            AppEvent::Reply(next) => {
                // Events that came before the reply belong before it.
                self.take_agent_events();
                self.take_extension_updates();
                next(self);
                self.refresh();
                self.pass_keyboard();
            }
            AppEvent::Extension(update) => self.take_extension_update(update),
            AppEvent::Counted(counted) => {
                self.status.add_counted(counted, &self.agent, &mut self.chat.footer);
            }
            AppEvent::Sessions(found) => self.sessions_found(found),
            AppEvent::Pasted(image) => self.pasted(image),
            AppEvent::Files(files) => self.files_are_listed(files),
            AppEvent::Tick => self.tick(),
            AppEvent::Approval => {}
        }
        for event in self.views.take_typed() {
            self.terminal_event(&event)?;
        }
        // Questions and tasks wait for a pause in typing.
        self.show_question();
        self.run_due_task();
        if !self.is_busy() {
            self.submitted = None;
        }
        Ok(())
    }

    fn terminal_event(&mut self, event: &Event) -> io::Result<()> {
        if let Event::Resize(columns, _) = event {
            self.screen.resize(*columns);
            self.redraw_components(None);
            return Ok(());
        }
        let now = self.now();
        if self.views.is_open() {
            if !self.views.is_too_early(event, &self.settings.keymap, now) {
                self.view_event(event);
            }
            return Ok(());
        }
        if self.offer_key(event) {
            return Ok(());
        }
        self.editor_event(event)
    }

    /// Handles a key that no extension consumed.
    fn editor_event(&mut self, event: &Event) -> io::Result<()> {
        let now = self.now();
        if self.press_extension_key(event) {
            return Ok(());
        }
        if let Event::Paste(text) = event
            && !self.chat.editor.shown_text().starts_with(['/', '!'])
            && self.attach_file(text)
        {
            return Ok(());
        }
        let sources = completion::CompletionSources {
            agent: &self.agent,
            extensions: &self.extensions,
            files: &self.files,
            services: &*self.services,
            cwd: &self.environment.cwd,
        };
        let intent = self.chat.update(event, &sources, now);
        self.list_files();
        self.inform_extensions();
        self.complete_arguments();
        intent.map_or(Ok(()), |intent| self.perform(intent))
    }

    /// Performs a request of the user.
    fn perform(&mut self, intent: Intent) -> io::Result<()> {
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
            Intent::Quit => self.is_over = true,
            Intent::Dequeue => self.take_back(),
            Intent::Act(action) => self.act(action)?,
        }
        Ok(())
    }

    /// Drops older notices, and notes the text of a command in case it fails.
    fn begin_submission(&mut self, text: &str) {
        self.chat.working.hush();
        self.sharing.went_on();
        self.submitted = text.starts_with('/').then(|| text.trim_end().to_owned());
    }

    fn take_agent_events(&mut self) {
        while let Some(event) = self.events.try_next() {
            self.agent_event(event.event);
        }
    }

    fn agent_event(&mut self, event: AgentEvent) {
        let now = self.now();
        self.status.count(&event, &self.agent, &mut self.chat.footer);
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
        if !self.show_extension_item(&event) {
            self.live.take(event, &mut self.chat, now);
        }
        // The reply to a prompt of the chat refreshes, too.
        if is_end && !self.requests.is_busy() {
            self.refresh();
        }
    }

    fn tick(&mut self) {
        let now = self.now();
        if now.saturating_sub(self.polled_at) >= POLL_INTERVAL {
            self.polled_at = now;
            self.poll_others();
        }
        if self.navigation.has_rested(now, POSITION_DELAY) {
            self.keep_position();
        }
    }

    /// Writes the position, if a move was not followed by an append.
    fn keep_position(&mut self) {
        if self.is_busy() {
            return;
        }
        self.navigation.forget_move();
        if self.agent.read(|session| session.is_saved() && session.read_only().is_none()) {
            let reply = self.agent.keep_position();
            self.call_idle(reply, |app, kept| {
                if let Err(error) = kept {
                    app.fail_with(error);
                }
            });
        }
    }

    /// Returns true while the agent works, or the chat works on something with it.
    fn is_busy(&self) -> bool {
        self.requests.is_busy() || (!self.tasks.holds_queue() && !self.agent.is_idle())
    }

    /// Reads the state of the session and the agent again, after something changed.
    fn refresh(&mut self) {
        self.status.refresh(&self.agent, &self.environment, &mut self.chat.footer);
        self.inform_extensions();
    }

    /// Shows that something runs.
    fn begin(&mut self, activity: Activity) {
        let now = self.now();
        self.chat.working.begin(activity, now);
    }

    /// Shows a short notice for a while.
    fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        let now = self.now();
        self.chat.working.tell(tone, text, now);
    }

    /// Prints a warning, which stays in the scrollback.
    fn warn(&mut self, text: impl Into<String>) {
        self.chat.transcript.push(Item::Notice(Tone::Warning, text.into()));
    }

    /// Prints an error, which stays in the scrollback.
    fn fail(&mut self, text: &str) {
        tracing::warn!("{text}");
        self.chat.transcript.push(Item::Notice(Tone::Error, text.to_owned()));
    }

    /// Prints an error with its hints. The command that failed goes back into the editor.
    fn fail_with(&mut self, error: impl Into<ChatError>) {
        let text = match error.into() {
            ChatError::Text(text) => text,
            ChatError::Agent(error) => self.services.describe(error),
        };
        self.fail(&text);
        let command = self.submitted.take().filter(|_| self.chat.editor.is_blank());
        if let Some(command) = command {
            self.chat.editor.set_text(&command);
        }
    }

    /// Prints a text that the user asked for.
    fn print(&mut self, text: impl Into<String>) {
        self.chat.transcript.push(Item::Notice(Tone::Info, text.into()));
    }

    /// Draws a frame.
    fn draw(&mut self) -> io::Result<()> {
        let ((columns, rows), now) = (self.screen.size(), self.now());
        let Some(mut view) = self.views.take() else {
            let frame = self.chat.frame(columns, rows, now, None);
            return self.screen.show(&frame);
        };
        let beat = (now.as_millis() / FRAME_TIME.as_millis()) as usize;
        let (agent, keymap, theme) = (&self.agent, &self.settings.keymap, self.chat.theme);
        let local = Local { now: (self.environment.now)(), zone: self.environment.zone };
        let early = self.views.early(now);
        let height = view.height(columns, rows);
        let is_full = matches!(view, View::Viewer(..));
        let mut draw = |area: Rect, buf: &mut Buffer| {
            view.draw(agent, theme, keymap, local, beat, area, buf);
            if let Some(answer_delay) = early {
                answer_delay.draw(theme, keymap, area, buf);
            }
        };
        let shown = if is_full {
            let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
            draw(buffer.area, &mut buffer);
            self.screen.show_full(&buffer)
        } else {
            let overlay = Overlay { height, draw: &mut draw };
            let frame = self.chat.frame(columns, rows, now, Some(overlay));
            self.screen.show(&frame)
        };
        self.views.put(view);
        shown
    }
}

/// Waits until work beside the loop is done; for ever if nothing runs.
async fn finished<T>(work: &mut Option<JoinHandle<Option<T>>>) -> Option<T> {
    match work {
        Some(work) => work.await.ok().flatten(),
        None => std::future::pending().await,
    }
}

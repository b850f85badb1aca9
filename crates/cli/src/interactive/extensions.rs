//! Extensions in the conversation: what they ask, show and draw, and what the person does with them.
//!
//! ```text
//!   threads of extensions -> news -> front -> dialogs, rows around the editor, items
//! ```
//!
//! Nothing here waits for script: whatever an extension has to do runs beside the loop, and what came of it is news.

mod bytes;
mod commands;
mod dialog;
mod drawing;
mod offers;
mod surface;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::ExtensionCommand;
use offshoot_agent::shared::continues_from;
use offshoot_agent::tools::ToolBox;
use offshoot_extensions::Extension;
use offshoot_extensions::host::{AskedQuestion, HostEvent, Mode, Notice};
use offshoot_tui::ansi;
use offshoot_tui::chat::item::{Item, Tone};
use offshoot_tui::chat::working::Activity;
use offshoot_tui::clean::clean;
use offshoot_tui::dialog::{Item as Answer, Question};
use offshoot_tui::keys::{Chord, Input};
use offshoot_tui::ratatui::style::Style;
use offshoot_tui::ratatui::text::Line;
use session_tree::EntryId;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::front::Front;
use super::view::{Chosen, View};
use crate::extensions::{self, Extended, ExtensionFrontEnd, Sources};
use crate::setup::{LeftOut, Setup};
use crate::trust::TrustFile;

pub(super) use dialog::Dialog;
pub(super) use drawing::Foreign;
use offers::Offers;
use surface::Surface;

/// The extensions of a conversation.
pub(super) struct Guests {
    extended: Option<Extended>,
    send: UnboundedSender<ChatUpdate>,
    news: UnboundedReceiver<ChatUpdate>,
    /// What runs beside the loop; it ends with the conversation.
    tasks: JoinSet<()>,
    commands: Vec<(String, Arc<dyn ExtensionCommand>)>,
    shortcuts: Vec<(Chord, String, Extension)>,
    /// What may follow their commands: whoever completes only looks.
    offers: RefCell<Offers>,
    /// What of theirs cannot be used, as far as it was told.
    unusable: Vec<String>,
    surface: Surface,
    pub(super) asked: VecDeque<AskedQuestion>,
    /// Commands that run, and what stops them.
    running: Vec<(String, Cancel)>,
    is_loading: bool,
    /// Whether the session is shown when they are loaded: they may draw some of it.
    is_awaited: bool,
    /// How many entries were looked at for something to draw.
    seen: usize,
}

/// A change of the chat that an extension requests and the main loop makes.
pub(super) type ChatUpdate = Box<dyn FnOnce(&mut Front<'_>) + Send>;

/// A position in a session.
pub(super) struct Place {
    pub(super) session: String,
    pub(super) leaf: Option<EntryId>,
}

impl Guests {
    /// Makes a conversation without extensions.
    pub(super) fn new(is_plain: bool) -> Self {
        let (send, news) = unbounded_channel();
        Guests {
            extended: None,
            send,
            news,
            tasks: JoinSet::new(),
            commands: Vec::new(),
            shortcuts: Vec::new(),
            offers: RefCell::default(),
            unusable: Vec::new(),
            surface: Surface::new(is_plain),
            asked: VecDeque::new(),
            running: Vec::new(),
            is_loading: false,
            is_awaited: false,
            seen: 0,
        }
    }

    /// Waits for news; for ever if there are no extensions.
    pub(super) async fn next(&mut self) -> ChatUpdate {
        while self.tasks.try_join_next().is_some() {}
        match self.news.recv().await {
            Some(news) => news,
            // We hold a sender ourselves.
            None => std::future::pending().await,
        }
    }

    fn output(&self) -> ExtensionFrontEnd {
        let send = self.send.clone();
        // The receiver may be gone during shutdown.
        let front_end = Arc::new(move |event| {
            drop(send.send(Box::new(move |front: &mut Front<'_>| front.take_host_event(event))));
        });
        ExtensionFrontEnd { mode: Mode::Tui, front_end }
    }

    /// Runs something beside the main loop, which makes the change that comes of it.
    fn spawn<N>(&mut self, work: impl Future<Output = N> + Send + 'static)
    where
        N: FnOnce(&mut Front<'_>) + Send + 'static,
    {
        let send = self.send.clone();
        self.tasks.spawn(async move { drop(send.send(Box::new(work.await))) });
    }

    /// Returns true while extensions are loaded.
    pub(super) fn is_loading(&self) -> bool {
        self.is_loading
    }

    /// Tells whether there are any.
    pub(super) fn are_there(&self) -> bool {
        self.extended.is_some()
    }

    /// Stops all commands that run.
    pub(super) fn stop(&self) {
        self.running.iter().for_each(|(_, cancel)| cancel.cancel());
    }
}

impl Front<'_> {
    /// Opens the conversation: greets or shows the session, and loads extensions.
    pub(super) fn open(&mut self, sources: Sources) {
        self.guests.is_awaited = !sources.is_empty() && !self.is_new();
        if !self.guests.is_awaited {
            self.welcome();
        }
        self.begin_extensions(sources);
        if self.guests.extended.is_none() {
            self.welcome_late();
        }
    }

    fn welcome_late(&mut self) {
        if std::mem::take(&mut self.guests.is_awaited) {
            self.welcome();
        }
    }

    /// Loads extensions, if there are any, and tells them that the conversation begins.
    fn begin_extensions(&mut self, sources: Sources) {
        let output = self.guests.output();
        let (args, setup) = (&self.args.extensions, &self.setup);
        let extended = match Extended::new(args, sources, &self.agent, setup, output, self.app) {
            Ok(Some(extended)) => extended,
            Ok(None) => return,
            Err(error) => return self.fail_with(error),
        };
        extended.host.tools.want(self.args.wanted_tools());
        self.guests.extended = Some(extended.clone());
        self.load(&extended, true);
    }

    /// Loads extensions for the first time, or anew.
    fn load(&mut self, extended: &Extended, is_first: bool) {
        let instructions = match self.args.instructions(&self.setup) {
            Ok(instructions) => instructions,
            Err(error) => return self.fail_with(error),
        };
        self.guests.is_loading = true;
        self.guests.stop();
        // Who waits for an extension that does not come to an end can stop it.
        let now = self.now();
        self.chat.working.begin(Activity::Other("Loading extensions…".to_owned()), now);
        let reply = match is_first {
            true => extensions::start(&self.agent, Some(extended), Some(instructions)),
            false => self.agent.reload(Some(extended.system_prompt(instructions))),
        };
        self.call(reply, move |front, _| front.extensions_are_loaded(is_first));
    }

    fn extensions_are_loaded(&mut self, is_first: bool) {
        self.guests.is_loading = false;
        self.chat.working.end();
        let known = self.guests.extended.as_ref();
        let all = known.map_or_else(ToolBox::all, |extended| extended.host.tools.all());
        let count = known.map_or(0, |extended| extended.loaded().iter().count());
        let checked = self.args.extensions.check_flags(known).and_then(|()| self.args.check_tools(&all));
        if let Err(error) = checked {
            self.fail_with(error);
        }
        if !is_first {
            self.tell_reloaded(count);
        }
    }

    fn tell_reloaded(&mut self, count: usize) {
        let count = offshoot_tui::numbers::count(count, "extension");
        let rest = "API keys, key bindings, settings and context files";
        let later = "colours and permission rules change at the next start";
        self.tell(Tone::Success, format!("reloaded {count}, {rest}; {later}"));
    }

    /// Reloads everything that is read from files: settings, directories and trust are looked at again.
    pub(super) fn reload(&mut self) {
        match self.args.setup_again(self.app) {
            Ok((setup, Some(LeftOut::Undecided { project, is_changed }))) => {
                self.ask_for_trust(setup, *project, is_changed);
            }
            Ok((setup, _)) => self.load_again(setup),
            Err(error) => self.fail_with(error),
        }
    }

    fn load_again(&mut self, setup: Setup) {
        // The question may have been answered while somebody works.
        if self.is_refused_now() {
            return;
        }
        self.setup = setup;
        if let Err(error) = self.use_setup() {
            return self.fail_with(error);
        }
        let sources = match Sources::new(&self.args.extensions, &self.setup, true, self.app) {
            Ok(sources) => sources,
            Err(error) => return self.fail_with(error),
        };
        match self.guests.extended.clone() {
            None => {
                self.tell_reloaded(0);
                self.begin_extensions(sources);
            }
            Some(extended) => {
                extended.set_sources(sources);
                self.load(&extended, false);
            }
        }
    }

    /// Asks whether what a project would load now is trusted.
    fn ask_for_trust(&mut self, setup: Setup, project: crate::trust::Project, is_changed: bool) {
        let files: Vec<String> =
            project.items.iter().map(|item| format!("{} {}", item.purpose, item.path.display())).collect();
        let title = match is_changed {
            true => "This project changed since you trusted it. Trust it as it is now?",
            false => "This project brings settings and code along. Trust them?",
        };
        let answers = vec![
            Answer::new("Not now", "nothing of it is used"),
            Answer::new("Trust", "until any of these files changes"),
        ];
        let chosen: Chosen<Option<usize>> = Box::new(move |front, answer| {
            if answer != Some(1) {
                return front.load_again(setup);
            }
            let state = front.app.env.state_dir();
            let kept = state.and_then(|state| TrustFile::in_directory(&state).remember(&project, true));
            match kept.and_then(|()| front.args.setup_again(front.app)) {
                Ok((setup, _)) => front.load_again(setup),
                Err(error) => front.fail_with(error),
            }
        });
        self.open_view(View::Question(Question::new(title, files.join("\n"), answers), chosen));
    }

    /// Makes all changes that are there already.
    pub(super) fn hear_extensions(&mut self) {
        while let Ok(news) = self.guests.news.try_recv() {
            self.take_news(news);
        }
    }

    /// Makes the change that an extension caused.
    pub(super) fn take_news(&mut self, news: ChatUpdate) {
        news(self);
        self.show_new_entries();
    }

    fn take_host_event(&mut self, event: HostEvent) {
        match event {
            HostEvent::NotLoaded(text) => self.fail(&text),
            HostEvent::Failed(trouble) => self.fail(&trouble.to_string()),
            HostEvent::Show(extension, notice) => self.show_notice(&extension, notice),
            HostEvent::Waiting(extension, event) => {
                let text = format!("waiting for the extension {extension} ({event}); Esc goes on without it");
                self.tell(Tone::Warning, text);
            }
            HostEvent::Ask(asked) => {
                self.guests.asked.push_back(asked);
                self.show_question();
            }
            HostEvent::Close(id) => self.close_dialog(id),
            HostEvent::Loaded => {
                self.guests.surface.clear();
                self.guests.seen = self.agent.read(|session| session.tree().len());
                self.show_extras();
                self.guests.unusable.clear();
                self.know_commands();
                self.welcome_late();
            }
            HostEvent::Registered => self.know_commands(),
            HostEvent::Moved(leaf) => {
                let before = Place { leaf, ..self.place() };
                self.follow_extension(&before, "an extension went here; /tree shows the other branch");
            }
            HostEvent::EditorText(text) => {
                if self.chat.editor.is_blank() {
                    self.chat.editor.set_text(&text);
                }
            }
            HostEvent::Reload => self.follow_up("/reload"),
            HostEvent::Shutdown => self.follow_up("/quit"),
        }
    }

    fn show_notice(&mut self, extension: &Extension, notice: Notice) {
        match notice {
            Notice::Notify { message, level } => {
                let tone = match level.as_str() {
                    "error" => Tone::Error,
                    "warning" => Tone::Warning,
                    _ => Tone::Info,
                };
                self.chat.transcript.push(Item::Notice(tone, message));
            }
            Notice::Title { text } => {
                if self.write(&format!("\x1b]0;{}\x07", clean(&text))).is_err() {
                    self.leave();
                }
            }
            Notice::EditorText { text } => self.chat.editor.set_text(&text),
            Notice::Paste { text } => drop(self.chat.editor.update(&Input::Paste(text))),
            Notice::Working { text } => self.chat.working.words = text,
            Notice::Redraw { component } => self.redraw(&extension.component(component)),
            notice => {
                self.guests.surface.take(notice, |id| extension.component(id));
                self.draw_parts();
            }
        }
    }

    /// Shows where the conversation stands, if an extension took it elsewhere.
    pub(super) fn follow_extension(&mut self, before: &Place, said: &str) {
        let now = self.place();
        if now.session != before.session {
            return self.take_place("another session, opened by an extension");
        }
        let is_elsewhere = self.agent.read(|session| !continues_from(session, before.leaf.as_ref()));
        if now.leaf != before.leaf && is_elsewhere {
            self.arrive(None, Vec::new(), Some(said));
        }
    }

    fn place(&self) -> Place {
        self.agent
            .read(|session| Place { session: session.header().id().into_owned(), leaf: session.leaf_id() })
    }

    /// Lets extensions know how the agent and the screen are.
    pub(super) fn inform_extensions(&self) {
        let Some(extended) = &self.guests.extended else { return };
        let mut state = extended.host.state();
        state.model.clone_from(&self.model);
        state.thinking = self.thinking;
        state.editor_text = self.chat.editor.text();
    }
}

/// Reads lines that an extension drew.
fn lines(drawn: &[String], is_plain: bool) -> Vec<Line<'static>> {
    let read = |text: &String| {
        let mut line = ansi::line(text);
        if is_plain {
            line.spans.iter_mut().for_each(|span| {
                span.style = Style { fg: None, bg: None, ..span.style };
            });
        }
        line
    };
    drawn.iter().map(read).collect()
}

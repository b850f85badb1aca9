//! Extensions in the chat: their questions, commands and keys, and the rows and items that they draw.
//!
//! Nothing here waits for script. Work of an extension runs beside the loop and ends with a [`ChatUpdate`], which the main
//! loop applies.

mod arguments;
mod bytes;
mod commands;
mod dialog;
mod drawing;
mod keys;
mod surface;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::ansi;
use crate::chat::item::{Item, ItemStyle, Tone};
use crate::chat::working::Activity;
use crate::clean::clean;
use crate::dialog::{Item as Answer, Question};
use crate::keys::{Chord, Input};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::ExtensionCommand;
use offshoot_agent::shared::continues_from;
use offshoot_extensions::host::{AskedQuestion, FrontEnd, Host, HostEvent, Notice};
use offshoot_extensions::theme::ThemeFile;
use offshoot_extensions::{Extension, Extensions};
use ratatui::style::Style;
use ratatui::text::Line;
use session_tree::EntryId;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::App;
use super::services::TrustQuestion;

use arguments::ArgumentCache;
pub(super) use dialog::Dialog;
pub(super) use drawing::ExtensionItem;
use keys::HeardKeys;
use surface::ExtensionRows;

/// The extensions of the chat.
pub(super) struct ExtensionUi {
    host: Option<Arc<Host>>,
    send: UnboundedSender<ChatUpdate>,
    updates: UnboundedReceiver<ChatUpdate>,
    /// The work beside the loop; it ends with the chat.
    tasks: JoinSet<()>,
    commands: Vec<(String, Arc<dyn ExtensionCommand>)>,
    shortcuts: Vec<(Chord, String, Extension)>,
    keys: HeardKeys,
    /// The arguments of commands; completion reads it through a shared reference.
    arguments: RefCell<ArgumentCache>,
    /// The warnings about commands and keys that cannot be used, as far as they were shown.
    unusable: Vec<String>,
    surface: ExtensionRows,
    questions: VecDeque<AskedQuestion>,
    /// The commands that run, and what stops them.
    running: Vec<(String, Cancel)>,
    is_loading: bool,
    /// True if the session is shown when extensions are loaded, because they may draw some of it.
    delays_welcome: bool,
    /// The number of entries that were searched for something to draw.
    seen: usize,
}

/// A change of the chat that an extension requests and the main loop makes.
pub(super) type ChatUpdate = Box<dyn FnOnce(&mut App<'_>) + Send>;

/// A position in a session.
pub(super) struct Place {
    pub(super) session: String,
    pub(super) leaf: Option<EntryId>,
}

impl ExtensionUi {
    /// Makes a chat without extensions.
    pub(super) fn new(is_plain: bool) -> Self {
        let (send, updates) = unbounded_channel();
        ExtensionUi {
            host: None,
            send,
            updates,
            tasks: JoinSet::new(),
            commands: Vec::new(),
            shortcuts: Vec::new(),
            keys: HeardKeys::default(),
            arguments: RefCell::default(),
            unusable: Vec::new(),
            surface: ExtensionRows::new(is_plain),
            questions: VecDeque::new(),
            running: Vec::new(),
            is_loading: false,
            delays_welcome: false,
            seen: 0,
        }
    }

    /// Waits for the next change; for ever if there are no extensions.
    pub(super) async fn next(&mut self) -> ChatUpdate {
        while self.tasks.try_join_next().is_some() {}
        match self.updates.recv().await {
            Some(update) => update,
            // This struct holds a sender itself.
            None => std::future::pending().await,
        }
    }

    fn front_end(&self) -> FrontEnd {
        let send = self.send.clone();
        // The receiver may be gone during shutdown.
        Arc::new(move |event| {
            drop(send.send(Box::new(move |app: &mut App<'_>| app.take_host_event(event))));
        })
    }

    /// Runs something beside the main loop, which makes the change that it returns.
    fn spawn<N>(&mut self, work: impl Future<Output = N> + Send + 'static)
    where
        N: FnOnce(&mut App<'_>) + Send + 'static,
    {
        let send = self.send.clone();
        self.tasks.spawn(async move { drop(send.send(Box::new(work.await))) });
    }

    /// Returns the extensions that are loaded.
    fn loaded(&self) -> Option<Extensions> {
        self.host.as_ref().map(|host| host.tools.extensions())
    }

    /// Returns true while extensions are loaded.
    pub(super) fn is_loading(&self) -> bool {
        self.is_loading
    }

    /// Returns true if there are any.
    pub(super) fn are_there(&self) -> bool {
        self.host.is_some()
    }

    /// Returns true if a question of an extension waits.
    pub(super) fn has_question(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Stops all commands that run.
    pub(super) fn stop(&self) {
        self.running.iter().for_each(|(_, cancel)| cancel.cancel());
    }
}

impl App<'_> {
    /// Opens the conversation: greets or shows the session, and loads extensions.
    pub fn open(&mut self) {
        self.extensions.delays_welcome = self.services.has_extensions() && !self.is_new();
        if !self.extensions.delays_welcome {
            self.welcome();
        }
        self.begin_extensions();
        if !self.extensions.are_there() {
            self.welcome_late();
        }
    }

    fn welcome_late(&mut self) {
        if std::mem::take(&mut self.extensions.delays_welcome) {
            self.welcome();
        }
    }

    /// Makes the host of extensions and loads them.
    fn begin_extensions(&mut self) {
        match self.services.make_host(&self.agent, self.extensions.front_end()) {
            Ok(Some(host)) => {
                self.extensions.host = Some(host);
                self.load_extensions(true);
            }
            Ok(None) => {}
            Err(error) => self.fail_with(error),
        }
    }

    /// Loads extensions for the first time, or again.
    fn load_extensions(&mut self, is_first: bool) {
        let reply = match self.services.load_extensions(&self.agent, is_first) {
            Ok(reply) => reply,
            Err(error) => return self.fail_with(error),
        };
        self.extensions.is_loading = true;
        self.extensions.stop();
        // An extension that does not come to an end can be stopped.
        self.begin(Activity::Other("Loading extensions…".to_owned()));
        self.call(reply, move |app, _| {
            app.extensions.is_loading = false;
            app.chat.working.end();
            if let Err(error) = app.services.check_extensions() {
                app.fail_with(error);
            }
            if !is_first {
                app.show_reloaded();
            }
        });
    }

    fn show_reloaded(&mut self) {
        let count = self.extensions.loaded().map_or(0, |loaded| loaded.iter().count());
        let count = crate::numbers::count(count, "extension");
        let rest = "API keys, key bindings, settings and context files";
        let later = "colours and permission rules change at the next start";
        self.tell(Tone::Success, format!("reloaded {count}, {rest}; {later}"));
    }

    /// Reloads everything that is read from files: settings, directories and trust are looked at again.
    pub(super) fn reload(&mut self) {
        match self.services.read_again() {
            Ok(Some(question)) => self.ask_for_trust(&question),
            Ok(None) => self.load_again(),
            Err(error) => self.fail_with(error),
        }
    }

    fn load_again(&mut self) {
        // The question may have been answered while the agent works.
        if self.is_refused_now() {
            return;
        }
        let settings = match self.services.use_again(&self.agent) {
            Ok(reply) => {
                self.call(reply, |_, _| {});
                self.services.settings()
            }
            Err(error) => return self.fail_with(error),
        };
        match settings {
            Ok(settings) => self.use_settings(settings),
            Err(error) => return self.fail_with(error),
        }
        if self.extensions.are_there() {
            self.load_extensions(false);
        } else {
            self.show_reloaded();
            self.begin_extensions();
        }
    }

    /// Asks whether the project is trusted as it is now.
    fn ask_for_trust(&mut self, question: &TrustQuestion) {
        let title = match question.is_changed {
            true => "This project changed since you trusted it. Trust it as it is now?",
            false => "This project brings settings and code along. Trust them?",
        };
        let answers = vec![
            Answer::new("Not now", "nothing of it is used"),
            Answer::new("Trust", "until any of these files changes"),
        ];
        let question = Question::new(title, question.files.join("\n"), answers);
        self.open_question(question, |app, answer| match answer {
            Some(1) => match app.services.trust_project() {
                Ok(()) => app.load_again(),
                Err(error) => app.fail_with(error),
            },
            _ => app.load_again(),
        });
    }

    /// Makes all changes that have arrived.
    pub(super) fn take_extension_updates(&mut self) {
        while let Ok(update) = self.extensions.updates.try_recv() {
            self.take_extension_update(update);
        }
    }

    /// Makes the change that an extension requests.
    pub(super) fn take_extension_update(&mut self, update: ChatUpdate) {
        update(self);
        self.show_new_entries();
    }

    fn take_host_event(&mut self, event: HostEvent) {
        match event {
            HostEvent::NotLoaded(text) => self.fail(&text),
            HostEvent::Failed(trouble) => self.fail(&trouble.to_string()),
            HostEvent::Show(extension, notice) => self.show_notice(&extension, notice),
            HostEvent::Waiting(extension, event) => {
                let text = format!("waiting for the extension {extension} ({event}); Esc skips it");
                self.tell(Tone::Warning, text);
            }
            HostEvent::Ask(asked) => {
                self.extensions.questions.push_back(asked);
                self.show_question();
            }
            HostEvent::Close(id) => self.close_dialog(id),
            HostEvent::Loaded => {
                self.extensions.surface.clear();
                self.extensions.seen = self.agent.read(|session| session.tree().len());
                self.show_extras();
                self.extensions.unusable.clear();
                self.update_commands();
                self.welcome_late();
            }
            HostEvent::Registered => self.update_commands(),
            HostEvent::Moved(leaf) => {
                let before = Place { leaf, ..self.place() };
                self.follow_extension(&before, "an extension went here; /tree shows the other branch");
            }
            HostEvent::EditorText(text) => {
                if self.chat.editor.is_blank() {
                    self.chat.editor.set_text(&text);
                }
            }
            HostEvent::Theme(theme) => self.use_theme(&theme),
            HostEvent::Reload => self.follow_up("/reload"),
            HostEvent::Shutdown => self.follow_up("/quit"),
        }
    }

    /// Changes how items are drawn.
    pub(super) fn restyle(&mut self, change: impl FnOnce(&mut ItemStyle)) {
        let mut style = self.chat.transcript.item_style().clone();
        change(&mut style);
        self.chat.transcript.set_item_style(style);
    }

    /// Draws the chat with the colours of another theme. A terminal without colours keeps none.
    pub(super) fn use_theme(&mut self, theme: &ThemeFile) {
        if !self.environment.is_plain {
            let current = self.chat.transcript.item_style().theme;
            let mode = self.services.themes().mode();
            self.restyle(|style| style.theme = current.with_file(theme, mode));
            self.redraw_components(None);
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
                if self.screen.write(&format!("\x1b]0;{}\x07", clean(&text))).is_err() {
                    self.is_over = true;
                }
            }
            Notice::EditorText { text } => self.chat.editor.set_text(&text),
            Notice::Paste { text } => drop(self.chat.editor.update(&Input::Paste(text))),
            Notice::Working { text } => self.chat.working.words = text,
            Notice::Copy { text } => self.copy_text(&text, "a text of an extension"),
            Notice::WorkingVisible { visible } => self.chat.working.is_hidden = !visible,
            Notice::WorkingIndicator { frames, interval } => {
                let each = Duration::from_millis(interval.unwrap_or(100).clamp(50, 10_000));
                self.chat.working.frames = frames.map(|frames| (frames, each));
            }
            Notice::ThinkingLabel { text } => self.restyle(|style| style.thinking_label = text),
            Notice::ToolsExpanded { expanded } => {
                self.restyle(|style| style.is_expanded = expanded);
                if let Some(host) = &self.extensions.host {
                    host.state().tools_expanded = expanded;
                }
            }
            Notice::TerminalInput { listens } => self.extensions.listen_to_keys(extension, listens),
            Notice::Redraw { component } => self.redraw_components(Some(&extension.component(component))),
            notice => {
                self.extensions.surface.take(notice, |id| extension.component(id));
                self.draw_parts();
            }
        }
    }

    /// Shows the position, if an extension moved it.
    pub(super) fn follow_extension(&mut self, before: &Place, said: &str) {
        let now = self.place();
        if now.session != before.session {
            return self.show_replaced("another session, opened by an extension");
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

    /// Updates the model, the level and the typed text that extensions read.
    pub(super) fn inform_extensions(&self) {
        let Some(host) = &self.extensions.host else { return };
        let mut state = host.state();
        state.model = self.status.model().cloned();
        state.thinking = self.status.thinking();
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

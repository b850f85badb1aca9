//! Questions of extensions: one of several, yes or no, a line, a text, or a component that takes the keyboard.

use std::time::{Duration, Instant};

use crate::dialog::{Answer, Item, Prompt, Question, TextDialog, Typed};
use crate::keys::Keymap;
use crate::paint;
use crate::theme::Theme;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use offshoot_extensions::Component;
use offshoot_extensions::host::{AskedQuestion, Question as Asked};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use serde_json::Value as Json;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::super::App;
use super::super::views::View;
use super::{ChatUpdate, bytes};

/// How soon a second Escape closes a component.
const TWICE: Duration = Duration::from_secs(1);

/// A question of an extension.
pub(in super::super) struct Dialog {
    id: u64,
    kind: Kind,
    answer: oneshot::Sender<Option<Json>>,
}

enum Kind {
    Choice(Question, Vec<Json>),
    Line(Prompt),
    Text(Box<TextDialog>),
    Component(OpenComponent),
}

/// A component that has the keyboard.
struct OpenComponent {
    component: Component,
    drawn: Vec<Line<'static>>,
    keys: UnboundedSender<ComponentRequest>,
    /// True if the last key was Ctrl+C.
    was_asked_to_end: bool,
    /// True if a second Escape within [`TWICE`] closes it.
    closes_on_escape: bool,
    /// The time of the last Escape.
    escaped_at: Option<Instant>,
}

/// A request to a component.
enum ComponentRequest {
    Key(String),
    Draw(u16),
}

/// The result of a key.
enum KeyResult {
    Nothing,
    Answer(Option<Json>),
    External(String),
}

impl KeyResult {
    fn of<T>(answer: Option<Answer<T>>, value: impl FnOnce(T) -> Option<Json>) -> Self {
        match answer {
            None => KeyResult::Nothing,
            Some(Answer::Given(answer)) => KeyResult::Answer(value(answer)),
            Some(Answer::Cancelled) => KeyResult::Answer(None),
        }
    }
}

impl Dialog {
    /// Returns how many rows the dialog wants.
    pub(in super::super) fn height(&self, columns: u16) -> u16 {
        match &self.kind {
            Kind::Choice(question, _) => question.height(columns),
            Kind::Line(_) => 3,
            Kind::Text(_) => 12,
            Kind::Component(shown) => shown.drawn.len().max(1) as u16,
        }
    }

    /// Draws the dialog.
    pub(in super::super) fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        match &mut self.kind {
            Kind::Choice(question, _) => question.draw(theme, keymap, area, buf),
            Kind::Line(prompt) => prompt.draw(theme, keymap, area, buf),
            Kind::Text(text) => text.draw(theme, keymap, area, buf),
            Kind::Component(shown) => {
                for (line, y) in shown.drawn.iter().zip(area.top()..area.bottom()) {
                    paint::line(line, Rect { y, height: 1, ..area }, buf);
                }
            }
        }
    }

    fn update(&mut self, keymap: &Keymap, event: &Event) -> KeyResult {
        match &mut self.kind {
            Kind::Choice(question, options) => {
                let answer = question.input(keymap, event).and_then(|input| question.update(&input));
                KeyResult::of(answer, |at| options.get(at).cloned())
            }
            Kind::Line(prompt) => {
                let answer = prompt.input(keymap, event).and_then(|input| prompt.update(&input));
                KeyResult::of(answer, |text| Some(text.into()))
            }
            Kind::Text(text) => {
                let input = text.input(keymap, event);
                match input.and_then(|input| text.update(&input)) {
                    None => KeyResult::Nothing,
                    Some(Typed::Done(text)) => KeyResult::Answer(Some(text.into())),
                    Some(Typed::External(text)) => KeyResult::External(text),
                    Some(Typed::Cancelled(_)) => KeyResult::Answer(None),
                }
            }
            Kind::Component(shown) => shown.update(event),
        }
    }
}

impl OpenComponent {
    /// Hands a key over. Ctrl+C twice closes the component whatever it does with the keys, and so does Escape if the
    /// component was made before it was shown. A component that hangs is closed here, too.
    fn update(&mut self, event: &Event) -> KeyResult {
        let is_end = is_key(event, KeyCode::Char('c'), KeyModifiers::CONTROL);
        if (is_end && self.was_asked_to_end) || self.was_escaped_twice(event) {
            return KeyResult::Answer(None);
        }
        self.was_asked_to_end = is_end;
        if let Some(data) = bytes::spelled(event) {
            // Its task ends with it.
            drop(self.keys.send(ComponentRequest::Key(data)));
        }
        KeyResult::Nothing
    }

    /// Notes an Escape. Returns true if it is the second one within [`TWICE`].
    fn was_escaped_twice(&mut self, event: &Event) -> bool {
        if !self.closes_on_escape || !is_key(event, KeyCode::Esc, KeyModifiers::NONE) {
            return false;
        }
        let last = self.escaped_at.replace(Instant::now());
        last.is_some_and(|last| last.elapsed() <= TWICE)
    }
}

fn is_key(event: &Event, code: KeyCode, held: KeyModifiers) -> bool {
    matches!(event, Event::Key(key)
        if key.code == code && key.modifiers == held && key.kind == KeyEventKind::Press)
}

/// The first line is the title, the rest is what it is about.
fn titled(text: &str, more: &str) -> (String, String) {
    let (title, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let about = [rest.trim_matches('\n'), more].into_iter().filter(|part| !part.is_empty());
    (title.to_owned(), about.collect::<Vec<_>>().join("\n"))
}

impl App<'_> {
    /// Shows the next question of an extension, unless another view is open.
    pub(in super::super) fn show_dialog(&mut self) {
        if self.extensions.questions.is_empty() || !self.views.has_room() {
            return;
        }
        let Some(asked) = self.extensions.questions.pop_front() else { return };
        let AskedQuestion { id, extension, question, answer, .. } = asked;
        let kind = match question {
            Asked::Select { title, options } => {
                let (title, about) = titled(&title, "");
                let items = options.iter().map(|option| Item::new(option.replace('\n', " "), "")).collect();
                let answers = options.iter().map(|option| option.as_str().into()).collect();
                Kind::Choice(Question::new(title, about, items), answers)
            }
            Asked::Confirm { title, message } => {
                let (title, about) = titled(&title, &message);
                let question = Question::new(title, about, vec![Item::new("Yes", ""), Item::new("No", "")]);
                Kind::Choice(question, vec![true.into(), false.into()])
            }
            Asked::Input { title, placeholder } => {
                let title = titled(&title, "").0;
                let hint = if placeholder.is_empty() { title } else { format!("{title} ({placeholder})") };
                Kind::Line(Prompt::new(hint, ""))
            }
            Asked::Editor { title, prefill } => Kind::Text(Box::new(TextDialog::new(title, "", &prefill))),
            Asked::Custom { component, closes_on_escape } => {
                Kind::Component(self.open_component(extension.component(component), closes_on_escape))
            }
        };
        // A component draws all of its rows itself, its keys included.
        if !matches!(kind, Kind::Component(_)) {
            let now = self.now();
            self.views.delay_answer(now);
        }
        self.views.put(View::Extension(Box::new(Dialog { id, kind, answer })));
    }

    /// Draws a component and hands keys to it, one after the other.
    fn open_component(&mut self, component: Component, closes_on_escape: bool) -> OpenComponent {
        let (keys, mut requests) = unbounded_channel();
        let (send, own) = (self.extensions.send.clone(), component.clone());
        let mut width = self.screen.columns();
        self.extensions.tasks.spawn(async move {
            loop {
                let drawn = own.render(width).await;
                let is_over = drawn.is_err();
                let component = own.clone();
                let update: ChatUpdate = Box::new(move |app| app.component_drawn(&component, drawn));
                if send.send(update).is_err() || is_over {
                    return;
                }
                match requests.recv().await {
                    Some(ComponentRequest::Key(data)) => {
                        if own.input(&data).await.is_ok_and(|is_done| is_done) {
                            return;
                        }
                    }
                    Some(ComponentRequest::Draw(columns)) => width = columns,
                    // The dialog is closed.
                    None => return drop(own.close().await),
                }
            }
        });
        OpenComponent {
            component,
            drawn: Vec::new(),
            keys,
            was_asked_to_end: false,
            closes_on_escape,
            escaped_at: None,
        }
    }

    /// Gives an event to a question of an extension.
    pub(in super::super) fn dialog_event(&mut self, mut dialog: Box<Dialog>, event: &Event) {
        match dialog.update(&self.settings.keymap, event) {
            KeyResult::Nothing => self.views.put(View::Extension(dialog)),
            // The extension may have stopped.
            KeyResult::Answer(answer) => drop(dialog.answer.send(answer)),
            KeyResult::External(text) => {
                if let (Some(edited), Kind::Text(text)) = (self.edit_externally(&text), &mut dialog.kind) {
                    text.set_text(edited.trim_end());
                }
                self.views.put(View::Extension(dialog));
            }
        }
    }

    /// Takes the lines of the component of a dialog; without lines the dialog is closed. Returns false if the component
    /// belongs to no open dialog.
    pub(super) fn dialog_drawn(&mut self, component: &Component, lines: Option<&[Line<'static>]>) -> bool {
        let Some(View::Extension(dialog)) = self.views.current() else { return false };
        let Kind::Component(shown) = &mut dialog.kind else { return false };
        if shown.component != *component {
            return false;
        }
        match lines {
            Some(lines) => shown.drawn = lines.to_vec(),
            None => self.close_view(),
        }
        true
    }

    /// Closes a question that the extension took back.
    pub(super) fn close_dialog(&mut self, id: u64) {
        self.extensions.questions.retain(|asked| asked.id != id);
        if matches!(self.views.current(), Some(View::Extension(dialog)) if dialog.id == id) {
            self.close_view();
        }
    }

    /// Draws the component of a dialog again, if it is this one.
    pub(super) fn redraw_dialog(&mut self, named: Option<&Component>) {
        let columns = self.screen.columns();
        let Some(View::Extension(dialog)) = self.views.current() else { return };
        let Kind::Component(shown) = &dialog.kind else { return };
        if named.is_none_or(|named| *named == shown.component) {
            drop(shown.keys.send(ComponentRequest::Draw(columns)));
        }
    }
}

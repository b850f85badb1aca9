//! Questions of extensions: one of several, yes or no, a line, a text, or a component that takes the keyboard.

use std::time::{Duration, Instant};

use offshoot_extensions::Component;
use offshoot_extensions::host::{AskedQuestion, Question as Asked};
use offshoot_tui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use offshoot_tui::dialog::{Answer, Item, Prompt, Question, SelectList, TextDialog, Typed};
use offshoot_tui::keys::Keymap;
use offshoot_tui::paint;
use offshoot_tui::ratatui::buffer::Buffer;
use offshoot_tui::ratatui::layout::Rect;
use offshoot_tui::ratatui::text::Line;
use offshoot_tui::theme::Theme;
use serde_json::Value as Json;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::super::front::Front;
use super::super::view::View;
use super::{ChatUpdate, bytes};

/// More options than this are searched, not numbered.
const FEW: usize = 9;

/// How soon a second Escape closes a component.
const TWICE: Duration = Duration::from_secs(1);

/// A question of an extension.
pub(in super::super) struct Dialog {
    id: u64,
    kind: Kind,
    answer: oneshot::Sender<Option<Json>>,
}

enum Kind {
    Few(Question, Vec<Json>),
    Many(SelectList, Vec<Json>),
    Line(Prompt),
    Text(Box<TextDialog>),
    Component(Shown),
}

/// A component that has the keyboard.
struct Shown {
    component: Component,
    drawn: Vec<Line<'static>>,
    keys: UnboundedSender<Want>,
    /// Whether the last key asked it to end.
    was_asked_to_end: bool,
    /// True if a second Escape within [`TWICE`] closes it.
    closes_on_escape: bool,
    /// The time of the last Escape.
    escaped_at: Option<Instant>,
}

/// What a component is to do next.
enum Want {
    Key(String),
    Draw(u16),
}

/// What came of a key.
enum Came {
    Nothing,
    Answer(Option<Json>),
    External(String),
}

impl Dialog {
    /// Returns how many rows the dialog wants.
    pub(in super::super) fn height(&self, columns: u16) -> u16 {
        match &self.kind {
            Kind::Few(question, _) => question.height(columns),
            Kind::Many(list, _) => list.height(),
            Kind::Line(_) => 3,
            Kind::Text(_) => 12,
            Kind::Component(shown) => shown.drawn.len().max(1) as u16,
        }
    }

    /// Draws the dialog.
    pub(in super::super) fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        match &mut self.kind {
            Kind::Few(question, _) => question.draw(theme, keymap, area, buf),
            Kind::Many(list, _) => list.draw(theme, keymap, area, buf),
            Kind::Line(prompt) => prompt.draw(theme, keymap, area, buf),
            Kind::Text(text) => text.draw(theme, keymap, area, buf),
            Kind::Component(shown) => {
                for (line, y) in shown.drawn.iter().zip(area.top()..area.bottom()) {
                    paint::line(line, Rect { y, height: 1, ..area }, buf);
                }
            }
        }
    }

    fn update(&mut self, keymap: &Keymap, event: &Event) -> Came {
        match &mut self.kind {
            Kind::Few(question, options) => {
                let input = question.input(keymap, event);
                chosen(input.and_then(|input| question.update(&input)).as_ref(), options)
            }
            Kind::Many(list, options) => {
                let input = list.input(keymap, event);
                chosen(input.and_then(|input| list.update(&input)).as_ref(), options)
            }
            Kind::Line(prompt) => {
                let input = prompt.input(keymap, event);
                match input.and_then(|input| prompt.update(&input)) {
                    None => Came::Nothing,
                    Some(Answer::Given(text)) => Came::Answer(Some(text.into())),
                    Some(Answer::Cancelled) => Came::Answer(None),
                }
            }
            Kind::Text(text) => {
                let input = text.input(keymap, event);
                match input.and_then(|input| text.update(&input)) {
                    None => Came::Nothing,
                    Some(Typed::Done(text)) => Came::Answer(Some(text.into())),
                    Some(Typed::External(text)) => Came::External(text),
                    Some(Typed::Cancelled(_)) => Came::Answer(None),
                }
            }
            Kind::Component(shown) => shown.update(event),
        }
    }
}

impl Shown {
    /// Hands a key over. Ctrl+C twice closes the component whatever it does with the keys, and so does Escape if the
    /// component was made before it was shown. A component that hangs is closed here, too.
    fn update(&mut self, event: &Event) -> Came {
        let is_end = is_key(event, KeyCode::Char('c'), KeyModifiers::CONTROL);
        if (is_end && self.was_asked_to_end) || self.was_escaped_twice(event) {
            return Came::Answer(None);
        }
        self.was_asked_to_end = is_end;
        if let Some(data) = bytes::spelled(event) {
            // Its task ends with it.
            drop(self.keys.send(Want::Key(data)));
        }
        Came::Nothing
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

fn chosen(answer: Option<&Answer<usize>>, answers: &[Json]) -> Came {
    match answer {
        None => Came::Nothing,
        Some(Answer::Given(at)) => Came::Answer(answers.get(*at).cloned()),
        Some(Answer::Cancelled) => Came::Answer(None),
    }
}

/// The first line is the title, the rest is what it is about.
fn titled(text: &str, more: &str) -> (String, String) {
    let (title, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let about = [rest.trim_matches('\n'), more].into_iter().filter(|part| !part.is_empty());
    (title.to_owned(), about.collect::<Vec<_>>().join("\n"))
}

impl Front<'_> {
    /// Asks the next question of an extension, unless something else is asked.
    pub(in super::super) fn show_dialog(&mut self) {
        if self.guests.asked.is_empty() || !self.has_room() {
            return;
        }
        let Some(asked) = self.guests.asked.pop_front() else { return };
        let AskedQuestion { id, extension, question, answer } = asked;
        let kind = match question {
            Asked::Select { title, options } => {
                let (title, about) = titled(&title, "");
                let items = options.iter().map(|option| Item::new(option.replace('\n', " "), "")).collect();
                let answers = options.iter().map(|option| option.as_str().into()).collect();
                match options.len() > FEW && about.is_empty() {
                    true => Kind::Many(SelectList::searchable(title, items), answers),
                    false => Kind::Few(Question::new(title, about, items), answers),
                }
            }
            Asked::Confirm { title, message } => {
                let (title, about) = titled(&title, &message);
                let question = Question::new(title, about, vec![Item::new("Yes", ""), Item::new("No", "")]);
                Kind::Few(question, vec![true.into(), false.into()])
            }
            Asked::Input { title, placeholder } => {
                let title = titled(&title, "").0;
                let hint = if placeholder.is_empty() { title } else { format!("{title} ({placeholder})") };
                Kind::Line(Prompt::new(hint, ""))
            }
            Asked::Editor { title, prefill } => Kind::Text(Box::new(TextDialog::new(title, "", &prefill))),
            Asked::Custom { component, closes_on_escape } => {
                Kind::Component(self.attend(extension.component(component), closes_on_escape))
            }
        };
        // A component draws all of its rows itself, and says what its keys do.
        if !matches!(kind, Kind::Component(_)) {
            self.opened_unasked();
        }
        self.view = Some(View::Extension(Box::new(Dialog { id, kind, answer })));
    }

    /// Lets a component be drawn and take keys, one after the other.
    fn attend(&mut self, component: Component, closes_on_escape: bool) -> Shown {
        let (keys, mut wants) = unbounded_channel();
        let (send, own, mut width) = (self.guests.send.clone(), component.clone(), self.columns);
        self.guests.tasks.spawn(async move {
            loop {
                let drawn = own.render(width).await;
                let is_over = drawn.is_err();
                let component = own.clone();
                let news: ChatUpdate = Box::new(move |front| front.component_drawn(&component, drawn));
                if send.send(news).is_err() || is_over {
                    return;
                }
                match wants.recv().await {
                    Some(Want::Key(data)) => {
                        if own.input(&data).await.is_ok_and(|is_done| is_done) {
                            return;
                        }
                    }
                    Some(Want::Draw(columns)) => width = columns,
                    // The dialog is closed.
                    None => return drop(own.close().await),
                }
            }
        });
        Shown {
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
        match dialog.update(&self.keymap, event) {
            Came::Nothing => self.view = Some(View::Extension(dialog)),
            // Who asked may have been stopped meanwhile.
            Came::Answer(answer) => drop(dialog.answer.send(answer)),
            Came::External(text) => {
                if let (Some(edited), Kind::Text(text)) = (self.edit_externally(&text), &mut dialog.kind) {
                    text.set_text(edited.trim_end());
                }
                self.view = Some(View::Extension(dialog));
            }
        }
    }

    /// Takes the lines of the component of a dialog; without lines the dialog is closed. Returns false if the component
    /// belongs to no open dialog.
    pub(super) fn dialog_drawn(&mut self, component: &Component, lines: Option<&[Line<'static>]>) -> bool {
        let Some(View::Extension(dialog)) = &mut self.view else { return false };
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

    /// Closes a question that nobody waits for any more.
    pub(super) fn close_dialog(&mut self, id: u64) {
        self.guests.asked.retain(|asked| asked.id != id);
        if matches!(&self.view, Some(View::Extension(dialog)) if dialog.id == id) {
            self.close_view();
        }
    }

    /// Draws the component of a dialog again, if it is this one.
    pub(super) fn redraw_dialog(&mut self, named: Option<&Component>) {
        let Some(View::Extension(dialog)) = &self.view else { return };
        let Kind::Component(shown) = &dialog.kind else { return };
        if named.is_none_or(|named| *named == shown.component) {
            drop(shown.keys.send(Want::Draw(self.columns)));
        }
    }
}

//! The chat: the transcript, the editor, what is going on, and the lines at the bottom.
//!
//! ```text
//!   printed rows                         <- the terminal's own scrollback
//!   ------------------------------------
//!   what still changes                   transcript
//!   what is going on, what waits         working
//!   > the editor                         editor, completion
//!   cwd, branch, tokens, model           footer
//! ```
//!
//! [`inline`] makes the bytes for a terminal. Who runs the event loop feeds events in and acts on [`Intent`]s.

pub mod command;
pub mod completion;
pub mod extras;
pub mod footer;
pub mod highlight;
pub mod inline;
pub mod item;
pub mod markdown;
pub mod transcript;
pub mod viewer;
pub mod working;

use std::time::Duration;

use crossterm::event::Event;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use crate::dialog::CALM;
use crate::editor::Editor;
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::layout::{indented, take_bottom, take_rows};
use crate::paint;
use crate::theme::{Role, Theme};
use crate::width::width;
use command::{CommandSpec, Completes};
use completion::{Completion, CompletionWord, Sources};
use extras::Extras;
use footer::Footer;
use transcript::Transcript;
use working::Working;

/// The longest time between two presses of a double key.
const TWICE: Duration = Duration::from_millis(500);

/// A request of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// Submit this: a prompt, a command or a shell command.
    Submit(String),
    /// Submit this when the agent is idle.
    FollowUp(String),
    /// Stop the activity.
    Interrupt,
    /// Perform the action of a double Escape.
    Escaped(DoubleEscape),
    /// Quit.
    Quit,
    /// Return queued messages to the editor.
    Dequeue,
    /// Any other action of a key.
    Act(Action),
}

/// The action of a double Escape in an empty editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DoubleEscape {
    /// The tree opens.
    #[default]
    Tree,
    /// An entry is chosen to go on from in a new session.
    Fork,
    /// Nothing.
    Nothing,
}

/// The chat.
#[derive(Debug)]
pub struct Chat {
    /// The transcript.
    pub transcript: Transcript,
    /// The editor.
    pub editor: Editor,
    /// The activity, the queue and the last notice.
    pub working: Working,
    /// The lines at the bottom.
    pub footer: Footer,
    /// Rows of extensions.
    pub extras: Extras,
    /// The key bindings.
    pub keymap: Keymap,
    /// The action of a double Escape.
    pub double_escape: DoubleEscape,
    /// The commands that completion offers.
    pub commands: Vec<CommandSpec>,
    /// The colours.
    pub theme: Theme,
    completion: Option<Completion>,
    escaped: Option<Duration>,
    cleared: Option<Duration>,
    /// The time of the last event for the editor.
    typed_at: Duration,
    /// The rows of the terminal.
    rows: u16,
}

/// A view in place of the editor.
pub struct Overlay<'a> {
    /// How many rows it wants.
    pub height: u16,
    /// Draws it.
    pub draw: &'a mut dyn FnMut(Rect, &mut Buffer),
}

/// A frame: rows to print, and the live part.
#[derive(Debug)]
pub struct Frame {
    /// Rows to print above the live part.
    pub printed: Vec<Line<'static>>,
    /// The live part.
    pub live: Buffer,
    /// The position of the cursor.
    pub cursor: Option<Position>,
}

impl Chat {
    /// Makes a chat.
    pub fn new(transcript: Transcript, keymap: Keymap) -> Self {
        Chat {
            theme: transcript.item_style().theme,
            transcript,
            editor: Editor::default(),
            working: Working::default(),
            footer: Footer::default(),
            extras: Extras::default(),
            keymap,
            double_escape: DoubleEscape::default(),
            commands: Vec::new(),
            completion: None,
            escaped: None,
            cleared: None,
            typed_at: Duration::ZERO,
            rows: 0,
        }
    }

    /// Returns true while a message is being typed: questions wait for the next pause.
    pub fn is_being_typed(&self, now: Duration) -> bool {
        !self.editor.is_blank() && now.saturating_sub(self.typed_at) < CALM
    }

    /// Takes one event of the terminal.
    pub fn update(&mut self, event: &Event, sources: &dyn Sources, now: Duration) -> Option<Intent> {
        self.typed_at = now;
        let mut actions = Screen::Chat.actions();
        if !self.editor.is_blank() {
            // The key deletes then.
            actions.retain(|action| *action != Action::Exit);
        }
        actions.extend(Screen::Editor.actions());
        let input = self.keymap.input(event, &actions, Letters::Type)?;
        if let Some(intent) = self.complete(&input) {
            self.look_for_completion(sources, &input);
            return intent;
        }
        let intent = match &input {
            Input::Action(action) => self.act(*action, now),
            Input::Char(_) | Input::Paste(_) => self.edit(&input),
        };
        self.look_for_completion(sources, &input);
        intent
    }

    fn act(&mut self, action: Action, now: Duration) -> Option<Intent> {
        match action {
            Action::Interrupt => self.interrupt(now),
            Action::Clear => self.clear(now),
            Action::Exit => Some(Intent::Quit),
            Action::FollowUp => self.taken().map(Intent::FollowUp),
            Action::Dequeue => Some(Intent::Dequeue),
            Action::Complete => None,
            action if Screen::Editor.actions().contains(&action) => self.edit(&Input::Action(action)),
            action => Some(Intent::Act(action)),
        }
    }

    fn edit(&mut self, input: &Input) -> Option<Intent> {
        self.escaped = None;
        if self.editor.update(input) { self.taken().map(Intent::Submit) } else { None }
    }

    fn taken(&mut self) -> Option<String> {
        self.completion = None;
        (!self.editor.is_blank()).then(|| self.editor.take())
    }

    /// Stops the activity, else clears a shell command, else performs the action of a double Escape.
    fn interrupt(&mut self, now: Duration) -> Option<Intent> {
        if self.working.activity().is_some() {
            self.escaped = None;
            return Some(Intent::Interrupt);
        }
        if self.editor.shown_text().starts_with('!') {
            self.editor.set_text("");
            return None;
        }
        let does = match self.double_escape {
            DoubleEscape::Tree => "opens the tree",
            DoubleEscape::Fork => "forks",
            DoubleEscape::Nothing => return None,
        };
        if !self.editor.is_blank() {
            return None;
        }
        let is_twice = self.escaped.is_some_and(|before| now.saturating_sub(before) <= TWICE);
        self.escaped = if is_twice { None } else { Some(now) };
        if !is_twice {
            let key = self.keymap.name(Action::Interrupt).unwrap_or_default();
            self.working.hint(format!("{key} twice {does}"), now);
        }
        is_twice.then_some(Intent::Escaped(self.double_escape))
    }

    /// Clears the editor; twice quits.
    fn clear(&mut self, now: Duration) -> Option<Intent> {
        if self.cleared.is_some_and(|before| now.saturating_sub(before) <= TWICE) {
            return Some(Intent::Quit);
        }
        self.cleared = Some(now);
        if self.editor.is_blank() {
            let key = self.keymap.name(Action::Clear).unwrap_or_default();
            self.working.hint(format!("{key} twice quits; the session is saved"), now);
        } else {
            self.editor.take();
        }
        None
    }

    /// Gives an input to the list of candidates. Returns `None` if it was not for the list.
    fn complete(&mut self, input: &Input) -> Option<Option<Intent>> {
        let list = self.completion.as_mut()?;
        match input {
            Input::Action(Action::CursorUp) => list.step(false),
            Input::Action(Action::CursorDown) => list.step(true),
            Input::Action(Action::Interrupt) => self.completion = None,
            Input::Action(Action::Complete) => self.accept(),
            Input::Action(Action::Submit) => return self.accept_and_submit(),
            Input::Action(_) | Input::Char(_) | Input::Paste(_) => return None,
        }
        Some(None)
    }

    fn accept(&mut self) {
        let Some(list) = self.completion.take() else { return };
        let Some(candidate) = list.selected() else { return };
        let inserted = completion::inserted(list.wanted.kind, &candidate.text);
        self.editor.replace_before(list.wanted.replaces, &inserted);
    }

    /// Accepts the highlighted candidate, unless nothing was typed of it or the word may be something new. A command
    /// without arguments is submitted at once.
    fn accept_and_submit(&mut self) -> Option<Option<Intent>> {
        let list = self.completion.as_ref()?;
        let candidate = list.selected()?.text.clone();
        let wanted = &list.wanted;
        let is_command = wanted.kind == Completes::Commands;
        let is_begun = is_command || !wanted.word.is_empty() && !wanted.is_free;
        if candidate == wanted.word || !(is_begun || list.is_chosen) {
            return None;
        }
        self.accept();
        let named = self.commands.iter().find(|command| command.name == candidate);
        let takes_nothing = named.is_some_and(|command| command.arguments.is_empty());
        if is_command && takes_nothing {
            return Some(self.taken().map(Intent::Submit));
        }
        Some(None)
    }

    fn look_for_completion(&mut self, sources: &dyn Sources, input: &Input) {
        let moved_in_list = self.completion.is_some()
            && matches!(input, Input::Action(Action::CursorUp | Action::CursorDown));
        let closed = matches!(input, Input::Action(Action::Interrupt | Action::Submit));
        if moved_in_list || closed {
            return;
        }
        let is_typing = matches!(input, Input::Char(_)) || self.completion.is_some() || is_completing(input);
        self.completion = self
            .wanted()
            .filter(|_| is_typing)
            .and_then(|wanted| Completion::find(wanted, sources, &self.commands));
    }

    /// Returns true if the word before the cursor may be a file.
    pub fn wants_files(&self) -> bool {
        self.wanted().is_some_and(|wanted| wanted.kind == Completes::Files)
    }

    fn wanted(&self) -> Option<CompletionWord> {
        let (line, before) = self.editor.before_cursor();
        completion::wanted(line, &before, &self.commands)
    }

    /// Offers candidates of a kind that were found beside the loop, unless the user has gone on.
    pub fn offer(&mut self, kind: Completes, sources: &dyn Sources) {
        let wanted = self.wanted().filter(|wanted| wanted.kind == kind);
        let is_chosen = self.completion.as_ref().is_some_and(|list| list.is_chosen);
        if let Some(wanted) = wanted.filter(|_| !is_chosen) {
            self.completion = Completion::find(wanted, sources, &self.commands);
        }
    }

    /// Puts a frame together that fits into a terminal of this size.
    pub fn frame(&mut self, columns: u16, rows: u16, now: Duration, overlay: Option<Overlay<'_>>) -> Frame {
        self.rows = rows;
        let width = usize::from(columns);
        let working = self.working.rows(self.theme, &self.keymap, width, now);
        let bottom = match &overlay {
            Some(overlay) => overlay.height.min(rows),
            None => self.bottom_height(columns, rows),
        };
        let room = usize::from(rows.saturating_sub(bottom)).saturating_sub(working.len() + 1);
        let printed = self.transcript.take_done(width, room).into_iter();
        let printed = printed.map(|line| paint::spelled(self.theme, line)).collect();
        let live = self.transcript.live_rows(width, room);
        let working_height = working.len().min(usize::from(rows.saturating_sub(bottom))) as u16;
        let gap = u16::from(rows > bottom + working_height);
        let live_height = (live.len() as u16).min(rows.saturating_sub(bottom + working_height + gap));
        let area = Rect::new(0, 0, columns, live_height + gap + working_height + bottom);
        let mut buffer = Buffer::empty(area);
        let mut left = area;
        let skipped = live.len().saturating_sub(usize::from(live_height));
        paint::rows(live.iter().skip(skipped), take_rows(&mut left, live_height), &mut buffer);
        take_rows(&mut left, gap);
        paint::lines(working, take_rows(&mut left, working_height), &mut buffer);
        let cursor = match overlay {
            Some(overlay) => {
                (overlay.draw)(left, &mut buffer);
                None
            }
            None => Some(self.draw_bottom(left, &mut buffer)),
        };
        paint::finish(self.theme, area, &mut buffer);
        Frame { printed, live: buffer, cursor }
    }

    fn bottom_height(&mut self, columns: u16, rows: u16) -> u16 {
        let most = (rows / 3).max(1);
        let editor = self.editor.height(columns.saturating_sub(2)).min(most);
        let list = self.completion.as_ref().map_or(0, Completion::height);
        // On a small screen the conversation matters most.
        let lines = if rows < 10 { 0 } else { 2 };
        let extras = self.extras.above(rows) + self.extras.below(rows);
        (lines + editor + list + extras + self.footer_height(rows)).min(rows)
    }

    fn footer_height(&self, rows: u16) -> u16 {
        let usual = if rows < 8 { 1 } else { footer::HEIGHT };
        self.extras.footer(usual, rows)
    }

    /// Draws the editor between two lines, the list of candidates and the footer; returns where the cursor is.
    fn draw_bottom(&mut self, area: Rect, buf: &mut Buffer) -> Position {
        let list = self.completion.as_ref().map_or(0, Completion::height);
        let room = area.height.saturating_sub(1);
        let footer = self.footer_height(self.rows).min(room);
        let above = self.extras.above(self.rows).min(room.saturating_sub(footer + list));
        let below = self.extras.below(self.rows).min(room.saturating_sub(footer + list + above));
        let others = footer + list + above + below;
        let lines = area.height.saturating_sub(others + 1).min(2);
        let editor = area.height.saturating_sub(others + lines).max(1);
        let style = self.theme.style(self.border());
        let rule = Line::styled(self.theme.pick("─", "-").repeat(usize::from(area.width)), style);
        let mut left = area;
        paint::lines(self.extras.above.iter().cloned(), take_rows(&mut left, above), buf);
        paint::line(&rule, take_rows(&mut left, lines.min(1)), buf);
        let place = take_rows(&mut left, editor);
        let mark = self.theme.pick("› ", "> ");
        paint::line(&Line::from(Span::styled(mark, style)), Rect { height: 1, ..place }, buf);
        let place = indented(place, 2);
        let cursor = self.editor.draw(self.theme, &self.hint(place.width), place, buf);
        paint::line(&rule, take_rows(&mut left, lines.saturating_sub(1)), buf);
        if let Some(completion) = &self.completion {
            completion.draw(self.theme, take_rows(&mut left, list), buf);
        }
        paint::lines(self.extras.below.iter().cloned(), take_rows(&mut left, below), buf);
        let status = take_bottom(&mut left, u16::from(self.extras.status.is_some()));
        match &self.extras.footer {
            Some(lines) => paint::lines(lines.iter().cloned(), left, buf),
            None => self.footer.draw(self.theme, left, buf),
        }
        paint::lines(self.extras.status.clone(), status, buf);
        cursor
    }

    /// Returns the hint of an empty editor.
    fn hint(&self, columns: u16) -> String {
        let key = self.keymap.name(Action::Interrupt).unwrap_or_default();
        let escaped = match self.double_escape {
            DoubleEscape::Tree => format!(" · {key} {key} tree"),
            DoubleEscape::Fork => format!(" · {key} {key} fork"),
            DoubleEscape::Nothing => String::new(),
        };
        let fits = |hint: &String| width(hint) + 2 <= usize::from(columns);
        let hints = HINTS.map(|hint| format!("{hint}{escaped}"));
        hints.into_iter().find(fits).unwrap_or_default()
    }

    /// Returns the colour of the lines around the editor: it shows the thinking level, or a shell command.
    fn border(&self) -> Role {
        if self.editor.shown_text().starts_with('!') {
            return Role::Shell;
        }
        match self.footer.thinking.as_deref() {
            None | Some("off") => Role::ThinkingOff,
            Some("minimal" | "low") => Role::ThinkingLow,
            Some("medium") => Role::ThinkingMedium,
            Some("high") => Role::ThinkingHigh,
            Some(_) => Role::ThinkingMax,
        }
    }
}

/// The hints of an empty editor, for less and less room.
const HINTS: [&str; 3] =
    ["Say something · / commands · @ files · ! shell", "/ commands · @ files · ! shell", "/ commands"];

fn is_completing(input: &Input) -> bool {
    matches!(input, Input::Action(Action::Complete | Action::DeleteBackward))
}

#[cfg(test)]
mod tests;

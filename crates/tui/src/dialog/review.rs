//! The review of a cherry-pick or a merge before it is written: the text that would enter the context, and warnings.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::prompt::Prompt;
use super::text::{TextDialog, Typed};
use super::{Answer, frame};
use crate::keys::{Action, Input, Keymap, Letters};
use crate::layout::{indented, take_rows};
use crate::paint;
use crate::spinner;
use crate::theme::{Role, Theme};
use crate::wrap::{rows, short_rows};

/// The kind of change that is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewKind {
    /// Entries that are copied here.
    Pick,
    /// A text about another branch.
    Merge,
}

impl ReviewKind {
    /// Returns the keys below the text. Focus and difference do not apply to a pick.
    fn keys(self) -> Vec<(Action, &'static str)> {
        let (confirm, is_merge) = match self {
            ReviewKind::Pick => ("pick", false),
            ReviewKind::Merge => ("merge", true),
        };
        let mut keys = vec![
            (Action::SelectConfirm, confirm),
            (Action::ReviewEdit, "edit"),
            (Action::ReviewMode, "mode"),
        ];
        if is_merge {
            keys.extend([(Action::ReviewFocus, "focus"), (Action::ReviewDiff, "full diff")]);
        }
        keys.push((Action::SelectCancel, "cancel"));
        keys
    }
}

const SCROLL: [Action; 4] =
    [Action::SelectUp, Action::SelectDown, Action::SelectPageUp, Action::SelectPageDown];

/// The text that would enter the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewText {
    /// The text is complete.
    Ready(String),
    /// A model is writing it.
    Waiting,
    /// It could not be made, for this reason.
    Failed(String),
}

/// A request of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reviewed {
    /// Write it, with the text if it was changed here.
    Apply(Option<String>),
    /// Make the text in the other mode.
    NextMode,
    /// Make a new summary with this focus.
    Focus(String),
    /// Print the difference between the branches; the review stays open.
    FullDiff,
    /// Edit the text in an external editor; the review stays open.
    External(String),
    /// Change nothing.
    Cancel,
}

/// The review of a cherry-pick or a merge.
#[derive(Debug)]
pub struct Review {
    kind: ReviewKind,
    title: &'static str,
    /// The mode, the number of entries and tokens.
    facts: Vec<String>,
    warnings: Vec<String>,
    text: ReviewText,
    is_edited: bool,
    top: usize,
    page: usize,
    over: OpenDialog,
}

/// The dialog over the review, which has the keyboard.
#[derive(Debug)]
enum OpenDialog {
    Nothing,
    Edit(Box<TextDialog>),
    Focus(Prompt),
}

impl Review {
    /// Starts a review.
    pub fn new(kind: ReviewKind, facts: Vec<String>, warnings: Vec<String>, text: ReviewText) -> Self {
        let title = match kind {
            ReviewKind::Pick => "Copy here",
            ReviewKind::Merge => "Merge into this branch",
        };
        Self {
            kind,
            title,
            facts,
            warnings,
            text,
            is_edited: false,
            top: 0,
            page: 1,
            over: OpenDialog::Nothing,
        }
    }

    /// Returns true while a model writes the text.
    pub fn is_waiting(&self) -> bool {
        self.text == ReviewText::Waiting
    }

    /// Replaces the text by one that was changed in an external editor.
    pub fn set_edited(&mut self, text: &str) {
        self.text = ReviewText::Ready(text.to_owned());
        self.is_edited = true;
        self.over = OpenDialog::Nothing;
    }

    /// Turns an event of the terminal into an input of the review.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        match &self.over {
            OpenDialog::Edit(dialog) => dialog.input(keymap, event),
            OpenDialog::Focus(prompt) => prompt.input(keymap, event),
            OpenDialog::Nothing => {
                let keys = self.kind.keys().into_iter().map(|(action, _)| action);
                keymap.input(event, &keys.chain(SCROLL).collect::<Vec<_>>(), Letters::Act)
            }
        }
    }

    /// Applies one input. `None` means: still open, nothing to do.
    pub fn update(&mut self, input: &Input) -> Option<Reviewed> {
        match &mut self.over {
            OpenDialog::Nothing => match input {
                Input::Action(action) => self.act(*action),
                Input::Char(_) | Input::Paste(_) => None,
            },
            OpenDialog::Focus(prompt) => {
                let answer = prompt.update(input)?;
                self.over = OpenDialog::Nothing;
                match answer {
                    Answer::Given(focus) => Some(Reviewed::Focus(focus)),
                    Answer::Cancelled => None,
                }
            }
            OpenDialog::Edit(dialog) => match dialog.update(input)? {
                Typed::Done(text) => {
                    self.set_edited(&text);
                    None
                }
                Typed::External(text) => Some(Reviewed::External(text)),
                Typed::Cancelled(_) => {
                    self.over = OpenDialog::Nothing;
                    None
                }
            },
        }
    }

    fn act(&mut self, action: Action) -> Option<Reviewed> {
        let is_key = self.kind.keys().iter().any(|(key, _)| *key == action);
        match (action, &self.text) {
            (Action::SelectUp, _) => self.top = self.top.saturating_sub(1),
            (Action::SelectDown, _) => self.top += 1,
            (Action::SelectPageUp, _) => self.top = self.top.saturating_sub(self.page),
            (Action::SelectPageDown, _) => self.top += self.page,
            _ if !is_key => {}
            (Action::SelectCancel, _) => return Some(Reviewed::Cancel),
            (Action::ReviewDiff, _) => return Some(Reviewed::FullDiff),
            (_, ReviewText::Waiting) => {}
            (Action::ReviewMode, _) => return Some(Reviewed::NextMode),
            (Action::ReviewFocus, _) => {
                self.over = OpenDialog::Focus(Prompt::new("What should the summary focus on?", ""));
            }
            (Action::SelectConfirm, ReviewText::Ready(text)) => {
                return Some(Reviewed::Apply(self.is_edited.then(|| text.clone())));
            }
            (Action::ReviewEdit, ReviewText::Ready(text)) => {
                self.over =
                    OpenDialog::Edit(Box::new(TextDialog::new("Text that will enter the context", "", text)));
            }
            _ => {}
        }
        None
    }

    /// Draws the review; `beat` moves the sign that something is going on.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, beat: usize, area: Rect, buf: &mut Buffer) {
        match &mut self.over {
            OpenDialog::Edit(dialog) => return dialog.draw(theme, keymap, area, buf),
            OpenDialog::Focus(prompt) => return prompt.draw(theme, keymap, area, buf),
            OpenDialog::Nothing => {}
        }
        let mut body = frame(theme, keymap, self.title, &self.kind.keys(), area, buf);
        self.draw_facts(theme, &mut body, buf);
        let edited = if self.is_edited { " (edited)" } else { "" };
        paint::titled_rule(
            theme,
            &format!("text that will enter the context{edited}"),
            take_rows(&mut body, 1),
            buf,
        );
        self.draw_text(theme, beat, body, buf);
        paint::finish(theme, area, buf);
    }

    fn draw_facts(&self, theme: Theme, body: &mut Rect, buf: &mut Buffer) {
        let warning = |text: &String| (format!("{} {text}", theme.pick("⚠", "!")), Role::Warning);
        let facts = self.facts.iter().map(|fact| (fact.clone(), Role::Muted));
        for (text, role) in facts.chain(self.warnings.iter().map(warning)) {
            // Two rows for each, so that half of a small screen is left for the text.
            let columns = usize::from(body.width).saturating_sub(1);
            for row in short_rows(&text, theme.style(role), columns, 2) {
                paint::line(&row, indented(take_rows(body, 1), 1), buf);
            }
        }
    }

    fn draw_text(&mut self, theme: Theme, beat: usize, area: Rect, buf: &mut Buffer) {
        self.page = usize::from(area.height).max(1);
        let (text, role) = match &self.text {
            ReviewText::Ready(text) => (text.clone(), Role::Text),
            ReviewText::Waiting => (spinner::text(theme, beat, "the model is writing"), Role::Muted),
            ReviewText::Failed(reason) => (reason.clone(), Role::Error),
        };
        let columns = usize::from(area.width.saturating_sub(2));
        let rows = rows(&text, theme.style(role), columns, 10_000);
        self.top = self.top.min(rows.len().saturating_sub(self.page));
        for (row, y) in rows.iter().skip(self.top).zip(area.top()..area.bottom()) {
            paint::line(row, indented(Rect { y, height: 1, ..area }, 1), buf);
        }
    }
}

//! The review of a cherry-pick or a merge: what would enter the context, what to know about it, and a last change.

use std::fmt;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::prompt::Prompt;
use super::text::{TextDialog, Typed};
use super::{Answer, frame};
use crate::help::{Group, HELP_ACTIONS, Help};
use crate::keys::{Action, Input, Keymap, Letters};
use crate::layout::{indented, take_rows};
use crate::paint;
use crate::spinner;
use crate::theme::{Role, Theme};
use crate::wrap::{rows, short_rows};

/// What is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewKind {
    /// Entries that are copied here.
    Pick,
    /// A text about another branch.
    Merge,
}

/// The text that would enter the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewText {
    /// It is there.
    Ready(String),
    /// A model is writing it.
    Waiting,
    /// It could not be made, for this reason.
    Failed(String),
}

/// What a person wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reviewed {
    /// Write it; with the text as it was changed here, if it was.
    Apply(Option<String>),
    /// Make it in the next mode.
    NextMode,
    /// Make it anew with this in mind.
    Focus(String),
    /// Show everything that differs between the branches; the review stays open.
    FullDiff,
    /// Go on with the text in an external editor; the review stays open.
    External(String),
    /// Leave everything as it is.
    Cancel,
}

const PICK_KEYS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "pick"),
    (Action::ReviewMode, "mode"),
    (Action::ReviewEdit, "edit"),
    (Action::SelectCancel, "cancel"),
    (Action::Help, "keys"),
];

const MERGE_KEYS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "merge"),
    (Action::ReviewEdit, "edit"),
    (Action::ReviewMode, "mode"),
    (Action::ReviewFocus, "focus"),
    (Action::ReviewDiff, "full diff"),
    (Action::SelectCancel, "cancel"),
    (Action::Help, "keys"),
];

/// The keys of both reviews, and those that only a merge has.
const GROUPS: &[Group] = &[
    (
        "Review",
        &[
            Action::SelectConfirm,
            Action::SelectCancel,
            Action::ReviewEdit,
            Action::ReviewMode,
            Action::SelectUp,
            Action::SelectDown,
            Action::SelectPageUp,
            Action::SelectPageDown,
        ],
    ),
    ("Merge", &[Action::ReviewFocus, Action::ReviewDiff]),
];

/// The review of a cherry-pick or a merge.
#[derive(Debug)]
pub struct Review {
    kind: ReviewKind,
    title: String,
    /// Where it goes, how it is made, how many tokens it takes.
    facts: Vec<String>,
    /// What a person should look at first.
    warnings: Vec<String>,
    text: ReviewText,
    /// The text was changed here.
    edited: bool,
    top: usize,
    page: usize,
    over: Over,
}

/// What lies over the review and has the keyboard.
enum Over {
    Nothing,
    Edit(Box<TextDialog>),
    Focus(Prompt),
    Help(Help),
}

impl fmt::Debug for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Over::Nothing => "Nothing",
            Over::Edit(_) => "Edit",
            Over::Focus(_) => "Focus",
            Over::Help(_) => "Help",
        })
    }
}

impl Review {
    /// Starts a review.
    pub fn new(kind: ReviewKind, title: impl Into<String>, text: ReviewText) -> Self {
        let (title, over) = (title.into(), Over::Nothing);
        Self {
            kind,
            title,
            facts: Vec::new(),
            warnings: Vec::new(),
            text,
            edited: false,
            top: 0,
            page: 1,
            over,
        }
    }

    /// Tells where it goes, how it is made, how many tokens it takes.
    #[must_use]
    pub fn with_facts(mut self, facts: Vec<String>) -> Self {
        self.facts = facts;
        self
    }

    /// Tells what a person should look at first.
    #[must_use]
    pub fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }

    /// Tells whether the text is still being written.
    pub fn is_waiting(&self) -> bool {
        self.text == ReviewText::Waiting
    }

    /// Puts another text there, such as one that a model has written now.
    pub fn set_text(&mut self, text: ReviewText) {
        self.text = text;
        self.edited = false;
        self.top = 0;
    }

    /// Takes a text that was changed in an external editor.
    pub fn set_edited(&mut self, text: &str) {
        self.text = ReviewText::Ready(text.to_owned());
        self.edited = true;
        self.over = Over::Nothing;
    }

    /// Turns an event of the terminal into what the review takes now.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        match &self.over {
            Over::Edit(dialog) => dialog.input(keymap, event),
            Over::Focus(prompt) => prompt.input(keymap, event),
            Over::Help(_) => keymap.input(event, HELP_ACTIONS, Letters::Act),
            Over::Nothing => {
                let actions = [GROUPS[0].1, &[Action::Help]].concat();
                keymap.input(event, &actions, Letters::Act)
            }
        }
    }

    /// Takes one input. `None` means: still open, nothing to do.
    pub fn update(&mut self, input: &Input) -> Option<Reviewed> {
        match &mut self.over {
            Over::Nothing => match input {
                Input::Action(action) => self.act(*action),
                Input::Char(_) | Input::Paste(_) => None,
            },
            Over::Help(help) => {
                if help.update(input) {
                    self.over = Over::Nothing;
                }
                None
            }
            Over::Focus(prompt) => {
                let answer = prompt.update(input)?;
                self.over = Over::Nothing;
                match answer {
                    Answer::Given(focus) => Some(Reviewed::Focus(focus)),
                    Answer::Cancelled => None,
                }
            }
            Over::Edit(dialog) => match dialog.update(input)? {
                Typed::Done(text) => {
                    self.set_edited(&text);
                    None
                }
                Typed::External(text) => Some(Reviewed::External(text)),
                Typed::Cancelled(_) => {
                    self.over = Over::Nothing;
                    None
                }
            },
        }
    }

    fn act(&mut self, action: Action) -> Option<Reviewed> {
        match (action, &self.text) {
            (Action::SelectCancel, _) => return Some(Reviewed::Cancel),
            (Action::SelectConfirm, ReviewText::Ready(text)) => {
                return Some(Reviewed::Apply(self.edited.then(|| text.clone())));
            }
            (Action::ReviewMode, ReviewText::Ready(_) | ReviewText::Failed(_)) => {
                return Some(Reviewed::NextMode);
            }
            (Action::ReviewDiff, _) if self.kind == ReviewKind::Merge => return Some(Reviewed::FullDiff),
            (Action::ReviewFocus, ReviewText::Ready(_) | ReviewText::Failed(_))
                if self.kind == ReviewKind::Merge =>
            {
                self.over = Over::Focus(Prompt::new("What should the summary look at?", ""));
            }
            (Action::ReviewEdit, ReviewText::Ready(text)) => {
                self.over =
                    Over::Edit(Box::new(TextDialog::new("Text that will enter the context", "", text)));
            }
            (Action::Help, _) => self.over = Over::Help(Help::default()),
            (Action::SelectUp, _) => self.top = self.top.saturating_sub(1),
            (Action::SelectDown, _) => self.top += 1,
            (Action::SelectPageUp, _) => self.top = self.top.saturating_sub(self.page),
            (Action::SelectPageDown, _) => self.top += self.page,
            _ => {}
        }
        None
    }

    /// Draws the review; `beat` moves the sign that something is going on.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, beat: usize, area: Rect, buf: &mut Buffer) {
        match &mut self.over {
            Over::Edit(dialog) => return dialog.draw(theme, keymap, area, buf),
            Over::Focus(prompt) => return prompt.draw(theme, keymap, area, buf),
            Over::Help(help) => {
                let groups = match self.kind {
                    ReviewKind::Pick => &GROUPS[..1],
                    ReviewKind::Merge => GROUPS,
                };
                return help.draw(theme, keymap, "Keys of the review", groups, area, buf);
            }
            Over::Nothing => {}
        }
        let keys = match self.kind {
            ReviewKind::Pick => PICK_KEYS,
            ReviewKind::Merge => MERGE_KEYS,
        };
        let mut body = frame(theme, keymap, &self.title, keys, area, buf);
        self.draw_facts(theme, &mut body, buf);
        let edited = if self.edited { " (edited)" } else { "" };
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

//! The summary flow: the questions between choosing an entry of the tree and the move to it.
//!
//! ```text
//!  tree --Enter--> ask --1..4--> run --done--> there
//!   ^               |^    5 -> merge instead
//!   +----Escape-----+|
//!   ^        focus, note (typed text survives Escape), label
//!   +----Escape while a summary is made: nothing changed
//! ```
//!
//! A pure state machine: it takes inputs and returns an [`Effect`]. The caller navigates, asks models and opens trees.

mod draw;
mod leaving;

use session_tree::EntryId;

use crate::dialog::{Answer, Item, Prompt, SelectList, TextDialog, Typed};
use crate::keys::{Action, Input, Keymap, Letters, Screen};

pub use leaving::LeftBranch;

/// The summary of the branch that the move leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// No summary.
    Skip,
    /// A summary by a model.
    Standard,
    /// A summary by a model with this focus.
    Focus(String),
    /// This text, without a model.
    Note(String),
}

/// An entry that was chosen in the tree.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The entry.
    pub target: EntryId,
    /// The leaf is there already.
    pub is_noop: bool,
    /// The branch that the move leaves; none if there is nothing to summarise.
    pub leaving: Option<LeftBranch>,
    /// The choice that the user made for all moves, so that no question is asked.
    pub always: Option<Choice>,
}

/// How a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveEnd {
    /// The leaf is there.
    Done,
    /// The summary was cancelled; the leaf is where it was.
    Cancelled,
    /// An extension refused; the leaf is where it was.
    Refused,
    /// The summary could not be made, for this reason; the leaf is where it was.
    Failed(String),
}

/// A request to the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Navigate.
    Run {
        /// The summary of the branch that the move leaves.
        choice: Choice,
        /// The label of the summary; without a summary, of the entry.
        label: Option<String>,
        /// True if later moves of the session make the same choice without asking.
        remember: bool,
    },
    /// Stop making the summary.
    Abort,
    /// Open the tree again as it was, on this entry; show the message if there is one.
    ReopenTree(EntryId, Option<&'static str>),
    /// Review a merge of this entry's branch into the current one instead.
    Merge(EntryId),
    /// Open this text in an external editor.
    EditExternally(String),
    /// Show a message.
    Status(&'static str),
    /// Show an error.
    Error(String),
}

/// The options, in order.
const SKIP: usize = 0;
const STANDARD: usize = 1;
const FOCUS: usize = 2;
const NOTE: usize = 3;
const MERGE: usize = 4;

/// The summary flow.
#[derive(Debug)]
pub struct SummaryFlow {
    target: EntryId,
    leaving: LeftBranch,
    stage: Stage,
    options: SelectList,
    /// Typed texts survive going back.
    focus: String,
    note: String,
    label: String,
    remember: bool,
    /// The reason why the last attempt failed.
    failure: Option<String>,
}

#[derive(Debug)]
enum Stage {
    Ask,
    Label(Prompt),
    Focus(Box<TextDialog>),
    Note(Prompt),
    Run { with_model: bool, aborting: bool },
    Closed,
}

impl SummaryFlow {
    /// Starts the flow for an entry that was chosen.
    pub fn start(chosen: Chosen) -> (Self, Option<Effect>) {
        let choice = if chosen.leaving.is_none() { Some(Choice::Skip) } else { chosen.always };
        let leaving = chosen.leaving.unwrap_or_default();
        let mut flow = Self {
            target: chosen.target,
            options: options(&leaving),
            leaving,
            stage: Stage::Ask,
            focus: String::new(),
            note: String::new(),
            label: String::new(),
            remember: false,
            failure: None,
        };
        if chosen.is_noop {
            flow.stage = Stage::Closed;
            return (flow, Some(Effect::Status("Already at this point")));
        }
        let effect = choice.map(|choice| flow.run(choice));
        (flow, effect)
    }

    /// Returns true until the flow has ended.
    pub fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Closed)
    }

    /// Returns true while the navigation runs.
    pub fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Run { .. })
    }

    /// Turns an event of the terminal into an input for the current stage.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        match &self.stage {
            Stage::Ask => keymap.input(event, &Screen::Summary.actions(), Letters::Act),
            Stage::Focus(dialog) => dialog.input(keymap, event),
            Stage::Note(prompt) | Stage::Label(prompt) => prompt.input(keymap, event),
            Stage::Run { .. } => keymap.input(event, &[Action::SelectCancel], Letters::Act),
            Stage::Closed => None,
        }
    }

    /// Takes one input. `None` means: nothing to do for the caller.
    pub fn update(&mut self, input: &Input) -> Option<Effect> {
        match &mut self.stage {
            Stage::Ask => self.ask(input),
            Stage::Label(prompt) => {
                if let Answer::Given(label) = prompt.update(input)? {
                    self.label = label;
                }
                self.stage = Stage::Ask;
                None
            }
            Stage::Focus(dialog) => {
                let typed = dialog.update(input)?;
                self.take_focus(typed)
            }
            Stage::Note(prompt) => {
                self.note = prompt.text().trim().to_owned();
                let answer = prompt.update(input)?;
                self.stage = Stage::Ask;
                let note =
                    Some(self.note.clone()).filter(|note| answer != Answer::Cancelled && !note.is_empty());
                note.map(|note| self.run(Choice::Note(note)))
            }
            Stage::Run { aborting, .. } => {
                let is_first = *input == Input::Action(Action::SelectCancel) && !*aborting;
                *aborting |= is_first;
                is_first.then_some(Effect::Abort)
            }
            Stage::Closed => None,
        }
    }

    fn ask(&mut self, input: &Input) -> Option<Effect> {
        match input {
            Input::Action(Action::SummaryRemember) => self.remember = !self.remember,
            Input::Action(Action::SummaryLabel) => {
                self.stage = Stage::Label(Prompt::new("Label (empty for none)", &self.label));
            }
            Input::Paste(_) => {}
            input => match self.options.update(input)? {
                Answer::Given(option) => return self.choose(option),
                Answer::Cancelled => {
                    self.stage = Stage::Closed;
                    return Some(Effect::ReopenTree(self.target.clone(), None));
                }
            },
        }
        None
    }

    fn choose(&mut self, option: usize) -> Option<Effect> {
        match option {
            SKIP => return Some(self.run(Choice::Skip)),
            STANDARD => return Some(self.run(Choice::Standard)),
            FOCUS => {
                let hint = "the focus of the summary; empty for the default";
                let dialog = TextDialog::new("Summarize, focus on", hint, &self.focus);
                self.stage = Stage::Focus(Box::new(dialog));
            }
            NOTE => self.stage = Stage::Note(Prompt::new("Your note about the branch you leave", &self.note)),
            MERGE => {
                self.stage = Stage::Closed;
                return Some(Effect::Merge(self.target.clone()));
            }
            _ => {}
        }
        None
    }

    /// Replaces the focus that is being typed by the text from an external editor.
    pub fn set_text(&mut self, text: &str) {
        if let Stage::Focus(dialog) = &mut self.stage {
            dialog.set_text(text);
        }
    }

    fn take_focus(&mut self, typed: Typed) -> Option<Effect> {
        match typed {
            Typed::External(text) => Some(Effect::EditExternally(text)),
            Typed::Cancelled(text) => {
                self.focus = text;
                self.stage = Stage::Ask;
                None
            }
            Typed::Done(text) => {
                let focus = text.trim().to_owned();
                self.focus = text;
                Some(self.run(if focus.is_empty() { Choice::Standard } else { Choice::Focus(focus) }))
            }
        }
    }

    fn run(&mut self, choice: Choice) -> Effect {
        let with_model = matches!(choice, Choice::Standard | Choice::Focus(_));
        self.stage = Stage::Run { with_model, aborting: false };
        self.failure = None;
        Effect::Run {
            label: Some(self.label.clone()).filter(|label| !label.is_empty()),
            remember: self.remember && !matches!(choice, Choice::Note(_)),
            choice,
        }
    }

    /// Takes the end of the navigation.
    pub fn end(&mut self, ended: MoveEnd) -> Option<Effect> {
        let Stage::Run { with_model, .. } = self.stage else { return None };
        self.stage = Stage::Closed;
        match ended {
            MoveEnd::Done => Some(Effect::Status("Navigated to selected point · /back returns")),
            MoveEnd::Cancelled => {
                let status =
                    if with_model { "Branch summarization cancelled" } else { "Navigation cancelled" };
                Some(Effect::ReopenTree(self.target.clone(), Some(status)))
            }
            // Silent: the application decides whether to show it.
            MoveEnd::Refused => None,
            // The user chooses again: without a summary, with a note, or once more.
            MoveEnd::Failed(reason) => {
                self.stage = Stage::Ask;
                self.failure = Some(reason.clone());
                Some(Effect::Error(reason))
            }
        }
    }
}

fn options(leaving: &LeftBranch) -> SelectList {
    SelectList::new(
        "",
        vec![
            Item::new("No summary", "go there now"),
            Item::new("Summarize", leaving.estimate()),
            Item::new("Summarize, focus on…", "say what matters"),
            Item::new("Keep a note", "write one line yourself, no model call"),
            Item::new("Merge instead…", "bring its results here without leaving"),
        ],
    )
}

#[cfg(test)]
mod tests;

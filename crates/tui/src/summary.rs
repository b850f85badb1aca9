//! The summary flow: what happens between choosing an entry of the tree and being there.
//!
//! ```text
//!  tree --Enter--> ask --1..4--> run --done--> there
//!   ^               |^    5 -> merge instead
//!   +----Escape-----+|
//!   ^        focus, note (typed text survives Escape), label
//!   +----Escape while a summary is made: nothing changed
//! ```
//!
//! A pure machine: [`SummaryFlow::update`] takes an [`Event`] and returns [`Effect`]s; somebody else navigates, asks
//! models and opens trees.

mod draw;
mod leaving;

use session_tree::EntryId;

use crate::dialog::{Answer, Item, Prompt, SelectList, TextDialog, Typed};
use crate::help::{Group, HELP_ACTIONS, Help};
use crate::input::{LINE_ACTIONS, LineInput};
use crate::keys::{Action, Input, Keymap, Letters};

pub use leaving::{Leaving, SummaryModel};

/// What is told of the branch that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Nothing.
    Skip,
    /// What a model makes of it.
    Standard,
    /// What a model makes of it, with this in mind.
    Focus(String),
    /// This, without a model.
    Note(String),
}

/// An entry that was chosen in the tree.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The entry.
    pub target: EntryId,
    /// The leaf is there already.
    pub is_noop: bool,
    /// What would be left; none if there is nothing to summarise.
    pub leaving: Option<Leaving>,
    /// What a person has chosen once and for all, so that nothing is asked.
    pub always: Option<Choice>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A person did something.
    Input(Input),
    /// The external editor was closed with this text.
    Edited(String),
    /// The navigation ended.
    Ended(Ended),
}

/// How a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The leaf is there.
    Done,
    /// The summary was cancelled; the leaf is where it was.
    Cancelled,
    /// An extension refused; the leaf is where it was.
    Refused,
    /// The summary could not be made, for this reason; the leaf is where it was.
    Failed(String),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Navigate.
    Run {
        /// To this entry.
        target: EntryId,
        /// With this told of the branch that is left.
        choice: Choice,
        /// With this label on the summary, or on the entry.
        label: Option<String>,
    },
    /// Stop making the summary.
    Abort,
    /// Open the tree again as it was, on this entry.
    ReopenTree(EntryId),
    /// Review a merge of this entry's branch into the current one instead.
    Merge(EntryId),
    /// Do the same without asking for the rest of the session.
    Remember(Choice),
    /// Open this text in an external editor.
    EditExternally(String),
    /// Say something.
    Status(String),
    /// Say that something went wrong.
    Error(String),
}

/// The options, in order.
const SKIP: usize = 0;
const STANDARD: usize = 1;
const FOCUS: usize = 2;
const NOTE: usize = 3;
const MERGE: usize = 4;

const ASK_ACTIONS: &[Action] = &[
    Action::SelectConfirm,
    Action::SelectCancel,
    Action::SelectUp,
    Action::SelectDown,
    Action::SummaryRemember,
    Action::SummaryLabel,
    Action::Help,
];

const GROUPS: &[Group] = &[("Leaving a branch", ASK_ACTIONS)];

/// The summary flow.
#[derive(Debug)]
pub struct SummaryFlow {
    target: EntryId,
    leaving: Leaving,
    stage: Stage,
    options: SelectList,
    /// What was typed survives going back.
    focus: String,
    note: String,
    label: LineInput,
    remember: bool,
    /// Why it did not work the last time.
    trouble: Option<String>,
}

/// Where the flow is.
#[derive(Debug)]
enum Stage {
    Ask,
    Label,
    Focus(Box<TextDialog>),
    Note(Prompt),
    Help(Help),
    Run { with_model: bool, aborting: bool },
    Closed,
}

impl SummaryFlow {
    /// Starts the flow for an entry that was chosen.
    pub fn start(chosen: Chosen) -> (Self, Vec<Effect>) {
        let nothing_to_tell = chosen.leaving.is_none();
        let leaving = chosen.leaving.unwrap_or_default();
        let mut flow = Self {
            target: chosen.target,
            options: options(&leaving),
            leaving,
            stage: Stage::Ask,
            focus: String::new(),
            note: String::new(),
            label: LineInput::default(),
            remember: false,
            trouble: None,
        };
        if chosen.is_noop {
            flow.stage = Stage::Closed;
            return (flow, vec![Effect::Status("Already at this point".to_owned())]);
        }
        let effects = match chosen.always {
            _ if nothing_to_tell => flow.run(Choice::Skip),
            Some(choice) => flow.run(choice),
            None => Vec::new(),
        };
        (flow, effects)
    }

    /// Tells whether the flow still has something to show or to wait for.
    pub fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Closed)
    }

    /// Tells whether a summary is being made.
    pub fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Run { .. })
    }

    /// Turns an event of the terminal into what the flow takes now.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        match &self.stage {
            Stage::Ask => keymap.input(event, ASK_ACTIONS, Letters::Act),
            Stage::Help(_) => keymap.input(event, HELP_ACTIONS, Letters::Act),
            Stage::Focus(dialog) => dialog.input(keymap, event),
            Stage::Note(prompt) => prompt.input(keymap, event),
            Stage::Label => {
                let actions = [&[Action::SelectConfirm, Action::SelectCancel], LINE_ACTIONS].concat();
                keymap.input(event, &actions, Letters::Type)
            }
            Stage::Run { .. } => keymap.input(event, &[Action::SelectCancel], Letters::Act),
            Stage::Closed => None,
        }
    }

    /// Takes what happened and returns what is to be done.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match (event, &mut self.stage) {
            (Event::Input(input), Stage::Ask) => self.ask(&input),
            (Event::Input(input), Stage::Label) => self.type_label(&input),
            (Event::Input(input), Stage::Focus(_)) => self.type_focus(&input),
            (Event::Input(input), Stage::Note(_)) => self.type_note(&input),
            (Event::Input(input), Stage::Help(help)) => {
                if help.update(&input) {
                    self.stage = Stage::Ask;
                }
                Vec::new()
            }
            (Event::Input(Input::Action(Action::SelectCancel)), Stage::Run { aborting, .. }) => {
                let first = !std::mem::replace(aborting, true);
                if first { vec![Effect::Abort] } else { Vec::new() }
            }
            (Event::Edited(text), Stage::Focus(dialog)) => {
                dialog.set_text(&text);
                Vec::new()
            }
            (Event::Ended(ended), Stage::Run { .. }) => self.end(ended),
            _ => Vec::new(),
        }
    }

    fn ask(&mut self, input: &Input) -> Vec<Effect> {
        match input {
            Input::Action(Action::SummaryRemember) => self.remember = !self.remember,
            Input::Action(Action::SummaryLabel) => self.stage = Stage::Label,
            Input::Action(Action::Help) => self.stage = Stage::Help(Help::default()),
            Input::Paste(_) => {}
            input => match self.options.update(input) {
                Some(Answer::Given(option)) => return self.choose(option),
                Some(Answer::Cancelled) => return self.back_to_tree(),
                None => {}
            },
        }
        Vec::new()
    }

    fn choose(&mut self, option: usize) -> Vec<Effect> {
        match option {
            SKIP => return self.run(Choice::Skip),
            STANDARD => return self.run(Choice::Standard),
            FOCUS => {
                let hint = "what the summary should look at; empty for an ordinary one";
                let dialog = TextDialog::new("Summarize, focus on", hint, &self.focus);
                self.stage = Stage::Focus(Box::new(dialog));
            }
            NOTE => self.stage = Stage::Note(Prompt::new("Your note about the branch you leave", &self.note)),
            MERGE => {
                self.stage = Stage::Closed;
                return vec![Effect::Merge(self.target.clone())];
            }
            _ => {}
        }
        Vec::new()
    }

    fn back_to_tree(&mut self) -> Vec<Effect> {
        self.stage = Stage::Closed;
        vec![Effect::ReopenTree(self.target.clone())]
    }

    fn type_label(&mut self, input: &Input) -> Vec<Effect> {
        match input {
            Input::Action(Action::SelectConfirm) => self.stage = Stage::Ask,
            Input::Action(Action::SelectCancel) => {
                self.label = LineInput::default();
                self.stage = Stage::Ask;
            }
            input => {
                self.label.update(input);
            }
        }
        Vec::new()
    }

    fn type_focus(&mut self, input: &Input) -> Vec<Effect> {
        let Stage::Focus(dialog) = &mut self.stage else { return Vec::new() };
        match dialog.update(input) {
            None => Vec::new(),
            Some(Typed::External(text)) => vec![Effect::EditExternally(text)],
            Some(Typed::Cancelled(text)) => {
                self.focus = text;
                self.stage = Stage::Ask;
                Vec::new()
            }
            Some(Typed::Done(text)) => {
                self.focus = text;
                let focus = self.focus.trim().to_owned();
                self.run(if focus.is_empty() { Choice::Standard } else { Choice::Focus(focus) })
            }
        }
    }

    fn type_note(&mut self, input: &Input) -> Vec<Effect> {
        let Stage::Note(prompt) = &mut self.stage else { return Vec::new() };
        let typed = prompt.text().to_owned();
        match prompt.update(input) {
            None => Vec::new(),
            Some(Answer::Cancelled) => {
                self.note = typed;
                self.stage = Stage::Ask;
                Vec::new()
            }
            // A note that says nothing is no note; the question is asked again.
            Some(Answer::Given(note)) if note.is_empty() => {
                self.note = note;
                self.stage = Stage::Ask;
                Vec::new()
            }
            Some(Answer::Given(note)) => {
                self.note.clone_from(&note);
                self.run(Choice::Note(note))
            }
        }
    }

    fn run(&mut self, choice: Choice) -> Vec<Effect> {
        let with_model = matches!(choice, Choice::Standard | Choice::Focus(_));
        self.stage = Stage::Run { with_model, aborting: false };
        self.trouble = None;
        let label = Some(self.label.text().trim().to_owned()).filter(|label| !label.is_empty());
        let remembered = self.remember && !matches!(choice, Choice::Note(_));
        let mut effects = Vec::new();
        if remembered {
            effects.push(Effect::Remember(choice.clone()));
        }
        effects.push(Effect::Run { target: self.target.clone(), choice, label });
        effects
    }

    fn end(&mut self, ended: Ended) -> Vec<Effect> {
        match ended {
            Ended::Done => {
                self.stage = Stage::Closed;
                vec![Effect::Status("Navigated to selected point · /back returns".to_owned())]
            }
            Ended::Cancelled => {
                let status = match self.stage {
                    Stage::Run { with_model: false, .. } => "Navigation cancelled",
                    _ => "Branch summarization cancelled",
                };
                self.stage = Stage::Closed;
                vec![Effect::Status(status.to_owned()), Effect::ReopenTree(self.target.clone())]
            }
            // Silent: the application decides whether to show it.
            Ended::Refused => {
                self.stage = Stage::Closed;
                Vec::new()
            }
            // The person decides again, knowing why: without a summary, with a note, or once more.
            Ended::Failed(reason) => {
                self.stage = Stage::Ask;
                self.trouble = Some(reason.clone());
                vec![Effect::Error(reason)]
            }
        }
    }
}

fn options(leaving: &Leaving) -> SelectList {
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

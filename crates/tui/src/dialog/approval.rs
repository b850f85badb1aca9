//! The approval dialog of a tool call: the effect of the call, the answers, and a reason for a refusal.
//!
//! ```text
//!   question --"No" with a reason--> one line of input --Enter--> decided
//!            <-------- Esc ---------
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Answer, Item, Prompt, Question};
use crate::keys::{Input, Keymap};
use crate::theme::Theme;

/// The rows of the line to type: its title, the line, the keys.
const REASON_ROWS: u16 = 3;

/// The question whether a tool call may run.
#[derive(Debug)]
pub struct Approval {
    question: Question,
    /// The number of the answer that takes a reason.
    with_reason: usize,
    /// The reason while it is typed.
    reason: Option<Prompt>,
}

/// The decision about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The number of the answer.
    pub answer: usize,
    /// The reason that was typed; empty if none was.
    pub reason: String,
}

impl Approval {
    /// Makes the question. The last answer takes a reason.
    pub fn new(title: impl Into<String>, about: &str, diff: &str, mut answers: Vec<Item>, no: Item) -> Self {
        let with_reason = answers.len();
        answers.push(no);
        let mut question = Question::new(title, about, answers);
        diff.clone_into(&mut question.diff);
        Approval { question, with_reason, reason: None }
    }

    /// Turns an event of the terminal into an input.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        match &self.reason {
            Some(reason) => reason.input(keymap, event),
            None => self.question.input(keymap, event),
        }
    }

    /// Applies one input. `None` means: still open.
    pub fn update(&mut self, input: &Input) -> Option<Answer<Decided>> {
        if let Some(reason) = &mut self.reason {
            match reason.update(input)? {
                Answer::Given(reason) => {
                    return Some(Answer::Given(Decided { answer: self.with_reason, reason }));
                }
                Answer::Cancelled => self.reason = None,
            }
            return None;
        }
        match self.question.update(input)? {
            Answer::Given(answer) if answer == self.with_reason => {
                self.reason = Some(Prompt::new("Tell the model why", ""));
                None
            }
            Answer::Given(answer) => Some(Answer::Given(Decided { answer, reason: String::new() })),
            Answer::Cancelled => Some(Answer::Cancelled),
        }
    }

    /// Returns how many rows the question wants.
    pub fn height(&self, columns: u16) -> u16 {
        if self.reason.is_some() { REASON_ROWS } else { self.question.height(columns) }
    }

    /// Draws the question, or the line to type.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        match &mut self.reason {
            Some(reason) => reason.draw(theme, keymap, area, buf),
            None => self.question.draw(theme, keymap, area, buf),
        }
    }
}

#[cfg(test)]
mod tests;

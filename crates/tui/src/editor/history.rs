//! The history of prompts.

/// The most texts that are remembered.
const MOST: usize = 500;

/// Texts that were sent, oldest first, and which of them the editor shows.
#[derive(Debug, Default)]
pub(super) struct History {
    texts: Vec<String>,
    /// The text that is shown; none if it is a new one.
    at: Option<usize>,
    /// The new text, while an old one is shown.
    draft: String,
}

impl History {
    /// Makes a history of texts, oldest first.
    pub(super) fn new(texts: Vec<String>) -> Self {
        let mut history = History::default();
        for text in texts {
            history.add(&text);
        }
        history
    }

    /// Adds a text; the same text twice in a row counts once.
    pub(super) fn add(&mut self, text: &str) {
        self.rest();
        if text.trim().is_empty() || self.texts.last().is_some_and(|last| last == text) {
            return;
        }
        if self.texts.len() == MOST {
            self.texts.remove(0);
        }
        self.texts.push(text.to_owned());
    }

    /// Forgets which text is shown: it is being changed.
    pub(super) fn rest(&mut self) {
        self.at = None;
    }

    /// Returns the text before the one that is shown.
    pub(super) fn older(&mut self, shown: &str) -> Option<String> {
        let at = match self.at {
            None => {
                shown.clone_into(&mut self.draft);
                self.texts.len().checked_sub(1)?
            }
            Some(at) => at.checked_sub(1)?,
        };
        self.at = Some(at);
        self.texts.get(at).cloned()
    }

    /// Returns the text after the one that is shown; at the end the new one.
    pub(super) fn newer(&mut self) -> Option<String> {
        let at = self.at? + 1;
        match self.texts.get(at) {
            Some(text) => {
                self.at = Some(at);
                Some(text.clone())
            }
            None => {
                self.at = None;
                Some(std::mem::take(&mut self.draft))
            }
        }
    }
}

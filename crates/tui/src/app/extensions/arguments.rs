//! Completion of the arguments of extension commands: requested beside the loop, offered when they arrive.

use crate::chat::command::Completes;
use crate::chat::completion::{Candidate, Sources};

use super::super::App;
use super::ExtensionUi;

/// A command and the text after it.
type Typed = (String, String);

/// The arguments that may follow the typed text.
#[derive(Debug, Default)]
pub(super) struct ArgumentCache {
    /// The text whose arguments are not known yet.
    wanted: Option<Typed>,
    /// True if they were not requested yet.
    is_new: bool,
    known: Option<(Typed, Vec<Candidate>)>,
}

impl ArgumentCache {
    /// Returns the arguments. Until they are known, the previous ones that still fit are returned.
    fn find(&mut self, command: &str, typed: &str) -> Vec<Candidate> {
        let wanted = (command.to_owned(), typed.to_owned());
        let known = self.known.as_ref();
        if let Some((_, found)) = known.filter(|(known, _)| *known == wanted) {
            return found.clone();
        }
        let before = known.filter(|((known, _), _)| known == command).map(|(_, found)| found.clone());
        if self.wanted.as_ref() != Some(&wanted) {
            self.wanted = Some(wanted);
            self.is_new = true;
        }
        before.into_iter().flatten().filter(|one| one.text.starts_with(typed)).collect()
    }

    fn take_new(&mut self) -> Option<Typed> {
        self.wanted.clone().filter(|_| std::mem::take(&mut self.is_new))
    }

    fn learn(&mut self, typed: Typed, found: Vec<Candidate>) {
        self.wanted.take_if(|wanted| *wanted == typed);
        self.known = Some((typed, found));
    }
}

impl Sources for ExtensionUi {
    fn candidates(&self, _: Completes, _: &str) -> Vec<Candidate> {
        Vec::new()
    }

    fn arguments(&self, command: &str, typed: &str) -> Vec<Candidate> {
        self.arguments.borrow_mut().find(command, typed)
    }
}

impl App<'_> {
    /// Requests the arguments that completion looked for.
    pub(in super::super) fn complete_arguments(&mut self) {
        let Some((name, typed)) = self.extensions.arguments.borrow_mut().take_new() else { return };
        let known = self.extensions.commands.iter().find(|(known, _)| *known == name);
        let Some((_, command)) = known.cloned() else { return };
        self.extensions.spawn(async move {
            let found = command.complete(&typed).await;
            move |app: &mut App<'_>| app.arguments_are_known((name, typed), found)
        });
    }

    /// Offers the arguments that an extension returned.
    fn arguments_are_known(&mut self, typed: Typed, found: Vec<String>) {
        let found = found.into_iter().map(|text| Candidate { text, what: String::new() }).collect();
        self.extensions.arguments.borrow_mut().learn(typed, found);
        self.chat.offer(Completes::Extension, &self.extensions);
        self.complete_arguments();
    }
}

#[cfg(test)]
mod tests;

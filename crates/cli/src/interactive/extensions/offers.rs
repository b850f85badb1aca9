//! What may follow commands of extensions: asked beside the loop, offered when it is known.

use offshoot_tui::chat::command::Completes;
use offshoot_tui::chat::completion::{Candidate, Sources};

use super::super::front::Front;
use super::Guests;

/// A command and what is typed behind it.
type Typed = (String, String);

/// What may follow what is typed.
#[derive(Debug, Default)]
pub(super) struct Offers {
    /// What was looked for last and is not known yet.
    asked: Option<Typed>,
    /// Whether nobody has been asked about it.
    is_new: bool,
    known: Option<(Typed, Vec<Candidate>)>,
}

impl Offers {
    /// Finds what may follow. Until that is known, what was offered before is, as far as it still fits.
    fn find(&mut self, command: &str, typed: &str) -> Vec<Candidate> {
        let wanted = (command.to_owned(), typed.to_owned());
        let known = self.known.as_ref();
        if let Some((_, found)) = known.filter(|(known, _)| *known == wanted) {
            return found.clone();
        }
        let before = known.filter(|((known, _), _)| known == command).map(|(_, found)| found.clone());
        if self.asked.as_ref() != Some(&wanted) {
            self.asked = Some(wanted);
            self.is_new = true;
        }
        before.into_iter().flatten().filter(|one| one.text.starts_with(typed)).collect()
    }

    fn take_new(&mut self) -> Option<Typed> {
        self.asked.clone().filter(|_| std::mem::take(&mut self.is_new))
    }

    fn learn(&mut self, typed: Typed, found: Vec<Candidate>) {
        self.asked.take_if(|asked| *asked == typed);
        self.known = Some((typed, found));
    }
}

impl Sources for Guests {
    fn candidates(&self, _: Completes, _: &str) -> Vec<Candidate> {
        Vec::new()
    }

    fn arguments(&self, command: &str, typed: &str) -> Vec<Candidate> {
        self.offers.borrow_mut().find(command, typed)
    }
}

impl Front<'_> {
    /// Asks an extension what may follow what is typed, if somebody looked for it.
    pub(in super::super) fn ask_for_arguments(&mut self) {
        let Some((name, typed)) = self.guests.offers.borrow_mut().take_new() else { return };
        let known = self.guests.commands.iter().find(|(known, _)| *known == name);
        let Some((_, command)) = known.cloned() else { return };
        self.guests.spawn(async move {
            let found = command.complete(&typed).await;
            move |front: &mut Front<'_>| front.arguments_are_known((name, typed), found)
        });
    }

    /// Offers what an extension said.
    pub(super) fn arguments_are_known(&mut self, typed: Typed, found: Vec<String>) {
        let found = found.into_iter().map(|text| Candidate { text, what: String::new() }).collect();
        self.guests.offers.borrow_mut().learn(typed, found);
        self.chat.offer(Completes::Foreign, &self.guests);
        self.ask_for_arguments();
    }
}

#[cfg(test)]
mod tests;

//! `/diff`: compares two branches from their common ancestor.

use offshoot_tui::chat::command::Arguments;
use offshoot_tui::numbers::{count, money, tokens};
use session_tree::{Comparison, EntryId, Session};

use super::super::front::Front;
use super::super::view::Chosen;
use crate::ui::shortened;

/// The longest text in a line about a branch, in characters.
const MAX_TEXT: usize = 100;

impl Front<'_> {
    pub(super) fn diff(&mut self, arguments: &Arguments) {
        match arguments.first().map(str::to_owned) {
            Some(one) => self.print_diff(&one, arguments.words.get(1).map(String::as_str)),
            None => {
                let chosen: Chosen<EntryId> = Box::new(|front, id| front.print_diff(id.as_str(), None));
                self.choose_entry(
                    None,
                    Some(("Compare the branch of which entry?", "compare")),
                    Some(chosen),
                );
            }
        }
    }

    /// Prints the comparison of two branches.
    pub(in super::super) fn print_diff(&mut self, one: &str, other: Option<&str>) {
        let Some(one) = self.resolve(one) else { return };
        let Some(other) = self.resolve(other.unwrap_or("leaf")) else { return };
        let compared = self.desk.read(|session| -> session_tree::Result<String> {
            let comparison = session.compare(session.node(&one)?, session.node(&other)?)?;
            described(session, &comparison)
        });
        match compared {
            Ok(text) => self.print(text),
            Err(error) => self.fail_with(error),
        }
    }
}

/// Describes each branch in a few lines.
fn described(session: &Session, comparison: &Comparison) -> session_tree::Result<String> {
    let mut lines = Vec::new();
    for side in &comparison.sides {
        let figures = &side.figures;
        lines.push(format!(
            "{}: {}, {} tokens, {}",
            shortened(&session.branch_name(side.at)?, MAX_TEXT),
            count(figures.turns, "prompt"),
            tokens(figures.usage.total),
            money(figures.usage.cost),
        ));
        lines.extend(
            side.prompts
                .iter()
                .take(10)
                .map(|prompt| format!("  prompt   {}", shortened(&prompt.text, MAX_TEXT))),
        );
        lines.extend(
            side.files.modified_files().into_iter().take(20).map(|file| format!("  changed  {file}")),
        );
        lines.extend(side.ends_with.as_ref().map(|text| format!("  ends     {}", shortened(text, MAX_TEXT))));
    }
    lines.extend(comparison.contested_files.iter().map(|file| format!("both changed {file}")));
    Ok(lines.join("\n"))
}

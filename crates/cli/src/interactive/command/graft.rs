//! Commands that bring something over: `/cherry-pick`, `/merge`, `/diff`.

use offshoot_agent::command::{CherryPickMode, CherryPickRequest, MergeBranchRequest, MergeWith};
use offshoot_tui::chat::command::Arguments;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::numbers::{count, money, tokens};
use session_tree::{Comparison, EntryId, Session};

use super::super::front::Front;
use super::super::view::Chosen;
use crate::ui::shortened;

/// The longest text in a line about a branch, in characters.
const WIDEST: usize = 100;

impl Front<'_> {
    pub(super) fn pick_command(&mut self, arguments: &Arguments) {
        let mode = match arguments.value("--as").map(CherryPickMode::from_name) {
            None => CherryPickMode::default(),
            Some(Some(mode)) => mode,
            Some(None) => return self.tell(Tone::Warning, "--as is one of: quote, native, prompt, editor"),
        };
        let request = CherryPickRequest {
            what: arguments.first().unwrap_or_default().to_owned(),
            turn: arguments.has("--turn"),
            mode,
            note: arguments.value("--note").map(str::to_owned),
            again: arguments.has("--again"),
            ..CherryPickRequest::default()
        };
        if !request.what.is_empty() {
            return self.plan_pick(&request);
        }
        let chosen: Chosen<EntryId> = Box::new(move |front, id| {
            front.plan_pick(&CherryPickRequest { what: id.to_string(), ..request });
        });
        self.choose_entry(None, Some(("Copy which entry here?", "copy it here")), Some(chosen));
    }

    pub(super) fn merge_command(&mut self, arguments: &Arguments) {
        let focus = arguments.value("--focus").map(str::to_owned);
        let with = match (arguments.value("-m"), arguments.value("--mode")) {
            (Some(text), _) => MergeWith::Text(text.to_owned()),
            (None, None | Some("summary")) => MergeWith::Summary { focus },
            (None, Some("digest")) => MergeWith::Digest { budget_tokens: None },
            (None, Some(_)) => return self.tell(Tone::Warning, "--mode is one of: summary, digest"),
        };
        let request = MergeBranchRequest {
            branch: arguments.first().unwrap_or_default().to_owned(),
            with,
            note: None,
            no_fast_forward: arguments.has("--no-ff"),
        };
        let is_reviewed = !arguments.has("--no-review");
        if !request.branch.is_empty() {
            return self.plan_merge(request, is_reviewed);
        }
        let chosen: Chosen<EntryId> = Box::new(move |front, id| {
            front.plan_merge(MergeBranchRequest { branch: id.to_string(), ..request }, is_reviewed);
        });
        self.choose_entry(None, Some(("Merge the branch of which entry?", "merge its branch")), Some(chosen));
    }

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

    /// Prints what two branches did since they parted.
    pub(in super::super) fn print_diff(&mut self, one: &str, other: Option<&str>) {
        let Some(one) = self.resolve(one) else { return };
        let Some(other) = self.resolve(other.unwrap_or("leaf")) else { return };
        let compared = self.desk.read(|session| -> session_tree::Result<String> {
            let comparison = session.compare(session.node(&one)?, session.node(&other)?)?;
            told(session, &comparison)
        });
        match compared {
            Ok(text) => self.print(text),
            Err(error) => self.fail_with(error),
        }
    }
}

/// Tells what two branches did, in a few lines each.
fn told(session: &Session, comparison: &Comparison) -> session_tree::Result<String> {
    let mut lines = Vec::new();
    for side in &comparison.sides {
        let figures = &side.figures;
        lines.push(format!(
            "{}: {}, {} tokens, {}",
            shortened(&session.branch_name(side.at)?, WIDEST),
            count(figures.turns, "prompt"),
            tokens(figures.usage.total),
            money(figures.usage.cost),
        ));
        lines.extend(
            side.prompts
                .iter()
                .take(10)
                .map(|prompt| format!("  prompt   {}", shortened(&prompt.text, WIDEST))),
        );
        lines.extend(
            side.files.modified_files().into_iter().take(20).map(|file| format!("  changed  {file}")),
        );
        lines.extend(side.ends_with.as_ref().map(|text| format!("  ends     {}", shortened(text, WIDEST))));
    }
    lines.extend(comparison.contested_files.iter().map(|file| format!("both changed {file}")));
    Ok(lines.join("\n"))
}

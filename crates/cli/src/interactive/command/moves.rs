//! Commands that move: `/tree`, `/undo`, `/back`, `/forward`, `/branch-here`, `/switch`, `/pop`, `/push`.

use offshoot_agent::agent::SummaryRequest;
use offshoot_agent::command::{BranchHereRequest, PopRequest, SwitchRequest};
use offshoot_tui::chat::command::Arguments;
use session_tree::{Charset, Filter, Outline, OutlineOptions, OutlineRow};

use super::super::desk::Then;
use super::super::front::Front;
use super::super::view::Chosen;

impl Front<'_> {
    pub(super) fn tree_command(&mut self, arguments: &Arguments) {
        if arguments.has("--print") {
            return self.print_tree();
        }
        let start = match arguments.first() {
            None => None,
            Some(reference) => match self.resolve(reference) {
                Some(id) => self.desk.read(|session| session.tree().node(&id)),
                None => return,
            },
        };
        self.open_tree(start);
    }

    fn print_tree(&mut self) {
        let home = self.home.clone();
        let lines = self.desk.read(|session| -> session_tree::Result<Vec<String>> {
            let outline = Outline::new(
                session,
                OutlineOptions { filter: Filter::Default, home, filter_unfolds: false },
            );
            let rows = outline.rows(session, 0..outline.len())?;
            Ok(rows.iter().map(line).collect())
        });
        match lines {
            Ok(lines) => self.print(lines.join("\n")),
            Err(error) => self.fail_with(error),
        }
    }

    pub(super) fn undo(&mut self) {
        let Some(planned) = self.free_agent().map(|agent| agent.plan_undo()) else { return };
        let movement = planned.map(|undo| undo.movement);
        self.start_planned(movement, "taken back; /back brings it again");
    }

    pub(super) fn back(&mut self) {
        let Some(planned) = self.free_agent().map(|agent| agent.plan_back()) else { return };
        self.start_planned(planned, "back; /forward returns");
    }

    pub(super) fn forward(&mut self) {
        let Some(planned) = self.free_agent().map(|agent| agent.plan_forward()) else { return };
        self.start_planned(planned, "forward; /back returns");
    }

    pub(super) fn branch_here(&mut self, arguments: &Arguments) {
        let Some(target) = arguments.first().map(str::to_owned) else {
            let mut arguments = arguments.clone();
            let chosen: Chosen<session_tree::EntryId> = Box::new(move |front, id| {
                arguments.words.insert(0, id.to_string());
                front.branch_here(&arguments);
            });
            return self.choose_entry(None, Some(("Branch from which entry?", "branch here")), Some(chosen));
        };
        let request = BranchHereRequest { target, exact: arguments.has("--exact"), summary: told(arguments) };
        let Some(planned) = self.free_agent().map(|agent| agent.plan_branch_here(&request)) else { return };
        self.start_planned(planned, "another attempt begins here; /back returns");
    }

    pub(super) fn switch(&mut self, arguments: &Arguments) {
        let Some(target) = arguments.first().map(str::to_owned) else { return self.branches() };
        let request = SwitchRequest { target, exact: arguments.has("--exact"), summary: told(arguments) };
        let Some(planned) = self.free_agent().map(|agent| agent.plan_switch(&request)) else { return };
        self.start_planned(planned, "switched; /switch - returns");
    }

    pub(super) fn pop(&mut self, arguments: &Arguments) {
        let request = PopRequest {
            target: arguments.first().map(str::to_owned),
            note: arguments.value("-m").map(str::to_owned),
            focus: arguments.value("--focus").map(str::to_owned),
            edit: arguments.has("--edit"),
        };
        let pop = match self.free_agent().map(|agent| agent.plan_pop(&request)) {
            Some(Ok(pop)) => pop,
            Some(Err(error)) => return self.fail_with(error),
            None => return,
        };
        self.begin_summary(request.note.is_none());
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.pop(pop, &cancel).await;
            let then: Then = Box::new(move |front| {
                let mut prompt = None;
                let result = result.map(|applied| {
                    applied.map(|popped| {
                        prompt = popped.prompt;
                        popped.arrival
                    })
                });
                front.moved(result, Some("popped; /back returns"));
                if let Some(prompt) = prompt {
                    front.chat.editor.remember(&prompt);
                }
            });
            (agent, then)
        });
    }

    pub(super) fn push(&mut self, name: &str) {
        let plan = match self.free_agent().map(|agent| agent.plan_push(name)) {
            Some(Ok(plan)) => plan,
            Some(Err(error)) => return self.fail_with(error),
            None => return,
        };
        self.apply_label(plan, "this place is marked; /pop comes back to it with a summary");
    }
}

/// What is told of the branch that is left: nothing, unless `-s` asks for it.
fn told(arguments: &Arguments) -> SummaryRequest {
    match (arguments.has("-s"), arguments.rest(1)) {
        (false, _) => SummaryRequest::Skip,
        (true, Some(focus)) => SummaryRequest::Focus(focus),
        (true, None) => SummaryRequest::Standard,
    }
}

/// Draws a row of the tree as text.
fn line(row: &OutlineRow) -> String {
    let dot = if row.on_path { "• " } else { "" };
    let label = row.label.as_ref().map(|label| format!("[{}] ", label.text)).unwrap_or_default();
    let here = if row.is_leaf { " ← active" } else { "" };
    format!("{}{dot}{label}{}{here}", row.prefix(Charset::Unicode), row.text)
}

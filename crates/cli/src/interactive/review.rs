//! `/cherry-pick` and `/merge`: the user reads the text, and may change it, before it is written.

use offshoot_agent::command::{
    Applied, CherryPick, CherryPickRequest, CherryPicked, MergeBranchRequest, MergeDraft, MergeWith,
    MergedBranch,
};
use offshoot_agent::error::AgentError;
use offshoot_agent::shared::SharedSession;
use offshoot_tui::chat::command::Arguments;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::crossterm::event::Event;
use offshoot_tui::dialog::{Review, ReviewKind, ReviewText, Reviewed};
use offshoot_tui::numbers::{count, tokens};
use session_tree::{EntryId, MergeOutcome};

use super::desk::Then;
use super::front::Front;
use super::view::{Chosen, View};
use crate::cmd::{merge_warnings, open_source};
use crate::error::chain;

/// The change that is reviewed.
pub(super) enum Reviewing {
    Pick(Box<CherryPick>),
    Merge(Box<MergeDraft>),
}

impl Front<'_> {
    pub(super) fn pick_command(&mut self, arguments: &Arguments) {
        let native = match arguments.value("--as") {
            None | Some("quote") => false,
            Some("native") => true,
            Some(_) => return self.tell(Tone::Warning, "--as is one of: quote, native"),
        };
        let request = CherryPickRequest {
            what: arguments.first().unwrap_or_default().to_owned(),
            turn: arguments.has("--turn"),
            native,
            note: arguments.value("--note").map(str::to_owned),
            with_state: arguments.has("--with-state"),
            again: arguments.has("--again"),
        };
        if !request.what.is_empty() {
            return self.plan_pick(request);
        }
        let chosen: Chosen<EntryId> = Box::new(move |front, id| {
            front.plan_pick(CherryPickRequest { what: id.to_string(), ..request });
        });
        self.choose_entry(None, Some(("Copy which entry here?", "copy it here")), Some(chosen));
    }

    pub(super) fn merge_command(&mut self, arguments: &Arguments) {
        let focus = arguments.value("--focus").map(str::to_owned);
        let with = match (arguments.value("-m"), arguments.value("--mode")) {
            (Some(text), _) => MergeWith::Text(text.to_owned()),
            (None, None | Some("summary")) => MergeWith::Summary { focus },
            (None, Some("digest")) => MergeWith::Digest,
            (None, Some(_)) => return self.tell(Tone::Warning, "--mode is one of: summary, digest"),
        };
        let request = MergeBranchRequest {
            branch: arguments.first().unwrap_or_default().to_owned(),
            with,
            note: arguments.value("--note").map(str::to_owned),
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

    /// Reviews a merge of the branch that ends in an entry.
    pub(super) fn merge(&mut self, branch: &str) {
        let branch = branch.to_owned();
        self.plan_merge(MergeBranchRequest { branch, ..MergeBranchRequest::default() }, true);
    }

    /// Reviews a copy of entries.
    pub(super) fn pick(&mut self, what: &str) {
        self.plan_pick(CherryPickRequest { what: what.to_owned(), ..CherryPickRequest::default() });
    }

    /// Plans a cherry-pick and shows it.
    fn plan_pick(&mut self, request: CherryPickRequest) {
        match open_source(&request.what, self.app) {
            Ok((source, what)) => self.plan_pick_from(source, &CherryPickRequest { what, ..request }),
            Err(error) => self.fail_with(error),
        }
    }

    fn plan_pick_from(&mut self, source: Option<SharedSession>, request: &CherryPickRequest) {
        let Some(agent) = self.free_agent() else { return };
        let pick = match agent.plan_cherry_pick(source.as_ref(), request) {
            Ok(pick) => pick,
            Err(error) => return self.fail_with(error),
        };
        let (entries, taken) = (count(pick.plan.selected.len(), "entry"), tokens(pick.plan.tokens()));
        let facts = vec![format!("{entries} · {} · about {taken} tokens", request.mode())];
        let text = ReviewText::Ready(pick.plan.text());
        let review = Review::new(ReviewKind::Pick, facts, pick.warnings.clone(), text);
        self.open_view(View::Review(Box::new(review), Reviewing::Pick(Box::new(pick))));
    }

    fn apply_pick(&mut self, pick: CherryPick) {
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.cherry_pick(pick, &cancel).await;
            let then: Then = Box::new(move |front| match result {
                Ok(Applied::Done(CherryPicked { model, .. })) => {
                    front.show_path("copied here");
                    front.tell(Tone::Success, "copied; /undo takes it back");
                    front.restore_model(model);
                }
                Ok(Applied::Cancelled(by)) => front.show_cancelled(&by),
                Err(error) => front.fail_with(error),
            });
            (agent, then)
        });
    }

    /// Plans a merge, has its text made, and shows it if it is to be reviewed.
    fn plan_merge(&mut self, request: MergeBranchRequest, is_reviewed: bool) {
        match open_source(&request.branch, self.app) {
            Ok((source, branch)) => {
                self.plan_merge_from(source, &MergeBranchRequest { branch, ..request }, is_reviewed);
            }
            Err(error) => self.fail_with(error),
        }
    }

    fn plan_merge_from(
        &mut self,
        source: Option<SharedSession>,
        request: &MergeBranchRequest,
        is_reviewed: bool,
    ) {
        let Some(agent) = self.free_agent() else { return };
        match agent.plan_merge(source.as_ref(), request) {
            Ok(planned) => self.draft_merge(planned, is_reviewed),
            Err(error) => self.fail_with(error),
        }
    }

    fn draft_merge(&mut self, planned: MergeDraft, is_reviewed: bool) {
        match &planned.plan.outcome {
            MergeOutcome::UpToDate => return self.tell(Tone::Info, "Already up to date"),
            MergeOutcome::FastForward { .. } => return self.apply_merge(planned),
            MergeOutcome::Merge(_) if is_reviewed => {
                self.open_merge_review(planned.clone(), ReviewText::Waiting);
            }
            MergeOutcome::Merge(_) => {}
        }
        self.begin_summary(!is_reviewed);
        self.desk.start(move |agent, cancel| async move {
            let drafted = agent.draft_merge(planned, &cancel).await;
            let then: Then = Box::new(move |front| front.merge_drafted(drafted, is_reviewed));
            (agent, then)
        });
    }

    fn open_merge_review(&mut self, draft: MergeDraft, text: ReviewText) {
        let (mut facts, mut warnings) = (Vec::new(), Vec::new());
        if let Some(merge) = draft.merge().filter(|_| matches!(text, ReviewText::Ready(_))) {
            let (entries, mode) = (count(merge.entries.len(), "entry"), draft.request.with.name());
            facts.push(format!("{entries} · {mode} · about {} tokens", tokens(merge.tokens())));
            warnings = merge_warnings(merge);
        }
        let review = Review::new(ReviewKind::Merge, facts, warnings, text);
        self.open_view(View::Review(Box::new(review), Reviewing::Merge(Box::new(draft))));
    }

    fn merge_drafted(&mut self, drafted: Result<Applied<MergeDraft>, AgentError>, is_reviewed: bool) {
        self.chat.working.end();
        let shown = self.take_waiting(|view| matches!(view, View::Review(_, Reviewing::Merge(_))));
        match (drafted, shown) {
            (Ok(Applied::Done(draft)), None) if !is_reviewed => self.apply_merge(draft),
            // The review was closed while the model was writing.
            (Ok(Applied::Done(_)), None) => self.tell(Tone::Info, "nothing changed"),
            (Ok(Applied::Done(draft)), Some(_)) => {
                let text = ReviewText::Ready(draft.text().to_owned());
                self.open_merge_review(draft, text);
            }
            (Ok(Applied::Cancelled(by)), _) => self.show_cancelled(&by),
            (Err(error), Some(View::Review(_, Reviewing::Merge(draft)))) => {
                self.open_merge_review(*draft, ReviewText::Failed(chain(&error)));
            }
            (Err(error), _) => self.fail_with(error),
        }
    }

    fn apply_merge(&mut self, draft: MergeDraft) {
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.merge(&draft, &cancel).await;
            let then: Then = Box::new(move |front| front.merged(result));
            (agent, then)
        });
    }

    fn merged(&mut self, result: Result<Applied<MergedBranch>, AgentError>) {
        match result {
            Ok(Applied::Done(MergedBranch::UpToDate)) => self.tell(Tone::Info, "Already up to date"),
            Ok(Applied::Done(MergedBranch::FastForwarded(arrival))) => {
                let said = "the branch goes on from here, so only the position moved; /back returns";
                self.arrive(arrival.editor_text.as_deref(), arrival.images, Some(said));
            }
            Ok(Applied::Done(MergedBranch::Appended { .. })) => {
                self.show_path("merged");
                self.tell(Tone::Success, "merged; /undo takes it back");
            }
            Ok(Applied::Cancelled(by)) => self.show_cancelled(&by),
            Err(error) => self.fail_with(error),
        }
    }

    /// Handles an event of a review.
    pub(super) fn review_event(&mut self, mut review: Box<Review>, reviewing: Reviewing, event: &Event) {
        let wanted = review.input(&self.keymap, event).and_then(|input| review.update(&input));
        let needs_agent =
            matches!(wanted, Some(Reviewed::Apply(_) | Reviewed::NextMode | Reviewed::Focus(_)));
        if needs_agent && self.is_refused_now() {
            self.view = Some(View::Review(review, reviewing));
            return;
        }
        match (wanted, reviewing) {
            (Some(Reviewed::Cancel), reviewing) => {
                if review.is_waiting() && matches!(reviewing, Reviewing::Merge(_)) {
                    self.desk.stop();
                }
                self.tell(Tone::Info, "nothing changed");
            }
            (Some(Reviewed::External(text)), reviewing) => {
                if let Some(text) = self.edit_externally(&text) {
                    review.set_edited(&text);
                }
                self.view = Some(View::Review(review, reviewing));
            }
            (Some(Reviewed::Apply(text)), Reviewing::Pick(mut pick)) => {
                if let Some(text) = text {
                    pick.set_text(&text);
                }
                self.apply_pick(*pick);
            }
            (Some(Reviewed::NextMode), Reviewing::Pick(pick)) => {
                let CherryPick { request, source, .. } = *pick;
                self.plan_pick_from(source, &CherryPickRequest { native: !request.native, ..request });
            }
            (Some(Reviewed::Apply(text)), Reviewing::Merge(mut draft)) => {
                draft.review(text);
                self.apply_merge(*draft);
            }
            (Some(Reviewed::NextMode), Reviewing::Merge(draft)) => {
                let with = match draft.request.with {
                    MergeWith::Summary { .. } => MergeWith::Digest,
                    MergeWith::Digest | MergeWith::Text(_) => MergeWith::default(),
                };
                let MergeDraft { request, source, .. } = *draft;
                self.plan_merge_from(source, &MergeBranchRequest { with, ..request }, true);
            }
            (Some(Reviewed::Focus(focus)), Reviewing::Merge(draft)) => {
                let MergeDraft { request, source, .. } = *draft;
                let with = MergeWith::Summary { focus: Some(focus) };
                self.plan_merge_from(source, &MergeBranchRequest { with, ..request }, true);
            }
            (Some(Reviewed::FullDiff), Reviewing::Merge(draft)) => {
                self.print_diff(&draft.request.branch, None);
                self.view = Some(View::Review(review, Reviewing::Merge(draft)));
            }
            (_, reviewing) => self.view = Some(View::Review(review, reviewing)),
        }
    }
}

//! `/cherry-pick` and `/merge`: the user reads the text, and may change it, before it is written.

use offshoot_agent::command::{
    Applied, CherryPick, CherryPickRequest, MergeBranchRequest, MergeDraft, MergeWith,
};
use offshoot_agent::error::AgentError;
use offshoot_agent::shared::SharedSession;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::crossterm::event::Event;
use offshoot_tui::dialog::{Review, ReviewKind, ReviewText, Reviewed};
use offshoot_tui::numbers::{count, tokens};
use session_tree::merge::MergeOutcome;

use super::front::Front;
use super::view::View;
use crate::cmd::cherry_pick::{self, open_source};
use crate::cmd::merge::{self, merge_warnings};
use crate::error::chain;

/// The change that is reviewed.
pub(super) enum Reviewing {
    Pick(Box<CherryPick>),
    Merge(Box<MergeDraft>),
}

impl Front<'_> {
    /// Reviews a merge of the branch that ends in an entry.
    pub(super) fn merge(&mut self, branch: &str) {
        let branch = branch.to_owned();
        self.plan_merge(MergeBranchRequest { branch, ..MergeBranchRequest::default() });
    }

    /// Reviews a copy of entries.
    pub(super) fn pick(&mut self, what: &str) {
        self.plan_pick(CherryPickRequest { what: what.to_owned(), ..CherryPickRequest::default() });
    }

    /// Plans a cherry-pick and shows it.
    pub(super) fn plan_pick(&mut self, request: CherryPickRequest) {
        match open_source(&request.what, self.app) {
            Ok((source, what)) => self.plan_pick_from(source, CherryPickRequest { what, ..request }),
            Err(error) => self.fail_with(error),
        }
    }

    fn plan_pick_from(&mut self, source: Option<SharedSession>, request: CherryPickRequest) {
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.plan_cherry_pick(source, request);
        self.call(reply, |front, planned| match planned {
            Ok(pick) => front.review_pick(pick),
            Err(error) => front.fail_with(error),
        });
    }

    fn review_pick(&mut self, pick: CherryPick) {
        let (entries, taken) = (count(pick.plan.selected.len(), "entry"), tokens(pick.plan.tokens()));
        let facts = vec![format!("{entries} · {} · about {taken} tokens", pick.request.mode())];
        let text = ReviewText::Ready(pick.plan.text());
        let review = Review::new(ReviewKind::Pick, facts, pick.warnings.clone(), text);
        self.open_view(View::Review(Box::new(review), Reviewing::Pick(Box::new(pick))));
    }

    /// Plans a merge, has its text made, and shows it.
    pub(super) fn plan_merge(&mut self, request: MergeBranchRequest) {
        match open_source(&request.branch, self.app) {
            Ok((source, branch)) => self.plan_merge_from(source, MergeBranchRequest { branch, ..request }),
            Err(error) => self.fail_with(error),
        }
    }

    fn plan_merge_from(&mut self, source: Option<SharedSession>, request: MergeBranchRequest) {
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.plan_merge(source, request);
        self.call(reply, |front, planned| match planned {
            Ok(planned) => front.draft_merge(planned),
            Err(error) => front.fail_with(error),
        });
    }

    fn draft_merge(&mut self, planned: MergeDraft) {
        match &planned.plan.outcome {
            MergeOutcome::UpToDate | MergeOutcome::FastForward { .. } => return self.apply_merge(planned),
            MergeOutcome::Merge(_) => self.open_merge_review(planned.clone(), ReviewText::Waiting),
        }
        let reply = self.agent.draft_merge(planned);
        self.call(reply, |front, drafted| front.merge_drafted(drafted));
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

    fn merge_drafted(&mut self, drafted: Result<Applied<MergeDraft>, AgentError>) {
        self.chat.working.end();
        let shown = self.take_waiting(|view| matches!(view, View::Review(_, Reviewing::Merge(_))));
        match (drafted, shown) {
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
        self.start_work(async move |work| merge::apply(&draft, work).await);
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
                    self.agent.abort();
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
                self.start_work(async move |work| cherry_pick::apply(*pick, work).await);
            }
            (Some(Reviewed::NextMode), Reviewing::Pick(pick)) => {
                let CherryPick { request, source, .. } = *pick;
                self.plan_pick_from(source, CherryPickRequest { native: !request.native, ..request });
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
                self.plan_merge_from(source, MergeBranchRequest { with, ..request });
            }
            (Some(Reviewed::Focus(focus)), Reviewing::Merge(draft)) => {
                let MergeDraft { request, source, .. } = *draft;
                let with = MergeWith::Summary { focus: Some(focus) };
                self.plan_merge_from(source, MergeBranchRequest { with, ..request });
            }
            (Some(Reviewed::FullDiff), Reviewing::Merge(draft)) => {
                self.print_diff(&draft.request.branch, None);
                self.view = Some(View::Review(review, Reviewing::Merge(draft)));
            }
            (_, reviewing) => self.view = Some(View::Review(review, reviewing)),
        }
    }
}

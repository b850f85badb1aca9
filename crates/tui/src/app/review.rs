//! `/cherry-pick` and `/merge`: the user reads the text, and may change it, before it is written.

use crate::chat::item::Tone;
use crate::dialog::{Review, ReviewKind, ReviewText, Reviewed};
use crate::numbers::{count, tokens};
use crossterm::event::Event;
use offshoot_agent::command::{
    Applied, CherryPick, CherryPickRequest, MergeBranchRequest, MergeDraft, MergeWith,
};
use offshoot_agent::error::{AgentError, chain};
use offshoot_agent::shared::SharedSession;
use session_tree::merge::{Merge, MergeOutcome, SettingDifference};

use super::App;
use super::views::View;

/// The change that is reviewed.
pub(super) enum Reviewing {
    Pick(Box<CherryPick>),
    Merge(Box<MergeDraft>),
}

impl App<'_> {
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
        match self.services.open_source(&request.what) {
            Ok((source, what)) => self.plan_pick_from(source, CherryPickRequest { what, ..request }),
            Err(error) => self.fail_with(error),
        }
    }

    fn plan_pick_from(&mut self, source: Option<SharedSession>, request: CherryPickRequest) {
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.plan_cherry_pick(source, request);
        self.call(reply, |app, planned| match planned {
            Ok(pick) => app.review_pick(pick),
            Err(error) => app.fail_with(error),
        });
    }

    fn review_pick(&mut self, pick: CherryPick) {
        let (entries, taken) = (count(pick.plan.selected.len(), "entry"), tokens(pick.plan.tokens()));
        let facts = vec![format!("{entries} · {} · about {taken} tokens", pick.request.mode())];
        let text = ReviewText::Ready(pick.plan.text());
        let review = Review::new(ReviewKind::Pick, facts, pick.warnings.clone(), text);
        self.views.open(View::Review(Box::new(review), Reviewing::Pick(Box::new(pick))));
    }

    /// Plans a merge, has its text made, and shows it.
    pub(super) fn plan_merge(&mut self, request: MergeBranchRequest) {
        match self.services.open_source(&request.branch) {
            Ok((source, branch)) => self.plan_merge_from(source, MergeBranchRequest { branch, ..request }),
            Err(error) => self.fail_with(error),
        }
    }

    fn plan_merge_from(&mut self, source: Option<SharedSession>, request: MergeBranchRequest) {
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.plan_merge(source, request);
        self.call(reply, |app, planned| match planned {
            Ok(planned) => app.draft_merge(planned),
            Err(error) => app.fail_with(error),
        });
    }

    fn draft_merge(&mut self, planned: MergeDraft) {
        match &planned.plan.outcome {
            MergeOutcome::UpToDate | MergeOutcome::FastForward { .. } => return self.apply_merge(planned),
            MergeOutcome::Merge(_) => self.open_merge_review(planned.clone(), ReviewText::Waiting),
        }
        let reply = self.agent.draft_merge(planned);
        self.call(reply, |app, drafted| app.merge_drafted(drafted));
    }

    fn open_merge_review(&mut self, draft: MergeDraft, text: ReviewText) {
        let (mut facts, mut warnings) = (Vec::new(), Vec::new());
        if let Some(merge) = draft.merge().filter(|_| matches!(text, ReviewText::Ready(_))) {
            let (entries, mode) = (count(merge.entries.len(), "entry"), draft.request.with.name());
            facts.push(format!("{entries} · {mode} · about {} tokens", tokens(merge.tokens())));
            warnings = merge_warnings(merge);
        }
        let review = Review::new(ReviewKind::Merge, facts, warnings, text);
        self.views.open(View::Review(Box::new(review), Reviewing::Merge(Box::new(draft))));
    }

    fn merge_drafted(&mut self, drafted: Result<Applied<MergeDraft>, AgentError>) {
        self.chat.working.end();
        let shown = self.views.take_waiting(|view| matches!(view, View::Review(_, Reviewing::Merge(_))));
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
        let command = self.services.apply_merge(draft);
        self.run_change(command);
    }

    /// Handles an event of a review.
    pub(super) fn review_event(&mut self, mut review: Box<Review>, reviewing: Reviewing, event: &Event) {
        let wanted = review.input(&self.settings.keymap, event).and_then(|input| review.update(&input));
        let needs_agent =
            matches!(wanted, Some(Reviewed::Apply(_) | Reviewed::NextMode | Reviewed::Focus(_)));
        if needs_agent && self.is_refused_now() {
            return self.views.put(View::Review(review, reviewing));
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
                self.views.put(View::Review(review, reviewing));
            }
            (Some(Reviewed::Apply(text)), Reviewing::Pick(mut pick)) => {
                if let Some(text) = text {
                    pick.set_text(&text);
                }
                let command = self.services.apply_pick(*pick);
                self.run_change(command);
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
                self.views.put(View::Review(review, Reviewing::Merge(draft)));
            }
            (_, reviewing) => self.views.put(View::Review(review, reviewing)),
        }
    }
}

/// Lists what the user should know before a merge is written.
pub fn merge_warnings(merge: &Merge) -> Vec<String> {
    let mut warnings = Vec::new();
    if !merge.contested.is_empty() {
        warnings.push(format!("changed on both branches: {}", merge.contested.join(", ")));
    }
    let conflicts = merge.content.conflicts.iter();
    warnings.extend(conflicts.map(|conflict| format!("decisions differ: {}", conflict.topic)));
    warnings.extend(merge.differences.iter().map(|difference| {
        let text = match difference {
            SettingDifference::Model { theirs, .. } => {
                format!("model {}/{}", theirs.provider, theirs.model_id)
            }
            SettingDifference::ThinkingLevel { theirs, .. } => format!("thinking level {theirs}"),
        };
        format!("that branch has {text}; this one keeps its own")
    }));
    if merge.omitted_turns > 0 {
        let turns = count(merge.omitted_turns, "turn");
        warnings.push(format!("the oldest {turns} did not fit and are left out"));
    }
    warnings
}

//! Reviews: a pick or a merge is read, and perhaps changed, before it is written.

use offshoot_agent::command::{
    Applied, CherryPick, CherryPickMode, CherryPickRequest, CherryPicked, MergeBranchRequest, MergeDraft,
    MergeWith, MergedBranch,
};
use offshoot_agent::error::AgentError;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::crossterm::event::Event;
use offshoot_tui::dialog::{Review, ReviewKind, ReviewText, Reviewed};
use offshoot_tui::numbers::{count, tokens};
use session_tree::{EntryId, MergeOutcome, Message, ModelRef, PromptImage};

use super::desk::Then;
use super::front::Front;
use super::view::View;
use crate::error::chain;

/// What is reviewed.
pub(super) enum Reviewing {
    /// Entries that are copied here.
    Pick(Box<CherryPick>),
    /// A text about another branch; none until it is made.
    Merge(MergeBranchRequest, Option<Box<MergeDraft>>),
}

impl Front<'_> {
    /// Reviews a pick of entries.
    pub(super) fn pick(&mut self, what: &str) {
        self.plan_pick(&CherryPickRequest { what: what.to_owned(), ..CherryPickRequest::default() });
    }

    pub(super) fn plan_pick(&mut self, request: &CherryPickRequest) {
        match self.free_agent().map(|agent| agent.plan_cherry_pick(None, request)) {
            Some(Ok(pick)) => self.review_pick(pick),
            Some(Err(error)) => self.fail_with(error),
            None => {}
        }
    }

    fn review_pick(&mut self, pick: CherryPick) {
        let facts = vec![format!(
            "{} · {} · about {} tokens",
            count(pick.plan.selected.len(), "entry"),
            pick.request.mode.name(),
            tokens(pick.plan.tokens()),
        )];
        let mut warnings: Vec<String> = pick.plan.warnings.iter().map(ToString::to_string).collect();
        warnings.extend(
            pick.is_large.then(|| "it takes more than a quarter of the room that is left".to_owned()),
        );
        warnings.extend(pick.has_unread_images.then(|| "this model reads no images".to_owned()));
        let review = Review::new(ReviewKind::Pick, "Copy here", ReviewText::Ready(pick.text()));
        let review = review.with_facts(facts).with_warnings(warnings);
        self.open_view(View::Review(Box::new(review), Reviewing::Pick(Box::new(pick))));
    }

    /// Reviews a merge of a branch.
    pub(super) fn merge(&mut self, branch: &str) {
        self.plan_merge(
            MergeBranchRequest { branch: branch.to_owned(), ..MergeBranchRequest::default() },
            true,
        );
    }

    /// Makes the text of a merge, and shows it if it is to be reviewed.
    pub(super) fn plan_merge(&mut self, request: MergeBranchRequest, is_reviewed: bool) {
        let planned = match self.free_agent().map(|agent| agent.plan_merge(None, &request)) {
            Some(Ok(planned)) => planned,
            Some(Err(error)) => return self.fail_with(error),
            None => return,
        };
        if planned.is_up_to_date() {
            return self.tell(Tone::Info, "Already up to date");
        }
        if is_reviewed {
            let review = Review::new(ReviewKind::Merge, "Merge into this branch", ReviewText::Waiting);
            self.open_view(View::Review(Box::new(review), Reviewing::Merge(request, None)));
        }
        self.begin_summary(!is_reviewed);
        self.desk.start(move |agent, cancel| async move {
            let drafted = agent.draft_merge(planned, None, &cancel).await;
            let then: Then = Box::new(move |front| front.merge_drafted(drafted, is_reviewed));
            (agent, then)
        });
    }

    fn merge_drafted(&mut self, drafted: Result<Applied<MergeDraft>, AgentError>, is_reviewed: bool) {
        self.chat.working.end();
        let review = match self.take_waiting(|view| matches!(view, View::Review(..))) {
            Some(View::Review(review, Reviewing::Merge(request, _))) => Some((review, request)),
            _ => None,
        };
        match drafted {
            Ok(Applied::Done(draft)) => self.drafted(draft, review.map(|(_, request)| request), is_reviewed),
            Ok(Applied::Cancelled(by)) => self.show_cancelled(&by),
            Err(error) => match review {
                Some((mut review, request)) => {
                    review.set_text(ReviewText::Failed(chain(&error)));
                    self.open_view(View::Review(review, Reviewing::Merge(request, None)));
                }
                None => self.fail_with(error),
            },
        }
    }

    /// The text of a merge is there: it is shown if somebody wants to read it first, and done otherwise.
    fn drafted(&mut self, draft: MergeDraft, shown: Option<MergeBranchRequest>, is_reviewed: bool) {
        let is_forward = matches!(draft.outcome(), MergeOutcome::FastForward { .. });
        match shown {
            Some(request) if !is_forward => {
                let (review, draft) = (merge_review(&draft), Some(Box::new(draft)));
                self.open_view(View::Review(Box::new(review), Reviewing::Merge(request, draft)));
            }
            // Closed at the last moment.
            None if is_reviewed => self.tell(Tone::Info, "nothing changed"),
            _ => self.apply_merge(draft),
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
                self.arrive(
                    arrival.editor_text.as_deref(),
                    arrival.images,
                    Some("nothing was said here since, so this is a move; /back returns"),
                );
            }
            Ok(Applied::Done(MergedBranch::Appended { .. })) => self.show_merged(None),
            Ok(Applied::Done(MergedBranch::Picked { model, .. })) => self.show_merged(model),
            Ok(Applied::Cancelled(by)) => self.show_cancelled(&by),
            Err(error) => self.fail_with(error),
        }
    }

    fn show_merged(&mut self, model: Option<ModelRef>) {
        self.show_path("merged");
        self.tell(Tone::Success, "merged; /undo takes it back");
        self.restore_model(model);
    }

    /// Gives an event to a review.
    pub(super) fn review_event(&mut self, mut review: Box<Review>, reviewing: Reviewing, event: &Event) {
        let wanted = review.input(&self.keymap, event).and_then(|input| review.update(&input));
        match (wanted, reviewing) {
            (None, reviewing) => self.view = Some(View::Review(review, reviewing)),
            (Some(Reviewed::Cancel), reviewing) => {
                // Somebody else may work by now.
                if review.is_waiting() && matches!(reviewing, Reviewing::Merge(_, None)) {
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
            (Some(wanted), reviewing) if needs_agent(&wanted) && self.is_refused_now() => {
                self.view = Some(View::Review(review, reviewing));
            }
            (Some(wanted), Reviewing::Pick(pick)) => self.pick_reviewed(wanted, review, *pick),
            (Some(wanted), Reviewing::Merge(request, draft)) => {
                self.merge_reviewed(wanted, review, request, draft);
            }
        }
    }

    fn pick_reviewed(&mut self, wanted: Reviewed, review: Box<Review>, mut pick: CherryPick) {
        match wanted {
            Reviewed::Apply(text) => {
                if let Some(text) = text {
                    pick.set_text(&text);
                }
                self.apply_pick(pick);
            }
            Reviewed::NextMode => {
                let mode = next_mode(pick.request.mode);
                let request = CherryPickRequest { mode, ..pick.request };
                self.plan_pick(&request);
            }
            Reviewed::Focus(_) | Reviewed::FullDiff | Reviewed::External(_) | Reviewed::Cancel => {
                self.view = Some(View::Review(review, Reviewing::Pick(Box::new(pick))));
            }
        }
    }

    fn apply_pick(&mut self, pick: CherryPick) {
        let now = self.now();
        self.chat.working.begin(offshoot_tui::chat::working::Activity::Turn, now);
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.cherry_pick(pick, None, &cancel).await;
            let then: Then = Box::new(move |front| front.picked(result));
            (agent, then)
        });
    }

    fn picked(&mut self, result: Result<Applied<CherryPicked>, AgentError>) {
        self.chat.working.end();
        match result {
            Ok(Applied::Done(CherryPicked::Appended { model, .. })) => {
                self.show_path("copied here");
                self.tell(Tone::Success, "copied; /undo takes it back");
                self.restore_model(model);
            }
            Ok(Applied::Done(CherryPicked::Editor { text, images })) => self.add_to_editor(&text, images),
            Ok(Applied::Done(CherryPicked::Asked { left, .. })) => self.keep_unasked(&left),
            Ok(Applied::Cancelled(by)) => self.show_cancelled(&by),
            Err(error) => self.fail_with(error),
        }
    }

    /// Prompts that were not asked, because one before them did not end well, are not lost.
    fn keep_unasked(&mut self, left: &[Message]) {
        if left.is_empty() {
            return;
        }
        let texts: Vec<String> = left.iter().map(|prompt| prompt.text().into_owned()).collect();
        self.add_to_editor(&texts.join("\n\n"), Vec::new());
        let told = format!("{} not asked; see the editor", count(left.len(), "prompt"));
        self.tell(Tone::Warning, &told);
    }

    /// Puts a text behind what is typed.
    fn add_to_editor(&mut self, text: &str, images: Vec<PromptImage>) {
        let editor = &mut self.chat.editor;
        let typed = editor.text();
        let mut all = editor.images_in(&typed);
        all.extend(images);
        let text = if editor.is_blank() { text.to_owned() } else { format!("{typed}\n\n{text}") };
        editor.set_text_with_images(&text, all);
    }

    fn merge_reviewed(
        &mut self,
        wanted: Reviewed,
        review: Box<Review>,
        request: MergeBranchRequest,
        draft: Option<Box<MergeDraft>>,
    ) {
        match (wanted, draft) {
            (Reviewed::Apply(text), Some(mut draft)) => {
                draft.review(text.unwrap_or_else(|| draft.text.clone()));
                self.apply_merge(*draft);
            }
            (Reviewed::NextMode, _) => {
                let with = match request.with {
                    MergeWith::Summary { .. } => MergeWith::Digest { budget_tokens: None },
                    MergeWith::Digest { .. } | MergeWith::Text(_) | MergeWith::Pick { .. } => {
                        MergeWith::default()
                    }
                };
                self.plan_merge(MergeBranchRequest { with, ..request }, true);
            }
            (Reviewed::Focus(focus), _) => {
                let with = MergeWith::Summary { focus: Some(focus) };
                self.plan_merge(MergeBranchRequest { with, ..request }, true);
            }
            (Reviewed::FullDiff, draft) => {
                self.print_diff(&request.branch, None);
                self.view = Some(View::Review(review, Reviewing::Merge(request, draft)));
            }
            (_, draft) => self.view = Some(View::Review(review, Reviewing::Merge(request, draft))),
        }
    }

    /// Spells a selection of entries: one, or all from the first to the last.
    pub(super) fn selection(&self, first: &EntryId, last: Option<&EntryId>) -> String {
        let Some(last) = last else { return first.to_string() };
        // A range begins after its first entry.
        let before = self.desk.read(|session| {
            let tree = session.tree();
            tree.node(first.as_str())
                .and_then(|node| tree.parent(node))
                .map(|parent| tree.id(parent).to_string())
        });
        before.map_or_else(|| last.to_string(), |before| format!("{before}..{last}"))
    }
}

/// Tells whether something that a person wants is done by the agent.
fn needs_agent(wanted: &Reviewed) -> bool {
    match wanted {
        Reviewed::Apply(_) | Reviewed::NextMode | Reviewed::Focus(_) => true,
        Reviewed::FullDiff | Reviewed::External(_) | Reviewed::Cancel => false,
    }
}

fn merge_review(draft: &MergeDraft) -> Review {
    let mut facts = vec![format!(
        "{} · about {} tokens enter the context",
        draft.request.with.name(),
        tokens(draft.tokens())
    )];
    if let Some(merge) = draft.merge() {
        facts.insert(0, count(merge.entries.len(), "entry"));
    }
    let mut warnings: Vec<String> =
        draft.contested.iter().map(|file| format!("contested: {} (changed on both)", file.path)).collect();
    warnings.extend(draft.conflicts.iter().map(|conflict| format!("decisions differ: {}", conflict.topic)));
    let review =
        Review::new(ReviewKind::Merge, "Merge into this branch", ReviewText::Ready(draft.text.clone()));
    review.with_facts(facts).with_warnings(warnings)
}

fn next_mode(mode: CherryPickMode) -> CherryPickMode {
    match mode {
        CherryPickMode::Usual => CherryPickMode::Quote,
        CherryPickMode::Quote => CherryPickMode::Native,
        CherryPickMode::Native => CherryPickMode::Editor,
        CherryPickMode::Editor => CherryPickMode::Prompt,
        CherryPickMode::Prompt => CherryPickMode::Usual,
    }
}

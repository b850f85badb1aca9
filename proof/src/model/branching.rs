//! The steps that know branches: selecting an entry, picking, merging, forking.

use session_tree::cherry_pick::{PickMode, PickRequest, Selection};
use session_tree::merge::{MergeContent, MergeRequest, Merged};
use session_tree::{Destination, Error, NewBranchSummary, Options, Result as EngineResult};
use testkit::rng::Rng;

use super::Machine;
use super::expected::Kind;

impl Machine {
    /// Selects an entry as a person does in the tree, sometimes with a summary and a label.
    pub(super) fn select(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let Some(target) = self.known(rng) else { return Ok("nothing") };
        let expected = self.model.selected(&target);
        let plan = self.session.plan_navigation(&target)?;
        let summary = NewBranchSummary { summary: "left".into(), ..NewBranchSummary::default() };
        let summary = Some(&summary).filter(|_| rng.below(3) == 0);
        let label = Some("here").filter(|_| rng.below(4) == 0);
        let done = self.session.apply_navigation(&plan, summary, label)?;
        self.model.leaf = expected;
        if let Some(id) = &done.summary_entry {
            self.model.append(id.as_str(), Kind::Summary);
            self.is_behind = false;
        }
        if let Some(id) = &done.label_entry {
            let target = done.summary_entry.as_ref().map_or(target, ToString::to_string);
            self.model.append(id.as_str(), Kind::Label { target, text: Some("here".into()) });
            self.is_behind = false;
        }
        Ok("a selection")
    }

    /// Copies a message of anywhere to the leaf.
    pub(super) fn pick(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let known = self.model.any_message(rng).and_then(|id| Some((self.session.node(&id).ok()?, id)));
        let Some((node, id)) = known else { return Ok("nothing") };
        let request = PickRequest {
            mode: Some(if rng.below(2) == 0 { PickMode::Quote } else { PickMode::Native }),
            allow_present: true,
            allow_again: true,
            ..PickRequest::new(Selection::Entry(node))
        };
        let plan = match self.session.plan_pick(&self.session, &request) {
            Ok(plan) => plan,
            Err(Error::CannotPick { .. }) => return Ok("a pick that is refused"),
            Err(error) => return Err(error),
        };
        let kind = match (request.mode, self.model.kind(&id)) {
            // A quotation is a message of an extension.
            (Some(PickMode::Quote), Kind::Prompt | Kind::Message) => Kind::Prompt,
            (_, kind) => kind,
        };
        for id in self.session.apply_pick(&plan)? {
            self.model.append(id.as_str(), kind.clone());
        }
        self.is_behind = false;
        Ok("a pick")
    }

    /// Brings what another branch says.
    pub(super) fn merge(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let known = self.known(rng).map(|id| self.session.node(&id)).transpose()?;
        let Some(tip) = known else { return Ok("nothing") };
        let request = MergeRequest {
            content: MergeContent::Text("merged".into()),
            no_fast_forward: rng.below(2) == 0,
            ..MergeRequest::default()
        };
        let plan = self.session.plan_merge(&self.session, tip, &request)?;
        match self.session.apply_merge(&plan)? {
            Merged::UpToDate => return Ok("a merge of nothing"),
            Merged::FastForwarded { leaf, marker } => {
                let leaf = self.session.tree().id(leaf).to_string();
                assert!(self.model.is_ahead(&leaf), "{leaf} is not ahead of {:?}", self.model.leaf);
                self.model.leaf = Some(leaf.clone());
                if let Some(id) = marker {
                    self.model.append(id.as_str(), Kind::Marker { target: Some(leaf.clone()) });
                    self.model.leaf = Some(leaf);
                    self.is_behind = false;
                }
            }
            Merged::Appended { entry, extra } => {
                assert!(extra.is_empty(), "{extra:?}");
                self.model.append(entry.as_str(), Kind::Summary);
                self.is_behind = false;
            }
        }
        Ok("a merge")
    }

    /// Forks the path; the session itself stays as it is.
    pub(super) fn fork(&mut self) -> EngineResult<&'static str> {
        let Some(leaf) = self.session.leaf_id().filter(|_| !self.is_behind) else { return Ok("nothing") };
        let fork =
            self.session.create_branched_session(leaf.as_str(), Destination::Memory, Options::new())?;
        self.model.compare_fork(&fork).unwrap_or_else(|reason| panic!("{reason}"));
        Ok("a fork")
    }
}

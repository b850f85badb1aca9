//! Merges: the outcome of another branch as one text under the leaf, with a note of where that branch ended.
//!
//! source -> new entries since the base -> **plan** -> a branch summary
//!
//! Conversations have no lines that could be merged; a merge is a text that a person can review before it is appended.
//! The text is a digest made here, or given by the caller.

mod digest;
mod incoming;

use serde_json::{Value as Json, json};

use crate::cherry_pick::{Attribution, Target, message_of_draft, session_json, touched};
use crate::context::{Context, ModelRef};
use crate::draft::{Draft, NewBranchSummary};
use crate::error::{Error, InvalidReason, Result};
use crate::estimate::estimate_tokens;
use crate::file_ops::FileOps;
use crate::id::{EntryId, Stamp};
use crate::session::Session;
use crate::tree::Node;

use digest::{digest, quoted_turns};
pub use incoming::EarlierMerge;
use incoming::Incoming;

/// A request to merge a branch.
#[derive(Debug, Clone, Default)]
pub struct MergeRequest {
    /// The source of the text.
    pub content: MergeContent,
    /// A note for later readers of the session; it is not sent to models.
    pub note: Option<String>,
    /// True to write a text also where moving the leaf is enough.
    pub no_fast_forward: bool,
}

/// The source of the text of a merge.
#[derive(Debug, Clone)]
pub enum MergeContent {
    /// The turns of the branch are quoted; the oldest are left out until the text fits.
    Digest {
        /// The most tokens that the text may take.
        budget_tokens: Option<u64>,
    },
    /// The text is given by the caller.
    Text(String),
}

impl Default for MergeContent {
    fn default() -> Self {
        MergeContent::Digest { budget_tokens: None }
    }
}

/// A planned merge.
#[derive(Debug, Clone)]
pub struct MergePlan {
    session: Stamp,
    /// The leaf when the plan was made.
    pub old_leaf: Option<EntryId>,
    /// The planned outcome.
    pub outcome: MergeOutcome,
}

/// The planned outcome.
#[derive(Debug, Clone)]
pub enum MergeOutcome {
    /// Nothing changes: the path has all entries of the source.
    UpToDate,
    /// The leaf would move: the source continues the current path.
    FastForward {
        /// The new leaf.
        to: EntryId,
    },
    /// A text would be appended.
    Merge(Box<Merge>),
}

/// A text about another branch, to be appended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Merge {
    /// The name of the branch that is merged.
    pub branch: String,
    /// The deepest entry on both paths.
    pub base: Option<EntryId>,
    /// The last entry of the source that counts.
    pub source_leaf: EntryId,
    /// The new entries of the source that have content, as nodes of the source, oldest first.
    pub entries: Vec<Node>,
    /// The entries of this session since the base, oldest first.
    pub target_entries: Vec<Node>,
    /// The earlier merge of the same branch.
    pub earlier: Option<EarlierMerge>,
    /// The files that the entries of the source touched, or that their summaries list.
    pub files: FileOps,
    /// The files that tools changed on both sides since the base, sorted. A merge changes no file.
    pub contested: Vec<String>,
    /// Settings that differ in the source; this branch keeps its own.
    pub differences: Vec<SettingDifference>,
    /// The number of turns with content.
    pub turns: usize,
    /// The number of turns that the digest leaves out.
    pub omitted_turns: usize,
    /// The text and its source.
    pub content: MergeText,
    /// A note for later readers of the session.
    pub note: Option<String>,
    /// Entries of extensions to append behind the text.
    pub extra: Vec<Draft>,
    /// The session of the source, if it is another one.
    source_session: Option<Json>,
}

/// The text of a merge and its source.
#[derive(Debug, Clone, Default)]
pub struct MergeText {
    /// The text that enters the context.
    pub text: String,
    /// How it was made.
    pub mode: MergeMode,
    /// The model that wrote it.
    pub model: Option<String>,
    /// The usage that the model reported.
    pub usage: Option<Json>,
    /// True if an extension made it.
    pub from_hook: bool,
    /// Decisions in which the two branches differ.
    pub conflicts: Vec<Conflict>,
    /// True if a person reviewed it.
    pub reviewed: bool,
}

/// How the text of a merge was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MergeMode {
    /// A model summarised the branch.
    Summary,
    /// The turns were quoted.
    Digest,
    /// A person or a program wrote it.
    #[default]
    Text,
}

/// A decision in which the two branches differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// The topic.
    pub topic: String,
    /// The decision of this branch.
    pub ours: String,
    /// The decision of the other branch.
    pub theirs: String,
}

/// A setting that differs between the two branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingDifference {
    /// The model.
    Model {
        /// The model here.
        ours: Option<ModelRef>,
        /// The model there.
        theirs: ModelRef,
    },
    /// The thinking level.
    ThinkingLevel {
        /// The level here.
        ours: String,
        /// The level there.
        theirs: String,
    },
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Nothing changed.
    UpToDate,
    /// The leaf moved.
    FastForwarded {
        /// The new leaf.
        leaf: Node,
        /// The marker that keeps the position, if one was needed.
        marker: Option<EntryId>,
    },
    /// A text was appended.
    Appended {
        /// The branch summary.
        entry: EntryId,
        /// The entries of extensions behind it.
        extra: Vec<EntryId>,
    },
}

impl MergeMode {
    /// Returns the name that files use.
    pub fn name(self) -> &'static str {
        match self {
            MergeMode::Summary => "summary",
            MergeMode::Digest => "digest",
            MergeMode::Text => "text",
        }
    }
}

impl MergePlan {
    /// Returns the text to be appended, if one is.
    pub fn merge(&self) -> Option<&Merge> {
        match &self.outcome {
            MergeOutcome::Merge(merge) => Some(merge),
            MergeOutcome::UpToDate | MergeOutcome::FastForward { .. } => None,
        }
    }

    /// Returns the text to be appended, so that it can be replaced by that of a model or a person.
    pub fn merge_mut(&mut self) -> Option<&mut Merge> {
        match &mut self.outcome {
            MergeOutcome::Merge(merge) => Some(merge),
            MergeOutcome::UpToDate | MergeOutcome::FastForward { .. } => None,
        }
    }
}

impl Merge {
    /// Estimates the tokens that would enter the context.
    pub fn tokens(&self) -> u64 {
        message_of_draft(&self.draft()).as_ref().map_or(0, estimate_tokens)
    }

    /// Returns the `details` that the branch summary stores.
    pub fn details(&self) -> Json {
        let mut merge = json!({ "v": 1, "sourceLeafId": self.source_leaf.as_str() });
        if let Some(session) = &self.source_session {
            merge["sourceSession"] = session.clone();
        }
        merge["baseId"] = self.base.as_ref().map(EntryId::as_str).into();
        merge["sourceEntryCount"] = self.entries.len().into();
        merge["mode"] = self.content.mode.name().into();
        merge["contestedFiles"] = self.contested.clone().into();
        let conflict = |conflict: &Conflict| {
            let Conflict { topic, ours, theirs } = conflict;
            json!({ "topic": topic, "ours": ours, "theirs": theirs })
        };
        merge["conflicts"] = self.content.conflicts.iter().map(conflict).collect();
        merge["reviewed"] = self.content.reviewed.into();
        for (key, value) in [("model", &self.content.model), ("note", &self.note)] {
            if let Some(value) = value {
                merge[key] = value.as_str().into();
            }
        }
        let mut details = self.files.details();
        details["merge"] = merge;
        details
    }

    fn draft(&self) -> Draft {
        let summary = NewBranchSummary {
            summary: self.content.text.clone(),
            details: Some(self.details()),
            usage: self.content.usage.clone(),
            from_hook: self.content.from_hook,
        };
        Draft::branch_summary(Some(&self.source_leaf), &summary)
    }

    /// Returns the notes before the turns of a digest.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.contested.is_empty() {
            let files = self.contested.join(", ");
            notes.push(format!(
                "Changed on both branches since they parted: {files}. The merge changed no file."
            ));
        }
        notes.extend(self.differences.iter().map(SettingDifference::note));
        notes
    }
}

impl SettingDifference {
    fn between(ours: &Context, theirs: &Context) -> Vec<Self> {
        let other_model = theirs.model.clone().filter(|model| ours.model.as_ref() != Some(model));
        let model = other_model.map(|theirs| Self::Model { ours: ours.model.clone(), theirs });
        let level = (ours.thinking_level != theirs.thinking_level).then(|| Self::ThinkingLevel {
            ours: ours.thinking_level.clone(),
            theirs: theirs.thinking_level.clone(),
        });
        model.into_iter().chain(level).collect()
    }

    fn note(&self) -> String {
        match self {
            Self::Model { theirs, .. } => {
                format!(
                    "That branch used the model {}/{}; this one keeps its own.",
                    theirs.provider, theirs.model_id
                )
            }
            Self::ThinkingLevel { theirs, .. } => {
                format!("That branch used the thinking level {theirs}; this one keeps its own.")
            }
        }
    }
}

impl Session {
    /// Plans to merge the path to `tip` of `source`, which may be this session. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the text of the caller is blank.
    pub fn plan_merge(&self, source: &Session, tip: Node, request: &MergeRequest) -> Result<MergePlan> {
        source.check_node(tip)?;
        let here = Target::of(self);
        let outcome = match self.fast_forward(source, tip).filter(|_| !request.no_fast_forward) {
            Some(outcome) => outcome,
            None => match Incoming::of(&here, source, tip)? {
                Some(incoming) => MergeOutcome::Merge(Box::new(self.plan_text(&here, &incoming, request)?)),
                None => MergeOutcome::UpToDate,
            },
        };
        Ok(MergePlan { session: self.stamp, old_leaf: self.leaf_id(), outcome })
    }

    /// Applies a plan: moves the leaf and makes the move durable, or appends the text.
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] if the plan was made for another session, or the leaf moved since other than over
    /// bookkeeping entries;
    /// [`Error::Invalid`] if the text is blank.
    pub fn apply_merge(&mut self, plan: &MergePlan) -> Result<Merged> {
        self.check_plan_at(plan.session, plan.old_leaf.as_ref())?;
        match &plan.outcome {
            MergeOutcome::UpToDate => Ok(Merged::UpToDate),
            MergeOutcome::FastForward { to } => self.move_forward(to),
            MergeOutcome::Merge(merge) => {
                check_text(&merge.content.text)?;
                let drafts: Vec<Draft> =
                    std::iter::once(merge.draft()).chain(merge.extra.iter().cloned()).collect();
                let mut ids = self.append_batch(&drafts)?;
                let extra = ids.split_off(1);
                let entry = ids.pop().ok_or(Error::StalePlan)?;
                Ok(Merged::Appended { entry, extra })
            }
        }
    }

    fn move_forward(&mut self, to: &EntryId) -> Result<Merged> {
        let before = self.leaf;
        let leaf = self.tree().node(to.as_str()).ok_or(Error::StalePlan)?;
        self.leaf = Some(leaf);
        let marker = self.mark_leaf().inspect_err(|_| self.leaf = before)?;
        Ok(Merged::FastForwarded { leaf, marker })
    }

    /// Returns the outcome if the source is on the same path: a move of the leaf, or nothing to do.
    fn fast_forward(&self, source: &Session, tip: Node) -> Option<MergeOutcome> {
        if !std::ptr::eq(self, source) {
            return None;
        }
        let tree = self.tree();
        let to = self.readable(Some(tip))?;
        let here = self.leaf().and_then(|leaf| tree.nearest_conversational(leaf));
        let is_here = self.leaf().is_some_and(|leaf| tree.is_on_path(to, leaf))
            || tree.nearest_conversational(to) == here;
        if is_here {
            return Some(MergeOutcome::UpToDate);
        }
        let is_ahead = here.is_none_or(|here| tree.is_on_path(here, to));
        is_ahead.then(|| MergeOutcome::FastForward { to: tree.id(to) })
    }

    fn plan_text(&self, here: &Target<'_>, incoming: &Incoming<'_>, request: &MergeRequest) -> Result<Merge> {
        let source = incoming.source;
        let base = incoming.base.map(|common| common.here);
        let is_other = self.header().id() != source.header().id();
        let ours = here.changed_since(base)?;
        let theirs = touched(source, &incoming.segment)?;
        let contested = theirs.modified_files().into_iter().filter(|file| ours.contains(*file));
        let attribution = Attribution::of(here, source, incoming.leaf)?;
        let turns = quoted_turns(&incoming.reader, &attribution, &incoming.entries)?;
        let mut merge = Merge {
            branch: source.branch_name(incoming.leaf)?,
            base: base.map(|base| self.tree().id(base)),
            source_leaf: source.tree().id(incoming.leaf),
            entries: incoming.entries.clone(),
            target_entries: here.since(base).to_vec(),
            earlier: incoming.earlier.clone(),
            files: incoming.files.clone(),
            contested: contested.map(String::from).collect(),
            differences: SettingDifference::between(
                &self.context()?,
                &source.context_of(Some(incoming.leaf))?,
            ),
            turns: turns.len(),
            omitted_turns: 0,
            content: MergeText::default(),
            note: request.note.clone(),
            extra: Vec::new(),
            source_session: is_other.then(|| session_json(self, source)),
        };
        match &request.content {
            MergeContent::Text(text) => merge.content.text.clone_from(text),
            MergeContent::Digest { budget_tokens } => {
                let digest = digest(turns, &merge.notes(), *budget_tokens)?;
                merge.omitted_turns = digest.omitted;
                merge.content =
                    MergeText { text: digest.text, mode: MergeMode::Digest, ..MergeText::default() };
            }
        }
        check_text(&merge.content.text)?;
        Ok(merge)
    }
}

/// A summary without text would leave no trace in the context.
fn check_text(text: &str) -> Result<()> {
    match text.trim().is_empty() {
        true => Err(Error::Invalid { what: "merge", reason: InvalidReason::Blank }),
        false => Ok(()),
    }
}

//! The JSON of entries, diagnostics and plans (feature `serde`), and its JSON Schema (feature `schema`).
//!
//! Types whose fields are their JSON derive it where they are declared. The types here are serialized through a form: a
//! struct that has the names and values of the JSON. A [`Node`](crate::Node) means nothing to another process, so forms
//! have ids or counts instead.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::branch_summary::BranchSummaryPlan;
use crate::check::{Fix, Report};
use crate::cherry_pick::PickPlan;
use crate::compaction::CompactionPlan;
use crate::context::{Context, Mode, ModelRef};
use crate::diagnostic::{Diagnostic, Severity};
use crate::entry::{Entry, Header, Image, Message};
use crate::extract::{Extract, ExtractPlan, ForkPlan};
use crate::file_ops::FileOps;
use crate::id::EntryId;
use crate::json::{Doc, ValueRef};
use crate::merge::{Conflict, Merge, MergeOutcome, MergePlan};
use crate::navigate::{NavigationPlan, PopPlan};
use crate::repair::RepairPlan;
use crate::time::Timestamp;

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Writes the exact bytes of the value in one line; `null` if they cannot be a part of another JSON text. Bytes that are
/// not UTF-8 are replaced.
impl Serialize for ValueRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::from_utf8_lossy(self.raw());
        // A line feed is white space between the parts of a value; programs that read line by line would split there.
        if text.contains(['\n', '\r']) {
            text = text.replace(['\n', '\r'], " ").into();
        }
        serde_json::from_str::<&RawValue>(&text).ok().serialize(serializer)
    }
}

impl Serialize for Doc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root().serialize(serializer)
    }
}

impl Serialize for Header {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// Writes the entry as [`Entry::value`] returns it; a placeholder is `null`.
impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// Serializes types through their forms, and takes their schemas from there.
macro_rules! serialize_as {
    ($($type:ident => $form:ident,)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $form::from(self).serialize(serializer)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$form<'static> as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )*};
}

serialize_as! {
    BranchSummaryPlan => BranchSummaryForm,
    CompactionPlan => CompactionForm,
    Context => ContextForm,
    Diagnostic => DiagnosticForm,
    ExtractPlan => ExtractForm,
    FileOps => FileOpsForm,
    Fix => FixForm,
    ForkPlan => ForkForm,
    Merge => MergeForm,
    MergePlan => MergePlanForm,
    Mode => ModeForm,
    NavigationPlan => NavigationForm,
    PickPlan => PickForm,
    PopPlan => PopForm,
    RepairPlan => RepairForm,
    Report => ReportForm,
}

/// Something odd in a session file.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DiagnosticForm<'a> {
    severity: Severity,
    /// The stable name of the problem.
    code: &'a str,
    message: String,
    /// The line, counted from 1.
    line: u64,
    /// The first byte and the end of the odd part, counted from the start of the file.
    bytes: [u64; 2],
}

impl<'a> From<&'a Diagnostic> for DiagnosticForm<'a> {
    fn from(Diagnostic { line, bytes, problem }: &'a Diagnostic) -> Self {
        let (severity, code, message) = (problem.severity(), problem.code(), problem.to_string());
        DiagnosticForm { severity, code, message, line: *line, bytes: [bytes.start, bytes.end] }
    }
}

/// A fix that a repair can apply.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FixForm<'a> {
    action: &'a str,
    /// True if the fix rests on a conclusion instead of on what the file says.
    is_guess: bool,
    /// True if only a copy of the file can be repaired this way.
    needs_copy: bool,
    /// The entries that the fix appends, or names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ids: Vec<&'a EntryId>,
    /// The parent of an entry that is appended without content.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<&'a EntryId>,
}

impl<'a> From<&'a Fix> for FixForm<'a> {
    fn from(fix: &'a Fix) -> Self {
        let (action, ids) = match fix {
            Fix::Stub { id, .. } => ("stub", vec![id]),
            Fix::Recover { entries } => ("recover", entries.iter().map(|entry| &entry.id).collect()),
            Fix::LineFeed => ("line-feed", Vec::new()),
            Fix::LeafMarker { target } => ("leaf-marker", target.iter().collect()),
            Fix::Detach { id } => ("detach", vec![id]),
            Fix::Omit { .. } => ("omit", Vec::new()),
            Fix::NewHeader => ("salvage", Vec::new()),
        };
        let parent_id = match fix {
            Fix::Stub { parent, .. } => parent.as_ref(),
            _ => None,
        };
        FixForm { action, is_guess: fix.is_inferred(), needs_copy: fix.needs_copy(), ids, parent_id }
    }
}

/// The result of a check.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ReportForm<'a> {
    /// The number of lines, the header and blank ones counted.
    lines: u64,
    /// The number of entries in the tree.
    entries: u64,
    /// The number of bytes that were read.
    bytes: u64,
    /// True if nothing is odd.
    clean: bool,
    findings: Vec<Finding<'a>>,
}

/// A diagnostic, and what a repair would do about it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Finding<'a> {
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'a Fix>,
}

impl<'a> From<&'a Report> for ReportForm<'a> {
    fn from(report: &'a Report) -> Self {
        let findings = report.findings().map(|(diagnostic, fix)| Finding { diagnostic, fix }).collect();
        let Report { lines, entries, bytes, .. } = *report;
        ReportForm { lines, entries, bytes, clean: report.is_clean(), findings }
    }
}

/// A planned repair.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RepairForm<'a> {
    fixes: Vec<&'a Fix>,
    /// True if only a copy of the file can be repaired in full.
    needs_copy: bool,
    /// The leaf after the repair.
    leaf_id: Option<&'a EntryId>,
}

impl<'a> From<&'a RepairPlan> for RepairForm<'a> {
    fn from(plan: &'a RepairPlan) -> Self {
        RepairForm { fixes: plan.fixes().collect(), needs_copy: plan.needs_copy(), leaf_id: plan.leaf() }
    }
}

/// The messages, the model and the thinking level that a path gives to a model.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ContextForm<'a> {
    /// The messages, oldest first.
    messages: Vec<&'a Message>,
    /// The thinking level; `off` if the path sets none.
    thinking_level: &'a str,
    /// The model that answered or was chosen last.
    model: Option<&'a ModelRef>,
    /// The mode of oh-my-pi.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'a Mode>,
    /// The rules that oh-my-pi injected.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    injected_rules: &'a [String],
}

impl<'a> From<&'a Context> for ContextForm<'a> {
    fn from(context: &'a Context) -> Self {
        ContextForm {
            messages: context.messages().collect(),
            thinking_level: &context.thinking_level,
            model: context.model.as_ref(),
            mode: context.mode.as_ref(),
            injected_rules: &context.injected_rules,
        }
    }
}

/// The mode that oh-my-pi is in.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ModeForm<'a> {
    name: &'a str,
    data: Option<&'a Doc>,
}

impl<'a> From<&'a Mode> for ModeForm<'a> {
    fn from(mode: &'a Mode) -> Self {
        ModeForm { name: &mode.name, data: mode.data.as_ref() }
    }
}

/// The files that a part of a conversation touched.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FileOpsForm<'a> {
    /// The files that were only read, sorted.
    read_files: Vec<&'a str>,
    /// The files that were written or edited, sorted.
    modified_files: Vec<&'a str>,
}

impl<'a> From<&'a FileOps> for FileOpsForm<'a> {
    fn from(files: &'a FileOps) -> Self {
        FileOpsForm { read_files: files.read_files(), modified_files: files.modified_files() }
    }
}

/// A planned move of the leaf.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NavigationForm<'a> {
    /// The entry that was selected.
    target_id: &'a EntryId,
    /// The leaf before the move; null is the start.
    old_leaf_id: Option<&'a EntryId>,
    /// The leaf after the move; null is the start.
    new_leaf_id: Option<&'a EntryId>,
    /// The deepest entry on both paths.
    common_ancestor_id: Option<&'a EntryId>,
    /// The number of entries that a summary would be about.
    entries_to_summarize: usize,
    /// True if some of them have content for a summary.
    can_summarize: bool,
    /// The text of the prompt that is taken back.
    prompt: Option<&'a str>,
    /// The images of that prompt.
    images: &'a [Image],
}

impl<'a> From<&'a NavigationPlan> for NavigationForm<'a> {
    fn from(plan: &'a NavigationPlan) -> Self {
        NavigationForm {
            target_id: &plan.target,
            old_leaf_id: plan.old_leaf.as_ref(),
            new_leaf_id: plan.new_leaf.as_ref(),
            common_ancestor_id: plan.common_ancestor.as_ref(),
            entries_to_summarize: plan.abandoned.len(),
            can_summarize: plan.can_summarize,
            prompt: plan.editor_text.as_deref(),
            images: &plan.images,
        }
    }
}

/// A planned pop.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PopForm<'a> {
    #[serde(flatten)]
    navigation: &'a NavigationPlan,
    /// The name of the push that the leaf goes back to.
    push: Option<&'a str>,
}

impl<'a> From<&'a PopPlan> for PopForm<'a> {
    fn from(plan: &'a PopPlan) -> Self {
        PopForm { navigation: &plan.navigation, push: plan.push.as_deref() }
    }
}

/// A planned fork.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ForkForm<'a> {
    /// The last entry of the fork; null if it starts empty.
    target_id: Option<&'a EntryId>,
    /// The text of the prompt that the fork ends before.
    prompt: Option<&'a str>,
    /// The images of that prompt.
    images: &'a [Image],
}

impl<'a> From<&'a ForkPlan> for ForkForm<'a> {
    fn from(plan: &'a ForkPlan) -> Self {
        let (target_id, prompt) = (plan.target.as_ref(), plan.editor_text.as_deref());
        ForkForm { target_id, prompt, images: &plan.images }
    }
}

/// A planned extract.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ExtractForm<'a> {
    /// The selection: `path`, `branch`, `subtree` or `all`.
    what: &'a str,
    /// The number of entries that would be copied.
    entries: usize,
    /// The number of labels that would be appended after them.
    labels: usize,
    /// The number of entries of the selection that would not be copied.
    left_out: usize,
}

impl From<&ExtractPlan> for ExtractForm<'static> {
    fn from(plan: &ExtractPlan) -> Self {
        let what = match plan.what {
            Extract::Path { .. } => "path",
            Extract::Branch { .. } => "branch",
            Extract::Subtree { .. } => "subtree",
            Extract::All => "all",
        };
        let (labels, left_out) = (plan.labels.len(), plan.left_out.len());
        ExtractForm { what, entries: plan.entries.len(), labels, left_out }
    }
}

/// A planned pick.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PickForm<'a> {
    /// The entries that are copied.
    source_entry_ids: Vec<&'a EntryId>,
    /// The tip of the branch that they are taken from.
    source_leaf_id: &'a EntryId,
    /// The text that would enter the context.
    text: String,
    /// The estimated tokens of the text.
    tokens: u64,
    /// The facts that the user should know before the pick is applied.
    warnings: Vec<String>,
}

impl<'a> From<&'a PickPlan> for PickForm<'a> {
    fn from(plan: &'a PickPlan) -> Self {
        PickForm {
            source_entry_ids: plan.source_ids().collect(),
            source_leaf_id: &plan.source_leaf,
            text: plan.text(),
            tokens: plan.tokens(),
            warnings: plan.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A planned merge.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MergePlanForm<'a> {
    /// The planned outcome: `up-to-date`, `fast-forward` or `merge`.
    outcome: &'a str,
    /// The leaf after a fast-forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_leaf_id: Option<&'a EntryId>,
    #[serde(flatten)]
    merge: Option<&'a Merge>,
}

impl<'a> From<&'a MergePlan> for MergePlanForm<'a> {
    fn from(plan: &'a MergePlan) -> Self {
        let (outcome, new_leaf_id) = match &plan.outcome {
            MergeOutcome::UpToDate => ("up-to-date", None),
            MergeOutcome::FastForward { to } => ("fast-forward", Some(to)),
            MergeOutcome::Merge(_) => ("merge", None),
        };
        MergePlanForm { outcome, new_leaf_id, merge: plan.merge() }
    }
}

/// A text about another branch, to be appended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MergeForm<'a> {
    /// The name of the branch that is merged.
    branch: &'a str,
    /// The deepest entry on both paths.
    base_id: Option<&'a EntryId>,
    /// The last entry of the branch that counts.
    source_leaf_id: &'a EntryId,
    /// The text that would enter the context; empty before a model has written it.
    text: &'a str,
    /// The estimated tokens of the text.
    tokens: u64,
    /// The files that the branch touched.
    #[serde(flatten)]
    files: &'a FileOps,
    /// The files that tools changed on both branches, sorted.
    contested_files: &'a [String],
    /// The decisions in which the two branches differ.
    conflicts: &'a [Conflict],
    /// The number of turns that have content.
    turns: usize,
    /// The number of turns that did not fit into the text.
    omitted_turns: usize,
}

impl<'a> From<&'a Merge> for MergeForm<'a> {
    fn from(merge: &'a Merge) -> Self {
        MergeForm {
            branch: &merge.branch,
            base_id: merge.base.as_ref(),
            source_leaf_id: &merge.source_leaf,
            text: &merge.content.text,
            tokens: merge.tokens(),
            files: &merge.files,
            contested_files: &merge.contested,
            conflicts: &merge.content.conflicts,
            turns: merge.turns,
            omitted_turns: merge.omitted_turns,
        }
    }
}

/// A planned compaction.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CompactionForm<'a> {
    /// The end of the path that would be compacted.
    leaf_id: &'a EntryId,
    /// The first entry of the path that stays in the context.
    first_kept_entry_id: &'a EntryId,
    /// The messages that the summary replaces, oldest first.
    messages_to_summarize: Vec<&'a Message>,
    /// The beginning of the turn that the cut goes through.
    turn_prefix: Vec<&'a Message>,
    /// The tokens of the whole context before the compaction.
    tokens_before: u64,
    /// The summary of the compaction before this one.
    previous_summary: Option<&'a str>,
    #[serde(flatten)]
    files: &'a FileOps,
}

impl<'a> From<&'a CompactionPlan> for CompactionForm<'a> {
    fn from(plan: &'a CompactionPlan) -> Self {
        CompactionForm {
            leaf_id: &plan.leaf,
            first_kept_entry_id: &plan.first_kept,
            messages_to_summarize: plan.messages_to_summarize.iter().map(|(_, message)| message).collect(),
            turn_prefix: plan.turn_prefix.iter().map(|(_, message)| message).collect(),
            tokens_before: plan.tokens_before,
            previous_summary: plan.previous_summary.as_deref(),
            files: &plan.file_ops,
        }
    }
}

/// A planned branch summary.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BranchSummaryForm<'a> {
    /// The number of entries that the move leaves behind.
    abandoned_entries: usize,
    /// The messages to summarise that fit, in the order of the context.
    messages: Vec<&'a Message>,
    /// The number of older messages that did not fit.
    omitted_older: usize,
    /// The tokens of the messages that fit.
    tokens: u64,
    #[serde(flatten)]
    files: &'a FileOps,
}

impl<'a> From<&'a BranchSummaryPlan> for BranchSummaryForm<'a> {
    fn from(plan: &'a BranchSummaryPlan) -> Self {
        BranchSummaryForm {
            abandoned_entries: plan.abandoned.entries.len(),
            messages: plan.messages.iter().map(|(_, message)| message).collect(),
            omitted_older: plan.omitted_older,
            tokens: plan.tokens,
            files: &plan.file_ops,
        }
    }
}

/// The schemas of values that are written as they are in a file.
#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{Doc, Entry, EntryId, Header, Message, Timestamp};

    macro_rules! schemas {
        ($($type:ident: $schema:tt,)*) => {$(
            impl JsonSchema for $type {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($type).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!($schema)
                }
            }
        )*};
    }

    schemas! {
        EntryId: { "type": "string", "description": "The id of an entry." },
        Timestamp: { "type": "string", "description": "A time in UTC, such as 2025-01-31T12:00:00.000Z." },
        Doc: { "description": "Any value, with its exact bytes." },
        Header: { "type": ["object", "null"], "description": "The header of a session, with its exact bytes." },
        Entry: {
            "type": ["object", "null"],
            "description": "An entry as version 3 of the file format spells it, with its exact bytes; null if its line cannot be read.",
        },
        Message: { "type": ["object", "null"], "description": "A message as it is stored, with its exact bytes." },
    }
}

//! The JSON form of the figures.

use std::collections::BTreeMap;

use serde::Serialize;
use session_tree::{Figures, Session, Share, Usage};

use super::Stats;
use crate::app::file_of;

/// Tokens and cost, with the names that files use.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct JsonUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total_tokens: u64,
    cost: f64,
}

impl From<Usage> for JsonUsage {
    fn from(usage: Usage) -> Self {
        JsonUsage {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            total_tokens: usage.total,
            cost: usage.cost,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonStats<'s> {
    file: String,
    size: u64,
    id: String,
    version: u64,
    name: Option<&'s str>,
    parent_session: Option<&'s str>,
    child_sessions: Vec<JsonChild<'s>>,
    branches: usize,
    this_branch: JsonFigures<'s>,
    whole_file: JsonFigures<'s>,
    largest: Vec<JsonLargest>,
}

#[derive(Debug, Serialize)]
struct JsonChild<'s> {
    id: &'s str,
    file: String,
    title: &'s str,
}

#[derive(Debug, Serialize)]
struct JsonLargest {
    id: String,
    bytes: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonFigures<'s> {
    entries: usize,
    bytes: u64,
    turns: usize,
    failed: usize,
    aborted: usize,
    compactions: usize,
    branch_summaries: usize,
    merges: usize,
    images: JsonShare,
    types: BTreeMap<String, JsonShare>,
    roles: BTreeMap<String, JsonShare>,
    tools: BTreeMap<&'s str, JsonTool>,
    usage: JsonUsage,
    models: BTreeMap<&'s str, JsonModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earliest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<String>,
}

#[derive(Debug, Serialize)]
struct JsonShare {
    count: usize,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct JsonTool {
    calls: usize,
    results: usize,
    errors: usize,
}

#[derive(Debug, Serialize)]
struct JsonModel {
    answers: usize,
    usage: JsonUsage,
}

/// Describes the figures of a session.
pub(super) fn of<'s>(session: &'s Session, stats: &'s Stats) -> JsonStats<'s> {
    let children = stats.related.children.iter();
    let children = children.map(|child| JsonChild {
        id: &child.id,
        file: child.path.display().to_string(),
        title: &child.title,
    });
    let largest = stats.file.largest.iter();
    let largest =
        largest.map(|(node, bytes)| JsonLargest { id: session.tree().id(*node).to_string(), bytes: *bytes });
    JsonStats {
        file: file_of(session),
        size: stats.size,
        id: session.header().id().into_owned(),
        version: session.header().version(),
        name: session.name(),
        parent_session: stats.related.parent.as_deref(),
        child_sessions: children.collect(),
        branches: stats.branches,
        this_branch: figures(&stats.branch),
        whole_file: figures(&stats.file),
        largest: largest.collect(),
    }
}

fn figures(figures: &Figures) -> JsonFigures<'_> {
    let tools = figures.tools.iter().map(|(name, tool)| {
        (name.as_str(), JsonTool { calls: tool.calls, results: tool.results, errors: tool.errors })
    });
    let models = figures.models.iter().map(|(name, model)| {
        (name.as_str(), JsonModel { answers: model.answers, usage: model.usage.into() })
    });
    JsonFigures {
        entries: figures.entries,
        bytes: figures.bytes,
        turns: figures.turns,
        failed: figures.failed,
        aborted: figures.aborted,
        compactions: figures.compactions,
        branch_summaries: figures.branch_summaries,
        merges: figures.merges,
        images: share(figures.images),
        types: figures.kinds.iter().map(|(kind, of)| (kind.to_string(), share(*of))).collect(),
        roles: figures.roles.iter().map(|(role, of)| (role.to_string(), share(*of))).collect(),
        tools: tools.collect(),
        usage: figures.usage.into(),
        models: models.collect(),
        earliest: figures.earliest.map(|time| time.to_string()),
        latest: figures.latest.map(|time| time.to_string()),
    }
}

fn share(share: Share) -> JsonShare {
    JsonShare { count: share.count, bytes: share.bytes }
}

//! Counting one entry.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::{Stats, ToolStats, Total};
use session_tree::json::{Kind as JsonKind, ValueRef};
use session_tree::{Body, Ending, Entry, Kind, ModelRef, Node, Role, Session, Usage};

impl Stats {
    /// Counts the properties in the index; returns true if the body has to be counted, too, by [`Stats::read`].
    pub(crate) fn count(&mut self, session: &Session, node: Node) -> bool {
        let tree = session.tree();
        let (kind, role) = (tree.kind(node), tree.role(node));
        let (bytes, time) = (session.line_len(node), tree.timestamp(node));
        self.entries += 1;
        self.bytes += bytes;
        add_total(&mut self.kinds, kind, |kind| kind as u8, bytes);
        if let Some(role) = role {
            add_total(&mut self.roles, role, |role| role as u8, bytes);
        }
        self.turns += usize::from(role == Some(Role::User));
        self.compactions += usize::from(kind == Kind::Compaction);
        self.branch_summaries += usize::from(matches!(kind, Kind::BranchSummary));
        self.note_size(node, bytes);
        self.earliest = self.earliest.into_iter().chain([time]).min();
        self.latest = self.latest.max(Some(time));
        has_figures(kind, role)
    }

    /// Counts what the body of an entry says.
    pub(crate) fn read(&mut self, entry: &Entry) {
        let body = entry.body();
        self.merges += usize::from(body.merge().is_some());
        match body {
            Body::Message(Some(message)) => self.read_message(message),
            Body::CustomMessage { content, .. } => self.read_images(content),
            Body::Compaction { usage, .. } | Body::BranchSummary { usage, .. } => self.add_usage(usage),
            Body::Usage { usage, .. } => {
                self.add_usage(usage);
                if let (Some(value), Some(usage)) = (entry.value(), usage) {
                    let [provider, model] = value.get_each(["provider", "model"]).map(text_of);
                    self.add_to_model(&provider, &model, 0, Usage::of(usage));
                }
            }
            Body::Message(None)
            | Body::ThinkingLevelChange { .. }
            | Body::ModelChange { .. }
            | Body::Custom { .. }
            | Body::Label { .. }
            | Body::SessionInfo { .. }
            | Body::ContextEdit { .. }
            | Body::LeafMove { .. }
            | Body::ModeChange { .. }
            | Body::RuleInjection { .. }
            | Body::ResetBoundary
            | Body::Opaque { .. }
            | Body::Placeholder => {}
        }
    }

    fn read_message(&mut self, message: ValueRef<'_>) {
        let [role, content] = message.get_each(["role", "content"]);
        match role.and_then(ValueRef::as_str).map_or(Role::Other, |role| Role::from_name(role.as_bytes())) {
            Role::Assistant => self.read_answer(message, content),
            Role::ToolResult => self.read_result(message, content),
            Role::User | Role::Custom => self.read_images(content),
            Role::BashExecution
            | Role::System
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Other => {}
        }
    }

    fn read_answer(&mut self, message: ValueRef<'_>, content: Option<ValueRef<'_>>) {
        for block in content.into_iter().flat_map(ValueRef::items) {
            let [kind, name] = block.get_each(["type", "name"]);
            if kind.is_some_and(|kind| kind.is_str("toolCall")) {
                self.tool(&text_of(name)).calls += 1;
            }
        }
        let [usage, stop, provider, model] = message.get_each(["usage", "stopReason", "provider", "model"]);
        let usage = usage.map(Usage::of).unwrap_or_default();
        self.usage += usage;
        let (provider, model) = (text_of(provider), text_of(model));
        self.add_to_model(&provider, &model, 1, usage);
        self.note_model(&provider, &model);
        match Ending::of_reason(stop.map(ValueRef::cursor)) {
            Ending::Fine => {}
            Ending::Error => self.failed += 1,
            Ending::Aborted => self.aborted += 1,
        }
    }

    fn note_model(&mut self, provider: &str, model: &str) {
        let is_known = |last: &ModelRef| *last.provider == *provider && *last.model_id == *model;
        if !provider.is_empty() && !model.is_empty() && !self.last_model.as_ref().is_some_and(is_known) {
            self.last_model = Some(ModelRef { provider: provider.into(), model_id: model.into() });
        }
    }

    fn read_result(&mut self, message: ValueRef<'_>, content: Option<ValueRef<'_>>) {
        let [failed, tool, usage] = message.get_each(["isError", "toolName", "usage"]);
        self.count_result(&text_of(tool), failed.and_then(ValueRef::as_bool).unwrap_or(false));
        self.add_usage(usage);
        self.read_images(content);
    }

    pub(super) fn count_result(&mut self, tool: &str, failed: bool) {
        let tool = self.tool(tool);
        tool.results += 1;
        tool.errors += usize::from(failed);
    }

    /// Images are measured where they stand: their data may be megabytes.
    fn read_images(&mut self, content: Option<ValueRef<'_>>) {
        for block in content.into_iter().flat_map(ValueRef::items).filter(|block| is_block(*block, "image")) {
            let data = block.get("data").filter(|data| data.kind() == JsonKind::String);
            let quotes = 2;
            self.images.add(data.map_or(0, |data| data.range().len() - quotes) as u64);
        }
    }

    fn add_usage(&mut self, usage: Option<ValueRef<'_>>) {
        if let Some(usage) = usage {
            self.usage += Usage::of(usage);
        }
    }

    fn add_to_model(&mut self, provider: &str, model: &str, answers: usize, usage: Usage) {
        let name = match (provider, model) {
            ("", "") => return,
            ("", one) | (one, "") => one.to_owned(),
            (provider, model) => [provider, "/", model].concat(),
        };
        let stats = self.models.entry(name).or_default();
        stats.answers += answers;
        stats.usage += usage;
    }

    fn tool(&mut self, name: &str) -> &mut ToolStats {
        self.tools.entry(name.to_owned()).or_default()
    }

    pub(super) fn note_size(&mut self, node: Node, bytes: u64) {
        let place =
            self.largest.partition_point(|(other, size)| (Reverse(*size), *other) < (Reverse(bytes), node));
        if place < Self::MAX_LARGEST {
            self.largest.insert(place, (node, bytes));
            self.largest.truncate(Self::MAX_LARGEST);
        }
    }
}

impl Total {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

fn add_total<T: Copy>(totals: &mut Vec<(T, Total)>, name: T, number: impl Fn(T) -> u8, bytes: u64) {
    let place = totals.binary_search_by_key(&number(name), |(name, _)| number(*name));
    let place = place.unwrap_or_else(|place| {
        totals.insert(place, (name, Total::default()));
        place
    });
    totals[place].1.add(bytes);
}

/// Returns true if the body of an entry may hold a figure that the index does not have.
fn has_figures(kind: Kind, role: Option<Role>) -> bool {
    match kind {
        Kind::Message => !matches!(role, Some(Role::BashExecution | Role::System | Role::FileMention)),
        Kind::CustomMessage | Kind::Usage | Kind::Compaction | Kind::BranchSummary => true,
        Kind::Opaque
        | Kind::ThinkingLevelChange
        | Kind::ModelChange
        | Kind::Custom
        | Kind::Label
        | Kind::SessionInfo
        | Kind::ContextEdit
        | Kind::LeafMove
        | Kind::ModeChange
        | Kind::RuleInjection
        | Kind::ResetBoundary => false,
    }
}

fn is_block(block: ValueRef<'_>, kind: &str) -> bool {
    block.get("type").is_some_and(|found| found.is_str(kind))
}

fn text_of(value: Option<ValueRef<'_>>) -> Cow<'_, str> {
    value.and_then(ValueRef::as_str).unwrap_or_default()
}

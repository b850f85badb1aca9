//! Picks: entries of another branch or session, copied under the leaf.
//!
//! selection -> units -> **plan** -> entries

use std::collections::HashSet;

use super::item::PickItem;
use super::provenance::{EarlierPicks, PickSource, session_json};
use super::quote::{Attribution, unit_text};
use super::selection::{Selected, Selection};
use super::target::{CommonAncestor, Target, touched};
use super::unit::{Unit, units_of};
use super::warning::PickWarning;
use super::{MessageReader, native};
use crate::context::{ModelRef, OpenCalls};
use crate::draft::Draft;
use crate::entry::{Body, Entry, Message};
use crate::error::{Error, PickRefusal, Result};
use crate::id::{EntryId, Stamp};
use crate::json::ValueRef;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::Node;

/// A request to pick entries.
///
/// ```
/// use session_tree::cherry_pick::PickRequest;
/// use session_tree::cherry_pick::Selection;
/// use session_tree::{Message, Options};
///
/// let mut session = Options::new().in_memory("/project")?;
/// let start = session.append(Message::user("Build a CLI"))?;
/// let idea = session.append(Message::user("Use channels"))?;
/// session.branch(start.as_str())?;
///
/// let request = PickRequest::new(Selection::Entry(session.node(idea.as_str())?));
/// let plan = session.plan_pick(&session, &request)?;
/// assert_eq!(plan.text(), "Use channels");
/// session.apply_pick(&plan)?;
/// assert_eq!(session.context()?.messages().last().unwrap().text(), "Use channels");
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickRequest {
    /// The entries.
    pub selection: Selection,
    /// How to copy them; without a mode, prompts are copied natively and everything else is quoted.
    pub mode: Option<PickMode>,
    /// A note for later readers of the session; it is not sent to models.
    pub note: Option<String>,
    /// True to copy state of extensions too.
    pub with_state: bool,
    /// True to pick entries that are on the current path already.
    pub allow_present: bool,
    /// True to pick entries that were picked onto the current path before.
    pub allow_again: bool,
}

impl PickRequest {
    /// Requests a selection, with defaults for everything else.
    pub fn new(selection: Selection) -> Self {
        Self {
            selection,
            mode: None,
            note: None,
            with_state: false,
            allow_present: false,
            allow_again: false,
        }
    }
}

/// How an entry is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickMode {
    /// As text of a custom message, under a line that names its origin.
    Quote,
    /// As an entry of the type it has.
    Native,
}

impl PickMode {
    /// Returns the name that files use.
    pub fn name(self) -> &'static str {
        match self {
            PickMode::Quote => "quote",
            PickMode::Native => "native",
        }
    }
}

/// A planned pick.
#[derive(Debug, Clone)]
pub struct PickPlan {
    session: Stamp,
    /// The leaf when the plan was made.
    pub old_leaf: Option<EntryId>,
    /// The selected entries, as nodes of the source, oldest first.
    pub selected: Vec<Node>,
    /// The tip of the branch that they are taken from.
    pub source_leaf: EntryId,
    /// The entries that would be appended, in order.
    pub items: Vec<PickItem>,
    /// Entries that an extension wants to be appended behind them.
    pub extra: Vec<Draft>,
    /// Warnings to show before the pick is applied.
    pub warnings: Vec<PickWarning>,
}

impl PickPlan {
    /// Returns the text that would enter the context, a blank line between entries.
    pub fn text(&self) -> String {
        let texts: Vec<String> =
            self.items.iter().map(PickItem::text).filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }

    /// Estimates the tokens that would enter the context.
    pub fn tokens(&self) -> u64 {
        self.items.iter().map(PickItem::tokens).sum()
    }

    /// Returns the entries of the source that are copied.
    pub fn source_ids(&self) -> impl Iterator<Item = &EntryId> {
        self.items.iter().flat_map(|item| item.source_ids())
    }
}

impl Session {
    /// Plans to copy entries of `source`, which may be this session, under the leaf. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::CannotPick`] if an entry cannot be copied in the way that is asked for, [`Error::AlreadyPresent`]
    /// and [`Error::PickedBefore`] if everything is here already and that is not allowed,
    /// [`Error::NotAnAncestor`] for an invalid range, [`Error::EmptySelection`] if no entry can be copied. Of a turn
    /// or a range, entries that have no meaning elsewhere are left out with a warning.
    pub fn plan_pick(&self, source: &Session, request: &PickRequest) -> Result<PickPlan> {
        let here = Target::of(self);
        let Selected { nodes, tip } = request.selection.resolve(source)?;
        let end = *nodes.last().ok_or(Error::EmptySelection)?;
        let common = here.common_ancestor(source, end);
        let reader = MessageReader::verbatim(source);
        let mut planner = Planner {
            request,
            attribution: Attribution::of(&here, source, tip)?,
            source: PickSource {
                session: source,
                session_json: session_json(self, source),
                leaf: source.tree().id(tip),
                common_ancestor: common.map(|common| source.tree().id(common.there)),
                note: request.note.clone(),
            },
            changed: changed_here(&here, source, &nodes, common)?,
            reader: &reader,
            items: Vec::new(),
            warnings: Vec::new(),
        };
        planner.check_presence(&here, &nodes)?;
        for unit in units_of(&reader, &nodes)? {
            planner.add(&unit)?;
        }
        let source_leaf = planner.source.leaf.clone();
        let (items, warnings) = planner.finish()?;
        let (session, old_leaf, extra) = (self.stamp, self.leaf_id(), Vec::new());
        Ok(PickPlan { session, old_leaf, selected: nodes, source_leaf, items, extra, warnings })
    }

    /// Appends the planned entries, with one write. Returns the ids of the new entries.
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] if the plan was made for another session, or the leaf moved since other than over
    /// bookkeeping entries.
    pub fn apply_pick(&mut self, plan: &PickPlan) -> Result<Vec<EntryId>> {
        self.check_plan_at(plan.session, plan.old_leaf.as_ref())?;
        let now = self.now();
        let (mut open, mut drawn) = (OpenCalls::default(), HashSet::new());
        let mut drafts = Vec::with_capacity(plan.items.len() + plan.extra.len());
        for item in &plan.items {
            let calls = item.call_ids();
            let mut ids: Vec<String> = calls.iter().map(|_| self.fresh_call_id(&mut drawn)).collect();
            open.ask(calls.into_iter().zip(ids.iter().cloned()));
            ids.extend(item.answered_call().and_then(|id| open.answer(&id)));
            drafts.push(item.draft(now, &ids)?);
        }
        drafts.extend(plan.extra.iter().cloned());
        self.append_batch(&drafts)
    }

    /// Draws an id that no other tool call of this session has.
    ///
    /// The number of lines grows with every append, so ids that are drawn at different times differ.
    fn fresh_call_id(&mut self, drawn: &mut HashSet<EntryId>) -> String {
        let lines = self.tree().node_bound();
        let id = self.free_id(drawn);
        format!("pick_{lines:x}_{id}")
    }
}

/// Lists the files that the selection touched and that were changed on the current branch since the common ancestor.
fn changed_here(
    here: &Target<'_>,
    source: &Session,
    nodes: &[Node],
    common: Option<CommonAncestor>,
) -> Result<Vec<String>> {
    let files = touched(source, nodes)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let changed = here.changed_since(common.map(|common| common.here))?;
    let touched = files.read_files().into_iter().chain(files.modified_files());
    let mut both: Vec<String> = touched.filter(|file| changed.contains(*file)).map(String::from).collect();
    both.sort_unstable();
    Ok(both)
}

/// A plan in the making.
struct Planner<'p> {
    request: &'p PickRequest,
    reader: &'p MessageReader<'p>,
    attribution: Attribution,
    source: PickSource<'p>,
    changed: Vec<String>,
    items: Vec<PickItem>,
    warnings: Vec<PickWarning>,
}

impl Planner<'_> {
    /// Refuses entries that are here already, or warns if only some are or the request allows them.
    fn check_presence(&mut self, here: &Target<'_>, nodes: &[Node]) -> Result<()> {
        let tree = self.source.session.tree();
        let speaking: Vec<Node> = nodes.iter().copied().filter(|node| !tree.is_bookkeeping(*node)).collect();
        let counted = if speaking.is_empty() { nodes } else { &speaking };
        let present: Vec<EntryId> = counted
            .iter()
            .filter_map(|node| here.same_entry(self.source.session, *node))
            .map(|node| here.session.tree().id(node))
            .collect();
        let earlier = EarlierPicks::on(here)?;
        let again: Vec<EntryId> =
            counted.iter().filter_map(|node| earlier.of(&tree.id(*node)).cloned()).collect();
        if let (Some(id), false) = (present.last(), self.request.allow_present)
            && present.len() == counted.len()
        {
            return Err(Error::AlreadyPresent { id: id.clone() });
        }
        if let (Some(by), false) = (again.first(), self.request.allow_again)
            && again.len() == counted.len()
        {
            return Err(Error::PickedBefore { by: by.clone() });
        }
        if !present.is_empty() {
            self.warnings.push(PickWarning::AlreadyHere { ids: present });
        }
        if !again.is_empty() {
            let mut by = again;
            by.dedup();
            self.warnings.push(PickWarning::PickedBefore { by });
        }
        Ok(())
    }

    /// Plans a unit; one that cannot be picked fails the plan or is left out of it.
    fn add(&mut self, unit: &Unit) -> Result<()> {
        let planned = self.plan_unit(unit);
        let Err(Error::CannotPick { id, reason }) = planned else { return planned };
        let is_alone = matches!(self.request.selection, Selection::Entry(_));
        match reason {
            PickRefusal::OpenGroup | PickRefusal::LoneResult | PickRefusal::Compaction => {
                Err(Error::CannotPick { id, reason })
            }
            _ if is_alone => Err(Error::CannotPick { id, reason }),
            PickRefusal::Bookkeeping | PickRefusal::Empty => Ok(()),
            PickRefusal::State | PickRefusal::OwnPath | PickRefusal::Unreadable | PickRefusal::Unknown => {
                self.warnings.push(PickWarning::LeftOut { id, reason });
                Ok(())
            }
        }
    }

    fn plan_unit(&mut self, unit: &Unit) -> Result<()> {
        let entry = self.source.session.entry_at(unit.head)?;
        if entry.is_placeholder() {
            return refuse(&entry, PickRefusal::Unreadable);
        }
        match entry.kind() {
            Kind::Message => self.plan_message(unit, &entry),
            Kind::CustomMessage | Kind::BranchSummary if is_silent(&entry) => {
                refuse(&entry, PickRefusal::Empty)
            }
            Kind::CustomMessage | Kind::BranchSummary => self.copy_entry(&entry),
            Kind::Compaction if self.request.mode == Some(PickMode::Native) => {
                refuse(&entry, PickRefusal::Compaction)
            }
            Kind::Compaction => self.quote(unit, &entry),
            Kind::ModelChange | Kind::ThinkingLevelChange => self.copy_setting(&entry),
            Kind::Custom if self.source.session.tree().is_internal(unit.head) => {
                refuse(&entry, PickRefusal::Bookkeeping)
            }
            Kind::Custom if !self.request.with_state => refuse(&entry, PickRefusal::State),
            Kind::Custom => self.copy_state(&entry),
            Kind::Label | Kind::SessionInfo | Kind::Usage | Kind::LeafMove => {
                refuse(&entry, PickRefusal::Bookkeeping)
            }
            Kind::ContextEdit | Kind::ModeChange | Kind::RuleInjection | Kind::ResetBoundary => {
                refuse(&entry, PickRefusal::OwnPath)
            }
            Kind::Opaque => refuse(&entry, PickRefusal::Unknown),
        }
    }

    fn plan_message(&mut self, unit: &Unit, entry: &Entry) -> Result<()> {
        let Some(message) = self.reader.message(unit.head)? else {
            return refuse(entry, PickRefusal::Unreadable);
        };
        let mode = self.request.mode;
        match message.role() {
            Role::User if !native::says_something(&message) => refuse(entry, PickRefusal::Empty),
            Role::User if mode != Some(PickMode::Quote) => self.copy_message(entry.node(), &message),
            Role::Assistant if mode == Some(PickMode::Native) => self.copy_group(unit, entry, &message),
            Role::ToolResult if mode == Some(PickMode::Native) => refuse(entry, PickRefusal::LoneResult),
            Role::User | Role::Assistant | Role::ToolResult => self.quote(unit, entry),
            Role::BashExecution | Role::Custom | Role::FileMention => {
                self.copy_message(entry.node(), &message)
            }
            Role::System => refuse(entry, PickRefusal::OwnPath),
            Role::BranchSummary | Role::CompactionSummary | Role::Other => {
                refuse(entry, PickRefusal::Unknown)
            }
        }
    }

    fn quote(&mut self, unit: &Unit, entry: &Entry) -> Result<()> {
        let text = unit_text(self.reader, unit)?;
        let images = images_of(entry);
        if text.trim().is_empty() && images.is_empty() {
            return refuse(entry, PickRefusal::Empty);
        }
        if unit.is_open() {
            self.warnings.push(PickWarning::OpenGroup { id: entry.id().clone() });
        }
        let nodes = unit.nodes();
        let files = touched(self.source.session, &nodes)?;
        let touches = |file: &&String| {
            files.read.contains(*file) || files.written.contains(*file) || files.edited.contains(*file)
        };
        let changed: Vec<String> = self.changed.iter().filter(touches).cloned().collect();
        let line = self.attribution.line(&format!("entry {}", entry.id()), entry.timestamp(), &changed);
        let origin = self.source.origin(&nodes, PickMode::Quote, None)?;
        self.items.push(PickItem::quote(&format!("{line}\n\n{text}"), images, origin)?);
        Ok(())
    }

    /// Copies a message as it is.
    fn copy_message(&mut self, node: Node, message: &Message) -> Result<()> {
        let origin = self.source.origin(&[node], PickMode::Native, None)?;
        self.items.push(PickItem::message(native::verbatim(message), origin));
        Ok(())
    }

    /// Copies an answer and the results of its calls.
    fn copy_group(&mut self, unit: &Unit, entry: &Entry, answer: &Message) -> Result<()> {
        if unit.is_open() {
            return refuse(entry, PickRefusal::OpenGroup);
        }
        let copy = native::answer(answer);
        if !native::says_something(&copy) {
            return refuse(entry, PickRefusal::Empty);
        }
        let tools = native::effects(&copy);
        if !tools.is_empty() {
            self.warnings.push(PickWarning::NativeEffects { tools });
        }
        let origin = self.source.origin(&[unit.head], PickMode::Native, answer.value().get("usage"))?;
        self.items.push(PickItem::message(copy, origin));
        for result in unit.results.iter().copied().flatten() {
            if let Some(message) = self.reader.message(result)? {
                self.copy_message(result, &message)?;
            }
        }
        Ok(())
    }

    /// Copies an entry with all its fields.
    fn copy_entry(&mut self, entry: &Entry) -> Result<()> {
        let origin = self.source.origin(&[entry.node()], PickMode::Native, None)?;
        self.items.push(PickItem::copy(entry, origin));
        Ok(())
    }

    fn copy_state(&mut self, entry: &Entry) -> Result<()> {
        if let Body::Custom { custom_type, .. } = entry.body() {
            let custom_type = custom_type.unwrap_or_default().into_owned();
            self.warnings.push(PickWarning::CopiesState { custom_type });
        }
        self.copy_entry(entry)
    }

    /// Copies a change of the model or the thinking level.
    fn copy_setting(&mut self, entry: &Entry) -> Result<()> {
        let (draft, warning) = match entry.body() {
            Body::ModelChange { provider: Some(provider), model_id: Some(model_id), role }
                if role.as_deref().is_none_or(|role| role == "default") =>
            {
                let model = ModelRef { provider: provider.into(), model_id: model_id.into() };
                let draft = Draft::model_change(&model.provider, &model.model_id);
                (draft, PickWarning::SetsModel { model })
            }
            Body::ThinkingLevelChange { level } => {
                let level = level.map_or_else(|| "off".to_owned(), Into::into);
                (Draft::thinking_level_change(&level), PickWarning::SetsThinkingLevel { level })
            }
            _ => return refuse(entry, PickRefusal::OwnPath),
        };
        let origin = self.source.origin(&[entry.node()], PickMode::Native, None)?;
        self.items.push(PickItem::new(draft, origin));
        self.warnings.push(warning);
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<PickItem>, Vec<PickWarning>)> {
        if self.items.is_empty() {
            return Err(Error::EmptySelection);
        }
        if !self.changed.is_empty() {
            self.warnings.push(PickWarning::ChangedHere { files: self.changed });
        }
        let count = self.items.iter().map(PickItem::image_count).sum();
        if count > 0 {
            self.warnings.push(PickWarning::Images { count });
        }
        Ok((self.items, self.warnings))
    }
}

fn refuse(entry: &Entry, reason: PickRefusal) -> Result<()> {
    Err(Error::CannotPick { id: entry.id().clone(), reason })
}

/// Returns true if a message or a summary has no content to copy.
fn is_silent(entry: &Entry) -> bool {
    match entry.body() {
        Body::CustomMessage { content, .. } => content.is_none(),
        Body::BranchSummary { summary, .. } => summary.is_none_or(|summary| summary.is_empty()),
        _ => false,
    }
}

/// The images of a prompt, as blocks.
fn images_of(entry: &Entry) -> Vec<serde_json::Value> {
    let message =
        entry.message().filter(|message| message.get("role").is_some_and(|role| role.is_str("user")));
    let blocks = message.and_then(|message| message.get("content")).into_iter().flat_map(ValueRef::items);
    let is_image = |block: &ValueRef<'_>| block.get("type").is_some_and(|kind| kind.is_str("image"));
    blocks.filter(is_image).filter_map(ValueRef::to_serde).collect()
}

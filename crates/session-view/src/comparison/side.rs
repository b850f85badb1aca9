//! Reading one side of a comparison: each entry once, oldest first.

use super::command::{CommandRun, Outcome};
use super::{Prompt, Side};
use crate::stats::Stats;
use session_tree::json::ValueRef;
use session_tree::{
    Block, Content, Entry, EntryId, FileOps, Message, Node, OpenCalls, Result, Role, Session,
};

/// Reads what a path has after its base.
pub(super) fn read(session: &Session, at: Node, entries: Vec<Node>) -> Result<Side> {
    let side = Side {
        at: session.tree().id(at),
        entries: entries.iter().map(|node| session.tree().id(*node)).collect(),
        prompts: Vec::new(),
        files: FileOps::default(),
        commands: Vec::new(),
        stats: Stats::default(),
        ends_with: None,
    };
    let mut reader = Reader { session, side, calls: OpenCalls::default(), touched: Vec::new() };
    for node in entries {
        reader.take(node)?;
    }
    let Reader { mut side, touched, .. } = reader;
    for (run, files) in touched {
        if side.commands.get(run).is_some_and(|run| run.outcome != Outcome::Error) {
            side.files.merge(files);
        }
    }
    Ok(side)
}

/// How many characters of a text are shown.
const SHOWN: usize = 200;

struct Reader<'s> {
    session: &'s Session,
    side: Side,
    /// The places of calls among the commands.
    calls: OpenCalls<usize>,
    /// The files of each call, by its place among the commands. A call that failed touched none.
    touched: Vec<(usize, FileOps)>,
}

impl Reader<'_> {
    fn take(&mut self, node: Node) -> Result<()> {
        let role = self.session.tree().role(node);
        if !self.side.stats.count(self.session, node) && role != Some(Role::BashExecution) {
            return Ok(());
        }
        let entry = self.session.entry_at(node)?;
        self.side.stats.read(&entry);
        match entry.to_message() {
            Some(message) => self.take_message(&entry, &message),
            None => Ok(()),
        }
    }

    fn take_message(&mut self, entry: &Entry, message: &Message) -> Result<()> {
        let id = entry.id().clone();
        match message.role() {
            Role::User => self.side.prompts.push(Prompt { id, text: prompt_text(message.content()) }),
            Role::Assistant => self.take_answer(&id, message.content()),
            Role::ToolResult => return self.take_result(entry, message.value()),
            Role::BashExecution => self.side.commands.push(CommandRun::of_shell(id, message.value())),
            Role::Custom
            | Role::System
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Other => {}
        }
        Ok(())
    }

    fn take_answer(&mut self, answer: &EntryId, content: Content<'_>) {
        let said = content.excerpt(SHOWN);
        if !said.is_empty() {
            self.side.ends_with = Some(said);
        }
        let mut asked = Vec::new();
        for block in content.blocks() {
            if let Block::ToolCall { id, name, arguments } = block {
                let mut files = FileOps::default();
                files.add_call(&name, arguments);
                self.touched.push((self.side.commands.len(), files));
                asked.push((id.into_owned(), self.side.commands.len()));
                self.side.commands.push(CommandRun::of_call(answer.clone(), &name, arguments));
            }
        }
        self.calls.ask(asked);
    }

    fn take_result(&mut self, entry: &Entry, message: ValueRef<'_>) -> Result<()> {
        let id = message.get("toolCallId").and_then(ValueRef::as_str).unwrap_or_default();
        if !self.calls.knows(&id) {
            let run = self.call_above(entry.node(), &id)?;
            self.calls.ask([(id.clone().into_owned(), self.side.commands.len())]);
            self.side.commands.push(run.unwrap_or_else(|| unasked(entry.id(), message)));
        }
        if let Some(run) = self.calls.answer(&id).and_then(|at| self.side.commands.get_mut(at)) {
            run.outcome = Outcome::of_result(message);
        }
        if Outcome::of_result(message) == Outcome::Ok {
            self.side.files.add_nested_calls(message);
        }
        Ok(())
    }

    /// Two sides may part between a call and its result: the call is in neither, but was run in both.
    fn call_above(&self, result: Node, wanted: &str) -> Result<Option<CommandRun>> {
        let Some(answer) = self.session.tree().answer_above(result) else { return Ok(None) };
        let entry = self.session.entry_at(answer)?;
        let content = entry.message().and_then(|message| message.get("content"));
        Ok(Content::of(content).blocks().find_map(|block| match block {
            Block::ToolCall { id, name, arguments } if id == wanted => {
                Some(CommandRun::of_call(entry.id().clone(), &name, arguments))
            }
            _ => None,
        }))
    }
}

/// A result whose call is nowhere.
fn unasked(id: &EntryId, result: ValueRef<'_>) -> CommandRun {
    let tool = result.get("toolName").and_then(ValueRef::as_str).unwrap_or_default();
    CommandRun::of_call(id.clone(), &tool, None)
}

fn prompt_text(content: Content<'_>) -> String {
    let text = content.text();
    match content.image_count() {
        images if text.trim().is_empty() && images > 0 => content.prompt_excerpt(SHOWN),
        _ => text.into_owned(),
    }
}

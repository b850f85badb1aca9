//! Turns events of the agent into items of the transcript.

use std::path::Path;
use std::time::Duration;

use crate::chat::Chat;
use crate::chat::item::{Item, ShellItem, Tone, ToolItem, ToolState, ending, item_of};
use crate::chat::transcript::{ItemId, Transcript};
use crate::chat::working::Activity;
use offshoot_agent::event::AgentEvent;
use offshoot_agent::model::{AnswerEvent, BlockStart};
use offshoot_agent::tool::{ToolCall, ToolOutput};
use offshoot_agent::turn::Outcome;
use session_tree::{LockHolder, Message, Role};

/// The items of the transcript that still change.
#[derive(Debug, Default)]
pub(super) struct LiveItems {
    /// The items of the blocks of the answer, by their numbers.
    blocks: Vec<Option<ItemId>>,
    /// The items of calls that run, and of a command of the user, by their ids.
    calls: Vec<(String, ItemId)>,
}

impl LiveItems {
    /// Adds the item of a call that runs.
    pub(super) fn add_call(&mut self, id: &str, item: ItemId) {
        self.calls.push((id.to_owned(), item));
    }

    /// Removes the item of a call that has ended.
    pub(super) fn remove_call(&mut self, item: ItemId) {
        self.calls.retain(|(_, known)| *known != item);
    }

    /// Shows an event.
    pub(super) fn take(&mut self, event: AgentEvent, chat: &mut Chat, now: Duration) {
        match event {
            AgentEvent::AgentStart | AgentEvent::TurnStart { .. } => {
                self.blocks.clear();
                chat.working.retried();
            }
            AgentEvent::Answer(event) => self.answer(event, &mut chat.transcript),
            AgentEvent::Message { message, .. } => self.message(&message, chat),
            AgentEvent::ToolStart(call) => self.begin_call(&call, &mut chat.transcript),
            AgentEvent::ToolUpdate { call_id, output } => {
                self.update_call(&call_id, &output, &mut chat.transcript);
            }
            AgentEvent::ToolEnd { call, output } => self.end_call(&call, &output, &mut chat.transcript),
            AgentEvent::RetryStart { attempt, delay, error } => {
                // The calls of the answer that broke off come again.
                for (_, id) in self.calls.drain(..) {
                    chat.transcript.remove(id);
                }
                chat.working.retry(attempt, now + delay, error.to_string());
            }
            AgentEvent::SessionLocked { path, holder } => {
                let notice = lock_notice(Some(&path), holder.as_ref());
                chat.transcript.push(Item::Notice(Tone::Warning, notice));
            }
            AgentEvent::CompactionStart { .. } => chat.working.begin(Activity::Compaction, now),
            AgentEvent::CompactionEnd { reason, entry, error, warning } => {
                chat.working.begin(Activity::Turn, now);
                if let Some(warning) = warning {
                    chat.transcript.push(Item::Notice(Tone::Warning, warning));
                }
                match (entry, error) {
                    (Some(_), _) => chat.working.tell(Tone::Success, "older messages are summarized", now),
                    // The command that started it shows its own error.
                    (None, Some(error)) if reason != "manual" => {
                        chat.transcript.push(Item::Notice(Tone::Error, error));
                    }
                    (None, _) => {}
                }
            }
            AgentEvent::HookFailed(failure) => {
                let text = format!("{} failed at {}: {}", failure.handler, failure.event, failure.message);
                chat.transcript.push(Item::Notice(Tone::Warning, text));
            }
            AgentEvent::Warning { text } => chat.transcript.push(Item::Notice(Tone::Warning, text)),
            AgentEvent::AgentEnd(outcome) => self.end(&outcome, chat),
            _ => {}
        }
    }

    fn answer(&mut self, event: AnswerEvent, transcript: &mut Transcript) {
        match event {
            AnswerEvent::BlockStart { index, block } => {
                let item = match block {
                    BlockStart::Text => transcript.begin(Item::Text(String::new())),
                    BlockStart::Thinking => transcript.begin(Item::Thinking(String::new())),
                    BlockStart::ToolCall { id, name } => {
                        let item = transcript.begin(Item::Tool(ToolItem { name, ..ToolItem::default() }));
                        self.calls.push((id, item));
                        item
                    }
                };
                self.blocks.resize(index.max(self.blocks.len()), None);
                self.blocks.push(Some(item));
            }
            AnswerEvent::BlockDelta { index, text } => {
                if let Some(id) = self.blocks.get(index).copied().flatten() {
                    transcript.change(id, |item| match item {
                        Item::Text(all) | Item::Thinking(all) => all.push_str(&text),
                        Item::Tool(tool) => tool.partial.push_str(&text),
                        _ => {}
                    });
                }
            }
            AnswerEvent::BlockEnd { index, .. } => {
                if let Some(id) = self.blocks.get(index).copied().flatten() {
                    self.finish_block(id, transcript);
                }
            }
            _ => {}
        }
    }

    /// Finishes a block of an answer; a call goes on when it runs.
    fn finish_block(&self, id: ItemId, transcript: &mut Transcript) {
        if !self.calls.iter().any(|(_, call)| *call == id) {
            transcript.finish(id);
        }
    }

    /// A message is in the session: what was growing is done.
    fn message(&mut self, message: &Message, chat: &mut Chat) {
        match message.role() {
            Role::Assistant => {
                for id in std::mem::take(&mut self.blocks).into_iter().flatten() {
                    self.finish_block(id, &mut chat.transcript);
                }
                // An error is shown when the turn ends.
                let ending = ending(message).filter(|item| !matches!(item, Item::Notice(Tone::Error, _)));
                ending.into_iter().for_each(|item| chat.transcript.push(item));
            }
            // The item of a command was added when it started.
            Role::BashExecution => {}
            _ => item_of(message).into_iter().for_each(|item| chat.transcript.push(item)),
        }
    }

    /// Shows a call with its arguments; the answer may have brought it already.
    fn begin_call(&mut self, call: &ToolCall, transcript: &mut Transcript) {
        let known = self.calls.iter().find(|(known, _)| *known == call.id).map(|(_, item)| *item);
        let item = known.unwrap_or_else(|| {
            let item = transcript.begin(Item::Tool(ToolItem::default()));
            self.calls.push((call.id.clone(), item));
            item
        });
        transcript.change(item, |item| {
            if let Item::Tool(tool) = item {
                tool.name.clone_from(&call.name);
                tool.arguments = call.arguments.clone();
            }
        });
    }

    fn update_call(&mut self, call_id: &str, output: &ToolOutput, transcript: &mut Transcript) {
        let Some((_, id)) = self.calls.iter().find(|(known, _)| known == call_id) else { return };
        transcript.change(*id, |item| match item {
            Item::Tool(ToolItem { output: shown, .. }) | Item::Shell(ShellItem { output: shown, .. }) => {
                *shown = output.all_text();
            }
            _ => {}
        });
    }

    fn end_call(&mut self, call: &ToolCall, output: &ToolOutput, transcript: &mut Transcript) {
        if let Some(id) = self.call_ended(call, output, transcript) {
            transcript.finish(id);
        }
    }

    /// Shows the result of a call. An extension may still draw the item.
    pub(super) fn call_ended(
        &mut self,
        call: &ToolCall,
        output: &ToolOutput,
        transcript: &mut Transcript,
    ) -> Option<ItemId> {
        let at = self.calls.iter().position(|(known, _)| *known == call.id)?;
        let (_, id) = self.calls.remove(at);
        transcript.change(id, |item| {
            if let Item::Tool(tool) = item {
                tool.arguments = call.arguments.clone();
                tool.output = output.all_text();
                tool.diff =
                    output.details.as_ref().and_then(|details| details["diff"].as_str()).map(str::to_owned);
                tool.images = output.content.iter().filter(|block| block["type"] == "image").count();
                tool.state = if output.is_error { ToolState::Failed } else { ToolState::Done };
            }
        });
        Some(id)
    }

    /// Finishes all items.
    fn end(&mut self, outcome: &Outcome, chat: &mut Chat) {
        self.blocks.clear();
        for (_, id) in self.calls.drain(..) {
            chat.transcript.change(id, |item| {
                if let Item::Tool(tool) = item {
                    tool.state = ToolState::Interrupted;
                }
            });
        }
        chat.transcript.finish_all();
        if let Outcome::Failed(error) = outcome {
            chat.transcript.push(Item::Notice(Tone::Error, error.to_string()));
        }
    }
}

/// Describes the program that holds the lock of a session file.
pub fn lock_notice(file: Option<&Path>, holder: Option<&LockHolder>) -> String {
    let holder = holder.map_or_else(|| "another program".into(), LockHolder::to_string);
    let file = file.map_or_else(|| "the session".into(), |file| file.display().to_string());
    format!("waiting: {holder} has locked {file}")
}

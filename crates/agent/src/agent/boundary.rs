//! Boundaries of work: the end of a turn, and the moment before the work on a prompt is over.
//!
//! Extensions may append entries there and request another turn. All proposed entries are checked before the first one
//! is appended.

use serde_json::{Value as Json, json};
use session_tree::{
    Draft, EntryId, KeepFrom, Kind, Message, NewCompaction, NewContent, Position, Role, Session,
    convert_to_llm,
};

use super::Agent;
use super::notify::messages_json;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::handle::CustomMessage;
use crate::hooks::given;
use crate::queue::QueuedMessage;
use crate::turn::Outcome;

/// An entry proposed by an extension.
enum Proposed {
    State(Draft),
    Message(CustomMessage),
    Edit { target: EntryId, content: NewContent },
    Compaction { value: Json, keep: KeepFrom },
}

impl Agent {
    /// Runs the hook of a boundary. Returns true if an extension requests another turn.
    pub(super) async fn boundary(
        &mut self,
        mut payload: Json,
        outcome: &str,
        cancel: &Cancel,
    ) -> Result<bool> {
        let event = payload["type"].as_str().unwrap_or_default().to_owned();
        payload["outcome"] = outcome.into();
        payload["entries"] = json!([]);
        payload["continue"] = false.into();
        payload["context"] = self.boundary_context()?;
        let answer =
            self.within_grace_period(async |own| self.hooks.chain(&event, payload, own).await, cancel).await;
        let answer = answer.unwrap_or_default();
        if let Err(refused) = self.append_proposed(&answer["entries"])? {
            self.hooks.report("entries", &event, refused);
        }
        let wants_more = answer["continue"] == true && outcome == COMPLETED && !cancel.is_cancelled();
        if wants_more && !self.queue.has_unanswered() && !self.can_be_answered()? {
            let reason = "an extension requested another turn, but there is nothing to answer".to_owned();
            self.hooks.report("continue", &event, reason);
            return Ok(false);
        }
        Ok(wants_more)
    }

    /// Runs the hook before the work on a prompt is over. Skipped if the work was cancelled.
    pub(super) async fn before_settle(&mut self, outcome: &Outcome, cancel: &Cancel) -> Result<bool> {
        const EVENT: &str = "agent_before_settle";
        let outcome = match outcome {
            Outcome::Done => COMPLETED,
            Outcome::Failed(_) => "error",
            Outcome::Aborted => return Ok(false),
        };
        if !self.hooks.wants(EVENT) {
            return Ok(false);
        }
        self.boundary(json!({"type": EVENT}), outcome, cancel).await
    }

    /// Returns the context that the model would get now.
    fn boundary_context(&self) -> Result<Json> {
        let context = self.session().context()?;
        let messages: Vec<Message> = context.messages().cloned().collect();
        let readable: Vec<Message> = messages.iter().filter_map(convert_to_llm).collect();
        Ok(json!({
            "contextMessages": messages_json(&messages),
            "llmMessages": messages_json(&readable),
            "pendingMessages": messages_json(&self.pending_messages()),
            "canContinue": can_be_answered(&readable) || self.queue.has_unanswered(),
        }))
    }

    /// Returns the messages that wait for the current turn or for its end.
    fn pending_messages(&self) -> Vec<Message> {
        let now = self.session().now();
        let message = |queued| match queued {
            QueuedMessage::Custom(message) => message,
            QueuedMessage::Prompt(submission) => Message::user(&submission.text).with_time(now),
        };
        self.queue.waiting().into_iter().map(message).collect()
    }

    /// Returns true if the last message of the context is not an answer of the model.
    pub(super) fn can_be_answered(&self) -> Result<bool> {
        Ok(self.session().needs_answer()?)
    }

    /// Appends the proposed entries if all of them are valid; otherwise returns the reason.
    fn append_proposed(&mut self, entries: &Json) -> Result<std::result::Result<(), String>> {
        let entries = entries.as_array().map(Vec::as_slice).unwrap_or_default();
        let checked: std::result::Result<Vec<Proposed>, String> = {
            let session = self.session();
            entries.iter().map(|entry| proposed(&session, entry)).collect()
        };
        let proposal = match checked {
            Ok(proposal) => proposal,
            Err(refused) => return Ok(Err(refused)),
        };
        for entry in &proposal {
            self.append_one(entry)?;
        }
        if !proposal.is_empty() {
            self.session().sync()?;
        }
        Ok(Ok(()))
    }

    fn append_one(&mut self, entry: &Proposed) -> Result<()> {
        let handle = self.handle().for_extensions();
        match entry {
            Proposed::State(draft) => drop(handle.session().append(draft)?),
            Proposed::Message(message) => drop(handle.append_message(message)?),
            Proposed::Edit { target, content } => {
                handle.session().append_context_edit(target.as_str(), content)?;
            }
            Proposed::Compaction { value, keep } => {
                let new = NewCompaction {
                    summary: value["summary"].as_str().unwrap_or_default().to_owned(),
                    keep: keep.clone(),
                    tokens_before: self.projected_tokens()?,
                    details: given(value, "details").cloned(),
                    usage: given(value, "usage").cloned(),
                    from_hook: true,
                };
                handle.session().append_compaction(&new)?;
            }
        }
        Ok(())
    }
}

const COMPLETED: &str = "completed";

/// Returns the outcome of an answer, in the words of the hooks.
pub(super) fn outcome_of(answer: &Message) -> &'static str {
    let stop = answer.value().get("stopReason");
    let is = |name: &str| stop.is_some_and(|stop| stop.is_str(name));
    match (is("aborted"), is("error")) {
        (true, _) => "aborted",
        (_, true) => "error",
        _ => COMPLETED,
    }
}

/// Returns true if the last message is not an answer of the model.
fn can_be_answered(messages: &[Message]) -> bool {
    let mut said = messages.iter().rev().filter(|message| message.role() != Role::System);
    said.next().is_some_and(|last| last.role() != Role::Assistant)
}

/// Parses a proposed entry and checks it against the path.
fn proposed(session: &Session, value: &Json) -> std::result::Result<Proposed, String> {
    let on_path = |field: &str| {
        let id = value[field].as_str().unwrap_or_default();
        let node = session.tree().node(id).filter(|node| session.branch_path(Position::Leaf).contains(node));
        node.ok_or_else(|| format!("`{field}`: no entry `{id}` on the path"))
    };
    match value["type"].as_str() {
        Some("custom") => {
            Draft::parse(value.to_string()).map(Proposed::State).map_err(|error| error.to_string())
        }
        Some("custom_message") => {
            Draft::parse(value.to_string()).map_err(|error| error.to_string())?;
            let message = CustomMessage::read(value).ok_or("a message without type or content")?;
            Ok(Proposed::Message(message))
        }
        Some("context_edit") => {
            let node = on_path("targetId")?;
            let tree = session.tree();
            match (tree.kind(node), tree.role(node)) {
                (Kind::CustomMessage, _) | (_, Some(Role::User | Role::Assistant | Role::ToolResult)) => {}
                _ => return Err("`targetId`: the entry says nothing that could be changed".to_owned()),
            }
            Ok(Proposed::Edit { target: tree.id(node), content: new_content(value)? })
        }
        Some("compaction") if value["summary"].is_string() => {
            let keep = match value.get("firstKeptEntryId") {
                None | Some(Json::Null) => KeepFrom::Nothing,
                Some(_) => KeepFrom::Entry(session.tree().id(on_path("firstKeptEntryId")?)),
            };
            Ok(Proposed::Compaction { value: value.clone(), keep })
        }
        Some("compaction") => Err("a compaction without summary".to_owned()),
        other => Err(format!("`{}` cannot be appended here", other.unwrap_or("an entry without type"))),
    }
}

fn new_content(value: &Json) -> std::result::Result<NewContent, String> {
    match (value.get("replacement"), &value["replacement"]["content"]) {
        (Some(Json::Null), _) => Ok(NewContent::Omit),
        (_, Json::String(text)) => Ok(NewContent::Text(text.clone())),
        (_, blocks @ Json::Array(_)) => Ok(NewContent::Blocks(blocks.clone())),
        _ => Err("`replacement` is neither null nor an object with `content`".to_owned()),
    }
}

//! A client of a server: how its answers and events are spelled, and which events it wants.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use serde_json::{Map, Value as Json, json};
use tokio::sync::Notify;

use super::event_log::LoggedEvent;
use super::server::Protocol;
use crate::failure::Failure;
use crate::outbox::Outbox;

/// The data of an answer as JSON; empty without data.
pub(crate) type Reply = Result<String, Failure>;

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) protocol: Protocol,
    pub(crate) outbox: Outbox,
    /// True if the agent waits for this client to read; false if a client that does not read is disconnected.
    pub(crate) is_waited_for: bool,
    /// True if frames have a header `Content-Length`.
    pub(crate) has_headers: Cell<bool>,
    pub(crate) subscription: RefCell<Option<Subscription>>,
    /// True if the client is asked about tool calls.
    pub(crate) approves: Cell<bool>,
    /// The requests that are not answered yet.
    pub(crate) requests: Cell<usize>,
    /// Signals that the client must be disconnected.
    pub(crate) dropped: Notify,
}

/// The events that a subscriber wants.
#[derive(Debug, Default)]
pub(crate) struct Subscription {
    /// Their names; none for all.
    pub(crate) names: Option<HashSet<String>>,
}

impl Client {
    pub(crate) fn new(protocol: Protocol, outbox: Outbox, is_waited_for: bool) -> Self {
        Client {
            protocol,
            outbox,
            is_waited_for,
            has_headers: Cell::new(false),
            subscription: RefCell::default(),
            approves: Cell::new(false),
            requests: Cell::new(0),
            dropped: Notify::new(),
        }
    }

    /// Answers a request.
    pub(crate) async fn answer(&self, id: Option<&Json>, command: Option<&str>, reply: Reply) {
        let text = match self.protocol {
            Protocol::Rpc => rpc_answer(id, command, reply),
            // A notification gets no answer.
            Protocol::JsonRpc if id.is_none() => return,
            Protocol::JsonRpc => json_rpc_answer(id, reply),
        };
        self.outbox.send(self.frame(text)).await;
    }

    /// Sends an answer that is complete.
    pub(crate) async fn send_text(&self, text: String) {
        self.outbox.send(self.frame(text)).await;
    }

    /// Sends an event, if the client wants it.
    pub(crate) async fn send_event(&self, event: &LoggedEvent) {
        let Some(text) = self.event_text(event) else { return };
        let frame = self.frame(text);
        match self.is_waited_for {
            true => drop(self.outbox.send(frame).await),
            false if self.outbox.try_send(frame) => {}
            false => self.dropped.notify_one(),
        }
    }

    /// Sends a dialog or another message that is no event.
    pub(crate) async fn send_message(&self, message: &Json) {
        let text = match (self.protocol, message) {
            (Protocol::JsonRpc, Json::Object(fields)) => notification(fields, None),
            _ => message.to_string(),
        };
        self.outbox.send(self.frame(text)).await;
    }

    fn event_text(&self, event: &LoggedEvent) -> Option<String> {
        let subscription = self.subscription.borrow();
        match &*subscription {
            None if event.is_extra => return None,
            Some(_) if event.is_replaced => return None,
            Some(Subscription { names: Some(names) }) if !names.contains(&event.name) => return None,
            _ => {}
        }
        Some(match self.protocol {
            Protocol::Rpc if subscription.is_none() => event.text.clone(),
            Protocol::Rpc => format!("{{\"seq\":{},{}", event.seq, event.text.strip_prefix('{')?),
            Protocol::JsonRpc => {
                let fields = serde_json::from_str::<Map<String, Json>>(&event.text).ok()?;
                notification(&fields, Some(event.seq))
            }
        })
    }

    fn frame(&self, mut text: String) -> Vec<u8> {
        if self.has_headers.get() {
            return format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes();
        }
        text.push('\n');
        text.into_bytes()
    }
}

fn rpc_answer(id: Option<&Json>, command: Option<&str>, reply: Reply) -> String {
    let mut text = String::from("{");
    if let Some(id) = id {
        text.push_str(&format!("\"id\":{id},"));
    }
    text.push_str("\"type\":\"response\"");
    if let Some(command) = command {
        text.push_str(&format!(",\"command\":{}", Json::from(command)));
    }
    match reply {
        Ok(data) if data.is_empty() => text.push_str(",\"success\":true}"),
        Ok(data) => text.push_str(&format!(",\"success\":true,\"data\":{data}}}")),
        Err(failure) => {
            text.push_str(&format!(",\"success\":false,\"error\":{}}}", Json::from(failure.message)));
        }
    }
    text
}

/// Spells an answer of JSON-RPC; the id is null if the request could not be read.
pub(crate) fn json_rpc_answer(id: Option<&Json>, reply: Reply) -> String {
    let id = id.unwrap_or(&Json::Null);
    match reply {
        Ok(data) => {
            let data = if data.is_empty() { "null" } else { &data };
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{data}}}")
        }
        Err(failure) => {
            let error = json!({"code": failure.kind.code(), "message": failure.message});
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
        }
    }
}

/// Spells a message as a notification of JSON-RPC.
fn notification(fields: &Map<String, Json>, seq: Option<u64>) -> String {
    let mut params = fields.clone();
    let name = params.shift_remove("type").unwrap_or_default();
    if let Some(seq) = seq {
        params.insert("seq".to_owned(), seq.into());
    }
    let method = format!("session/{}", name.as_str().unwrap_or_default());
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

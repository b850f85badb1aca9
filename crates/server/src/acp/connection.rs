//! The connection to an editor: requests in both directions, matched with their answers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use tokio::sync::oneshot;

use super::Workspace;
use super::session::AcpSession;
use crate::failure::{Failure, FailureKind};
use crate::outbox::Outbox;

/// How long an editor that closed its input may take to read the last answers.
pub(super) const LAST_READ: Duration = Duration::from_secs(30);

/// The requests of the editor that may run at the same time.
const MAX_REQUESTS: usize = 256;

/// An editor, and the sessions that it has open.
pub(super) struct Connection {
    pub(super) workspace: Rc<dyn Workspace>,
    pub(super) sessions: RefCell<HashMap<String, Rc<AcpSession>>>,
    /// The capabilities of the editor.
    pub(super) capabilities: RefCell<Json>,
    /// The way to the editor; none once everything is sent.
    outbox: RefCell<Option<Outbox>>,
    /// Our requests that the editor has not answered.
    waiting: RefCell<HashMap<u64, oneshot::Sender<Result<Json, Failure>>>>,
    next_id: Cell<u64>,
    running: Cell<usize>,
}

impl Connection {
    pub(super) fn new(workspace: Rc<dyn Workspace>, outbox: Outbox) -> Rc<Self> {
        Rc::new(Connection {
            workspace,
            sessions: RefCell::default(),
            capabilities: RefCell::new(Json::Null),
            outbox: RefCell::new(Some(outbox)),
            waiting: RefCell::default(),
            next_id: Cell::new(0),
            running: Cell::new(0),
        })
    }

    /// Takes a request, a notification or an answer. A request runs beside those that are running.
    pub(super) async fn take_frame(self: &Rc<Self>, text: &[u8]) {
        let value: Json = match serde_json::from_slice(text) {
            Ok(value) => value,
            Err(error) => {
                let failure = Failure::of(FailureKind::Parse, format!("the line is no JSON: {error}"));
                return self.answer(Json::Null, Err(failure)).await;
            }
        };
        let Json::Object(mut message) = value else {
            let failure = Failure::of(FailureKind::Request, "a message is an object");
            return self.answer(Json::Null, Err(failure)).await;
        };
        let id = message.remove("id");
        match (message.remove("method"), id) {
            (Some(Json::String(method)), Some(id)) => self.start(id, method, params(&mut message)).await,
            (Some(Json::String(method)), None) => self.notified(&method, &params(&mut message)),
            (None, Some(id)) => self.take_answer(&id, message),
            (_, id) => {
                let failure = Failure::of(FailureKind::Request, "`method` must be a text");
                self.answer(id.unwrap_or_default(), Err(failure)).await;
            }
        }
    }

    pub(super) async fn refuse_long_frame(&self) {
        let limit = crate::frame::LONGEST_FRAME >> 20;
        let failure = Failure::of(FailureKind::Request, format!("the line is longer than {limit} MiB"));
        self.answer(Json::Null, Err(failure)).await;
    }

    async fn start(self: &Rc<Self>, id: Json, method: String, params: Map<String, Json>) {
        if self.running.get() >= MAX_REQUESTS {
            let failure = Failure::of(FailureKind::Busy, format!("{MAX_REQUESTS} requests are running"));
            return self.answer(id, Err(failure)).await;
        }
        self.running.set(self.running.get() + 1);
        let connection = self.clone();
        tokio::task::spawn_local(async move {
            let result = connection.call(&method, params).await;
            connection.answer(id, result).await;
            connection.running.set(connection.running.get() - 1);
        });
    }

    fn take_answer(&self, id: &Json, mut message: Map<String, Json>) {
        let waiting = id.as_u64().and_then(|id| self.waiting.borrow_mut().remove(&id));
        let Some(waiting) = waiting else {
            return tracing::warn!(%id, "the editor answered a request that is not open");
        };
        let result = match message.remove("error") {
            Some(error) => Err(Failure::new(error["message"].as_str().unwrap_or("the editor failed"))),
            None => Ok(message.remove("result").unwrap_or_default()),
        };
        // The request may have been given up.
        drop(waiting.send(result));
    }

    /// Sends a request to the editor and waits for the answer.
    pub(super) async fn request(&self, method: &str, params: Json) -> Result<Json, Failure> {
        let id = self.next_id.replace(self.next_id.get() + 1);
        let (send, answered) = oneshot::channel();
        self.waiting.borrow_mut().insert(id, send);
        let open = OpenRequest { connection: self, id };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let answer = answered.await;
        drop(open);
        answer.unwrap_or_else(|_| Err(Failure::new("the editor is gone")))
    }

    /// Sends an update of a session.
    pub(super) async fn update(&self, session: &str, update: Json) {
        let params = json!({"sessionId": session, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params})).await;
    }

    async fn answer(&self, id: Json, result: Result<Json, Failure>) {
        let message = match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(failure) => {
                let error = json!({"code": code(failure.kind), "message": failure.message});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        };
        self.send(&message).await;
    }

    async fn send(&self, message: &Json) {
        let mut frame = message.to_string().into_bytes();
        frame.push(b'\n');
        let outbox = self.outbox.borrow().clone();
        if let Some(outbox) = outbox
            && !outbox.send(frame).await
        {
            tracing::debug!("the editor is gone");
        }
    }

    /// Returns an open session.
    pub(super) fn session(&self, id: &str) -> Result<Rc<AcpSession>, Failure> {
        let session = self.sessions.borrow().get(id).cloned();
        session.ok_or_else(|| {
            let text = format!("session {id} is not open; `session/load` or `session/resume` opens it");
            Failure::of(FailureKind::NoSession, text)
        })
    }

    /// Stops all sessions and answers nothing more.
    pub(super) async fn shut_down(&self) {
        self.waiting.borrow_mut().clear();
        let sessions: Vec<Rc<AcpSession>> =
            self.sessions.borrow_mut().drain().map(|(_, open)| open).collect();
        for session in sessions {
            session.close().await;
        }
        self.outbox.take();
    }
}

/// A request that waits for its answer. Dropping it forgets the request.
struct OpenRequest<'c> {
    connection: &'c Connection,
    id: u64,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        self.connection.waiting.borrow_mut().remove(&self.id);
    }
}

fn params(message: &mut Map<String, Json>) -> Map<String, Json> {
    match message.remove("params") {
        Some(Json::Object(params)) => params,
        _ => Map::new(),
    }
}

/// Returns the error code of the protocol.
fn code(kind: FailureKind) -> i64 {
    match kind {
        FailureKind::NoSession => -32002,
        FailureKind::Cancelled => FailureKind::Failed.code(),
        kind => kind.code(),
    }
}

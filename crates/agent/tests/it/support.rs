//! A scripted model that records its requests, and helpers of the tests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use offshoot_agent::agent::Agent;
use offshoot_agent::approval::Approver;
use offshoot_agent::event::Events;
use offshoot_agent::model::{
    AnswerEvent, AnswerStream, BlockEnd, BlockStart, Model, ModelError, ModelSpec, Price, Request,
    StopReason, ThinkingLevel, Usage,
};
use offshoot_agent::permission::{Mode, Permissions};
use serde_json::{Value as Json, json};
use session_tree::{Message, Options, Position, Session, Timestamp};
use testkit::clock::TickingClock;
use testkit::ids::CountingIds;

/// A reply of the model.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A text.
    Text(&'static str),
    /// A text and tool calls: id, name, arguments.
    Calls(&'static str, Vec<(&'static str, &'static str, Json)>),
    /// A text that reaches the output limit.
    Cut(&'static str),
    /// A text and tool calls (id, name, arguments as text) that reach the output limit: the last call is incomplete.
    CutCalls(&'static str, Vec<(&'static str, &'static str, &'static str)>),
    /// The start of a text, then an error.
    Fails(&'static str, ModelError),
    /// The start of a text, then nothing until it is cancelled.
    Hangs(&'static str),
}

/// A model that follows a script.
#[derive(Debug)]
pub(crate) struct Scripted {
    spec: ModelSpec,
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Request>>,
    usage: Mutex<Usage>,
    /// The maximum size of a request in bytes; longer ones overflow.
    longest: Mutex<usize>,
}

impl Scripted {
    pub(crate) fn new(replies: Vec<Reply>) -> Arc<Self> {
        let spec = ModelSpec {
            provider: "prov".into(),
            id: "mod".into(),
            name: "Scripted".into(),
            api: "test".into(),
            context_window: 100_000,
            max_output: 8_000,
            thinking_levels: vec![ThinkingLevel::Off, ThinkingLevel::High],
            reads_images: true,
            price: Price { input: 1.0, output: 2.0, cache_read: 0.0, cache_write: 0.0 },
        };
        Arc::new(Scripted {
            spec,
            replies: Mutex::new(replies.into()),
            requests: Mutex::default(),
            usage: Mutex::new(Usage { input: 10, output: 5, cache_read: 0, cache_write: 0 }),
            longest: Mutex::new(usize::MAX),
        })
    }

    /// Creates a model with a context window of this many tokens.
    pub(crate) fn with_window(context_window: u64, replies: Vec<Reply>) -> Arc<Self> {
        let plain = Arc::into_inner(Self::new(replies)).unwrap();
        Arc::new(Scripted { spec: ModelSpec { context_window, ..plain.spec }, ..plain })
    }

    /// Refuses requests of more bytes as too long. They consume no reply.
    pub(crate) fn accepts(&self, bytes: usize) {
        *self.longest.lock().unwrap() = bytes;
    }

    /// Returns true if a request is too long.
    pub(crate) fn refuses(&self, request: &Request) -> bool {
        let length: usize = request.messages.iter().map(|message| message.text().len()).sum();
        length > *self.longest.lock().unwrap()
    }

    /// Creates another model without replies.
    pub(crate) fn named(id: &str) -> Arc<Self> {
        let plain = Arc::into_inner(Self::new(Vec::new())).unwrap();
        Arc::new(Scripted { spec: ModelSpec { id: id.into(), ..plain.spec }, ..plain })
    }

    /// Skips the next replies.
    pub(crate) fn skip(&self, count: usize) {
        drop(self.replies.lock().unwrap().drain(..count));
    }

    /// Sets the input tokens that the next answers report.
    pub(crate) fn uses(&self, input: u64) {
        self.usage.lock().unwrap().input = input;
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Formats the conversation of a request: role and text of every message.
    pub(crate) fn asked(&self, number: usize) -> Vec<String> {
        self.requests()[number].messages.iter().map(spelled).collect()
    }
}

pub(crate) fn spelled(message: &Message) -> String {
    format!("{}: {}", message.role(), message.text())
}

impl Model for Scripted {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn answer(&self, request: Request) -> AnswerStream {
        let is_refused = self.refuses(&request);
        self.requests.lock().unwrap().push(request);
        if is_refused {
            return Box::pin(stream::iter([Err(overflow())]));
        }
        let reply = self.replies.lock().unwrap().pop_front().unwrap_or(Reply::Text("(the script is over)"));
        let usage = AnswerEvent::Usage(*self.usage.lock().unwrap());
        let said = |text: &str| {
            vec![
                Ok(AnswerEvent::Begin { response_id: None }),
                Ok(AnswerEvent::BlockStart { index: 0, block: BlockStart::Text }),
                Ok(AnswerEvent::BlockDelta { index: 0, text: text.into() }),
            ]
        };
        let ended = |index| Ok(AnswerEvent::BlockEnd { index, end: BlockEnd::default() });
        let stop = |stop| Ok(AnswerEvent::End { stop });
        let events: Vec<Result<AnswerEvent, ModelError>> = match reply {
            Reply::Text(text) => [said(text), vec![ended(0), Ok(usage), stop(StopReason::Stop)]].concat(),
            Reply::Cut(text) => [said(text), vec![ended(0), Ok(usage), stop(StopReason::Length)]].concat(),
            Reply::Calls(text, calls) => {
                let mut events = said(text);
                events.push(ended(0));
                for (number, (id, name, arguments)) in calls.into_iter().enumerate() {
                    let index = number + 1;
                    let block = BlockStart::ToolCall { id: id.into(), name: name.into() };
                    events.push(Ok(AnswerEvent::BlockStart { index, block }));
                    events.push(Ok(AnswerEvent::BlockDelta { index, text: arguments.to_string() }));
                    events.push(ended(index));
                }
                events.extend([Ok(usage), stop(StopReason::ToolUse)]);
                events
            }
            Reply::CutCalls(text, calls) => {
                let mut events = said(text);
                let last = calls.len();
                for (number, (id, name, arguments)) in calls.into_iter().enumerate() {
                    let index = number + 1;
                    let block = BlockStart::ToolCall { id: id.into(), name: name.into() };
                    events.extend([ended(number), Ok(AnswerEvent::BlockStart { index, block })]);
                    events.push(Ok(AnswerEvent::BlockDelta { index, text: arguments.into() }));
                }
                events.extend([ended(last), Ok(usage), stop(StopReason::Length)]);
                events
            }
            Reply::Fails(text, error) => [said(text), vec![Ok(usage), Err(error)]].concat(),
            Reply::Hangs(text) => {
                use futures_util::StreamExt;
                return Box::pin(
                    stream::iter([said(text), vec![Ok(usage)]].concat()).chain(stream::pending()),
                );
            }
        };
        Box::pin(stream::iter(events))
    }
}

/// Creates an empty session with sequential ids and a stepping clock.
pub(crate) fn empty() -> Session {
    options().in_memory("/w").unwrap()
}

fn options() -> Options {
    let clock = TickingClock::new(Timestamp::from_millis(1_735_689_600_000), 1_000);
    Options::new().clock(clock).ids(CountingIds::default())
}

pub(crate) fn agent(session: Session, model: &Arc<Scripted>) -> Agent {
    let model: Arc<dyn Model> = model.clone();
    let agent = Agent::new(session, "/w").with_model(model, ThinkingLevel::Off);
    agent.with_system("You are a test.").with_approver(allow_all())
}

/// An approver that allows every call.
pub(crate) fn allow_all() -> Arc<dyn Approver> {
    Arc::new(Permissions::new(Mode::AllowAll))
}

pub(crate) fn prompt(text: &str) -> Vec<Message> {
    vec![Message::user(text).with_time(Timestamp::from_millis(1))]
}

/// Formats the path: role and start of every message, other entries by their type.
pub(crate) fn path(session: &Session) -> Vec<String> {
    let nodes = session.branch_path(Position::Leaf);
    let spell = |node| {
        let entry = session.entry_at(node).unwrap();
        match entry.message().map(|message| Message::parse(message.raw()).unwrap()) {
            Some(message) => spelled(&message),
            None => entry.type_name().into_owned(),
        }
    };
    nodes.into_iter().map(spell).collect()
}

/// Records events as text.
pub(crate) fn watched() -> (Events, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = seen.clone();
    let watcher = Events::new(move |event| {
        let value = event.event.to_json();
        // Its position in the stream depends on timing.
        if value["type"] == "queue_changed" {
            return;
        }
        into.lock().unwrap().push(value["type"].as_str().unwrap().to_owned());
    });
    (watcher, seen)
}

pub(crate) fn overloaded() -> ModelError {
    ModelError::Service { service: "s".into(), status: 529, message: "busy".into(), retry_after: None }
}

/// A permanent failure.
pub(crate) fn refused() -> ModelError {
    ModelError::Refused { service: "s".into(), status: 400, message: "no".into() }
}

pub(crate) fn overflow() -> ModelError {
    ModelError::Overflow { message: "prompt is too long".into() }
}

pub(crate) fn usage_of(session: &Session) -> Json {
    let entry = session.leaf_entry().unwrap().unwrap();
    json!(entry.message().unwrap().get("usage").unwrap().to_serde())
}

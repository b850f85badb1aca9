#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod message;
mod sessions;

use std::sync::Arc;
use std::thread;

use futures_channel::oneshot;
use rig_core::completion::Message;
use rig_core::id::ConversationId;
use rig_core::memory::{ConversationMemory, MemoryError};
use rig_core::wasm_compat::WasmBoxedFuture;
use session_tree::{Draft, Problem, Session, Severity};

pub use error::{Error, Result};
#[cfg(feature = "postgres")]
pub use session_tree_postgres::Address;
#[cfg(feature = "postgres")]
pub use sessions::PostgresSessions;
pub use sessions::{FileSessions, Sessions};

use sessions::{failed, is_taken};

/// A durable [`ConversationMemory`]: each conversation is a session of `session-tree`.
///
/// Each operation opens the session, and runs on a new thread, because files and databases block. An operation that has begun is
/// completed even if its future is dropped. Clones share nothing but the place of the sessions.
#[derive(Debug, Clone)]
pub struct SessionMemory {
    sessions: Arc<dyn Sessions>,
}

impl SessionMemory {
    /// Keeps conversations in the files of a directory.
    pub fn files(directory: impl Into<std::path::PathBuf>) -> Self {
        Self::new(FileSessions::new(directory))
    }

    /// Keeps conversations in a PostgreSQL database, in which [`session_tree_postgres::init`] has created the tables.
    ///
    /// # Errors
    ///
    /// Fails if the text is no address, such as `postgres://ann@db.example/team?sslmode=verify-full`.
    #[cfg(feature = "postgres")]
    pub fn postgres(address: &str) -> Result<Self, session_tree_postgres::Error> {
        Ok(Self::new(PostgresSessions::new(Address::parse(address)?)))
    }

    /// Keeps conversations in any other place.
    pub fn new(sessions: impl Sessions) -> Self {
        Self { sessions: Arc::new(sessions) }
    }

    /// Runs an operation on a new thread.
    fn run<T: Send + 'static>(
        &self,
        conversation: &ConversationId,
        operation: impl FnOnce(&dyn Sessions, &str) -> Result<T> + Send + 'static,
    ) -> WasmBoxedFuture<'static, Result<T, MemoryError>> {
        let (sessions, conversation) = (Arc::clone(&self.sessions), conversation.clone());
        Box::pin(async move {
            let broken = |reason: String| MemoryError::backend(Error::Thread { reason });
            let (sender, receiver) = oneshot::channel();
            let started = thread::Builder::new().name("session-memory".to_owned()).spawn(move || {
                // The future may have been dropped.
                drop(sender.send(operation(&*sessions, conversation.as_str())));
            });
            started.map_err(|error| broken(error.to_string()))?;
            receiver.await.map_err(|_| broken("it ended early".to_owned()))?.map_err(MemoryError::backend)
        })
    }
}

impl ConversationMemory for SessionMemory {
    fn load<'a>(&'a self, id: &'a ConversationId) -> WasmBoxedFuture<'a, Result<Vec<Message>, MemoryError>> {
        self.run(id, load)
    }

    fn append<'a>(
        &'a self,
        id: &'a ConversationId,
        messages: Vec<Message>,
    ) -> WasmBoxedFuture<'a, Result<(), MemoryError>> {
        self.run(id, move |sessions, conversation| append(sessions, conversation, &messages))
    }

    /// Moves the leaf to the start. The history stays in the session, as a branch.
    fn clear<'a>(&'a self, id: &'a ConversationId) -> WasmBoxedFuture<'a, Result<(), MemoryError>> {
        self.run(id, clear)
    }
}

fn load(sessions: &dyn Sessions, conversation: &str) -> Result<Vec<Message>> {
    let Some(session) = sessions.open_read_only(conversation)? else { return Ok(Vec::new()) };
    let messages = message::read(&session, conversation)?;
    check(&session, conversation)?;
    Ok(messages)
}

/// The engine's reason for a line that ends too early.
const CUT_OFF: &str = "unexpected end of text";

/// Fails if the session may lack messages. Lines that are read for the first time may turn out to be damaged.
///
/// The beginning of a line is no loss: its writer died, and the append never returned.
fn check(session: &Session, conversation: &str) -> Result<()> {
    let is_loss = |problem: &Problem| match problem {
        Problem::TornTail | Problem::NotJson { reason: CUT_OFF } => false,
        Problem::Orphan { .. } | Problem::Cycle { .. } | Problem::NoMessage { .. } => true,
        other => other.severity() == Severity::Damage,
    };
    match session.diagnostics().into_iter().find(|diagnostic| is_loss(&diagnostic.problem)) {
        None => Ok(()),
        Some(diagnostic) => Err(Error::Damaged {
            conversation: conversation.to_owned(),
            location: session.location().into_owned(),
            diagnostic: Box::new(diagnostic),
        }),
    }
}

fn append(sessions: &dyn Sessions, conversation: &str, messages: &[Message]) -> Result<()> {
    let drafts = message::drafts(conversation, messages)?;
    if drafts.is_empty() {
        return Ok(());
    }
    if let Some(session) = sessions.open(conversation)? {
        return extend(session, conversation, &drafts);
    }
    let created = sessions.create(conversation).and_then(|session| extend(session, conversation, &drafts));
    match created {
        // Another program has just created the session.
        Err(error) if is_taken(&error) => match sessions.open(conversation)? {
            Some(session) => extend(session, conversation, &drafts),
            None => Err(error),
        },
        result => result,
    }
}

/// Appends to the end, so that programs that share a conversation continue each other instead of making branches.
fn extend(mut session: Session, conversation: &str, drafts: &[Draft]) -> Result<()> {
    session.append_batch_to_end(drafts).map_err(failed(conversation))?;
    session.sync().map_err(failed(conversation))
}

fn clear(sessions: &dyn Sessions, conversation: &str) -> Result<()> {
    let Some(mut session) = sessions.open(conversation)? else { return Ok(()) };
    session.reset_leaf();
    session.mark_leaf().map_err(failed(conversation))?;
    Ok(())
}

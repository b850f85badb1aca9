//! The sessions of conversations: where they are, how they are opened and created.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use session_tree::{Error as SessionError, NewSession, Options, Session, is_valid_session_id};

use crate::error::{Error, Result};

/// The longest name of a session in bytes. File systems allow 255 with the extension.
const LONGEST_NAME: usize = 240;

/// A place that has a session for each conversation.
///
/// A session that is kept elsewhere, in any [journal](session_tree::journal::Journal), implements this trait.
pub trait Sessions: fmt::Debug + Send + Sync + 'static {
    /// Opens the session of a conversation for reading. None if the conversation has no session yet.
    ///
    /// # Errors
    ///
    /// Fails if there is a session that cannot be opened.
    fn open_read_only(&self, conversation: &str) -> Result<Option<Session>>;

    /// Opens the session of a conversation for reading and writing. None if the conversation has no session yet.
    ///
    /// # Errors
    ///
    /// Fails if there is a session that cannot be opened.
    fn open(&self, conversation: &str) -> Result<Option<Session>>;

    /// Prepares a session for a conversation that has none. It is stored with its first message, or fails then if another
    /// program has stored one.
    ///
    /// # Errors
    ///
    /// Fails if the conversation has a session, or none can be created.
    fn create(&self, conversation: &str) -> Result<Session>;
}

/// Conversations as session files of one directory.
#[derive(Debug, Clone)]
pub struct FileSessions {
    directory: PathBuf,
}

impl FileSessions {
    /// Keeps sessions in a directory, which is created with the first message.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the file of a conversation.
    ///
    /// # Errors
    ///
    /// [`Error::BadId`] if no file can be named after the conversation.
    pub fn path(&self, conversation: &str) -> Result<PathBuf> {
        Ok(self.directory.join(format!("{}.jsonl", session_name(conversation)?)))
    }

    fn existing(
        &self,
        conversation: &str,
        open: impl FnOnce(&Path) -> session_tree::Result<Session>,
    ) -> Result<Option<Session>> {
        let path = self.path(conversation)?;
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // Any other failure is explained by opening the file.
            _ => open(&path).map(Some).map_err(failed(conversation)),
        }
    }
}

impl Sessions for FileSessions {
    fn open_read_only(&self, conversation: &str) -> Result<Option<Session>> {
        self.existing(conversation, |path| Options::new().open_read_only(path))
    }

    fn open(&self, conversation: &str) -> Result<Option<Session>> {
        self.existing(conversation, |path| Options::new().open(path))
    }

    fn create(&self, conversation: &str) -> Result<Session> {
        let path = self.path(conversation)?;
        Options::new().create(path, new_session(conversation)).map_err(failed(conversation))
    }
}

/// Conversations as sessions of a PostgreSQL database.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresSessions {
    database: session_tree_postgres::Address,
}

#[cfg(feature = "postgres")]
impl PostgresSessions {
    /// Keeps sessions in a database, in which [`session_tree_postgres::init`] has created the tables.
    pub fn new(database: session_tree_postgres::Address) -> Self {
        Self { database }
    }

    fn journal(&self, conversation: &str) -> Result<Option<session_tree_postgres::PostgresJournal>> {
        use session_tree_postgres::{Error as DatabaseError, PostgresJournal};
        match PostgresJournal::open(&self.database.with_session(session_name(conversation)?)) {
            Err(DatabaseError::NoSession { .. }) => Ok(None),
            opened => opened.map(Some).map_err(|error| failed(conversation)(error.into())),
        }
    }
}

#[cfg(feature = "postgres")]
impl Sessions for PostgresSessions {
    fn open_read_only(&self, conversation: &str) -> Result<Option<Session>> {
        let journal = self.journal(conversation)?;
        // A database reads the path to the leaf only.
        journal
            .map(|journal| Options::new().open_journal_path(journal))
            .transpose()
            .map_err(failed(conversation))
    }

    fn open(&self, conversation: &str) -> Result<Option<Session>> {
        let journal = self.journal(conversation)?;
        journal.map(|journal| Options::new().open_journal(journal)).transpose().map_err(failed(conversation))
    }

    fn create(&self, conversation: &str) -> Result<Session> {
        let address = self.database.with_session(session_name(conversation)?);
        session_tree_postgres::PostgresJournal::create(&address)
            .map_err(session_tree::Error::from)
            .and_then(|journal| Options::new().create_journal(journal, new_session(conversation)))
            .map_err(failed(conversation))
    }
}

/// Returns a function that names the conversation in an error of the engine.
pub(crate) fn failed(conversation: &str) -> impl FnOnce(SessionError) -> Error {
    let conversation = conversation.to_owned();
    move |source| Error::Session { conversation, source }
}

/// Returns true if an error says that a session exists already.
pub(crate) fn is_taken(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let is_session = matches!(error.downcast_ref(), Some(SessionError::Exists { .. }));
        let is_file = error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::AlreadyExists);
        if is_session || is_file {
            return true;
        }
        cause = error.source();
    }
    false
}

fn new_session(conversation: &str) -> NewSession {
    let cwd = std::env::current_dir().map(|cwd| cwd.display().to_string()).unwrap_or_default();
    // Commands of offshoot find a session by its id.
    let id = is_valid_session_id(conversation).then(|| conversation.to_owned());
    NewSession { cwd, id, parent_session: None }
}

/// Returns the name of the session of a conversation: the id, in which bytes that a file name should not have are written
/// as `%` and two digits. Different ids give different names, also where the file system ignores case.
fn session_name(conversation: &str) -> Result<String> {
    let bad = |reason| Error::BadId { id: conversation.to_owned(), reason };
    if conversation.is_empty() {
        return Err(bad("it is empty"));
    }
    let mut name = String::with_capacity(conversation.len());
    for (index, byte) in conversation.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => name.push(char::from(byte)),
            b'.' if index > 0 => name.push('.'),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.len() > LONGEST_NAME {
        return Err(bad("it is too long; 240 lower-case letters fit, other characters count three times"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests;

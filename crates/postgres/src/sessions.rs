//! The sessions of a database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use session_tree::journal::ReadAt;
use session_tree::{Options, SessionSummary};
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use crate::address::{Address, session_place};
use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::journal::PostgresJournal;
use crate::transaction;

/// A session in the list of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// The last part of its address.
    pub name: String,
    /// The row of the session in lists. Its path is the address, without secrets.
    pub summary: SessionSummary,
    /// The time at which it came into the database.
    pub created: SystemTime,
    /// The time of the last append.
    pub changed: SystemTime,
}

/// Lists the sessions that the role of an address may see, the last changed first.
///
/// The rows of sessions hold their summaries. Only after branches were added, or for a new fork, a session is read, once, and
/// its row updated.
///
/// # Errors
///
/// Fails if the database cannot be used.
pub fn sessions(address: &Address) -> Result<Vec<StoredSession>> {
    let address = address.without_session();
    let connection = Arc::new(Connection::new(address.clone()));
    let list = "SELECT name, length, created, changed, summary, is_counted, id FROM offshoot.session";
    let rows = connection.run(true, move |link| async move { link.client.query_typed(list, &[]).await })?;
    let database = address.to_string();
    let mut sessions = Vec::with_capacity(rows.len());
    for row in &rows {
        let (name, length): (String, i64) = (row.get(0), row.get(1));
        let summary = row.get::<_, Option<&[u8]>>(4).and_then(SessionSummary::decode);
        let mut summary = match summary {
            Some(summary) if row.get(5) => summary,
            known => match count_again(&address.with_session(&name), known, &connection, row.get(6), length)?
            {
                Some(summary) => summary,
                // Another client deleted it.
                None => continue,
            },
        };
        summary.path = PathBuf::from(session_place(&database, &name));
        (summary.size, summary.is_complete) = (length as u64, true);
        sessions.push(StoredSession { name, summary, created: row.get(2), changed: row.get(3) });
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.changed));
    Ok(sessions)
}

/// Counts the branches of a session again, or makes all of its summary, and stores it unless the session has grown.
fn count_again(
    address: &Address,
    known: Option<SessionSummary>,
    connection: &Arc<Connection>,
    id: Uuid,
    length: i64,
) -> Result<Option<SessionSummary>> {
    let journal = match PostgresJournal::open_with(address, Arc::clone(connection)) {
        Err(Error::NoSession { .. }) => return Ok(None),
        journal => journal?,
    };
    let failed = |error: &dyn std::error::Error| Error::Refused {
        database: connection.database().to_owned(),
        reason: crate::address::chain(error),
    };
    let summary = match known {
        Some(mut summary) => {
            let session = Options::new().open_journal_read_only(journal).map_err(|error| failed(&error))?;
            summary.tip_count = session.tree().tips().len() as u64;
            summary
        }
        None => {
            let mut bytes = vec![0; length as usize];
            let mut filled = 0;
            while filled < bytes.len() {
                match journal.read_at(filled as u64, &mut bytes[filled..]).map_err(|error| failed(&error))? {
                    0 => return Ok(None),
                    read => filled += read,
                }
            }
            SessionSummary::of_bytes(&bytes).map_err(|error| failed(&error))?
        }
    };
    let encoded = Arc::new(summary.encode());
    let stored = connection.run(true, move |link| {
        let encoded = Arc::clone(&encoded);
        async move {
            let store =
                "UPDATE offshoot.session SET summary = $3, is_counted = true WHERE id = $1 AND length = $2";
            let parameters: [(&(dyn ToSql + Sync), Type); 3] =
                [(&id, Type::UUID), (&length, Type::INT8), (&*encoded, Type::BYTEA)];
            link.client.execute_typed(store, &parameters).await
        }
    });
    match stored {
        // A replica cannot store it.
        Ok(_) | Err(Error::ReadOnly { .. }) => Ok(Some(summary)),
        Err(error) => Err(error),
    }
}

/// Deletes the session of an address for good. Its forks keep the lines that they share with it.
///
/// # Errors
///
/// Fails if there is no such session, or the database cannot be used.
pub fn delete(address: &Address) -> Result<()> {
    let name = address.required_session()?;
    let connection = Connection::new(address.clone());
    let wanted: Arc<str> = name.into();
    let was_there = connection.run(false, move |link| {
        let wanted = Arc::clone(&wanted);
        async move { transaction::delete(&link, &wanted).await }
    })?;
    match was_there {
        true => Ok(()),
        false => Err(Error::NoSession { database: connection.database().to_owned(), name: name.to_owned() }),
    }
}

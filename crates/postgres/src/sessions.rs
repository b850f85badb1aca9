//! The sessions of a database.

use std::sync::Arc;
use std::time::SystemTime;

use session_tree::json::Cursor;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::transaction;

/// A session in the list of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// The last part of its address.
    pub name: String,
    /// The working directory of its header.
    pub cwd: Option<String>,
    /// The number of bytes.
    pub length: u64,
    /// The time at which it came into the database.
    pub created: SystemTime,
    /// The time of the last append.
    pub changed: SystemTime,
}

/// Lists the sessions that the role of an address may see, the last changed first.
///
/// # Errors
///
/// Fails if the database cannot be used.
pub fn sessions(address: &Address) -> Result<Vec<StoredSession>> {
    let connection = Connection::new(address.without_session());
    let list = "SELECT s.name, s.length, s.created, s.changed, coalesce(l.line, f.line) FROM offshoot.session s \
         LEFT JOIN offshoot.line l ON l.log = s.log AND l.position = 0 \
         LEFT JOIN offshoot.part p ON p.session = s.id AND p.position = 0 \
         LEFT JOIN offshoot.line f ON f.log = p.source_log AND f.position = p.source_position \
         ORDER BY s.changed DESC";
    let rows = connection.run(true, move |link| async move { link.client.query(list, &[]).await })?;
    let session = |row: &tokio_postgres::Row| {
        let header: Option<&[u8]> = row.get(4);
        let cwd = header.and_then(|header| Cursor::new(header).get("cwd")?.as_str());
        StoredSession {
            name: row.get(0),
            cwd: cwd.map(Into::into),
            length: row.get::<_, i64>(1) as u64,
            created: row.get(2),
            changed: row.get(3),
        }
    };
    Ok(rows.iter().map(session).collect())
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

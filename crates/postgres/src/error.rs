//! Errors.

use std::io;

use tokio_postgres::error::SqlState;

use crate::address::chain;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the database or on the way to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be read.
    #[error("not an address of a PostgreSQL database: {reason}")]
    Address {
        /// The problem. It does not contain the address.
        reason: String,
    },
    /// The server does not accept the user or the password.
    #[error("{database} does not accept the user or the password: {reason}")]
    Login {
        /// The database.
        database: String,
        /// The message of the server.
        reason: String,
    },
    /// The database does not exist.
    #[error("the database {database} does not exist")]
    NoDatabase {
        /// The database.
        database: String,
    },
    /// The thread that runs the connections does not work.
    #[error("the thread of the database connections does not work: {reason}")]
    Thread {
        /// The reason.
        reason: String,
    },
    /// The server cannot be reached, or closed the connection.
    #[error("no connection to {database}: {reason}")]
    Connection {
        /// The database.
        database: String,
        /// The reason.
        reason: String,
    },
    /// The database has no schema for sessions.
    #[error("{database} has no tables for sessions")]
    NoSchema {
        /// The database.
        database: String,
    },
    /// The schema of the database is older or newer than this program's.
    #[error("the tables of {database} have version {found}; this program uses version {expected}")]
    SchemaVersion {
        /// The database.
        database: String,
        /// The version of the database.
        found: i32,
        /// The version of this program.
        expected: i32,
    },
    /// The login role belongs to no tenant.
    #[error("the role {role} belongs to no tenant of {database}")]
    NoTenant {
        /// The database.
        database: String,
        /// The login role.
        role: String,
    },
    /// The server only reads: it is a replica, or was set so.
    #[error("{database} is read-only: {reason}")]
    ReadOnly {
        /// The database.
        database: String,
        /// The message of the server.
        reason: String,
    },
    /// There is no such session.
    #[error("there is no session {name} in {database}")]
    NoSession {
        /// The database.
        database: String,
        /// The session.
        name: String,
    },
    /// A session of this name exists.
    #[error("a session {name} exists in {database}")]
    SessionExists {
        /// The database.
        database: String,
        /// The session.
        name: String,
    },
    /// The lock of a session is held by another transaction.
    #[error("another client holds the lock of the session")]
    Locked,
    /// The server refused a statement for another reason: a full disk, a timeout, missing rights.
    #[error("{database} refused a statement: {reason}")]
    Refused {
        /// The database.
        database: String,
        /// The message of the server.
        reason: String,
    },
}

impl Error {
    /// Classifies an error of the driver.
    pub(crate) fn of(database: &str, error: &tokio_postgres::Error) -> Self {
        let database = database.to_owned();
        let Some(server) = error.as_db_error() else {
            let reason = chain(error);
            // The driver has no other sign of a server that asks for a password when the address has none.
            return match reason.contains("password missing") {
                true => Error::Login { database, reason: "no password is given".to_owned() },
                false => Error::Connection { database, reason },
            };
        };
        let reason = match server.detail().or(server.hint()) {
            Some(more) => format!("{} ({more})", server.message()),
            None => server.message().to_owned(),
        };
        let code = server.code();
        match code {
            _ if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
                .contains(code) =>
            {
                Error::Login { database, reason }
            }
            _ if *code == SqlState::INVALID_CATALOG_NAME => Error::NoDatabase { database },
            _ if *code == SqlState::LOCK_NOT_AVAILABLE => Error::Locked,
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Error::ReadOnly { database, reason },
            _ if [SqlState::INVALID_SCHEMA_NAME, SqlState::UNDEFINED_TABLE].contains(code) => {
                Error::NoSchema { database }
            }
            // The server is starting or stopping, or an administrator ended the connection.
            _ if code.code().starts_with("57P") || code.code().starts_with("08") => {
                Error::Connection { database, reason }
            }
            _ if *code == SqlState::TOO_MANY_CONNECTIONS => Error::Connection { database, reason },
            _ => Error::Refused { database, reason },
        }
    }

    /// Returns true if the same request may succeed on a new connection.
    pub(crate) fn is_connection(&self) -> bool {
        matches!(self, Error::Connection { .. })
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error {
            Error::Connection { .. } => io::ErrorKind::NotConnected,
            Error::NoSession { .. } | Error::NoDatabase { .. } => io::ErrorKind::NotFound,
            Error::SessionExists { .. } => io::ErrorKind::AlreadyExists,
            Error::Login { .. } => io::ErrorKind::PermissionDenied,
            Error::ReadOnly { .. } => io::ErrorKind::ReadOnlyFilesystem,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

impl From<Error> for session_tree::Error {
    fn from(error: Error) -> Self {
        io::Error::from(error).into()
    }
}

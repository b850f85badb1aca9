//! Sessions in a PostgreSQL database: `postgres://…/SESSION` where a path is accepted.

use std::borrow::Cow;
use std::ffi::OsStr;

use session_tree::{Options, Session};

use crate::error::CommandError;

/// Whether a session is opened to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Change,
}

#[cfg(feature = "postgres")]
pub(crate) use with_postgres::{open, parse};
#[cfg(not(feature = "postgres"))]
pub(crate) use without_postgres::open;

/// Returns the text of an address; none for a path or the name of a session.
pub(crate) fn address(wanted: &OsStr) -> Option<&str> {
    let wanted = wanted.to_str()?;
    ["postgres://", "postgresql://"].iter().any(|scheme| wanted.starts_with(scheme)).then_some(wanted)
}

/// Returns what a person gave as a session, without the password of an address.
pub(crate) fn shown(wanted: &OsStr) -> Cow<'_, str> {
    let Some(address) = address(wanted) else { return wanted.to_string_lossy() };
    // The last @ before the path ends the user and the password.
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let rest = rest.split_once('?').map_or(rest, |(place, _)| place);
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    format!("{scheme}://{host}/{path}").into()
}

#[cfg(feature = "postgres")]
mod with_postgres {
    use session_tree_postgres::{Address, Error, PostgresJournal};

    use super::{Access, CommandError, Options, Session};
    use crate::error::Failure;

    /// Opens the session of an address.
    pub(crate) fn open(address: &str, options: Options, access: Access) -> Result<Session, CommandError> {
        let journal = PostgresJournal::open(&parse(address)?)?;
        Ok(match access {
            Access::Read => options.open_journal_read_only(journal)?,
            Access::Change => options.open_journal(journal)?,
        })
    }

    /// Reads an address.
    pub(crate) fn parse(text: &str) -> Result<Address, CommandError> {
        Ok(Address::parse(text)?)
    }

    impl From<Error> for CommandError {
        fn from(error: Error) -> Self {
            let hint = match &error {
                Error::Address { .. } => Some("for example postgres://ann@db.example/team/SESSION"),
                Error::NoSchema { .. } => Some("`offshoot db init ADDRESS` creates the tables"),
                Error::SchemaVersion { found, expected, .. } if found < expected => {
                    Some("`offshoot db migrate ADDRESS` brings them up to date")
                }
                Error::SchemaVersion { .. } => Some("a newer version of offshoot uses them; update this one"),
                Error::NoTenant { .. } => {
                    Some("`offshoot db init ADDRESS --role ROLE` adds the role to a tenant")
                }
                Error::NoSession { .. } => {
                    Some("`offshoot db list ADDRESS` lists the sessions of a database")
                }
                Error::NoDatabase { .. } => Some("`createdb NAME` creates a database"),
                Error::Login { .. } => {
                    Some("the address may contain a password: postgres://USER:PASSWORD@HOST/DATABASE")
                }
                _ => None,
            };
            let failure = Failure::new(error.to_string());
            match hint {
                Some(hint) => failure.hint(hint).into(),
                None => failure.into(),
            }
        }
    }
}

#[cfg(not(feature = "postgres"))]
mod without_postgres {
    use super::{Access, CommandError, Options, Session};
    use crate::error::Failure;

    /// Refuses the session of an address.
    pub(crate) fn open(_: &str, _: Options, _: Access) -> Result<Session, CommandError> {
        let failure = Failure::new("this offshoot was built without PostgreSQL");
        Err(failure.hint("build it with the feature `postgres`").into())
    }
}

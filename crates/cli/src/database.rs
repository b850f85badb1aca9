//! Sessions in PostgreSQL databases: `postgres://…/SESSION` where a path is accepted.
//!
//! A database becomes a store of the engine. Paths in messages and files are addresses without passwords.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

#[cfg(feature = "postgres")]
pub(crate) use with_postgres::{Databases, failure};
#[cfg(not(feature = "postgres"))]
pub(crate) use without_postgres::{Databases, failure};

/// Returns the text of an address, or `None` for a path or the name of a session.
pub(crate) fn address(wanted: &OsStr) -> Option<&str> {
    let wanted = wanted.to_str()?;
    ["postgres://", "postgresql://"].iter().any(|scheme| wanted.starts_with(scheme)).then_some(wanted)
}

/// Returns true if a path is the address of a session in a database.
pub(crate) fn is_address(path: &Path) -> bool {
    address(path.as_os_str()).is_some()
}

/// Returns the given session without the password of an address.
pub(crate) fn shown(wanted: &OsStr) -> Cow<'_, str> {
    let Some(address) = address(wanted) else { return wanted.to_string_lossy() };
    // The last @ before the path ends user and password.
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let rest = rest.split_once('?').map_or(rest, |(place, _)| place);
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    format!("{scheme}://{host}/{path}").into()
}

/// Returns the command that removes a session.
pub(crate) fn remove_command(file: &str) -> String {
    let command = if is_address(Path::new(file)) { "offshoot db delete" } else { "rm" };
    format!("{command} {}", crate::change::quoted(file))
}

#[cfg(feature = "postgres")]
mod with_postgres {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use session_tree::{Catalog, Options};
    use session_tree_postgres::{Address, Error, PostgresJournal, PostgresStore};

    use crate::env::Environment;
    use crate::error::{CommandError, Failure};

    /// The databases that this run of the program uses.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct Databases(Arc<PostgresStore>);

    impl Databases {
        /// Lets a session be opened by the address of a database.
        pub(crate) fn open_with(&self, options: Options) -> Options {
            options.store(self.0.clone())
        }

        /// Reads an address. Without a password, that of `PGPASSWORD` or of the password file counts.
        pub(crate) fn parse(text: &str, env: &Environment) -> Result<Address, CommandError> {
            let address = Address::parse(text)?;
            if let Some(password) = &env.database_password {
                return Ok(address.with_default_password(password));
            }
            let file = env.password_file().filter(|path| is_private(path));
            Ok(match file.and_then(|path| fs::read_to_string(path).ok()) {
                Some(text) => address.with_password_file(&text),
                None => address,
            })
        }

        /// Adds the database of an address, and returns the address as a path without secrets.
        pub(crate) fn add(&self, text: &str, env: &Environment) -> Result<PathBuf, CommandError> {
            // A path of an earlier call keeps its password.
            match self.0.address(Path::new(text)) {
                Ok(known) if known.password().is_some() => Ok(self.0.add(&known)),
                _ => Ok(self.0.add(&Self::parse(text, env)?)),
            }
        }

        /// Returns the address of a path, with its password.
        pub(crate) fn address(&self, path: &Path) -> Result<Address, CommandError> {
            Ok(self.0.address(path)?)
        }

        /// Returns true if a path names a database rather than a session in it.
        pub(crate) fn is_database(&self, path: &Path) -> bool {
            self.0.address(path).is_ok_and(|address| address.session().is_none())
        }

        /// Returns true if the database has the session of a path.
        pub(crate) fn has_session(&self, path: &Path) -> Result<bool, CommandError> {
            match PostgresJournal::open(&self.0.address(path)?) {
                Ok(_) => Ok(true),
                Err(Error::NoSession { .. }) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }

        /// Returns the sessions of the database of a path.
        pub(crate) fn catalog(&self, path: &Path) -> Catalog {
            Catalog::of_store(self.0.clone(), path)
        }

        /// Returns the passwords of all databases.
        pub(crate) fn passwords(&self) -> Vec<String> {
            self.0.passwords()
        }

        /// Sets the directory for entries that wait for a server.
        pub(crate) fn set_spool(&self, directory: PathBuf) {
            self.0.set_spool(directory);
        }

        /// Lets sessions continue in a local file while the server is away.
        pub(crate) fn continue_offline(&self) {
            self.0.continue_offline();
        }
    }

    /// Returns true if only its owner can read a file: others are not used for passwords.
    fn is_private(path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o077 == 0)
    }

    /// Returns the failure of an error of the engine that comes from a database.
    pub(crate) fn failure(error: &session_tree::Error) -> Option<Failure> {
        let mut source = std::error::Error::source(error);
        while let Some(error) = source {
            let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            if let Some(error) = inner.and_then(|inner| inner.downcast_ref::<Error>()) {
                return Some(failure_of(error));
            }
            source = error.source();
        }
        None
    }

    impl From<Error> for CommandError {
        fn from(error: Error) -> Self {
            failure_of(&error).into()
        }
    }

    fn failure_of(error: &Error) -> Failure {
        let hint = match error {
            Error::Address { .. } => Some("for example postgres://ann@db.example/team/SESSION"),
            Error::NoSchema { .. } => Some("`offshoot db init ADDRESS` creates the tables"),
            Error::SchemaVersion { found, expected, .. } if found < expected => {
                Some("`offshoot db migrate ADDRESS` brings them up to date")
            }
            Error::SchemaVersion { .. } => Some("a newer version of offshoot uses them; update this one"),
            Error::NoTenant { .. } => {
                Some("`offshoot db init ADDRESS --role ROLE` adds the role to a tenant")
            }
            Error::NoSession { .. } => Some("`offshoot db list ADDRESS` lists the sessions of a database"),
            Error::NoDatabase { .. } => Some("`createdb NAME` creates a database"),
            Error::Login { .. } => Some("PGPASSWORD, ~/.pgpass or the address may contain a password"),
            _ => None,
        };
        hint.into_iter().fold(Failure::new(error.to_string()), Failure::hint)
    }
}

#[cfg(not(feature = "postgres"))]
mod without_postgres {
    use std::path::{Path, PathBuf};

    use session_tree::{Catalog, Options};

    use crate::env::Environment;
    use crate::error::{CommandError, Failure};

    /// No databases: this build has no driver.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct Databases {}

    impl Databases {
        pub(crate) fn open_with(&self, options: Options) -> Options {
            options
        }

        pub(crate) fn add(&self, _: &str, _: &Environment) -> Result<PathBuf, CommandError> {
            let failure = Failure::new("this offshoot was built without PostgreSQL");
            Err(failure.hint("build it with the feature `postgres`").into())
        }

        pub(crate) fn is_database(&self, _: &Path) -> bool {
            false
        }

        pub(crate) fn has_session(&self, _: &Path) -> Result<bool, CommandError> {
            Ok(false)
        }

        pub(crate) fn catalog(&self, path: &Path) -> Catalog {
            Catalog::new(path)
        }

        pub(crate) fn passwords(&self) -> Vec<String> {
            Vec::new()
        }

        pub(crate) fn set_spool(&self, _: PathBuf) {}

        pub(crate) fn continue_offline(&self) {}
    }

    /// Returns nothing: no error comes from a database.
    pub(crate) fn failure(_: &session_tree::Error) -> Option<Failure> {
        None
    }
}

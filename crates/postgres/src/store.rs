//! Databases as a store of the engine: their addresses are accepted like paths.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use session_tree::journal::{Journal, Store};
use session_tree::{CatalogStore, Result, SessionSummary};

use crate::address::Address;
use crate::error::Error;
use crate::journal::PostgresJournal;
use crate::sessions::sessions;
use crate::spool::{SpoolingJournal, recover};

/// The sessions of PostgreSQL databases, by their addresses.
///
/// The paths that the engine and its callers store and print are addresses without passwords and parameters. The store keeps
/// those of the databases that were [added](PostgresStore::add), and opens such a path with them.
#[derive(Debug, Default)]
pub struct PostgresStore {
    databases: Mutex<Vec<Address>>,
    spool: Mutex<Option<PathBuf>>,
    continues_offline: AtomicBool,
}

impl PostgresStore {
    /// Adds a database, and returns the path of the address.
    pub fn add(&self, address: &Address) -> PathBuf {
        let path = PathBuf::from(address.to_string());
        let database = address.without_session();
        let mut databases = self.databases.lock().unwrap_or_else(PoisonError::into_inner);
        databases.retain(|known| known.to_string() != database.to_string());
        databases.push(database);
        path
    }

    /// Sets the directory of spool files. Lines that a program left there when it died go to the database as soon as it is used.
    pub fn set_spool(&self, directory: PathBuf) {
        *self.spool.lock().unwrap_or_else(PoisonError::into_inner) = Some(directory);
    }

    /// Lets sessions that are opened from now on continue in a spool file while the server is away.
    pub fn continue_offline(&self) {
        self.continues_offline.store(true, Ordering::Relaxed);
    }

    /// Returns the directory of spool files, after lines that were left there went to the database of an address.
    fn spool(&self, address: &Address) -> Result<Option<PathBuf>> {
        let directory = self.spool.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(directory) = &directory {
            recover(directory, address)?;
        }
        Ok(directory.filter(|_| self.continues_offline.load(Ordering::Relaxed)))
    }

    /// Returns the passwords of all databases.
    pub fn passwords(&self) -> Vec<String> {
        let databases = self.databases.lock().unwrap_or_else(PoisonError::into_inner);
        databases.iter().filter_map(Address::password).collect()
    }

    /// Returns the address of a path, with the password and the parameters of its database.
    ///
    /// # Errors
    ///
    /// Fails if the path is no address.
    pub fn address(&self, path: &Path) -> Result<Address, Error> {
        let address = Address::parse(&path.to_string_lossy())?;
        let database = address.without_session().to_string();
        let databases = self.databases.lock().unwrap_or_else(PoisonError::into_inner);
        let known = databases.iter().find(|known| known.to_string() == database);
        Ok(match (known, address.session()) {
            (Some(known), Some(session)) => known.with_session(session),
            (Some(known), None) => known.clone(),
            (None, _) => address,
        })
    }
}

impl Store for PostgresStore {
    fn contains(&self, path: &Path) -> bool {
        path.to_str().is_some_and(Address::is_address)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Journal>> {
        let address = self.address(path)?;
        Ok(match self.spool(&address)? {
            Some(directory) => Box::new(SpoolingJournal::open(&address, &directory)?),
            None => Box::new(PostgresJournal::open(&address)?),
        })
    }

    fn create(&self, path: &Path) -> Result<Box<dyn Journal>> {
        let address = self.address(path)?;
        let journal: Result<Box<dyn Journal>, Error> = match self.spool(&address)? {
            Some(directory) => {
                SpoolingJournal::create(&address, &directory).map(|journal| Box::new(journal) as _)
            }
            None => PostgresJournal::create(&address).map(|journal| Box::new(journal) as _),
        };
        match journal {
            Err(Error::SessionExists { .. }) => Err(session_tree::Error::Exists { path: path.into() }),
            journal => Ok(journal?),
        }
    }
}

impl CatalogStore for PostgresStore {
    fn list(&self, path: &Path) -> Result<Vec<SessionSummary>> {
        let address = self.address(path)?;
        self.spool(&address)?;
        Ok(sessions(&address)?.into_iter().map(|session| session.summary).collect())
    }
}

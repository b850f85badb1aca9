//! Stores: places of sessions other than the file system.

use std::fmt;
use std::path::Path;

use super::Journal;
use crate::error::Result;

/// A place that holds sessions under addresses, such as a database.
///
/// [`Options::store`](crate::Options::store) makes every function that takes a path accept these addresses too. An address is
/// written as a path: its parent is the address of the place for new sessions.
pub trait Store: fmt::Debug + Send + Sync {
    /// Returns true if a path is an address of this store.
    fn contains(&self, path: &Path) -> bool;

    /// Opens the journal of a session.
    fn open(&self, address: &Path) -> Result<Box<dyn Journal>>;

    /// Prepares the journal of a new session. Fails with [`Error::Exists`](crate::Error::Exists) if there is one.
    fn create(&self, address: &Path) -> Result<Box<dyn Journal>>;
}

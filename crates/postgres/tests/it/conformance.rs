//! The engine's suite for journals.

use session_tree::journal::Journal;
use session_tree::journal::conformance::{Storage, run};
use session_tree_postgres::{Address, PostgresJournal};

pub(crate) struct Database(pub(crate) Address);

impl Storage for Database {
    fn create(&mut self, name: &str) -> session_tree::Result<Box<dyn Journal>> {
        Ok(Box::new(PostgresJournal::create(&self.0.with_session(name))?))
    }

    fn open(&mut self, name: &str) -> session_tree::Result<Option<Box<dyn Journal>>> {
        Ok(Some(Box::new(PostgresJournal::open(&self.0.with_session(name))?)))
    }
}

#[test]
fn a_session_in_the_database_is_a_journal() {
    let mut storage = Database(crate::database(crate::server()));
    assert_eq!(run(&mut storage).unwrap(), 41);
}

//! PostgreSQL storage for [`session_tree`]: AI conversations of a team, with many writers and tenants.
//!
//! [`PostgresJournal`] is a [`Journal`](session_tree::journal::Journal): the engine opens, appends to and branches a session
//! in a database as it does with a file.
//!
//! ```no_run
//! use session_tree::{Message, Options};
//! use session_tree_postgres::{Address, PostgresJournal};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address = Address::parse("postgres://ann@db.example/team/refactoring?sslmode=verify-full")?;
//! let mut session = Options::new().create_journal(PostgresJournal::create(&address)?, "/project")?;
//! session.append(Message::user("hello"))?;
//! # Ok(())
//! # }
//! ```
//!
//! Each line of a session is a row, with the bytes that a file would have. An append is one transaction, which locks the row
//! of the session; writers of different sessions do not wait for each other. [`init`] creates the tables. Row-level security
//! separates tenants by the role that logged in.

mod address;
mod connection;
mod error;
mod heads;
mod journal;
mod layout;
mod line;
mod schema;
mod sessions;
mod spool;
mod statements;
mod store;
mod summary;
mod tls;
mod transaction;
mod transfer;

pub use address::{Address, TlsMode};
pub use error::{Error, Result};
pub use journal::PostgresJournal;
pub use schema::{Status, VERSION, init, migrate, status};
pub use sessions::{StoredSession, delete, sessions};
pub use store::PostgresStore;
pub use transfer::{Copied, copy_missing};

//! Conversations in a PostgreSQL database.

use std::sync::Arc;
use std::sync::{Mutex, OnceLock, PoisonError, Weak};

use rig_core::completion::Message;
use rig_core::memory::ConversationMemory;
use session_tree_rig::{Address, SessionMemory};
use testkit::postgres::PostgresServer;

use super::{agent, shared};

/// A database with tables. Tests that run at the same time share a server.
struct Database {
    address: String,
    _server: Arc<PostgresServer>,
}

fn database() -> Database {
    static SERVER: OnceLock<Mutex<Weak<PostgresServer>>> = OnceLock::new();
    let mut known = SERVER.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let server = known.upgrade().unwrap_or_else(|| Arc::new(PostgresServer::start()));
    *known = Arc::downgrade(&server);
    let address = server.database();
    session_tree_postgres::init(&Address::parse(&address).unwrap(), "team", None).unwrap();
    Database { address, _server: server }
}

impl Database {
    fn memory(&self) -> SessionMemory {
        SessionMemory::postgres(&self.address).unwrap()
    }
}

#[tokio::test]
async fn a_database_stores_conversations() {
    let database = database();
    shared::stores_conversations(|| database.memory()).await;
}

#[tokio::test]
async fn a_database_can_be_cleared() {
    let database = database();
    shared::clears(|| database.memory()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_share_a_database() {
    let database = database();
    shared::shares_a_conversation(|| database.memory()).await;
}

#[tokio::test]
async fn an_agent_remembers_in_a_database() {
    let database = database();
    agent::remembers(|| database.memory()).await;
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_an_error() {
    let database = database();
    assert!(SessionMemory::postgres("mysql://host/db").is_err());
    let none = database.address.replace("/db", "/none");
    let error = SessionMemory::postgres(&none).unwrap().load(&"c".into()).await.unwrap_err().to_string();
    assert!(error.contains("does not exist"), "{error}");
    let error = SessionMemory::postgres(&none).unwrap().append(&"c".into(), vec![Message::user("a")]).await;
    assert!(error.unwrap_err().to_string().contains("does not exist"));
    let id = "x".repeat(300);
    assert!(database.memory().load(&id.as_str().into()).await.unwrap_err().to_string().contains("too long"));
}

//! Tests against a real server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conformance;
mod faults;
mod forks;
mod lists;
mod loss;
mod packs;
mod pooler;
mod sessions;
mod spool;
mod tenants;
mod transfer;

use std::sync::OnceLock;

use session_tree_postgres::{Address, init};
use testkit::postgres::PostgresServer;

/// The server of all tests that do not stop it.
fn server() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    SERVER.get_or_init(PostgresServer::start)
}

/// Returns the address of a new database with tables.
fn database(server: &PostgresServer) -> Address {
    let address = Address::parse(&server.database()).unwrap();
    init(&address, "team", None).unwrap();
    address
}

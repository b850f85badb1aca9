//! pi's RPC protocol with commands for the tree, and the same commands as JSON-RPC 2.0.
//!
//! frame -> [`Command`](protocol::Command) -> **[`Server`]** -> answer; agent -> events of pi -> all clients

mod client;
mod commands;
mod dialogs;
mod event_log;
mod events;
mod prompt;
pub mod protocol;
mod schema;
mod serve;
mod server;
mod tree;

pub use dialogs::{HostEvents, front_end};
pub use schema::schema;
pub(crate) use serve::Signals;
pub use serve::{ServerExit, Transport, serve};
pub use server::{Protocol, Server};

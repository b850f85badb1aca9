//! The Model Context Protocol in both directions.
//!
//! - [`server`]: the sessions of a user as tools and resources, over standard input and output or HTTP.
//! - [`client`]: servers of other programs, whose tools the agent may call.
//!
//! ```text
//!   another agent ──▶ server ──▶ session-view, session-tree      agent ──▶ client ──▶ servers of others
//! ```
//!
//! The protocol itself is the crate `rmcp`. Rules about sessions are in `session-tree` and `session-view`, rules about
//! tool calls in `offshoot-agent`; this crate has none.
#![forbid(unsafe_code)]

pub mod client;
pub mod server;

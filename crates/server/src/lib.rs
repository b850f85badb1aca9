//! The agent as a service for other programs: adapters between wire protocols and the handle of an agent.
//!
//! client -> frame -> command -> **[`AgentHandle`](offshoot_agent::handle::AgentHandle)** -> events -> frame -> client
//!
//! Has no rule of the domain. Settings, models, files and commands of the program come through the trait [`Program`].
#![forbid(unsafe_code)]

pub mod acp;
pub mod failure;
mod frame;
mod outbox;
mod page;
pub mod program;
pub mod rpc;
pub mod sessions;

pub use failure::{Failure, FailureKind};
pub use program::Program;

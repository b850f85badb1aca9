//! Extensions in TypeScript and JavaScript, each in an engine of its own with limits.
//!
//! file -> strip -> engine <- worker <- [`Extension`] -> [hooks](offshoot_agent::hooks)
//!
//! The API is that of pi: the packages that its extensions import are ours. Every extension has its own thread, memory
//! and time; one that breaks is put out of use and named, and the agent goes on.
//!
//! This crate never touches a terminal, a session file or a model by itself: all of that is behind [`Host`](host::Host).
#![forbid(unsafe_code)]

mod bus;
mod command;
mod component;
pub mod discover;
mod engine;
mod extension;
mod handle;
pub mod host;
mod limits;
mod load;
mod process;
mod registry;
mod source;
mod strip;
mod tool;
mod width;
mod worker;

pub use component::Component;
pub use extension::{Drawing, Extension};
pub use limits::Limits;
pub use load::{Extensions, LoadError, LoadOptions};
pub use registry::{CommandSpec, RegisteredTool, Registry, ShortcutSpec};

/// The type declarations of everything that extensions may use.
pub const DECLARATIONS: &str = include_str!("../offshoot.d.ts");

#[cfg(test)]
mod tests;

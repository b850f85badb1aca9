//! Extensions in TypeScript and JavaScript, each in a separate engine with limits.
//!
//! file -> strip -> engine <- worker <- [`Extension`] -> [hooks](offshoot_agent::hooks)
//!
//! Extensions that need more than the embedded engine run in a child process of Node: worker <- `node` <- pipe <- script.
//!
//! The API is that of pi: the packages that its extensions import are ours. Every extension has its own thread, memory
//! and time; one that breaks is put out of use and named, and the agent goes on.
//!
//! This crate never touches a terminal, a session file or a model by itself: all of that is behind [`Host`](host::Host).
//!
//! The feature `engine` (on by default) is the JavaScript engine. Without it extensions are found but not loaded, and
//! each one is reported. `cargo demo` builds without it, because it takes long to compile.
#![forbid(unsafe_code)]
// Without the engine nothing answers the handles of extensions.
#![cfg_attr(not(feature = "engine"), allow(dead_code, unused_imports))]

mod builtin;
#[cfg(feature = "engine")]
mod callee;
pub mod discover;
#[cfg(feature = "engine")]
mod engine;
mod extension;
mod handle;
pub mod host;
mod limits;
mod load;
pub mod network;
pub mod package;
mod notifications;
#[cfg(feature = "engine")]
mod node;
#[cfg(feature = "engine")]
mod process;
mod registry;
mod runtime;
#[cfg(feature = "engine")]
mod source;
#[cfg(feature = "engine")]
mod strip;
pub mod theme;
mod width;
#[cfg(feature = "engine")]
mod worker;
#[cfg(not(feature = "engine"))]
#[path = "worker/absent.rs"]
mod worker;

pub use builtin::{EMBEDDED_MODULES, NODE_ONLY_MODULES};
pub use extension::{Component, Drawing, Extension};
pub use limits::Limits;
pub use load::{Extensions, LoadError, LoadOptions};
pub use registry::{CommandSpec, RegisteredTool, Registry, ShortcutSpec};
pub use runtime::{EngineChoice, Runtimes};

/// The type declarations of everything that extensions may use.
pub const DECLARATIONS: &str = include_str!("../offshoot.d.ts");

/// The target of log events that are lines of the console of an extension.
pub const CONSOLE: &str = "console";

#[cfg(all(test, feature = "engine"))]
mod tests;

//! A coding agent on a session tree, without a terminal and without a network client.
//!
//! context -> **request** -> [`Model`](model::Model) -> events -> **answer** -> draft -> entry
//!
//! Never touches an HTTP client, a JavaScript engine or a terminal: model services, extensions and front ends
//! come from outside, behind traits.
#![forbid(unsafe_code)]

mod actor;
pub mod agent;
pub mod approval;
pub mod cancel;
pub mod command;
pub mod editor;
pub mod error;
pub mod event;
pub mod extension;
pub mod handle;
pub mod hooks;
pub mod model;
pub mod permission;
pub mod queue;
pub mod resources;
pub mod secrets;
pub mod settings;
pub mod shared;
pub mod small_file;
pub mod summary;
pub mod system;
pub mod tool;
pub mod tools;
pub mod turn;

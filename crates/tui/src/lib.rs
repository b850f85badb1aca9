//! The terminal UI: the chat with its event loop, the tree selector, the session picker, dialogs.
//!
//! Every part of the screen is three things:
//!
//! - **state**: a struct whose fields no other part changes;
//! - **update**: a method that takes one [`keys::Input`] and may return a request of the user, such as "go to this entry".
//!   It performs nothing itself;
//! - **draw**: a method that reads the state and writes cells into an area. It decides nothing.
//!
//! [`app::App`] is the part that holds all others. Its update takes everything that can happen: keys, events of the
//! agent, replies to requests, changes that extensions request, time. It gives a key to the view that is open (a selector
//! or a dialog) or to the chat, and performs the request that comes back: it sends a request to the agent
//! ([`offshoot_agent::handle::AgentHandle`]) and goes on when the reply arrives. Then it draws a frame. The rest of the
//! program (commands, settings, models, files) is behind [`app::Services`].
//!
//! Only [`app`] performs anything. All other modules read sessions and return requests; they never touch files, HTTP or a
//! JS engine. All text that was not written in this crate enters the screen through [`clean`], so that nothing in it can
//! steer the terminal.
//!
//! Order of modules: the base (text, keys, colours, brushes), selectors and dialogs drawn with it, the conversation, the
//! app.
#![forbid(unsafe_code)]

// The base.
pub mod ansi;
pub mod clean;
pub mod editor;
pub mod help;
mod input;
pub mod keys;
mod layout;
pub mod paint;
mod spinner;
pub mod theme;
pub mod time;
pub mod width;
mod wrap;

// Selectors and dialogs.
pub mod branches;
pub mod dialog;
pub mod picker;
pub mod prompts;
pub mod summary;
pub mod tree;

// The conversation.
pub mod chat;

// The app.
pub mod app;

pub use crossterm;
pub use ratatui;
pub use session_view::numbers;

#[cfg(test)]
mod tests;
#[cfg(test)]
use tests::screen;

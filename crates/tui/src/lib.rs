//! Conversations and their tree in a terminal: the chat, the tree selector, the session picker, dialogs.
//!
//! A part of the screen is three things: a **state**, an **update** that takes one [`keys::Input`] and may answer with
//! a request of the user, and a **draw** that reads the state and writes cells. Parts of the screen read sessions and
//! return requests; the event loop performs them.
//!
//! Never touches files, HTTP or a JS engine. All text that was not written in this crate enters the screen through
//! [`clean`], so that nothing in it can steer the terminal.
//!
//! Order of modules: the base (text, keys, colours, brushes), selectors and dialogs drawn with it, the conversation.
#![forbid(unsafe_code)]

// The base.
pub mod ansi;
pub mod clean;
pub mod editor;
pub mod help;
mod input;
pub mod keys;
mod layout;
pub mod numbers;
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

pub use crossterm;
pub use ratatui;

#[cfg(test)]
mod tests;
#[cfg(test)]
use tests::screen;

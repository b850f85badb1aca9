//! A session as something to read and to send: one HTML page, a Markdown text, a copy without its secrets.
//!
//! session -> rows, entries, figures -> **page**
//!
//! [`write_html`] writes a page that needs nothing but itself. [`write_markdown`] writes the path to the leaf as text.
//! [`Redactor`] copies a session file and takes keys, tokens and addresses out, so that whatever is made of the copy
//! cannot hold them. Everything is a stream: memory grows with the number of entries, never with their size. Rows
//! come from the engine's outline and contexts from its projection; nothing here decides what a tree means.
//!
//! Text of a session is hostile. It reaches the page as text only: escaped by the templates, or as JSON in inert
//! elements whose content holds none of `<`, `>` and `&`. Never changes a session, never touches the network.
#![forbid(unsafe_code)]

mod card;
mod error;
mod entry_text;
mod export;
mod markdown;
mod page;
mod parts;
mod plain;
mod readable;
mod redact;
mod rows;
mod text;
mod wire;

pub use card::title;
pub use error::{Error, Result};
pub use page::write_html;
pub use plain::write_markdown;
pub use redact::{Finding, RedactReport, Redactor};

/// How a session is exported.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// Whether arguments and results of tools are exported.
    pub tools: bool,
    /// Whether the thinking of models is exported.
    pub thinking: bool,
    /// The home directory; paths inside it are shown with `~` in rows.
    pub home: Option<String>,
    /// Whether the entries are compressed in the page; by default all but small and huge sessions are.
    pub packed: Option<bool>,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { tools: true, thinking: true, home: None, packed: None }
    }
}

/// Receives the number of entries that are done, and of all entries.
pub type Progress<'p> = &'p mut dyn FnMut(usize, usize);

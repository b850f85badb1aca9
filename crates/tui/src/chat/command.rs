//! The commands of the chat, as completion shows them.

/// A command of the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The name, without the slash.
    pub name: String,
    /// The arguments, as help shows them.
    pub arguments: String,
    /// A short description.
    pub what: String,
    /// The kind of its arguments.
    pub completes: Completes,
}

/// The kind of arguments that a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Nothing that could be completed.
    Nothing,
    /// References to entries.
    Entries,
    /// Files.
    Files,
    /// Models.
    Models,
    /// Thinking levels.
    Levels,
    /// Sessions.
    Sessions,
    /// Commands.
    Commands,
    /// The arguments of a command of an extension, which completes them itself.
    Extension,
}

//! Lines that start with a slash: the commands of the chat, with the same definitions as on the command line.

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use offshoot_tui::app::ChatCommand;
use offshoot_tui::chat::command::{CommandSpec, Completes};

use crate::cmd::SessionCommand;
use crate::talk::closest_command;

/// A command of the chat.
#[derive(Debug, clap::Parser)]
#[command(name = "/", no_binary_name = true, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) enum Slash {
    #[command(flatten)]
    Session(SessionCommand),
    #[command(flatten)]
    Chat(ChatCommand),
}

/// A line of the chat, parsed.
#[derive(Debug)]
pub(crate) enum Line {
    /// A command.
    Command(Box<Slash>),
    /// The named command lacks an argument that can be chosen from a list.
    Incomplete(String),
    /// The help of a command.
    Help(String),
    /// A command with wrong arguments, and why.
    Wrong(String),
    /// An unknown command, and one with a similar name.
    Unknown(String, Option<String>),
    /// Anything else: a prompt or a shell command.
    Text,
}

/// Parses a line of the chat.
pub(crate) fn parse(text: &str) -> Line {
    // A space before the slash, or a path, makes it a prompt.
    let Some(line) = text.trim_end().strip_prefix('/') else { return Line::Text };
    let name = line.split(char::is_whitespace).next().unwrap_or_default();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c)) {
        return Line::Text;
    }
    let parser = Slash::command();
    if parser.find_subcommand(name).is_none() {
        let names: Vec<&str> = parser.get_subcommands().map(clap::Command::get_name).collect();
        return Line::Unknown(name.to_owned(), closest_command(name, &names).map(str::to_owned));
    }
    let matches = parser.try_get_matches_from(words(line));
    match matches.and_then(|matches| Slash::from_arg_matches(&matches)) {
        Ok(command) => Line::Command(Box::new(command)),
        Err(error) => match error.kind() {
            ErrorKind::MissingRequiredArgument => Line::Incomplete(name.to_owned()),
            ErrorKind::DisplayHelp => Line::Help(error.to_string().trim_end().replace("Usage: ", "Usage: /")),
            _ => Line::Wrong(short(&error)),
        },
    }
}

/// Parses a command that is given as words.
pub(crate) fn parse_words(words: &[&str]) -> Result<Slash, String> {
    let matches = Slash::command().try_get_matches_from(words);
    matches.and_then(|matches| Slash::from_arg_matches(&matches)).map_err(|error| short(&error))
}

/// Describes the commands for completion and `/help`.
pub(crate) fn specs() -> Vec<CommandSpec> {
    let parser = Slash::command();
    let named = parser.get_subcommands().flat_map(|command| {
        command.get_name_and_visible_aliases().into_iter().map(move |name| (name.to_owned(), command))
    });
    named.map(|(name, command)| spec(name, command)).collect()
}

fn spec(name: String, command: &clap::Command) -> CommandSpec {
    let value =
        |argument: &clap::Arg| argument.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let shown = |argument: &clap::Arg| match argument.is_required_set() || value(argument).starts_with('[') {
        true => value(argument),
        false => format!("[{}]", value(argument)),
    };
    let positionals: Vec<&clap::Arg> = command.get_positionals().collect();
    let completes = match positionals.first().map(|first| value(first)).unwrap_or_default().as_str() {
        "FILE" => Completes::Files,
        "MODEL" => Completes::Models,
        "LEVEL" => Completes::Levels,
        "SESSION" => Completes::Sessions,
        "COMMAND" => Completes::Commands,
        value if value.contains("REF") => Completes::Entries,
        _ => Completes::Nothing,
    };
    CommandSpec {
        name,
        arguments: positionals.into_iter().map(shown).collect::<Vec<_>>().join(" "),
        what: command.get_about().map(ToString::to_string).unwrap_or_default(),
        completes,
    }
}

/// Returns the first sentence of an error, and the usage.
fn short(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    match text.lines().find_map(|line| line.strip_prefix("Usage: ")) {
        Some(usage) => format!("{first}\nusage: /{usage}"),
        None => first,
    }
}

/// Splits a line into words; quotes at the start of a word group words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) if word.as_ref().is_none_or(String::is_empty) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests;

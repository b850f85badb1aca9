//! Distinguishes a prompt from a mistyped command.
//!
//! A prompt is text with a space in one argument, text after `-p` or `--`, or several words of which the first is not
//! close to the name of a command. Any other word is an error with a suggestion.

use std::ffi::OsString;
use std::path::Path;

use strsim::osa_distance;

use super::Args;
use crate::change::quoted;
use crate::error::{CommandError, Failure};

/// Commands of other programs, and their names in offshoot.
const OTHER_NAMES: [(&str, &[&str]); 6] = [
    ("install", &["add"]),
    ("remove", &["uninstall"]),
    ("sessions", &["ls"]),
    ("switch", &["checkout"]),
    ("path", &["log", "history"]),
    ("tree", &["cat", "open", "view"]),
];

impl Args {
    /// Records that the prompt is more likely a mistyped command; `line` is the command line.
    pub(crate) fn note_mistyped_command(&mut self, line: &[OsString], program: &clap::Command) {
        let behind = line.iter().position(|word| word == "--").map_or(0, |at| line.len() - at - 1);
        if self.has_options || behind >= self.prompt.len() {
            return;
        }
        self.mistyped = mistyped(&self.prompt, &names(program));
    }

    /// Returns an error if the prompt is more likely a mistyped command.
    pub(crate) fn refuse_mistyped_command(&self) -> Result<(), CommandError> {
        match &self.mistyped {
            Some(failure) => Err(CommandError::Usage(failure.clone())),
            None => Ok(()),
        }
    }
}

/// Returns true if the word after `-p` is the name of a command.
pub(crate) fn names_command_after_print(line: &[OsString], program: &clap::Command) -> bool {
    let options = line.iter().take_while(|word| *word != "--");
    let mut behind = options.skip_while(|word| *word != "-p" && *word != "--print").skip(1);
    behind.next().and_then(|word| word.to_str()).is_some_and(|word| names(program).contains(&word))
}

/// Returns the names of the commands of the program.
fn names(program: &clap::Command) -> Vec<&str> {
    program.get_subcommands().flat_map(clap::Command::get_name_and_visible_aliases).collect()
}

/// Returns an error for words that are not a prompt; `commands` are the names of the commands.
fn mistyped(words: &[String], commands: &[&str]) -> Option<Failure> {
    let (word, rest) = words.split_first()?;
    let is_file = Path::new(word).is_file();
    let is_prompt = word.contains(char::is_whitespace) || word.is_empty() || word.starts_with(['!', '@']);
    if is_prompt || word.starts_with('/') && !is_file {
        return None;
    }
    let close = closest(word, commands, rest.is_empty());
    let meant = close.or_else(|| other_name(word, rest));
    if meant.is_none() && !rest.is_empty() {
        return None;
    }
    let mut failure = Failure::new(format!("`{word}` is not a command"));
    if let Some(meant) = meant {
        failure = failure.hint(format!("did you mean `offshoot {meant}`?"));
    } else if is_file {
        let file = quoted(word);
        failure = failure.hint(format!(
            "`offshoot tree {file}` shows a session, `offshoot --session {file}` continues it"
        ));
    } else {
        failure = failure.hint("`offshoot --help` lists the commands");
    }
    Some(failure.hint(format!("`offshoot -- {}` sends it as a prompt", quoted(&words.join(" ")))))
}

/// Returns the command that a word is close to.
pub(crate) fn closest_command<'c>(word: &str, commands: &[&'c str]) -> Option<&'c str> {
    closest(word, commands, true)
}

/// Returns the command that a word is close to. A single word may also be a short prefix of a command.
fn closest<'c>(word: &str, commands: &[&'c str], is_alone: bool) -> Option<&'c str> {
    let is_beginning = |command: &str| is_alone && word.len() > 1 && command.starts_with(word);
    let close = commands.iter().filter(|command| is_close(word, command) || is_beginning(command));
    close.min_by_key(|command| osa_distance(word, command)).copied()
}

/// Returns true if a word may be a typo of a command: a few letters differ, or the end is missing.
fn is_close(word: &str, command: &str) -> bool {
    let length = word.chars().count();
    if length < 4 {
        return false;
    }
    // The first letter is rarely wrong; `how` or `work` start sentences.
    let begins_alike = word.chars().next() == command.chars().next();
    let allowed = if length < 6 { 1 } else { 2 };
    let is_swapped = osa_distance(word, command) == 1 && sorted(word) == sorted(command);
    begins_alike && (osa_distance(word, command) <= allowed || command.starts_with(word)) || is_swapped
}

fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// Returns the command for its name in another program, if an argument follows that no sentence would have.
fn other_name(word: &str, rest: &[String]) -> Option<&'static str> {
    let [argument] = rest else { return None };
    let is_argument =
        argument.contains(['/', ':']) || argument.ends_with(".jsonl") || Path::new(argument).exists();
    let named = OTHER_NAMES.iter().find(|(_, names)| names.contains(&word));
    named.filter(|_| is_argument).map(|(command, _)| *command)
}

#[cfg(test)]
mod tests;

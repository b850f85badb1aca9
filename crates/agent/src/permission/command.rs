//! Finds the simple commands that a shell command line runs, without running it.
//!
//! ```text
//!   cd x && cargo test | tee $(date).log      =>   cd x · cargo test · tee <dynamic> · date
//! ```
//!
//! This is not a full shell parser. Any construct that is not understood makes the script unclear, and no pattern
//! allows an unclear script.

mod reader;

use self::reader::Reader;
use super::rule::Match;
use super::words::{Word, Words, program};

/// The maximum depth of nested substitutions.
const MAX_DEPTH: usize = 16;
/// The maximum number of simple commands.
const MAX_COMMANDS: usize = 1_000;

/// Programs that run their arguments as a command.
const WRAPPERS: &[&str] = &[
    "builtin", "busybox", "chroot", "command", "coproc", "do", "doas", "elif", "else", "env", "eval", "exec",
    "find", "flock", "if", "ionice", "nice", "nohup", "parallel", "runuser", "script", "setsid", "ssh",
    "stdbuf", "strace", "su", "sudo", "then", "time", "timeout", "trap", "until", "watch", "while", "xargs",
    "!", "{",
];
/// Wrappers that pass one argument to a shell.
const SCRIPT_WRAPPERS: &[&str] = &["flock", "parallel", "runuser", "script", "ssh", "su", "trap", "watch"];
/// Shells, which run the text after `-c`.
const SHELLS: &[&str] = &["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];

/// Builtins that evaluate a subscript in their arguments: `printf -v 'a[$(rm x)]'` runs `rm x`.
const EVALUATORS: &[&str] = &[
    "[",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

/// Programs that delete, gain privileges, end processes, reach other machines or run given code.
const RISKY: &str = "awk bun chattr chgrp chmod chown crontab curl dd deno docker gdb halt iptables kill killall kubectl \
    ln lua mkfs mount mv nc node npx osascript passwd perl php pip pip3 pkexec pkill podman poweroff \
    python python2 python3 reboot rm rmdir rsync ruby scp sed sftp shred shutdown source systemctl tee \
    truncate umount unlink uv uvx wget";

/// Returns true if a rule that allows this program would allow too much: it deletes, gains privileges, reaches other
/// machines, or runs given code.
pub(super) fn is_risky_program(word: &str) -> bool {
    let name = program(word);
    let runs_others = WRAPPERS.contains(&name) || SHELLS.contains(&name);
    runs_others || RISKY.split(' ').any(|risky| risky == name) || name.starts_with("mkfs.") || name == "."
}

/// The simple commands of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) commands: Vec<Vec<Word>>,
    /// True if it does more than its simple commands show.
    pub(super) is_unclear: bool,
    /// The scripts that its arguments may contain. They can be denied and need not be allowed.
    inner: Vec<Script>,
}

impl Script {
    pub(super) fn parse(text: &str) -> Self {
        let mut script = Script::default();
        script.read(text, 0);
        script
    }

    fn read(&mut self, text: &str, depth: usize) {
        if depth > MAX_DEPTH || self.commands.len() > MAX_COMMANDS {
            self.is_unclear = true;
            return;
        }
        Reader::new(text, depth).read_into(self);
    }

    /// Adds one simple command.
    fn push(&mut self, command: Vec<Word>, depth: usize) {
        let Some(first) = command.first() else { return };
        // The program must be known.
        self.is_unclear |= first.is_dynamic;
        let is_evaluated = |word: &Word| word.text.contains(['$', '`']);
        self.is_unclear |= EVALUATORS.contains(&first.text.as_str()) && command.iter().any(is_evaluated);
        self.read_inner_script(&command, depth);
        self.read_arguments(&command, depth);
        self.commands.push(command);
    }

    /// Parses arguments that a wrapper may pass to a shell: `watch 'rm x'`.
    fn read_arguments(&mut self, command: &[Word], depth: usize) {
        let command = without_assignments(command);
        let names = || command.iter().map(|word| program(&word.text));
        let Some(first) = names().next().filter(|first| WRAPPERS.contains(first)) else { return };
        self.is_unclear |= first == "env" && command.iter().any(|word| splits_text(&word.text));
        let Some(wrapper) = names().position(|name| SCRIPT_WRAPPERS.contains(&name)) else { return };
        for word in command[wrapper + 1..].iter().filter(|word| is_script_like(&word.text)) {
            let mut inner = Script { is_unclear: word.is_dynamic, ..Script::default() };
            inner.read(&word.text, depth + 1);
            self.inner.push(inner);
        }
    }

    /// Parses the text of `bash -c 'text'` and `eval text`.
    fn read_inner_script(&mut self, command: &[Word], depth: usize) {
        let command = without_assignments(command);
        let names: Vec<&str> = command.iter().map(|word| program(&word.text)).collect();
        if names.first() == Some(&"eval") {
            let text: Vec<&str> = command[1..].iter().map(|word| word.text.as_str()).collect();
            self.is_unclear |= command[1..].iter().any(|word| word.is_dynamic);
            self.read(&text.join(" "), depth + 1);
        }
        let shell = names.iter().position(|name| SHELLS.contains(name));
        let Some(options) = shell.map(|at| &command[at + 1..]) else { return };
        let is_script = |word: &&Word| word.text.starts_with('-') && word.text.contains('c');
        if let Some(at) = options.iter().position(|word| is_script(&word)) {
            for word in options[at + 1..].iter().filter(|word| !word.text.starts_with('-')).take(1) {
                self.is_unclear |= word.is_dynamic;
                self.read(&word.text, depth + 1);
            }
        }
    }

    /// Returns the pattern that matches the first command, if every simple command surely matches a pattern.
    pub(super) fn allowed_by(&self, patterns: &[&Words]) -> Option<usize> {
        if self.is_unclear {
            return None;
        }
        let fits =
            |command: &Vec<Word>| patterns.iter().position(|words| words.matches(command) == Match::Yes);
        let found: Option<Vec<usize>> = self.commands.iter().map(fits).collect();
        found?.first().copied()
    }

    /// Returns whether a simple command matches a restricting pattern, also behind `sudo`, a variable or a path.
    pub(super) fn any_match(&self, pattern: &Words) -> Match {
        let own = self.commands.iter().map(|command| hidden_match(pattern, command));
        let inner = self.inner.iter().map(|script| script.any_match(pattern));
        let found = own.chain(inner).max().unwrap_or(Match::No);
        if self.is_unclear { found.max(Match::Maybe) } else { found }
    }
}

/// Compares a command, and the commands that it may run.
fn hidden_match(pattern: &Words, command: &[Word]) -> Match {
    let command = without_assignments(command);
    let Some(first) = command.first() else { return Match::No };
    let runs_others = WRAPPERS.contains(&program(&first.text));
    let from_each = pattern.matches_from_each(command).into_iter().take(command.len());
    from_each.take(if runs_others { usize::MAX } else { 1 }).max().unwrap_or(Match::No)
}

fn without_assignments(command: &[Word]) -> &[Word] {
    let assignments = command.iter().take_while(|word| is_assignment(&word.text)).count();
    &command[assignments..]
}

/// Returns true if an option makes `env` split a text into words.
fn splits_text(word: &str) -> bool {
    word.starts_with("--split") || (word.starts_with('-') && !word.starts_with("--") && word.contains('S'))
}

/// Returns true if a word contains more than one shell word.
fn is_script_like(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || ";&|()<>`$".contains(c))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '+')
    })
}

#[cfg(test)]
mod tests;

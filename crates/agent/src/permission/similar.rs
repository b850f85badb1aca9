//! The rule that "always allow" adds: it allows a call and harmless calls like it, never more.

use std::path::{Component, Path};

use super::{Decision, Rule, is_risky_program};
use crate::tool::Effect;
use crate::tools::ReadyCall;

/// Returns a rule that would allow this call and similar ones. Returns `None` if it would allow too much.
pub(crate) fn always_rule(request: &ReadyCall) -> Option<Rule> {
    let name = &request.call.name;
    let text = match &request.effect {
        Effect::Runs(command) => format!("bash({})", similar_commands(command)?),
        Effect::Writes(_) => format!("write({})", similar_files(request)?),
        // Names the tool itself: permission to list a directory is not permission to search it.
        Effect::Reads(_) => format!("{name}({})", literal(only_path(request)?)?),
        // The code of an extension is trusted as a whole: each of its tools runs what it wants.
        Effect::Extension { extension, .. } => format!("extension({})", plain_name(extension)?),
        Effect::Other(_) => name.clone(),
    };
    Rule::parse(Decision::Allow, &text).ok()
}

/// Programs that are harmless with any arguments.
const HARMLESS: &[&str] = &["echo", "false", "ls", "pwd", "sleep", "true", "wc", "which"];

/// Subcommands that build or test a project, or show its state, and are harmless with any arguments.
const HARMLESS_COMMANDS: &[(&str, &[&str])] = &[
    ("cargo", &["bench", "build", "check", "clippy", "doc", "metadata", "test", "tree"]),
    ("git", &["blame", "ls-files", "rev-parse", "status"]),
    ("npm", &["ls", "test"]),
];

/// Subcommands of git that may be allowed literally. With `--output` they write a file, and most others change the
/// history or the working tree.
const GIT_SHOWS: &[&str] = &["diff", "log", "show"];

/// Returns a pattern for similar commands: with other arguments if that is harmless, otherwise the command itself.
/// Returns `None` for a command that is not plain, or that deletes, gains privileges or runs other programs.
fn similar_commands(command: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./+:,=@%".contains(c);
    if !command.chars().all(is_plain) {
        return None;
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let program = *words.first()?;
    if program.contains('=') || words.iter().any(|word| is_risky_program(word)) {
        return None;
    }
    let has_harmless = |command: &str| {
        HARMLESS_COMMANDS.iter().any(|(name, commands)| *name == program && commands.contains(&command))
    };
    Some(match words.get(1) {
        _ if HARMLESS.contains(&program) => format!("{program} *"),
        Some(command) if has_harmless(command) => format!("{program} {command} *"),
        Some(command) if program == "git" && !GIT_SHOWS.contains(command) => return None,
        _ => words.join(" "),
    })
}

/// Returns a pattern for similar files: all in the same directory, or the file itself at the top of the project.
/// Returns `None` outside the project and for hidden files and directories.
fn similar_files(request: &ReadyCall) -> Option<String> {
    let project = request.place.cwd.canonicalize().ok()?;
    let inside = only_path(request)?.strip_prefix(project).ok()?;
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    if inside.components().any(is_hidden) {
        return None;
    }
    match inside.parent().filter(|parent| *parent != Path::new("")) {
        Some(parent) => Some(format!("{}/**", literal(parent)?)),
        None => Some(format!("./{}", literal(inside)?)),
    }
}

/// Returns the name of an extension if a rule with it names no other.
fn plain_name(name: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_alphanumeric() || "@/._- ".contains(c);
    (name.trim() == name && name.chars().all(is_plain)).then_some(name)
}

/// Returns the only path of a call, with links followed.
fn only_path(request: &ReadyCall) -> Option<&Path> {
    match request.place.paths() {
        [path] => Some(path.real()),
        _ => None,
    }
}

/// Returns a path as a pattern that matches only itself. Returns `None` if it contains pattern characters.
fn literal(path: &Path) -> Option<&str> {
    path.to_str().filter(|path| !path.contains(['*', '?', '[', ']', '{', '}', '(', ')', '\\', '!']))
}

//! The commands of the chat as data: names, arguments, what they do, and what completes them.
//!
//! Reads what a person typed; doing it is the business of whoever runs the event loop.

/// A command of the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSpec {
    /// The name, without the slash.
    pub name: &'static str,
    /// The arguments, as help shows them.
    pub arguments: &'static str,
    /// What it does, in a few words.
    pub what: &'static str,
    /// What its arguments are.
    pub completes: Completes,
    /// The options it knows; the ones with a value are marked.
    pub options: &'static [(&'static str, Takes)],
}

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// It stands alone.
    Nothing,
    /// The next word is its value.
    Value,
}

/// What the arguments of a command are.
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
    /// What follows a command that is not ours; whoever brought it along knows.
    Foreign,
}

use Completes::{Commands, Entries, Files, Levels, Models, Nothing, Sessions};
use Takes::Nothing as Flag;
use Takes::Value;

const fn spec(
    name: &'static str,
    arguments: &'static str,
    completes: Completes,
    options: &'static [(&'static str, Takes)],
    what: &'static str,
) -> CommandSpec {
    CommandSpec { name, arguments, what, completes, options }
}

/// All commands, in the order of help.
pub const COMMANDS: &[CommandSpec] = &[
    spec("tree", "[REF]", Entries, &[("--print", Flag)], "walk the tree of this session"),
    spec("undo", "", Nothing, &[], "take the last prompt back into the editor"),
    spec("back", "", Nothing, &[], "go to where you were before"),
    spec("forward", "", Nothing, &[], "go forward again"),
    spec(
        "branch-here",
        "[REF]",
        Entries,
        &[("--exact", Flag), ("-s", Flag)],
        "begin another attempt at an entry",
    ),
    spec("branches", "", Nothing, &[], "list the branches"),
    spec("switch", "REF", Entries, &[("--exact", Flag), ("-s", Flag)], "go to another branch"),
    spec("label", "[REF] NAME", Entries, &[("-d", Flag)], "put a name on an entry"),
    spec("labels", "", Nothing, &[], "list the labels and go to one"),
    spec(
        "pop",
        "[REF]",
        Entries,
        &[("-m", Value), ("--focus", Value), ("--edit", Flag)],
        "go back with a summary of what was tried",
    ),
    spec("push", "[NAME]", Nothing, &[], "mark this place for /pop"),
    spec(
        "merge",
        "REF",
        Entries,
        &[
            ("--mode", Value),
            ("--focus", Value),
            ("-m", Value),
            ("--note", Value),
            ("--no-review", Flag),
            ("--no-ff", Flag),
        ],
        "append a summary of another branch",
    ),
    spec(
        "cherry-pick",
        "REF",
        Entries,
        &[("--turn", Flag), ("--as", Value), ("--note", Value), ("--again", Flag), ("--with-state", Flag)],
        "copy entries of another branch",
    ),
    spec("diff", "REF [REF]", Entries, &[], "compare two branches"),
    spec(
        "fork",
        "[REF]",
        Entries,
        &[("--stay", Flag)],
        "go on from a prompt, or from any entry, in a new session",
    ),
    spec("branch", "[REF]", Entries, &[("--stay", Flag)], "the same as /fork"),
    spec("clone", "", Nothing, &[], "go on in a copy of this session"),
    spec(
        "export-branch",
        "REF [FILE]",
        Entries,
        &[("--path", Flag), ("--subtree", Flag)],
        "write a branch as a session file",
    ),
    spec("export", "[FILE]", Files, &[], "write the session as HTML or JSONL"),
    spec("import", "FILE", Files, &[], "copy a session file here and open it"),
    spec("name", "[TEXT]", Nothing, &[("--clear", Flag)], "show or set the name of the session"),
    spec("session", "", Nothing, &[], "show figures of this branch and of the whole file"),
    spec("resume", "[SESSION]", Sessions, &[], "open another session"),
    spec("new", "", Nothing, &[("--here", Flag)], "begin a new session"),
    spec("compact", "[FOCUS]", Nothing, &[], "sum up older messages to make room"),
    spec("copy", "[REF]", Entries, &[], "copy the last answer to the clipboard"),
    spec("model", "[NAME]", Models, &[], "choose a model"),
    spec("thinking", "[LEVEL]", Levels, &[], "choose how hard the model thinks"),
    spec("settings", "", Nothing, &[], "show the settings that count"),
    spec("hotkeys", "", Nothing, &[], "show all keys"),
    spec("reload", "", Nothing, &[], "load extensions, keys and keybindings anew"),
    spec("help", "[COMMAND]", Commands, &[], "show all commands"),
    spec("quit", "", Nothing, &[], "leave; the session is kept"),
];

/// Finds a command by its name.
pub fn find(name: &str) -> Option<&'static CommandSpec> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A command and what follows its name.
    Command(&'static CommandSpec, String),
    /// Something that looks like a command, but is none; the command that is most like it.
    Unknown(String, Option<&'static CommandSpec>),
    /// Anything else: a prompt, or a command of the shell.
    Text(String),
}

/// Reads what a person typed.
pub fn read(text: &str) -> Typed {
    let trimmed = text.trim();
    let Some(rest) = trimmed.strip_prefix('/') else { return Typed::Text(text.to_owned()) };
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if let Some(command) = find(name) {
        return Typed::Command(command, arguments.trim().to_owned());
    }
    // A path or a sentence that begins with a slash is no command.
    let looks_like_one = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match looks_like_one && (arguments.is_empty() || most_like(name).is_some()) {
        true => Typed::Unknown(name.to_owned(), most_like(name)),
        false => Typed::Text(text.to_owned()),
    }
}

/// Finds the command that a person may have meant.
fn most_like(name: &str) -> Option<&'static CommandSpec> {
    let starts = COMMANDS.iter().find(|command| command.name.starts_with(name) && name.len() > 1);
    starts.or_else(|| COMMANDS.iter().find(|command| is_one_off(command.name, name)))
}

/// Tells whether two words differ by one letter: another, one more, one less, or two that changed places.
fn is_one_off(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let front = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[front..], &other[front..]);
    let back = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - back], &other[..other.len() - back]);
    match (one, other) {
        ([_] | [], [_] | []) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// The arguments of a command, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Words that belong to no option.
    pub words: Vec<String>,
    options: Vec<(&'static str, String)>,
}

impl Arguments {
    /// Takes what follows the name of a command apart. Quotation marks keep words together.
    ///
    /// # Errors
    ///
    /// What is wrong, in words for the person.
    pub fn read(command: &CommandSpec, text: &str) -> Result<Self, String> {
        let mut arguments = Arguments::default();
        let mut words = words(text).into_iter();
        while let Some((word, is_quoted)) = words.next() {
            if is_quoted || !word.starts_with('-') || word.len() == 1 {
                arguments.words.push(word);
                continue;
            }
            let known = command.options.iter().find(|(name, _)| *name == word);
            let Some((name, takes)) = known else { return Err(unknown_option(command, &word)) };
            let value = match takes {
                Takes::Nothing => String::new(),
                Takes::Value => {
                    words.next().map(|(value, _)| value).ok_or_else(|| format!("{name} needs a value"))?
                }
            };
            arguments.options.push((name, value));
        }
        Ok(arguments)
    }

    /// Tells whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(own, _)| *own == name)
    }

    /// Returns the value of an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first word.
    pub fn first(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    /// Returns all words from the `nth` on, joined; nothing if there are none.
    pub fn rest(&self, nth: usize) -> Option<String> {
        let rest = self.words.get(nth..).unwrap_or_default().join(" ");
        (!rest.is_empty()).then_some(rest)
    }
}

fn unknown_option(command: &CommandSpec, word: &str) -> String {
    let names: Vec<&str> = command.options.iter().map(|(name, _)| *name).collect();
    match names.is_empty() {
        true => format!("/{} has no option {word}", command.name),
        false => format!("/{} has no option {word}; it knows {}", command.name, names.join(", ")),
    }
}

/// Splits a text into words; tells of each whether it was quoted.
fn words(text: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut word: Option<(String, bool)> = None;
    let mut quote = None;
    for c in text.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().0.push(c),
            ('"' | '\'', None) if word.as_ref().is_none_or(|(word, _)| word.is_empty()) => {
                quote = Some(c);
                word.get_or_insert_default().1 = true;
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().0.push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(name: &str, text: &str) -> Result<Arguments, String> {
        Arguments::read(find(name).unwrap(), text)
    }

    #[test]
    fn commands_are_told_from_prompts_and_paths() {
        assert_eq!(read("/switch @go"), Typed::Command(find("switch").unwrap(), "@go".into()));
        assert_eq!(read("  /tree  "), Typed::Command(find("tree").unwrap(), String::new()));
        assert_eq!(read("/tre"), Typed::Unknown("tre".into(), find("tree")));
        assert_eq!(read("/swithc @a"), Typed::Unknown("swithc".into(), find("switch")));
        assert_eq!(read("/nonsense"), Typed::Unknown("nonsense".into(), None));
        assert_eq!(read("/etc/passwd is a file"), Typed::Text("/etc/passwd is a file".into()));
        assert_eq!(read("/shrug that is life"), Typed::Text("/shrug that is life".into()));
        assert_eq!(read("a / b"), Typed::Text("a / b".into()));
    }

    #[test]
    fn options_and_words_are_told_apart_and_quotes_keep_words_together() {
        let pop = arguments("pop", r#"a1b2 -m "tried it, -- too slow" --edit"#).unwrap();
        assert_eq!(pop.first(), Some("a1b2"));
        assert_eq!(pop.value("-m"), Some("tried it, -- too slow"));
        assert!(pop.has("--edit") && !pop.has("--focus"));
        assert_eq!(arguments("switch", "-").unwrap().first(), Some("-"));
        assert_eq!(arguments("label", "a b  c").unwrap().rest(1).as_deref(), Some("b c"));
        assert_eq!(arguments("label", "don't stop").unwrap().words, ["don't", "stop"]);
    }

    #[test]
    fn wrong_options_are_explained() {
        assert_eq!(arguments("undo", "--hard").unwrap_err(), "/undo has no option --hard");
        assert_eq!(
            arguments("switch", "--soft x").unwrap_err(),
            "/switch has no option --soft; it knows --exact, -s"
        );
        assert_eq!(arguments("pop", "-m").unwrap_err(), "-m needs a value");
    }

    #[test]
    fn every_command_of_the_issue_is_there_once() {
        let wanted = "tree fork clone branch branch-here branches switch pop push export-branch cherry-pick merge label \
                      labels name session resume new compact export import copy undo back forward diff model thinking \
                      settings hotkeys reload help quit";
        let mut wanted: Vec<&str> = wanted.split(' ').filter(|name| !name.is_empty()).collect();
        let mut names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        wanted.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, wanted);
    }
}

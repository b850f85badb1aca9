//! One rule: a decision for a tool, or for some of what it does.
//!
//! ```text
//!   read                 every call that reads
//!   write(src/**)        changes below src
//!   bash(cargo test *)   this command, with anything behind it
//!   grep                 one tool by name
//! ```

use std::fmt;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::Decision;
use super::command::Script;
use super::words::Words;
use crate::tool::Effect;
use crate::tools::{ResolvedPath, paths};

/// What becomes of some calls.
///
/// `read` stands for every tool that reads files, `write` for every tool that changes some, `bash` for every tool
/// that runs commands, `*` for all; other names are names of tools. A pattern of paths is a glob: relative ones start
/// at the working directory, `..` leads out of it, ones without a slash are names at any depth, `dir/**` means the
/// directory too. A pattern of commands is compared word by word; `*` as a word stands for any number of words.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) decision: Decision,
    tool: String,
    pattern: Option<Pattern>,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// It is not `tool` or `tool(pattern)`.
    #[error("`{rule}` is no rule: write `tool` or `tool(pattern)`")]
    Shape {
        /// The text.
        rule: String,
    },
    /// The pattern is not a valid glob.
    #[error("the pattern of the rule `{rule}` is not valid")]
    Glob {
        /// The text.
        rule: String,
        /// What is wrong with it.
        source: globset::Error,
    },
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    words: Words,
    glob: GlobMatcher,
    /// How many directories above the working directory a relative glob starts.
    ups: usize,
    /// The directory that everything the glob matches is below; none for a name at any depth.
    base: Option<PathBuf>,
}

/// What of a call a rule is compared with.
#[derive(Debug)]
pub(super) enum Target<'p> {
    Path(&'p ResolvedPath),
    Command(Script),
    Text(String),
    Nothing,
}

impl Target<'_> {
    pub(super) fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Runs(command) => Target::Command(Script::parse(command)),
            Effect::Other(words) => Target::Text(words.clone()),
            Effect::Reads(_) | Effect::Writes(_) => Target::Nothing,
        }
    }

    /// Returns the words of a command.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let script = match self {
            Target::Command(script) => Some(script),
            Target::Path(_) | Target::Text(_) | Target::Nothing => None,
        };
        script.into_iter().flat_map(|script| script.commands.iter().flatten()).map(|word| word.text.as_str())
    }
}

/// Whether something fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    /// It cannot be told.
    Maybe,
    Yes,
}

impl Rule {
    /// Reads `tool` or `tool(pattern)`.
    pub fn parse(decision: Decision, text: &str) -> Result<Self, RuleError> {
        let shape = || RuleError::Shape { rule: text.to_owned() };
        let trimmed = text.trim();
        let (tool, pattern) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => (tool.trim(), Some(rest.strip_suffix(')').ok_or_else(shape)?.trim())),
        };
        let is_name = |c: char| c.is_alphanumeric() || "_-.:*".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(shape());
        }
        let pattern = match pattern {
            None | Some("*" | "**") => None,
            Some("") => return Err(shape()),
            Some(pattern) => Some(
                Pattern::parse(pattern)
                    .map_err(|source| RuleError::Glob { rule: text.to_owned(), source })?,
            ),
        };
        Ok(Rule { decision, tool: tool.to_owned(), pattern })
    }

    /// Returns what becomes of the calls that the rule is about.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Tells whether the rule is about calls of this tool.
    pub(super) fn concerns(&self, tool: &str, effect: &Effect) -> bool {
        let kind = match effect {
            Effect::Reads(_) => "read",
            Effect::Writes(_) => "write",
            Effect::Runs(_) => "bash",
            Effect::Other(_) => tool,
        };
        self.tool == "*" || self.tool == tool || self.tool == kind
    }

    /// Returns the real directory or file that all paths of the pattern are at or below; none for a name at any depth.
    pub(super) fn base(&self, place: &ResolvedPath) -> Option<PathBuf> {
        let pattern = self.pattern.as_ref()?;
        let base = pattern.start(place.real()).join(pattern.base.as_ref()?);
        paths::real(&base).ok()
    }

    /// Returns true if a pattern of commands contains this word as it is.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.text.split_whitespace().any(|part| part == word))
    }

    /// Tells whether a rule that asks or denies fits.
    pub(super) fn restricts(&self, target: &Target<'_>, place: &ResolvedPath) -> Match {
        let Some(pattern) = &self.pattern else { return Match::Yes };
        match target {
            Target::Path(file) => pattern.restricts_file(file, place),
            Target::Command(script) => script.any_match(&pattern.words),
            Target::Text(text) => pattern.words.matches_text(text),
            Target::Nothing => Match::No,
        }
    }

    /// Tells whether a rule that allows fits something that is no command.
    fn allows(&self, target: &Target<'_>, place: &ResolvedPath) -> bool {
        match (&self.pattern, target) {
            (None, _) => true,
            // What a path leads to counts, and only inside the working directory if the pattern is relative.
            (Some(pattern), Target::Path(file)) => pattern.fits(file.real(), place.real(), false),
            (Some(pattern), Target::Text(text)) => pattern.words.matches_text(text) == Match::Yes,
            (Some(_), Target::Command(_) | Target::Nothing) => false,
        }
    }
}

/// Returns a rule that allows a target. The parts of a command line may be allowed by several rules; then it is
/// the one for the first part.
pub(super) fn allowing<'r>(
    rules: &[&'r Rule],
    target: &Target<'_>,
    place: &ResolvedPath,
) -> Option<&'r Rule> {
    let alone = rules.iter().find(|rule| rule.allows(target, place));
    let (None, Target::Command(script)) = (alone, target) else { return alone.copied() };
    let with_words = rules.iter().filter_map(|rule| Some((*rule, &rule.pattern.as_ref()?.words)));
    let (rules, patterns): (Vec<&Rule>, Vec<&Words>) = with_words.unzip();
    script.allowed_by(&patterns).and_then(|first| rules.get(first)).copied()
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.decision == other.decision && self.to_string() == other.to_string()
    }
}

impl Eq for Rule {}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Some(pattern) => write!(f, "{}({})", self.tool, pattern.text),
            None => f.write_str(&self.tool),
        }
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, globset::Error> {
        let (ups, path) = without_dots(&paths::resolve(Path::new(""), Path::new(text)));
        let is_name = !text.contains('/') && !matches!(text, "." | "..");
        let glob = path.to_string_lossy();
        let glob = GlobBuilder::new(&glob).literal_separator(true).build()?.compile_matcher();
        let base = (!is_name).then(|| literal_base(&path));
        Ok(Pattern { text: text.to_owned(), words: Words::parse(text), glob, ups, base })
    }

    /// Compares with a path as written and with what it leads to, names anywhere.
    fn restricts_file(&self, file: &ResolvedPath, place: &ResolvedPath) -> Match {
        if self.fits(file.real(), place.real(), true) || self.fits(file.lexical(), place.lexical(), true) {
            return Match::Yes;
        }
        if file.real().is_dir() && self.reaches_into(file.real(), place.real()) {
            Match::Maybe
        } else {
            Match::No
        }
    }

    fn fits(&self, path: &Path, cwd: &Path, anywhere: bool) -> bool {
        let inside = path.strip_prefix(cwd);
        match &self.base {
            None => {
                let is_near = anywhere || inside.is_ok();
                is_near && path.file_name().is_some_and(|name| self.glob.is_match(name))
            }
            Some(base) if base.is_absolute() => self.is_match(path),
            Some(_) => path.strip_prefix(self.start(cwd)).is_ok_and(|inside| self.is_match(inside)),
        }
    }

    /// Returns the directory that a relative glob starts from; above the root there is only the root.
    fn start<'p>(&self, cwd: &'p Path) -> &'p Path {
        cwd.ancestors().nth(self.ups).unwrap_or(Path::new("/"))
    }

    /// Compares; `dir/**` matches `dir` too.
    fn is_match(&self, path: &Path) -> bool {
        self.glob.is_match(path) || (self.text.ends_with("/**") && self.glob.is_match(path.join("x")))
    }

    /// Tells whether something below a directory may fit.
    fn reaches_into(&self, dir: &Path, cwd: &Path) -> bool {
        match &self.base {
            None => true,
            Some(base) => {
                let base = self.start(cwd).join(base);
                base.starts_with(dir) || dir.starts_with(&base)
            }
        }
    }
}

/// Takes `.` and `..` out of a glob; gives how many directories it leads up first.
fn without_dots(path: &Path) -> (usize, PathBuf) {
    let (mut ups, mut clean) = (0, PathBuf::new());
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // One directory less than any number of them is any number.
            Component::ParentDir if clean.ends_with("**") => {}
            Component::ParentDir if clean.pop() => {}
            Component::ParentDir => ups += usize::from(!clean.has_root()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    (ups, clean)
}

/// The parts of a glob in front of the first wildcard.
fn literal_base(path: &Path) -> PathBuf {
    let is_literal = |part: &std::path::Component<'_>| {
        !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{', '\\'])
    };
    path.components().take_while(is_literal).collect()
}

//! A rule: a decision about the calls of a tool, or about some of them.
//!
//! ```text
//!   read                 every call that reads
//!   write(src/**)        changes below src
//!   bash(cargo test *)   this command, with anything behind it
//!   grep                 one tool by name
//!   extension(web)       all tools of the extension `web`; `./web` is one of the project
//!   mcp__files__*        all tools whose names begin with this text
//! ```

use std::fmt;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::Decision;
use super::command::Script;
use super::words::Words;
use crate::tool::Effect;
use crate::tools::{ResolvedPath, paths};

/// A decision about some calls.
///
/// `read` names every tool that reads files, `write` every tool that changes files, `bash` every tool that runs
/// commands, `extension` every tool of an extension, `*` all; any other name is that of a tool, and a `*` at its end
/// matches any text. A path pattern is a glob: a relative one starts at the working
/// directory, `..` leads out of it, one without a slash is a name at any depth, `dir/**` includes the directory. A
/// command pattern is compared word by word; the word `*` matches any number of words. The pattern of an extension is its
/// name.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) decision: Decision,
    tool: String,
    pattern: Option<Pattern>,
}

/// The reason why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The text is not `tool` or `tool(pattern)`.
    #[error("`{rule}` is not a rule: write `tool` or `tool(pattern)`")]
    Shape {
        /// The text.
        rule: String,
    },
    /// The pattern is not a valid glob.
    #[error("the pattern of the rule `{rule}` is not valid")]
    Glob {
        /// The text.
        rule: String,
        /// The error of the glob.
        source: globset::Error,
    },
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    words: Words,
    glob: GlobMatcher,
    /// The number of directories above the working directory at which a relative glob starts.
    ups: usize,
    /// The directory that contains everything the glob matches; none for a name at any depth.
    base: Option<PathBuf>,
}

/// The part of a call that a rule is compared with.
#[derive(Debug)]
pub(super) enum Target<'p> {
    Path(&'p ResolvedPath),
    Command(Script),
    /// The name of an extension.
    Extension(String),
    Text(String),
    Nothing,
}

impl Target<'_> {
    pub(super) fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Runs(command) => Target::Command(Script::parse(command)),
            Effect::Extension { extension, .. } => Target::Extension(extension.clone()),
            Effect::Other(words) => Target::Text(words.clone()),
            Effect::Reads(_) | Effect::Writes(_) => Target::Nothing,
        }
    }

    /// Returns the words of a command.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let script = match self {
            Target::Command(script) => Some(script),
            Target::Path(_) | Target::Extension(_) | Target::Text(_) | Target::Nothing => None,
        };
        script.into_iter().flat_map(|script| script.commands.iter().flatten()).map(|word| word.text.as_str())
    }
}

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    /// Unknown before the command runs.
    Maybe,
    Yes,
}

impl Rule {
    /// Parses `tool` or `tool(pattern)`.
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

    /// Returns the decision.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Returns the extension whose tools the rule is about. Returns `None` for a rule about anything else.
    pub fn extension(&self) -> Option<&str> {
        self.pattern.as_ref().filter(|_| self.tool == "extension").map(|pattern| pattern.text.as_str())
    }

    /// Returns true if the rule applies to calls of this tool.
    pub(super) fn concerns(&self, tool: &str, effect: &Effect) -> bool {
        let kind = match effect {
            Effect::Reads(_) => "read",
            Effect::Writes(_) => "write",
            Effect::Runs(_) => "bash",
            Effect::Extension { .. } => "extension",
            Effect::Other(_) => tool,
        };
        let has_beginning = |beginning: &str| !beginning.is_empty() && tool.starts_with(beginning);
        self.tool == "*"
            || self.tool == tool
            || self.tool == kind
            || self.tool.strip_suffix('*').is_some_and(has_beginning)
    }

    /// Returns the real directory or file that contains all paths of the pattern; none for a name at any depth.
    pub(super) fn base(&self, place: &ResolvedPath) -> Option<PathBuf> {
        let pattern = self.pattern.as_ref()?;
        let base = pattern.start(place.real()).join(pattern.base.as_ref()?);
        paths::real(&base).ok()
    }

    /// Returns true if a command pattern contains this word literally.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.text.split_whitespace().any(|part| part == word))
    }

    /// Compares a rule that asks or denies.
    pub(super) fn restricts(&self, target: &Target<'_>, place: &ResolvedPath) -> Match {
        let Some(pattern) = &self.pattern else { return Match::Yes };
        match target {
            Target::Path(file) => pattern.restricts_file(file, place),
            Target::Command(script) => script.any_match(&pattern.words),
            Target::Extension(name) if pattern.text == *name => Match::Yes,
            Target::Text(text) => pattern.words.matches_text(text),
            Target::Extension(_) | Target::Nothing => Match::No,
        }
    }

    /// Compares an allowing rule with anything but a command.
    fn allows(&self, target: &Target<'_>, place: &ResolvedPath) -> bool {
        match (&self.pattern, target) {
            (None, _) => true,
            // The real path counts, and a relative pattern matches only inside the working directory.
            (Some(pattern), Target::Path(file)) => pattern.fits(file.real(), place.real(), false),
            (Some(pattern), Target::Extension(name)) => pattern.text == *name,
            (Some(pattern), Target::Text(text)) => pattern.words.matches_text(text) == Match::Yes,
            (Some(_), Target::Command(_) | Target::Nothing) => false,
        }
    }
}

/// Returns a rule that allows a target. If several rules allow the parts of a command line, returns the rule of the
/// first part.
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

    /// Compares the path as written and the real path, names at any depth.
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

    /// Returns the directory that a relative glob starts at, at most the root.
    fn start<'p>(&self, cwd: &'p Path) -> &'p Path {
        cwd.ancestors().nth(self.ups).unwrap_or(Path::new("/"))
    }

    /// Compares a path; `dir/**` matches `dir` too.
    fn is_match(&self, path: &Path) -> bool {
        self.glob.is_match(path) || (self.text.ends_with("/**") && self.glob.is_match(path.join("x")))
    }

    /// Returns true if something below a directory may match.
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

/// Removes `.` and `..` from a glob. Returns the number of leading `..`.
fn without_dots(path: &Path) -> (usize, PathBuf) {
    let (mut ups, mut clean) = (0, PathBuf::new());
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // `**/..` matches the same as `**`.
            Component::ParentDir if clean.ends_with("**") => {}
            Component::ParentDir if clean.pop() => {}
            Component::ParentDir => ups += usize::from(!clean.has_root()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    (ups, clean)
}

/// Returns the part of a glob before the first wildcard.
fn literal_base(path: &Path) -> PathBuf {
    let is_literal = |part: &std::path::Component<'_>| {
        !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{', '\\'])
    };
    path.components().take_while(is_literal).collect()
}

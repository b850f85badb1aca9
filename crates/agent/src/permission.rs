//! Whether a tool call may run: rules of the user, and what happens without one.
//!
//! (tool, [`Effect`], working directory) -> **[`Verdict`]** -> run it, ask somebody, or refuse
//!
//! Uses `rule` (what users write) and `command` (what a command line runs). Looks at the disk to follow links,
//! and changes nothing.
//!
//! What is judged is what a call says it does. A link that is changed between the verdict and the run is not seen;
//! neither is what a permitted command does. Rules are a help for attention, not a wall around a process.

mod command;
mod rule;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use self::rule::{Match, Target};
pub use self::rule::{Rule, RuleError};
use crate::tool::Effect;
use crate::tools::{is_own_output, paths};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It may run.
    Allow,
    /// Somebody must be asked.
    Ask,
    /// It must not run.
    Deny,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        })
    }
}

/// What happens to calls that somebody must be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Somebody is there: ask.
    #[default]
    AskFor,
    /// Nobody wants to be asked: what no rule denies may run.
    AllowAll,
    /// Nobody can be asked, as in print mode: refuse.
    DenyAsking,
}

/// Why the next calls of tools deserve a closer look: the model has just read what may come from strangers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// The session was imported, and no tool was called since.
    Imported,
    /// Another branch was merged or a part of it picked, and no tool was called since.
    Grafted,
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Caution::Imported => "it is the first since the session was imported",
            Caution::Grafted => "it is the first since another branch was merged or picked from",
        })
    }
}

/// A decision, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What becomes of the call.
    pub decision: Decision,
    /// Why.
    pub reason: Reason,
}

/// Why a call may run, must be asked about, or must not run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A rule says so.
    Rule(Rule),
    /// A rule may concern something below a directory, or a command that cannot be read before it runs.
    MayConcern(Rule),
    /// It reads only inside the working directory.
    ReadsInside,
    /// It reads something outside the working directory.
    ReadsOutside(PathBuf),
    /// It reads the output of an earlier command.
    ReadsOwnOutput,
    /// It changes a file.
    Writes(PathBuf),
    /// It runs a command.
    Runs(String),
    /// It does something else.
    Other(String),
    /// A path leads nowhere, as links in a circle do.
    BadPath(PathBuf),
    /// It would be allowed, but deserves a closer look.
    Caution(Caution),
    /// Somebody should be asked, but everything is allowed.
    EverythingAllowed(Box<Reason>),
    /// Somebody should be asked, but nobody is there.
    NobodyToAsk(Box<Reason>),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Rule(rule) => write!(f, "the rule `{rule}`"),
            Reason::MayConcern(rule) => write!(f, "the rule `{rule}` may concern a part of it"),
            Reason::ReadsInside => f.write_str("it reads inside the working directory"),
            Reason::ReadsOutside(path) => {
                write!(f, "it reads {} outside the working directory", path.display())
            }
            Reason::ReadsOwnOutput => f.write_str("it reads the output of an earlier command"),
            Reason::Writes(path) => write!(f, "it changes {}", path.display()),
            Reason::Runs(command) => write!(f, "it runs `{command}`"),
            Reason::Other(words) => f.write_str(words),
            Reason::BadPath(path) => write!(f, "{} leads nowhere", path.display()),
            Reason::Caution(caution) => caution.fmt(f),
            Reason::EverythingAllowed(reason) => write!(f, "everything is allowed ({reason})"),
            Reason::NobodyToAsk(reason) => write!(f, "nobody can be asked ({reason})"),
        }
    }
}

/// The rules by which calls are judged.
///
/// A rule that denies beats one that asks, which beats one that allows; their order does not matter. Where no rule
/// fits: reading inside the working directory is allowed; reading outside, writing and running are asked about.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// What the user wants.
    pub rules: Vec<Rule>,
    /// What happens to calls that somebody must be asked about.
    pub mode: Mode,
}

impl Permissions {
    /// Makes permissions without rules.
    pub fn new(mode: Mode) -> Self {
        Permissions { rules: Vec::new(), mode }
    }

    /// Reads lists of rules as settings hold them, such as `bash(cargo *)`, `write(src/**)`, `read`.
    pub fn parse<'a>(
        mode: Mode,
        lists: impl IntoIterator<Item = (Decision, &'a [String])>,
    ) -> Result<Self, RuleError> {
        let mut permissions = Permissions::new(mode);
        for (decision, texts) in lists {
            for text in texts {
                permissions.rules.push(Rule::parse(decision, text)?);
            }
        }
        Ok(permissions)
    }

    /// Adds a rule, for instance the answer "always" to a question.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// Judges a call of `tool` that would have this effect, with relative paths from `cwd`.
    ///
    /// Looks at the disk to follow links.
    pub fn judge(&self, tool: &str, effect: &Effect, cwd: &Path) -> Verdict {
        let place =
            Place { written: cwd.to_owned(), real: paths::real(cwd).unwrap_or_else(|_| cwd.to_owned()) };
        let verdict = match effect {
            Effect::Reads(paths) | Effect::Writes(paths) => self.judge_paths(tool, effect, paths, &place),
            Effect::Runs(_) | Effect::Other(_) => self.judge_one(tool, effect, &Target::of(effect), &place),
        };
        self.with_mode(verdict)
    }

    /// Judges a call as [`Permissions::judge`] does; if there is reason for caution, somebody is asked about what would
    /// be allowed, where somebody can be asked.
    pub fn judge_after(&self, caution: Option<Caution>, tool: &str, effect: &Effect, cwd: &Path) -> Verdict {
        let verdict = self.judge(tool, effect, cwd);
        match (caution, verdict.decision, self.mode) {
            (Some(caution), Decision::Allow, Mode::AskFor) => {
                Verdict { decision: Decision::Ask, reason: Reason::Caution(caution) }
            }
            _ => verdict,
        }
    }

    /// Judges every path; the strictest verdict counts.
    fn judge_paths(&self, tool: &str, effect: &Effect, paths: &[PathBuf], place: &Place) -> Verdict {
        let verdicts = paths.iter().map(|path| match place.file(path) {
            Some(file) => self.judge_one(tool, effect, &Target::Path(file), place),
            None => Verdict { decision: Decision::Deny, reason: Reason::BadPath(path.clone()) },
        });
        let strictest = verdicts.reduce(|a, b| if b.decision > a.decision { b } else { a });
        strictest.unwrap_or_else(|| self.judge_one(tool, effect, &Target::Nothing, place))
    }

    fn judge_one(&self, tool: &str, effect: &Effect, target: &Target, place: &Place) -> Verdict {
        let (allowing, restricting): (Vec<&Rule>, Vec<&Rule>) = self
            .rules
            .iter()
            .filter(|rule| rule.concerns(tool, effect))
            .partition(|rule| rule.decision() == Decision::Allow);
        let restricted = restricting
            .iter()
            .filter_map(|rule| restricted_by(rule, rule.restricts(target, place)))
            .reduce(|a, b| if b.decision > a.decision { b } else { a });
        restricted
            .or_else(|| rule::allowing(&allowing, target, place).map(allowed_by))
            .unwrap_or_else(|| without_rule(effect, target, place))
    }

    fn with_mode(&self, verdict: Verdict) -> Verdict {
        match (verdict.decision, self.mode) {
            (Decision::Ask, Mode::AllowAll) => Verdict {
                decision: Decision::Allow,
                reason: Reason::EverythingAllowed(Box::new(verdict.reason)),
            },
            (Decision::Ask, Mode::DenyAsking) => {
                Verdict { decision: Decision::Deny, reason: Reason::NobodyToAsk(Box::new(verdict.reason)) }
            }
            (Decision::Ask, Mode::AskFor) | (Decision::Allow | Decision::Deny, _) => verdict,
        }
    }
}

fn allowed_by(rule: &Rule) -> Verdict {
    Verdict { decision: Decision::Allow, reason: Reason::Rule(rule.clone()) }
}

/// What a rule that asks or denies makes of a target; that it may fit is enough to ask.
fn restricted_by(rule: &Rule, found: Match) -> Option<Verdict> {
    match found {
        Match::No => None,
        Match::Maybe => Some(Verdict { decision: Decision::Ask, reason: Reason::MayConcern(rule.clone()) }),
        Match::Yes => Some(Verdict { decision: rule.decision(), reason: Reason::Rule(rule.clone()) }),
    }
}

fn without_rule(effect: &Effect, target: &Target, place: &Place) -> Verdict {
    let (decision, reason) = match (effect, target) {
        (Effect::Reads(_), Target::Path(file)) if file.real.starts_with(&place.real) => {
            (Decision::Allow, Reason::ReadsInside)
        }
        (Effect::Reads(_), Target::Path(file)) if is_own_output(&file.real) => {
            (Decision::Allow, Reason::ReadsOwnOutput)
        }
        (Effect::Reads(_), Target::Path(file)) => (Decision::Ask, Reason::ReadsOutside(file.real.clone())),
        (Effect::Reads(_), _) => (Decision::Allow, Reason::ReadsInside),
        (Effect::Writes(_), Target::Path(file)) => (Decision::Ask, Reason::Writes(file.real.clone())),
        (Effect::Writes(_), _) => (Decision::Ask, Reason::Writes(place.real.clone())),
        (Effect::Runs(command), _) => (Decision::Ask, Reason::Runs(command.clone())),
        (Effect::Other(words), _) => (Decision::Ask, Reason::Other(words.clone())),
    };
    Verdict { decision, reason }
}

/// The working directory.
#[derive(Debug)]
struct Place {
    /// As it was given.
    written: PathBuf,
    /// With all links followed.
    real: PathBuf,
}

impl Place {
    fn file(&self, path: &Path) -> Option<FilePath> {
        let absolute = paths::resolve(&self.written, path);
        let real = paths::real(&absolute).ok()?;
        Some(FilePath { written: paths::normalised(&absolute), is_dir: real.is_dir(), real })
    }
}

/// A path that a call names.
#[derive(Debug)]
struct FilePath {
    /// Absolute, but with links as they are.
    written: PathBuf,
    /// What it leads to.
    real: PathBuf,
    is_dir: bool,
}

#[cfg(test)]
mod tests;

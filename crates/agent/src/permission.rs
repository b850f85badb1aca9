//! Permissions of tool calls: the rules of the user and the defaults.
//!
//! (tool, [`Effect`], working directory) -> **[`Verdict`]** -> run, ask the user, or refuse
//!
//! Uses `rule` (the rules users write) and `command` (the commands of a shell line). Reads links from the disk and
//! changes nothing.
//!
//! A call is judged by its declared effect; the effects of a permitted command are not observed. A tool opens the file
//! that was judged, or fails if links have changed since then. Rules help the user to pay attention; they do not
//! confine a process.

mod command;
mod rule;
mod similar;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::command::is_risky_program;
use self::rule::{Match, Target};
pub use self::rule::{Rule, RuleError};
pub(crate) use self::similar::always_rule;
use crate::secrets::{Protection, Secrets};
use crate::tool::Effect;
use crate::tools::{ReadyCall, ResolvedPath, is_own_output};

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The user must be asked.
    Ask,
    /// The call must not run.
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

/// How to handle calls that need the user's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Ask the user.
    #[default]
    AskFor,
    /// Allow everything that no rule denies.
    AllowAll,
    /// Refuse, because there is no user to ask, as in print mode.
    DenyAsking,
}

/// The reason to show the next tool call to the user: the model has just read text that may come from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProvenanceWarning {
    /// The session was imported, and no tool has been called since.
    Imported,
    /// Entries of another branch were merged or picked, and no tool has been called since.
    PickedOrMerged,
}

impl fmt::Display for ProvenanceWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProvenanceWarning::Imported => "it is the first since the session was imported",
            ProvenanceWarning::PickedOrMerged => {
                "it is the first since another branch was merged or picked from"
            }
        })
    }
}

/// A decision and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The reason.
    pub reason: Reason,
}

/// The reason of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A rule matches.
    Rule(Rule),
    /// A rule may match something below a directory, or a command that is only known when it runs.
    MayConcern(Rule),
    /// The call reads only inside the working directory.
    ReadsInside,
    /// The call reads outside the working directory.
    ReadsOutside(PathBuf),
    /// The call reads the output of an earlier command.
    ReadsOwnOutput,
    /// The call changes a file.
    Writes(PathBuf),
    /// The call runs a command.
    Runs(String),
    /// The call runs a tool of an extension.
    Extension {
        /// The name of the tool.
        tool: String,
        /// The extension, as rules name it.
        extension: String,
    },
    /// The call does something else.
    Other(String),
    /// A path cannot be resolved, for instance because its links form a circle.
    BadPath(PathBuf),
    /// The call opens a file with offshoot's own credentials.
    OpensCredentials(PathBuf),
    /// The call opens a file in a well-known place of secrets.
    OpensSecrets(PathBuf),
    /// The call changes a file of a git directory, such as a hook, which git runs.
    ChangesGit(PathBuf),
    /// The call would be allowed, but the user should look at it.
    Provenance(ProvenanceWarning),
    /// The call needs approval, but everything is allowed.
    EverythingAllowed(Box<Reason>),
    /// The call needs approval, but there is no user to ask.
    NoUser(Box<Reason>),
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
            Reason::Extension { tool, extension } => {
                write!(f, "the tool `{tool}` of the extension `{extension}`")
            }
            Reason::Other(words) => f.write_str(words),
            Reason::BadPath(path) => write!(f, "{} leads nowhere", path.display()),
            Reason::OpensCredentials(path) => write!(f, "{} holds credentials", path.display()),
            Reason::OpensSecrets(path) => write!(f, "{} may hold secrets", path.display()),
            Reason::ChangesGit(path) => write!(f, "it changes {} in a git directory", path.display()),
            Reason::Provenance(provenance) => provenance.fmt(f),
            Reason::EverythingAllowed(reason) => write!(f, "everything is allowed ({reason})"),
            Reason::NoUser(reason) => write!(f, "there is no user to ask ({reason})"),
        }
    }
}

/// The rules about tool calls.
///
/// A rule that denies beats one that asks, which beats one that allows; their order does not matter. If no rule
/// matches, reading inside the working directory is allowed, and reading outside, writing and running ask the user.
///
/// Files with offshoot's own credentials are always denied. Well-known places of secrets ask the user, unless an
/// allowing rule names the place itself: `read(~/.ssh/config)` does, `read` and `read(~/**)` do not. The same holds for
/// writing into `.git`, where hooks are.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// The rules of the user.
    pub rules: Vec<Rule>,
    /// How to handle calls that need approval.
    pub mode: Mode,
    /// The files that are denied or asked about regardless of the rules.
    pub secrets: Arc<Secrets>,
}

impl Permissions {
    /// Creates permissions without rules.
    pub fn new(mode: Mode) -> Self {
        Permissions { rules: Vec::new(), mode, secrets: Arc::default() }
    }

    /// Parses rules as settings store them, such as `bash(cargo *)`, `write(src/**)`, `read`.
    pub fn parse<'a>(
        mode: Mode,
        rules: impl IntoIterator<Item = (Decision, &'a str)>,
    ) -> Result<Self, RuleError> {
        let rules = rules.into_iter().map(|(decision, text)| Rule::parse(decision, text));
        Ok(Permissions { rules: rules.collect::<Result<_, _>>()?, ..Permissions::new(mode) })
    }

    /// Judges a call of `tool` with this effect. Relative paths start at `cwd`. Reads links from the disk.
    pub fn judge(&self, tool: &str, effect: &Effect, cwd: &Path) -> Verdict {
        let resolve = |path: &PathBuf| ResolvedPath::new(cwd, path).map_err(|_| path.clone());
        match effect.paths().iter().map(resolve).collect::<Result<Vec<ResolvedPath>, PathBuf>>() {
            Ok(paths) => self.judge_resolved(tool, effect, &paths, cwd),
            Err(path) => Verdict { decision: Decision::Deny, reason: Reason::BadPath(path) },
        }
    }

    /// Judges a call by the paths that its tool will open.
    pub fn judge_call(&self, ready: &ReadyCall) -> Verdict {
        let ReadyCall { call, effect, place, provenance, .. } = ready;
        self.with_provenance(*provenance, self.judge_resolved(&call.name, effect, &place.paths, &place.cwd))
    }

    fn judge_resolved(&self, tool: &str, effect: &Effect, paths: &[ResolvedPath], cwd: &Path) -> Verdict {
        let Ok(place) = ResolvedPath::new(cwd, Path::new(".")) else {
            return Verdict { decision: Decision::Deny, reason: Reason::BadPath(cwd.to_owned()) };
        };
        let verdict = match effect {
            Effect::Reads(_) | Effect::Writes(_) => self.judge_paths(tool, effect, paths, &place),
            Effect::Runs(_) => self.judge_command(tool, effect, &place),
            Effect::Extension { .. } | Effect::Other(_) => {
                self.judge_one(tool, effect, &Target::of(effect), &place)
            }
        };
        self.with_mode(verdict)
    }

    fn with_provenance(&self, provenance: Option<ProvenanceWarning>, verdict: Verdict) -> Verdict {
        match (provenance, verdict.decision, self.mode) {
            (Some(provenance), Decision::Allow, Mode::AskFor) => {
                Verdict { decision: Decision::Ask, reason: Reason::Provenance(provenance) }
            }
            _ => verdict,
        }
    }

    /// Judges every path. The strictest verdict wins.
    fn judge_paths(
        &self,
        tool: &str,
        effect: &Effect,
        paths: &[ResolvedPath],
        place: &ResolvedPath,
    ) -> Verdict {
        let verdicts = paths.iter().map(|path| self.judge_file(tool, effect, path, place));
        let strictest = verdicts.reduce(|a, b| if b.decision > a.decision { b } else { a });
        strictest.unwrap_or_else(|| self.judge_one(tool, effect, &Target::Nothing, place))
    }

    /// Judges a file by its protection, otherwise by the rules.
    fn judge_file(&self, tool: &str, effect: &Effect, file: &ResolvedPath, place: &ResolvedPath) -> Verdict {
        let protected = self.protected(effect, file.real());
        let verdict = self.judge_one(tool, effect, &Target::Path(file), place);
        let is_named =
            |rule: &Rule| rule.base(place).is_some_and(|base| self.protected(effect, &base).is_some());
        match (protected, &verdict.reason) {
            (Some(denied @ Verdict { decision: Decision::Deny, .. }), _) => denied,
            (Some(_), Reason::Rule(rule)) if is_named(rule) => verdict,
            (Some(asked), _) if verdict.decision != Decision::Deny => asked,
            (Some(_) | None, _) => verdict,
        }
    }

    /// Judges a command by the rules, unless one of its words names a protected file. Best effort: a shell can build a
    /// path in many ways.
    fn judge_command(&self, tool: &str, effect: &Effect, place: &ResolvedPath) -> Verdict {
        let target = Target::of(effect);
        let verdict = self.judge_one(tool, effect, &target, place);
        let words = target.words().flat_map(|word| word.split('='));
        let named = words.filter(|word| word.contains(['/', '.'])).filter_map(|word| {
            let is_in_rule = matches!(&verdict.reason, Reason::Rule(rule) if rule.has_word(word));
            let real = ResolvedPath::new(place.lexical(), Path::new(word)).ok()?;
            self.protected(&Effect::Reads(Vec::new()), real.real())
                .filter(|protected| protected.decision == Decision::Deny || !is_in_rule)
        });
        match named.reduce(|a, b| if b.decision > a.decision { b } else { a }) {
            Some(protected) if protected.decision > verdict.decision => protected,
            _ => verdict,
        }
    }

    /// Judges a file by its protection. Returns `None` if it is not protected.
    fn protected(&self, effect: &Effect, real: &Path) -> Option<Verdict> {
        let path = real.to_owned();
        let (decision, reason) = match self.secrets.protection(real) {
            Some(Protection::Denied) => (Decision::Deny, Reason::OpensCredentials(path)),
            Some(Protection::Asked) => (Decision::Ask, Reason::OpensSecrets(path)),
            None if matches!(effect, Effect::Writes(_)) && real.iter().any(|name| name == ".git") => {
                (Decision::Ask, Reason::ChangesGit(path))
            }
            None => return None,
        };
        Some(Verdict { decision, reason })
    }

    fn judge_one(&self, tool: &str, effect: &Effect, target: &Target<'_>, place: &ResolvedPath) -> Verdict {
        let (allowing, restricting): (Vec<&Rule>, Vec<&Rule>) = self
            .rules
            .iter()
            .filter(|rule| rule.concerns(tool, effect))
            .partition(|rule| rule.decision == Decision::Allow);
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
                Verdict { decision: Decision::Deny, reason: Reason::NoUser(Box::new(verdict.reason)) }
            }
            (Decision::Ask, Mode::AskFor) | (Decision::Allow | Decision::Deny, _) => verdict,
        }
    }
}

fn allowed_by(rule: &Rule) -> Verdict {
    Verdict { decision: Decision::Allow, reason: Reason::Rule(rule.clone()) }
}

/// Returns the verdict of a rule that asks or denies. A possible match asks the user.
fn restricted_by(rule: &Rule, found: Match) -> Option<Verdict> {
    match found {
        Match::No => None,
        Match::Maybe => Some(Verdict { decision: Decision::Ask, reason: Reason::MayConcern(rule.clone()) }),
        Match::Yes => Some(Verdict { decision: rule.decision, reason: Reason::Rule(rule.clone()) }),
    }
}

fn without_rule(effect: &Effect, target: &Target<'_>, place: &ResolvedPath) -> Verdict {
    let (decision, reason) = match (effect, target) {
        (Effect::Reads(_), Target::Path(file)) if file.real().starts_with(place.real()) => {
            (Decision::Allow, Reason::ReadsInside)
        }
        (Effect::Reads(_), Target::Path(file)) if is_own_output(file.real()) => {
            (Decision::Allow, Reason::ReadsOwnOutput)
        }
        (Effect::Reads(_), Target::Path(file)) => {
            (Decision::Ask, Reason::ReadsOutside(file.real().to_owned()))
        }
        (Effect::Reads(_), _) => (Decision::Allow, Reason::ReadsInside),
        (Effect::Writes(_), Target::Path(file)) => (Decision::Ask, Reason::Writes(file.real().to_owned())),
        (Effect::Writes(_), _) => (Decision::Ask, Reason::Writes(place.real().to_owned())),
        (Effect::Runs(command), _) => (Decision::Ask, Reason::Runs(command.clone())),
        (Effect::Extension { tool, extension }, _) => {
            let (tool, extension) = (tool.clone(), extension.clone());
            (Decision::Ask, Reason::Extension { tool, extension })
        }
        (Effect::Other(words), _) => (Decision::Ask, Reason::Other(words.clone())),
    };
    Verdict { decision, reason }
}

#[cfg(test)]
mod tests;

//! One settings file, as it was read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use session_tree::json::{Doc, SyntaxError};

use super::check::{self, Finding, Oddity};
use super::file::File;
use super::schema;
use crate::error::{CommandError, Failure};

/// Whose settings they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The person's own.
    User,
    /// Those of the project; they may be stricter, not more generous.
    Project,
}

/// One settings file, as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// The file.
    pub(crate) path: PathBuf,
    /// What it says, as far as it counts.
    pub(crate) values: File,
    /// The same as it is written, to tell what was said and what was not.
    pub(crate) said: Json,
    /// What a person should know about it.
    pub(crate) warnings: Vec<String>,
}

/// What would let a project send keys elsewhere, or allow itself what its user has not allowed.
const ONLY_OWN: [&[&str]; 6] = [
    &["providers"],
    &["permissions", "allow"],
    &["shell", "passVariables"],
    &["defaultProjectTrust"],
    &["extensions"],
    &["piExtensions"],
];

impl Layer {
    /// Reads a file; none if there is none.
    pub(super) fn read(path: PathBuf, owner: Owner) -> Result<Option<Self>, CommandError> {
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(path, &text, owner).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CommandError::system("read", &path, &error)),
        }
    }

    /// Reads the text of a file.
    pub(super) fn parse(path: PathBuf, text: &str, owner: Owner) -> Result<Self, CommandError> {
        let doc = Doc::parse(text.as_bytes().to_vec()).map_err(|error| no_json(&path, text, &error))?;
        let mut said: Json =
            serde_json::from_str(text).map_err(|error| wrong(&path, error.line(), &error.to_string()))?;
        let mut found = check::check(&doc, &schema());
        if owner == Owner::Project {
            found.extend(only_own(&doc, &mut said));
        }
        let (bad, odd): (Vec<Finding>, Vec<Finding>) =
            found.into_iter().partition(|finding| matches!(finding.oddity, Oddity::Wrong { .. }));
        refuse(&path, &bad)?;
        let values = File::deserialize_from(&said).map_err(|error| wrong(&path, 1, &error.to_string()))?;
        let warnings = odd.iter().map(|finding| finding.told(&path)).collect();
        Ok(Layer { path, values, said, warnings })
    }
}

impl File {
    fn deserialize_from(said: &Json) -> serde_json::Result<Self> {
        serde::Deserialize::deserialize(said)
    }
}

/// Takes out what counts only in a person's own settings.
fn only_own(doc: &Doc, said: &mut Json) -> Vec<Finding> {
    let mut found = Vec::new();
    for path in ONLY_OWN {
        let Some(value) = path.iter().try_fold(doc.root(), |value, key| value.get(key)) else { continue };
        let line = check::line_of(doc.text(), value.range().start);
        found.push(Finding { line, key: path.join("."), oddity: Oddity::OnlyOwn });
        let holder = format!("/{}", path[..path.len() - 1].join("/"));
        let holder = if path.len() == 1 { Some(&mut *said) } else { said.pointer_mut(&holder) };
        if let (Some(Json::Object(holder)), Some(key)) = (holder, path.last()) {
            holder.shift_remove(*key);
        }
    }
    found
}

impl Finding {
    fn told(&self, path: &Path) -> String {
        let (place, key) = (format!("{}:{}", path.display(), self.line), &self.key);
        match &self.oddity {
            Oddity::Unknown => format!("{place}: there is no setting `{key}`"),
            Oddity::OnlyOwn => {
                format!("{place}: `{key}` of a project does not count, only that of your own settings")
            }
            Oddity::Wrong { expected, found } if key.is_empty() => {
                format!("{place}: settings must be {expected}, not {found}")
            }
            Oddity::Wrong { expected, found } => format!("{place}: `{key}` must be {expected}, not {found}"),
        }
    }
}

fn refuse(path: &Path, bad: &[Finding]) -> Result<(), CommandError> {
    let Some((first, others)) = bad.split_first() else { return Ok(()) };
    let failure = Failure::new(first.told(path));
    let failure = others.iter().take(5).fold(failure, |failure, other| failure.hint(other.told(path)));
    Err(failure.hint(HINT).into())
}

const HINT: &str = "`offshoot settings schema` and docs/settings.md tell what it may hold";

fn no_json(path: &Path, text: &str, error: &SyntaxError) -> CommandError {
    wrong(path, check::line_of(text.as_bytes(), error.at), error.reason)
}

fn wrong(path: &Path, line: usize, reason: &str) -> CommandError {
    Failure::new(format!("{}:{line}: {reason}", path.display())).hint(HINT).into()
}

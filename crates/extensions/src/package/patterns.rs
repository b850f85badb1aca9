//! Patterns that choose files of a package or of a directory of resources.
//!
//! `a/*.ts` includes, `!a/*.ts` excludes, `+a/b.ts` includes exactly this file and `-a/b.ts` excludes it. A pattern is compared
//! with the path below the base directory, with the whole path and with the name; for a `SKILL.md` also with its directory.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

/// Patterns in the order of their effect.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    includes: Vec<GlobMatcher>,
    excludes: Vec<GlobMatcher>,
    exact_includes: Vec<String>,
    exact_excludes: Vec<String>,
}

/// Returns true if an entry of a list excludes files or names one exactly, and is not a path to load.
pub fn is_override(entry: &str) -> bool {
    entry.starts_with(['!', '+', '-'])
}

/// Returns true if an entry of a list is a glob.
pub(super) fn is_glob(entry: &str) -> bool {
    entry.contains(['*', '?'])
}

impl Patterns {
    /// Parses patterns. A pattern that cannot be parsed matches nothing.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let mut parsed = Patterns::default();
        for pattern in patterns {
            match pattern.split_at_checked(1) {
                Some(("!", glob)) => parsed.excludes.extend(compile(glob)),
                Some(("+", path)) => parsed.exact_includes.push(exact(path)),
                Some(("-", path)) => parsed.exact_excludes.push(exact(path)),
                _ => parsed.includes.extend(compile(pattern)),
            }
        }
        parsed
    }

    /// Returns the files that are chosen: those that are included, or all without such a pattern.
    pub fn select(&self, files: Vec<PathBuf>, base: &Path) -> Vec<PathBuf> {
        files.into_iter().filter(|file| self.chooses(file, base, self.includes.is_empty())).collect()
    }

    /// Returns true if a file that was found without these patterns is not excluded by them.
    pub fn allows(&self, file: &Path, base: &Path) -> bool {
        self.chooses(file, base, true)
    }

    /// Returns true if a path below a base directory is included. Names alone do not count.
    pub(super) fn matches_path(&self, path: &Path, base: &Path) -> bool {
        let below = path.strip_prefix(base).unwrap_or(path);
        self.includes.iter().any(|glob| glob.is_match(below))
    }

    fn chooses(&self, file: &Path, base: &Path, includes_all: bool) -> bool {
        let names = names(file, base);
        let matches = |globs: &[GlobMatcher]| globs.iter().any(|glob| names.any(|name| glob.is_match(name)));
        let is_named = |exact: &[String]| exact.iter().any(|path| names.full().any(|name| name == path));
        let chosen = (includes_all || matches(&self.includes)) && !matches(&self.excludes);
        (chosen || is_named(&self.exact_includes)) && !is_named(&self.exact_excludes)
    }
}

fn compile(glob: &str) -> Option<GlobMatcher> {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let built = GlobBuilder::new(glob).literal_separator(true).build().ok()?;
    Some(built.compile_matcher())
}

fn exact(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// The texts that a file is compared by.
struct Names {
    /// Paths, below the base and from the root.
    paths: Vec<String>,
    /// Names without a directory.
    short: Vec<String>,
}

impl Names {
    fn full(&self) -> impl Iterator<Item = &String> {
        self.paths.iter()
    }

    fn any(&self, matches: impl Fn(&str) -> bool) -> bool {
        self.paths.iter().chain(&self.short).any(|name| matches(name))
    }
}

fn names(file: &Path, base: &Path) -> Names {
    let mut names = Names { paths: Vec::new(), short: Vec::new() };
    let directory = file.parent().filter(|_| file.ends_with("SKILL.md"));
    for path in [Some(file), directory].into_iter().flatten() {
        let below = path.strip_prefix(base).unwrap_or(path);
        names.paths.extend([below, path].map(|path| path.to_string_lossy().into_owned()));
        names.short.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    }
    names
}

#[cfg(test)]
mod tests;

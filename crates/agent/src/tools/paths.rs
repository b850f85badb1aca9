//! Paths as models write them, and what they name.
//!
//! Tools and permissions resolve paths with the same functions: what was permitted is what is touched.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::{env, fs, io};

use similar::get_close_matches;

use super::work::FileTarget;

/// How many links a path may go through; as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Makes a path absolute: `~` is the home directory, a leading `@` (a mention) is dropped, the rest starts at `cwd`.
pub(crate) fn resolve(cwd: &Path, path: &Path) -> PathBuf {
    let text = path.to_str().map(|text| text.strip_prefix('@').unwrap_or(text));
    match text {
        Some("~") => env::home_dir().unwrap_or_else(|| cwd.join("~")),
        Some(text) => match (text.strip_prefix("~/"), env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => cwd.join(text),
        },
        None => cwd.join(path),
    }
}

/// Removes `.` and `..` without looking at the disk.
pub(crate) fn normalised(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    clean
}

/// Follows every link of an absolute path, also where its last parts do not exist yet.
///
/// ```text
///   /project/out/../new/file   with out -> /elsewhere/dir   =>   /elsewhere/new/file
/// ```
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    let mut reached = PathBuf::new();
    let mut left: Vec<PathBuf> = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop() {
        match part.components().next() {
            None | Some(Component::CurDir) => continue,
            Some(Component::ParentDir) => {
                reached.pop();
                continue;
            }
            Some(Component::Prefix(_) | Component::RootDir) => {
                reached = part;
                continue;
            }
            Some(Component::Normal(_)) => reached.push(part),
        }
        if let Ok(target) = fs::read_link(&reached) {
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("too many symbolic links"));
            }
            reached.pop();
            left.extend(parts(&target));
        }
    }
    Ok(reached)
}

/// The parts of a path, last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// Writes a path for a result: relative to `cwd` when it is inside, `/` between names, no control characters.
pub(crate) fn shown(cwd: &Path, path: &Path) -> String {
    let path = path.strip_prefix(cwd).unwrap_or(path);
    let text = if path.as_os_str().is_empty() { ".".into() } else { path.to_string_lossy() };
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// Says that a path does not exist, and what does: names that are alike, or how far the path goes.
pub(crate) fn missing(cwd: &Path, target: &FileTarget) -> String {
    let told = format!("{} does not exist", shown(cwd, &target.shown));
    let alike = alike(&target.real);
    if !alike.is_empty() {
        let names = alike.iter().filter_map(|path| path.file_name());
        let names: Vec<String> = names.map(|name| shown(cwd, &target.shown.with_file_name(name))).collect();
        return format!("{told}. Did you mean {}?", names.join(" or "));
    }
    let existing = target.real.ancestors().skip(1).position(Path::is_dir);
    match existing.and_then(|levels| target.shown.ancestors().nth(levels + 1)) {
        Some(there) if Some(there) != target.shown.parent() => {
            format!("{told}. The path exists as far as {}", shown(cwd, there))
        }
        _ => told,
    }
}

/// Up to three siblings whose names are like the name of `path`.
fn alike(path: &Path) -> Vec<PathBuf> {
    let (Some(name), Some(parent)) = (path.file_name().and_then(OsStr::to_str), path.parent()) else {
        return Vec::new();
    };
    let siblings = fs::read_dir(parent).into_iter().flatten().flatten().take(10_000);
    let mut names: Vec<String> = siblings.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let close = get_close_matches(name.to_lowercase().as_str(), &lower, 3, 0.6);
    let mut found: Vec<PathBuf> = Vec::new();
    for match_ in close {
        let same = names.iter().zip(&lower).filter(|(_, lower)| **lower == match_);
        found.extend(
            same.map(|(name, _)| parent.join(name)).filter(|path| !found.contains(path)).collect::<Vec<_>>(),
        );
    }
    found.truncate(3);
    found
}

#[cfg(test)]
mod tests;

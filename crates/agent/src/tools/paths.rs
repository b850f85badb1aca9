//! Resolves paths as models write them.
//!
//! Tools and permissions use the same functions, so the judged file is the opened one.

use std::path::{Component, Path, PathBuf};
use std::{env, fs, io};

/// The maximum number of links in a path, the same as on Linux.
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

/// Follows every link of an absolute path. Its last parts need not exist.
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

/// Returns the parts of a path, last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// Formats a path for a result: relative to `cwd` if it is inside, `/` between names, no control characters.
pub(crate) fn shown(cwd: &Path, path: &Path) -> String {
    let path = path.strip_prefix(cwd).unwrap_or(path);
    let text = if path.as_os_str().is_empty() { ".".into() } else { path.to_string_lossy() };
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests;

//! Names of session directories and session files, as in pi.
//!
//! A base type.

use crate::time::Timestamp;

/// Returns the name of the directory that holds the sessions of a working directory.
///
/// Different working directories can get the same name; the header of each session has the real one.
///
/// ```
/// # use session_tree::encode_cwd;
/// assert_eq!(encode_cwd("/home/a/b c"), "--home-a-b c--");
/// assert_eq!(encode_cwd("/"), "----");
/// assert_eq!(encode_cwd(r"C:\Users\x"), "--C--Users-x--");
/// assert_eq!(encode_cwd("/a-b/c"), encode_cwd("/a/b-c"));
/// ```
pub fn encode_cwd(cwd: &str) -> String {
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", inner.replace(['/', '\\', ':'], "-"))
}

/// Returns the name of the file of a session.
///
/// ```
/// # use session_tree::{Timestamp, session_file_name};
/// let created = Timestamp::parse("2025-12-09T00:52:54.397Z").unwrap();
/// assert_eq!(session_file_name(created, "s1"), "2025-12-09T00-52-54-397Z_s1.jsonl");
/// ```
pub fn session_file_name(created: Timestamp, id: &str) -> String {
    format!("{}_{id}.jsonl", created.to_string().replace([':', '.'], "-"))
}

/// Returns true if two texts name the same working directory. Links are not resolved.
#[cfg(feature = "catalog")]
pub(crate) fn same_cwd(one: &str, other: &str) -> bool {
    parts(one).eq(parts(other))
}

/// The parts of a path without empty ones and single dots.
#[cfg(feature = "catalog")]
fn parts(path: &str) -> impl Iterator<Item = &str> {
    // On Windows, where paths do not begin with a slash, a backslash is a separator too.
    let windows = !path.starts_with('/');
    let pieces = path.split(move |c| c == '/' || windows && c == '\\');
    pieces.filter(|part| !part.is_empty() && *part != ".")
}

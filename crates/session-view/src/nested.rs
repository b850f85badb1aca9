//! The tree as JSON in the shape of pi: the children of an entry are inside it.

use serde::Serialize;
use session_tree::{Error, Session};

/// Writes the tree as a list of `{entry, label?, labelTimestamp?, children}`. The tree may be a million entries deep, so
/// brackets are opened and closed during the walk.
///
/// # Errors
///
/// If an entry cannot be read, and the errors of `write`.
pub fn write_nested<E: From<Error>>(
    session: &Session,
    write: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut open: Vec<u32> = Vec::new();
    write(b"[")?;
    let mut is_first = true;
    for (node, depth) in session.tree().ordered() {
        while open.pop_if(|last| *last >= depth).is_some() {
            write(b"]}")?;
            is_first = false;
        }
        if !is_first {
            write(b",")?;
        }
        write(b"{\"entry\":")?;
        write(&json(&session.entry_at(node)?))?;
        if let Some(label) = session.label(node) {
            write(b",\"label\":")?;
            write(&json(&label.text))?;
            write(b",\"labelTimestamp\":")?;
            write(&json(&label.set_at.to_string()))?;
        }
        write(b",\"children\":[")?;
        open.push(depth);
        is_first = true;
    }
    write("]}".repeat(open.len()).as_bytes())?;
    write(b"]")
}

/// Spells a value; `null` if it cannot be a part of a JSON text.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}

//! The outline as text, one line per row.

use std::fmt;

use session_tree::Session;

use super::{Charset, Outline, OutlineOptions};

/// How many rows are read at once.
const CHUNK: usize = 256;

/// The outline of a session as text; see [`outline`].
#[derive(Debug)]
pub struct OutlineText<'s> {
    session: &'s Session,
    rows: Outline,
    charset: Charset,
}

/// Returns the tree of a session as text: one line per entry, children below their parents.
pub fn outline(session: &Session) -> OutlineText<'_> {
    let rows = Outline::new(session, OutlineOptions::default());
    OutlineText { session, rows, charset: Charset::default() }
}

/// Entries that cannot be read end the text with the error.
impl fmt::Display for OutlineText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for start in (0..self.rows.len()).step_by(CHUNK) {
            match self.rows.rows(self.session, start..start + CHUNK) {
                Ok(rows) => {
                    for row in rows {
                        writeln!(f, "{}{}", row.prefix(self.charset), row.text)?;
                    }
                }
                Err(error) => return writeln!(f, "({error})"),
            }
        }
        Ok(())
    }
}

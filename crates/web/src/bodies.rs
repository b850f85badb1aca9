//! Bodies: what entries say, one line each, in parts of a size that a page reads at once.
//!
//! lines of JSON -> **bodies** -> parts
//!
//! A page reads a line when it is needed, so a line that is no JSON after all hides nothing but itself.

use std::io;

use crate::parts::Parts;
use crate::text::Json;

/// How many bytes one part holds at the most, unless a single entry has more.
const PART: usize = 384 * 1024;
/// How many entries one part holds at the most.
const PART_ENTRIES: usize = 512;

/// The bodies of the next part.
pub(crate) struct Bodies {
    lines: Json,
    count: usize,
    /// How many entries stand in the parts before.
    done: usize,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { lines: Json::with_capacity(2 * PART), count: 0, done: 0 }
    }
}

impl Bodies {
    /// Begins the line of the next entry, which the caller writes.
    pub(crate) fn next(&mut self) -> &mut Json {
        if self.count > 0 {
            self.lines.push(b'\n');
        }
        self.count += 1;
        &mut self.lines
    }

    /// Writes a part if there is enough for one.
    pub(crate) fn end_if_full(&mut self, parts: &mut Parts<'_>) -> io::Result<()> {
        if self.lines.len() > PART || self.count >= PART_ENTRIES { self.end(parts) } else { Ok(()) }
    }

    /// Writes what there is.
    pub(crate) fn end(&mut self, parts: &mut Parts<'_>) -> io::Result<()> {
        if self.count > 0 {
            parts.write("entries", self.done, &self.lines)?;
            self.lines.clear();
            // A single huge entry must not be paid for until the end.
            self.lines.shrink_to(2 * PART);
            self.done += std::mem::take(&mut self.count);
        }
        Ok(())
    }
}

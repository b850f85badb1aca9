//! Copies a session between two storages, any number of times.

use std::collections::HashSet;

use session_tree::journal::{Journal, NewLine, NewLines, ReadAt};
use session_tree::json::Cursor;
use session_tree::{EntryId, Error, Result};

/// How many bytes are read and appended at once.
const PORTION: usize = 4 << 20;

/// The result of [`copy_missing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// The number of lines that were appended.
    pub lines: usize,
    /// True if both sessions have the same bytes now. They differ if entries were appended to both since the last copy.
    pub is_identical: bool,
}

/// Appends the lines of a session to another one that lacks them.
///
/// A session that is empty or has only the first lines of the other becomes identical to it. Otherwise the entries whose ids
/// it lacks are appended in their order; both sessions then have the same tree. Copying again appends nothing.
///
/// # Errors
///
/// Fails if the two have different headers, if one of them ends in the middle of a line, or if a storage fails. Lines that
/// were appended before stay, and the next call goes on behind them.
pub fn copy_missing(source: &dyn Journal, target: &mut dyn Journal) -> Result<Copied> {
    let source_length = whole_length(source)?;
    let target_length = whole_length(target)?;
    let mut copied = Copied { lines: 0, is_identical: true };
    if is_prefix(target, target_length, source, source_length)? {
        each_portion(source, target_length..source_length, &mut |lines| {
            copied.lines += append(target, lines, 0)?;
            Ok(())
        })?;
        return Ok(copied);
    }
    let (from, to) = (first_line(source, source_length)?, first_line(target, target_length)?);
    let id = |line: &[u8]| Cursor::new(line).get("id").and_then(Cursor::as_str).map(Into::into);
    if id(&from).is_none_or(|from: String| Some(from) != id(&to)) {
        return Err(Error::Journal { source: std::io::Error::other("the two are different sessions") });
    }
    copied.is_identical = false;
    let mut known: HashSet<EntryId> = HashSet::new();
    each_portion(target, 0..target_length, &mut |lines| {
        known.extend(lines.iter().filter_map(|line| line.id.clone()));
        Ok(())
    })?;
    each_portion(source, from.len() as u64..source_length, &mut |lines| {
        let missing: Vec<NewLine<'_>> = lines
            .iter()
            .filter(|line| line.id.as_ref().is_some_and(|id| !known.contains(id)))
            .cloned()
            .collect();
        copied.lines += append(target, &missing, target_length)?;
        Ok(())
    })?;
    Ok(copied)
}

/// Appends lines under the lock. Fails if the target is shorter than it was.
fn append(target: &mut dyn Journal, lines: &[NewLine<'_>], at_least: u64) -> Result<usize> {
    if lines.is_empty() {
        return Ok(0);
    }
    let bytes: Vec<u8> = lines.iter().flat_map(|line| line.bytes).copied().collect();
    let locked = target.lock()?;
    let appended = match locked.loss {
        None if locked.len >= at_least => {
            target.append(&NewLines { at: locked.len, bytes: &bytes, lines, publish: true })
        }
        _ => Err(Error::Journal { source: std::io::Error::other("the session changed meanwhile") }),
    };
    target.unlock();
    appended.map(|()| lines.len())
}

/// Returns the length up to the last line feed. Fails if there are bytes behind it.
fn whole_length(journal: &dyn Journal) -> Result<u64> {
    let length = journal.len()?;
    let mut last = [0];
    if length > 0 && (journal.read_at(length - 1, &mut last)? != 1 || last != [b'\n']) {
        let reason = format!("{} ends in the middle of a line", journal.name());
        return Err(Error::Journal { source: std::io::Error::other(reason) });
    }
    Ok(length)
}

/// Returns true if one journal begins with all bytes of another.
fn is_prefix(short: &dyn Journal, short_length: u64, long: &dyn Journal, long_length: u64) -> Result<bool> {
    if short_length > long_length {
        return Ok(false);
    }
    let mut position = 0;
    while position < short_length {
        let count = (short_length - position).min(PORTION as u64) as usize;
        if read(short, position, count)? != read(long, position, count)? {
            return Ok(false);
        }
        position += count as u64;
    }
    Ok(true)
}

fn read(journal: &dyn ReadAt, position: u64, count: usize) -> Result<Vec<u8>> {
    let (mut bytes, mut filled) = (vec![0; count], 0);
    while filled < count {
        match journal.read_at(position + filled as u64, &mut bytes[filled..])? {
            0 => return Err(Error::Journal { source: std::io::ErrorKind::UnexpectedEof.into() }),
            read => filled += read,
        }
    }
    Ok(bytes)
}

fn first_line(journal: &dyn Journal, length: u64) -> Result<Vec<u8>> {
    let mut count = 1 << 12;
    loop {
        let bytes = read(journal, 0, count.min(length) as usize)?;
        if let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            return Ok(bytes[..=end].to_vec());
        }
        if count >= length {
            return Ok(bytes);
        }
        count *= 4;
    }
}

/// Reads whole lines in portions, with the ids of their entries.
fn each_portion(
    journal: &dyn Journal,
    range: std::ops::Range<u64>,
    take: &mut dyn FnMut(&[NewLine<'_>]) -> Result<()>,
) -> Result<()> {
    let (mut position, mut rest) = (range.start, Vec::new());
    while position < range.end {
        let count = (range.end - position).min(PORTION as u64) as usize;
        rest.extend(read(journal, position, count)?);
        let is_first = position == 0;
        position += count as u64;
        let Some(last) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        let lines: Vec<NewLine<'_>> = rest[..=last]
            .split_inclusive(|byte| *byte == b'\n')
            .enumerate()
            .map(|(number, bytes)| {
                let [id, parent] = match is_first && number == 0 {
                    true => [None, None],
                    false => Cursor::new(bytes).get_each(["id", "parentId"]),
                };
                let text = |value: Option<Cursor<'_>>| {
                    value.and_then(Cursor::as_str).map(|text| EntryId::from(&*text))
                };
                NewLine { bytes, id: text(id), parent: text(parent) }
            })
            .collect();
        take(&lines)?;
        rest.drain(..=last);
    }
    Ok(())
}

//! Lines on their way into the database and back.

use session_tree::journal::NewLine;
use session_tree::json::Cursor;
use session_tree::{EntryId, line_head};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

/// Strings of at least this length are stored once for all sessions of a tenant.
const LARGE_VALUE: usize = 32 << 10;
/// Ids of at most this length are stored as they are.
const LONGEST_ID: usize = 200;

/// A row of the table of lines.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) position: i64,
    pub(crate) length: i32,
    pub(crate) entry: Option<Vec<u8>>,
    pub(crate) parent: Option<Vec<u8>>,
    pub(crate) head: Option<Vec<u8>>,
    /// The bytes without large values.
    pub(crate) bytes: Vec<u8>,
    /// The large values, and where each begins.
    pub(crate) blobs: Vec<Blob>,
}

#[derive(Debug, Clone)]
pub(crate) struct Blob {
    pub(crate) position: i32,
    pub(crate) hash: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

impl Line {
    /// Makes the row of a line. Fails for a line that is too long for the database.
    pub(crate) fn new(position: u64, line: &NewLine<'_>) -> Option<Self> {
        let text = line.bytes.strip_suffix(b"\n").unwrap_or(line.bytes);
        let head = line_head(text);
        let ranges = large_values(text);
        let (mut bytes, mut blobs, mut end) = (Vec::new(), Vec::new(), 0);
        for range in ranges {
            bytes.extend_from_slice(&line.bytes[end..range.start]);
            end = range.end;
            let value = &line.bytes[range.clone()];
            let hash = Sha256::digest(value).to_vec();
            blobs.push(Blob { position: range.start as i32, hash, bytes: value.to_vec() });
        }
        bytes.extend_from_slice(&line.bytes[end..]);
        Some(Self {
            position: position as i64,
            length: i32::try_from(line.bytes.len()).ok()?,
            entry: line.id.as_ref().map(entry_key),
            parent: line.parent.as_ref().map(entry_key),
            head: (head.len() < text.len() || !blobs.is_empty()).then(|| head.into_owned()),
            bytes,
            blobs,
        })
    }

    /// Makes the rows of all lines in `bytes`, which begin at position 0. The ids are read from the lines.
    pub(crate) fn all_of(bytes: &[u8]) -> Option<Vec<Self>> {
        let mut position = 0;
        let line = |bytes: &[u8]| {
            let start = position;
            position += bytes.len() as u64;
            let [id, parent] = match start {
                0 => [None, None],
                _ => Cursor::new(bytes).get_each(["id", "parentId"]),
            };
            let text = |value: Option<Cursor<'_>>| Some(EntryId::from(&*value?.as_str()?));
            Line::new(start, &NewLine { bytes, id: text(id), parent: text(parent) })
        };
        bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
    }
}

/// Returns the key of an entry in the database.
pub(crate) fn entry_key(id: &EntryId) -> Vec<u8> {
    let id = id.as_str().as_bytes();
    if id.len() <= LONGEST_ID { id.to_vec() } else { Sha256::digest(id).to_vec() }
}

/// Finds the contents of long strings in a line, in order.
fn large_values(line: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    if line.len() >= LARGE_VALUE {
        let mut open = vec![Cursor::new(line)];
        while let Some(value) = open.pop() {
            if value.raw().len() < LARGE_VALUE {
                continue;
            }
            if value.content().is_some() {
                let range = value.range();
                found.push(range.start + 1..range.end - 1);
            }
            open.extend(value.items());
            open.extend(value.members().map(|(_, value)| value));
        }
        found.sort_by_key(|range| range.start);
    }
    found
}

/// Puts the large values back into a line. The columns are `line`, `blob_positions`, and the values.
pub(crate) fn append_bytes(row: &Row, first: usize, out: &mut Vec<u8>) {
    let bytes: &[u8] = row.get(first);
    let Some(positions) = row.get::<_, Option<Vec<i32>>>(first + 1) else {
        return out.extend_from_slice(bytes);
    };
    let values: Vec<&[u8]> = row.get(first + 2);
    let (start, mut rest) = (out.len(), bytes);
    for (position, value) in positions.into_iter().zip(values) {
        let before = (position as usize).saturating_sub(out.len() - start).min(rest.len());
        let (head, tail) = rest.split_at(before);
        out.extend_from_slice(head);
        out.extend_from_slice(value);
        rest = tail;
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_are_taken_out_of_a_line() {
        let (one, two) = ("a\\\"b".repeat(10_000), "é".repeat(20_000));
        let text = format!(r#"{{"id":"x","short":"y","long":"{one}","in":[1,{{"data":"{two}"}}]}}"#) + "\n";
        let new = NewLine { bytes: text.as_bytes(), id: Some("x".into()), parent: None };
        let line = Line::new(7, &new).unwrap();
        let values: Vec<&[u8]> = line.blobs.iter().map(|blob| &*blob.bytes).collect();
        assert_eq!(values, [one.as_bytes(), two.as_bytes()]);
        assert_eq!(line.bytes, br#"{"id":"x","short":"y","long":"","in":[1,{"data":""}]}"#.iter().chain(b"\n").copied().collect::<Vec<u8>>());
        for blob in &line.blobs {
            let at = blob.position as usize;
            assert_eq!(&text.as_bytes()[at..at + blob.bytes.len()], blob.bytes);
        }
        assert_eq!((line.length as usize, line.position), (text.len(), 7));
    }

    #[test]
    fn lines_that_are_no_json_stay_whole() {
        for text in ["x".repeat(100_000), format!("{{\"a\":\"{}", "x".repeat(100_000))] {
            let line = Line::new(0, &NewLine { bytes: text.as_bytes(), id: None, parent: None }).unwrap();
            let blobs: usize = line.blobs.iter().map(|blob| blob.bytes.len()).sum();
            assert_eq!(line.bytes.len() + blobs, text.len());
        }
    }
}

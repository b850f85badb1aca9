//! The heads of lines, from which a session is opened: most come in packs, those of the last lines one by one.

use session_tree::journal::IndexLine;
use tokio_postgres::Row;

/// Returns the lines of an index, in order, from the rows of lines and of packs. A line may be in both.
pub(crate) fn heads<'r>(loose: &'r [Row], packs: &'r [Row]) -> impl Iterator<Item = IndexLine<'r>> {
    let loose = loose.iter().map(|row| (row.get(0), row.get(1), row.get(2)));
    let mut heads: Vec<(i64, i32, &[u8])> = packs.iter().flat_map(packed).chain(loose).collect();
    heads.sort_by_key(|(position, ..)| *position);
    heads.dedup_by_key(|(position, ..)| *position);
    heads.into_iter().map(|(position, length, head)| index_line(position, length, head))
}

/// Returns the lines of a pack that are in a range: the position in the session, the length, and the head. The columns are the
/// beginning, the end and the shift of the range, and the heads.
fn packed(row: &Row) -> impl Iterator<Item = (i64, i32, &[u8])> {
    let (range, shift) = (row.get::<_, i64>(0)..row.get::<_, i64>(1), row.get::<_, i64>(2));
    let mut rest: &[u8] = row.get(3);
    let heads = std::iter::from_fn(move || {
        let (position, after) = rest.split_first_chunk()?;
        let (length, after) = after.split_first_chunk()?;
        let (head_length, after) = after.split_first_chunk()?;
        let (head, after) = after.split_at_checked(u32::from_be_bytes(*head_length) as usize)?;
        rest = after;
        Some((i64::from_be_bytes(*position), i32::from_be_bytes(*length), head))
    });
    let heads = heads.filter(move |(position, ..)| range.contains(position));
    heads.map(move |(position, length, head)| (position + shift, length, head))
}

/// Makes the line of an index.
pub(crate) fn index_line(position: i64, length: i32, head: &[u8]) -> IndexLine<'_> {
    let head = head.strip_suffix(b"\n").unwrap_or(head);
    IndexLine { position: position as u64, len: length as u64 - 1, head }
}

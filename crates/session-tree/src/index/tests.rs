use std::cell::Cell;

use super::*;
use crate::diagnostic::Problem;
use crate::error::Error;
use crate::journal::MemoryJournal;

fn index(text: &[u8]) -> Index {
    load(&MemoryJournal::from_bytes(text.to_vec()), None).unwrap()
}

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n";

fn user(id: &str, parent: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}\n"
    )
}

fn problems(index: &Index) -> Vec<(u64, &'static str)> {
    index.diagnostics().iter().map(|d| (d.line, d.problem.code())).collect()
}

/// A source with unreadable bytes.
struct Flaky<'b, F> {
    bytes: &'b [u8],
    fails: F,
}

impl<F: Fn(u64) -> bool> ReadAt for Flaky<'_, F> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.fails)(position) {
            return Err(io::Error::other("bad sector"));
        }
        self.bytes.read_at(position, buffer)
    }
}

/// A file with one line that is too long for memory.
struct Endless;

impl ReadAt for Endless {
    fn len(&self) -> io::Result<u64> {
        Ok(LONGEST_LINE + 1)
    }

    fn read_at(&self, _: u64, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(buffer.len() <= 1 << 20, "{} bytes at once", buffer.len());
        buffer.fill(b'x');
        Ok(buffer.len())
    }
}

#[test]
fn a_first_line_that_is_too_long_is_not_read_into_memory() {
    assert!(matches!(load(&Endless, None), Err(Error::NotASession { .. })));
}

#[test]
fn a_torn_tail_that_is_too_long_is_not_read_into_memory() {
    let torn = Some(0..LONGEST_LINE + 1);
    assert_eq!(Index { torn, ..index(HEADER.as_bytes()) }.read_tail(&Endless).unwrap(), None);
}

/// Returns two lines with one id; the second is damaged but starts and ends like an object.
fn damaged_twin() -> String {
    let twin = user("a", "").replace("\"content\":\"a\"", "\"content\":\"\\q\"");
    format!("{HEADER}{}{twin}{}", user("a", ""), user("b", "a"))
}

#[test]
fn a_damaged_line_of_a_known_id_is_no_copy() {
    let index = index(damaged_twin().as_bytes());
    assert_eq!(index.tree.len(), 2);
    assert_eq!(problems(&index), [(3, "not-json")]);
}

#[test]
fn lines_of_one_id_that_cannot_be_compared_are_no_copies() {
    let text =
        format!("{HEADER}{}{}{}", user("a", ""), user("a", "").replace("user", "role"), user("b", "a"));
    let second = (HEADER.len() + user("a", "").len()) as u64;
    let source = Flaky { bytes: text.as_bytes(), fails: |position| position == second };
    assert!(matches!(load(&source, None), Err(Error::Io { .. })));
}

#[test]
fn unreadable_lines_are_reported_once_they_can_be_read() {
    let old = format!("{HEADER}{}", user("a", ""));
    let grown: String = (0..4000).map(|number| user(&format!("n{number}"), "a")).collect();
    let text = old.clone() + &grown;
    let whole = index(text.as_bytes());
    let mut part = index(old.as_bytes());
    let is_sound = Cell::new(false);
    let fails = |position| position > old.len() as u64 && !is_sound.replace(true);
    let source = Flaky { bytes: text.as_bytes(), fails };
    part.catch_up(&source, text.len() as u64).unwrap_err();
    assert_eq!((part.tree.len(), part.tree.ordered().len(), part.end), (1, 1, old.len() as u64));
    let new = part.catch_up(&source, text.len() as u64).unwrap();
    assert!(new.into_iter().eq(part.tree.nodes().skip(1)));
    assert_eq!(rows(&part), rows(&whole));
    assert_eq!((part.end, problems(&part)), (whole.end, Vec::new()));
}

#[test]
fn an_orphan_that_is_in_the_file_twice_is_reported_once() {
    let text = format!("{HEADER}{}{}", user("a", "x"), user("a", "x"));
    assert_eq!(problems(&index(text.as_bytes())), [(2, "orphan"), (3, "repeated-line")]);
}

#[test]
fn bad_lines_are_kept_and_reported_with_their_line() {
    let text = format!("\nbad\n{HEADER}{}null\n[]\n\n{{\"x\":1}}\n{}", user("a", ""), user("b", "a"));
    let index = index(text.as_bytes());
    assert_eq!(index.tree.len(), 2);
    assert_eq!(problems(&index), [(2, "not-json"), (5, "not-an-object"), (6, "not-an-object"), (8, "no-id")]);
    assert_eq!(index.line_number(index.tree.node("b").unwrap()), 9);
}

#[test]
fn a_file_without_header_is_refused() {
    for text in ["garbage\n", " \n", "{\"type\":\"message\"}\n", "{\"type\":\"session\",\"id\":5}\n"] {
        let refused = load(&MemoryJournal::from_bytes(text.as_bytes().to_vec()), None);
        assert!(matches!(refused, Err(Error::NotASession { .. })), "{text}");
    }
}

#[test]
fn a_damaged_line_with_children_keeps_its_place() {
    let cut = user("b", "a").replace("\"}}\n", "\n");
    let text = format!("{HEADER}{}{cut}{}", user("a", ""), user("c", "b"));
    let broken = index(text.as_bytes());
    assert_eq!(broken.tree.path(broken.tree.node("c").unwrap()).len(), 3);
    assert!(matches!(broken.diagnostics()[0].problem, Problem::Placeholder { .. }));
}

#[test]
fn a_torn_tail_is_no_entry_and_a_whole_one_is() {
    let whole = format!("{HEADER}{}", user("a", ""));
    let without_feed = &whole.as_bytes()[..whole.len() - 1];
    let open = index(without_feed);
    assert_eq!((open.tree.len(), open.open_tail), (1, true));
    let torn = index(&without_feed[..without_feed.len() - 1]);
    assert_eq!((torn.tree.len(), problems(&torn)), (0, vec![(2, "torn-tail")]));
}

/// Returns all rows in pre-order, with their depths.
fn rows(index: &Index) -> Vec<(usize, u32)> {
    index.tree.ordered().into_iter().map(|(node, depth)| (node.index(), depth)).collect()
}

#[test]
fn catching_up_in_any_two_parts_gives_the_same_index() {
    let text = format!("{HEADER}{}{}x\n{}", user("a", ""), user("b", "a"), user("c", "a"));
    let all = index(text.as_bytes());
    for cut in HEADER.len()..=text.len() {
        let mut part = index(&text.as_bytes()[..cut]);
        let journal = MemoryJournal::from_bytes(text.as_bytes().to_vec());
        part.catch_up(&journal, text.len() as u64).unwrap();
        assert_eq!(rows(&part), rows(&all), "{cut}");
        assert_eq!(part.end, all.end);
        assert_eq!(problems(&part), problems(&all), "{cut}");
    }
}

#[test]
fn a_late_session_name_with_an_old_parent_does_not_move_the_leaf() {
    let info = |parent: &str| {
        format!(
            "{{\"type\":\"session_info\",\"id\":\"i{parent}\",\"parentId\":\"{parent}\",\"timestamp\":\"\",\"name\":\"n\"}}\n"
        )
    };
    let stale = format!("{HEADER}{}{}{}", user("a", ""), user("b", "a"), info("a"));
    let journal = MemoryJournal::from_bytes(stale.into_bytes());
    let stale = load(&journal, None).unwrap();
    assert_eq!(stale.leaf(&journal).unwrap(), stale.tree.node("b"));
    let fresh = format!("{HEADER}{}{}{}", user("a", ""), user("b", "a"), info("b"));
    let journal = MemoryJournal::from_bytes(fresh.into_bytes());
    let fresh = load(&journal, None).unwrap();
    assert_eq!(fresh.leaf(&journal).unwrap(), fresh.tree.node("ib"));
}

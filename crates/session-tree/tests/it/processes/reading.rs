//! Readers during writes: they neither lock nor wait, and see a prefix of the file.

use super::fleet::{Fleet, all, only};
use super::view::{View, start_session};
use crate::support::live::Folder;

const APPENDS: usize = 250;

#[test]
fn readers_see_a_beginning_of_the_file_at_every_moment() {
    let fleet = Fleet::new();
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    start_session(&path);
    let mut writers = fleet.start_at('w', 2, &path);
    let mut readers = fleet.start_at('r', 4, &path);
    for (reader, how) in readers.iter_mut().zip(["reload", "reload", "catch-up", "follow"]) {
        reader.send(how);
    }
    for writer in &mut writers {
        writer.ask("open");
        writer.send(&format!("append {APPENDS}"));
    }
    for writer in &mut writers {
        assert_eq!(all("ack", &writer.wait_for("done")).len(), APPENDS);
    }
    let view = View::of(&path);
    assert_eq!((view.entries.len(), view.broken), (1 + 2 * APPENDS, 0));
    for reader in &mut readers {
        let answers = reader.ask("stop");
        let wrong = all("wrong", &answers);
        assert!(wrong.is_empty(), "{}: {wrong:?}", reader.name);
        let looks: usize = only("looks", &answers).parse().unwrap();
        assert!(looks > 2, "{} looked {looks} times", reader.name);
        let ids: Vec<&str> = only("ids", &answers).split(',').collect();
        assert!(ids == view.ids(), "{} has seen {} of {}", reader.name, ids.len(), view.entries.len());
    }
}

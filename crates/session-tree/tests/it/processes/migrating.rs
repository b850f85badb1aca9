//! Several processes migrate one old session at once.

use std::fs;
use std::path::Path;

use session_tree::Session;
use testkit::rng::Rng;
use testkit::soak::rounds;

use super::fleet::{Fleet, all, only};
use super::view::View;
use crate::support::live::{Folder, codes};

/// A session of version 1, whose entries have no ids.
fn version_1(entries: usize) -> String {
    let mut text = String::from(
        "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/p\"}\n",
    );
    for number in 0..entries {
        let body = if number % 10 == 9 {
            "\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryIndex\":3,\"tokensBefore\":9"
                .to_owned()
        } else {
            format!("\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"old {number}\"}}")
        };
        text.push_str(&format!("{{\"timestamp\":\"2025-01-01T00:00:01.000Z\",{body}}}\n"));
    }
    text
}

fn backups(dir: &Folder, name: &str) -> Vec<String> {
    let is_backup = |file: &String| file.starts_with(&format!("{name}.bak"));
    dir.names().into_iter().filter(is_backup).collect()
}

#[test]
fn two_processes_migrate_one_file_and_both_append_to_the_result() {
    const ENTRIES: usize = 40;
    let fleet = Fleet::new();
    let mut pair = fleet.start_at('m', 2, Path::new("."));
    for round in 0..rounds(20) {
        let dir = Folder::new();
        let original = version_1(ENTRIES);
        let path = dir.put("s.jsonl", &original);
        let mut seen = Vec::new();
        for process in &mut pair {
            process.at(&path);
            process.ask("open");
            seen.push(only("ids", &process.ask("ids")).to_owned());
        }
        assert_eq!(seen[0], seen[1], "round {round}: both give the entries the same ids");
        for process in &mut pair {
            process.send("append 1");
        }
        let answers = pair.iter_mut().map(|process| process.wait_for("done"));
        let new: Vec<String> = answers.map(|answers| only("ack", &answers).to_owned()).collect();
        let view = View::of(&path);
        let ids = view.ids();
        assert_eq!(
            ids[..ENTRIES].join(","),
            seen[0],
            "round {round}: the ids that were read are the ones written"
        );
        assert_eq!(view.entries.len(), ENTRIES + 2, "round {round}");
        for (id, process) in new.iter().zip(&pair) {
            let entry = view.entries.iter().find(|entry| entry.id == *id).unwrap();
            assert_eq!(entry.writer, process.name, "round {round}");
            assert_eq!(
                entry.parent.as_deref(),
                Some(ids[ENTRIES - 1]),
                "round {round}: both go on from the end"
            );
        }
        assert_eq!(dir.names(), ["s.jsonl", "s.jsonl.bak-v1"], "round {round}: one copy, nothing else");
        assert_eq!(fs::read_to_string(dir.at("s.jsonl.bak-v1")).unwrap(), original, "round {round}");
        let session = Session::open_read_only(&path).unwrap();
        assert_eq!((session.tree().len(), codes(&session)), (ENTRIES + 2, vec![]), "round {round}");
    }
}

#[test]
fn a_line_appended_during_a_migration_is_in_the_new_file_or_in_the_kept_one() {
    const ENTRIES: usize = 300;
    let fleet = Fleet::new();
    let mut migrating = fleet.start_at('m', 1, Path::new(".")).remove(0);
    let mut foreign = fleet.start_at('f', 1, Path::new(".")).remove(0);
    let mut written = 0;
    for seed in 0..u64::from(rounds(30)) {
        let mut rng = Rng::new(seed);
        let dir = Folder::new();
        let path = dir.put("s.jsonl", version_1(ENTRIES));
        migrating.at(&path);
        foreign.at(&path);
        migrating.ask("open");
        let count = rng.range(1, 60) as usize;
        foreign.send(&format!("raw {count}"));
        migrating.send("append 1");
        let mut answers = migrating.wait_for("done");
        // The file changed while it was copied; nothing is written yet.
        while all("failed", &answers) == ["busy"] {
            answers = migrating.ask("append 1");
        }
        let id = only("ack", &answers).to_owned();
        assert_eq!(all("ack", &foreign.wait_for("done")).len(), count);
        let now = View::of(&path);
        assert_eq!((now.broken, now.headers), (0, 1), "seed {seed}");
        assert!(now.ids().contains(&id.as_str()), "seed {seed}");
        let kept: Vec<View> = backups(&dir, "s.jsonl").iter().map(|name| View::of(&dir.at(name))).collect();
        assert_eq!(kept.len(), 1, "seed {seed}: {:?}", dir.names());
        for number in written..written + count {
            let is_it = |view: &View| view.of_writer("f0").any(|entry| entry.number == number);
            assert!(is_it(&now) || kept.iter().any(is_it), "seed {seed}: line {number} is lost");
        }
        written += count;
    }
}

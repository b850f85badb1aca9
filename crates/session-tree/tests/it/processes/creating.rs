//! Two processes create the same session: one succeeds, the other gets one error and joins.

use std::path::Path;

use session_tree::Session;
use testkit::soak::rounds;

use super::fleet::{Fleet, Process, all};
use super::view::View;
use crate::support::live::{Folder, codes};

/// The number of races.
const ROUNDS: u32 = 20;

/// Runs a command in both processes at once. Returns the errors of each.
fn race(pair: &mut [Process], command: &str) -> Vec<Vec<String>> {
    for process in pair.iter_mut() {
        process.send(command);
    }
    let failures = |answers: &[String]| all("failed", answers).into_iter().map(str::to_owned).collect();
    pair.iter_mut().map(|process| failures(&process.wait_for("done"))).collect()
}

fn check(path: &Path, entries: usize, about: &str) {
    let view = View::of(path);
    assert_eq!((view.headers, view.broken, view.entries.len()), (1, 0, entries), "{about}");
    let session = Session::open_read_only(path).unwrap();
    assert_eq!((session.tree().len(), codes(&session)), (entries, vec![]), "{about}");
}

#[test]
fn one_of_two_creators_wins_and_the_other_gets_one_error() {
    let fleet = Fleet::new();
    let dir = Folder::new();
    let mut pair = fleet.start_at('c', 2, &dir.at("s0.jsonl"));
    for round in 0..rounds(ROUNDS) {
        let about = format!("round {round}");
        let path = dir.at(&format!("s{round}.jsonl"));
        for process in &mut pair {
            process.at(&path);
            assert!(process.ask("create").is_empty(), "{about}: nobody has written yet");
        }
        let failures = race(&mut pair, "append 1");
        let losers: Vec<usize> = (0..2).filter(|at| !failures[*at].is_empty()).collect();
        assert_eq!(losers.len(), 1, "{about}: {failures:?}");
        assert_eq!(failures[losers[0]], ["exists"], "{about}");
        check(&path, 1, &about);
        // The loser keeps its entry and continues in the file of the winner.
        let loser = &mut pair[losers[0]];
        assert!(loser.ask("open").is_empty(), "{about}");
        let failures = race(&mut pair, "append 2");
        assert_eq!(failures, [[""; 0]; 2], "{about}");
        check(&path, 5, &about);
    }
    assert_eq!(
        dir.names().len(),
        rounds(ROUNDS) as usize,
        "nothing else is left in the directory: {:?}",
        dir.names()
    );
}

#[test]
fn an_empty_file_that_two_processes_fill_gets_one_header() {
    let fleet = Fleet::new();
    let dir = Folder::new();
    let mut pair = fleet.start_at('e', 2, &dir.at("s0.jsonl"));
    for round in 0..rounds(ROUNDS) {
        let about = format!("round {round}");
        let path = dir.put(&format!("s{round}.jsonl"), "");
        for process in &mut pair {
            process.at(&path);
        }
        let failures = race(&mut pair, "fill");
        for (process, failures) in pair.iter_mut().zip(&failures) {
            // A late process finds a session and opens it; a concurrent one gets an error.
            if !failures.is_empty() {
                assert_eq!(*failures, ["exists"], "{about}");
                assert!(process.ask("open").is_empty(), "{about}");
            }
        }
        let failures = race(&mut pair, "append 2");
        assert_eq!(failures, [[""; 0]; 2], "{about}");
        check(&path, 4, &about);
    }
    assert_eq!(
        dir.names().len(),
        rounds(ROUNDS) as usize,
        "nothing else is left in the directory: {:?}",
        dir.names()
    );
}

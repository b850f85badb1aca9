//! Writers that do not lock: nothing is lost, fused or misread, and the engine reports them.

use std::collections::BTreeSet;

use session_tree::Session;

use super::fleet::{Fleet, all};
use super::view::{View, start_session};
use crate::support::live::{Folder, codes};

const APPENDS: usize = 500;

#[test]
fn a_foreign_appender_that_does_not_lock_shares_the_file_with_us() {
    let fleet = Fleet::new();
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let start = start_session(&path);
    let mut ours = fleet.start_at('w', 2, &path);
    let mut foreign = fleet.start_at('f', 2, &path);
    for process in &mut ours {
        process.ask("open");
    }
    for (one, other) in ours.iter_mut().zip(&mut foreign) {
        one.send(&format!("append {APPENDS}"));
        other.send(&format!("raw {APPENDS}"));
    }
    let mut acknowledged = BTreeSet::new();
    for process in ours.iter_mut().chain(&mut foreign) {
        let answers = process.wait_for("done");
        assert_eq!(all("failed", &answers), [""; 0], "{}", process.name);
        assert_eq!(all("ack", &answers).len(), APPENDS, "{}", process.name);
        acknowledged.extend(all("ack", &answers).into_iter().map(str::to_owned));
    }
    let view = View::of(&path);
    view.assert_ids_are_unique("the file");
    assert_eq!((view.broken, view.headers), (0, 1), "no line is glued or cut");
    let written: BTreeSet<String> =
        view.ids().into_iter().map(str::to_owned).filter(|id| *id != start).collect();
    assert!(written == acknowledged, "the file holds what was acknowledged and nothing else");
    for process in &ours {
        view.assert_chain(&process.name, Some(&start), "ours");
    }
    for process in &foreign {
        view.assert_chain(&process.name, None, "foreign");
    }
    let session = Session::open_read_only(&path).unwrap();
    assert_eq!(session.tree().len(), 1 + 4 * APPENDS, "{:?}", codes(&session));
    assert!(session.diagnostics().is_empty(), "{:?}", codes(&session));
    for process in &mut ours {
        let name = process.name.clone();
        let not_mine = |id: &&str| *id != start && !view.of_writer(&name).any(|entry| entry.id == *id);
        let expected: Vec<&str> = view.ids().into_iter().filter(not_mine).collect();
        let answers = process.ask("foreign");
        let reported = all("foreign", &answers);
        let missing: Vec<&&str> = expected.iter().filter(|id| !reported.contains(id)).collect();
        let strange: Vec<&&str> = reported.iter().filter(|id| !expected.contains(id)).collect();
        assert!(
            missing.is_empty() && strange.is_empty(),
            "{name} missed {missing:?}, and was told of {strange:?}"
        );
        assert!(reported == expected, "{name} was told in another order than that of the file");
        let wrong = process.ask("check");
        assert!(wrong.is_empty(), "{name} misreads {} of its entries: {:?}", wrong.len(), wrong.first());
    }
}

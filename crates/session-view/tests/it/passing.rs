//! One pass over all entries in the order of the outline gives the same results as separate reads.

use session_tree::json::ValueRef;
use session_tree::{FileOps, Node, Session};
use session_view::{Filter, Outline, OutlineOptions, Stats, TurnWalk, is_failure};
use testkit::corpus::{self, Shape};

fn session(shape: &Shape) -> Session {
    let mut bytes = Vec::new();
    corpus::write(shape, &mut bytes).unwrap();
    Session::from_bytes(bytes).unwrap()
}

fn outline(session: &Session, filter: Filter) -> Outline {
    Outline::new(session, OutlineOptions { filter, ..OutlineOptions::default() })
}

fn rows(outline: &Outline) -> Vec<Node> {
    (0..outline.len()).filter_map(|row| outline.node(row)).collect()
}

/// The results of a pass.
#[derive(Default)]
struct PassResult {
    stats: Stats,
    failures: Vec<Node>,
    files: Vec<Node>,
    plain: usize,
}

impl PassResult {
    fn pass(&mut self, session: &Session, node: Node) {
        let passed = session.with_plain_result(node, |result| {
            let again = session.entry_at(node).unwrap();
            assert_eq!(again.message().unwrap().raw(), result.message, "reading while reading is no trap");
            self.stats.add_plain_result(session, node, &result);
            self.failures.extend(result.is_error.then_some(node));
            self.files.extend(FileOps::TOOLS.contains(&result.tool).then_some(node));
            result.message.to_vec()
        });
        let entry = session.entry_at(node).unwrap();
        if let Some(message) = passed.unwrap() {
            assert_eq!(message, entry.message().unwrap().raw());
            self.plain += 1;
            return;
        }
        self.stats.add(session, &entry);
        let message = entry.message();
        self.failures.extend(message.map(ValueRef::cursor).is_some_and(is_failure).then_some(node));
        self.files.extend(message.is_some_and(FileOps::is_touched_by).then_some(node));
    }
}

#[test]
fn one_walk_counts_and_filters_as_separate_readers_do() {
    for shape in [Shape::realistic(3_000), Shape::mostly_images(60), Shape::comb(400)] {
        let session = session(&shape);
        let all = outline(&session, Filter::All);
        let mut found = PassResult::default();
        rows(&all).into_iter().for_each(|node| found.pass(&session, node));
        assert_eq!(found.stats, session_view::Stats::of_entries(&session, rows(&all)).unwrap());
        let mut known = outline(&session, Filter::All);
        for (filter, nodes) in [(Filter::Errors, &found.failures), (Filter::Files, &found.files)] {
            known.set_known_filter(&session, filter, nodes);
            assert_eq!(rows(&known), rows(&outline(&session, filter)), "{filter:?}");
        }
    }
}

#[test]
fn output_of_tools_passes_undecoded() {
    let session = session(&Shape::realistic(3_000));
    let mut found = PassResult::default();
    session.tree().nodes().for_each(|node| found.pass(&session, node));
    assert!(found.plain > 500, "{}", found.plain);
}

#[test]
fn turns_that_go_by_are_those_that_the_outline_tells() {
    for shape in [Shape::realistic(3_000), Shape::comb(400), Shape::star(400)] {
        let session = session(&shape);
        let (all, turns) = (outline(&session, Filter::All), outline(&session, Filter::Turns));
        let mut walk = TurnWalk::new(session.tree());
        let mut passed = Vec::new();
        for node in rows(&all) {
            let entry = session.entry_at(node).unwrap();
            passed.extend(walk.pass(session.tree(), node, Some(&entry)));
        }
        passed.extend(walk.end());
        assert!(!passed.is_empty());
        for (prompt, stats) in passed {
            assert_eq!(Some(stats), turns.turn_stats(&session, prompt).unwrap(), "{prompt:?}");
        }
    }
}

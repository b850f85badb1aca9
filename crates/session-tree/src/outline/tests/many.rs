//! Promises that hold for every tree, and trees too deep for any stack.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// A tree of `parents.len()` entries: entry `n` hangs below `parents[n] % n`, or is a root.
fn tree_of(parents: &[usize], kinds: &[u8]) -> Session {
    let mut draw = Draw::default();
    for (at, (parent, kind)) in parents.iter().zip(kinds.iter().cycle()).enumerate() {
        let id = format!("{at:08x}");
        let parent = match parent.checked_rem(at + 1) {
            Some(other) if other < at => format!("{other:08x}"),
            _ => String::new(),
        };
        match kind % 6 {
            0 => draw.user(&id, &parent, "word"),
            1 => draw.assistant(&id, &parent, "word and more"),
            2 => draw.call(&id, &parent, "bash", r#"{"command":"word"}"#),
            3 => draw.result(&id, &parent, "bash", "out"),
            4 => draw.settings(&id, &parent),
            _ => draw.label(&id, &parent, "00000000", "v"),
        };
    }
    draw.session()
}

fn trees() -> impl Strategy<Value = Session> {
    (prop::collection::vec(0_usize..64, 1..40), prop::collection::vec(0_u8..6, 1..20))
        .prop_map(|(parents, kinds)| tree_of(&parents, &kinds))
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_entry_has_exactly_one_place(session in trees()) {
        let outline = outline(&session, Filter::All);
        let mut nodes: Vec<Node> = (0..outline.len()).map(|row| outline.node(row).unwrap()).collect();
        for (row, node) in nodes.iter().enumerate() {
            prop_assert_eq!(outline.position_of(*node), Some(row));
        }
        nodes.sort_unstable();
        prop_assert_eq!(nodes, session.tree().nodes().collect::<Vec<_>>());
    }

    #[test]
    fn many_rows_are_single_rows_one_after_the_other(session in trees()) {
        for filter in Filter::CYCLE {
            let outline = outline(&session, filter);
            let single: Vec<OutlineRow> =
                (0..outline.len()).flat_map(|row| outline.rows(&session, row..row + 1).unwrap()).collect();
            prop_assert_eq!(all_rows(&outline, &session), single);
            prop_assert_eq!(outline.rows(&session, 0..usize::MAX).unwrap().len(), outline.len());
        }
    }

    #[test]
    fn hidden_entries_are_kept_by_their_nearest_visible_ancestor(session in trees()) {
        let tree = session.tree();
        for filter in Filter::CYCLE {
            let outline = outline(&session, filter);
            for node in tree.nodes() {
                let expected = tree.ancestors(node).find(|node| outline.position_of(*node).is_some());
                prop_assert_eq!(outline.nearest_visible(node), expected);
            }
        }
    }

    #[test]
    fn folding_and_unfolding_changes_nothing(session in trees()) {
        let mut outline = outline(&session, Filter::Default);
        let before = print(&outline, &session);
        for row in 0..outline.len() {
            let node = outline.node(row).unwrap();
            if outline.is_foldable(node) {
                prop_assert!(outline.toggle_fold(&session, node));
                prop_assert!(outline.toggle_fold(&session, node));
            }
        }
        prop_assert_eq!(print(&outline, &session), before);
    }

    #[test]
    fn the_leaf_is_marked_once_wherever_it_is(session in trees()) {
        let outline = outline(&session, Filter::All);
        let leaves = all_rows(&outline, &session).into_iter().filter(|row| row.is_leaf).count();
        prop_assert_eq!(leaves, usize::from(session.leaf().is_some()));
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_entries_fits_a_small_stack() {
    let run = || {
        let mut draw = Draw::default();
        draw.user("0", "", "start");
        for at in 1..100_000 {
            draw.user(&at.to_string(), &(at - 1).to_string(), "x");
        }
        let session = draw.session();
        for filter in Filter::CYCLE {
            let mut outline = outline(&session, filter);
            assert!(outline.rows(&session, 0..3).unwrap().len() <= 3);
            let last = session.tree().last().unwrap();
            outline.fold_or_up(&session, last);
            outline.unfold_or_down(&session, session.tree().node("0").unwrap());
        }
        let mut found = outline(&session, Filter::Default);
        found.set_query(&session, "start").unwrap();
        found.search_all(&session).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(session.branches().unwrap().len(), 1);
        assert_eq!(session.resolve("~100000").unwrap(), session.tree().node("0").unwrap());
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap();
}

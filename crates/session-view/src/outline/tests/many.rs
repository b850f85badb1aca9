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
    fn rows_hang_together_as_their_entries_do(session in trees(), folds in prop::collection::vec(0_usize..40, 0..4)) {
        for filter in Filter::CYCLE {
            let mut outline = outline(&session, filter);
            for row in &folds {
                if let Some(node) = outline.node(*row) {
                    outline.fold(&session, node);
                }
            }
            check_shape(&mut outline, &session)?;
        }
    }

    #[test]
    fn the_leaf_is_marked_once_wherever_it_is(session in trees()) {
        let outline = outline(&session, Filter::All);
        let leaves = all_rows(&outline, &session).into_iter().filter(|row| row.is_leaf).count();
        prop_assert_eq!(leaves, usize::from(session.leaf().is_some()));
    }
}

/// Relations of rows, computed the slow way.
struct SlowForest<'o> {
    outline: &'o Outline,
    session: &'o Session,
    rows: Vec<Node>,
}

impl SlowForest<'_> {
    fn parent(&self, node: Node) -> Option<Node> {
        self.session.tree().ancestors(node).skip(1).find(|node| self.rows.contains(node))
    }

    fn children(&self, of: Option<Node>) -> Vec<Node> {
        self.rows.iter().copied().filter(|node| self.parent(*node) == of).collect()
    }

    fn siblings(&self, node: Node) -> Vec<Node> {
        self.children(self.parent(node))
    }

    fn has_connector(&self, node: Node) -> bool {
        self.parent(node).is_some() && self.siblings(node).len() > 1
    }

    /// One step to the right below a branch point, and one more for what follows its first row.
    fn indent(&self, node: Node) -> usize {
        let Some(parent) = self.parent(node) else { return usize::from(self.siblings(node).len() > 1) };
        let indent = self.indent(parent);
        let branches = self.siblings(node).len() > 1;
        let after_first = indent > 0 && self.siblings(parent).len() > 1;
        indent + usize::from(branches || after_first)
    }

    fn levels(&self, node: Node) -> Vec<Level> {
        let shift = usize::from(self.children(None).len() > 1);
        let mut levels = vec![Level::Blank; self.indent(node) - shift];
        let tree = self.session.tree();
        for above in
            tree.ancestors(node).filter(|above| self.rows.contains(above) && self.has_connector(*above))
        {
            let goes_on = self.siblings(above).last() != Some(&above);
            let level = match (above == node, goes_on) {
                (true, true) => Level::Tee,
                (true, false) => Level::Corner,
                (false, true) => Level::Line,
                (false, false) => continue,
            };
            levels[self.indent(above) - shift - 1] = level;
        }
        levels
    }

    fn fold(&self, node: Node) -> Fold {
        let is_head = self.parent(node).is_none() || self.has_connector(node);
        match (self.outline.is_folded(node), is_head && !self.children(Some(node)).is_empty()) {
            (true, _) => Fold::Folded,
            (false, true) => Fold::Open,
            (false, false) => Fold::None,
        }
    }

    /// The nearest row at or above one that has another beside it, so many rows further.
    fn beside(&self, node: Node, step: isize) -> Option<Node> {
        let siblings = self.siblings(node);
        let at = siblings.iter().position(|sibling| *sibling == node)?;
        let found = at.checked_add_signed(step).and_then(|at| siblings.get(at)).copied();
        found.or_else(|| self.beside(self.parent(node)?, step))
    }

    fn up(&self, node: Node) -> Node {
        let Some(parent) = self.parent(node) else { return node };
        let is_start = self.parent(parent).is_none() || self.has_connector(parent);
        if is_start { parent } else { self.up(parent) }
    }

    fn down(&self, node: Node) -> Node {
        match self.children(Some(node)).as_slice() {
            [] => node,
            [only] => self.down(*only),
            [first, ..] => *first,
        }
    }
}

fn check_shape(outline: &mut Outline, session: &Session) -> std::result::Result<(), TestCaseError> {
    let rows: Vec<Node> = (0..outline.len()).filter_map(|row| outline.node(row)).collect();
    let slow = SlowForest { outline, session, rows: rows.clone() };
    for (row, shown) in rows.iter().zip(all_rows(outline, session)) {
        prop_assert_eq!(shown.depth as usize, session.tree().ancestors(*row).count() - 1);
        prop_assert_eq!(&shown.levels, &slow.levels(*row));
        prop_assert_eq!(shown.indent, shown.levels.len());
        prop_assert_eq!(shown.fold, slow.fold(*row));
        prop_assert_eq!(outline.next_sibling(*row), slow.beside(*row, 1));
        prop_assert_eq!(outline.previous_sibling(*row), slow.beside(*row, -1));
    }
    let steps: Vec<(Node, Node, Node)> =
        rows.iter().map(|row| (*row, slow.up(*row), slow.down(*row))).collect();
    for (row, up, down) in steps {
        if !outline.is_folded(row) {
            prop_assert_eq!(outline.unfold_or_down(session, row), FoldStep::Goto(down));
        }
        if !outline.is_foldable(row) || outline.is_folded(row) {
            prop_assert_eq!(outline.fold_or_up(session, row), FoldStep::Goto(up));
        }
    }
    Ok(())
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
        assert_eq!(crate::branches(&session).unwrap().len(), 1);
        assert_eq!(crate::resolve(&session, "~100000").unwrap(), session.tree().node("0").unwrap());
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap();
}

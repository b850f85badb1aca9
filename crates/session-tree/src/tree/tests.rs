use super::*;

fn row(kind: Kind, time: i64) -> Row {
    Row { position: 0, len: 0, kind, role: Role::User, flags: 0, time: Some(Timestamp::from_millis(time)) }
}

/// Builds a tree from `id<parent` words, with rising times.
fn tree(words: &str) -> Tree {
    let mut tree = Tree::default();
    for (time, word) in words.split_whitespace().enumerate() {
        let (id, parent) = word.split_once('<').unwrap_or((word, ""));
        let link = if parent.is_empty() { Link::Root } else { Link::Named(IdKey::of(parent)) };
        tree.push(row(Kind::Message, time as i64), IdKey::of(id), link);
    }
    tree.resolve_links(|_, _| SameId::Other);
    tree
}

fn path(tree: &Tree, id: &str) -> String {
    let names: Vec<String> =
        tree.path(tree.node(id).unwrap()).iter().map(|n| tree.id(*n).to_string()).collect();
    names.join(" ")
}

fn ordered(tree: &Tree) -> String {
    let rows: Vec<String> = tree.ordered().iter().map(|(n, d)| format!("{d}{}", tree.id(*n))).collect();
    rows.join(" ")
}

#[test]
fn paths_run_from_the_root_to_the_entry() {
    let tree = tree("a b<a c<b d<b e<d");
    assert_eq!(path(&tree, "e"), "a b d e");
    assert_eq!(ordered(&tree), "0a 1b 2c 2d 3e");
    let (c, e) = (tree.node("c").unwrap(), tree.node("e").unwrap());
    assert_eq!(tree.common_ancestor(c, e), tree.node("b"));
    assert_eq!(tree.abandoned(e, c), [tree.node("d").unwrap(), e]);
}

#[test]
fn ids_of_eight_hex_digits_and_others_live_side_by_side() {
    let tree =
        tree("0a1b2c3d ffffffff<0a1b2c3d FFFFFFFF<ffffffff 019b0000-1111-7222-8333-444455556666<FFFFFFFF");
    assert_eq!(
        path(&tree, "019b0000-1111-7222-8333-444455556666"),
        "0a1b2c3d ffffffff FFFFFFFF 019b0000-1111-7222-8333-444455556666"
    );
}

#[test]
fn a_parent_may_come_later_in_the_file() {
    let tree = tree("c<b a b<a");
    assert_eq!(path(&tree, "c"), "a b c");
    assert_eq!(tree.orphans().count(), 0);
}

#[test]
fn children_come_in_file_order_wherever_they_stand() {
    let tree = tree("x<b a b<a c<b d<a e<b f<a");
    let below = |id: &str| {
        let children = tree.children(tree.node(id).unwrap()).map(|child| tree.id(child).to_string());
        children.collect::<Vec<_>>().join(" ")
    };
    assert_eq!((below("a"), below("b"), below("c")), ("b d f".into(), "x c e".into(), String::new()));
}

#[test]
fn an_orphan_is_a_root() {
    let tree = tree("a b<gone c<b");
    assert_eq!(path(&tree, "c"), "b c");
    assert_eq!(tree.roots().count(), 2);
    assert_eq!(
        tree.orphans().map(|(n, p)| (tree.id(n), p)).collect::<Vec<_>>(),
        [("b".into(), "gone".into())]
    );
}

#[test]
fn circles_are_cut_at_their_first_entry() {
    let one = tree("a<a");
    assert_eq!(path(&one, "a"), "a");
    let two = tree("a<b b<a");
    assert_eq!((path(&two, "b"), ordered(&two)), ("a b".into(), "0a 1b".into()));
    let tail = tree("x<c a<c b<a c<b y<x");
    assert_eq!(path(&tail, "y"), "a b c x y");
    assert_eq!(tail.ordered().len(), 5);
}

#[test]
fn a_later_entry_takes_the_id_over_with_all_children() {
    let tree = tree("a b<a c<b b<a d<b");
    assert_eq!(tree.len(), 4);
    assert_eq!(ordered(&tree), "0a 1b 2c 2d");
    assert_eq!(tree.node("b"), Some(tree.node_of_row(3)));
}

#[test]
fn a_chain_of_a_million_entries_needs_no_stack() {
    let run = || {
        let mut tree = Tree::default();
        let mut previous: Option<Node> = None;
        for at in 0..1_000_000_u32 {
            let link = previous.map_or(Link::Root, Link::To);
            previous = Some(tree.push(row(Kind::Message, i64::from(at)), IdKey::Hex(at), link));
        }
        tree.resolve_links(|_, _| SameId::Other);
        let leaf = previous.unwrap();
        (tree.path(leaf).len(), tree.ordered().len(), tree.subtree(tree.node_of_row(0)).len())
    };
    let small_stack = std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap();
    assert_eq!(small_stack.join().unwrap(), (1_000_000, 1_000_000, 1_000_000));
}

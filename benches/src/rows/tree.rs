//! Walking the tree: paths, children, everything in order.

use std::collections::HashMap;
use std::time::Duration;

use session_tree::{Node, Session};
use testkit::rng::Rng;

use super::{Bench, against_peer};
use crate::Failure;
use crate::clock::{best, cpu_of};
use crate::table::Line;

/// How deep the entries lie whose paths are asked for, about.
const DEPTH: std::ops::Range<usize> = 9_500..10_500;
const PATHS: usize = 50;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.realistic(100_000)?;
    let session = Session::open_read_only(&file)?;
    let ids = deep_ids(&session);
    let count = u32::try_from(ids.len())?;
    let path = best(bench.runs, || {
        cpu_of(|| Ok(ids.iter().map(|id| session.branch_path(id).len()).sum::<usize>()))
    })? / count;
    let children = best(bench.runs, || cpu_of(|| Ok(count_children(&session, &ids))))? / (count * 100);
    let ordered = best(bench.runs, || cpu_of(|| Ok(ordered_with_labels(&session))))?;
    let peer = bench.ask_peer(&file, &["open", "path", "children", "tree"], &ids.join("\n"))?;
    let peer = peer.as_ref();
    Ok(vec![
        against_peer("path of a random entry 10k deep, 100k entries", path, peer, "path", 50.0)?,
        Line::limit("the same", path, Duration::from_micros(100)),
        against_peer("children of an entry", children, peer, "children", 1_000.0)?,
        Line::limit("the same", children, Duration::from_micros(1)),
        against_peer("ordered tree with labels", ordered, peer, "tree", 35.0)?,
        Line::limit("the same", ordered, Duration::from_millis(5)),
    ])
}

/// Picks entries of the wanted depth at random.
fn deep_ids(session: &Session) -> Vec<String> {
    let tree = session.tree();
    let mut depths: HashMap<Node, usize> = HashMap::with_capacity(tree.len());
    let mut deep = Vec::new();
    for (node, _) in tree.ordered() {
        let depth = tree.parent(node).and_then(|parent| depths.get(&parent)).map_or(1, |above| above + 1);
        depths.insert(node, depth);
        if DEPTH.contains(&depth) {
            deep.push(node);
        }
    }
    let mut rng = Rng::new(7);
    (0..PATHS).map(|_| tree.id(*rng.pick(&deep)).to_string()).collect()
}

/// By id, as the reference is asked; a hundred times, because once is too short to measure.
fn count_children(session: &Session, ids: &[String]) -> usize {
    let tree = session.tree();
    let of = |id: &String| tree.node(id).map_or(0, |node| tree.children(node).count());
    (0..100).map(|_| ids.iter().map(of).sum::<usize>()).sum()
}

/// The whole tree in order, with the label of each entry.
pub(crate) fn ordered_with_labels(session: &Session) -> Vec<(Node, Option<&str>)> {
    let ordered = session.tree().ordered();
    let label = |node: Node| session.label(node).map(|label| label.text.as_str());
    ordered.into_iter().map(|(node, _)| (node, label(node))).collect()
}

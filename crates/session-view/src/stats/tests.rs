//! The entries with the longest lines.

use super::*;

#[test]
fn the_longest_lines_come_first_and_equal_ones_in_file_order() {
    let mut session = session_tree::Options::new().in_memory("/").unwrap();
    for _ in 0..20 {
        session.append(session_tree::Message::user("text")).unwrap();
    }
    let nodes: Vec<Node> = session.tree().nodes().collect();
    let mut stats = Stats::default();
    for (node, bytes) in nodes.into_iter().zip([5, 9, 5, 7].into_iter().cycle()) {
        stats.note_size(node, bytes);
    }
    assert_eq!(stats.largest.len(), Stats::MAX_LARGEST);
    let first: Vec<(usize, u64)> = stats.largest.iter().map(|(node, bytes)| (node.index(), *bytes)).collect();
    assert_eq!(first[..6], [(1, 9), (5, 9), (9, 9), (13, 9), (17, 9), (3, 7)]);
}

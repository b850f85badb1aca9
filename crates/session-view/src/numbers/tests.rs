//! Numbers in, text out.

use super::*;

#[test]
fn numbers_are_short() {
    assert_eq!(
        [950, 1_234, 9_960, 52_000, 999_940, 1_300_000].map(tokens),
        ["950", "1.2k", "10k", "52k", "1.0M", "1.3M"]
    );
    assert_eq!(
        [0.0, 0.000_04, 0.004, 0.12, 12.3].map(money),
        ["$0.00", "<$0.001", "$0.004", "$0.12", "$12.30"]
    );
    assert_eq!([812, 14_200, 999_960, 1_300_000_000].map(bytes), ["812 B", "14.2 kB", "1.0 MB", "1.3 GB"]);
    assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
}

#[test]
fn counts_have_nouns() {
    assert_eq!(
        [count(1, "entry"), count(1_200, "entry"), count(2, "branch"), count(2, "fix"), count(0, "turn")],
        ["1 entry", "1,200 entries", "2 branches", "2 fixes", "0 turns"]
    );
}

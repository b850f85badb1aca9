use super::*;

#[test]
fn numbers_are_as_the_chat_writes_them() {
    // The chat has the same rules and the same examples.
    assert_eq!(
        [950, 1_234, 9_960, 52_000, 999_940, 1_300_000].map(short),
        ["950", "1.2k", "10k", "52k", "1.0M", "1.3M"]
    );
    assert_eq!(
        [0.0, 0.000_04, 0.004, 0.12, 12.3].map(money),
        ["$0.00", "<$0.001", "$0.004", "$0.12", "$12.30"]
    );
}

//! Default names of files.

use super::*;

#[test]
fn the_branch_of_any_reference_gets_a_file_here() {
    for (reference, file) in [
        ("a1b2", "branch-a1b2.jsonl"),
        ("@feature/parser", "branch-feature-parser.jsonl"),
        ("branch:2", "branch-2.jsonl"),
        ("../x y\n", "branch-x-y.jsonl"),
        ("@v1.2", "branch-v1.2.jsonl"),
        ("^", "branch.jsonl"),
    ] {
        assert_eq!(file_name(reference), Path::new(file));
    }
}

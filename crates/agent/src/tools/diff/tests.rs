use super::*;

#[test]
fn a_diff_has_line_numbers_and_shows_where_it_leaves_lines_out() {
    let old: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 8\n", "LINE 8\nextra\n").replace("line 25", "L25");
    let details = details("x.txt", &old, &new);
    // Recorded from pi 0.74.2 for the same texts.
    let recorded = "    ...\n  4 line 4\n  5 line 5\n  6 line 6\n  7 line 7\n- 8 line 8\n+ 8 LINE 8\n+ 9 extra\n  9 line 9\n \
                    10 line 10\n 11 line 11\n 12 line 12\n    ...\n 21 line 21\n 22 line 22\n 23 line 23\n 24 line \
                    24\n-25 line 25\n+26 L25\n 26 line 26\n 27 line 27\n 28 line 28\n 29 line 29\n    ...";
    assert_eq!(details["diff"], recorded);
    assert_eq!(details["firstChangedLine"], 8);
    assert!(
        details["patch"].as_str().unwrap().starts_with("--- x.txt\n+++ x.txt\n@@ -4,9 +4,10 @@\n line 4\n")
    );
}

#[test]
fn a_change_of_everything_has_no_gaps() {
    assert_eq!(details("x", "a", "b\n")["diff"], "-1 a\n+1 b");
    assert_eq!(details("x", "", "b\n")["diff"], "+1 b");
    assert_eq!(details("x", "a\n", "a\n"), json!({"diff": "", "patch": "", "firstChangedLine": null}));
}

//! `check`: everything odd, with its place and what would be done about it; not a byte is written.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::support::{Home, files};

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done
";

/// Writes a file that only its owner may read, whatever the machine's habits are.
pub(crate) fn private(home: &Home, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let file = home.file(name, bytes);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    file
}

/// The session of a drawing with one line after the other changed.
pub(crate) fn damaged(drawing: &str, change: impl Fn(usize, String) -> String) -> String {
    let text = String::from_utf8(testkit::drawing::session_text(drawing)).unwrap();
    text.lines().enumerate().map(|(at, line)| change(at, format!("{line}\n"))).collect()
}

/// The second entry is cut off in the middle.
fn cut() -> String {
    damaged(TREE, |at, line| if at == 2 { format!("{}\n", &line[..60]) } else { line })
}

#[test]
fn a_session_in_order_is_clean() {
    let home = Home::new();
    let file = private(&home, "project/s.jsonl", testkit::drawing::session_text(TREE));
    assert_snapshot!(home.run(&["check", &file]), @"[home]/project/s.jsonl: clean (5 lines, 4 entries, 1.2 kB)");
    assert_snapshot!(home.run(&["check", &file, "--json"]), @r#"{"file":"[home]/project/s.jsonl","lines":5,"entries":4,"bytes":1206,"clean":true,"findings":[]}"#);
    assert_snapshot!(home.run(&["check", &file, "--quiet"]), @"");
}

#[test]
fn files_that_other_users_can_read_are_hinted_at() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let file = home.session("u1 user hi");
    let set = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o600);
    assert_eq!(home.run(&["check", &file]).err(), "");
    set(0o644);
    let run = home.run(&["check", &file]);
    assert!(run.err().starts_with("hint: other users can read this file (mode 644); `chmod 600 "), "{run}");
    assert!(run.ok().contains("s.jsonl: clean"), "{run}");
    let findings = home.run(&["check", &file, "--json"]).json()["findings"].clone();
    assert_eq!(findings[0]["severity"], "note");
}

#[test]
fn damage_is_reported_with_its_position_and_its_fix() {
    let home = Home::new();
    let file = private(&home, "project/s.jsonl", cut());
    let before = files(&home.path(""));
    assert_snapshot!(home.run(&["check", &file]), @"
    [home]/project/s.jsonl: 1 damaged place (5 lines, 4 entries, 863 B)
      damage: line 3 (bytes 252..312): entry a2 cannot be read (unexpected end of text); it keeps its place without content
        fix: append an empty entry a2 below u1
    --- words
    `offshoot repair [home]/project/s.jsonl` carries the fixes out
    --- exit code 4
    ");
    assert_snapshot!(home.run(&["check", &file, "--json"]), @r#"
    {"file":"[home]/project/s.jsonl","lines":5,"entries":4,"bytes":863,"clean":false,"findings":[{"severity":"damage","code":"placeholder","message":"entry a2 cannot be read (unexpected end of text); it keeps its place without content","line":3,"bytes":[252,312],"fix":{"action":"stub","isGuess":false,"needsCopy":false,"ids":["a2"],"parentId":"u1"}}]}
    --- exit code 4
    "#);
    assert_snapshot!(home.run(&["check", "-q", &file]), @"--- exit code 4");
    assert_eq!(files(&home.path("project")), before);
}

#[test]
fn warnings_are_no_damage() {
    let home = Home::new();
    let file =
        private(&home, "project/s.jsonl", testkit::drawing::session_text("a user hi\nb<gone user orphan"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_snapshot!(home.run(&["check", &file]), @"
    [home]/project/s.jsonl: 1 warning (3 lines, 2 entries, 398 B)
      warning: line 3 (bytes 242..397): entry b names the parent gone, which is not in the file; shown as a root
        fix: append an empty entry gone below a, which is a guess
    --- words
    `offshoot repair [home]/project/s.jsonl` carries the fixes out
    hint: other users can read this file (mode 644); `chmod 600 [home]/project/s.jsonl` makes it private
    ");
}

#[test]
fn a_directory_is_checked_with_all_that_is_below() {
    let home = Home::new();
    private(&home, "project/a/good.jsonl", testkit::drawing::session_text(TREE));
    private(&home, "project/a/b/bad.jsonl", cut());
    private(&home, "project/a/list.jsonl", "{\"name\":\"not ours\"}\n");
    private(&home, "project/a/notes.txt", "not looked at");
    private(&home, "project/a/empty.jsonl", "");
    private(&home, "project/a/headless.jsonl", &testkit::drawing::session_text(TREE)[40..]);
    assert_snapshot!(home.run(&["check", "a"]), @"
    a/b/bad.jsonl: 1 damaged place (5 lines, 4 entries, 863 B)
      damage: line 3 (bytes 252..312): entry a2 cannot be read (unexpected end of text); it keeps its place without content
        fix: append an empty entry a2 below u1
    a/empty.jsonl: not a session: it is empty
    a/good.jsonl: clean (5 lines, 4 entries, 1.2 kB)
    a/headless.jsonl: 1 damaged place (5 lines, 4 entries, 1.2 kB)
      damage: line 1 (bytes 0..51): the header cannot be read
        fix: write the entries that can be read below a new header, in a copy (`--copy`)
    a/list.jsonl: not a session: its first entry is not a session header
    --- words
    `offshoot repair a/b/bad.jsonl` carries the fixes out
    `offshoot repair a/headless.jsonl --copy FILE` writes a repaired copy
    --- exit code 4
    ");
    assert_snapshot!(home.run(&["check", "a", "--json"]), @r#"
    {"file":"a/b/bad.jsonl","lines":5,"entries":4,"bytes":863,"clean":false,"findings":[{"severity":"damage","code":"placeholder","message":"entry a2 cannot be read (unexpected end of text); it keeps its place without content","line":3,"bytes":[252,312],"fix":{"action":"stub","isGuess":false,"needsCopy":false,"ids":["a2"],"parentId":"u1"}}]}
    {"file":"a/empty.jsonl","isSession":false,"reason":"it is empty"}
    {"file":"a/good.jsonl","lines":5,"entries":4,"bytes":1206,"clean":true,"findings":[]}
    {"file":"a/headless.jsonl","lines":5,"entries":4,"bytes":1166,"clean":false,"findings":[{"severity":"damage","code":"lost-header","message":"the header cannot be read","line":1,"bytes":[0,51],"fix":{"action":"salvage","isGuess":false,"needsCopy":true}}]}
    {"file":"a/list.jsonl","isSession":false,"reason":"its first entry is not a session header"}
    --- exit code 4
    "#);
    assert_eq!(home.run(&["check", "-q", "a/b", "a/good.jsonl"]).code, 4);
}

#[test]
fn a_file_that_is_no_session_is_reported_and_hides_no_other() {
    let home = Home::new();
    let list = private(&home, "project/list.jsonl", "{\"name\":\"not ours\"}\n");
    let good = private(&home, "project/good.jsonl", testkit::drawing::session_text(TREE));
    assert_snapshot!(home.run(&["check", &list, &good]), @"
    [home]/project/good.jsonl: clean (5 lines, 4 entries, 1.2 kB)
    --- words
    error: Session file is not a valid pi session: [home]/project/list.jsonl
    hint: its first entry is not a session header; the file was not changed
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["check", &list, &good, "--json"]), @r#"
    {"file":"[home]/project/list.jsonl","error":{"message":"Session file is not a valid pi session: [home]/project/list.jsonl","hints":["its first entry is not a session header; the file was not changed"]}}
    {"file":"[home]/project/good.jsonl","lines":5,"entries":4,"bytes":1206,"clean":true,"findings":[]}
    --- exit code 1
    "#);
}

#[test]
fn files_may_come_from_standard_input() {
    let home = Home::new();
    private(&home, "project/good.jsonl", testkit::drawing::session_text(TREE));
    private(&home, "project/bad.jsonl", cut());
    assert_snapshot!(home.run_with_input(&["check", "--batch"], b"good.jsonl\n\nbad.jsonl\n"), @"
    good.jsonl: clean (5 lines, 4 entries, 1.2 kB)
    bad.jsonl: 1 damaged place (5 lines, 4 entries, 863 B)
      damage: line 3 (bytes 252..312): entry a2 cannot be read (unexpected end of text); it keeps its place without content
        fix: append an empty entry a2 below u1
    --- words
    `offshoot repair bad.jsonl` carries the fixes out
    --- exit code 4
    ");
}

#[test]
fn an_old_session_is_read_as_it_is() {
    let home = Home::new();
    let v1 = include_str!("v1.jsonl");
    let file = private(&home, "project/old.jsonl", v1);
    assert_snapshot!(home.run(&["check", &file]), @"[home]/project/old.jsonl: clean (3 lines, 2 entries, 590 B)");
    assert_eq!(fs::read_to_string(&file).unwrap(), v1);
}

#[test]
fn an_unknown_name_does_not_stop_the_checks_of_the_others() {
    let home = Home::new();
    let file = home.session("u1 user one\na2<gone assistant two");
    let input = [b"nothing\n\xff\xfe\n".as_slice(), file.as_bytes(), b"\n"].concat();
    let run = home.run_with_input(&["check", "--batch"], &input);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.out().contains("s.jsonl: ") && run.err().contains("nothing"), "{run}");
    let run = home.run(&["check", "nothing", &file]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.out().contains("s.jsonl: ") && run.err().contains("nothing"), "{run}");
    let run = home.run_with_input(&["path", "--batch"], &input);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.out().contains("two"), "{run}");
}

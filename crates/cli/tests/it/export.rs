//! Exports: file, format, omissions and messages.

use std::fs;

use insta::assert_snapshot;
use testkit::browser::Browser;
use testkit::drawing::session_text;

use crate::support::{Home, files};
use crate::undoing::undo;

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node, mail ada@example.org
    a4<u3 assistant Done with node in 60 ms
    u5<a2 user Use Rust
    c6<u5 call bash export API_KEY=abc123def456
    t7<c6 tool bash exported
    a8<t7 assistant Done with rust in 1 ms
    l9<a8 label u5 rust
";

#[test]
fn an_export_is_a_page_beside_nothing_else_and_can_be_taken_back() {
    let home = Home::new();
    let session = home.file("project/work.jsonl", session_text(TREE));
    let before = fs::read(&session).unwrap();
    let run = home.run(&["export", &session]);
    assert_snapshot!(run.out(), @"build-a-cli.html");
    assert!(run.err().contains("exported 9 entries of "), "{}", run.err());
    let page = fs::read_to_string(home.path("project/build-a-cli.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("Done with rust") && page.contains("Done with node"));
    assert_eq!(fs::read(&session).unwrap(), before);
    let again = home.run(&["export", &session]);
    assert_eq!(again.code, 1, "an export never replaces a file");
    undo(&home, &run);
    assert_eq!(files(&home.path("project")).len(), 1);
}

#[test]
fn the_end_of_the_name_decides_what_is_written() {
    let home = Home::new();
    let session = home.session(TREE);
    home.run(&["export", &session, "-o", "x.md"]).ok();
    let text = fs::read_to_string(home.path("project/x.md")).unwrap();
    assert!(text.starts_with("# Build a CLI\n") && text.contains("Use Rust") && !text.contains("Use Node"));
    home.run(&["export", &session, "-o", "path.jsonl"]).ok();
    let path = fs::read_to_string(home.path("project/path.jsonl")).unwrap();
    assert!(path.contains("Use Rust") && !path.contains("Use Node") && !path.contains("parentSession"));
    home.run(&["export", &session, "-o", "all.jsonl", "--all"]).ok();
    let all = fs::read_to_string(home.path("project/all.jsonl")).unwrap();
    assert!(all.contains("Use Rust") && all.contains("Use Node"));
    let run = home.run(&["export", &session, "-o", "-"]);
    assert!(run.ok().starts_with("<!doctype html>"));
}

#[test]
fn one_branch_is_exported_without_a_word_of_the_others() {
    let home = Home::new();
    let session = home.session(TREE);
    for name in ["branch.html", "branch.md", "branch.jsonl"] {
        home.run(&["export", &session, "-o", name, "--branch", "u3"]).ok();
        let text = fs::read_to_string(home.path("project").join(name)).unwrap();
        assert!(text.contains("Done with node"), "{name}");
        assert!(!text.contains("Rust") && !text.contains("rust"), "{name}");
    }
}

#[test]
fn secrets_are_reported_and_removed() {
    let home = Home::new();
    let session = home.session(TREE);
    let run = home.run(&["export", &session, "--redact", "--redact-pattern", "6[0] ms", "--dry-run"]);
    assert_snapshot!(run, @r"
    --- words
    redacted 3 places:
      1 × e-mail: line 4 ada…
      1 × own pattern: line 5 6…
      1 × secret: line 7 abc…
    patterns are guesses; look at the export before you hand it on
    would export 9 entries of [home]/project/s.jsonl
    ");
    for name in ["x.html", "x.md", "x.jsonl"] {
        home.run(&["export", &session, "-o", name, "--redact"]).ok();
        let text = fs::read_to_string(home.path("project").join(name)).unwrap();
        assert!(!text.contains("abc123def456") && !text.contains("ada@example"), "{name}");
        assert!(text.contains("redacted secret"), "{name}");
    }
    let run = home.run(&["export", &session, "-o", "y.html", "--redact", "--json"]);
    assert_eq!(run.json()["redacted"], 2);
    let run = home.run(&["export", &session, "--redact-pattern", "("]);
    assert!(run.err().contains("`(` is no pattern"), "{}", run.err());
}

#[test]
fn the_session_file_in_a_redacted_page_is_redacted_too() {
    let home = Home::new();
    let session = home.session(TREE);
    home.run(&["export", &session, "-o", "x.html", "--redact"]).ok();
    let mut browser = Browser::start();
    browser.open(&home.path("project/x.html"));
    browser.eval("URL.createObjectURL = (blob) => { window.saved = blob; return '#saved'; }");
    browser.eval("document.querySelector('#file').click()");
    let saved = browser.eval("window.saved.text()");
    let saved = saved.as_str().unwrap();
    assert!(saved.contains("Use Node, mail [redacted e-mail]") && saved.contains("Use Rust"), "{saved}");
    assert!(!saved.contains("abc123def456") && !saved.contains("ada@example"), "{saved}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let home = Home::new();
    let session = home.session(TREE);
    let refused: [(&[&str], i32, &str); 6] = [
        (&["-o", "x.pdf"], 2, "cannot export as `.pdf`"),
        (&["-o", "none/x.html"], 1, "cannot write none/x.html: No such file or directory (os error 2)\n"),
        (&["-o", "x.jsonl", "--no-tools"], 2, "a session file has whole entries"),
        (&["--all"], 2, "a page has all branches"),
        (&["-o", "-", "--json"], 2, "standard output gets the export itself"),
        (&["--branch", "nothing"], 1, "Entry nothing not found"),
    ];
    for (arguments, code, said) in refused {
        let run = home.run(&[&["export", session.as_str()], arguments].concat());
        assert_eq!(run.code, code, "{arguments:?}: {run}");
        assert!(run.err().contains(said), "{arguments:?}: {run}");
        assert_eq!(files(&home.path("project")).len(), 1, "{arguments:?}");
    }
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let home = Home::new();
    let session = home.session(TREE);
    let page = home.file("project/page.html", "mine");
    assert_eq!(home.run(&["export", &session, "-o", "page.html"]).code, 1);
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
    home.run(&["export", &session, "-o", "page.html", "--force"]).ok();
    assert!(fs::read_to_string(&page).unwrap().contains("Build a CLI"));
}

#[test]
fn an_export_is_opened_on_request() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let session = home.session(TREE);
    let name = if cfg!(target_os = "macos") { "bin/open" } else { "bin/xdg-open" };
    let opener = home.file(name, "#!/bin/sh\necho \"$1\" > \"$OPENED\"\n");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let opened = home.path("opened");
    assert!(std::process::Command::new("mkfifo").arg(&opened).status().unwrap().success());
    let mut command = home.command(&["export", &session, "--open"]);
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let output = command.env("PATH", path).env("OPENED", &opened).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(&opened).unwrap(), "build-a-cli.html\n");
}

#[test]
fn an_export_is_as_readable_as_any_new_file_and_a_session_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let session = home.session(TREE);
    for (mask, name, mode) in [
        ("077", "a.html", 0o600),
        ("022", "b.html", 0o644),
        ("022", "c.md", 0o644),
        ("022", "d.jsonl", 0o600),
    ] {
        let like = home.command(&[]);
        let mut shell = std::process::Command::new("/bin/sh");
        let script =
            format!("umask {mask}; exec '{}' export \"$1\" -o {name}", env!("CARGO_BIN_EXE_offshoot"));
        shell.args(["-c", &script, "sh", &session]).env_clear();
        shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.current_dir(home.path("project")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found = fs::metadata(home.path("project").join(name)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{name}");
    }
}

/// A run that was killed left its copy of the session behind.
#[test]
fn copies_of_killed_exports_are_removed_by_the_next_one() {
    let home = Home::new();
    let file = home.session("a user hello");
    let temporary = home.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let leftover = temporary.join(".offshoot-export-killed.offshoot.tmp");
    let old = fs::File::create(&leftover).unwrap();
    old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    drop(old);
    let mut command = home.command(&["export", &file, "--redact", "--output", "page.html"]);
    let output = command.env("TMPDIR", &temporary).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

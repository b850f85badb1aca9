//! Sessions in a PostgreSQL database.

use std::fs;

use testkit::postgres::PostgresServer;

use crate::support::Home;

const SESSION: &str = concat!(
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/project"}"#,
    "\n",
    r#"{"type":"message","id":"aaaaaaa1","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"Build a CLI","timestamp":1}}"#,
    "\n",
    r#"{"type":"message","id":"aaaaaaa2","parentId":"aaaaaaa1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"Use Rust","timestamp":2}}"#,
    "\n",
);

/// Runs a command that has to work, and returns its output.
fn run(home: &Home, words: &[&str]) -> String {
    let run = home.run(words);
    assert_eq!(run.code, 0, "{words:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn commands_work_on_a_session_in_a_database() {
    let (home, server) = (Home::new(), PostgresServer::start());
    let database = server.database();
    let session = database.replacen('?', "/team-session?", 1);
    let file = home.file("project/s.jsonl", SESSION);

    // Before there are tables, the message says what to do.
    let early = home.run(&["tree", &session]);
    assert_eq!(early.code, 1);
    let told = String::from_utf8_lossy(&early.stderr).into_owned();
    assert!(told.contains("has no tables for sessions") && told.contains("offshoot db init"), "{told}");

    run(&home, &["db", "init", &database]);
    assert!(run(&home, &["db", "status", &database]).contains("tenant  default"));
    assert!(run(&home, &["db", "push", &file, &session]).starts_with("3 lines to postgres://"));
    assert!(run(&home, &["db", "push", &file, &session]).starts_with("0 lines"));
    assert!(run(&home, &["db", "list", &database]).starts_with("team-session "));

    // The same commands print the same for the file and for the database.
    for command in ["tree", "path", "branches"] {
        assert_eq!(run(&home, &[command, &session]), run(&home, &[command, &file]), "{command}");
    }
    assert_eq!(run(&home, &["context", &session, "--json"]), run(&home, &["context", &file, "--json"]));
    assert_eq!(home.run(&["check", &session]).code, 0);

    run(&home, &["label", &session, "aaaaaaa1", "start"]);
    run(&home, &["switch", &session, "aaaaaaa1", "--exact"]);
    let draft = r#"{"type":"message","message":{"role":"user","content":"Use Python"}}"#;
    let appended = home.run_with_input(&["append", &session], draft.as_bytes());
    assert_eq!(appended.code, 0, "{}", String::from_utf8_lossy(&appended.stderr));
    let tree = run(&home, &["tree", &session]);
    assert!(tree.contains("Use Python") && tree.contains("Use Rust") && tree.contains("start"), "{tree}");

    run(&home, &["db", "pull", &session, &file]);
    assert_eq!(run(&home, &["tree", &file]), tree);
    assert!(fs::read_to_string(&file).unwrap().starts_with(SESSION));
    let copy = home.path("project/copy.jsonl");
    run(&home, &["db", "pull", &session, copy.to_str().unwrap()]);
    assert_eq!(fs::read(copy).unwrap(), fs::read(&file).unwrap());

    let page = home.path("project/page.html");
    run(&home, &["export", &session, "-o", page.to_str().unwrap()]);
    assert!(fs::read_to_string(page).unwrap().contains("Use Python"));
}

#[test]
fn passwords_of_addresses_are_never_printed() {
    let home = Home::new();
    for words in [
        &["tree", "postgres://ann:s3cret@127.0.0.1:1/team/x?connect_timeout=1"][..],
        &["check", "postgres://ann:s3cret@127.0.0.1:1/team/x?connect_timeout=1", "missing.jsonl"],
        &[
            "tree",
            "postgres://ann:s3cret@127.0.0.1:1/team/x?connect_timeout=1&password=s3cret",
            "missing.jsonl",
        ],
        &["db", "status", "postgres://ann:s3cret@127.0.0.1:port/team"],
        &["repair", "postgres://ann:s3cret@127.0.0.1:1/team/x"],
    ] {
        let run = home.run(words);
        assert_ne!(run.code, 0, "{words:?}");
        let output = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        assert!(!output.contains("s3cret"), "{output}");
    }
}

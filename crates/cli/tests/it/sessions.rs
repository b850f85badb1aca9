//! The list of sessions: what it shows, in which order, and what it finds.

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::drawing::entry_lines;

use crate::support::{Home, files};

/// Puts a session of the project into our own directory, or another one of the home. It names no directory, so that
/// its size does not depend on where the home is.
fn put(home: &Home, dir: &str, id: &str, parent: Option<&str>, drawing: &str) -> String {
    let project = session_tree::encode_cwd(home.path("project").to_str().unwrap());
    write(home, &format!("{dir}/{project}"), &json!({}), id, parent, drawing)
}

/// Puts a session of another project into our own directory.
fn put_of(home: &Home, cwd: &str, id: &str, parent: Option<&str>, drawing: &str) -> String {
    let dir = format!("{OWN}/{}", session_tree::encode_cwd(cwd));
    write(home, &dir, &json!({ "cwd": cwd }), id, parent, drawing)
}

fn write(home: &Home, dir: &str, more: &Value, id: &str, parent: Option<&str>, drawing: &str) -> String {
    let mut header = json!({
        "type": "session", "version": 3, "id": id, "timestamp": "2025-01-01T00:00:00.000Z",
    });
    header.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    if let Some(parent) = parent {
        header["parentSession"] = parent.into();
    }
    let mut bytes = format!("{header}\n").into_bytes();
    bytes.extend(entry_lines(drawing));
    home.file(&format!("{dir}/{id}.jsonl"), bytes)
}

const OWN: &str = "offshoot/sessions";

/// Five sessions; three of them come from the first one.
fn family(home: &Home) {
    put(home, OWN, "0000aaaa-greeter", None, "
        u1 user Build a CLI\na2<u1 assistant Fine\nu3<a2 user With colours\nu4<a2 user In black and white\nn5<u4 info Greeter CLI");
    put(home, OWN, "0000bbbb-zig", Some("0000aaaa-greeter"), "u1 user Port it to Zig");
    put(
        home,
        OWN,
        "0000cccc-rust",
        Some("0000aaaa-greeter"),
        "u1 user Port it to Rust\na2<u1 assistant Which edition?",
    );
    put(
        home,
        OWN,
        "0000dddd-async",
        Some("0000cccc-rust"),
        "u1 user Port it to Rust\nn2<u1 info Rust port, async\na3<n2 assistant Tokio?",
    );
    put(
        home,
        OWN,
        "0000aaaa-tar",
        Some("/gone/parent.jsonl"),
        "u1 user How do I list\\n\tthe files of a tar?",
    );
}

#[test]
fn forks_are_drawn_below_the_session_they_come_from() {
    let home = Home::new();
    family(&home);
    assert_snapshot!(home.run(&["sessions"]), @r"
    id          title                                messages  branches    size  age
    0000aaaa-g  Greeter CLI                                 4         2  1.1 kB  1h
    0000cccc    ├─ Port it to Rust                          2         1   693 B  1h
    0000dddd    │  └─ Rust port, async                      2         1   798 B  1h
    0000bbbb    └─ Port it to Zig                           1         1   288 B  1h
    0000aaaa-t  How do I list\n the files of a tar?         1         1   313 B  1h
    ");
}

#[test]
fn the_order_by_activity_is_a_plain_list() {
    let home = Home::new();
    family(&home);
    assert_snapshot!(home.run(&["sessions", "--sort", "recent"]), @r"
    id          title                                messages  branches    size  age
    0000aaaa-g  Greeter CLI                                 4         2  1.1 kB  1h
    0000dddd    Rust port, async                            2         1   798 B  1h
    0000cccc    Port it to Rust                             2         1   693 B  1h
    0000aaaa-t  How do I list\n the files of a tar?         1         1   313 B  1h
    0000bbbb    Port it to Zig                              1         1   288 B  1h
    ");
}

#[test]
fn a_query_finds_by_name_then_by_text() {
    let home = Home::new();
    family(&home);
    assert_snapshot!(home.run(&["sessions", "rust"]), @"
    id        title             messages  branches   size  age
    0000dddd  Rust port, async         2         1  798 B  1h
    0000cccc  Port it to Rust          2         1  693 B  1h
    ");
    assert_snapshot!(home.run(&["sessions", "which", "EDITION"]), @"
    id        title            messages  branches   size  age
    0000cccc  Port it to Rust         2         1  693 B  1h
    ");
    assert_snapshot!(home.run(&["sessions", "has:branch"]), @"
    id        title        messages  branches    size  age
    0000aaaa  Greeter CLI         4         2  1.1 kB  1h
    ");
    assert_snapshot!(home.run(&["sessions", "re:^port.*zig$"]), @"
    id        title           messages  branches   size  age
    0000bbbb  Port it to Zig         1         1  288 B  1h
    ");
    assert_snapshot!(home.run(&["sessions", "nothing like it"]), @"
    --- words
    none of 5 sessions matches
    ");
    assert_snapshot!(home.run(&["sessions", "nothing like it", "--json"]), @"
    []
    --- words
    none of 5 sessions matches
    ");
}

#[test]
fn the_ids_of_a_list_open_its_sessions() {
    let home = Home::new();
    family(&home);
    let list = home.run(&["sessions"]);
    let ids: Vec<&str> = list.ok().lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(ids.len(), 5);
    for id in ids {
        home.run(&["tree", id]).ok();
    }
    assert_eq!(home.run(&["name", "Greeter CLI"]).ok(), "Greeter CLI\n", "a name will do too");
    let ambiguous = home.run(&["labels", "0000aaaa"]);
    let error = "error: `0000aaaa` is ambiguous: 2 sessions fit";
    assert_eq!((ambiguous.code, ambiguous.err().lines().next()), (1, Some(error)));
}

#[test]
fn json_has_everything_that_is_known_about_a_session() {
    let home = Home::new();
    put_of(
        &home,
        "/w",
        "0000aaaa",
        Some("0000bbbb"),
        "u1 user Port it to Rust\nn2<u1 info Rust port\na3<n2 assistant Tokio?\nu4<u1 user No",
    );
    assert_snapshot!(home.run(&["sessions", "--all", "--json"]), @r#"[{"path":"[home]/offshoot/sessions/--w--/0000aaaa.jsonl","id":"0000aaaa","cwd":"/w","name":"Rust port","parentSession":"0000bbbb","created":"2025-01-01T00:00:00.000Z","modified":"2025-01-01T00:00:04.000Z","messageCount":3,"firstMessage":"Port it to Rust","entryCount":4,"branchCount":2,"size":942,"damage":null,"isSubAgent":false,"isComplete":true,"isPi":false}]"#);
}

#[test]
fn damaged_files_are_listed_and_marked() {
    let home = Home::new();
    put(&home, OWN, "0000aaaa", None, "u1 user hello\n! {\"broken\na2<u1 assistant hi");
    let project = session_tree::encode_cwd(home.path("project").to_str().unwrap());
    home.file(&format!("{OWN}/{project}/notes.jsonl"), "these are notes\n");
    home.file(&format!("{OWN}/{project}/empty.jsonl"), "");
    assert_snapshot!(home.run(&["sessions", "--sort", "recent"]), @"
    id        title          messages  branches   size  age
              ⚠ empty.jsonl                        0 B  now  not a session: it has no session header
              ⚠ notes.jsonl                       16 B  now  not a session: it has no session header
    0000aaaa  ⚠ hello               2         1  640 B  1h   1 damaged line
    ");
    let damage: Vec<_> = home
        .run(&["sessions", "--sort", "recent", "--json"])
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["damage"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(damage.len(), 3);
    assert!(damage.iter().all(Option::is_some), "{damage:?}");
}

#[test]
fn sub_agents_are_marked() {
    let home = Home::new();
    let project = session_tree::encode_cwd(home.path("project").to_str().unwrap());
    write(&home, &format!("{OWN}/{project}"), &json!({"kind": "subagent"}), "child", None, "");
    assert_snapshot!(home.run(&["sessions"]), @"
    id     title          messages  branches   size  age
    child  (no messages)         0         0  101 B  2h   sub-agent
    ");
}

#[test]
fn all_projects_are_listed_with_their_directories() {
    let home = Home::new();
    put_of(&home, "/w", "0000aaaa", None, "u1 user here");
    put_of(&home, "/elsewhere", "0000bbbb", None, "u1 user there");
    put(&home, OWN, "0000cccc", None, "u1 user and in the project");
    assert_snapshot!(home.run(&["sessions"]), @"
    id        title               messages  branches   size  age
    0000cccc  and in the project         1         1  253 B  1h
    ");
    assert_snapshot!(home.run(&["sessions", "--all", "--sort", "recent"]), @"
    id        title               project     messages  branches   size  age
    0000bbbb  there               /elsewhere         1         1  259 B  1h
    0000cccc  and in the project                     1         1  253 B  1h
    0000aaaa  here                /w                 1         1  250 B  1h
    ");
}

#[test]
fn sessions_of_pi_are_listed_and_marked() {
    let home = Home::new();
    assert_snapshot!(home.run(&["sessions"]), @"
    --- words
    no sessions of [home]/project yet
    ");
    put(&home, "pi/sessions", "0000aaaa", None, "u1 user from pi");
    put(&home, OWN, "0000bbbb", Some("0000aaaa"), "u1 user a fork of it");
    assert_snapshot!(home.run(&["sessions"]), @"
    id        title            messages  branches   size  age
    0000aaaa  from pi                 1         1  242 B  1h   pi
    0000bbbb  └─ a fork of it         1         1  274 B  1h
    ");
    let rows = home.run(&["sessions", "--json"]).json();
    let marks: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["isPi"].as_bool().unwrap()).collect();
    assert_eq!(marks, [true, false]);
    assert_snapshot!(home.run(&["sessions", "--pi"]), @"
    id        title    messages  branches   size  age
    0000aaaa  from pi         1         1  242 B  1h
    ");
    assert_snapshot!(home.run(&["sessions", "--session-dir", "nowhere"]), @"
    --- words
    no sessions of [home]/project yet
    ");
}

#[test]
fn sessions_are_found_by_files_labels_and_dates_in_words() {
    let home = Home::new();
    let edit = r#"! {"type":"message","id":"c2","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"x","name":"edit","arguments":{"path":"src/main.rs"}}]}}"#;
    put(&home, OWN, "0000aaaa-edit", None, &format!("u1 user change it\n{edit}"));
    put(&home, OWN, "0000bbbb-label", None, "u1 user keep it\nl2<u1 label u1 done");
    put(&home, OWN, "0000cccc-plain", None, "u1 user src/main.rs is done");
    let found = |query: &str| {
        let rows = home.run(&["sessions", query, "--json"]).json();
        let ids = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()[9..].to_owned());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("file:main.rs"), "edit");
    assert_eq!(found("label:done"), "label");
    assert_eq!(found("tool:edit change"), "edit");
    // The clock of the tests stands at 02:00 of the day on which these sessions were written.
    assert_eq!(found("since:today").split(' ').count(), 3);
    assert_eq!(found("since:wednesday").split(' ').count(), 3, "the day of the clock");
    assert_eq!(found("before:today"), "");
    assert_eq!(found("since:yesterday label:done"), "label");
    assert_eq!(found("since:2d before:2025-01-02").split(' ').count(), 3);
    assert_eq!(home.run(&["sessions", "since:whenever"]).code, 2);
}

#[test]
fn other_projects_are_hinted_at() {
    let home = Home::new();
    put_of(&home, "/elsewhere", "0000bbbb", None, "u1 user there");
    assert_snapshot!(home.run(&["sessions"]), @"
    --- words
    no sessions of [home]/project yet
    hint: other projects have some: `offshoot sessions --all` lists them
    ");
}

#[test]
fn listing_leaves_the_sessions_as_they_are() {
    let home = Home::new();
    family(&home);
    let before = files(&home.path(OWN));
    for arguments in
        [&["sessions"][..], &["sessions", "--all"], &["sessions", "rust"], &["sessions", "--json"]]
    {
        home.run(arguments).ok();
    }
    assert_eq!(files(&home.path(OWN)), before);
}

#[test]
fn sessions_that_come_from_each_other_are_listed_once() {
    let home = Home::new();
    let own = |id: &str| {
        let project = session_tree::encode_cwd(home.path("project").to_str().unwrap());
        home.path(&format!("{OWN}/{project}/{id}.jsonl")).to_str().unwrap().to_owned()
    };
    put(&home, OWN, "0000aaaa", Some(&own("0000bbbb")), "u1 user one");
    put(&home, OWN, "0000bbbb", Some(&own("0000aaaa")), "u1 user two");
    put(&home, OWN, "0000cccc", Some(&own("0000cccc")), "u1 user its own parent");
    put(&home, OWN, "0000dddd", Some("0000cccc"), "u1 user by id");
    // Sizes depend on where the home is.
    let list = home.run(&["sessions"]);
    let titles: Vec<String> =
        list.ok().lines().map(|line| format!("{line:.24}").trim_end().to_owned()).collect();
    assert_snapshot!(titles.join("\n"), @"
    id        title
    0000cccc  its own parent
    0000dddd  └─ by id
    0000aaaa  one
    0000bbbb  └─ two
    ");
}

#[test]
fn a_narrow_terminal_gets_the_title_and_the_id() {
    let home = Home::new();
    family(&home);
    let seen = home.on_terminal(44, &["sessions", "--color", "never"]);
    assert_snapshot!(String::from_utf8(seen).unwrap().replace('\r', ""), @r"
    id          title              messages  age
    0000aaaa-g  Greeter CLI               4  1h
    0000cccc    ├─ Port it to Ru…         2  1h
    0000dddd    │  └─ Rust port,…         2  1h
    0000bbbb    └─ Port it to Zig         1  1h
    0000aaaa-t  How do I list\n …         1  1h
    ");
}

#[test]
fn a_line_that_is_never_read_hides_no_other_session() {
    let home = Home::new();
    put(&home, OWN, "0000aaaa-good", None, "u1 user Build a CLI");
    let long = put(&home, OWN, "0000bbbb-long", None, "u1 user A long story");
    let file = std::fs::File::options().append(true).open(long).unwrap();
    // A hole, which takes no room on the disk.
    file.set_len(file.metadata().unwrap().len() + (520 << 20)).unwrap();
    let listed = home.run(&["sessions"]);
    assert!(listed.ok().contains("Build a CLI") && listed.ok().contains("A long story"), "{listed}");
}

//! The session picker at a terminal: what it lists, what it finds, and that nothing is thrown away for good.

use std::fs;
use std::path::PathBuf;

use super::screen::{DOWN, ENTER, ESCAPE, Screen};
use super::{entries, start};
use crate::support::{Home, files};

/// A session file of a project, with a prompt and an answer.
fn session(home: &Home, project: &str, id: &str, minute: u32, prompt: &str, answer: &str) {
    let time = |second: u32| format!("2025-01-01T00:{minute:02}:{second:02}.000Z");
    let cwd = home.path(project).to_str().unwrap().to_owned();
    let text = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"{0}\",\"cwd\":\"{cwd}\"}}\n\
         {{\"type\":\"message\",\"id\":\"{id}-1\",\"parentId\":null,\"timestamp\":\"{1}\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\",\"timestamp\":{3}}}}}\n\
         {{\"type\":\"message\",\"id\":\"{id}-2\",\"parentId\":\"{id}-1\",\"timestamp\":\"{2}\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{answer}\"}}],\"stopReason\":\"stop\",\"timestamp\":{3}}}}}\n",
        time(0),
        time(1),
        time(2),
        1_735_689_600_000_u64 + u64::from(minute) * 60_000,
    );
    let directory = format!("--{}--", cwd.trim_start_matches('/').replace(['/', '\\', ':'], "-"));
    home.file(&format!("offshoot/sessions/{directory}/2025_{id}.jsonl"), text);
}

/// The file of a session, and what it holds.
fn file(home: &Home, id: &str) -> (PathBuf, Vec<u8>) {
    let name = format!("2025_{id}.jsonl");
    files(&home.path("offshoot/sessions")).into_iter().find(|(path, _)| path.ends_with(&name)).unwrap()
}

fn home() -> Home {
    let home = Home::new();
    session(&home, "project", "tar", 1, "Which flags has tar", "Use tar -xzf for archives.");
    session(&home, "project", "zig", 2, "Port it to zig", "The build file is there.");
    session(&home, "project", "rust", 3, "Port it to rust", "Cargo is set up.");
    session(&home, "elsewhere", "haskell", 4, "A monad tutorial", "A monad is a monoid.");
    home
}

fn open(home: &Home) -> Screen {
    let mut screen = start(home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("/resume");
    screen.wait_for("Port it to rust");
    screen
}

/// Escape takes the query back first, then closes.
fn close(screen: &mut Screen) {
    screen.send(ESCAPE);
    screen.wait_for("type to search");
    screen.send(ESCAPE);
    screen.wait_without("Resume Session");
}

#[test]
fn an_ambiguous_prefix_is_reported_with_all_matches() {
    let home = home();
    session(&home, "project", "rustic", 5, "Another one", "Another answer.");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    // Escape closes the list of candidates, so that Enter accepts none of them.
    screen.send("/resume rus");
    screen.wait_for("› rustic");
    screen.send(ESCAPE);
    screen.wait_without("› rustic");
    screen.send(ENTER);
    let shown = screen.wait_for("2025_rustic.jsonl");
    assert!(shown.contains("2025_rust.jsonl"), "{shown}");
    screen.send("\x15");
    screen.wait_without("› /resume rus");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

/// The list of branches was wished for in a session that cannot be opened; another one does not get it.
#[test]
fn what_was_to_be_done_in_a_session_that_cannot_be_opened_is_forgotten() {
    let home = home();
    let mut screen = open(&home);
    let (path, _) = file(&home, "rust");
    fs::write(&path, "no session at all").unwrap();
    screen.send("\x02");
    screen.wait_for("2025_rust.jsonl");
    screen.wait_without("Resume Session");
    screen.say("/resume zig");
    screen.wait_for("opened; the old one is kept");
    let shown = screen.wait_for("The build file is there.");
    assert!(!shown.contains("1 tip"), "{shown}");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_resumed_session_says_what_cannot_be_read_and_which_model_is_not_here() {
    let home = home();
    let (path, mut bytes) = file(&home, "zig");
    bytes.extend_from_slice(b"{\"type\":\"mess\n");
    bytes.extend_from_slice(br#"{"type":"model_change","id":"zig-3","parentId":"zig-2","timestamp":"2025-01-01T00:02:03.000Z","provider":"lab","modelId":"gone"}"#);
    bytes.push(b'\n');
    fs::write(&path, bytes).unwrap();
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("/resume zig");
    screen.wait_for("1 line of this session cannot be read");
    screen.wait_for("lab/gone cannot be used here");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

fn names(home: &Home) -> Vec<String> {
    let all = files(&home.path("offshoot/sessions"));
    all.iter().map(|(path, _)| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn sessions_are_found_by_what_was_said_and_in_all_folders() {
    let home = home();
    let mut screen = open(&home);
    let shown = screen.wait_for("(1/3)");
    assert!(shown.contains("this folder") && !shown.contains("monad"), "{shown}");
    // Words of an answer are found, too.
    screen.send("archives");
    let shown = screen.wait_for("(1/1)");
    assert!(shown.contains("Which flags has tar") && !shown.contains("Port it to zig"), "{shown}");
    screen.send(ESCAPE);
    screen.wait_for("(1/3)");
    screen.send("monoid");
    screen.wait_for("nothing found here");
    screen.send("\t");
    screen.wait_for("A monad tutorial");
    screen.send("\t");
    screen.wait_for("nothing found here");
    screen.send("\t");
    screen.wait_for("A monad tutorial");
    screen.send(ENTER);
    let shown = screen.wait_for("the session was made in");
    assert!(shown.contains("A monad is a monoid."), "{shown}");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_session_gets_a_name_in_the_picker_also_the_one_that_is_open() {
    let home = home();
    let mut screen = open(&home);
    screen.send(DOWN);
    screen.wait_for("(2/3)");
    screen.send("\x12");
    screen.wait_for("Rename session");
    screen.send("The zig port\r");
    screen.wait_without("Rename session");
    screen.wait_for("The zig port");
    let zig = |home: &Home| {
        files(&home.path("offshoot/sessions")).into_iter().find(|(path, _)| path.ends_with("2025_zig.jsonl"))
    };
    let last = entries(&zig(&home).unwrap().1).pop().unwrap();
    assert_eq!((&last["type"], &last["name"]), (&"session_info".into(), &"The zig port".into()));

    // Open it; its name is in the footer. Another name goes through the open session.
    screen.send(ENTER);
    screen.wait_for("The build file is there.");
    screen.wait_for("• The zig port");
    screen.say("/resume");
    screen.wait_for("← open here");
    screen.send("\"zig port\"");
    screen.wait_for("(1/1)");
    screen.send("\x12");
    screen.wait_for("Rename session");
    screen.send("\x15Zig at last\r");
    screen.wait_without("Rename session");
    close(&mut screen);
    let shown = screen.wait_for("• Zig at last");
    assert!(!shown.contains("another program"), "{shown}");
    screen.say("/quit");
    let (code, bytes) = screen.end();
    assert_eq!(code, 0);
    assert!(!String::from_utf8_lossy(&bytes).contains("another program"), "the name was given here");
    assert_eq!(entries(&zig(&home).unwrap().1).pop().unwrap()["name"], "Zig at last");
}

#[test]
fn what_is_thrown_away_can_be_taken_back_and_the_open_session_stays() {
    let home = home();
    let mut screen = open(&home);
    let before = files(&home.path("offshoot/sessions"));
    screen.send(DOWN);
    screen.wait_for("(2/3)");
    // The question is answered with no, then with yes.
    screen.send("\x04");
    screen.wait_for("to the trash?");
    screen.send(ESCAPE);
    screen.wait_without("to the trash?");
    assert_eq!(files(&home.path("offshoot/sessions")), before);
    screen.send("\x04");
    screen.wait_for("to the trash?");
    screen.send(ENTER);
    let shown = screen.wait_for("is in the trash");
    assert!(shown.contains("Ctrl+Z") && shown.contains("(2/2)"), "{shown}");
    assert!(!names(&home).contains(&"2025_zig".to_owned()));
    assert!(home.path("offshoot/state/trash/2025_zig.jsonl").exists());
    // Taken back, byte for byte.
    screen.send("\x1a");
    screen.wait_for("(2/3)");
    screen.wait_without("is in the trash");
    assert_eq!(files(&home.path("offshoot/sessions")), before);

    // Thrown away for this evening; the trash never loses what lies in it already.
    fs::write(home.path("offshoot/state/trash/2025_zig.jsonl"), "older").unwrap();
    screen.send("\x04");
    screen.wait_for("to the trash?");
    screen.send(ENTER);
    screen.wait_for("(2/2)");
    assert_eq!(fs::read(home.path("offshoot/state/trash/2025_zig.jsonl")).unwrap(), b"older");
    assert_eq!(fs::read_dir(home.path("offshoot/state/trash")).unwrap().count(), 2);

    // The session that is open is refused.
    screen.send(ENTER);
    screen.wait_for("Use tar -xzf");
    screen.say("/resume");
    screen.wait_for("← open here");
    // A phrase: letters alone are also looked for in the paths of projects.
    screen.send("\"flags has tar\"");
    screen.wait_for("(1/1)");
    screen.send("\x04");
    screen.wait_for("the session that is open cannot be deleted");
    close(&mut screen);
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn sub_agents_are_not_offered() {
    let home = home();
    for (path, bytes) in files(&home.path("offshoot/sessions")) {
        if path.to_string_lossy().contains("_zig") {
            let text = String::from_utf8(bytes).unwrap();
            fs::write(path, text.replacen("\"version\":3", "\"version\":3,\"kind\":\"subagent\"", 1))
                .unwrap();
        }
    }
    let mut screen = open(&home);
    let shown = screen.wait_for("(1/2)");
    assert!(!shown.contains("Port it to zig"), "{shown}");
    screen.send("\t");
    let shown = screen.wait_for("A monad tutorial");
    assert!(!shown.contains("Port it to zig"), "{shown}");
    screen.send(ESCAPE);
    screen.wait_without("Resume Session");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn the_option_resume_begins_with_the_picker() {
    let home = home();
    let mut screen = start(&home, &["-r"]);
    screen.wait_for("Port it to rust");
    screen.send(ENTER);
    screen.wait_for("opened; the old one is kept");
    screen.wait_for("Cargo is set up.");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

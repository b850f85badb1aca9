//! The chat while another program has locked the session file.

use std::fs::File;

use super::screen::ESCAPE;
use super::{said, session, talking};

#[test]
fn a_prompt_waits_for_the_lock_and_can_be_taken_back() {
    let (home, _server, mut screen) = talking(&["First answer.", "Second answer."]);
    screen.ask("One", "First answer.");
    let (path, before) = session(&home);
    let holder = File::open(&path).unwrap();
    holder.lock().unwrap();
    screen.say("Two");
    screen.wait_for("has locked");
    screen.send(ESCAPE);
    screen.wait_for("has held its lock for");
    screen.wait_for("› Two");
    assert_eq!(session(&home).1.len(), before.len(), "nothing was written");

    screen.send("\r");
    screen.wait_without("› Two");
    drop(holder);
    screen.wait_for("Second answer.");
    assert_eq!(said(&session(&home).1, "user"), ["One", "Two"]);
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_signal_ends_the_chat_while_it_waits_for_the_lock() {
    let (home, _server, mut screen) = talking(&["First answer."]);
    screen.ask("One", "First answer.");
    let holder = File::open(session(&home).0).unwrap();
    holder.lock().unwrap();
    screen.say("Two");
    screen.wait_for("has locked");
    let pid = screen.process().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    screen.end();
    assert_eq!(said(&session(&home).1, "user"), ["One"]);
    drop(holder);
}

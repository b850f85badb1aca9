//! The tree while a turn runs: nothing is stopped without a question, and the rows follow the session.

use testkit::model_server::{ModelServer, Reply};

use super::queue::working;
use super::screen::{DOWN, ENTER, ESCAPE, Screen, UP};
use super::{said, session};
use crate::support::Home;

const QUESTION: &str = "The model is still answering";

/// Starts a turn that lasts until the file `go` exists, and chooses its prompt in the tree.
fn choosing(answer: &str) -> (Home, ModelServer, Screen) {
    let home = Home::new();
    let (server, mut screen) = working(&home, vec![Reply::answer().text(answer)]);
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send("work");
    screen.wait_for("1 match");
    screen.send(ENTER);
    let shown = screen.wait_for(QUESTION);
    for answer in ["1 Wait until it ends", "2 Stop it", "3 Stay here"] {
        assert!(shown.contains(answer), "{answer}:\n{shown}");
    }
    (home, server, screen)
}

/// Lets the turn end, leaves, and checks that no answer was cut short.
fn finish_undisturbed(home: &Home, mut screen: Screen) {
    home.file("project/go", b"");
    screen.wait_for("All done.");
    screen.wait_without("Working");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    assert_eq!(stop_reasons(home), ["toolUse", "stop"]);
}

fn stop_reasons(home: &Home) -> Vec<String> {
    let answers = session(home).1.into_iter().filter(|entry| entry["message"]["role"] == "assistant");
    answers.map(|entry| entry["message"]["stopReason"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn enter_in_the_tree_waits_for_the_answer_by_default() {
    let (home, _server, mut screen) = choosing("All done.");
    screen.send(ENTER);
    screen.wait_for("then: go to “work”");
    assert!(screen.wait_for("Working").contains("while [ ! -e go ]"));
    home.file("project/go", b"");
    screen.wait_for("No summary");
    screen.answer("1");
    screen.wait_for("› work");
    assert_eq!(stop_reasons(&home), ["toolUse", "stop"]);
    assert_eq!(said(&session(&home).1, "assistant"), ["", "All done."]);
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_move_that_waits_can_be_taken_back() {
    let (home, _server, mut screen) = choosing("All done.");
    screen.send(ENTER);
    screen.wait_for("then: go to “work”");
    screen.send("\x1b[1;3A");
    screen.wait_without("then: go to");
    finish_undisturbed(&home, screen);
}

#[test]
fn staying_goes_back_to_the_tree_and_changes_nothing() {
    for stay in ["3", ESCAPE] {
        let (home, _server, mut screen) = choosing("All done.");
        screen.send(stay);
        screen.wait_for("Session Tree");
        screen.send(ESCAPE);
        screen.wait_without("1 match");
        screen.send(ESCAPE);
        screen.wait_without("Session Tree");
        finish_undisturbed(&home, screen);
    }
}

#[test]
fn stopping_the_turn_is_a_choice() {
    let (home, _server, mut screen) = choosing("never");
    screen.send("2");
    screen.wait_for("No summary");
    screen.send("1");
    screen.wait_for("› work");
    assert!(!said(&session(&home).1, "assistant").contains(&"never".to_owned()));
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn an_open_tree_shows_what_arrives_and_keeps_cursor_and_search() {
    let home = Home::new();
    let (_server, mut screen) = working(&home, vec![Reply::answer().text("All work is done.")]);
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send(UP);
    screen.send("work");
    screen.wait_for("1 match");
    home.file("project/go", b"");
    let shown = screen.wait_for("2 matches");
    assert!(shown.contains("assistant: All work is done. ← active"), "{shown}");
    assert!(shown.lines().any(|line| line.contains('›') && line.contains("user: work")), "{shown}");
    screen.send(ESCAPE);
    screen.wait_without("2 matches");
    // The cursor is still on the prompt; one row below is the call.
    screen.send(DOWN);
    screen.wait_until("the cursor on the next row", |screen| {
        screen.lines().any(|line| line.contains('›') && line.contains("bash"))
    });
    screen.send(ESCAPE);
    screen.wait_without("Session Tree");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

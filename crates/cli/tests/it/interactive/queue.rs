//! Input during a turn: it waits, is sent once, and returns to the editor with Escape until then.

use serde_json::json;
use testkit::model_server::{ModelServer, Reply};

use super::screen::{ESCAPE, Screen};
use super::{said, session, start};
use crate::support::Home;
use crate::talk::set_up;

/// Lets the model run a command that lasts until the file `go` is there, and then answer like this.
pub(super) fn working(home: &Home, then: Vec<Reply>) -> (ModelServer, Screen) {
    let wait = json!({"command": "while [ ! -e go ]; do sleep 0.05; done"});
    let script = [vec![Reply::answer().call("c1", "bash", wait)], then].concat();
    let server = ModelServer::start(script).unwrap();
    set_up(home, &server, "anthropic-messages");
    let mut screen = start(home, &["--yes"]);
    screen.wait_for("every conversation is a tree");
    screen.say("work");
    screen.wait_for("while [ ! -e go ]");
    (server, screen)
}

fn count(screen: &str, text: &str) -> usize {
    screen.matches(text).count()
}

#[test]
fn of_two_equal_messages_the_one_that_was_not_said_comes_back() {
    let home = Home::new();
    let (_server, mut screen) = working(&home, vec![Reply::answer().text("a long story").stall_after(3)]);
    for waiting in 1..=2 {
        screen.say("continue");
        screen.wait_until("one more that waits", |screen| count(screen, "next: continue") == waiting);
    }
    home.file("project/go", b"");
    screen.wait_until("one of them said", |screen| count(screen, "next: continue") == 1);
    screen.send(ESCAPE);
    screen.wait_for("stopped");
    let shown = screen.wait_for("› continue");
    assert_eq!(count(&shown, "next: continue"), 0);
    // As much as is in the editor goes with one key.
    screen.send("\x03");
    screen.wait_without("› continue");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    assert_eq!(said(&session(&home).1, "user"), ["work", "continue"]);
}

#[test]
fn what_came_back_is_not_sent_with_the_next_prompt() {
    let home = Home::new();
    let (server, mut screen) = working(&home, vec![Reply::answer().text("Sure.")]);
    screen.say("never mind");
    screen.wait_for("next: never mind");
    screen.send(ESCAPE);
    screen.wait_for("stopped");
    screen.wait_for("› never mind");
    screen.send("\x03");
    screen.wait_without("› never mind");
    screen.ask("something else", "Sure.");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    assert_eq!(said(&session(&home).1, "user"), ["work", "something else"]);
    assert_eq!(server.requests().len(), 2);
}

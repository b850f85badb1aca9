//! However an answer or the program ends, what was said is kept.

use std::time::{Duration, Instant};

use testkit::model_server::{ModelServer, Reply};

use super::screen::{ENTER, ESCAPE, Screen};
use super::{last, said, session, start, start_again, talking, talking_to};
use crate::secrets::{LEAVES_CHILDREN, signal, started, wait_until_gone};
use crate::support::Home;
use crate::talk::set_up;

#[test]
fn escape_stops_an_answer_and_what_came_so_far_is_kept() {
    let (home, _server, mut screen) =
        talking_to(ModelServer::start([Reply::answer().text("a long story").stall_after(3)]).unwrap());
    screen.say("tell me");
    screen.wait_for("Working");
    // Input during a turn waits, and returns with Escape.
    screen.say("and be quick");
    screen.wait_for("next: and be quick");
    screen.send(ESCAPE);
    screen.wait_for("stopped");
    screen.wait_for("› and be quick");
    screen.send("\x03");
    screen.wait_without("› and be quick");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let answer = session(&home).1.into_iter().find(|entry| entry["message"]["role"] == "assistant").unwrap();
    assert_eq!(answer["message"]["stopReason"], "aborted");
}

#[test]
fn what_waits_for_an_answer_that_fails_is_not_lost() {
    let home = Home::new();
    let slow = Reply::error(400, "no such luck").delay(Duration::from_millis(300));
    let server = ModelServer::start([slow]).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("first");
    screen.wait_for("Working");
    screen.say("and then this");
    screen.wait_for("no such luck");
    screen.wait_for("› and then this");
    assert_eq!(said(&session(&home).1, "user"), ["first"]);
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_prompt_that_cannot_be_stored_is_in_the_editor_again() {
    let home = Home::new();
    let server = ModelServer::start([Reply::answer().text("Hello.")]).unwrap();
    set_up(&home, &server, "anthropic-messages");
    // Files cannot grow beyond the limit, as on a full disk.
    let program = home.command(&[]);
    let mut limited = std::process::Command::new("/bin/sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\"", program.get_program().to_str().unwrap()]);
    limited.current_dir(program.get_current_dir().unwrap());
    for (name, value) in program.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    let mut screen = Screen::start(&limited, 100, 30);
    screen.wait_for("every conversation is a tree");
    screen.ask("hi", "Hello.");
    screen.send(&format!("\x1b[200~{}\x1b[201~and the end", "word ".repeat(20_000)));
    screen.wait_for("]and the end");
    screen.send(ENTER);
    screen.wait_for("✗");
    screen.wait_without("Working");
    let shown = screen.wait_until("the prompt in the editor", |screen| {
        screen.lines().rev().take(12).any(|line| line.ends_with("word and the end"))
    });
    assert!(shown.contains("cannot append"), "{shown}");
    assert_eq!(said(&session(&home).1, "user"), ["hi"]);
    screen.send("\x03");
    screen.wait_without("and the end");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_signal_leaves_a_sane_terminal_and_a_whole_session() {
    let (home, _server, mut screen) = talking(&["One.", "Two."]);
    screen.ask("one", "One.");
    screen.ask("two", "Two.");
    screen.say("/undo");
    screen.wait_for("/back returns");
    let pid = screen.process().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let (_, bytes) = screen.end();
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(bytes.contains("\x1b[?2004l") && bytes.ends_with('\n'), "{bytes:?}");
    assert_eq!(last(&home)["customType"], "session-tree.leaf");
}

#[test]
fn a_move_that_nothing_followed_outlives_a_kill() {
    let (home, server, mut screen) = talking(&["One.", "Two.", "Three."]);
    for (prompt, answer) in [("first", "One."), ("second", "Two.")] {
        screen.ask(prompt, answer);
    }
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send("One.");
    screen.wait_for("1 match");
    screen.send(ENTER);
    screen.wait_for("No summary");
    screen.send("1");
    screen.wait_for("moved; /back returns");
    // The position is kept once the person has stayed there for some seconds.
    let patience = Instant::now() + Duration::from_secs(90);
    while last(&home)["customType"] != "session-tree.leaf" {
        assert!(Instant::now() < patience, "the position was not kept");
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = screen.process().to_string();
    assert!(std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    screen.end();

    let mut screen = start_again(&home, 900, &["-c"]);
    screen.wait_for("One.");
    screen.ask("third", "Three.");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let sent = server.requests()[2].body["messages"].to_string();
    assert!(sent.contains("first") && sent.contains("third") && !sent.contains("second"), "{sent}");
}

#[test]
fn a_window_that_is_closed_loses_neither_the_position_nor_half_an_answer() {
    let (home, server, mut screen) = talking(&["One.", "Two."]);
    for (prompt, answer) in [("one", "One."), ("two", "Two.")] {
        screen.ask(prompt, answer);
    }
    screen.say("/undo");
    screen.wait_for("/back returns");
    screen.hang_up();
    assert_eq!(last(&home)["customType"], "session-tree.leaf");

    server.push(Reply::answer().text("a long story").stall_after(3));
    let mut screen = start_again(&home, 500, &["-c"]);
    screen.wait_for("One.");
    screen.say("tell me");
    screen.wait_for("Working");
    screen.wait_until("a question to the model", |_| server.requests().len() == 3);
    screen.hang_up();
    let answer = session(&home).1.into_iter().rev().find(|entry| entry["message"]["role"] == "assistant");
    assert_eq!(answer.unwrap()["message"]["stopReason"], "aborted");
}

#[test]
fn interrupting_the_editor_does_not_end_the_conversation() {
    let home = Home::new();
    let editor = "sh -c 'kill -INT 0'";
    let mut screen = Screen::start(home.command(&[]).env("EDITOR", editor), 100, 30);
    screen.wait_for("every conversation is a tree");
    screen.send("a draft");
    screen.wait_for("› a draft");
    screen.send("\x07");
    screen.wait_for("cannot use the editor");
    screen.send(" to keep");
    screen.wait_for("› a draft to keep");
    screen.send("\x15");
    screen.wait_without("› a draft");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_processes_of_a_command_with_the_conversation() {
    for name in ["TERM", "HUP"] {
        let (home, _server, mut screen) = talking(&[]);
        screen.say(&format!("!{LEAVES_CHILDREN}"));
        let ids = started(&home);
        signal(name, screen.process());
        screen.end();
        wait_until_gone(&ids, name);
    }
    let (home, _server, mut screen) = talking(&[]);
    screen.say(&format!("!{LEAVES_CHILDREN}"));
    let ids = started(&home);
    screen.hang_up();
    wait_until_gone(&ids, "closing the window");
}

//! A tool asks before it runs, and nothing that was typed for something else answers.

use std::time::Duration;

use serde_json::json;
use testkit::model_server::{ModelServer, Reply};

use super::screen::{ENTER, Screen};
use super::start;
use crate::support::Home;
use crate::talk::set_up;

#[test]
fn a_tool_asks_before_it_runs_and_no_is_an_answer() {
    let home = Home::new();
    let call = |id: &str, command: &str| Reply::answer().call(id, "bash", json!({"command": command}));
    let server = ModelServer::start([
        call("c1", "touch made.txt"),
        Reply::answer().text("It is made."),
        call("c2", "touch never.txt"),
        Reply::answer().text("Then not."),
    ])
    .unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("make it");
    screen.wait_for("May bash do this?");
    screen.answer("1");
    screen.wait_for("It is made.");
    assert!(home.path("project/made.txt").exists());
    screen.wait_without("Working");
    screen.say("and another");
    screen.wait_for("May bash do this?");
    screen.answer("4");
    screen.wait_for("Then not.");
    assert!(!home.path("project/never.txt").exists());
    screen.wait_without("Working");
    screen.say("/quit");
    screen.end();
}

/// Lets a tool ask, types `keys` one by one from the moment on that `sign` shows, and answers no.
///
/// Keys typed before the question must not answer it. The machine may be too busy to type in time: one of five is
/// enough.
fn type_while_a_tool_asks(sign: &str, keys: &str, is_left: impl Fn(&str) -> bool) {
    let home = Home::new();
    let replies = (0..5).flat_map(|n| {
        let call = json!({"command": format!("touch made{n}.txt")});
        let asks = Reply::answer().call(&format!("c{n}"), "bash", call).delay(Duration::from_millis(50));
        [asks, Reply::answer().text(&format!("Well {n}."))]
    });
    let server = ModelServer::start(replies).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    let is_in_time = (0..5).any(|n| {
        screen.say(&format!("make it {n}"));
        screen.wait_for(sign);
        for key in keys.split("").filter(|key| !key.is_empty()) {
            screen.send(key);
            std::thread::sleep(Duration::from_millis(20));
        }
        let said = format!("Well {n}.");
        let shown = screen.wait_until("a question", |shown| {
            shown.contains(&said) || shown.contains("May bash") && shown.contains("Enter choose")
        });
        if !shown.contains(&said) {
            screen.send("4");
        }
        screen.wait_for(&said);
        let shown = screen.wait_without("Working");
        let is_in_time = is_left(&shown) && !home.path(&format!("project/made{n}.txt")).exists();
        screen.send("\x15");
        is_in_time
    });
    assert!(is_in_time, "what was typed was an answer");
    screen.say("/quit");
    screen.end();
}

#[test]
fn keys_that_come_with_a_question_do_not_answer_it() {
    type_while_a_tool_asks("keys answer in a moment", "1\r", |_| true);
}

#[test]
fn a_question_waits_for_a_pause_and_nothing_typed_is_lost() {
    let typed = "1".repeat(40);
    type_while_a_tool_asks("Working", &typed, |shown| shown.contains(&typed));
}

#[test]
fn a_change_is_shown_before_approval_and_the_model_gets_the_reason_of_a_refusal() {
    for (columns, rows) in [(80, 24), (40, 12)] {
        let home = Home::new();
        let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        home.file("project/src/a.txt", &text);
        let edit =
            json!({"path": "src/a.txt", "edits": [{"oldText": "line 12\n", "newText": "LINE TWELVE\n"}]});
        let server = ModelServer::start([
            Reply::answer().call("c1", "edit", edit),
            Reply::answer().call("c2", "write", json!({"path": "new.txt", "content": "fresh\n"})),
            Reply::answer().text("I see."),
        ])
        .unwrap();
        set_up(&home, &server, "anthropic-messages");
        let mut screen = Screen::start(&home.command(&[]), columns, rows);
        screen.wait_for("›");
        screen.say("change it");
        let mut pages = String::new();
        for _ in 0..8 {
            pages += &screen.wait_for("May edit do this?");
            if pages.contains("+12 LINE TWELVE") {
                break;
            }
            screen.answer("\x1b[6~");
            std::thread::sleep(Duration::from_millis(200));
        }
        assert!(pages.contains("-12 line 12") && pages.contains("+12 LINE TWELVE"), "{columns}: {pages}");
        screen.answer("5");
        screen.wait_for("Tell the model why");
        screen.send("keep it small");
        screen.wait_for("keep it small");
        screen.send(ENTER);
        screen.wait_for("May write do this?");
        screen.wait_for("+1 fresh");
        screen.answer("1");
        screen.wait_for("I see.");
        let told = server.requests()[1].body["messages"].to_string();
        assert!(told.contains("declined by the user: keep it small"), "{told}");
        assert_eq!(std::fs::read_to_string(home.path("project/src/a.txt")).unwrap(), text);
        assert_eq!(std::fs::read_to_string(home.path("project/new.txt")).unwrap(), "fresh\n");
        screen.wait_without("Working");
        screen.say("/quit");
        screen.end();
    }
}

#[test]
fn always_in_this_project_lasts_until_it_is_revoked() {
    let home = Home::new();
    let call = |id: &str| Reply::answer().call(id, "bash", json!({"command": "touch made.txt"}));
    let said = |text: &str| Reply::answer().text(text);
    let replies = [call("c1"), said("One."), call("c2"), said("Two."), call("c3"), said("Three.")];
    let server = ModelServer::start(replies).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("make it");
    screen.wait_for("Always in this project  bash(touch made.txt)");
    screen.answer("3");
    screen.wait_for("One.");
    screen.wait_without("Working");
    screen.say("/quit");
    screen.end();

    let mut screen = start(&home, &["-c"]);
    screen.wait_for("One.");
    screen.say("make it again");
    screen.wait_for("Two.");
    screen.wait_without("Working");
    screen.say("/permissions");
    screen.wait_for("allow  bash(touch made.txt)  this project");
    screen.say("/permissions --revoke bash(touch made.txt)");
    screen.wait_for("revoked the rule `bash(touch made.txt)`");
    screen.say("and again");
    screen.wait_for("May bash do this?");
    screen.answer("4");
    screen.wait_for("Three.");
    screen.wait_without("Working");
    screen.say("/quit");
    screen.end();
}

//! A conversation at a terminal, from the first prompt to coming back: what the screen shows and what the file holds.

mod extensions;
mod journey;
mod picker;
mod queue;
pub(crate) mod screen;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply};

use crate::support::{Home, files};
use crate::talk::set_up;
use screen::{DOWN, ENTER, ESCAPE, Screen, UP};

/// A server that gives these answers, one after the other.
fn answering(answers: &[&str]) -> ModelServer {
    ModelServer::start(answers.iter().map(|text| Reply::answer().text(text))).unwrap()
}

fn start(home: &Home, arguments: &[&str]) -> Screen {
    Screen::start(&home.command(arguments), 100, 30)
}

/// A conversation with two branches: Node, which was taken back, and Rust.
fn two_branches() -> (Home, ModelServer, Screen) {
    let home = Home::new();
    let server = answering(&["Node it is.", "Rust it is."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("Use Node");
    screen.wait_for("Node it is.");
    screen.wait_without("Working");
    screen.say("/undo");
    screen.wait_for("› Use Node");
    screen.send("\x15");
    screen.say("Use Rust");
    screen.wait_for("Rust it is.");
    screen.wait_without("Working");
    (home, server, screen)
}

/// Starts the program with ids that were not used before.
fn start_again(home: &Home, ids: u32, arguments: &[&str]) -> Screen {
    Screen::start(home.command(arguments).env("OFFSHOOT_IDS", ids.to_string()), 100, 30)
}

/// The only session file, and its entries.
fn session(home: &Home) -> (PathBuf, Vec<Value>) {
    let (path, bytes) = files(&home.path("offshoot/sessions")).into_iter().next().unwrap();
    (path, entries(&bytes))
}

fn entries(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The texts of all messages of a role, in file order.
fn said(entries: &[Value], role: &str) -> Vec<String> {
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect(),
    };
    let messages = entries.iter().map(|entry| &entry["message"]).filter(|message| message["role"] == role);
    messages.map(text).collect()
}

fn last(home: &Home) -> Value {
    session(home).1.pop().unwrap()
}

#[test]
fn a_newcomer_without_a_key_is_told_what_to_do_and_gets_an_answer() {
    let home = Home::new();
    let mut screen = start(&home, &[]);
    let shown = screen.wait_for("offshoot/offline");
    assert!(shown.contains("the offline model answers"), "{shown}");
    for guide in ["/tree", "/label", "/fork", "/help", "offshoot login"] {
        assert!(shown.contains(guide), "{guide}:\n{shown}");
    }
    screen.say("hello there");
    screen.wait_for("No model is configured");
    screen.wait_without("Working");
    screen.say("/quit");
    let (code, bytes) = screen.end();
    assert_eq!(code, 0);
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(bytes.contains("offshoot -c"), "{bytes}");
    assert!(bytes.contains("\x1b[?2004l") && bytes.contains("\x1b[?25h"), "the terminal is as it was");
    assert_eq!(said(&session(&home).1, "user"), ["hello there"]);
}

#[test]
fn a_conversation_can_be_branched_labelled_walked_and_taken_up_again() {
    let home = Home::new();
    let server = answering(&["Node it is.", "Rust it is.", "Welcome back."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("Use Node");
    screen.wait_for("Node it is.");
    screen.wait_without("Working");

    // A label on the last answer.
    screen.say("/label node");
    screen.wait_for("@node goes there");
    assert_eq!(last(&home)["label"], "node");

    // Back to before the prompt, which is in the editor again; another attempt is another branch.
    screen.say("/undo");
    screen.wait_for("taken back; /back brings it again");
    screen.wait_for("› Use Node");
    screen.send("\x15");
    screen.wait_without("› Use Node");
    screen.say("Use Rust");
    screen.wait_for("Rust it is.");
    screen.wait_for("branch 1/2");
    assert_eq!(said(&session(&home).1, "user"), ["Use Node", "Use Rust"]);

    // Through the tree to the label, without a summary; the old branch is printed below what was there.
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send("node");
    screen.wait_for("[node]");
    screen.send(ENTER);
    screen.wait_for("No summary");
    screen.send("1");
    screen.wait_for("moved; /back returns");
    screen.wait_for("branch 2/2");
    let all = screen.everything();
    assert!(all.contains("Rust it is.") && all.matches("Node it is.").count() >= 2, "{all}");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let marker = last(&home);
    assert_eq!(marker["customType"], "session-tree.leaf", "the position is durable: {marker}");

    // Coming back is coming back exactly there.
    let mut screen = start_again(&home, 500, &["-c"]);
    let shown = screen.wait_for("Node it is.");
    assert!(!shown.contains("Rust it is.") && shown.contains("branch 2/2"), "{shown}");
    screen.say("still there?");
    screen.wait_for("Welcome back.");
    screen.wait_without("Working");
    screen.say("/quit");
    screen.end();
    let asked = server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("Node it is.") && !asked.contains("Rust it is."), "{asked}");
}

#[test]
fn every_way_of_leaving_a_branch_works_and_stopping_changes_nothing() {
    let home = Home::new();
    let server = answering(&["First answer.", "Second answer."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    for (prompt, answer) in [("one", "First answer."), ("two", "Second answer.")] {
        screen.say(prompt);
        screen.wait_for(answer);
        screen.wait_without("Working");
    }

    // The summary is stopped: the tree is open again, and not a byte was written.
    let before = session(&home).1.len();
    server.push(Reply::answer().text("never").stall_after(1));
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send("First");
    screen.wait_for("1 match");
    screen.send(ENTER);
    screen.wait_for("No summary");
    screen.send("2");
    screen.wait_for("Summarizing branch...");
    screen.wait_until("a question to the model", |_| server.requests().len() == 3);
    screen.send(ESCAPE);
    screen.wait_for("Session Tree");
    assert_eq!(session(&home).1.len(), before);

    // With a note of one's own: no model is asked.
    let asked = server.requests().len();
    screen.send(ENTER);
    screen.wait_for("No summary");
    screen.send("4");
    screen.wait_for("Your note");
    screen.send("two led nowhere\r");
    screen.wait_for("moved; /back returns");
    assert_eq!(server.requests().len(), asked);
    let note = session(&home).1.into_iter().rev().find(|entry| entry["type"] == "branch_summary").unwrap();
    assert_eq!(note["summary"], "two led nowhere");

    // Back again; then with a summary of the model, with a focus.
    screen.say("/back");
    screen.wait_for("back; /forward returns");
    server.push(Reply::answer().text("## Goal\nThe second way"));
    // The tree opens as it was left: the query is still there.
    screen.say("/tree");
    screen.wait_for("1 match");
    screen.send(ENTER);
    screen.wait_for("No summary");
    screen.send("3");
    screen.wait_for("Summarize, focus on");
    screen.send("what failed\r");
    screen.wait_for("The second way");
    screen.wait_for("moved; /back returns");
    let request = server.requests().last().unwrap().body.to_string();
    assert!(request.contains("what failed"), "{request}");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_fork_goes_on_in_a_new_file_and_pop_leaves_a_note() {
    let home = Home::new();
    let server = answering(&["Alpha.", "Beta."]);
    set_up(&home, &server, "anthropic-messages");
    // A fork needs an id of its own.
    let mut screen = Screen::start(home.command(&[]).env_remove("OFFSHOOT_IDS"), 100, 30);
    screen.wait_for("every conversation is a tree");
    screen.say("first");
    screen.wait_for("Alpha.");
    screen.wait_without("Working");
    screen.say("second");
    screen.wait_for("Beta.");
    screen.wait_without("Working");
    screen.say("/pop -m \"beta was not it\"");
    screen.wait_for("popped; /back returns");
    screen.wait_for("beta was not it");
    screen.say("/fork leaf");
    screen.wait_for("forked to a new session");
    server.push(Reply::answer().text("Gamma."));
    screen.say("third");
    screen.wait_for("Gamma.");
    screen.wait_without("Working");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let all = files(&home.path("offshoot/sessions"));
    let texts: Vec<_> = all.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
    let (forked, old): (Vec<_>, Vec<_>) = texts.iter().partition(|text| text.contains("parentSession"));
    assert_eq!((forked.len(), old.len()), (1, 1), "the old session and the fork");
    let (forked, old) = (forked[0], old[0]);
    assert!(old.contains("Beta.") && !old.contains("third") && !old.contains("Gamma."), "{old}");
    assert!(
        forked.contains("beta was not it") && forked.contains("Gamma.") && !forked.contains("Beta."),
        "{forked}"
    );
}

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
    screen.answer("3");
    screen.wait_for("Then not.");
    assert!(!home.path("project/never.txt").exists());
    screen.wait_without("Working");
    screen.say("/quit");
    screen.end();
}

/// Lets a tool ask, types `keys` one by one from the moment on that `sign` shows, and answers no.
///
/// What is typed in time must not be an answer. The machine may be too busy to type in time: one of five is enough.
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
            screen.send("3");
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
fn escape_stops_an_answer_and_what_came_so_far_is_kept() {
    let home = Home::new();
    let server = ModelServer::start([Reply::answer().text("a long story").stall_after(3)]).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("tell me");
    screen.wait_for("Working");
    // What is typed meanwhile waits, and comes back with Escape.
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
fn a_dragged_image_is_sent_and_comes_back_with_its_prompt() {
    let home = Home::new();
    let server = answering(&["A square.", "A circle."]);
    set_up(&home, &server, "anthropic-messages");
    home.file("project/my shot.png", b"\x89PNG\r\n\x1a\nsquare");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.send("what is this? \x1b[200~'my shot.png'\x1b[201~");
    screen.wait_for("› what is this? [image #1]");
    screen.send(ENTER);
    screen.wait_for("A square.");
    screen.wait_without("Working");
    let images = |home: &Home| {
        let prompts: Vec<Value> =
            session(home).1.into_iter().filter(|entry| entry["message"]["role"] == "user").collect();
        prompts.iter().map(|entry| entry["message"]["content"][1]["data"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(images(&home), ["iVBORw0KGgpzcXVhcmU="]);
    // Taken back, it is still there, and is sent again.
    screen.say("/undo");
    screen.wait_for("› what is this? [image #2]");
    screen.send(ENTER);
    screen.wait_for("A circle.");
    screen.wait_without("Working");
    assert_eq!(images(&home), ["iVBORw0KGgpzcXVhcmU="; 2]);
    // What is no image is pasted as it is.
    screen.send("\x1b[200~no such.png\x1b[201~");
    screen.wait_for("› no such.png");
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn colours_suit_the_background_that_the_terminal_tells() {
    for (colour, prompt) in [("ffff/ffff/ffff", "48;5;255"), ("0000/0000/0000", "48;5;236")] {
        let home = Home::new();
        let mut screen = Screen::start(home.command(&[]).env("COLORFGBG", ""), 100, 30);
        screen.wait_for_bytes(b"\x1b]11;?\x1b\\\x1b[c");
        screen.send(&format!("\x1b]11;rgb:{colour}\x1b\\\x1b[?62;4c"));
        screen.wait_for("every conversation is a tree");
        screen.say("hello");
        screen.wait_for("No model is configured");
        screen.wait_without("Working");
        screen.say("/quit");
        let bytes = String::from_utf8_lossy(&screen.end().1).into_owned();
        assert!(bytes.contains(prompt) && !bytes.contains("]11;rgb"), "{colour}: {bytes:?}");
    }
}

#[test]
fn settings_decide_about_keys_filters_and_questions() {
    let home = Home::new();
    let server = answering(&["One.", "Two."]);
    set_up(&home, &server, "anthropic-messages");
    let mut settings: Value =
        serde_json::from_slice(&std::fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
    settings["doubleEscapeAction"] = "fork".into();
    settings["treeFilterMode"] = "user-only".into();
    settings["keymap"] = "pi".into();
    settings["theme"] = "plain".into();
    settings["branchSummary"] = json!({"skipPrompt": true});
    home.file("offshoot/settings.json", settings.to_string());
    home.file("offshoot/keybindings.json", r#"{"app.session.tree": "ctrl+r", "nonsense": "x"}"#);
    let mut screen = start(&home, &[]);
    let shown = screen.wait_for("every conversation is a tree");
    assert!(!shown.contains("Esc Esc or /tree"), "{shown}");
    screen.wait_for("nonsense");
    screen.wait_for("Esc Esc fork");
    for (prompt, answer) in [("one", "One."), ("two", "Two.")] {
        screen.say(prompt);
        screen.wait_for(answer);
        screen.wait_without("Working");
    }
    screen.send("\x12");
    let shown = screen.wait_for("filter: user-only");
    assert!(!shown.contains("assistant: One."), "{shown}");
    // The key of pi goes through the filters; Escape and Enter go without a question.
    screen.send("\x0f");
    screen.wait_for("filter: labeled-only");
    screen.send("\x04");
    screen.wait_for("assistant: One.");
    screen.send("One.");
    screen.wait_for("1 match");
    screen.send(ENTER);
    screen.wait_for("moved; /back returns");
    screen.send(ESCAPE);
    screen.wait_for("Esc again forks");
    screen.send(ESCAPE);
    screen.wait_for("go on from it in a new session");
    screen.send(ESCAPE);
    screen.wait_without("go on from it in a new session");
    screen.say("/quit");
    let (code, bytes) = screen.end();
    assert_eq!(code, 0);
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(!bytes.contains("\x1b[38;5;") && !bytes.contains("\x1b[48;5;"), "no colours");
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
fn the_list_of_branches_labels_hides_compares_and_merges() {
    let (home, _server, mut screen) = two_branches();
    screen.say("/branches");
    let shown = screen.wait_for("2 tips");
    assert!(shown.contains("here"), "{shown}");
    screen.send(DOWN);
    screen.send("l");
    screen.wait_for("Label of the branch");
    screen.send("node\r");
    screen.wait_without("Label of the branch");
    screen.wait_for("2 node");
    assert_eq!(last(&home)["label"], "node");
    screen.send("x");
    screen.wait_for("1 hidden");
    assert_eq!(last(&home)["customType"], "session-tree.hide");
    // A search finds it all the same.
    screen.send("/node");
    screen.wait_for("2 node");
    screen.send(ENTER);
    screen.wait_for("switched; /switch - returns");
    screen.say("/branches");
    screen.wait_for("2 tips");
    screen.send("1");
    screen.wait_for("branch 1/2");
    screen.say("/branches");
    screen.wait_for("2 tips");
    screen.send("/node");
    screen.wait_for("2 node");
    screen.send(ESCAPE);
    screen.wait_without("2 node");
    screen.send(ESCAPE);
    screen.wait_without("2 tips");
    screen.say("/diff @node");
    screen.wait_for("prompt   Use Node");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn shell_commands_run_and_only_one_kind_is_told_to_the_model() {
    let home = Home::new();
    let server = answering(&["I see."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("!echo public$((1+1))");
    screen.wait_for("public2");
    screen.wait_without("Running");
    screen.say("!!echo secret$((1+1))");
    screen.wait_for("not told to the model");
    screen.say("what did I do?");
    screen.wait_for("I see.");
    screen.wait_without("Working");
    screen.say("/quit");
    screen.end();
    let asked = server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("public2") && !asked.contains("secret2"), "{asked}");
}

#[test]
fn what_another_program_appends_shows_at_once() {
    let home = Home::new();
    let server = answering(&["Here."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("hello");
    screen.wait_for("Here.");
    screen.wait_without("Working");
    let (path, _) = session(&home);
    home.run(&["label", path.to_str().unwrap(), "leaf", "from-elsewhere"]).ok();
    screen.wait_for("another program added 1 entry");
    screen.wait_for("also used elsewhere");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_second_program_is_announced_and_may_look_on_or_take_a_copy() {
    let home = Home::new();
    let server = answering(&["Here."]);
    set_up(&home, &server, "anthropic-messages");
    let mut first = start(&home, &[]);
    first.wait_for("every conversation is a tree");
    first.say("hello");
    first.wait_for("Here.");
    first.wait_without("Working");

    let mut second = Screen::start(home.command(&["-c"]).env_remove("OFFSHOOT_IDS"), 100, 30);
    let shown = second.wait_for("Another program has this session open");
    for answer in ["Go on here", "Read only", "Fork", "Leave"] {
        assert!(shown.contains(answer), "{answer}:\n{shown}");
    }
    second.send("2");
    second.wait_for("read only here; /clone goes on in a copy of your own");
    let before = session(&home);
    second.say("may I?");
    second.wait_for("› may I?");
    second.send("\x15");
    second.wait_without("› may I?");
    assert_eq!(session(&home), before, "nothing is written");

    // What the first adds, the second sees at once.
    server.push(Reply::answer().text("Still here."));
    first.say("and now?");
    first.wait_for("Still here.");
    first.wait_without("Working");
    second.wait_for("another program added");
    second.say("/clone");
    second.wait_for("forked to a new session");
    server.push(Reply::answer().text("In the copy."));
    second.say("mine");
    second.wait_for("In the copy.");
    second.wait_without("Working");
    for mut screen in [first, second] {
        screen.say("/quit");
        assert_eq!(screen.end().0, 0);
    }
    assert_eq!(files(&home.path("offshoot/sessions")).len(), 2);
}

#[test]
fn nothing_is_said_before_the_person_chose_what_to_do_with_a_session_that_is_open_elsewhere() {
    let home = Home::new();
    let server = answering(&["Here.", "Again."]);
    set_up(&home, &server, "anthropic-messages");
    let mut first = start(&home, &[]);
    first.wait_for("every conversation is a tree");
    first.say("hello");
    first.wait_for("Here.");
    first.wait_without("Working");
    let before = session(&home);
    let mut second = start_again(&home, 500, &["-c", "hello again"]);
    second.wait_for("Another program has this session open");
    second.wait_for("hello again");
    second.send("4");
    assert_eq!(second.end().0, 0);
    assert_eq!((session(&home), server.requests().len()), (before, 1));
    // Who goes on says it.
    let mut second = start_again(&home, 900, &["-c", "hello again"]);
    second.wait_for("Another program has this session open");
    second.send("1");
    second.wait_for("Again.");
    second.wait_without("Working");
    for mut screen in [first, second] {
        screen.say("/quit");
        assert_eq!(screen.end().0, 0);
    }
}

#[test]
fn what_is_chosen_in_the_tree_while_the_model_answers_is_refused_in_words() {
    let home = Home::new();
    let server = answering(&["One."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("one");
    screen.wait_for("One.");
    screen.wait_without("Working");
    server.push(Reply::answer().text("a long story").stall_after(3));
    screen.say("two");
    screen.wait_for("Working");
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send("\x19");
    screen.wait_for("not while something runs");
    screen.send(ESCAPE);
    screen.wait_for("stopped");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_merge_that_is_done_leaves_what_was_opened_meanwhile_open() {
    let (_home, server, mut screen) = two_branches();
    let slow = std::time::Duration::from_millis(700);
    server.push(Reply::answer().text("Node was tried as well").delay(slow));
    screen.say("/merge #2 --no-review");
    screen.wait_until("a question to the model", |_| server.requests().len() == 3);
    screen.say("/tree");
    screen.wait_for("Session Tree");
    let shown = screen.wait_for("Node was tried as well");
    assert!(shown.contains("Session Tree"), "{shown}");
    screen.send(ESCAPE);
    screen.wait_without("Session Tree");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_signal_leaves_a_sane_terminal_and_a_whole_session() {
    let home = Home::new();
    let server = answering(&["One.", "Two."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.say("one");
    screen.wait_for("One.");
    screen.wait_without("Working");
    screen.say("two");
    screen.wait_for("Two.");
    screen.wait_without("Working");
    screen.say("/undo");
    screen.wait_for("taken back");
    let pid = screen.process().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let (_, bytes) = screen.end();
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(bytes.contains("\x1b[?2004l") && bytes.ends_with('\n'), "{bytes:?}");
    assert_eq!(last(&home)["customType"], "session-tree.leaf");
}

#[test]
fn a_move_that_nothing_followed_outlives_a_kill() {
    let home = Home::new();
    let server = answering(&["One.", "Two.", "Three."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    for (prompt, answer) in [("first", "One."), ("second", "Two.")] {
        screen.say(prompt);
        screen.wait_for(answer);
        screen.wait_without("Working");
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
    screen.say("third");
    screen.wait_for("Three.");
    screen.wait_without("Working");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let sent = server.requests()[2].body["messages"].to_string();
    assert!(sent.contains("first") && sent.contains("third") && !sent.contains("second"), "{sent}");
}

#[test]
fn a_window_that_is_closed_loses_neither_the_position_nor_half_an_answer() {
    let home = Home::new();
    let server = answering(&["One.", "Two."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    for (prompt, answer) in [("one", "One."), ("two", "Two.")] {
        screen.say(prompt);
        screen.wait_for(answer);
        screen.wait_without("Working");
    }
    screen.say("/undo");
    screen.wait_for("taken back");
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

#[test]
fn who_wants_no_colour_gets_none() {
    let home = Home::new();
    let mut screen = start(&home, &["--color", "never"]);
    screen.wait_for("every conversation is a tree");
    screen.say("hello");
    screen.wait_for("No model is configured");
    screen.wait_without("Working");
    screen.say("/quit");
    let bytes = String::from_utf8_lossy(&screen.end().1).into_owned();
    assert!(!bytes.contains("\x1b[38;5;") && !bytes.contains("\x1b[48;5;"), "{bytes:?}");
}

#[test]
fn an_export_from_the_chat_is_whole_and_does_not_say_where_it_came_from() {
    let home = Home::new();
    let server = answering(&["One."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = Screen::start(home.command(&[]).env_remove("OFFSHOOT_IDS"), 100, 30);
    screen.wait_for("every conversation is a tree");
    screen.say("one");
    screen.wait_for("One.");
    screen.wait_without("Working");
    screen.say("/export x.jsonl");
    screen.wait_for("written to");
    let text = std::fs::read_to_string(home.path("project/x.jsonl")).unwrap();
    assert!(text.contains("One.") && !text.contains("parentSession"), "{text}");
    // No file is replaced, and what to do instead is told.
    screen.say("/export x.jsonl");
    screen.wait_for("hint: choose another name; no file is ever replaced");
    assert_eq!(std::fs::read_to_string(home.path("project/x.jsonl")).unwrap(), text);
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn lists_completion_and_sizes_work_as_a_person_expects() {
    let home = Home::new();
    let server = answering(&["One.", "Two."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.send("/bran");
    screen.wait_for("/branches");
    screen.send("\x15");
    screen.wait_without("/branches");
    screen.say("one");
    screen.wait_for("One.");
    screen.wait_without("Working");
    screen.say("/undo");
    screen.wait_for("taken back");
    screen.send("\x15");
    screen.say("two");
    screen.wait_for("Two.");
    screen.wait_without("Working");
    screen.say("/branches");
    screen.wait_for("2 tips");
    screen.send(UP);
    screen.send(DOWN);
    screen.send(UP);
    screen.send(ENTER);
    screen.wait_for("switched; /switch - returns");
    screen.resize(60, 16);
    screen.send("x");
    screen.wait_for("› x");
    screen.send("\x15");
    screen.say("/hotkeys");
    screen.wait_for("Keys");
    screen.send(ESCAPE);
    screen.wait_without("── Keys");
    screen.say("/nonsense");
    screen.wait_for("There is no command /nonsense");
    screen.send(ESCAPE);
    screen.wait_for("› /nonsense");
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

//! The chat at a terminal: introduction, colours, keys, images, shell commands, lists.

use serde_json::{Value, json};

use super::screen::{DOWN, ENTER, ESCAPE, Screen, UP};
use super::{answering, said, session, start, talking};
use crate::support::Home;
use crate::talk::set_up;

#[test]
fn a_new_user_without_a_key_gets_instructions_and_an_answer() {
    let home = Home::new();
    let mut screen = start(&home, &[]);
    let shown = screen.wait_for("offshoot/offline");
    assert!(shown.contains("the offline model answers"), "{shown}");
    for guide in ["/tree", "/label", "/fork", "/help", "offshoot login"] {
        assert!(shown.contains(guide), "{guide}:\n{shown}");
    }
    screen.ask("hello there", "No model is configured");
    screen.say("/quit");
    let (code, bytes) = screen.end();
    assert_eq!(code, 0);
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(bytes.contains("offshoot -c"), "{bytes}");
    assert!(bytes.contains("\x1b[?2004l") && bytes.contains("\x1b[?25h"), "the terminal is as it was");
    assert_eq!(said(&session(&home).1, "user"), ["hello there"]);
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
fn colours_match_the_background_that_the_terminal_reports() {
    for (colour, prompt) in [("ffff/ffff/ffff", "48;5;255"), ("0000/0000/0000", "48;5;236")] {
        let home = Home::new();
        let mut screen = Screen::start(home.command(&[]).env("COLORFGBG", ""), 100, 30);
        screen.wait_for_bytes(b"\x1b]11;?\x1b\\\x1b[c");
        screen.send(&format!("\x1b]11;rgb:{colour}\x1b\\\x1b[?62;4c"));
        screen.wait_for("every conversation is a tree");
        screen.ask("hello", "No model is configured");
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
        screen.ask(prompt, answer);
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
    screen.wait_for("Esc twice forks");
    screen.send(ESCAPE);
    screen.wait_for("Fork before a prompt of this branch");
    screen.send(ESCAPE);
    screen.wait_without("Fork before a prompt of this branch");
    screen.say("/quit");
    let (code, bytes) = screen.end();
    assert_eq!(code, 0);
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(!bytes.contains("\x1b[38;5;") && !bytes.contains("\x1b[48;5;"), "no colours");
}

#[test]
fn shell_commands_run_and_only_one_kind_is_sent_to_the_model() {
    let (_home, server, mut screen) = talking(&["I see."]);
    screen.say("!echo public$((1+1))");
    screen.wait_for("public2");
    screen.wait_without("Running");
    screen.say("!!echo secret$((1+1))");
    screen.wait_for("not sent to the model");
    screen.ask("what did I do?", "I see.");
    screen.say("/quit");
    screen.end();
    let asked = server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("public2") && !asked.contains("secret2"), "{asked}");
}

#[test]
fn who_wants_no_colour_gets_none() {
    for (arguments, term) in [(&["--color", "never"][..], "xterm-256color"), (&[], "vt100")] {
        let home = Home::new();
        let mut screen = Screen::start(home.command(arguments).env("TERM", term), 100, 30);
        screen.wait_for("every conversation is a tree");
        screen.ask("hello", "No model is configured");
        screen.say("/quit");
        let bytes = String::from_utf8_lossy(&screen.end().1).into_owned();
        assert!(!bytes.contains("\x1b[38;5;") && !bytes.contains("\x1b[48;5;"), "{bytes:?}");
    }
}

#[test]
fn an_export_from_the_chat_is_whole_and_does_not_say_where_it_came_from() {
    let home = Home::new();
    let server = answering(&["One."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = Screen::start(home.command(&[]).env_remove("OFFSHOOT_IDS"), 100, 30);
    screen.wait_for("every conversation is a tree");
    screen.ask("one", "One.");
    screen.say("/export x.jsonl");
    screen.wait_for("written to");
    let text = std::fs::read_to_string(home.path("project/x.jsonl")).unwrap();
    assert!(text.contains("One.") && !text.contains("parentSession"), "{text}");
    // No file is replaced, and the error suggests what to do.
    screen.say("/export x.jsonl");
    screen.wait_for("hint: choose another name; no file is ever replaced");
    assert_eq!(std::fs::read_to_string(home.path("project/x.jsonl")).unwrap(), text);
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn lists_completion_and_sizes_work_as_a_person_expects() {
    let (_home, _server, mut screen) = talking(&["One.", "Two."]);
    screen.send("/bran");
    screen.wait_for("/branches");
    screen.send("\x15");
    screen.wait_without("/branches");
    screen.ask("one", "One.");
    screen.say("/undo");
    screen.wait_for("/back returns");
    screen.send("\x15");
    screen.ask("two", "Two.");
    screen.say("/branches");
    screen.wait_for("2 tips");
    screen.send(UP);
    screen.send(DOWN);
    screen.send(UP);
    screen.send(ENTER);
    screen.wait_for("moved to");
    screen.resize(60, 16);
    screen.send("x");
    screen.wait_for("› x");
    screen.send("\x15");
    screen.say("/hotkeys");
    screen.wait_for("Keys");
    screen.send(ESCAPE);
    screen.wait_without("── Keys");
    screen.say("/nonsense");
    screen.wait_for("there is no command /nonsense");
    screen.wait_for("› /nonsense");
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

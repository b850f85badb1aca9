//! Typing in the chat: completion, commands that fail, what shows while something runs, and what disappears.

use std::fs;

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, ScriptedUsage};

use super::screen::{ENTER, ESCAPE};
use super::{session, start, talking, talking_to};
use crate::support::Home;
use crate::talk::set_up;

#[test]
fn a_file_with_blanks_is_quoted_and_attached_and_a_missing_one_is_reported() {
    let home = Home::new();
    home.file("project/docs/some notes.md", "greet kindly");
    let server = ModelServer::start(["Read.", "No file."].map(|text| Reply::answer().text(text))).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.send("see @notes");
    screen.wait_for("› docs/some notes.md");
    screen.send(ENTER);
    screen.wait_for("› see @\"docs/some notes.md\"");
    screen.send(ENTER);
    screen.wait_for("attached: docs/some notes.md");
    screen.wait_for("Read.");
    screen.wait_without("Working");
    screen.ask("and @docs/gone.md", "No file.");
    screen.wait_for("docs/gone.md does not exist, so nothing was attached for it");
    screen.say("/quit");
    screen.end();
    let asked = server.requests().remove(0).body.to_string();
    assert!(asked.contains("greet kindly"), "{asked}");
}

#[test]
fn a_command_that_fails_stays_in_the_editor() {
    let (_home, _server, mut screen) = talking(&["Here."]);
    screen.ask("hello", "Here.");
    screen.say("/switch nonsense");
    screen.wait_for("✗ ");
    screen.wait_for("› /switch nonsense");
    screen.send("\x15");
    screen.wait_without("› /switch nonsense");
    screen.say("/label good");
    screen.wait_without("› /label good");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn push_asks_before_it_replaces_a_label() {
    let (home, _server, mut screen) = talking(&["Here."]);
    screen.ask("hello", "Here.");
    screen.say("/label good");
    screen.wait_for("labelled");
    let labels = |home| session(home).1.into_iter().filter(|entry| entry["type"] == "label").count();
    for (answer, expected) in [("2", 1), ("1", 2)] {
        screen.say("/push better");
        screen.wait_for("has the label `good` already");
        screen.answer(answer);
        screen.wait_without("has the label `good` already");
        if expected == 2 {
            screen.wait_for("labelled");
        }
        assert_eq!(labels(&home), expected);
    }
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn undo_twice_takes_two_prompts_back() {
    let (home, server, mut screen) = talking(&["One.", "Two."]);
    screen.ask("the first", "One.");
    screen.ask("the second", "Two.");
    screen.say("/undo");
    screen.wait_for("› the second");
    screen.say("/undo");
    screen.wait_for("› the first");
    assert_eq!(server.requests().len(), 2, "no text was sent");
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    assert_eq!(super::said(&session(&home).1, "user"), ["the first", "the second"]);
}

#[test]
fn the_output_of_a_command_shows_while_it_runs() {
    let (home, _server, mut screen) = talking(&[]);
    screen.say("!mkfifo gate; echo begun$((1+1)); cat gate");
    let shown = screen.wait_for("begun2");
    assert!(shown.contains("Running"), "{shown}");
    fs::write(home.path("project/gate"), "opened\n").unwrap();
    screen.wait_for("│ opened");
    screen.wait_without("Running");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn the_arguments_of_a_call_show_while_the_model_writes_them() {
    let command = json!({"command": "echo the beginning of a command that the model has not finished yet"});
    let reply = Reply::answer().call("c1", "bash", command).stall_after(4);
    let (_home, _server, mut screen) = talking_to(ModelServer::start([reply]).unwrap());
    screen.say("do it");
    let shown = screen.wait_for("◌ bash echo the beginning");
    assert!(!shown.contains("finished yet"), "{shown}");
    screen.send(ESCAPE);
    screen.wait_for("stopped; /undo takes the prompt back");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn the_footer_counts_during_a_turn_and_counts_summaries() {
    let usage = |input| ScriptedUsage { input, ..ScriptedUsage::default() };
    let reply = Reply::answer().call("c1", "read", json!({"path": "none"})).usage(usage(30_000));
    let server = ModelServer::start([reply, Reply::answer().text("never").stall_after(1)]).unwrap();
    let (_home, server, mut screen) = talking_to(server);
    screen.say("do it");
    screen.wait_for("context 30.0% of 100k");
    screen.wait_until("the second request", |_| server.requests().len() == 2);
    screen.send(ESCAPE);
    screen.wait_for("stopped; /undo takes the prompt back");
    server.push(Reply::answer().text("Done.").usage(usage(40_000)));
    screen.ask("again", "Done.");
    screen.wait_for("↑70k");
    server.push(Reply::answer().text("It was tried.").usage(usage(5_000)));
    screen.say("/pop");
    screen.wait_for("↑75k");
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn notices_disappear_when_the_user_goes_on() {
    let (home, _server, mut screen) = talking(&["Here."]);
    screen.ask("hello", "Here.");
    let (path, _) = session(&home);
    home.run(&["--session", path.to_str().unwrap(), "-p", "!true"]).ok();
    screen.wait_for("another program added 1 entry");
    screen.wait_for("also used elsewhere");
    screen.say("/copy");
    screen.wait_for("sent the last answer to the clipboard of the terminal");
    screen.wait_without("another program added");
    screen.wait_without("also used elsewhere");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn reload_reads_settings_keys_and_context_files_again() {
    let (home, server, mut screen) = talking(&["One.", "Two."]);
    screen.ask("first", "One.");
    home.file("offshoot/AGENTS.md", "Answer in verse.");
    home.file("offshoot/keybindings.json", r#"{"app.session.tree": "ctrl+r"}"#);
    screen.say("/reload");
    screen.wait_for("reloaded 0 extensions, API keys, key bindings, settings and context files");
    screen.ask("second", "Two.");
    screen.send("\x12");
    screen.wait_for("Session Tree");
    screen.send(ESCAPE);
    screen.wait_without("Session Tree");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let asked: Vec<String> = server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(!asked[0].contains("in verse") && asked[1].contains("in verse"), "{asked:?}");
}

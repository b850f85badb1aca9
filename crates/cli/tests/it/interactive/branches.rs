//! Going from one branch to another: by the tree, by commands, by forks and merges.

use std::time::Duration;

use testkit::model_server::Reply;

use super::screen::{DOWN, ENTER, ESCAPE, Screen};
use super::{answering, last, said, session, start_again, talking, two_branches};
use crate::support::{Home, files};
use crate::talk::set_up;

#[test]
fn a_conversation_can_be_branched_labelled_walked_and_taken_up_again() {
    let (home, server, mut screen) = talking(&["Node it is.", "Rust it is.", "Welcome back."]);
    screen.ask("Use Node", "Node it is.");

    // A label on the last answer.
    screen.say("/label node");
    screen.wait_for("labelled");
    assert_eq!(last(&home)["label"], "node");

    // Back to before the prompt, which is in the editor again; another attempt is another branch.
    screen.say("/undo");
    screen.wait_for("/back returns");
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
    screen.ask("still there?", "Welcome back.");
    screen.say("/quit");
    screen.end();
    let asked = server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("Node it is.") && !asked.contains("Rust it is."), "{asked}");
}

#[test]
fn every_way_of_leaving_a_branch_works_and_stopping_changes_nothing() {
    let (home, server, mut screen) = talking(&["First answer.", "Second answer."]);
    for (prompt, answer) in [("one", "First answer."), ("two", "Second answer.")] {
        screen.ask(prompt, answer);
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
fn keys_typed_while_a_move_runs_reach_the_editor() {
    let (home, server, mut screen) = talking(&["First answer.", "Second answer."]);
    for (prompt, answer) in [("one", "First answer."), ("two", "Second answer.")] {
        screen.ask(prompt, answer);
    }
    server
        .push(Reply::answer().text("## Goal\nThe second way").pieces(100_000).delay(Duration::from_secs(2)));
    server.push(Reply::answer().text("Third answer."));
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send("First");
    screen.wait_for("1 match");
    screen.send(ENTER);
    screen.wait_for("No summary");
    screen.send("2");
    screen.wait_for("Summarizing branch...");
    screen.send("what is next?\r");
    screen.wait_for("The second way");
    screen.wait_for("Third answer.");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let said = session(&home).1.into_iter().rev().find(|entry| entry["message"]["role"] == "user").unwrap();
    assert_eq!(said["message"]["content"], "what is next?");
}

#[test]
fn a_fork_of_a_session_in_memory_names_no_file() {
    let home = Home::new();
    let server = answering(&["Alpha."]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = Screen::start(home.command(&["--no-session"]).env_remove("OFFSHOOT_IDS"), 100, 30);
    screen.wait_for("every conversation is a tree");
    screen.ask("first", "Alpha.");
    screen.say("/fork leaf");
    screen.wait_for("forked 3 entries of this session");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_fork_goes_on_in_a_new_file_and_pop_leaves_a_note() {
    let home = Home::new();
    let server = answering(&["Alpha.", "Beta."]);
    set_up(&home, &server, "anthropic-messages");
    // A fork needs a new id.
    let mut screen = Screen::start(home.command(&[]).env_remove("OFFSHOOT_IDS"), 100, 30);
    screen.wait_for("every conversation is a tree");
    screen.ask("first", "Alpha.");
    screen.ask("second", "Beta.");
    screen.say("/pop -m \"beta was not it\"");
    screen.wait_for("went back to");
    screen.wait_for("beta was not it");
    screen.say("/fork leaf");
    screen.wait_for("forked ");
    server.push(Reply::answer().text("Gamma."));
    screen.ask("third", "Gamma.");
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
    screen.wait_for("moved to");
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
    screen.wait_for("Use Node");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn what_is_chosen_in_the_tree_while_the_model_answers_is_refused_in_words() {
    let (_home, server, mut screen) = talking(&["One."]);
    screen.ask("one", "One.");
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
fn fork_is_a_flat_list_of_prompts_and_branch_too_unless_the_tree_was_set() {
    for (setting, command, title) in [
        (None, "/fork", "Fork before a prompt of this branch"),
        (None, "/branch", "Fork before a prompt of this branch"),
        (Some("tree"), "/fork", "Fork before a prompt of this branch"),
        (Some("tree"), "/branch", "Fork from which entry?"),
        (Some("fork"), "/branch", "Fork before a prompt of this branch"),
        (Some("none"), "/branch", "Fork before a prompt of this branch"),
    ] {
        let (home, server, mut screen) = two_branches();
        screen.say("/quit");
        screen.end();
        if let Some(action) = setting {
            let path = home.path("offshoot/settings.json");
            let mut settings: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            settings["doubleEscapeAction"] = action.into();
            home.file("offshoot/settings.json", settings.to_string());
        }
        let mut screen = start_again(&home, 500, &["-c"]);
        screen.wait_for("Rust it is.");
        screen.send(command);
        screen.wait_for(&format!("› {command}"));
        screen.send(ENTER);
        // What is below the list belongs to the frame before.
        let shown = screen.wait_until(title, |shown| {
            shown.contains(title) && shown.lines().last().is_some_and(|line| line.contains("Esc back"))
        });
        let in_tree = title.contains("entry");
        let hint = if in_tree { "Enter fork here" } else { "Enter fork before it" };
        assert!(shown.contains(hint) && !shown.contains("no summary"), "{shown}");
        if !in_tree {
            assert!(!shown.contains("Use Node"), "{shown}");
            screen.send("\t");
            screen.wait_for("branch: Use Node");
            screen.send("Node");
            screen.send(ENTER);
            screen.wait_for("forked ");
            screen.wait_for("› Use Node");
            screen.send("\x15");
        } else {
            screen.send(ESCAPE);
            screen.wait_without(title);
        }
        screen.say("/quit");
        assert_eq!(screen.end().0, 0);
        drop(server);
    }
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

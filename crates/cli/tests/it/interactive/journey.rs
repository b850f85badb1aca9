//! One long evening at the terminal: every way to move, to copy and to come back, with screen and file checked each time.

use serde_json::Value;
use testkit::model_server::{ModelServer, Reply};

use super::screen::{ENTER, ESCAPE, Screen};
use super::{answering, entries, said};
use crate::support::{Home, files};
use crate::talk::set_up;

/// A user at a terminal, with a scripted model.
struct Evening {
    home: Home,
    server: ModelServer,
    screen: Screen,
}

impl Evening {
    fn begin() -> Self {
        let (home, server) = (Home::new(), answering(&[]));
        set_up(&home, &server, "anthropic-messages");
        // Forks need ids of their own.
        let screen = Screen::start(home.command(&[]).env_remove("OFFSHOOT_IDS"), 100, 30);
        screen.wait_for("every conversation is a tree");
        Evening { home, server, screen }
    }

    fn chat(&mut self, prompt: &str, answer: &str) {
        self.server.push(Reply::answer().text(answer));
        self.screen.say(prompt);
        self.screen.wait_for(answer);
        self.screen.wait_without("Working");
        assert_eq!(self.last_of("message")["message"]["content"][0]["text"], answer);
    }

    /// Opens the tree with an empty query, finds an entry by its text and presses Enter.
    fn choose(&mut self, text: &str) {
        self.screen.say("/tree");
        self.find(text);
        self.screen.send(ENTER);
    }

    /// Looks for an entry in the tree that is open.
    fn find(&mut self, text: &str) {
        self.screen.wait_for("Session Tree");
        for _ in 0..40 {
            self.screen.send("\x7f");
        }
        self.screen.wait_for("type to search");
        self.screen.send(text);
        self.screen.wait_for("1 match");
    }

    /// Leaves the branch in the way with this number.
    fn leave(&mut self, way: &str) {
        self.screen.wait_for("No summary");
        self.screen.send(way);
    }

    /// The session that is open: the file that was made last.
    fn file(&self) -> Vec<Value> {
        let all = files(&self.home.path("offshoot/sessions"));
        entries(&all.iter().max_by_key(|(path, _)| path.metadata().unwrap().created().unwrap()).unwrap().1)
    }

    fn last_of(&self, kind: &str) -> Value {
        self.file().into_iter().rev().find(|entry| entry["type"] == kind).unwrap()
    }

    /// The id of the entry that says this, in whichever session.
    fn id(&self, text: &str) -> Value {
        let all = files(&self.home.path("offshoot/sessions"));
        let entries: Vec<Value> = all.iter().flat_map(|(_, bytes)| entries(bytes)).collect();
        entries.iter().find(|entry| entry["message"].to_string().contains(text)).unwrap()["id"].clone()
    }

    /// Returns the last system prompt.
    fn asked(&self) -> String {
        self.server.requests().last().unwrap().body.to_string()
    }

    fn quit(mut self) -> Home {
        self.screen.say("/quit");
        assert_eq!(self.screen.end().0, 0);
        self.home
    }
}

#[test]
fn an_evening_of_branches_leaves_the_screen_and_the_file_that_were_meant() {
    let mut evening = Evening::begin();
    evening.chat("Use Node", "Node it is.");
    evening.screen.say("/label node");
    evening.screen.wait_for("labelled");
    assert_eq!(evening.last_of("label")["targetId"], evening.id("Node it is."));
    evening.chat("Write tests", "Tests are written.");

    leave_without_a_word(&mut evening);
    leave_with_a_summary(&mut evening);
    leave_with_a_focus(&mut evening);
    stop_a_summary(&mut evening);
    leave_with_a_note_and_a_label(&mut evening);
    merge_instead_of_leaving(&mut evening);
    pop_the_last_prompt(&mut evening);
    pick_an_answer(&mut evening);
    merge_a_branch(&mut evening);
    fork_and_come_back(&mut evening);
    quit_and_come_back(evening);
}

fn leave_without_a_word(evening: &mut Evening) {
    let before = evening.file().len();
    evening.choose("Node it is");
    evening.leave("1");
    evening.screen.wait_for("moved; /back returns");
    assert_eq!(evening.file().len(), before, "a move writes nothing at once");
    evening.chat("Use Deno", "Deno it is.");
    evening.screen.wait_for("branch 1/2");
    let prompt = evening.id("Use Deno");
    let entries = evening.file();
    let prompt = entries.iter().find(|entry| entry["id"] == prompt).unwrap();
    assert_eq!(prompt["parentId"], evening.id("Node it is."));
    assert!(!evening.asked().contains("Tests are written"), "{}", evening.asked());
}

fn leave_with_a_summary(evening: &mut Evening) {
    evening.server.push(Reply::answer().text("## Goal\nDeno was tried"));
    evening.choose("Tests are written");
    evening.leave("2");
    evening.screen.wait_for("Deno was tried");
    evening.screen.wait_for("moved; /back returns");
    let summary = evening.last_of("branch_summary");
    assert_eq!(summary["parentId"], evening.id("Tests are written."));
    assert!(summary["summary"].as_str().unwrap().contains("Deno was tried"), "{summary}");
    evening.chat("Go on with Node", "Node goes on.");
    assert!(evening.asked().contains("Deno was tried"), "{}", evening.asked());
}

fn leave_with_a_focus(evening: &mut Evening) {
    evening.server.push(Reply::answer().text("## Goal\nSpeed of Node"));
    evening.choose("Deno it is");
    evening.leave("3");
    evening.screen.wait_for("Summarize, focus on");
    evening.screen.send("speed above all\r");
    evening.screen.wait_for("Speed of Node");
    evening.screen.wait_for("moved; /back returns");
    assert!(evening.asked().contains("speed above all"), "{}", evening.asked());
    assert_eq!(evening.last_of("branch_summary")["parentId"], evening.id("Deno it is."));
}

fn stop_a_summary(evening: &mut Evening) {
    evening.chat("Use Bun", "Bun it is.");
    let (before, asked) = (evening.file(), evening.server.requests().len());
    evening.server.push(Reply::answer().text("never").stall_after(1));
    evening.choose("Node goes on");
    evening.leave("2");
    evening.screen.wait_for("Summarizing branch...");
    let server = &evening.server;
    evening.screen.wait_until("a question to the model", |_| server.requests().len() > asked);
    evening.screen.send(ESCAPE);
    // The tree is open again, with the query and on the entry.
    let shown = evening.screen.wait_for("1 match");
    assert!(shown.contains("Node goes on") && shown.contains("cancelled"), "{shown}");
    assert_eq!(evening.file(), before, "nothing changed");
    // Escape clears the query first, then closes.
    evening.screen.send(ESCAPE);
    evening.screen.wait_for("type to search");
    evening.screen.send(ESCAPE);
    evening.screen.wait_without("Session Tree");
}

fn leave_with_a_note_and_a_label(evening: &mut Evening) {
    let asked = evening.server.requests().len();
    evening.choose("Node goes on");
    evening.screen.wait_for("No summary");
    evening.screen.send("lafter-bun\r");
    evening.screen.wait_for("label: after-bun");
    evening.screen.send("4");
    evening.screen.wait_for("Your note");
    evening.screen.send("bun is too new\r");
    evening.screen.wait_for("moved; /back returns");
    assert_eq!(evening.server.requests().len(), asked, "no model is asked for a note");
    let note = evening.last_of("branch_summary");
    assert_eq!(note["summary"], "bun is too new");
    let label = evening.last_of("label");
    assert_eq!((&label["label"], &label["targetId"]), (&"after-bun".into(), &note["id"]));
}

fn merge_instead_of_leaving(evening: &mut Evening) {
    evening.server.push(Reply::answer().text("## Goal\nBun works, too"));
    let here = evening.last_of("branch_summary")["id"].clone();
    evening.choose("Bun it is");
    evening.leave("5");
    evening.screen.wait_for("Bun works, too");
    let shown = evening.screen.wait_for("text that will enter the context");
    assert!(shown.contains("Merge into this branch"), "{shown}");
    evening.screen.send(ESCAPE);
    evening.screen.wait_for("nothing changed");
    evening.screen.wait_without("text that will enter the context");
    assert_eq!(evening.last_of("branch_summary")["id"], here);
}

fn pop_the_last_prompt(evening: &mut Evening) {
    evening.chat("Try a rewrite", "The rewrite failed.");
    evening.server.push(Reply::answer().text("## Goal\nA rewrite does not pay"));
    evening.screen.say("/pop");
    evening.screen.wait_for("A rewrite does not pay");
    evening.screen.wait_for("went back to");
    let shown = evening.screen.wait_until("an empty editor", |screen| !screen.contains("› Try a rewrite"));
    assert!(shown.contains("branch"), "{shown}");
    let rewrite = evening.id("Try a rewrite");
    let entries = evening.file();
    let prompt = entries.iter().find(|entry| entry["id"] == rewrite).unwrap();
    assert_eq!(evening.last_of("branch_summary")["parentId"], prompt["parentId"]);
}

fn pick_an_answer(evening: &mut Evening) {
    let before = evening.file().len();
    // With the key of the tree: the review shows what enters the context; Escape changes nothing.
    evening.screen.say("/tree");
    evening.find("Bun it is");
    evening.screen.send("\x19");
    let shown = evening.screen.wait_for("text that will enter the context");
    assert!(shown.contains("Copy here") && shown.contains("Bun it is."), "{shown}");
    evening.screen.send(ESCAPE);
    evening.screen.wait_for("nothing changed");
    assert_eq!(evening.file().len(), before);

    // With the command; the text is changed before it is taken.
    let id = evening.id("Bun it is.");
    evening.screen.say(&format!("/cherry-pick {}", id.as_str().unwrap()));
    evening.screen.wait_for("text that will enter the context");
    evening.screen.send("e");
    evening.screen.wait_for("Text that will enter the context");
    evening.screen.send(" And Bun is fast.\r");
    evening.screen.wait_for("(edited)");
    evening.screen.send(ENTER);
    evening.screen.wait_for("/undo takes it back");
    let pick = evening.last_of("custom_message");
    assert_eq!(pick["customType"], "cherry-pick");
    assert!(pick["content"].to_string().contains("And Bun is fast."), "{pick}");
    assert_eq!(pick["details"]["sourceEntryIds"][0], id, "{pick}");
    evening.chat("What about Bun?", "Bun is fast, as you noted.");
    assert!(evening.asked().contains("And Bun is fast."), "{}", evening.asked());
}

fn merge_a_branch(evening: &mut Evening) {
    evening.server.push(Reply::answer().text("## Goal\nDeno has a linter"));
    let source = evening.id("Deno it is.");
    evening.screen.say(&format!("/merge {}", source.as_str().unwrap()));
    let shown = evening.screen.wait_for("Deno has a linter");
    assert!(shown.contains("Merge into this branch") && shown.contains("about"), "{shown}");
    // In another mode no model is asked.
    let asked = evening.server.requests().len();
    evening.screen.send("m");
    evening.screen.wait_for("digest");
    evening.screen.wait_for("Use Deno");
    assert_eq!(evening.server.requests().len(), asked);
    evening.screen.send(ENTER);
    evening.screen.wait_for("/undo takes it back");
    let merge = evening.last_of("branch_summary");
    assert_eq!(merge["details"]["merge"]["mode"], "digest", "{merge}");
    assert_eq!(merge["details"]["merge"]["sourceLeafId"], source, "{merge}");
    assert_eq!(merge["details"]["merge"]["reviewed"], true, "{merge}");
    // The same again has nothing to bring.
    evening.screen.say(&format!("/merge {}", source.as_str().unwrap()));
    evening.screen.wait_for("already up to date");
}

fn fork_and_come_back(evening: &mut Evening) {
    let (old, merge) = (evening.file(), evening.last_of("branch_summary")["id"].clone());
    evening.screen.say("/fork leaf");
    evening.screen.wait_for("forked ");
    evening.chat("In the fork", "The fork answers.");
    let forked = evening.file();
    assert!(forked.iter().any(|entry| entry["id"] == merge), "the path is in the fork");
    assert!(!said(&forked, "assistant").contains(&"Bun it is.".to_owned()), "other branches are not");

    // Back to the first session, through the picker; its file is as it was.
    evening.screen.say("/resume");
    evening.screen.wait_for("Resume Session");
    evening.screen.send("\"Try a rewrite\"");
    evening.screen.wait_for("(1/1)");
    evening.screen.send(ENTER);
    evening.screen.wait_for("opened; the old one is kept");
    let all = files(&evening.home.path("offshoot/sessions"));
    let first = all.iter().map(|(_, bytes)| entries(bytes)).find(|all| all.len() >= old.len()).unwrap();
    assert_eq!(first[..old.len()], old);
}

fn quit_and_come_back(mut evening: Evening) {
    let deno = evening.id("Deno it is.");
    evening.screen.say(&format!("/tree {}", deno.as_str().unwrap()));
    evening.screen.wait_for("›       assistant: Deno it is.");
    evening.screen.send(ENTER);
    evening.leave("1");
    evening.screen.wait_for("moved; /back returns");
    let place = place(&evening.screen.wait_for("branch "));
    let server = std::mem::replace(&mut evening.server, answering(&[]));
    let home = evening.quit();

    server.push(Reply::answer().text("Welcome back to Deno."));
    let mut screen = Screen::start(home.command(&["-c"]).env_remove("OFFSHOOT_IDS"), 100, 30);
    let shown = screen.wait_for("Deno it is.");
    assert!(shown.contains(&place) && !shown.contains("Bun is fast"), "{place}:\n{shown}");
    screen.ask("still here?", "Welcome back to Deno.");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let asked = server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("Deno it is.") && !asked.contains("Tests are written"), "{asked}");
}

/// Returns the branch in the footer: its number and the number of branches.
fn place(shown: &str) -> String {
    let after = shown.lines().rev().find_map(|line| line.rsplit_once("branch ")).unwrap().1;
    format!("branch {}", after.split_whitespace().next().unwrap())
}

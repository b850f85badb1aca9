//! A changing command fires the same events and writes the same bytes, whether the chat, `-p '/x'` or `offshoot x` runs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::drawing::session_text;

use super::screen::ENTER;
use super::start;
use crate::support::{Home, Run};

/// Control and C.
const CLEAR: &str = "\x03";

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
    u5<a2 user Use Rust
    a6<u5 assistant Done, 1 ms
";

/// Writes every event of the session down, with its reason.
const WRITES_DOWN: &str = r#"
import * as fs from "node:fs";
const names = ["start", "before_switch", "before_fork", "before_tree", "tree", "tree_end", "label", "info_changed",
  "before_compact", "compact", "before_cherry_pick", "cherry_pick", "before_merge", "merge", "shutdown"];
export default (pi: any) => {
  for (const name of names) {
    pi.on(`session_${name}`, (event: any) => {
      fs.appendFileSync("seen", `${name} ${event.reason ?? ""} ${event.position ?? ""} ${event.outcome ?? ""}\n`);
    });
  }
};
"#;

/// The commands, with their arguments and the keys that the chat wants besides.
const COMMANDS: &[(&str, &[&str], &str)] = &[
    ("switch", &["a4"], ""),
    ("switch", &["start"], ""),
    ("branch-here", &["u3"], ""),
    ("undo", &[], ""),
    ("pop", &[], ""),
    ("pop", &["-m", "slow"], ""),
    ("push", &["here"], ""),
    ("label", &["u3", "mark"], ""),
    ("name", &["Greeter"], ""),
    ("note", &["Node", "was", "slow"], ""),
    ("fork", &["u5"], ""),
    ("fork", &["a4", "--stay"], ""),
    ("clone", &[], ""),
    ("clone", &["--all"], ""),
    ("cherry-pick", &["a4"], ENTER),
    ("merge", &["a4", "--mode", "digest", "--no-review"], ""),
    ("export-branch", &["u3", "branch.jsonl"], ""),
    ("new", &[], ""),
    ("import", &["other.jsonl"], ""),
    ("permissions", &[], ""),
];

/// The commands that begin with no session on the command line.
const ALONE: &[&str] = &["new", "import", "permissions"];

fn home() -> Home {
    let home = Home::new();
    home.session(TREE);
    let other = String::from_utf8(session_text("u1 user hello")).unwrap().replace("\"ses\"", "\"other\"");
    home.file("project/other.jsonl", other);
    home.file("project/x.ts", WRITES_DOWN);
    home
}

fn seen(home: &Home) -> String {
    fs::read_to_string(home.path("project/seen")).unwrap_or_default()
}

/// Returns the bytes of all session files.
fn sessions(home: &Home) -> BTreeMap<String, String> {
    fn walk(dir: &Path, found: &mut BTreeMap<String, String>, root: &str) {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found, root);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                let name = path.to_str().unwrap().replace(root, "[home]");
                found.insert(name, fs::read_to_string(&path).unwrap().replace(root, "[home]"));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&home.path("."), &mut found, home.path("").to_str().unwrap().trim_end_matches('/'));
    found
}

fn on_command_line(home: &Home, name: &str, arguments: &[&str]) -> Run {
    let session: &[&str] = if ALONE.contains(&name) { &[] } else { &["s.jsonl"] };
    home.run(&[&[name], session, arguments, &["-e", "x.ts"]].concat())
}

fn in_print_mode(home: &Home, line: &str) -> Run {
    home.run(&["-e", "x.ts", "--session", "s.jsonl", "-p", line])
}

fn in_the_chat(home: &Home, line: &str, keys: &str, events: &str) {
    let mut screen = start(home, &["-e", "x.ts", "--session", "s.jsonl"]);
    screen.wait_without("Loading extensions");
    wait_for(home, "start startup");
    screen.say(line);
    if !keys.is_empty() {
        screen.answer(keys);
    }
    wait_for(home, events.strip_suffix("shutdown quit  \n").unwrap());
    screen.wait_without("Asking extensions");
    // A prompt that was taken back is in the editor.
    screen.send(CLEAR);
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

/// Waits until the extension has seen these events.
#[track_caller]
fn wait_for(home: &Home, events: &str) {
    let start = Instant::now();
    while !seen(home).contains(events) {
        assert!(start.elapsed() < Duration::from_secs(60), "{events:?} in {:?}", seen(home));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_changing_command_fires_the_same_events_wherever_it_comes_from() {
    for (name, arguments, keys) in COMMANDS {
        let line = format!("/{name} {}", arguments.join(" "));
        let line = line.trim_end();
        let (first, second, third) = (home(), home(), home());
        let run = on_command_line(&first, name, arguments);
        run.ok();
        let events = seen(&first);
        assert!(events.lines().count() >= 2, "{line}: {events}");
        let printed = in_print_mode(&second, line);
        assert_eq!(printed.code, 0, "{line}: {printed}");
        assert_eq!(seen(&second), events, "{line} in print mode");
        in_the_chat(&third, line, keys, &events);
        assert_eq!(seen(&third), events, "{line} in the chat");
        // An empty session gets its file with the first message in the chat, and at once elsewhere.
        if *name != "new" {
            assert_eq!(sessions(&second), sessions(&first), "{line} in print mode");
            assert_eq!(sessions(&third), sessions(&first), "{line} in the chat");
        }
    }
}

#[test]
fn without_extensions_nothing_is_fired() {
    let home = home();
    home.file("offshoot/extensions/x.ts", WRITES_DOWN);
    home.run(&["label", "s.jsonl", "u3", "mark"]).ok();
    assert!(seen(&home).contains("label "), "{}", seen(&home));
    fs::remove_file(home.path("project/seen")).unwrap();
    home.run(&["label", "s.jsonl", "u3", "other", "--no-extensions"]).ok();
    assert_eq!(seen(&home), "");
}

#[test]
fn an_extension_that_cancels_leaves_everything_as_it_was() {
    let home = home();
    home.file(
        "project/x.ts",
        "export default (pi: any) => pi.on('session_before_tree', () => ({ cancel: true }));",
    );
    let before = sessions(&home);
    let run = on_command_line(&home, "switch", &["a4"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.err().contains("cancelled it; nothing changed"), "{run}");
    assert_eq!(sessions(&home), before);
}

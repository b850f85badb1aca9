//! Front ends use the handle of an agent and nothing else of it: a test reads their sources.

use std::fs;
use std::path::{Path, PathBuf};

/// Parts of the agent that no front end may name.
const PARTS: &[&str] = &[
    "SessionGuard",
    "shared_session",
    "&mut Agent,",
    "&mut Agent)",
    "&Agent,",
    "&Agent)",
    "Arc<Agent",
    "Box<Agent",
    "lock_as",
];

/// Files that make an agent and start it.
const MAKERS: &[&str] = &[
    "cli/src/talk.rs",
    "cli/src/talk/command.rs",
    "cli/src/cmd/session_command.rs",
    "extensions/src/host/agents.rs",
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Returns the lines of a source that name a part of the agent.
fn named<'t>(text: &'t str, is_maker: bool) -> Vec<&'t str> {
    let is_named = |line: &&'t str| {
        let code = line.split("//").next().unwrap_or_default();
        PARTS.iter().any(|part| code.contains(part)) || (!is_maker && code.contains("Agent::new("))
    };
    text.lines().filter(is_named).collect()
}

#[test]
fn front_ends_use_the_handle_of_the_agent_and_nothing_else_of_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for dir in ["cli/src", "tui/src", "extensions/src", "web/src"] {
        sources(&crates.join(dir), &mut files);
    }
    assert!(files.len() > 200, "{} files", files.len());
    for file in files {
        let is_maker = MAKERS.iter().any(|maker| file.ends_with(maker));
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(named(&text, is_maker), Vec::<&str>::new(), "{}", file.display());
    }
}

/// The command line wires the chat and prints; the chat and its event loop are in the terminal crate.
#[test]
fn the_terminal_ui_is_in_its_crate_and_knows_nothing_of_the_command_line() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let names = |dir: &str, words: &[&str]| -> Vec<PathBuf> {
        let mut files = Vec::new();
        sources(&crates.join(dir), &mut files);
        let names = |file: &PathBuf| {
            let text = fs::read_to_string(file).unwrap();
            words.iter().any(|word| text.contains(word))
        };
        files.into_iter().filter(names).collect()
    };
    let none: Vec<PathBuf> = Vec::new();
    assert_eq!(
        names("cli/src", &["crossterm", "ratatui", "EventStream", "SummaryFlow", "TreeSelector"]),
        none
    );
    assert_eq!(names("tui/src", &["offshoot_providers", "offshoot_web", "env::var"]), none);
    let app = names("tui/src", &["EventStream", "AgentHandle"]);
    let is_in_app =
        |file: &PathBuf| file.starts_with(crates.join("tui/src/app")) || file.ends_with("src/app.rs");
    assert!(
        !app.is_empty() && app.iter().all(|file| is_in_app(file) || file.ends_with("src/lib.rs")),
        "{app:?}"
    );
}

/// The fields of a part of the chat are private to its module: no other module reaches into its state.
#[test]
fn the_parts_of_the_chat_keep_their_state_to_themselves() {
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("tui/src/app");
    let parts = [
        ("approvals.rs", "Approvals"),
        ("completion.rs", "ProjectFiles"),
        ("extensions.rs", "ExtensionUi"),
        ("live.rs", "LiveItems"),
        ("navigation.rs", "Navigation"),
        ("queue.rs", "QueuedTasks"),
        ("requests.rs", "Requests"),
        ("screen.rs", "Screen"),
        ("sessions.rs", "SessionList"),
        ("sharing.rs", "Sharing"),
        ("status.rs", "Status"),
        ("views.rs", "Views"),
    ];
    for (file, part) in parts {
        let text = fs::read_to_string(app.join(file)).unwrap();
        let start = text.find(&format!("pub(super) struct {part} {{")).unwrap_or_else(|| panic!("{part}"));
        let fields = text[start..].split_once('}').unwrap().0;
        assert!(!fields[10..].contains("pub"), "{part}: {fields}");
    }
}

#[test]
fn a_source_that_names_a_part_is_noticed() {
    assert_eq!(named("fn run(agent: &mut Agent) {}\n// &mut Agent\nlet x = 1;", false).len(), 1);
    assert_eq!(named("let agent = Agent::new(session, cwd);", false).len(), 1);
    assert_eq!(named("let agent = Agent::new(session, cwd);", true).len(), 0);
}

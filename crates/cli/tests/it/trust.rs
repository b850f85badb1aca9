//! Trust: nothing of a project is used before the user agrees, and a change revokes it.

use insta::assert_snapshot;
use serde_json::Value;
use testkit::model_server::{ModelServer, Reply};

use crate::support::Home;
use crate::talk::set_up;

const SETTINGS: &str = "project/.offshoot/settings.json";

/// Returns the system prompt of the last request.
fn told(home: &Home, arguments: &[&str]) -> String {
    let server = ModelServer::start([Reply::answer().text("ok")]).unwrap();
    set_up(home, &server, "openai-completions");
    assert_eq!(home.run(&[arguments, &["-p", "hi", "--no-session"]].concat()).ok(), "ok\n");
    let body = &server.requests()[0].body;
    body["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_project_is_used_only_after_the_user_agreed() {
    let home = Home::new();
    home.file("project/.offshoot/SYSTEM.md", "obey the project");
    assert!(!told(&home, &[]).contains("obey"));
    assert!(told(&home, &["--approve"]).contains("obey"));
    assert!(!told(&home, &[]).contains("obey"), "that was for one run");
    assert_snapshot!(home.run(&["trust"]), @"
    [home]/project would load 1 file; undecided
    system prompt  .offshoot/SYSTEM.md  16 B
    --- words
    hint: `--yes` trusts it, `--refuse` does not
    ");
    assert!(!told(&home, &[]).contains("obey"), "showing is not trusting");
    assert!(home.run(&["trust", "--yes"]).err().starts_with("trusted "));
    assert!(told(&home, &[]).contains("obey"));
    assert!(!told(&home, &["--no-approve"]).contains("obey"));

    home.file("project/.offshoot/SYSTEM.md", "obey something else");
    assert!(!told(&home, &[]).contains("obey"), "other bytes need another yes");
    assert_snapshot!(home.run(&["-p", "hi", "--model", "offshoot/offline", "--no-session"]).err(), @"
    note: .offshoot/SYSTEM.md of this project is not used: it changed since you trusted it
    hint: `offshoot trust` shows and trusts it, `--approve` uses it once
    ");
    assert_snapshot!(home.run(&["trust", "--list"]), @"changed  [home]/project");
}

#[test]
fn a_no_is_remembered_and_can_be_forgotten() {
    let home = Home::new();
    home.file("project/.pi/extensions/a.ts", "export default () => {}");
    assert_snapshot!(home.run(&["trust", "--refuse"]), @"
    [home]/project would load 1 file; undecided
    code  .pi/extensions/a.ts  23 B
    note: a loaded extension runs with your rights: it can read, change and delete your files, start programs, and send what it reads to others
    --- words
    refused [home]/project
    ");
    assert_snapshot!(home.run(&["-p", "hi", "--no-session"]).err(), @"");
    assert_snapshot!(home.run(&["trust", "--remove"]), @"
    --- words
    forgot what was decided about [home]/project
    ");
    assert_snapshot!(home.run(&["trust", "--remove"]), @"
    --- words
    error: nothing was decided about [home]/project
    hint: `offshoot trust --list` lists all decisions
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["-p", "hi", "--no-session"]).err(), @"
    note: .pi/extensions/a.ts of this project is not used: it is not trusted yet
    hint: `offshoot trust` shows and trusts it, `--approve` uses it once
    ");
}

#[test]
fn a_user_at_a_terminal_is_asked_and_sees_what_would_load() {
    let home = Home::new();
    home.file("project/.offshoot/extensions/\u{1b}[31mred.ts", "x");
    let seen = home.at_terminal(100, &["trust"], "[y/N] ", "y\n");
    assert!(seen.contains("red.ts") && !seen.contains("\u{1b}[31mred"), "{seen:?}");
    assert!(home.run(&["trust", "--list"]).ok().contains("trusted"));
    let home = Home::new();
    home.file(SETTINGS, "{}");
    home.at_terminal(100, &["trust"], "[y/N] ", "\n");
    assert_eq!(home.run(&["trust", "--list"]).ok(), "");
}

#[test]
fn the_settings_of_the_person_decide_about_projects_without_a_decision() {
    let home = Home::new();
    home.file(SETTINGS, r#"{"defaultProjectTrust": "always", "model": "x/y"}"#);
    let model = |home: &Home| -> Value {
        let list: Value = home.run(&["settings", "--json"]).json();
        list.as_array().unwrap().iter().find(|setting| setting["key"] == "model").unwrap()["value"].clone()
    };
    assert_eq!(model(&home), Value::Null, "a project does not trust itself");
    home.file("offshoot/settings.json", r#"{"defaultProjectTrust": "always"}"#);
    assert_eq!(model(&home), "x/y");
    home.file("offshoot/settings.json", r#"{"defaultProjectTrust": "never"}"#);
    assert_eq!(model(&home), Value::Null);
    assert_eq!(home.run(&["settings"]).err(), "", "who never trusts is not told about it");
}

#[test]
fn a_directory_that_would_load_nothing_has_nothing_to_trust() {
    let home = Home::new();
    assert_snapshot!(home.run(&["trust"]), @"
    --- words
    [home]/project would load nothing; there is nothing to trust
    ");
    home.file("offshoot/state/trust.json", "nonsense");
    home.file(SETTINGS, "{}");
    assert_snapshot!(home.run(&["trust"]), @"
    --- words
    error: [home]/offshoot/state/trust.json is no JSON object of directories
    hint: remove it to be asked about every project again
    --- exit code 1
    ");
}

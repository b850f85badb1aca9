//! Rules for tool calls: listed, kept for a project outside of it, and revoked.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;
use testkit::model_server::{ModelServer, Reply};

use crate::support::Home;
use crate::talk::set_up;

/// Writes the rules that were allowed always in the project of a test.
fn allow(home: &Home, rules: &[&str]) {
    let project = home.path("project").canonicalize().unwrap();
    let entries = json!({project.to_str().unwrap(): {"allow": rules}, "/elsewhere": {"allow": ["bash"]}});
    home.file("offshoot/permissions.json", entries.to_string());
}

#[test]
fn rules_are_listed_with_their_origin_and_those_of_answers_are_revoked() {
    let home = Home::new();
    assert_snapshot!(home.run(&["permissions"]), @"
    --- words
    there are no rules; reading inside the working directory is allowed
    ");
    home.file(
        "offshoot/settings.json",
        r#"{"permissions": {"allow": ["bash(cargo *)"], "deny": ["read(.env)"]}}"#,
    );
    allow(&home, &["bash(make)", "write(src/**)"]);
    assert_snapshot!(home.run(&["permissions"]), @"
    allow  bash(cargo *)  [home]/offshoot/settings.json
    deny   read(.env)     [home]/offshoot/settings.json
    allow  bash(make)     this project
    allow  write(src/**)  this project
    ");
    assert_snapshot!(home.run(&["permissions", "--json"]), @r#"{"rules":[{"decision":"allow","rule":"bash(cargo *)","from":"[home]/offshoot/settings.json"},{"decision":"deny","rule":"read(.env)","from":"[home]/offshoot/settings.json"},{"decision":"allow","rule":"bash(make)","from":"this project"},{"decision":"allow","rule":"write(src/**)","from":"this project"}]}"#);
    assert_snapshot!(home.run(&["permissions", "--revoke", "bash(make)", "--dry-run"]), @"
    --- words
    would revoke the rule `bash(make)`
    ");
    assert_snapshot!(home.run(&["permissions", "--revoke", "bash(make)"]), @"
    --- words
    revoked the rule `bash(make)`
    ");
    assert_snapshot!(home.run(&["permissions", "--revoke", "bash(make)"]), @"
    --- words
    error: there is no rule `bash(make)`
    hint: `offshoot permissions` lists the rules
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["permissions", "--revoke", "bash(cargo *)"]), @"
    --- words
    error: the rule `bash(cargo *)` is in [home]/offshoot/settings.json
    hint: edit this file
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["-p", "/permissions"]), @"
    allow  bash(cargo *)  [home]/offshoot/settings.json
    deny   read(.env)     [home]/offshoot/settings.json
    allow  write(src/**)  this project
    ");
    let kept = fs::read_to_string(home.path("offshoot/permissions.json")).unwrap();
    assert!(
        kept.contains("write(src/**)") && kept.contains("/elsewhere") && !kept.contains("make"),
        "{kept}"
    );
}

#[test]
fn rules_of_this_project_hold_in_print_mode_and_a_file_in_the_project_is_no_rule() {
    let home = Home::new();
    let call = |id: &str| Reply::answer().call(id, "bash", json!({"command": "touch made.txt"}));
    let server = ModelServer::start([
        call("c1"),
        Reply::answer().text("No."),
        call("c2"),
        Reply::answer().text("Yes."),
    ])
    .unwrap();
    set_up(&home, &server, "anthropic-messages");
    let project = home.path("project").canonicalize().unwrap();
    let shipped = json!({project.to_str().unwrap(): {"allow": ["bash"]}}).to_string();
    for name in ["project/permissions.json", "project/.offshoot/permissions.json"] {
        home.file(name, &shipped);
    }
    assert_eq!(home.run(&["--approve", "-p", "make it"]).ok(), "No.\n");
    assert!(!home.path("project/made.txt").exists());
    allow(&home, &["bash(touch made.txt)"]);
    assert_eq!(home.run(&["-c", "-p", "make it"]).ok(), "Yes.\n");
    assert!(home.path("project/made.txt").exists());
}

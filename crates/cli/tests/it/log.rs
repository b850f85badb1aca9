//! The log: off by default, spans and durations where they are wanted, never a key.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use testkit::model_server::{ModelServer, Reply};

use crate::interactive::screen::Screen;
use crate::support::Home;
use crate::talk::set_up;

const KEY: &str = "sk-lab-0123456789abcdefghijklmnopqrstuvwxyz";
const EXTENSION: &str = "export default (pi) => { pi.on('tool_call', () => console.log('seen', { line: 'one\\ntwo' })); pi.on('agent_end', () => { throw new Error('oh no'); }); }";

/// A home with a model that calls a tool and answers, an extension, and a key in the settings.
fn home_with_model() -> (Home, ModelServer) {
    let home = Home::new();
    let call = Reply::answer().call("c1", "ls", json!({"path": "."}));
    let server = ModelServer::start([call, Reply::answer().text("private answer")]).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut settings: serde_json::Value =
        serde_json::from_slice(&fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
    settings["providers"]["lab"]["keyVariables"] = json!(["LAB_KEY"]);
    settings["providers"]["lab"]["headers"] = json!({"x-team": KEY});
    home.file("offshoot/settings.json", settings.to_string());
    home.file("project/x.ts", EXTENSION);
    (home, server)
}

/// Runs one prompt; returns what it wrote to standard error.
fn ask(home: &Home, options: &[&str], variables: &[(&str, &str)]) -> String {
    let arguments = [&["-p", "-e", "x.ts", "--tools", "ls"], options, &["private prompt"]].concat();
    let output =
        home.command(&arguments).env("LAB_KEY", KEY).envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn without_being_asked_for_nothing_is_logged() {
    let (home, _server) = home_with_model();
    assert!(!ask(&home, &[], &[]).contains("turn"));
    assert!(!home.path("offshoot/state/offshoot.log").exists());
}

#[test]
fn a_log_has_spans_with_durations_the_console_of_extensions_and_no_secret() {
    let (home, _server) = home_with_model();
    let log = ask(&home, &["--log=trace"], &[]);
    for part in [
        "turn{session=\"session-241\"}:request{model=\"lab/test\"}",
        "tool{name=\"ls\" id=\"c1\"}: offshoot_agent::agent::work: close time.busy=",
        "hook{event=\"tool_call\" extension=\"x\"}",
        "INFO console: seen {\"line\":\"one\\ntwo\"} extension=\"x\"",
        "an extension failed handler=\"x\" event=\"agent_end\" reason=\"oh no",
        "offshoot_providers::http: response status=200",
    ] {
        assert!(log.contains(part), "{part}\n{log}");
    }
    for secret in [KEY, "private prompt", "private answer"] {
        assert!(!log.contains(secret), "{log}");
    }
    assert!(!log.contains("hyper") && !log.contains("reqwest"), "{log}");
}

#[test]
fn the_filter_chooses_levels_and_parts() {
    let (home, _server) = home_with_model();
    let log = ask(&home, &["--log"], &[("OFFSHOOT_LOG", "console=info")]);
    let lines: Vec<&str> = log.lines().filter(|line| line.starts_with("20")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.contains(" INFO console: ")), "{log}");
    let run = home.run(&["sessions", "--log=a=b=c"]);
    assert_eq!((run.code, run.err().contains("`a=b=c` is not a log filter")), (2, true), "{run}");
}

#[test]
fn the_variable_alone_logs_to_a_private_file_and_commands_have_a_span() {
    let home = Home::new();
    let output = home.command(&["sessions"]).env("OFFSHOOT_LOG", "info").output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("command"));
    let path = home.path("offshoot/state/offshoot.log");
    let log = fs::read_to_string(&path).unwrap();
    assert!(log.contains("command{name=\"sessions\"}"), "{log}");
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_chat_shows_its_log_and_writes_it_to_a_file_if_the_variable_is_set() {
    for variable in [None, Some("debug")] {
        let (home, _server) = home_with_model();
        let mut command = home.command(&["-e", "x.ts", "--tools", "ls"]);
        command.env("LAB_KEY", KEY);
        if let Some(filter) = variable {
            command.env("OFFSHOOT_LOG", filter);
        }
        let mut screen = Screen::start(&command, 100, 30);
        screen.wait_for("every conversation is a tree");
        screen.wait_without("Loading extensions");
        screen.ask("hello", "private answer");
        screen.say("/log");
        screen.wait_for("INFO console: seen");
        screen.say("/quit");
        assert_eq!(screen.end().0, 0);
        let log = fs::read_to_string(home.path("offshoot/state/offshoot.log")).unwrap_or_default();
        assert_eq!(log.contains("INFO console: seen"), variable.is_some(), "{log}");
        assert!(!log.contains(KEY));
    }
}

//! `offshoot report`: the facts of a bug report, and no secret.

use serde_json::{Value, json};

use crate::support::Home;

const KEY: &str = "sk-lab-0123456789abcdefghijklmnopqrstuvwxyz";

#[test]
fn a_report_has_the_facts_and_no_secret_of_settings_credentials_and_environment() {
    let home = Home::new();
    home.session("a user hello");
    let settings = json!({
        "model": "lab/test", "theme": "dark", "permissions": {"allow": ["bash(login --password hunter2hunter2)"]},
        "providers": {"lab": {
            "baseUrl": "http://ada:wordpass@lab.example/v1", "api": "openai-completions", "models": [{"id": "test"}],
            "headers": {"x-team": "team-secret-header"},
        }},
    });
    home.file("offshoot/settings.json", settings.to_string());
    home.file("offshoot/credentials.json", json!({"lab": {"type": "api_key", "key": KEY}}).to_string());
    home.file("offshoot/extensions/mine.ts", "export default () => {}");
    let log = format!(
        "2025-01-01T00:00:00Z DEBUG fine\n2025-01-01T00:00:01Z  WARN x: refused {KEY} correcthorse team-secret-header in {}\n",
        home.path("project").display()
    );
    home.file("offshoot/state/offshoot.log", log);
    let variables =
        [("ANTHROPIC_API_KEY", "correcthorse"), ("DB", "postgres://ada:wordpass@db"), ("TERM", "xterm")];
    for options in [&["report"][..], &["report", "--json"]] {
        let output = home.command(options).envs(variables).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{:?}",
            String::from_utf8(output.stderr)
        );
        for fact in [
            env!("CARGO_PKG_VERSION"),
            "~/offshoot/state/offshoot.log",
            "lab/test",
            "dark",
            "ANTHROPIC_API_KEY",
            "credentials.json",
            "~/offshoot/extensions/mine.ts",
            "xterm",
            "WARN x: refused",
        ] {
            assert!(text.contains(fact), "{fact}\n{text}");
        }
        let own = home.path("").display().to_string();
        for secret in [KEY, "correcthorse", "team-secret-header", "hunter2hunter2", "wordpass", &own] {
            assert!(!text.contains(secret), "{secret}\n{text}");
        }
    }
}

#[test]
fn a_report_is_made_although_the_settings_cannot_be_read() {
    let home = Home::new();
    home.file("offshoot/settings.json", "{");
    let report: Value = home.run(&["report", "--json"]).json();
    let section = report.as_array().unwrap().iter().find(|section| section["title"] == "settings").unwrap();
    assert_eq!(section["facts"][0]["name"], "error", "{section}");
}

//! Settings: the effective values, their files, errors, and the document about them.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::Home;

const PROJECT: &str = "project/.offshoot/settings.json";

#[test]
fn the_list_shows_the_effective_settings_and_their_files() {
    let home = Home::new();
    home.file(
        "offshoot/settings.json",
        r#"{"model": "lab/test", "retry": {"maxRetries": 1}, "permissions": {"allow": ["bash(cargo *)"]},
            "providers": {"lab": {"baseUrl": "http://127.0.0.1:1", "headers": {"x-key": "hush"}}}}"#,
    );
    home.file(PROJECT, r#"{"model": "lab/other", "compaction": {"enabled": false}}"#);
    assert_snapshot!(home.run(&["settings", "--approve"]), @"
    setting                           value               from
    model                             lab/other           [home]/project/.offshoot/settings.json
    thinkingLevel                     off                 default
    compaction.enabled                false               [home]/project/.offshoot/settings.json
    compaction.reserveTokens          16384               default
    compaction.keepRecentTokens       20000               default
    branchSummary.reserveTokens       16384               default
    branchSummary.throughCompactions  false               default
    branchSummary.skipPrompt          false               default
    retry.maxRetries                  1                   [home]/offshoot/settings.json
    retry.baseDelayMs                 2000                default
    steeringMode                      one-at-a-time       default
    followUpMode                      one-at-a-time       default
    store                             -                   default
    theme                             auto                default
    keymap                            offshoot            default
    doubleEscapeAction                tree                default
    treeFilterMode                    default             default
    showHookCancel                    false               default
    permissions.allow                 bash(cargo *)       [home]/offshoot/settings.json
    permissions.ask                   -                   default
    permissions.deny                  -                   default
    shell.passVariables               -                   default
    extensions                        -                   default
    extensionHosts                    -                   default
    skills                            -                   default
    prompts                           -                   default
    themes                            -                   default
    packages                          -                   default
    piExtensions                      -                   default
    extensionEngine                   auto                default
    defaultProjectTrust               ask                 default
    providers.lab                     http://127.0.0.1:1  [home]/offshoot/settings.json
    ");
    let untrusted = home.run(&["settings", "--json"]);
    assert!(!untrusted.ok().contains("lab/other"), "{untrusted}");
    assert!(!untrusted.ok().contains("hush"));
    assert_snapshot!(untrusted.err(), @"
    note: .offshoot/settings.json of this project is not used: it is not trusted yet
    hint: `offshoot trust` shows and trusts it, `--approve` uses it once
    ");
}

#[test]
fn errors_are_reported_with_file_and_line() {
    let home = Home::new();
    home.file(
        "offshoot/settings.json",
        "{\n  \"modle\": \"x\",\n  \"thinkingLevel\": \"hard\",\n  \"retry\": {\"maxRetries\": \"3\"}\n}",
    );
    assert_snapshot!(home.run(&["-p", "hi"]), @r#"
    --- words
    error: [home]/offshoot/settings.json:3: `thinkingLevel` must be one of `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, not `hard`
    hint: [home]/offshoot/settings.json:4: `retry.maxRetries` must be a whole number that is not negative, not a text
    hint: `offshoot settings schema` prints all settings with their types and defaults
    --- exit code 1
    "#);
    home.file("offshoot/settings.json", "{\n  \"modle\": \"x\"\n}");
    assert!(home.run(&["settings"]).err().ends_with("settings.json:2: there is no setting `modle`\n"));
    home.file("offshoot/settings.json", "{\n  \"model\": \"x\",\n}");
    assert_snapshot!(home.run(&["settings"]), @"
    --- words
    error: [home]/offshoot/settings.json:3: expected a key
    hint: `offshoot settings schema` prints all settings with their types and defaults
    --- exit code 1
    ");
}

#[test]
fn a_project_cannot_allow_or_name_services() {
    let home = Home::new();
    home.file(
        PROJECT,
        "{\"permissions\": {\"allow\": [\"bash\"]},\n\"providers\": {\"anthropic\": {\"baseUrl\": \"http://evil\"}}}",
    );
    let run = home.run(&["settings", "--approve", "--json"]);
    assert_snapshot!(format!("{run}").split_once("--- words\n").unwrap().1, @"
    warning: [home]/project/.offshoot/settings.json:1: `permissions.allow` of a project does not count, only that of your own settings
    warning: [home]/project/.offshoot/settings.json:2: `providers` of a project does not count, only that of your own settings
    ");
    let allow = listed(&run.json(), "permissions.allow");
    assert_eq!(allow["files"], json!([]));
    assert!(!run.ok().contains("evil"));
}

#[test]
fn the_schema_is_one_that_editors_understand() {
    let home = Home::new();
    let schema: Value = home.run(&["settings", "schema"]).json();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["properties"]["thinkingLevel"]["default"], "off");
    assert!(schema["properties"]["model"]["description"].as_str().unwrap().starts_with("The model for"));
}

fn listed(list: &Value, key: &str) -> Value {
    list.as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap().clone()
}

/// Returns the names of all properties in a schema.
fn properties(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                found.extend(properties.keys().cloned());
            }
            members.values().for_each(|member| properties(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
        _ => {}
    }
}

#[test]
fn every_setting_is_described_with_what_is_usual() {
    let document = |name: &str| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
    };
    let (settings, models) = (document("settings.md"), document("models.md"));
    let home = Home::new();
    let list: Value = home.run(&["settings", "--json"]).json();
    assert!(list.as_array().unwrap().len() > 10);
    for setting in list.as_array().unwrap() {
        let usual = match &setting["value"] {
            Value::Null => String::new(),
            Value::Array(items) if items.is_empty() => String::new(),
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        };
        let row = format!("| `{}` | {usual} |", setting["key"].as_str().unwrap()).replace("|  |", "| |");
        assert!(settings.contains(&row), "docs/settings.md has no row `{row}`");
    }
    let mut names = Vec::new();
    properties(&home.run(&["settings", "schema"]).json(), &mut names);
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let in_settings = settings.contains(&format!("`{name}`")) || settings.contains(&format!(".{name}`"));
        let in_table = settings.contains(&format!("| `{name}."));
        let in_models = models.contains(&format!("`{name}`"));
        assert!(in_settings || in_table || in_models, "no document names the setting `{name}`");
    }
    assert!(settings.contains("| `providers` |"));
}

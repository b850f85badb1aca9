//! The list of models: what is built in, what a person added, and which keys are there.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::Home;

const OWN: &str = r#"{"providers": {"lab": {"baseUrl": "http://127.0.0.1:1", "api": "openai-completions",
    "models": [{"id": "test", "contextWindow": 65536, "maxOutput": 8192, "thinkingLevels": ["off", "low", "high"],
                "price": {"input": 0.5, "output": 2}}]}}}"#;

#[test]
fn the_list_shows_limits_prices_and_keys_and_marks_the_persons_own() {
    let home = Home::new();
    home.file("offshoot/settings.json", OWN);
    assert_snapshot!(home.run(&["models", "lab/"]), @"
    model     window  output  $ in  $ out  thinking  key
    lab/test     66k    8.2k  0.50   2.00  low high  yes  yours
    ");
    // The rest of the list is generated, so its rows change.
    let haikus = home.run(&["models", "HAIKU", "anthropic/"]);
    let rows: Vec<&str> = haikus.ok().lines().skip(1).collect();
    assert!(
        rows.len() > 1 && rows.iter().all(|row| row.contains("haiku") && row.ends_with("no")),
        "{haikus}"
    );
    assert!(rows.iter().any(|row| row.starts_with("anthropic/claude-haiku-4-5 ")), "{haikus}");
    let none = home.run(&["models", "no", "such"]);
    assert!(none.err().starts_with("none of ") && none.err().ends_with(" models fits\n"), "{none}");
    let ready = home.run(&["models", "--ready"]);
    assert_eq!(ready.ok().lines().count(), 3, "titles, the person's own, the offline one: {ready}");
}

#[test]
fn scripts_get_the_same_as_json() {
    let home = Home::new();
    home.file("offshoot/settings.json", OWN);
    let mut command = home.command(&["models", "--json"]);
    let output = command.env("OPENAI_API_KEY", "sk-hush").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("sk-hush"));
    let list: Value = serde_json::from_str(&text).unwrap();
    let find = |provider: &str, id: &str| {
        let mut models = list.as_array().unwrap().iter();
        models.find(|model| model["provider"] == provider && model["id"] == id).unwrap().clone()
    };
    let own = find("lab", "test");
    assert_eq!((own["isOwn"].clone(), own["hasKey"].clone()), (true.into(), true.into()));
    assert_eq!(own["contextWindow"], 65536);
    assert_eq!(own["price"]["output"], 2.0);
    assert_eq!(find("openai", "gpt-5")["hasKey"], true);
    assert_eq!(find("anthropic", "claude-haiku-4-5")["hasKey"], false);
    assert_eq!(find("offshoot", "offline")["isOwn"], false);
}

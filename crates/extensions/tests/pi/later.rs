//! Extensions that only version 1 of pi brings along.

use offshoot_agent::cancel::Cancel;
use offshoot_extensions::Drawing;
use serde_json::{Value as Json, json};

use crate::support::plain;
use crate::{example, stage};

/// Tells whether the package is of version 1; older ones do not have these.
fn is_new() -> bool {
    let manifest = example("todo").with_file_name("../../package.json");
    let manifest: Json = serde_json::from_str(&std::fs::read_to_string(manifest).unwrap()).unwrap();
    !manifest["version"].as_str().unwrap().starts_with("0.")
}

#[tokio::test]
async fn entry_renderer() {
    if !is_new() {
        return assert!(!example("entry-renderer").exists());
    }
    let mut stage = stage("entry-renderer").await;
    stage.command("status-card all is well").await.unwrap();
    assert_eq!(stage.path(), ["custom status-card"]);
    let entry = stage.agent.session().leaf_entry().unwrap().unwrap().value().unwrap().to_serde().unwrap();
    let drawer = stage.extensions.entry_renderer("status-card").unwrap();
    let drawn = drawer.draw(&Drawing::Entry(entry.clone()), false, 40).await.unwrap().unwrap();
    assert_eq!(plain(&drawn.join("\n")).trim(), "[status] all is well");
}

#[tokio::test]
async fn project_trust() {
    if !is_new() {
        return assert!(!example("project-trust").exists());
    }
    let stage = stage("project-trust").await;
    stage.says("Trust and remember");
    let answer = stage.fire("project_trust", json!({"cwd": "/w"})).await;
    assert_eq!(answer, json!({"trusted": "yes", "remember": true}));
    stage.says("Let built-in prompt decide");
    let decided = stage.extensions.hooks().project_trust("/w", &Cancel::new()).await;
    assert_eq!(decided, None, "it does not decide");
}

#[tokio::test]
async fn debug_provider() {
    if !is_new() {
        return assert!(!example("debug-provider").exists());
    }
    let mut stage = stage("debug-provider").await;
    stage.command("debug-provider on").await.unwrap();
    let notes = stage.notes();
    assert!(notes.iter().any(|note| note.starts_with("status debug-provider: ")), "{notes:?}");
    let data = json!({"provider": "p", "api": "a", "model": "m", "events": [1]});
    let entry = json!({"type": "custom", "customType": "debug-provider-events", "data": data});
    let drawn = stage.only().draw(&Drawing::Entry(entry.clone()), false, 72).await.unwrap().unwrap();
    assert!(
        plain(&drawn.join("\n")).contains("[provider debug] p/m (a) · 1 event (ctrl+o to view events)"),
        "{drawn:?}"
    );
}

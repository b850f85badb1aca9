//! The commands and events of the tree.

use std::fs;

use serde_json::{Value as Json, json};

use super::{TREE, rpc};
use crate::support::{Home, files};

fn ids(entries: &Json) -> Vec<&str> {
    entries.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect()
}

#[test]
fn a_client_walks_the_tree() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut program = rpc(&home, &["--session", &file]);
    let peer = &mut program.peer;

    let tree = peer.data(json!({"type": "get_tree"}));
    assert_eq!((&tree["leafId"], &tree["tree"][0]["entry"]["id"]), (&json!("a6"), &json!("u1")));
    assert_eq!(tree["tree"][0]["children"][0]["children"].as_array().unwrap().len(), 2);
    let rows = peer.data(json!({"type": "get_tree", "preview": true}));
    assert_eq!(rows["rows"][0]["text"], "user: Build a CLI");
    assert!(rows["rows"][0].get("message").is_none());

    let moved = peer.data(json!({"type": "navigate_tree", "targetId": "u3"}));
    assert_eq!(
        moved,
        json!({"cancelled": false, "aborted": false, "editorText": "Use Node", "leafId": "a2"})
    );
    let moved = peer.data(json!({"type": "navigate_tree", "ref": "a4", "note": "Rust was tried"}));
    assert_eq!(moved["summaryEntry"]["summary"], "Rust was tried");
    assert_eq!(moved["leafId"], moved["summaryEntry"]["id"]);
    let start = peer.data(json!({"type": "navigate_tree", "targetId": null}));
    assert_eq!(start["leafId"], Json::Null);
    assert_eq!(peer.data(json!({"type": "navigate_tree", "targetId": "branch:2"}))["cancelled"], false);
    peer.data(json!({"type": "abort_branch_summary"}));

    peer.data(json!({"type": "set_label", "entryId": "u5", "label": "rust"}));
    let labels = peer.data(json!({"type": "get_labels"}));
    assert_eq!(
        (&labels["labels"][0]["label"], &labels["labels"][0]["entryId"]),
        (&json!("rust"), &json!("u5"))
    );
    assert_eq!(peer.data(json!({"type": "resolve_ref", "ref": "@rust"}))["entryId"], "u5");
    peer.data(json!({"type": "set_label", "entryId": "@rust", "label": null}));
    assert_eq!(peer.data(json!({"type": "get_labels"}))["labels"], json!([]));

    let path = peer.data(json!({"type": "get_path", "ref": "a6"}));
    assert_eq!(ids(&path["entries"]), ["u1", "a2", "u5", "a6"]);
    assert_eq!(peer.data(json!({"type": "get_entry", "ref": "u3"}))["entry"]["message"]["role"], "user");
    let context = peer.data(json!({"type": "get_context", "ref": "a6"}));
    assert_eq!(context["context"]["messages"].as_array().unwrap().len(), 4);
    assert_eq!(context["itemTokens"].as_array().unwrap().len(), 4);
    assert!(context["tokens"].as_u64().unwrap() > 0);
    let branches = peer.data(json!({"type": "list_branches"}));
    assert!(branches["branches"].as_array().unwrap().len() >= 2, "{branches:#}");
    let diff = peer.data(json!({"type": "diff", "a": "a4", "b": "a6"}));
    assert_eq!(diff["base"], "a2");
    assert!(peer.error(json!({"type": "get_entry", "ref": "zzzz"})).contains("zzzz"));
    assert!(peer.error(json!({"type": "navigate_tree", "targetId": "zzzz"})).contains("zzzz"));
    assert_eq!(program.end(), 0);
}

#[test]
fn a_client_copies_between_branches_and_sessions() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut program = rpc(&home, &["--session", &file]);
    let peer = &mut program.peer;
    let before = fs::read(&file).unwrap();
    let planned = peer.data(json!({"type": "cherry_pick", "ref": "a4", "dryRun": true}));
    assert_eq!((&planned["dryRun"], &planned["sourceEntryIds"]), (&json!(true), &json!(["a4"])));
    peer.data(json!({"type": "merge", "ref": "a4", "dryRun": true}));
    assert_eq!(fs::read(&file).unwrap(), before, "a dry run writes nothing");
    let picked = peer.data(json!({"type": "cherry_pick", "ref": "a4", "note": "fast enough"}));
    assert_eq!(picked["leafId"], picked["entryIds"][0]);
    let merged = peer.data(json!({"type": "merge", "ref": "a4", "message": "--Node is slower"}));
    assert_eq!(merged["leafId"], merged["entryId"], "{merged:#}");

    let out = home.path("project/branch.jsonl");
    peer.data(json!({"type": "export_branch", "ref": "a6", "outputPath": "branch.jsonl", "scope": "path"}));
    assert!(out.exists());
    peer.data(json!({"type": "import_session", "path": "branch.jsonl"}));
    let imported = peer.data(json!({"type": "get_state"}))["sessionFile"].as_str().unwrap().to_owned();
    assert_ne!(imported, file);
    peer.data(json!({"type": "rename_session", "name": "imported"}));
    peer.data(json!({"type": "rename_session", "sessionPath": &file, "name": "first"}));
    let list = peer.data(json!({"type": "list_sessions", "scope": "all", "limit": 1}));
    assert_eq!(list["sessions"][0]["name"], "imported", "{list:#}");
    assert!(
        peer.error(json!({"type": "delete_session", "sessionPath": "imported"})).contains("is open here")
    );
    let only_trash = json!({"type": "delete_session", "sessionPath": &file, "trash": false});
    assert!(peer.error(only_trash).contains("trash"));
    peer.data(json!({"type": "delete_session", "sessionPath": &file}));
    assert!(!home.path("project/s.jsonl").exists());
    assert_eq!(files(&home.path("offshoot/state/trash")).len(), 1);
    assert_eq!(program.end(), 0);
}

#[test]
fn subscribers_get_numbered_events_of_the_tree() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut program = rpc(&home, &["--session", &file]);
    let peer = &mut program.peer;
    // A client without a subscription gets no such event.
    peer.data(json!({"type": "navigate_tree", "targetId": "a4"}));
    peer.data(json!({"type": "set_label", "entryId": "u1", "label": "start"}));
    assert!(peer.skipped.is_empty(), "{:#?}", peer.skipped);

    let subscribed = peer.data(json!({"type": "subscribe"}));
    assert_eq!(subscribed["resumed"], true);
    peer.data(json!({"type": "navigate_tree", "targetId": "a6", "summarize": true}));
    let moved = peer.event("leaf_changed");
    assert_eq!(
        (&moved["reason"], &moved["summaryEntry"]["type"]),
        (&json!("agent"), &json!("branch_summary"))
    );
    assert_eq!(moved["newLeafId"], moved["summaryEntry"]["id"]);
    assert_eq!(peer.event("branch_summary_end")["aborted"], false);
    peer.data(json!({"type": "set_label", "entryId": "u1", "label": "begin"}));
    assert_eq!(peer.event("label_changed")["label"], "begin");
    peer.data(json!({"type": "new_session"}));
    let replaced = peer.event("session_replaced");
    assert_eq!((&replaced["reason"], &replaced["previousSessionFile"]), (&json!("new"), &json!(file)));
    peer.data(json!({"type": "switch_session", "sessionPath": &file}));

    // Another process appends.
    home.run_with_input(&["append", &file, "--under", "a4"], b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"From elsewhere\",\"timestamp\":1}}\n").ok();
    let appended = peer.until(|record| record["entry"]["message"]["content"] == "From elsewhere");
    assert_eq!(appended["type"], "entry_appended");

    // All events since a number, again.
    let again =
        peer.data(json!({"type": "subscribe", "events": ["leaf_changed"], "since": subscribed["seq"]}));
    assert_eq!(again["resumed"], true);
    assert_eq!(peer.event("leaf_changed")["seq"], moved["seq"]);
    assert_eq!(peer.data(json!({"type": "subscribe", "since": 1_000_000}))["resumed"], false);
    let numbers: Vec<u64> = peer.skipped.iter().filter_map(|record| record["seq"].as_u64()).collect();
    assert!(numbers.len() > 2 && numbers.is_sorted(), "{numbers:?}");
    assert_eq!(program.end(), 0);
}

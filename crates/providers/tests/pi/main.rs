//! Sessions that our agent makes, in real pi; sessions that real pi makes, in ours.
//!
//! `scripts/compare-with-pi` says where pi is installed. Everything goes over the wire of a scripted server, as it does
//! with a service; nothing leaves the machine.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod ours;
mod peer;
mod theirs;

use std::path::Path;

use serde_json::{Value as Json, json};
use session_tree::{Session, convert_to_llm};

/// Our context of a session file, in the shape in which pi returns it.
pub(crate) fn own_context(file: &Path) -> Json {
    let session = Session::open_read_only(file).unwrap();
    let context = session.context().unwrap();
    let spelled = |message: &session_tree::Message| message.value().to_serde().unwrap();
    let tree = session.tree();
    // Who does not know the marker that keeps our position stands on it, right below that position.
    let marker = tree.last().filter(|last| tree.is_leaf_marker(*last));
    json!({
        "entries": tree.nodes().map(|node| tree.id(node).to_string()).collect::<Vec<_>>(),
        "leaf": marker.or(session.leaf()).map(|leaf| tree.id(leaf).to_string()),
        "name": session.name(),
        "messages": context.messages().map(spelled).collect::<Vec<_>>(),
        "llm": context.messages().filter_map(convert_to_llm).map(|message| spelled(&message)).collect::<Vec<_>>(),
        "thinkingLevel": context.thinking_level,
        "model": context.model.as_ref().map(|model| json!({"provider": model.provider, "modelId": model.model_id})),
    })
}

/// Compares what both make of a file: field by field, and of lists the first part that differs.
pub(crate) fn assert_same(name: &str, theirs: &Json, ours: &Json) {
    for field in ["entries", "leaf", "name", "thinkingLevel", "model", "messages", "llm"] {
        let [theirs, ours] = [theirs, ours].map(|both| with_plain_numbers(&both[field]));
        let parts = theirs.as_array().into_iter().flatten().zip(ours.as_array().into_iter().flatten());
        for (number, (theirs, ours)) in parts.enumerate() {
            assert_eq!(theirs, ours, "{name}: pi (left) and we (right) differ in `{field}`, part {number}");
        }
        assert_eq!(theirs, ours, "{name}: pi (left) and we (right) differ in `{field}`");
    }
}

/// JavaScript has one kind of number: 1 and 1.0 are the same.
fn with_plain_numbers(value: &Json) -> Json {
    match value {
        Json::Number(number) => json!(number.as_f64()),
        Json::Array(list) => list.iter().map(with_plain_numbers).collect(),
        Json::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), with_plain_numbers(value))).collect()
        }
        other => other.clone(),
    }
}

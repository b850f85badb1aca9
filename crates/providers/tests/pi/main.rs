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

/// What we make of a session file, in the shape in which pi is asked.
pub(crate) fn own_context(file: &Path) -> Json {
    let session = Session::open_read_only(file).unwrap();
    let context = session.build_context().unwrap();
    let spelled = |message: &session_tree::Message| message.value().to_serde().unwrap();
    let tree = session.tree();
    json!({
        "entries": tree.nodes().map(|node| tree.id(node).to_string()).collect::<Vec<_>>(),
        "leaf": session.leaf_id().map(|id| id.to_string()),
        "name": session.name(),
        "messages": context.messages().map(spelled).collect::<Vec<_>>(),
        "llm": context.messages().filter_map(convert_to_llm).map(|message| spelled(&message)).collect::<Vec<_>>(),
        "thinkingLevel": context.thinking_level,
        "model": context.model.as_ref().map(|model| json!({"provider": model.provider, "modelId": model.model_id})),
    })
}

/// Compares what both make of a file, field by field.
pub(crate) fn assert_same(name: &str, theirs: &Json, ours: &Json) {
    for field in ["entries", "leaf", "name", "thinkingLevel", "model", "messages", "llm"] {
        assert_eq!(theirs[field], ours[field], "{name}: pi (left) and we (right) differ in `{field}`");
    }
}

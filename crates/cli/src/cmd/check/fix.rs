//! The effect of a repair, in words and as JSON.

use serde_json::{Value as Json, json};
use session_tree::{EntryId, Fix};

/// Describes a fix.
pub(in crate::cmd) fn words(fix: &Fix) -> String {
    match fix {
        Fix::Stub { id, parent, inferred } => {
            let place =
                parent.as_ref().map_or_else(|| "as a root".into(), |parent| format!("below {parent}"));
            let guess = if *inferred { ", which is a guess" } else { "" };
            format!("append an empty entry {id} {place}{guess}")
        }
        Fix::Recover { entries } => {
            let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
            format!("append again what is whole: {}", ids.join(", "))
        }
        Fix::LineFeed => "end the last line".into(),
        Fix::LeafMarker { target } => {
            let target = target.as_ref().map_or("the start", EntryId::as_str);
            format!("append a marker, so that other programs go on from {target}")
        }
        Fix::Detach { id } => format!("make {id} a root"),
        Fix::Omit { bytes } => format!("leave out the bytes {}..{}", bytes.start, bytes.end),
        _ => "repair it".into(),
    }
}

/// Returns a fix as JSON.
pub(in crate::cmd) fn fix_json(fix: &Fix) -> Json {
    let (action, ids) = match fix {
        Fix::Stub { id, .. } => ("stub", vec![id.as_str()]),
        Fix::Recover { entries } => ("recover", entries.iter().map(|entry| entry.id.as_str()).collect()),
        Fix::LineFeed => ("line-feed", Vec::new()),
        Fix::LeafMarker { target } => ("leaf-marker", target.iter().map(EntryId::as_str).collect()),
        Fix::Detach { id } => ("detach", vec![id.as_str()]),
        Fix::Omit { .. } => ("omit", Vec::new()),
        _ => ("other", Vec::new()),
    };
    let mut json = json!({"action": action, "isGuess": fix.is_inferred(), "needsCopy": fix.needs_copy()});
    if !ids.is_empty() {
        json["ids"] = json!(ids);
    }
    if let Fix::Stub { parent: Some(parent), .. } = fix {
        json["parentId"] = json!(parent.as_str());
    }
    json
}

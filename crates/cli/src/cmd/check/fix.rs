//! What a repair would do, in words and as JSON.

use serde::Serialize;
use session_tree::{EntryId, Fix};

/// Tells what a fix does.
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

/// The JSON form of a fix.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct JsonFix<'f> {
    action: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ids: Vec<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<&'f str>,
    is_guess: bool,
    needs_copy: bool,
}

impl<'f> JsonFix<'f> {
    /// Describes a fix.
    pub(in crate::cmd) fn of(fix: &'f Fix) -> Self {
        let (action, ids) = match fix {
            Fix::Stub { id, .. } => ("stub", vec![id.as_str()]),
            Fix::Recover { entries } => ("recover", entries.iter().map(|entry| entry.id.as_str()).collect()),
            Fix::LineFeed => ("line-feed", Vec::new()),
            Fix::LeafMarker { target } => ("leaf-marker", target.iter().map(EntryId::as_str).collect()),
            Fix::Detach { id } => ("detach", vec![id.as_str()]),
            Fix::Omit { .. } => ("omit", Vec::new()),
            _ => ("other", Vec::new()),
        };
        let parent_id = match fix {
            Fix::Stub { parent, .. } => parent.as_ref().map(EntryId::as_str),
            _ => None,
        };
        JsonFix { action, ids, parent_id, is_guess: fix.is_inferred(), needs_copy: fix.needs_copy() }
    }

    /// Describes what is done about a lost header.
    pub(super) fn salvage() -> Self {
        JsonFix { action: "salvage", ids: Vec::new(), parent_id: None, is_guess: false, needs_copy: true }
    }
}

//! Tools in a line: the name and what matters most of its arguments.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::ToolItem;

/// The longest argument that is shown in a title.
const LONGEST: usize = 400;

/// Returns the arguments of a call, as far as they are known.
pub(super) fn arguments(tool: &ToolItem) -> Cow<'_, Json> {
    match tool.arguments.is_null() && !tool.partial.is_empty() {
        true => Cow::Owned(completed(&tool.partial)),
        false => Cow::Borrowed(&tool.arguments),
    }
}

/// Reads JSON that may end anywhere: open strings, lists and objects are closed, a half member is left out.
fn completed(partial: &str) -> Json {
    let mut closers = String::new();
    let mut in_string = false;
    let mut is_escaped = false;
    // The last place up to which everything is whole, and what closes it there.
    let mut whole = (0, String::new());
    for (at, c) in partial.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' => closers.insert(0, '}'),
            '[' => closers.insert(0, ']'),
            '}' | ']' => drop(closers.drain(..1.min(closers.len()))),
            ',' => whole = (at, closers.clone()),
            _ => {}
        }
    }
    let open = partial.strip_suffix('\\').filter(|_| is_escaped).unwrap_or(partial);
    let quote = if in_string { "\"" } else { "" };
    let all = serde_json::from_str(&format!("{open}{quote}{closers}"));
    all.or_else(|_| serde_json::from_str(&format!("{}{}", &partial[..whole.0], whole.1))).unwrap_or_default()
}

/// Returns what matters most of the arguments of a call.
pub(crate) fn subject(name: &str, arguments: &Json) -> String {
    let text = |key: &str| arguments.get(key).and_then(Json::as_str);
    let path = || text("path").or_else(|| text("file_path")).unwrap_or_default();
    let said = match name {
        "bash" => text("command").unwrap_or_default().to_owned(),
        "read" => format!("{}{}", path(), lines(arguments)),
        "write" | "edit" | "ls" => path().to_owned(),
        "grep" | "find" => {
            let pattern = text("pattern").unwrap_or_default();
            if path().is_empty() { pattern.to_owned() } else { format!("{pattern} in {}", path()) }
        }
        _ => short_json(arguments),
    };
    said.chars().take(LONGEST).collect()
}

/// Which lines of a file are read.
fn lines(arguments: &Json) -> String {
    let number = |key: &str| arguments.get(key).and_then(Json::as_u64);
    match (number("offset"), number("limit")) {
        (None, None) => String::new(),
        (from, Some(limit)) => {
            let from = from.unwrap_or(1);
            format!(":{from}-{}", from.saturating_add(limit).saturating_sub(1))
        }
        (Some(from), None) => format!(":{from}"),
    }
}

/// Returns the arguments of an unknown tool.
fn short_json(arguments: &Json) -> String {
    match arguments {
        Json::Null => String::new(),
        Json::Object(members) if members.is_empty() => String::new(),
        Json::Object(members) if members.len() == 1 => members.values().map(plain).collect(),
        arguments => arguments.to_string(),
    }
}

/// Returns a text without its quotes, and anything else as JSON.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;

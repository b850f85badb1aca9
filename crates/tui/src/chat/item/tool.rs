//! Tools in a line: the name and what matters most of its arguments.

use serde_json::Value as Json;

/// The longest argument that is shown in a title.
const LONGEST: usize = 400;

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

/// Arguments of a tool that nobody here knows.
fn short_json(arguments: &Json) -> String {
    match arguments {
        Json::Null => String::new(),
        Json::Object(members) if members.is_empty() => String::new(),
        Json::Object(members) if members.len() == 1 => {
            members
                .values()
                .next()
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        }
        .unwrap_or_default(),
        arguments => arguments.to_string(),
    }
}

#[cfg(test)]
mod tests;

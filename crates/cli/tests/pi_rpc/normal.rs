//! A transcript as lines that do not depend on ids, times, paths and the pieces in which a text arrives.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};
use similar::{ChangeTag, TextDiff};

/// Fields whose values differ between any two runs.
const VOLATILE: [&str; 13] = [
    // pi counts its system prompt, which has paths.
    "estimatedTokensAfter",
    "firstKeptEntryId",
    "timestamp",
    "targetId",
    "sessionFile",
    "sessionId",
    "durationMs",
    "delayMs",
    "id",
    "entryId",
    "parentId",
    "responseId",
    "labelTimestamp",
];

/// Fields of messages and usages that only pi writes.
const ONLY_PI: [&str; 5] =
    ["rawStopReason", "thinkingLevel", "reasoning", "totalFromProvider", "structuredContent"];

/// Returns the lines that differ, below the names of their steps.
pub(crate) fn differences(theirs: &Json, ours: &Json) -> String {
    let mut text = String::new();
    let steps = theirs.as_array().unwrap().iter().zip(ours.as_array().unwrap());
    for (theirs, ours) in steps {
        assert_eq!(theirs["step"], ours["step"], "the script is the same");
        let [left, right] = [theirs, ours].map(|step| lines(step).join("\n") + "\n");
        let diff = TextDiff::from_lines(&left, &right);
        let changes: Vec<String> = diff
            .iter_all_changes()
            .filter_map(|change| {
                let sign = match change.tag() {
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                    ChangeTag::Equal => return None,
                };
                Some(format!("{sign} {change}"))
            })
            .collect();
        if !changes.is_empty() {
            writeln!(text, "@ {}", theirs["step"].as_str().unwrap()).unwrap();
            text.push_str(&changes.concat());
        }
    }
    text
}

fn lines(step: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    match step.get("error") {
        Some(error) => lines.push(format!("error {error}")),
        None => result(&step["result"], &mut lines),
    }
    events(step["events"].as_array().unwrap(), &mut lines);
    lines
}

/// Spells a result: lists of entries and messages line by line, and trees as their shape.
fn result(result: &Json, lines: &mut Vec<String>) {
    if let Some(entries) = result.get("entries").and_then(Json::as_array) {
        let mut numbers = BTreeMap::new();
        for entry in entries {
            let (id, parent) = (text(&entry["id"]), text(&entry["parentId"]));
            let above = numbers.get(parent).cloned().unwrap_or_else(|| "none".to_owned());
            if is_only_pi(entry) {
                numbers.insert(id, above);
                continue;
            }
            let number = format!("#{}", lines.len());
            lines.push(format!("entry {number} under {above}: {}", spelled(entry)));
            numbers.insert(id, number);
        }
        let leaf = numbers.get(text(&result["leafId"])).map_or("none", String::as_str);
        lines.push(format!("leaf {leaf}"));
    } else if let Some(tree) = result.get("tree").and_then(Json::as_array) {
        shape(tree, 0, lines);
        lines.push(format!("keys {}", keys(result)));
    } else if let Some(list) = result.as_array() {
        list.iter()
            .filter(|item| item["role"] != "system")
            .for_each(|item| lines.push(format!("item {}", spelled(item))));
    } else {
        lines.push(format!("result {}", spelled(result)));
    }
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns true for entries that only pi writes: the system prompt, and a thinking level that is off.
fn is_only_pi(entry: &Json) -> bool {
    entry["message"]["role"] == "system"
        || (entry["type"] == "thinking_level_change" && entry["thinkingLevel"] == "off")
}

fn shape(nodes: &[Json], depth: usize, lines: &mut Vec<String>) {
    for node in nodes {
        let entry = &node["entry"];
        let below = match is_only_pi(entry) {
            true => depth,
            false => {
                let (kind, role) = (text(&entry["type"]), text(&entry["message"]["role"]));
                lines.push(format!("{depth} {kind} {role} {}", keys(node)));
                depth + 1
            }
        };
        shape(node["children"].as_array().unwrap(), below, lines);
    }
}

/// Spells events; neighbouring pieces of one text become one line.
fn events(events: &[Json], lines: &mut Vec<String>) {
    let mut pieces: Option<(Json, String)> = None;
    for event in events {
        let update = &event["assistantMessageEvent"];
        let kind = update["type"].as_str().unwrap_or_default();
        if kind.ends_with("_delta") {
            let key = json!([kind, update["contentIndex"], keys(event)]);
            let delta = update["delta"].as_str().unwrap();
            match &mut pieces {
                Some((known, text)) if *known == key => text.push_str(delta),
                _ => {
                    flush(&mut pieces, lines);
                    pieces = Some((key, delta.to_owned()));
                }
            }
            continue;
        }
        flush(&mut pieces, lines);
        // How often a tool reports its output depends on the clock.
        let is_counted = event["type"] != "tool_execution_update" && event["message"]["role"] != "system";
        if is_counted {
            lines.push(format!("event {}", spelled(event)));
        }
    }
    flush(&mut pieces, lines);
}

fn flush(pieces: &mut Option<(Json, String)>, lines: &mut Vec<String>) {
    if let Some((key, text)) = pieces.take() {
        lines.push(format!("event {key} {}", json!(text)));
    }
}

fn keys(value: &Json) -> String {
    let mut keys: Vec<&str> =
        value.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default();
    keys.sort_unstable();
    keys.join(",")
}

/// Spells a value without what differs between any two runs, and with its keys sorted.
fn spelled(value: &Json) -> String {
    stable(value).to_string()
}

fn stable(value: &Json) -> Json {
    match value {
        Json::Number(number) => json!(number.as_f64()),
        Json::Array(list) => list.iter().filter(|item| item["role"] != "system").map(stable).collect(),
        Json::Object(map) if map.contains_key("contextWindow") && map.contains_key("provider") => {
            let keys = keys(value).replace("baseUrl,", "").replace(",thinkingLevels", "");
            json!(format!("model {}: {keys}", text(&map["id"])))
        }
        Json::Object(map) => {
            let is_message = map.contains_key("role");
            let is_left_out = |key: &str| match key {
                "thinkingLevel" | "durationMs" => is_message,
                "details" => map.get("details") == Some(&json!({})),
                key => ONLY_PI.contains(&key),
            };
            let sorted: BTreeMap<&String, &Json> = map.iter().filter(|(key, _)| !is_left_out(key)).collect();
            let stable = sorted.into_iter().map(|(key, value)| match (key.as_str(), value) {
                (key, _) if VOLATILE.contains(&key) => (key.to_owned(), json!("…")),
                ("sourceInfo", _) => ("sourceInfo".to_owned(), json!(keys(value))),
                // pi shows the usage as it is when the line is written, which may be later.
                ("usage", _) if map.contains_key("assistantMessageEvent") => ("usage".to_owned(), json!("…")),
                // Tools and services have their own words for errors.
                ("errorMessage", _) if is_message || map.contains_key("attempt") => {
                    ("errorMessage".to_owned(), json!("…"))
                }
                ("content" | "result", _) if map.get("isError") == Some(&json!(true)) => {
                    (key.clone(), json!("…"))
                }
                // A text is one block.
                ("content", Json::String(text)) => {
                    ("content".to_owned(), json!([{"text": text, "type": "text"}]))
                }
                (key, value) => (key.to_owned(), stable(value)),
            });
            Json::Object(stable.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

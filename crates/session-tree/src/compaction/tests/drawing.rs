//! Sessions from drawings, for tests of plans.

use crate::json;
use crate::session::Session;
use crate::tree::Node;

/// Creates a session from lines `id kind text`, each entry below the previous one, or `id<parent kind text`.
///
/// `x*40` at the end of a line is 40 times x.
pub(crate) fn session(drawing: &str) -> Session {
    let mut text = String::from(
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
    );
    let mut previous = String::new();
    let rows = drawing.lines().map(str::trim).filter(|row| !row.is_empty());
    for (place, row) in rows.enumerate() {
        let (name, rest) = row.split_once(' ').unwrap();
        let (id, parent) = name.split_once('<').unwrap_or((name, &previous));
        let parent = if parent.is_empty() { "null".into() } else { quoted(parent) };
        let body = body(rest);
        text.push_str(&format!(
            "\n{{{body},\"id\":{},\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:{place:02}.000Z\"}}",
            quoted(id)
        ));
        previous = id.to_owned();
    }
    Session::from_bytes((text + "\n").into_bytes()).unwrap()
}

/// Returns the ids of entries, with a space between them.
pub(crate) fn ids<'n>(session: &Session, nodes: impl IntoIterator<Item = &'n Node>) -> String {
    let ids: Vec<String> = nodes.into_iter().map(|node| session.tree().id(*node).to_string()).collect();
    ids.join(" ")
}

fn body(row: &str) -> String {
    let (kind, text) = row.split_once(' ').unwrap_or((row, ""));
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    match kind {
        "user" => message("user", &format!("\"content\":{}", said(text))),
        "system" => message("system", &format!("\"content\":{},\"timestamp\":5", said(text))),
        "assistant" => message("assistant", &blocks(text)),
        "answer" => message("assistant", &format!("{},\"usage\":{{\"totalTokens\":{first}}}", blocks(rest))),
        "failed" => message("assistant", &format!("{},\"stopReason\":\"error\"", blocks(text))),
        "call" => message("assistant", &call(first, rest)),
        "result" => message("toolResult", &blocks(text)),
        "nested" => message("toolResult", &nested(first, rest)),
        "bash" => message("bashExecution", &format!("\"command\":\"\",\"output\":{}", said(text))),
        "custom" => format!("\"type\":\"custom_message\",\"customType\":\"t\",\"content\":{}", said(text)),
        "summary" => format!("\"type\":\"branch_summary\",\"summary\":{}", said(text)),
        "compaction" => {
            format!(
                "\"type\":\"compaction\",\"firstKeptEntryId\":{},\"summary\":{}",
                quoted(first),
                said(rest)
            )
        }
        "omit" => format!("\"type\":\"context_edit\",\"targetId\":{},\"replacement\":null", quoted(text)),
        "edit" => format!(
            "\"type\":\"context_edit\",\"targetId\":{},\"replacement\":{{\"content\":{}}}",
            quoted(first),
            said(rest)
        ),
        "model" => "\"type\":\"model_change\",\"provider\":\"p\",\"modelId\":\"m\"".into(),
        "label" => format!("\"type\":\"label\",\"targetId\":{},\"label\":\"l\"", quoted(first)),
        "json" => text.to_owned(),
        other => panic!("no such kind in a drawing: {other}"),
    }
}

fn message(role: &str, rest: &str) -> String {
    format!("\"type\":\"message\",\"message\":{{\"role\":\"{role}\",{rest}}}")
}

fn blocks(text: &str) -> String {
    format!("\"content\":[{{\"type\":\"text\",\"text\":{}}}]", said(text))
}

fn call(tool: &str, path: &str) -> String {
    let (tool, path) = (quoted(tool), quoted(path));
    format!(
        "\"content\":[{{\"type\":\"toolCall\",\"id\":\"c\",\"name\":{tool},\"arguments\":{{\"path\":{path}}}}}]"
    )
}

fn nested(tool: &str, path: &str) -> String {
    let (tool, path) = (quoted(tool), quoted(path));
    format!(
        "\"content\":[],\"nestedCalls\":{{\"calls\":[{{\"name\":{tool},\"arguments\":{{\"path\":{path}}}}}]}}"
    )
}

fn said(text: &str) -> String {
    match text.split_once('*') {
        Some((letters, count)) => quoted(&letters.repeat(count.parse().unwrap())),
        None => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    json::write_string(&mut out, text);
    out
}

//! Sessions drawn in a few lines.

use super::super::Context;
use crate::session::Session;

pub(super) const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n";

/// Creates a session from a drawing: one entry per line, `id kind words`, each below the previous one or below another
/// entry (`id<parent`).
pub(super) fn draw(drawing: &str) -> Session {
    let mut bytes = HEADER.to_owned();
    let mut last = None;
    for (place, line) in drawing.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let (name, rest) = line.split_once(' ').unwrap();
        let (id, parent) = name.split_once('<').map_or((name, last), |(id, parent)| (id, Some(parent)));
        let (kind, words) = rest.split_once(' ').unwrap_or((rest, ""));
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
        let time = format!("2025-01-01T00:00:{:02}.000Z", place + 1);
        let envelope = format!("\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{time}\"");
        bytes.push_str(&format!("{{{},{envelope}}}\n", body(kind, words, id)));
        last = Some(id);
    }
    Session::from_bytes(bytes.into_bytes()).unwrap()
}

fn body(kind: &str, words: &str, id: &str) -> String {
    let text = if words.is_empty() { id } else { words };
    let (first, second) = words.split_once(' ').unwrap_or((words, ""));
    match kind {
        "user" => format!(r#""type":"message","message":{{"role":"user","content":"{text}","timestamp":1}}"#),
        "assistant" => format!(
            r#""type":"message","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"provider":"prov","model":"mod","stopReason":"stop","timestamp":1}}"#
        ),
        "message" => format!(r#""type":"message","message":{words}"#),
        "calls" => answer(words, "toolUse"),
        "failed" => answer(words, "error"),
        "aborted" => answer(words, "aborted"),
        "result" => format!(
            r#""type":"message","message":{{"role":"toolResult","toolCallId":"{words}","toolName":"read","content":[],"isError":false,"timestamp":1}}"#
        ),
        "compaction" => {
            format!(r#""type":"compaction","summary":"{id}","firstKeptEntryId":"{words}","tokensBefore":100"#)
        }
        "summary" => format!(r#""type":"branch_summary","fromId":"x","summary":"{words}""#),
        "note" => format!(r#""type":"custom_message","customType":"note","content":"{text}","display":true"#),
        "level" => format!(r#""type":"thinking_level_change","thinkingLevel":"{words}""#),
        "model" => format!(r#""type":"model_change","provider":"{first}","modelId":"{second}""#),
        "edit" => format!(r#""type":"context_edit","targetId":"{first}","replacement":{second}"#),
        "entry" => words.trim_start_matches('{').strip_suffix('}').unwrap().to_owned(),
        _ => panic!("no kind {kind}"),
    }
}

/// Returns an answer with the named calls.
fn answer(calls: &str, stop: &str) -> String {
    let call = |id| format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}"#);
    let calls = calls.split_whitespace().map(call).collect::<Vec<_>>().join(",");
    format!(
        r#""type":"message","message":{{"role":"assistant","content":[{calls}],"provider":"prov","model":"mod","stopReason":"{stop}","timestamp":7}}"#
    )
}

/// Returns the source entries of the context of the leaf.
pub(super) fn ids(session: &Session) -> String {
    sources(session, &session.context().unwrap())
}

/// Returns the source entries of the context of an entry.
pub(super) fn ids_at(session: &Session, id: &str) -> String {
    sources(session, &session.context_at(id).unwrap())
}

pub(super) fn sources(session: &Session, context: &Context) -> String {
    let id = |item: &super::super::ContextItem| session.tree().id(item.source).to_string();
    context.items.iter().map(id).collect::<Vec<_>>().join(" ")
}

/// Returns the texts of the context of the leaf.
pub(super) fn texts(session: &Session) -> String {
    let context = session.context().unwrap();
    context.messages().map(|message| message.text().into_owned()).collect::<Vec<_>>().join("|")
}

/// Returns the model at the leaf.
pub(super) fn model(session: &Session) -> String {
    let model = session.context().unwrap().model.unwrap();
    format!("{}/{}", model.provider, model.model_id)
}

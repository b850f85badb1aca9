//! The session as extensions see it: read and appended to at once, in the order of the calls.

use std::path::Path;

use serde_json::{Value as Json, json};
use session_tree::{Draft, Entry, Kind, NewBranchSummary, Node, Position, Session};

use super::{Answer, count_sent, json as spelled, said, sessions, text, unknown};
use crate::engine::Shared;
use crate::extension::given;

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    if let Some(id) = arguments["session"].as_u64() {
        // A session that the extension opened itself.
        return shared.setting.host.sessions.with(id, |session| match name {
            "append" => sessions::append(session, arguments),
            name => of_session(session, name, arguments),
        })?;
    }
    if matches!(name, "appendCustom" | "appendMessage" | "append" | "branchWithSummary") {
        count_sent(shared)?;
    }
    if matches!(name, "append" | "branch" | "branchWithSummary") && shared.setting.host.agent.has_turn() {
        // The turn would go on at another place of the tree than it began.
        return Err("the session cannot be changed like this while a turn is running".to_owned());
    }
    if name == "appendCustom" {
        // Front ends show what extensions append.
        let entry =
            shared.setting.host.agent.append_entry(text(arguments, "customType")?, given(arguments, "data"));
        return spelled(entry.map_err(said)?.as_str());
    }
    shared.setting.host.with_session(|session| of_session(session, name, arguments))
}

fn of_session(session: &mut Session, name: &str, arguments: &Json) -> Answer {
    match name {
        "entries" => entries(session),
        "path" => list(
            session,
            session.branch_path(arguments["from"].as_str().map_or(Position::Leaf, Position::from)),
        ),
        "context" => context_at(session, Position::Leaf),
        "entry" => entry(session.entry(text(arguments, "id")?).ok().as_ref()),
        "leafId" => spelled(json!(session.leaf_id().map(|id| id.to_string()))),
        "leafEntry" => entry(session.leaf_entry().map_err(said)?.as_ref()),
        "label" => {
            let node = session.tree().node(text(arguments, "id")?);
            spelled(json!(node.and_then(|node| session.label(node)).map(|label| &label.text)))
        }
        "labels" => labels(session),
        "facts" => facts(session),
        "tokens" => spelled(json!(session.context_estimate(Position::Leaf).map_err(said)?.tokens)),
        "appendMessage" => {
            let display = arguments["display"].as_bool().unwrap_or(false);
            let (custom_type, details) = (text(arguments, "customType")?, given(arguments, "details"));
            id(session.append_custom_message(custom_type, &arguments["content"], display, details))
        }
        "append" => append(session, arguments),
        "branch" => branch(session, arguments),
        "branchWithSummary" => branch_with_summary(session, arguments),
        _ => unknown("session", name),
    }
}

/// Spells entries as a list, without reading them twice.
fn list(session: &Session, nodes: Vec<Node>) -> Answer {
    let mut text = String::from("[");
    for node in nodes {
        let entry = session.entry_at(node).map_err(said)?;
        if let Some(value) = entry.value() {
            if text.len() > 1 {
                text.push(',');
            }
            value.write_js(&mut text);
        }
    }
    text.push(']');
    Ok(text)
}

fn entry(entry: Option<&Entry>) -> Answer {
    let value = entry.and_then(Entry::value);
    Ok(value.map_or_else(|| "null".to_owned(), |value| value.js_string()))
}

pub(super) fn entries(session: &Session) -> Answer {
    list(session, session.tree().nodes().collect())
}

pub(super) fn context_at(session: &Session, position: Position) -> Answer {
    let context = session.context_at(position).map_err(said)?;
    let messages: Vec<String> = context.messages().map(|message| message.json().into_owned()).collect();
    let model = context.model.map(|model| json!({"provider": model.provider, "modelId": model.model_id}));
    let (level, model) = (json!(context.thinking_level), json!(model));
    Ok(format!(r#"{{"messages":[{}],"thinkingLevel":{level},"model":{model}}}"#, messages.join(",")))
}

fn labels(session: &Session) -> Answer {
    let labels = session.labels().into_iter();
    let labels = labels.map(|(node, label)| {
        (session.tree().id(node).to_string(), json!({"text": label.text, "time": label.set_at.to_string()}))
    });
    spelled(Json::Object(labels.collect()))
}

fn facts(session: &Session) -> Answer {
    let shown = |path: Option<&Path>| path.map(|path| path.to_string_lossy().into_owned());
    let header = session.header();
    spelled(json!({
        "id": header.id(),
        "file": shown(session.file()),
        "dir": shown(session.file().and_then(Path::parent)),
        "cwd": header.cwd(),
        "name": session.name(),
        "header": header.value().to_serde(),
    }))
}

/// Appends an entry that is spelled out, below the leaf or below another entry.
fn append(session: &mut Session, arguments: &Json) -> Answer {
    let draft = Draft::parse(arguments["draft"].to_string()).map_err(said)?;
    let kind = draft.kind();
    if !matches!(kind, Kind::Custom | Kind::CustomMessage | Kind::Message | Kind::Compaction) {
        return Err(format!("`{}` is no entry that an extension may append", kind.name().unwrap_or("?")));
    }
    let parent = given(arguments, "parent").and_then(Json::as_str);
    id(session.append_under(parent.map_or(Position::Leaf, Position::from), draft))
}

/// Moves the leaf onto an entry, or before the first one.
fn branch(session: &mut Session, arguments: &Json) -> Answer {
    session.move_to(Position::entry_or_start(arguments["id"].as_str())).map_err(said)?;
    spelled(json!(session.leaf_id().map(|id| id.to_string())))
}

fn branch_with_summary(session: &mut Session, arguments: &Json) -> Answer {
    let summary = NewBranchSummary {
        summary: text(arguments, "summary")?.to_owned(),
        details: given(arguments, "details").cloned(),
        usage: None,
        from_hook: true,
    };
    id(session.branch_with_summary(Position::entry_or_start(arguments["id"].as_str()), summary))
}

fn id(appended: session_tree::Result<session_tree::EntryId>) -> Answer {
    spelled(json!(appended.map_err(said)?.to_string()))
}

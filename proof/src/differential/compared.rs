//! One file, two answers: equal, known to differ, or different.

use serde_json::Value;
use session_tree::{Entry, Kind, Session};
use testkit::canonical::canonical;

/// How two answers compare.
pub(super) enum Verdict {
    Equal,
    /// A difference that `docs/compat.md` lists, in a word.
    Known(&'static str),
    Different(String),
}

/// Compares what the engine and the reference program say of a file.
pub(super) fn compare(bytes: &[u8], answer: &Value, is_reference: bool) -> Verdict {
    let ours = Session::from_bytes(bytes.to_vec());
    let is_refused = !answer["error"].is_null();
    match ours {
        Err(_) if is_refused => Verdict::Equal,
        Err(_) => Verdict::Known("refused by us only"),
        Ok(_) if answer.is_null() => Verdict::Known("pi dies"),
        Ok(_) if answer["circle"] == true => Verdict::Known("pi follows a circle for ever"),
        Ok(_) if is_refused => Verdict::Known("refused by pi only"),
        Ok(session) => compare_sessions(&session, answer, is_reference),
    }
}

fn compare_sessions(session: &Session, answer: &Value, is_reference: bool) -> Verdict {
    let differences: Vec<(&str, String)> = parts(session)
        .into_iter()
        .filter(|(part, _)| is_reference || *part == "context")
        .filter(|(part, _)| !(has_drawn_ids(session) && *part != "context"))
        .filter_map(|(part, ours)| difference(part, &ours, &answer[part]).map(|text| (part, text)))
        .collect();
    if differences.is_empty() {
        return Verdict::Equal;
    }
    match known(session) {
        Some(reason) => Verdict::Known(reason),
        None => {
            let texts: Vec<String> =
                differences.iter().map(|(part, text)| format!("\n  {part}{text}")).collect();
            Verdict::Different(texts.concat())
        }
    }
}

/// What the engine says.
fn parts(session: &Session) -> [(&'static str, Value); 4] {
    let tree = session.tree();
    let ids = |nodes: Vec<_>| {
        Value::from(nodes.into_iter().map(|node| tree.id(node).to_string()).collect::<Vec<_>>())
    };
    let messages: Vec<String> = match session.build_context() {
        Ok(context) => context.messages().map(|message| canonical(message.value())).collect(),
        Err(error) => vec![error.to_string()],
    };
    [
        ("ids", ids(tree.nodes().collect())),
        ("leaf", session.leaf_id().map_or(Value::Null, |id| Value::from(id.to_string()))),
        ("path", ids(session.branch_path(None))),
        ("context", Value::from(messages)),
    ]
}

fn difference(part: &str, ours: &Value, theirs: &Value) -> Option<String> {
    if ours == theirs {
        return None;
    }
    if let ("context" | "ids" | "path", Some(ours), Some(theirs)) = (part, ours.as_array(), theirs.as_array())
    {
        let at = ours
            .iter()
            .zip(theirs)
            .position(|(one, other)| one != other)
            .unwrap_or(ours.len().min(theirs.len()));
        let (count, other) = (ours.len(), theirs.len());
        return Some(format!(
            " {count} and {other}, first at {at}:\n    {:?}\n    {:?}",
            ours.get(at),
            theirs.get(at)
        ));
    }
    Some(format!("\n    {ours}\n    {theirs}"))
}

/// Version 1 has no ids; pi draws its own.
fn has_drawn_ids(session: &Session) -> bool {
    session.header().version() < 2
}

/// Why a session may look different to pi.
fn known(session: &Session) -> Option<&'static str> {
    if let Some(diagnostic) = session.diagnostics().first() {
        return Some(diagnostic.problem.code());
    }
    let tree = session.tree();
    if tree.nodes().any(|node| tree.kind(node) == Kind::ResetBoundary) {
        return Some("extras of oh-my-pi");
    }
    let has_id = |entry: &Entry| entry.value().is_some_and(|value| value.get("id").is_some());
    if has_drawn_ids(session) && session.entries().flatten().any(|entry| has_id(&entry)) {
        return Some("no version, but ids");
    }
    let last = tree.last()?;
    if matches!(tree.kind(last), Kind::SessionInfo | Kind::Usage | Kind::LeafMove)
        || tree.is_leaf_marker(last)
    {
        return Some("rule of the leaf");
    }
    session.check().ok()?.findings().next().map(|(diagnostic, _)| diagnostic.problem.code())
}

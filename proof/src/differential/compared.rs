//! One file, two answers: equal, different for a reason that is known, or different.
//!
//! An oddity in a file excuses no difference by itself. A [habit](super::habits) describes how pi reads one oddity
//! that the engine reports; the file as pi takes it then has to give what pi said, in every entry, the leaf, the path
//! and the context.

use std::collections::HashMap;

use serde_json::Value;
use session_tree::{Node, Session};
use testkit::canonical::canonical;

use super::cures::{Cured, cure, unsaid};
use super::habits::{HABITS, Habit, NO_ID, NULL_ID, PiReading};

/// How two answers compare.
pub(super) enum Verdict {
    Equal,
    /// Differences that `docs/compat.md` lists, in a few words.
    Known(String),
    /// Nothing to compare with before the file is cured of something.
    GaveUp(Cured),
    Different(String),
}

/// Compares what the engine and the reference program say of a file.
pub(super) fn compare(bytes: &[u8], answer: &Value, is_reference: bool) -> Verdict {
    let session = match Session::from_bytes(bytes.to_vec()) {
        Err(_) if answer.get("error").is_some() => return Verdict::Equal,
        Err(error) => return Verdict::Different(format!("refused by us only: {error}")),
        Ok(session) => session,
    };
    let taken = PiReading::new(bytes, &session);
    if answer.get("ids").is_none() {
        return match cure(bytes, &session, answer) {
            Some(cured) if shows_the_same(&taken, &cured) => Verdict::GaveUp(cured),
            _ => Verdict::Different(format!("pi says {answer}")),
        };
    }
    if difference(&taken, answer, is_reference).is_none() {
        return Verdict::Equal;
    }
    match explained(&taken, answer, is_reference) {
        Ok(reasons) => Verdict::Known(reasons),
        Err(difference) => match unsaid(bytes) {
            Some(cured) if shows_the_same(&taken, &cured) => Verdict::GaveUp(cured),
            _ => Verdict::Different(difference),
        },
    }
}

/// The habits of pi without which its answer is not ours, or what differs even if it has them all.
fn explained(taken: &PiReading, answer: &Value, is_reference: bool) -> Result<String, String> {
    let remaining = |habits: &[&Habit]| {
        let mut taken = taken.clone();
        for habit in habits {
            (habit.show)(&mut taken);
        }
        difference(&taken, answer, is_reference)
    };
    let mut needed: Vec<&Habit> = HABITS.iter().collect();
    if let Some(difference) = remaining(&needed) {
        return Err(difference);
    }
    for habit in HABITS {
        let fewer: Vec<&Habit> = needed.iter().copied().filter(|other| other.name != habit.name).collect();
        if remaining(&fewer).is_none() {
            needed = fewer;
        }
    }
    Ok(needed.iter().map(|habit| habit.name).collect::<Vec<_>>().join(" + "))
}

/// Tells whether a cure changed nothing that the engine shows.
fn shows_the_same(taken: &PiReading, cured: &Cured) -> bool {
    let shown = |bytes: Vec<u8>| Session::from_bytes(bytes).ok().map(|session| said(&session, taken));
    shown(taken.bytes()) == shown(cured.bytes.clone())
}

/// Returns the first difference.
fn difference(taken: &PiReading, answer: &Value, is_reference: bool) -> Option<String> {
    let ours = match Session::from_bytes(taken.bytes()) {
        Ok(session) => said(&session, taken),
        Err(error) => return Some(format!("as pi takes it the file is refused: {error}")),
    };
    let mut theirs = taken.read(answer);
    if taken.has_drawn_ids {
        number(&mut theirs);
    }
    let parts = ["ids", "leaf", "path", "context"];
    let compared = parts.into_iter().filter(|part| is_reference || *part == "context");
    let texts: Vec<String> = compared
        .filter_map(|part| Some(format!("\n  {part}{}", unequal(&ours[part], &theirs[part])?)))
        .collect();
    if texts.is_empty() { None } else { Some(texts.concat()) }
}

/// The answer of the engine.
fn said(session: &Session, taken: &PiReading) -> HashMap<&'static str, Value> {
    let tree = session.tree();
    let leaf = if taken.leaf_is_last { tree.last() } else { session.leaf() };
    let ids = |nodes: &[Node]| Value::from_iter(nodes.iter().map(|node| tree.id(*node).to_string()));
    let messages: Vec<String> = match session.position_of(leaf).and_then(|at| session.context_at(at)) {
        Ok(context) => context.messages().map(|message| canonical(message.value())).collect(),
        Err(error) => vec![error.to_string()],
    };
    let name = leaf.map(|leaf| tree.id(leaf).to_string());
    let path = name.as_deref().map_or_else(Vec::new, |name| session.branch_path(name));
    let mut said = HashMap::from([
        ("ids", ids(&tree.nodes().collect::<Vec<_>>())),
        ("leaf", name.as_deref().map_or(Value::Null, Value::from)),
        ("path", ids(&path)),
        ("context", Value::from(messages)),
    ]);
    match name.as_deref() {
        // Without an id there is no path for pi, but the last entry of the file still has a context.
        Some(NO_ID) => drop(said.insert("path", Value::Array(Vec::new()))),
        Some(NULL_ID) => {
            said.insert("leaf", Value::Null);
            said.extend(["path", "context"].map(|part| (part, Value::Array(Vec::new()))));
        }
        _ => {}
    }
    if taken.has_drawn_ids {
        number(&mut said);
    }
    said
}

/// Calls entries by their place in the list.
fn number(said: &mut HashMap<&'static str, Value>) {
    let places: HashMap<Value, usize> = said["ids"]
        .as_array()
        .into_iter()
        .flatten()
        .cloned()
        .enumerate()
        .map(|(place, id)| (id, place))
        .collect();
    let place = |id: &Value| places.get(id).map_or(Value::Null, |place| Value::from(*place));
    for part in ["ids", "leaf", "path"] {
        let numbered = match &said[part] {
            Value::Array(ids) => ids.iter().map(place).collect(),
            id => place(id),
        };
        said.insert(part, numbered);
    }
}

fn unequal(ours: &Value, theirs: &Value) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let (Some(ours), Some(theirs)) = (ours.as_array(), theirs.as_array()) else {
        return Some(format!("\n    {ours}\n    {theirs}"));
    };
    let same = ours.iter().zip(theirs).take_while(|(one, other)| one == other).count();
    let (count, other) = (ours.len(), theirs.len());
    let (ours, theirs) = (ours.get(same), theirs.get(same));
    Some(format!(" {count} and {other}, first at {same}:\n    {ours:?}\n    {theirs:?}"))
}

#[cfg(test)]
mod tests;

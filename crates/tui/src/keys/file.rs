//! The keybindings file: a JSON object from the id of an action to a key or a list of keys. Reads text, not files.

use std::collections::HashMap;

use serde_json::Value;

use super::action::{Action, is_only_in_pi};
use super::chord::Chord;

type Bindings = HashMap<Action, Vec<Chord>>;

/// Reads the bindings of a file, and what in it cannot be understood. An empty list switches an action off.
pub(super) fn read(text: &str) -> (Bindings, Vec<String>) {
    let object = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(object)) => object,
        Ok(_) => {
            let example = r#"{"app.tree.editLabel": "f2"}"#;
            return (
                Bindings::new(),
                vec![format!("the keybindings file must be an object such as {example}")],
            );
        }
        Err(error) => return (Bindings::new(), vec![format!("the keybindings file is no JSON: {error}")]),
    };
    let (mut bindings, mut errors) = (Bindings::new(), Vec::new());
    for (id, value) in object.iter().filter(|(id, _)| *id != "$schema") {
        match binding(id, value) {
            // The id counts, not its old name, if a file has both.
            Ok((action, _)) if action.id() != id && object.contains_key(action.id()) => {}
            Ok((action, chords)) => {
                bindings.insert(action, chords);
            }
            Err(error) => errors.push(error),
        }
    }
    (bindings, errors)
}

fn binding(id: &str, value: &Value) -> Result<(Action, Vec<Chord>), String> {
    let unknown = || match (is_only_in_pi(id), most_like(id)) {
        (true, _) => format!("`{id}` has no effect here"),
        (false, Some(near)) => format!("no action `{id}`, did you mean `{near}`"),
        (false, None) => format!("no action `{id}`"),
    };
    let action = Action::from_id(id).ok_or_else(unknown)?;
    let keys: Option<Vec<&str>> = match value {
        Value::String(key) => Some(vec![key]),
        Value::Array(keys) => keys.iter().map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    let keys = keys.ok_or_else(|| format!("`{id}` needs a key or a list of keys"))?;
    let chord = |key: &str| Chord::parse(key).ok_or_else(|| format!("no key `{key}` (for `{id}`)"));
    let chords: Result<Vec<Chord>, String> = keys.into_iter().map(chord).collect();
    Ok((action, chords?))
}

/// Finds the id whose last part is the same, or that shares the most letters at its beginning.
fn most_like(id: &str) -> Option<&'static str> {
    let last = |id: &str| id.rsplit('.').next().unwrap_or_default().to_lowercase();
    let same_end = |action: &&Action| last(action.id()) == last(id);
    let shared = |other: &str| other.bytes().zip(id.bytes()).take_while(|(a, b)| a == b).count();
    let nearest = || Action::ALL.iter().max_by_key(|action| shared(action.id()));
    let near = Action::ALL.iter().find(same_end).or_else(|| nearest().filter(|near| shared(near.id()) > 8));
    near.map(|action| action.id())
}

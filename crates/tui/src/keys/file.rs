//! The keybindings file: a JSON object from the id of an action to a key or a list of keys. Reads text, not files.

use std::collections::HashMap;

use serde_json::Value;

use super::action::{Action, is_only_in_pi};
use super::chord::Chord;

/// Something in a keybindings file that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindingError {
    /// The file is no JSON.
    #[error("the keybindings file is no JSON: {reason}")]
    NotJson {
        /// The message of the JSON parser.
        reason: String,
    },
    /// The file is JSON, but no object.
    #[error("the keybindings file must be an object such as {{\"app.tree.editLabel\": \"f2\"}}")]
    NotAnObject,
    /// There is no action with this id.
    #[error("no action `{id}`{}", near.map(|near| format!(", did you mean `{near}`")).unwrap_or_default())]
    UnknownAction {
        /// The id as it was written.
        id: String,
        /// The id that is most like it.
        near: Option<&'static str>,
    },
    /// The action is one of pi that does nothing here.
    #[error("`{id}` has no effect here")]
    NoEffect {
        /// The id as it was written.
        id: String,
    },
    /// There is no such key.
    #[error("no key `{key}` (for `{id}`)")]
    UnknownKey {
        /// The id of the action.
        id: String,
        /// The key as it was written.
        key: String,
    },
    /// The value is neither a key nor a list of keys.
    #[error("`{id}` needs a key or a list of keys")]
    NotKeys {
        /// The id of the action.
        id: String,
    },
}

type Bindings = HashMap<Action, Vec<Chord>>;

/// Reads the bindings of a file. An empty list switches an action off.
pub(super) fn read(text: &str) -> (Bindings, Vec<BindingError>) {
    let object = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return (Bindings::new(), vec![BindingError::NotAnObject]),
        Err(error) => return (Bindings::new(), vec![BindingError::NotJson { reason: error.to_string() }]),
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

fn binding(id: &str, value: &Value) -> Result<(Action, Vec<Chord>), BindingError> {
    let unknown = || match is_only_in_pi(id) {
        true => BindingError::NoEffect { id: id.to_owned() },
        false => BindingError::UnknownAction { id: id.to_owned(), near: most_like(id) },
    };
    let action = Action::from_id(id).ok_or_else(unknown)?;
    let keys: Option<Vec<&str>> = match value {
        Value::String(key) => Some(vec![key]),
        Value::Array(keys) => keys.iter().map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    let keys = keys.ok_or_else(|| BindingError::NotKeys { id: id.to_owned() })?;
    let chord = |key: &str| {
        let unknown = || BindingError::UnknownKey { id: id.to_owned(), key: key.to_owned() };
        Chord::parse(key).ok_or_else(unknown)
    };
    let chords: Result<Vec<Chord>, BindingError> = keys.into_iter().map(chord).collect();
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

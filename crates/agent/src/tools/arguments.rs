//! The arguments of a call: checked against the tool's schema, then read one by one.
//!
//! Models are careless: a number may come as text, an optional field as null. What can be meant in one way only is
//! taken; everything else is told to the model in words.

use std::fmt;

use serde_json::Value as Json;

use crate::model::MALFORMED_ARGUMENTS;

/// What is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// They are not a JSON object.
    #[error("the arguments are not a valid JSON object; call the tool again with valid JSON")]
    Malformed,
    /// A field is missing.
    #[error("the argument `{field}` is missing")]
    Missing {
        /// Where it should be.
        field: String,
    },
    /// A field has another type.
    #[error("the argument `{field}` must be {wanted}, but is {found}")]
    WrongType {
        /// Where it is.
        field: String,
        /// The types that fit.
        wanted: String,
        /// The type it has.
        found: &'static str,
    },
    /// A field has a value that is not on the list.
    #[error("the argument `{field}` must be one of {allowed}")]
    NotAllowed {
        /// Where it is.
        field: String,
        /// The list, as JSON.
        allowed: String,
    },
}

/// Checks `arguments` against the parts of a JSON schema that tools use: types, required fields, items and enums.
///
/// Parts of a schema that are not known here are not checked.
pub fn check(schema: &Json, arguments: &Json) -> Result<(), ArgumentError> {
    match arguments {
        Json::Object(fields) if !fields.contains_key(MALFORMED_ARGUMENTS) => {
            check_value(schema, arguments, "")
        }
        _ => Err(ArgumentError::Malformed),
    }
}

fn check_value(schema: &Json, value: &Json, field: &str) -> Result<(), ArgumentError> {
    check_type(schema, value, field)?;
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(ArgumentError::NotAllowed { field: field.into(), allowed: schema["enum"].to_string() });
    }
    match value {
        Json::Object(_) => check_fields(schema, value, field),
        Json::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| check_value(&schema["items"], item, &format!("{field}[{index}]"))),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(()),
    }
}

fn check_fields(schema: &Json, value: &Json, path: &str) -> Result<(), ArgumentError> {
    let place = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if let Some(name) = required.iter().find(|name| value.get(**name).is_none()) {
        return Err(ArgumentError::Missing { field: place(name) });
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        match value.get(name) {
            None => {}
            Some(Json::Null) if !required.contains(&name.as_str()) => {}
            Some(field) => check_value(schema, field, &place(name))?,
        }
    }
    Ok(())
}

fn check_type(schema: &Json, value: &Json, field: &str) -> Result<(), ArgumentError> {
    let types: Vec<&str> = match &schema["type"] {
        Json::String(one) => vec![one],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => return Ok(()),
    };
    if types.iter().any(|wanted| fits(wanted, value)) {
        return Ok(());
    }
    Err(ArgumentError::WrongType { field: field.into(), wanted: types.join(" or "), found: type_of(value) })
}

fn fits(wanted: &str, value: &Json) -> bool {
    match wanted {
        "number" | "integer" => number(value).is_some(),
        "boolean" => boolean(value).is_some(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

fn boolean(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(value) => Some(*value),
        Json::String(text) => text.trim().parse().ok(),
        Json::Null | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Reads the fields of checked arguments; a field that does not fit counts as not given.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a Json);

impl<'a> Fields<'a> {
    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Json::as_str)
    }

    pub(crate) fn number(self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(number)
    }

    /// A count: at least 1, fractions dropped.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from f64 saturates")]
    pub(crate) fn count(self, name: &str) -> Option<usize> {
        self.number(name).map(|number| (number as usize).max(1))
    }

    pub(crate) fn is_true(self, name: &str) -> bool {
        self.0.get(name).and_then(boolean).unwrap_or(false)
    }
}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;

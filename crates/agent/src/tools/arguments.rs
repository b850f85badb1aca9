//! Checks the arguments of a call against the schema of the tool and reads them.
//!
//! Models are careless: a number may come as text, an optional field as null. Unambiguous values are accepted; all
//! others are reported to the model.

use serde_json::Value as Json;

use crate::model::MALFORMED_ARGUMENTS;

/// Checks `arguments` against the parts of a JSON schema that tools use: types, required fields, items and enums. Other
/// parts are not checked. The error is for the model.
pub fn check(schema: &Json, arguments: &Json) -> Result<(), String> {
    match arguments {
        Json::Object(fields) if !fields.contains_key(MALFORMED_ARGUMENTS) => {
            check_value(schema, arguments, "")
        }
        _ => Err("the arguments are not a valid JSON object; call the tool again with valid JSON".to_owned()),
    }
}

fn check_value(schema: &Json, value: &Json, field: &str) -> Result<(), String> {
    let types: Vec<&str> = match &schema["type"] {
        Json::String(one) => vec![one],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|wanted| fits(wanted, value)) {
        let (wanted, found) = (types.join(" or "), type_of(value));
        return Err(format!("the argument `{field}` must be {wanted}, but is {found}"));
    }
    if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        return Err(format!("the argument `{field}` must be one of {}", schema["enum"]));
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

fn check_fields(schema: &Json, value: &Json, path: &str) -> Result<(), String> {
    let place = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if let Some(name) = required.iter().find(|name| value.get(**name).is_none()) {
        return Err(format!("the argument `{}` is missing", place(name)));
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
        _ => None,
    }
}

fn boolean(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(value) => Some(*value),
        Json::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The fields of checked arguments. A field of the wrong type counts as absent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a Json);

impl<'a> Fields<'a> {
    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Json::as_str)
    }

    pub(crate) fn number(self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(number)
    }

    /// Returns a count: at least 1, without fraction.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from f64 saturates")]
    pub(crate) fn count(self, name: &str) -> Option<usize> {
        self.number(name).map(|number| (number as usize).max(1))
    }

    pub(crate) fn is_true(self, name: &str) -> bool {
        self.0.get(name).and_then(boolean).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests;

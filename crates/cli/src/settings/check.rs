//! Whether a settings file is what the schema says, with the line of everything that is not.
//!
//! text -> document with places -> **findings**
//!
//! Knows as much of JSON Schema as our own schema uses. Never touches files.

use serde_json::Value as Json;
use session_tree::json::{Doc, Kind, Value};

/// Something in a settings file that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// The line, from one.
    pub(super) line: usize,
    /// The setting, with dots between its parts.
    pub(super) key: String,
    /// What is odd about it.
    pub(super) oddity: Oddity,
}

/// What is odd about a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Oddity {
    /// No setting has this name.
    Unknown,
    /// It does not count in the settings of a project.
    OnlyOwn,
    /// It is not what is expected there.
    Wrong {
        /// What is expected.
        expected: String,
        /// What stands there.
        found: String,
    },
}

/// Checks a document.
pub(super) fn check(doc: &Doc, schema: &Json) -> Vec<Finding> {
    let mut checker = Checker { doc, schema, found: Vec::new() };
    checker.walk(doc.root(), schema, "");
    checker.found
}

/// Returns the line of a place in a text, from one.
pub(super) fn line_of(text: &[u8], at: usize) -> usize {
    1 + text[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// Finds what a schema refers to.
pub(super) fn resolved<'s>(root: &'s Json, schema: &'s Json) -> &'s Json {
    let target = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    target.and_then(|path| root.pointer(path)).unwrap_or(schema)
}

struct Checker<'d> {
    doc: &'d Doc,
    schema: &'d Json,
    found: Vec<Finding>,
}

impl<'d> Checker<'d> {
    fn walk(&mut self, value: Value<'d>, schema: &'d Json, key: &str) {
        let schema = resolved(self.schema, schema);
        if let Some(choices) = choices(schema) {
            return self.walk_choices(value, choices, key);
        }
        if !fits(value, schema) {
            return self.wrong(value, &expected(schema), key);
        }
        for item in value.items() {
            self.walk(item, &schema["items"], key);
        }
        for (name, member) in value.members() {
            let name = name.as_str().unwrap_or_default();
            let below = if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
            match schema["properties"].get(&*name).or_else(|| others(schema)) {
                Some(schema) => self.walk(member, schema, &below),
                None => self.push(member, &below, Oddity::Unknown),
            }
        }
    }

    /// A value fits if it fits one choice; what is odd deeper inside is told of that one.
    fn walk_choices(&mut self, value: Value<'d>, choices: &'d [Json], key: &str) {
        match choices.iter().find(|choice| self.accepts(value, choice)) {
            Some(choice) => self.walk(value, choice, key),
            None => self.wrong(value, &self.expected_of(choices), key),
        }
    }

    fn accepts(&self, value: Value<'d>, schema: &'d Json) -> bool {
        let schema = resolved(self.schema, schema);
        match choices(schema) {
            Some(choices) => choices.iter().any(|choice| self.accepts(value, choice)),
            None => fits(value, schema),
        }
    }

    /// Says what one of several schemas wants.
    fn expected_of(&self, choices: &[Json]) -> String {
        let each = choices.iter().map(|choice| {
            let choice = resolved(self.schema, choice);
            self::choices(choice).map_or_else(|| expected(choice), |inner| self.expected_of(inner))
        });
        let each: Vec<String> = each.filter(|words| !words.is_empty()).collect();
        match each.iter().all(|words| words.starts_with('`')) {
            true => format!("one of {}", each.join(", ")),
            false => each.join(" or "),
        }
    }

    fn wrong(&mut self, value: Value<'d>, expected: &str, key: &str) {
        let found = match value.as_str() {
            // Somebody who mistook a name wants to see it; any other text may be a key in the wrong place.
            Some(name) if expected.starts_with("one of") => format!("`{}`", shortened(&name)),
            _ => shown(value),
        };
        self.push(value, key, Oddity::Wrong { expected: expected.to_owned(), found });
    }

    fn push(&mut self, value: Value<'d>, key: &str, oddity: Oddity) {
        let line = line_of(self.doc.text(), value.range().start);
        self.found.push(Finding { line, key: key.to_owned(), oddity });
    }
}

fn choices(schema: &Json) -> Option<&[Json]> {
    schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()).map(Vec::as_slice)
}

/// What members must be that are not named, if there may be such.
fn others(schema: &Json) -> Option<&Json> {
    schema.get("additionalProperties").filter(|schema| schema.is_object())
}

/// Tells whether a value is of the right kind, whatever is inside.
fn fits(value: Value<'_>, schema: &Json) -> bool {
    let names = |name: &str| value.is_str(name);
    if let Some(name) = schema["const"].as_str() {
        return names(name);
    }
    if let Some(allowed) = schema["enum"].as_array() {
        return allowed.iter().any(|one| match one {
            Json::Null => value.is_null(),
            one => one.as_str().is_some_and(names),
        });
    }
    types(schema).iter().all(Option::is_none)
        || types(schema).into_iter().flatten().any(|kind| is(value, kind))
}

/// The types of a schema; one that is not there stands for any.
fn types(schema: &Json) -> Vec<Option<&str>> {
    match &schema["type"] {
        Json::Array(types) => types.iter().map(Json::as_str).collect(),
        one => vec![one.as_str()],
    }
}

fn is(value: Value<'_>, kind: &str) -> bool {
    match value.kind() {
        Kind::Null => kind == "null",
        Kind::Bool => kind == "boolean",
        Kind::String => kind == "string",
        Kind::Array => kind == "array",
        Kind::Object => kind == "object",
        Kind::Number if kind == "integer" => value.raw().iter().all(u8::is_ascii_digit),
        Kind::Number => kind == "number",
    }
}

/// Says what a schema without choices wants; nothing of a value that may also be left out.
fn expected(schema: &Json) -> String {
    if let Some(name) = schema["const"].as_str() {
        return format!("`{name}`");
    }
    if let Some(allowed) = schema["enum"].as_array() {
        let names: Vec<String> =
            allowed.iter().filter_map(Json::as_str).map(|name| format!("`{name}`")).collect();
        return names.join(", ");
    }
    let words = types(schema).into_iter().flatten().filter_map(|kind| match kind {
        "boolean" => Some("true or false"),
        "string" => Some("a text"),
        "integer" => Some("a whole number that is not negative"),
        "number" => Some("a number"),
        "array" => Some("a list"),
        "object" => Some("an object"),
        _ => None,
    });
    words.collect::<Vec<_>>().join(" or ")
}

/// Shows a value in an error.
fn shown(value: Value<'_>) -> String {
    match value.kind() {
        Kind::String => "a text".to_owned(),
        Kind::Array => "a list".to_owned(),
        Kind::Object => "an object".to_owned(),
        Kind::Null | Kind::Bool | Kind::Number => format!("`{}`", shortened(&value.js_string())),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(24).collect()
}

#[cfg(test)]
mod tests;

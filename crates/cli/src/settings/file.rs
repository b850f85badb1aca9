//! A settings file: parsed and checked against the table; errors name the line.
//!
//! text -> **layer** -> settings

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use offshoot_extensions::package::ResourceKind;
use offshoot_providers::ProviderSettings;
use serde_json::Value as Json;
use session_tree::json::{Doc, Kind as JsonKind, ValueRef};

use super::table::{self, Kind, SETTINGS};
use crate::error::{CommandError, Failure};
use crate::project_file::read_if_present;

/// The owner of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOwner {
    User,
    /// Such settings may be stricter than the user's own, never more permissive.
    Project,
}

/// The settings of one file.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub(super) path: PathBuf,
    owner: FileOwner,
    /// The valid settings, as written in the file.
    pub(super) values: Json,
    /// Warnings about ignored settings.
    pub(super) warnings: Vec<String>,
}

const HINT: &str = "`offshoot settings schema` prints all settings with their types and defaults";

impl Layer {
    /// Reads a file; `None` if it does not exist.
    pub(super) fn read(path: PathBuf, owner: FileOwner) -> Result<Option<Self>, CommandError> {
        read_if_present(&path)?.map(|text| Self::parse(path, &text, owner)).transpose()
    }

    /// Parses the text of a file.
    pub(super) fn parse(path: PathBuf, text: &str, owner: FileOwner) -> Result<Self, CommandError> {
        let failure = |line: usize, reason: &str| {
            Failure::new(format!("{}:{line}: {reason}", path.display())).hint(HINT)
        };
        let doc = Doc::parse(text.as_bytes().to_vec())
            .map_err(|error| failure(line_of(text.as_bytes(), error.at), error.reason))?;
        let mut values: Json =
            serde_json::from_str(text).map_err(|error| failure(error.line(), &error.to_string()))?;
        let mut check = Check { doc: &doc, path: &path, owner, errors: Vec::new(), warnings: Vec::new() };
        check.object(doc.root(), "");
        let Check { errors, warnings, .. } = check;
        if let Some((first, others)) = errors.split_first() {
            let failure = others.iter().take(5).fold(Failure::new(first), Failure::hint);
            return Err(failure.hint(HINT).into());
        }
        for setting in SETTINGS.iter().filter(|setting| setting.only_own && owner == FileOwner::Project) {
            if let Some(value) = values.pointer_mut(&pointer(setting.key)) {
                *value = Json::Null;
            }
        }
        Ok(Layer { path, values, warnings, owner })
    }

    /// Returns true for the settings of a project.
    pub(super) fn is_of_project(&self) -> bool {
        self.owner == FileOwner::Project
    }

    /// Returns the value of a setting, if the file contains it.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.values.pointer(&pointer(key)).filter(|value| !value.is_null())
    }
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('.', "/"))
}

struct Check<'d> {
    doc: &'d Doc,
    path: &'d Path,
    owner: FileOwner,
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl<'d> Check<'d> {
    /// Checks the settings below a prefix.
    fn object(&mut self, value: ValueRef<'d>, prefix: &str) {
        if value.kind() != JsonKind::Object {
            return self.wrong(value, prefix.trim_end_matches('.'), "an object");
        }
        for (name, member) in value.members() {
            let key = format!("{prefix}{}", name.as_str().unwrap_or_default());
            let below = format!("{key}.");
            match table::find(&key) {
                _ if key == "$schema" => {}
                Some(setting) if setting.only_own && self.owner == FileOwner::Project => {
                    let place = self.place(member);
                    self.warnings.push(format!(
                        "{place}: `{key}` of a project does not count, only that of your own settings"
                    ));
                }
                Some(setting) => self.value(member, &key, setting.kind),
                None if SETTINGS.iter().any(|setting| setting.key.starts_with(&below)) => {
                    self.object(member, &below);
                }
                None => self.unknown(member, &key),
            }
        }
    }

    fn value(&mut self, value: ValueRef<'d>, key: &str, kind: Kind) {
        let is = |wanted: JsonKind| value.kind() == wanted;
        match kind {
            _ if value.is_null() => {}
            Kind::Text if !is(JsonKind::String) => self.wrong(value, key, "a text"),
            Kind::Flag if !is(JsonKind::Bool) => self.wrong(value, key, "true or false"),
            Kind::Number if !(is(JsonKind::Number) && value.raw().iter().all(u8::is_ascii_digit)) => {
                self.wrong(value, key, "a whole number that is not negative");
            }
            Kind::Word(words) if !words.iter().any(|word| value.is_str(word)) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                self.wrong(value, key, &format!("one of {}", words.join(", ")));
            }
            Kind::Texts | Kind::Packages if !is(JsonKind::Array) => self.wrong(value, key, "a list"),
            Kind::Texts => value.items().for_each(|item| self.value(item, key, Kind::Text)),
            Kind::Packages => value.items().for_each(|item| self.package(item, key)),
            Kind::Providers if !is(JsonKind::Object) => self.wrong(value, key, "an object"),
            Kind::Providers => self.providers(value),
            Kind::Text | Kind::Flag | Kind::Number | Kind::Word(_) => {}
        }
    }

    fn package(&mut self, value: ValueRef<'d>, key: &str) {
        if value.kind() != JsonKind::Object {
            return self.value(value, key, Kind::Text);
        }
        if value.get("source").is_none() {
            self.wrong(value, key, "a source, or an object with `source`");
        }
        for (name, member) in value.members() {
            let name = name.as_str().unwrap_or_default();
            let below = format!("{key}.{name}");
            match &*name {
                "source" => self.value(member, &below, Kind::Text),
                name if ResourceKind::ALL.iter().any(|kind| kind.key() == name) => {
                    self.value(member, &below, Kind::Texts);
                }
                _ => self.unknown(member, &below),
            }
        }
    }

    fn providers(&mut self, value: ValueRef<'d>) {
        let schema = table::providers_schema();
        self.known_names(value, &schema["properties"]["providers"], &schema, "providers");
        for (name, provider) in value.members() {
            let parsed = provider.to_serde().map(serde_json::from_value::<ProviderSettings>);
            if let Some(Err(error)) = parsed {
                let (place, name) = (self.place(provider), name.as_str().unwrap_or_default());
                self.errors.push(format!("{place}: `providers.{name}`: {error}"));
            }
        }
    }

    /// Warns about members that a schema does not name.
    fn known_names(&mut self, value: ValueRef<'d>, schema: &Json, root: &Json, key: &str) {
        let choices = schema["anyOf"].as_array().into_iter().flatten().chain([schema]);
        let mut targets = choices.filter_map(|choice| choice["$ref"].as_str()?.strip_prefix('#'));
        let schema = targets.find_map(|target| root.pointer(target)).unwrap_or(schema);
        for item in value.items() {
            self.known_names(item, &schema["items"], root, key);
        }
        for (name, member) in value.members() {
            let name = name.as_str().unwrap_or_default();
            let below = format!("{key}.{name}");
            let others = schema.get("additionalProperties").filter(|others| others.is_object());
            match schema["properties"].get(&*name).or(others) {
                Some(schema) => self.known_names(member, schema, root, &below),
                None => self.unknown(member, &below),
            }
        }
    }

    fn unknown(&mut self, value: ValueRef<'d>, key: &str) {
        let place = self.place(value);
        self.warnings.push(format!("{place}: there is no setting `{key}`"));
    }

    fn wrong(&mut self, value: ValueRef<'d>, key: &str, expected: &str) {
        let found = match value.kind() {
            // A misspelled word is shown; any other text may be a key in the wrong place.
            JsonKind::String if !expected.starts_with("one of") => "a text".to_owned(),
            JsonKind::Array => "a list".to_owned(),
            JsonKind::Object => "an object".to_owned(),
            _ => {
                let text = value.as_str().map_or_else(|| value.js_string(), Cow::into_owned);
                format!("`{}`", text.chars().take(24).collect::<String>())
            }
        };
        let what = if key.is_empty() { "settings".to_owned() } else { format!("`{key}`") };
        let place = self.place(value);
        self.errors.push(format!("{place}: {what} must be {expected}, not {found}"));
    }

    fn place(&self, value: ValueRef<'d>) -> String {
        format!("{}:{}", self.path.display(), line_of(self.doc.text(), value.range().start))
    }
}

/// Returns the line of a position in a text, from one.
fn line_of(text: &[u8], at: usize) -> usize {
    1 + text[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests;

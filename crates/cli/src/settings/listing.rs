//! The settings that count as a list: each with its value, and the file that says so.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::check::resolved;
use super::{Settings, schema};

/// One setting: its name, what counts, and who says so.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    /// Its name, with dots between its parts.
    pub(crate) key: String,
    /// What counts; null if nothing is said and nothing is usual.
    pub(crate) value: Json,
    /// The files that say so, weakest first; none if it is as usual.
    pub(crate) files: Vec<String>,
}

impl Settings {
    /// Lists every setting of the schema, and every service of the person's own without its headers.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let schema = schema();
        let mut listed: Vec<Listed> =
            keys(&schema).into_iter().map(|(key, usual)| self.listed(key, usual)).collect();
        for layer in &self.layers {
            let providers = layer.values.providers.iter();
            listed.extend(providers.map(|(name, provider)| Listed {
                key: format!("providers.{name}"),
                value: json!(provider.base_url.as_deref().unwrap_or_default()),
                files: vec![shown(&layer.path)],
            }));
        }
        listed
    }

    fn listed(&self, key: String, usual: Json) -> Listed {
        let pointer = format!("/{}", key.replace('.', "/"));
        let said: Vec<(&Json, String)> = self
            .layers
            .iter()
            .filter_map(|layer| {
                let value = layer.said.pointer(&pointer).filter(|value| !value.is_null())?;
                Some((value, shown(&layer.path)))
            })
            .collect();
        // Lists are joined, everything else is replaced.
        let is_list = said.iter().any(|(value, _)| value.is_array());
        match said.as_slice() {
            [] => Listed { key, value: usual, files: Vec::new() },
            all if is_list => {
                let items = all.iter().filter_map(|(value, _)| value.as_array()).flatten().cloned();
                Listed {
                    key,
                    value: items.collect(),
                    files: all.iter().map(|(_, path)| path.clone()).collect(),
                }
            }
            [.., (value, path)] => Listed { key, value: (*value).clone(), files: vec![path.clone()] },
        }
    }
}

/// The settings of the schema that are no objects, with what is usual.
pub(super) fn keys(schema: &Json) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    collect(schema, schema, "", &mut found);
    found
}

fn collect(root: &Json, schema: &Json, above: &str, found: &mut Vec<(String, Json)>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let properties = properties.iter().filter(|(name, _)| !name.starts_with('$') && *name != "providers");
    for (name, property) in properties {
        let key = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        let below = resolved(root, property);
        match below["properties"].is_object() {
            true => collect(root, below, &key, found),
            false => found.push((key, property["default"].clone())),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

//! Providers and models as settings describe them; the built-in ones are described the same way.

use std::collections::BTreeMap;

use offshoot_agent::model::{ModelSpec, Price, ThinkingLevel};
use serde::Deserialize;

use super::dialect::Dialect;
use crate::secret::Secret;

/// Providers by name.
///
/// ```
/// let settings: offshoot_providers::Settings = serde_json::from_str(r#"{
///     "providers": {
///         "lab": {
///             "baseUrl": "http://10.0.0.7:8000/v1",
///             "api": "openai-completions",
///             "models": [{ "id": "qwen3-coder", "contextWindow": 262144 }]
///         }
///     }
/// }"#)?;
/// assert_eq!(settings.providers["lab"].models[0].id, "qwen3-coder");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The providers.
    pub providers: BTreeMap<String, ProviderSettings>,
}

/// A provider: where it is, how it is spoken to, what it hosts.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSettings {
    /// The address of the service.
    pub base_url: Option<String>,
    /// The wire format: `anthropic-messages`, `openai-completions`, `openai-responses` or `google-generative-ai`.
    pub api: Option<String>,
    /// Headers to send besides those of the wire format.
    pub headers: BTreeMap<String, Secret>,
    /// Environment variables that may hold the key, the first that is set counts; empty if the service wants no key.
    pub key_variables: Vec<String>,
    /// Whether any id behind the name of the provider is a model.
    pub any_model: bool,
    /// The peculiarities of the service.
    pub dialect: Option<Dialect>,
    /// The models it hosts.
    pub models: Vec<ModelSettings>,
}

/// A model: all but its id may be left out.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelSettings {
    /// Its name at the service.
    pub id: String,
    /// Its name for people; the id if not given.
    #[serde(default)]
    pub name: Option<String>,
    /// The wire format, if it is not the one of the provider.
    #[serde(default)]
    pub api: Option<String>,
    /// How many tokens a request and its answer may have together; 128,000 if not given.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// How many tokens an answer may have; 16,384 if not given.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// The thinking levels it knows; empty if it does not think.
    #[serde(default)]
    pub thinking_levels: Vec<ThinkingLevel>,
    /// Whether it reads images.
    #[serde(default)]
    pub reads_images: bool,
    /// Its price, in dollars per million tokens.
    #[serde(default)]
    pub price: Price,
    /// Its peculiarities, in place of those of the service.
    #[serde(default)]
    pub dialect: Option<Dialect>,
}

const USUAL_WINDOW: u64 = 128_000;
const USUAL_OUTPUT: u64 = 16_384;

impl ProviderSettings {
    /// Puts the settings of the user over the built-in ones.
    pub(super) fn merge(&mut self, user: ProviderSettings) {
        self.base_url = user.base_url.or(self.base_url.take());
        self.api = user.api.or(self.api.take());
        self.headers.extend(user.headers);
        self.dialect = user.dialect.or(self.dialect.take());
        self.any_model |= user.any_model;
        if !user.key_variables.is_empty() {
            self.key_variables = user.key_variables;
        }
        for model in user.models {
            match self.models.iter_mut().find(|known| known.id == model.id) {
                Some(known) => *known = model,
                None => self.models.push(model),
            }
        }
    }
}

impl ModelSettings {
    /// Describes a model of which only the id is known.
    pub fn new(id: &str) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    pub(super) fn spec(&self, provider: &str, api: &str) -> ModelSpec {
        ModelSpec {
            provider: provider.into(),
            id: self.id.clone(),
            name: self.name.clone().unwrap_or_else(|| self.id.clone()),
            api: api.into(),
            context_window: self.context_window.unwrap_or(USUAL_WINDOW),
            max_output: self.max_output.unwrap_or(USUAL_OUTPUT),
            thinking_levels: self.thinking_levels.clone(),
            reads_images: self.reads_images,
            price: self.price,
        }
    }
}

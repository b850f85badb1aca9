//! The peculiarities of a service or a model within its wire format.

use std::collections::BTreeMap;

use offshoot_agent::model::ThinkingLevel;
use serde::{Deserialize, Serialize};

/// The peculiarities of a service or a model within its wire format.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Dialect {
    /// How the thinking level is sent.
    pub thinking: ThinkingStyle,
    /// The service's own words for thinking levels, where they differ from ours.
    pub level_names: BTreeMap<ThinkingLevel, String>,
    /// Whether the limit of an answer is called `max_tokens` in chat completions, as it was called first.
    pub old_max_tokens: bool,
    /// Whether the service takes a key for its cache (`prompt_cache_key`).
    pub cache_key: bool,
    /// Whether the service takes marks for its cache in chat completions, in the way of Anthropic.
    pub cache_marks: bool,
    /// How many letters and digits the id of a tool call must have, if the service is that strict.
    pub tool_id_length: Option<usize>,
    /// Whether the results of tools may contain images, where not all models of a service can read them there.
    pub images_in_results: bool,
    /// How many images a request may have, if the service takes fewer than others that speak like it. The oldest ones
    /// are left out of the request.
    pub most_images: Option<usize>,
}

/// How the thinking level is sent to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThinkingStyle {
    /// As the wire format has done it first: a number of tokens (Anthropic, Gemini), a word for the effort (OpenAI).
    #[default]
    Usual,
    /// By a word, where the wire format has first done it by a number of tokens.
    Word,
    /// By a word inside an object (`reasoning`), as OpenRouter does it in chat completions.
    Nested,
    /// Not at all.
    Untold,
}

//! The description of a model: names, limits, price.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::event::Usage;

/// The description of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelSpec {
    /// The service that hosts the model, such as `anthropic`.
    pub provider: String,
    /// The name in the service, such as `claude-sonnet-4-5`.
    pub id: String,
    /// The display name.
    pub name: String,
    /// The wire format, such as `anthropic-messages`; stored with every answer.
    pub api: String,
    /// The maximum number of tokens of a request and its answer together.
    pub context_window: u64,
    /// The maximum number of tokens of an answer.
    pub max_output: u64,
    /// The supported thinking levels, lowest first; empty if the model does not think.
    #[serde(default)]
    pub thinking_levels: Vec<ThinkingLevel>,
    /// True if the model accepts images.
    #[serde(default)]
    pub reads_images: bool,
    /// The price.
    #[serde(default)]
    pub price: Price,
}

/// The price of a model, in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Tokens of the request.
    pub input: f64,
    /// Tokens of the answer.
    pub output: f64,
    /// Tokens read from a cache.
    pub cache_read: f64,
    /// Tokens written to a cache.
    pub cache_write: f64,
}

/// How much a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// Not at all.
    #[default]
    Off,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// Hard.
    High,
    /// Very hard.
    Xhigh,
    /// As hard as it can.
    Max,
}

impl ThinkingLevel {
    /// All levels, lowest first.
    pub const ALL: [ThinkingLevel; 7] = [
        ThinkingLevel::Off,
        ThinkingLevel::Minimal,
        ThinkingLevel::Low,
        ThinkingLevel::Medium,
        ThinkingLevel::High,
        ThinkingLevel::Xhigh,
        ThinkingLevel::Max,
    ];

    /// Returns the name that files use.
    pub fn name(self) -> &'static str {
        match self {
            ThinkingLevel::Off => "off",
            ThinkingLevel::Minimal => "minimal",
            ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::High => "high",
            ThinkingLevel::Xhigh => "xhigh",
            ThinkingLevel::Max => "max",
        }
    }

    /// Finds a level by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl ModelSpec {
    /// Returns `provider/id`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// Returns the model as extensions see it.
    pub fn to_json(&self) -> Json {
        json!({
            "provider": self.provider, "id": self.id, "name": self.name, "api": self.api,
            "contextWindow": self.context_window, "maxTokens": self.max_output, "reasoning": self.thinks(),
            "thinkingLevels": self.thinking_levels.iter().map(|level| level.name()).collect::<Vec<_>>(),
            "input": if self.reads_images { json!(["text", "image"]) } else { json!(["text"]) },
            "cost": {
                "input": self.price.input, "output": self.price.output,
                "cacheRead": self.price.cache_read, "cacheWrite": self.price.cache_write,
            },
        })
    }

    /// Returns true if the model supports thinking.
    pub fn thinks(&self) -> bool {
        self.thinking_levels.iter().any(|level| *level != ThinkingLevel::Off)
    }

    /// Returns the level closest to a wanted one: itself, else the next lower one, else the lowest.
    pub fn clamp(&self, wanted: ThinkingLevel) -> ThinkingLevel {
        if wanted == ThinkingLevel::Off || !self.thinks() {
            return ThinkingLevel::Off;
        }
        let known = || self.thinking_levels.iter().copied().filter(|level| *level != ThinkingLevel::Off);
        known().filter(|level| *level <= wanted).max().or_else(|| known().min()).unwrap_or_default()
    }

    /// Returns the cost of an answer in dollars: input, output, cache read, cache write.
    pub fn cost(&self, usage: &Usage) -> [f64; 4] {
        #[expect(clippy::cast_precision_loss, reason = "no answer has 2^53 tokens")]
        let cost = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        [
            cost(usage.input, self.price.input),
            cost(usage.output, self.price.output),
            cost(usage.cache_read, self.price.cache_read),
            cost(usage.cache_write, self.price.cache_write),
        ]
    }
}

#[cfg(test)]
mod tests;

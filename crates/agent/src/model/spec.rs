//! What is known about a model: its names, its limits, its price.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::event::Usage;

/// What is known about a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelSpec {
    /// The service that hosts it, such as `anthropic`.
    pub provider: String,
    /// Its name at the service, such as `claude-sonnet-4-5`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The wire format, such as `anthropic-messages`; stored with every answer.
    pub api: String,
    /// How many tokens a request and its answer may have together.
    pub context_window: u64,
    /// How many tokens an answer may have.
    pub max_output: u64,
    /// The thinking levels it knows, weakest first; empty if it does not think.
    #[serde(default)]
    pub thinking_levels: Vec<ThinkingLevel>,
    /// Whether it reads images.
    #[serde(default)]
    pub reads_images: bool,
    /// What it costs.
    #[serde(default)]
    pub price: Price,
}

/// What a model costs, in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Tokens of the request.
    pub input: f64,
    /// Tokens of the answer.
    pub output: f64,
    /// Tokens that were found in a cache.
    pub cache_read: f64,
    /// Tokens that were put into a cache.
    pub cache_write: f64,
}

/// How hard a model thinks before it answers.
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
    /// All levels, weakest first.
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

    /// Tells whether the model can think.
    pub fn thinks(&self) -> bool {
        self.thinking_levels.iter().any(|level| *level != ThinkingLevel::Off)
    }

    /// Returns the level that comes closest to a wanted one: itself, else the next weaker one, else the weakest.
    pub fn clamp(&self, wanted: ThinkingLevel) -> ThinkingLevel {
        if wanted == ThinkingLevel::Off || !self.thinks() {
            return ThinkingLevel::Off;
        }
        let known = || self.thinking_levels.iter().copied().filter(|level| *level != ThinkingLevel::Off);
        known().filter(|level| *level <= wanted).max().or_else(|| known().min()).unwrap_or_default()
    }

    /// Returns what the tokens of an answer cost, in dollars: input, output, cache read, cache write.
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

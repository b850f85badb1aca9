//! Tokens and cost, as files report them.

use std::ops::AddAssign;

use crate::json::ValueRef;

/// The largest number that JavaScript counts exactly. A report beyond it is damage or a joke, and one such report must
/// not hide all others in a total.
const LIMIT: f64 = 9_007_199_254_740_991.0;

/// Tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens sent that no cache held.
    pub input: u64,
    /// Tokens received, with those of thinking.
    pub output: u64,
    /// Tokens sent that a cache held.
    pub cache_read: u64,
    /// Tokens sent and put into a cache.
    pub cache_write: u64,
    /// All tokens: the totals that were reported, or else the sums of the parts.
    #[cfg_attr(feature = "serde", serde(rename = "totalTokens"))]
    pub total: u64,
    /// The cost in dollars; 0 if none is reported.
    pub cost: f64,
}

impl Usage {
    /// Reads a `usage` object. What is missing, negative, too large to be true or no number counts as 0.
    ///
    /// ```
    /// use session_tree::{Usage, json::Doc};
    ///
    /// let text = r#"{"input":9,"output":1,"cacheRead":null,"totalTokens":1e400,"cost":{"total":0.25}}"#;
    /// let usage = Usage::of(Doc::parse(text.as_bytes())?.root());
    /// assert_eq!((usage.total, usage.cost), (10, 0.25));
    /// # Ok::<(), session_tree::json::SyntaxError>(())
    /// ```
    pub fn of(usage: ValueRef<'_>) -> Self {
        let [input, output, cache_read, cache_write, total, spent] =
            usage.get_each(["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"]);
        let tokens = |value| number(value) as u64;
        let parts = [input, output, cache_read, cache_write].map(tokens);
        let [input, output, cache_read, cache_write] = parts;
        let total = match tokens(total) {
            0 => parts.iter().sum(),
            total => total,
        };
        Self { input, output, cache_read, cache_write, total, cost: spent.map_or(0.0, cost) }
    }

    /// Returns true if nothing was spent.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the tokens that were sent, from a cache or not.
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
        self.total = self.total.saturating_add(more.total);
        self.cost += more.cost;
    }
}

/// The total of a `cost` object, or else the sum of its parts.
fn cost(cost: ValueRef<'_>) -> f64 {
    let dollars = |key: &str| number(cost.get(key));
    let total = dollars("total");
    if total > 0.0 { total } else { ["input", "output", "cacheRead", "cacheWrite"].map(dollars).iter().sum() }
}

fn number(value: Option<ValueRef<'_>>) -> f64 {
    value.and_then(ValueRef::as_f64).filter(|number| (0.0..=LIMIT).contains(number)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests;

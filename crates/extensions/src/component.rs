//! Components: parts of the screen that an extension draws. Script draws lines, the front end places them.

use serde_json::{Value as Json, json};

use crate::extension::Extension;
use crate::handle::Kind;

/// A part of the screen that an extension draws.
///
/// Lines may have escape codes for colours and are never wider than what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The number that [`Notice::Redraw`](crate::host::Notice::Redraw) names.
    pub id: u64,
    /// The extension that draws it.
    pub extension: Extension,
}

impl Component {
    /// Draws the component.
    ///
    /// # Errors
    ///
    /// The error; the component should not be drawn again.
    pub async fn render(&self, width: u16) -> Result<Vec<String>, String> {
        let answer = self.ask("component.render", json!({"id": self.id, "width": width})).await?;
        Ok(lines(&answer, width))
    }

    /// Sends a key, as a terminal spells it. Returns true if the component has ended itself.
    pub async fn input(&self, data: &str) -> Result<bool, String> {
        let answer = self.ask("component.input", json!({"id": self.id, "data": data})).await?;
        Ok(answer["done"].as_bool().unwrap_or(false))
    }

    /// Closes a component that waits for an answer, as if it had answered nothing.
    pub async fn close(&self) -> Result<(), String> {
        self.ask("component.close", json!({"id": self.id})).await.map(drop)
    }

    async fn ask(&self, doing: &str, payload: Json) -> Result<Json, String> {
        self.extension.call(Kind::Screen, doing, &payload, None).await
    }
}

/// Reads the lines of an answer; lines that are too wide are cut.
pub(crate) fn lines(answer: &Json, width: u16) -> Vec<String> {
    let list = answer["lines"].as_array().into_iter().flatten().filter_map(Json::as_str);
    list.map(|line| crate::width::truncate(line, usize::from(width), "")).collect()
}

/// Returns the value of a key, or nothing if it is missing or null.
pub(crate) fn given<'a>(values: &'a Json, key: &str) -> Option<&'a Json> {
    values.get(key).filter(|value| !value.is_null())
}

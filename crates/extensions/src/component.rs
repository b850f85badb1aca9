//! Components: parts of the screen that an extension draws. Script draws lines, whoever shows them decides where.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::handle::{Handle, Kind};

/// A part of the screen that an extension draws.
///
/// Lines may have escape codes for colours and are never wider than what was asked for.
#[derive(Clone)]
pub struct Component {
    id: u64,
    handle: Arc<Handle>,
}

impl Component {
    pub(crate) fn new(id: u64, handle: Arc<Handle>) -> Self {
        Component { id, handle }
    }

    /// Returns the number under which [`Notice::Redraw`](crate::host::Notice::Redraw) speaks of it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the name of the extension.
    pub fn extension(&self) -> &str {
        self.handle.name()
    }

    /// Draws the component.
    ///
    /// # Errors
    ///
    /// What went wrong; the component should not be asked again.
    pub async fn render(&self, width: u16) -> Result<Vec<String>, String> {
        let answer = self.ask("component.render", json!({"id": self.id, "width": width})).await?;
        Ok(lines(&answer, width))
    }

    /// Hands over what was typed, as a terminal sends it. Tells whether the component has ended itself.
    pub async fn input(&self, data: &str) -> Result<bool, String> {
        let answer = self.ask("component.input", json!({"id": self.id, "data": data})).await?;
        Ok(answer["done"].as_bool().unwrap_or(false))
    }

    /// Closes a component that waits for an answer, as if it had answered nothing.
    pub async fn close(&self) -> Result<(), String> {
        self.ask("component.close", json!({"id": self.id})).await.map(drop)
    }

    async fn ask(&self, doing: &str, payload: Json) -> Result<Json, String> {
        self.handle.call(Kind::Screen, doing, payload.to_string(), None).await
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("id", &self.id).field("extension", &self.extension()).finish()
    }
}

/// Takes lines out of an answer; what is too wide is cut.
pub(crate) fn lines(answer: &Json, width: u16) -> Vec<String> {
    let list = answer["lines"].as_array().into_iter().flatten().filter_map(Json::as_str);
    list.map(|line| crate::width::truncate(line, usize::from(width), "")).collect()
}

/// Returns the value of a key, or nothing if it is missing or null.
pub(crate) fn given<'a>(values: &'a Json, key: &str) -> Option<&'a Json> {
    values.get(key).filter(|value| !value.is_null())
}

//! One extension: a handler of hooks, with registrations, and components that it draws.

use std::fmt;
use std::sync::Arc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::{Handler, HookFuture};
use offshoot_agent::tool::Tool;
use serde_json::{Value as Json, json};

use crate::handle::{Handle, Kind};
use crate::registry::{ExtensionTool, Registry};

/// An extension that is loaded. Clones are the same extension; when the last one is dropped, its thread ends.
#[derive(Clone)]
pub struct Extension {
    pub(crate) handle: Arc<Handle>,
}

/// Something of the conversation that an extension draws.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// A custom message, as sessions store it.
    Message(Json),
    /// A custom entry, as sessions store it.
    Entry(Json),
    /// A call of one of its tools: the name, the arguments and the result.
    Tool(String, Json, Json),
}

impl Extension {
    /// Returns its name: that of its file or directory.
    pub fn name(&self) -> &str {
        &self.handle.name
    }

    /// Returns the name that rules for tool calls use.
    pub(crate) fn rule_name(&self) -> &str {
        &self.handle.rule_name
    }

    /// Returns what it has registered so far.
    pub fn registry(&self) -> Registry {
        self.handle.registry()
    }

    /// Returns why it is disabled.
    pub fn disabled(&self) -> Option<&str> {
        self.handle.disabled()
    }

    /// Runs a command. It may return a prompt to send.
    ///
    /// # Errors
    ///
    /// The error, with places in the source.
    pub async fn run_command(
        &self,
        name: &str,
        arguments: &str,
        cancel: &Cancel,
    ) -> Result<Option<String>, String> {
        let payload = json!({"name": name, "args": arguments});
        let answer = self.call(Kind::Command, &format!("command /{name}"), &payload, Some(cancel)).await?;
        Ok(answer["prompt"].as_str().map(str::to_owned))
    }

    /// Runs the shortcut of a key.
    pub async fn press(&self, key: &str, cancel: &Cancel) -> Result<(), String> {
        self.call(Kind::Command, "shortcut", &json!({"key": key}), Some(cancel)).await.map(drop)
    }

    /// Sends a key, as a terminal spells it, to the listeners of the extension. Returns the rest of it: nothing if a
    /// listener consumed it.
    pub async fn terminal_input(&self, data: &str) -> Result<Option<String>, String> {
        let answer = self.call(Kind::Screen, "terminal.input", &json!({"data": data}), None).await?;
        Ok(answer["data"].as_str().map(str::to_owned))
    }

    /// Returns the component with this number.
    pub fn component(&self, id: u64) -> Component {
        Component { id, extension: self.clone() }
    }

    /// Draws something of the extension. Returns `None` if the extension has no renderer for it.
    pub async fn draw(
        &self,
        what: &Drawing,
        is_expanded: bool,
        width: u16,
    ) -> Result<Option<Vec<String>>, String> {
        let (doing, mut payload) = match what {
            Drawing::Message(message) => ("draw.message", json!({ "message": message })),
            Drawing::Entry(entry) => ("draw.entry", json!({ "entry": entry })),
            Drawing::Tool(name, arguments, result) => {
                ("draw.tool", json!({"name": name, "args": arguments, "result": result}))
            }
        };
        payload["expanded"] = is_expanded.into();
        payload["width"] = width.into();
        let answer = self.call(Kind::Screen, doing, &payload, None).await?;
        Ok(answer["lines"].is_array().then(|| lines(&answer, width)))
    }

    /// Returns its tools, ready to be put into a tool box.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.registry().tools.into_iter();
        let made =
            tools.map(|tool| ExtensionTool { extension: self.clone(), key: tool.spec.name.clone(), tool });
        made.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
    }

    /// Calls some listeners of an event. Returns the answer of the last one that has any.
    async fn call_listeners(
        &self,
        event: &str,
        listeners: Vec<u64>,
        payload: &Json,
        cancel: &Cancel,
    ) -> Result<Json, String> {
        // Payloads may be large: they are serialised once and not copied.
        let name = Json::from(event);
        let payload = format!(r#"{{"event":{name},"listeners":{listeners:?},"payload":{payload}}}"#);
        let doing = format!("event {event}");
        checked(self.handle.call(Kind::Event, &doing, payload, Some(cancel)).await?)
    }

    pub(crate) async fn call(
        &self,
        kind: Kind,
        doing: &str,
        payload: &Json,
        cancel: Option<&Cancel>,
    ) -> Result<Json, String> {
        self.handle.call(kind, doing, payload.to_string(), cancel).await
    }
}

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The longest summary that is taken.
const LONGEST_SUMMARY: usize = 1 << 20;

/// Refuses an answer that would do harm in the session.
fn checked(answer: Json) -> Result<Json, String> {
    for field in ["summary", "compaction"] {
        let length = answer[field]["summary"].as_str().map_or(0, str::len);
        if length > LONGEST_SUMMARY {
            return Err(format!("its summary is longer than {LONGEST_SUMMARY} bytes"));
        }
    }
    Ok(answer)
}

impl Handler for Extension {
    fn name(&self) -> &str {
        &self.handle.name
    }

    fn wants(&self, event: &str) -> bool {
        self.handle.listens(event)
    }

    fn assembles_answers(&self) -> bool {
        true
    }

    fn listeners(&self, event: &str) -> Vec<u64> {
        self.handle.listeners(event)
    }

    fn call<'a>(&'a self, event: &'a str, payload: &'a Json, cancel: &'a Cancel) -> HookFuture<'a> {
        Box::pin(self.call_listeners(event, self.handle.listeners(event), payload, cancel))
    }

    fn call_listener<'a>(
        &'a self,
        event: &'a str,
        listener: u64,
        payload: &'a Json,
        cancel: &'a Cancel,
    ) -> HookFuture<'a> {
        Box::pin(self.call_listeners(event, vec![listener], payload, cancel))
    }
}

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

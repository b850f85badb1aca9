//! Messages, entries and tool results that extensions draw.

use std::time::Duration;

use crate::chat::item::{Item, item_of, items_at};
use crate::chat::transcript::ItemId;
use offshoot_agent::event::AgentEvent;
use offshoot_agent::tool::{ToolCall, ToolOutput};
use offshoot_extensions::{Drawing, Extension, Extensions, RegisteredTool};
use serde_json::{Value as Json, json};
use session_tree::{Kind, Message, Node, Role, Session};

use super::super::App;
use super::ExtensionUi;

/// The time after which an item keeps its default look.
const PATIENCE: Duration = Duration::from_secs(10);

/// An item that an extension draws, and its default look.
pub(in super::super) struct ExtensionItem {
    extension: Extension,
    drawing: Drawing,
    default: Item,
}

impl ExtensionUi {
    /// Returns the items of the entry at a place of a path; an error is an item that an extension draws.
    pub(in super::super) fn items_at(
        &self,
        session: &Session,
        path: &[Node],
        at: usize,
    ) -> Vec<Result<Item, ExtensionItem>> {
        let items = items_at(session, path, at);
        if let Some(item) = path.get(at).and_then(|node| self.tool_item(session, *node, &items)) {
            return vec![Err(item)];
        }
        let item = path.get(at).and_then(|node| self.entry_item(session, *node, items.first()));
        match item {
            Some(item) => vec![Err(item)],
            None => items.into_iter().map(Ok).collect(),
        }
    }

    /// Returns the item of a tool result, if an extension draws it.
    fn tool_item(&self, session: &Session, node: Node, items: &[Item]) -> Option<ExtensionItem> {
        let [default @ Item::Tool(tool)] = items else { return None };
        let extension = renderer_of(&self.loaded()?, &tool.name)?;
        let message = session.entry_at(node).ok()?.to_message()?;
        let result = message.value().to_serde().filter(|_| message.role() == Role::ToolResult)?;
        let drawing = Drawing::Tool(tool.name.clone(), tool.arguments.clone(), result);
        Some(ExtensionItem { extension, drawing, default: default.clone() })
    }

    /// Returns the item of a custom entry or message, if an extension draws it.
    fn entry_item(&self, session: &Session, node: Node, usual: Option<&Item>) -> Option<ExtensionItem> {
        let kind = session.tree().kind(node);
        if !matches!(kind, Kind::Custom | Kind::CustomMessage) {
            return None;
        }
        let value = session.entry_at(node).ok()?.value()?.to_serde()?;
        if kind == Kind::CustomMessage {
            return self.message_item(value, usual?.clone());
        }
        let custom_type = value["customType"].as_str()?;
        let extension = self.loaded()?.entry_renderer(custom_type)?.clone();
        let default = Item::Setting(format!("[{custom_type}]"));
        Some(ExtensionItem { extension, drawing: Drawing::Entry(value), default })
    }

    /// Returns the item of a custom message, if an extension draws it.
    fn message_item(&self, value: Json, default: Item) -> Option<ExtensionItem> {
        let loaded = self.loaded()?;
        let extension = loaded.message_renderer(value["customType"].as_str()?)?.clone();
        (value["display"] != false).then(|| ExtensionItem {
            extension,
            drawing: Drawing::Message(value),
            default,
        })
    }
}

impl App<'_> {
    /// Shows a message or a tool call that an extension draws. Returns false for any other event.
    pub(in super::super) fn show_extension_item(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::Message { message, .. } if message.role() == Role::Custom => {
                self.show_message(message)
            }
            AgentEvent::ToolEnd { call, output } => self.show_call(call, output),
            _ => false,
        }
    }

    fn show_message(&mut self, message: &Message) -> bool {
        let drawn = message.value().to_serde().zip(item_of(message));
        let item = drawn.and_then(|(value, default)| self.extensions.message_item(value, default));
        let is_drawn = item.is_some();
        item.into_iter().for_each(|item| self.push_extension_item(item));
        is_drawn
    }

    fn show_call(&mut self, call: &ToolCall, output: &ToolOutput) -> bool {
        let owner = self.extensions.loaded().and_then(|loaded| renderer_of(&loaded, &call.name));
        let Some(extension) = owner else { return false };
        let Some(item) = self.live.call_ended(call, output, &mut self.chat.transcript) else {
            return true;
        };
        let result =
            json!({"content": output.content, "details": output.details, "isError": output.is_error});
        self.draw_item(item, extension, Drawing::Tool(call.name.clone(), call.arguments.clone(), result));
        true
    }

    /// Shows an item that an extension draws: its default look first.
    pub(in super::super) fn push_extension_item(&mut self, item: ExtensionItem) {
        let ExtensionItem { extension, drawing, default } = item;
        let item = self.chat.transcript.begin(default);
        self.draw_item(item, extension, drawing);
    }

    fn draw_item(&mut self, item: ItemId, extension: Extension, drawing: Drawing) {
        let width = self.screen.columns();
        // The turn may end before the drawing is there.
        self.chat.transcript.hold(item);
        self.extensions.spawn(async move {
            let drawn = tokio::time::timeout(PATIENCE, extension.draw(&drawing, false, width)).await;
            let failed = |error: String| format!("extension `{}`: {error}", extension.name());
            let drawn = drawn.unwrap_or(Ok(None)).map_err(failed);
            move |app: &mut App<'_>| app.item_drawn(item, drawn)
        });
    }

    fn item_drawn(&mut self, item: ItemId, drawn: Result<Option<Vec<String>>, String>) {
        match drawn {
            Ok(Some(drawn)) => {
                let lines = super::lines(&drawn, self.extensions.surface.is_plain);
                self.chat.transcript.change(item, |item| *item = Item::Drawn(lines));
            }
            Ok(None) => {}
            Err(error) => self.fail(&error),
        }
        self.chat.transcript.finish(item);
    }

    /// Shows entries that extensions appended since the last time and draw themselves.
    pub(super) fn show_new_entries(&mut self) {
        let Some(loaded) = self.extensions.loaded() else { return };
        let draws = loaded.iter().any(|one| !one.registry().entry_renderers.is_empty());
        let extensions = &self.extensions;
        let (count, new) = self.agent.read(|session| {
            let count = session.tree().len();
            let nodes = session.tree().nodes().skip(extensions.seen).filter(|_| draws);
            let entries = nodes.filter(|node| session.tree().kind(*node) == Kind::Custom);
            let new: Vec<ExtensionItem> =
                entries.filter_map(|node| extensions.entry_item(session, node, None)).collect();
            (count, new)
        });
        self.extensions.seen = count;
        new.into_iter().for_each(|item| self.push_extension_item(item));
    }
}

/// Returns the extension of a tool, if it draws the results.
fn renderer_of(loaded: &Extensions, tool: &str) -> Option<Extension> {
    let owner = loaded.owner_of_tool(tool)?;
    let draws = |one: &RegisteredTool| one.spec.name == tool && one.renders_result;
    owner.registry().tools.iter().any(draws).then(|| owner.clone())
}

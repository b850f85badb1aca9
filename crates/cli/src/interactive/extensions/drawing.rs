//! Messages and entries that extensions draw themselves.

use std::time::Duration;

use offshoot_agent::event::AgentEvent;
use offshoot_agent::tool::{ToolCall, ToolOutput};
use offshoot_extensions::{Drawing, Extension, Extensions, RegisteredTool};
use offshoot_tui::chat::item::{Item, item_of, items_at};
use offshoot_tui::chat::transcript::ItemId;
use serde_json::{Value as Json, json};
use session_tree::{Kind, Message, Node, Role, Session};

use super::super::front::Front;
use super::Guests;

/// How long a drawing is waited for before the usual one, which shows until then, is kept.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something that an extension draws, and what shows if it does not.
pub(in super::super) struct Foreign {
    extension: Extension,
    what: Drawing,
    instead: Item,
}

impl Guests {
    /// Returns what the entry at a place of a path looks like, and who draws it instead.
    pub(in super::super) fn items_at(
        &self,
        session: &Session,
        path: &[Node],
        at: usize,
    ) -> Vec<Result<Item, Foreign>> {
        let items = items_at(session, path, at);
        if let Some(foreign) = path.get(at).and_then(|node| self.foreign_call(session, *node, &items)) {
            return vec![Err(foreign)];
        }
        let foreign = path.get(at).and_then(|node| self.foreign(session, *node, items.first()));
        match foreign {
            Some(foreign) => vec![Err(foreign)],
            None => items.into_iter().map(Ok).collect(),
        }
    }

    /// Returns who draws the result of a tool that a path shows.
    fn foreign_call(&self, session: &Session, node: Node, items: &[Item]) -> Option<Foreign> {
        let [instead @ Item::Tool(tool)] = items else { return None };
        let extension = drawer(&self.extended.as_ref()?.loaded(), &tool.name)?;
        let message = session.entry_at(node).ok()?.to_message()?;
        let result = message.value().to_serde().filter(|_| message.role() == Role::ToolResult)?;
        let what = Drawing::Tool(tool.name.clone(), tool.arguments.clone(), result);
        Some(Foreign { extension, what, instead: instead.clone() })
    }

    /// Returns the extension that draws a custom entry or message of a path.
    fn foreign(&self, session: &Session, node: Node, usual: Option<&Item>) -> Option<Foreign> {
        let kind = session.tree().kind(node);
        if !matches!(kind, Kind::Custom | Kind::CustomMessage) {
            return None;
        }
        let value = session.entry_at(node).ok()?.value()?.to_serde()?;
        if kind == Kind::CustomMessage {
            return self.foreign_message(value, usual?.clone());
        }
        let custom_type = value["customType"].as_str()?;
        let extension = self.extended.as_ref()?.loaded().entry_renderer(custom_type)?.clone();
        let instead = Item::Setting(format!("[{custom_type}]"));
        Some(Foreign { extension, what: Drawing::Entry(value), instead })
    }

    /// Returns the extension that draws a custom message.
    fn foreign_message(&self, value: Json, instead: Item) -> Option<Foreign> {
        let loaded = self.extended.as_ref()?.loaded();
        let extension = loaded.message_renderer(value["customType"].as_str()?)?.clone();
        (value["display"] != false).then(|| Foreign { extension, what: Drawing::Message(value), instead })
    }
}

impl Front<'_> {
    /// Shows a message or a tool call that an extension draws; tells whether it is one.
    pub(in super::super) fn show_foreign(&mut self, event: &AgentEvent) -> bool {
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
        let foreign = drawn.and_then(|(value, instead)| self.guests.foreign_message(value, instead));
        let is_foreign = foreign.is_some();
        foreign.into_iter().for_each(|foreign| self.push_foreign(foreign));
        is_foreign
    }

    fn show_call(&mut self, call: &ToolCall, output: &ToolOutput) -> bool {
        let owner = self.guests.extended.as_ref().and_then(|extended| drawer(&extended.loaded(), &call.name));
        let Some(extension) = owner else { return false };
        let Some(item) = self.listener.call_ended(call, output, &mut self.chat.transcript) else {
            return true;
        };
        let result =
            json!({"content": output.content, "details": output.details, "isError": output.is_error});
        self.draw_item(item, extension, Drawing::Tool(call.name.clone(), call.arguments.clone(), result));
        true
    }

    /// Shows something that an extension draws, as soon as it has.
    pub(in super::super) fn push_foreign(&mut self, foreign: Foreign) {
        let Foreign { extension, what, instead } = foreign;
        let item = self.chat.transcript.begin(instead);
        self.draw_item(item, extension, what);
    }

    fn draw_item(&mut self, item: ItemId, extension: Extension, what: Drawing) {
        let width = self.columns;
        // The turn may end before the drawing is there.
        self.chat.transcript.hold(item);
        self.guests.spawn(async move {
            let drawn = tokio::time::timeout(PATIENCE, extension.draw(&what, false, width)).await;
            let failed = |error: String| format!("extension `{}`: {error}", extension.name());
            let drawn = drawn.unwrap_or(Ok(None)).map_err(failed);
            move |front: &mut Front<'_>| front.item_drawn(item, drawn)
        });
    }

    pub(super) fn item_drawn(&mut self, item: ItemId, drawn: Result<Option<Vec<String>>, String>) {
        match drawn {
            Ok(Some(drawn)) => {
                let lines = super::lines(&drawn, self.guests.surface.is_plain);
                self.chat.transcript.change(item, |item| *item = Item::Drawn(lines));
            }
            Ok(None) => {}
            Err(error) => self.fail(&error),
        }
        self.chat.transcript.finish(item);
    }

    /// Shows entries that extensions appended since the last time and draw themselves.
    pub(super) fn show_new_entries(&mut self) {
        let Some(extended) = &self.guests.extended else { return };
        let draws = extended.loaded().iter().any(|one| !one.registry().entry_renderers.is_empty());
        let guests = &self.guests;
        let (count, new) = self.agent.read(|session| {
            let count = session.tree().len();
            let nodes = session.tree().nodes().skip(guests.seen).filter(|_| draws);
            let entries = nodes.filter(|node| session.tree().kind(*node) == Kind::Custom);
            let new: Vec<Foreign> = entries.filter_map(|node| guests.foreign(session, node, None)).collect();
            (count, new)
        });
        self.guests.seen = count;
        new.into_iter().for_each(|foreign| self.push_foreign(foreign));
    }
}

/// Returns whose tool it is, if it draws its results.
fn drawer(loaded: &Extensions, tool: &str) -> Option<Extension> {
    let owner = loaded.owner_of_tool(tool)?;
    let draws = |one: &RegisteredTool| one.spec.name == tool && one.renders_result;
    owner.registry().tools.iter().any(draws).then(|| owner.clone())
}

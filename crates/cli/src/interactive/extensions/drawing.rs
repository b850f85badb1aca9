//! Messages and entries that extensions draw themselves.

use std::time::Duration;

use offshoot_agent::event::AgentEvent;
use offshoot_extensions::{Drawing, Extension};
use offshoot_tui::chat::item::{Item, items_at};
use offshoot_tui::chat::transcript::ItemId;
use serde_json::Value as Json;
use session_tree::{Kind, Node, Role, Session};

use super::super::front::Front;
use super::{Guests, News};

/// How long a drawing is waited for before the usual one shows.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something that an extension draws, and what shows if it does not.
pub(in super::super) struct Foreign {
    extension: Extension,
    what: What,
    instead: Item,
}

enum What {
    Message(Json),
    Entry(Json),
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
        let foreign = path.get(at).and_then(|node| self.foreign(session, *node, items.first()));
        match foreign {
            Some(foreign) => vec![Err(foreign)],
            None => items.into_iter().map(Ok).collect(),
        }
    }

    fn foreign(&self, session: &Session, node: Node, usual: Option<&Item>) -> Option<Foreign> {
        let loaded = self.extended.as_ref()?.loaded();
        let kind = session.tree().kind(node);
        if !matches!(kind, Kind::Custom | Kind::CustomMessage) {
            return None;
        }
        let value = session.entry_at(node).ok()?.value()?.to_serde()?;
        let custom_type = value["customType"].as_str()?.to_owned();
        match kind {
            Kind::CustomMessage if value["display"] != false => {
                let extension = loaded.message_renderer(&custom_type)?.clone();
                Some(Foreign { extension, what: What::Message(value), instead: usual?.clone() })
            }
            Kind::Custom => {
                let extension = loaded.entry_renderer(&custom_type)?.clone();
                let instead = Item::Setting(format!("[{custom_type}]"));
                Some(Foreign { extension, what: What::Entry(value), instead })
            }
            _ => None,
        }
    }
}

impl Front<'_> {
    /// Shows a message that an extension draws; tells whether it is one.
    pub(in super::super) fn show_foreign(&mut self, event: &AgentEvent) -> bool {
        let AgentEvent::Message { message, .. } = event else { return false };
        let Some(extended) = &self.guests.extended else { return false };
        if message.role() != Role::Custom {
            return false;
        }
        let (Some(value), Some(instead)) = (message.value().to_serde(), Item::of_custom(message)) else {
            return false;
        };
        let loaded = extended.loaded();
        let custom_type = value["customType"].as_str().unwrap_or_default();
        let Some(extension) = loaded.message_renderer(custom_type).cloned() else { return false };
        self.push_foreign(Foreign { extension, what: What::Message(value), instead });
        true
    }

    /// Shows something that an extension draws, as soon as it has.
    pub(in super::super) fn push_foreign(&mut self, foreign: Foreign) {
        let Foreign { extension, what, instead } = foreign;
        let item = self.chat.transcript.begin(instead);
        let width = self.columns;
        self.guests.spawn(async move {
            let drawing = match &what {
                What::Message(message) => Drawing::Message(message),
                What::Entry(entry) => Drawing::Entry(entry),
            };
            let drawn = tokio::time::timeout(PATIENCE, extension.draw(drawing, false, width)).await;
            let failed = |error: String| format!("extension `{}`: {error}", extension.name());
            News::Item { item, drawn: drawn.unwrap_or(Ok(None)).map_err(failed) }
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
        let (count, new) = self.desk.read(|session| {
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

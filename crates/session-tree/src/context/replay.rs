//! System messages applied one after the other: the prompt and the tools that result.

use std::borrow::Cow;

use crate::entry::Message;
use crate::json::{Kind as JsonKind, ObjectWriter, ValueRef, array};
use crate::kind::Role;

/// Returns one system message with the combined effect of all system messages among these.
///
/// Texts are joined with a blank line. A section counts with its last text, and not at all after it was set to
/// null. A tool counts as it was last added, unless it was removed later. The time is that of the first message that
/// has one. None if there is no system message.
pub fn replay_system<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Option<Message> {
    let mut state = SystemState::default();
    for message in messages.into_iter().filter(|message| message.role() == Role::System) {
        state.apply(message);
    }
    state.into_message()
}

#[derive(Default)]
struct SystemState<'m> {
    texts: Vec<Cow<'m, str>>,
    /// By name, in the order in which they were set.
    sections: Vec<(Cow<'m, str>, &'m [u8])>,
    tools: Vec<(Cow<'m, str>, &'m [u8])>,
    timestamp: Option<&'m [u8]>,
    /// True if some message was applied.
    is_set: bool,
}

impl<'m> SystemState<'m> {
    fn apply(&mut self, message: &'m Message) {
        self.is_set = true;
        let value = message.value();
        let timestamp = value.get("timestamp").filter(|time| !time.is_null());
        self.timestamp = self.timestamp.or(timestamp.map(ValueRef::raw));
        self.texts.push(text(value.get("content")));
        for (name, section) in value.get("sections").into_iter().flat_map(ValueRef::members) {
            let name = name.as_str().unwrap_or_default();
            set(&mut self.sections, name, (!section.is_null()).then(|| section.raw()));
        }
        for tool in value.get("toolsRemoved").into_iter().flat_map(ValueRef::items) {
            set(&mut self.tools, name_of(tool), None);
        }
        for tool in value.get("toolsAdded").into_iter().flat_map(ValueRef::items) {
            set(&mut self.tools, name_of(tool), Some(tool.raw()));
        }
    }

    fn into_message(mut self) -> Option<Message> {
        if !self.is_set {
            return None;
        }
        self.texts.retain(|text| !text.is_empty());
        let mut message =
            ObjectWriter::new().string("role", "system").string("content", &self.texts.join("\n\n"));
        if !self.sections.is_empty() {
            let sections = self.sections.iter();
            let sections = sections.fold(ObjectWriter::new(), |all, (name, text)| all.raw(name, text));
            message = message.raw("sections", sections.finish());
        }
        if !self.tools.is_empty() {
            message = message.raw("toolsAdded", array(self.tools.iter().map(|(_, tool)| tool)));
        }
        Some(message.raw("timestamp", self.timestamp.unwrap_or(b"0")).message())
    }
}

/// Sets the value of a name, in place or at the end; no value removes the name.
fn set<'m>(all: &mut Vec<(Cow<'m, str>, &'m [u8])>, name: Cow<'m, str>, value: Option<&'m [u8]>) {
    let place = all.iter().position(|(known, _)| *known == name);
    match (place, value) {
        (Some(place), Some(value)) => all[place].1 = value,
        (None, Some(value)) => all.push((name, value)),
        (Some(place), None) => drop(all.remove(place)),
        (None, None) => {}
    }
}

fn name_of(tool: ValueRef<'_>) -> Cow<'_, str> {
    tool.get("name").and_then(ValueRef::as_str).unwrap_or_default()
}

/// Returns the text of a system message: its text blocks, separated by line feeds.
fn text(content: Option<ValueRef<'_>>) -> Cow<'_, str> {
    let Some(content) = content else { return Cow::Borrowed("") };
    if content.kind() == JsonKind::String {
        return content.as_str().unwrap_or_default();
    }
    let is_text = |block: &ValueRef<'_>| block.get("type").is_some_and(|kind| kind.is_str("text"));
    let texts = content.items().filter(is_text).map(|block| {
        let text = block.get("text").and_then(ValueRef::as_str);
        text.unwrap_or_default()
    });
    Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
}

//! The statuses, widgets and footer that extensions show, as they were drawn last.

use std::collections::BTreeMap;

use crate::chat::extras::Extras;
use offshoot_extensions::Component;
use offshoot_extensions::host::Notice;
use ratatui::text::{Line, Span};

/// The statuses, widgets and footer of extensions.
#[derive(Debug, Default)]
pub(super) struct ExtensionRows {
    statuses: BTreeMap<String, String>,
    parts: Vec<Part>,
    /// True without colours.
    pub(super) is_plain: bool,
}

/// Rows around the editor.
#[derive(Debug)]
struct Part {
    name: Name,
    is_below: bool,
    drawn: Vec<Line<'static>>,
    /// The component that draws the rows.
    component: Option<Component>,
    /// True while the component is being drawn.
    is_drawing: bool,
    /// True if the component has to be drawn again.
    is_stale: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Name {
    Widget(String),
    Footer,
    Header,
}

impl ExtensionRows {
    /// Makes an empty surface.
    pub(super) fn new(is_plain: bool) -> Self {
        ExtensionRows { is_plain, ..ExtensionRows::default() }
    }

    /// Removes everything: its extensions are gone.
    pub(super) fn clear(&mut self) {
        *self = ExtensionRows::new(self.is_plain);
    }

    /// Takes what an extension shows.
    pub(super) fn take(&mut self, notice: Notice, component: impl Fn(u64) -> Component) {
        let component = |id: Option<u64>| id.map(&component);
        match notice {
            Notice::Status { key, text: Some(text) } => drop(self.statuses.insert(key, text)),
            Notice::Status { key, text: None } => drop(self.statuses.remove(&key)),
            Notice::Widget { key, lines, component: id, below } => {
                self.put(Name::Widget(key), below, lines, component(id));
            }
            Notice::Footer { component: id } => self.put(Name::Footer, false, None, component(id)),
            Notice::Header { component: id } => self.put(Name::Header, false, None, component(id)),
            // The others are shown elsewhere.
            _ => {}
        }
    }

    /// Replaces a part; without lines and component it is removed.
    fn put(&mut self, name: Name, is_below: bool, lines: Option<Vec<String>>, component: Option<Component>) {
        self.parts.retain(|part| part.name != name);
        if lines.is_some() || component.is_some() {
            let drawn = super::lines(&lines.unwrap_or_default(), self.is_plain);
            let is_stale = component.is_some();
            self.parts.push(Part { name, is_below, drawn, component, is_drawing: false, is_stale });
        }
    }

    /// Marks a component as stale; all of them, if none is named.
    pub(super) fn outdate(&mut self, named: Option<&Component>) {
        for part in &mut self.parts {
            part.is_stale |=
                part.component.is_some() && (named.is_none() || part.component.as_ref() == named);
        }
    }

    /// Takes the components that are to be drawn now.
    pub(super) fn take_outdated(&mut self) -> Vec<Component> {
        let mut wanted = Vec::new();
        for part in self.parts.iter_mut().filter(|part| part.is_stale && !part.is_drawing) {
            (part.is_stale, part.is_drawing) = (false, true);
            wanted.extend(part.component.clone());
        }
        wanted
    }

    /// Takes the lines of a component; returns them if they are to be printed once. Without lines it is removed.
    pub(super) fn drawn(
        &mut self,
        component: &Component,
        lines: Option<Vec<Line<'static>>>,
    ) -> Option<Vec<Line<'static>>> {
        let at = self.parts.iter().position(|part| part.component.as_ref() == Some(component))?;
        let part = &mut self.parts[at];
        match lines {
            Some(lines) if part.name != Name::Header => {
                (part.drawn, part.is_drawing) = (lines, false);
                None
            }
            lines => {
                self.parts.remove(at);
                lines
            }
        }
    }

    /// Returns the rows around the editor.
    pub(super) fn extras(&self) -> Extras {
        let rows = |is_meant: &dyn Fn(&Part) -> bool| -> Vec<Line<'static>> {
            self.parts.iter().filter(|part| is_meant(part)).flat_map(|part| part.drawn.clone()).collect()
        };
        let is_widget = |part: &Part| matches!(part.name, Name::Widget(_));
        let has_footer = self.parts.iter().any(|part| part.name == Name::Footer);
        Extras {
            above: rows(&|part| is_widget(part) && !part.is_below),
            below: rows(&|part| is_widget(part) && part.is_below),
            footer: has_footer.then(|| rows(&|part| part.name == Name::Footer)),
            status: self.status(),
        }
    }

    /// One line of all statuses, in the order of their keys.
    fn status(&self) -> Option<Line<'static>> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for text in self.statuses.values() {
            if !spans.is_empty() {
                spans.push(Span::raw("  "));
            }
            spans.extend(super::lines(&[text.replace('\n', " ")], self.is_plain).remove(0).spans);
        }
        (!spans.is_empty()).then(|| Line::from(spans))
    }
}

#[cfg(test)]
mod tests;

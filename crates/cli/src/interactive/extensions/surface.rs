//! What extensions keep on the screen: statuses, widgets, a footer. Holds what was drawn last; who owns it draws anew.

use std::collections::BTreeMap;

use offshoot_extensions::Component;
use offshoot_extensions::host::Notice;
use offshoot_tui::chat::extras::Extras;
use offshoot_tui::ratatui::text::{Line, Span};

/// What extensions keep on the screen.
#[derive(Debug, Default)]
pub(super) struct Surface {
    statuses: BTreeMap<String, String>,
    parts: Vec<Part>,
    /// Whether no colours are wanted.
    pub(super) is_plain: bool,
}

#[derive(Debug)]
struct Part {
    place: Place,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Above(String),
    Below(String),
    Footer,
    Header,
}

#[derive(Debug)]
enum Content {
    Lines(Vec<Line<'static>>),
    Component {
        component: Component,
        drawn: Vec<Line<'static>>,
        /// Whether it is being drawn.
        is_drawing: bool,
        /// Whether it is to be drawn anew.
        is_stale: bool,
    },
}

impl Surface {
    /// Makes an empty surface.
    pub(super) fn new(is_plain: bool) -> Self {
        Surface { is_plain, ..Surface::default() }
    }

    /// Forgets everything: those who showed it are gone.
    pub(super) fn clear(&mut self) {
        *self = Surface::new(self.is_plain);
    }

    /// Takes what an extension shows.
    pub(super) fn take(&mut self, notice: Notice, component: impl Fn(u64) -> Component) {
        let component = |id: Option<u64>| id.map(|id| of(component(id)));
        match notice {
            Notice::Status { key, text: Some(text) } => drop(self.statuses.insert(key, text)),
            Notice::Status { key, text: None } => drop(self.statuses.remove(&key)),
            Notice::Widget { key, lines, component: id, below } => {
                self.remove(&Place::Above(key.clone()));
                self.remove(&Place::Below(key.clone()));
                let place = if below { Place::Below(key) } else { Place::Above(key) };
                self.put(place, lines.map(|lines| self.lines(&lines)).or_else(|| component(id)));
            }
            Notice::Footer { component: id } => {
                self.remove(&Place::Footer);
                self.put(Place::Footer, component(id));
            }
            Notice::Header { component: id } => {
                self.remove(&Place::Header);
                self.put(Place::Header, component(id));
            }
            // The others are shown elsewhere.
            _ => {}
        }
    }

    fn lines(&self, lines: &[String]) -> Content {
        Content::Lines(super::lines(lines, self.is_plain))
    }

    fn remove(&mut self, place: &Place) {
        self.parts.retain(|part| part.place != *place);
    }

    fn put(&mut self, place: Place, content: Option<Content>) {
        self.parts.extend(content.map(|content| Part { place, content }));
    }

    /// Notes that a component is to be drawn anew; all of them, if none is named.
    pub(super) fn outdate(&mut self, named: Option<&Component>) {
        for part in &mut self.parts {
            if let Content::Component { component, is_stale, .. } = &mut part.content
                && named.is_none_or(|named| named == component)
            {
                *is_stale = true;
            }
        }
    }

    /// Takes the components that are to be drawn now.
    pub(super) fn take_outdated(&mut self) -> Vec<Component> {
        let mut wanted = Vec::new();
        for part in &mut self.parts {
            if let Content::Component { component, is_drawing, is_stale, .. } = &mut part.content
                && *is_stale
                && !*is_drawing
            {
                (*is_stale, *is_drawing) = (false, true);
                wanted.push(component.clone());
            }
        }
        wanted
    }

    /// Takes the lines of a component; returns them if they are to be printed once. Without lines it is removed.
    pub(super) fn drawn(
        &mut self,
        drawn_one: &Component,
        lines: Option<Vec<Line<'static>>>,
    ) -> Option<Vec<Line<'static>>> {
        let is_meant = |part: &Part| matches!(&part.content, Content::Component { component, .. } if component == drawn_one);
        let at = self.parts.iter().position(is_meant)?;
        let part = &mut self.parts[at];
        match (lines, &mut part.content) {
            (Some(lines), Content::Component { drawn, is_drawing, .. }) if part.place != Place::Header => {
                (*drawn, *is_drawing) = (lines, false);
                None
            }
            (lines, _) => {
                self.parts.remove(at);
                lines
            }
        }
    }

    /// Returns the rows around the editor.
    pub(super) fn extras(&self) -> Extras {
        let of = |is_place: &dyn Fn(&Place) -> bool| -> Vec<Line<'static>> {
            let parts = self.parts.iter().filter(|part| is_place(&part.place));
            parts.flat_map(|part| part.content.lines().to_vec()).collect()
        };
        let has_footer = self.parts.iter().any(|part| part.place == Place::Footer);
        Extras {
            above: of(&|place| matches!(place, Place::Above(_))),
            below: of(&|place| matches!(place, Place::Below(_))),
            footer: has_footer.then(|| of(&|place| *place == Place::Footer)),
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

impl Content {
    fn lines(&self) -> &[Line<'static>] {
        match self {
            Content::Lines(lines) => lines,
            Content::Component { drawn, .. } => drawn,
        }
    }
}

fn of(component: Component) -> Content {
    Content::Component { component, drawn: Vec::new(), is_drawing: false, is_stale: true }
}

#[cfg(test)]
mod tests;

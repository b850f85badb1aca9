//! What extensions keep on the screen: statuses, widgets, a footer. Holds what was drawn last; who owns it draws anew.

use std::collections::BTreeMap;

use offshoot_extensions::Component;
use offshoot_extensions::host::{Notice, WidgetContent};
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
    extension: String,
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
    Lines(Vec<String>),
    Component {
        component: Component,
        drawn: Vec<String>,
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
    pub(super) fn take(&mut self, extension: &str, notice: Notice) {
        match notice {
            Notice::Status { key, text: Some(text) } => drop(self.statuses.insert(key, text)),
            Notice::Status { key, text: None } => drop(self.statuses.remove(&key)),
            Notice::Widget { key, content, below } => {
                self.remove(&Place::Above(key.clone()));
                self.remove(&Place::Below(key.clone()));
                let place = if below { Place::Below(key) } else { Place::Above(key) };
                match content {
                    Some(WidgetContent::Lines(lines)) => self.put(extension, place, Content::Lines(lines)),
                    Some(WidgetContent::Component(component)) => self.put(extension, place, of(component)),
                    None => {}
                }
            }
            Notice::Footer(component) => self.replace(extension, Place::Footer, component),
            Notice::Header(component) => self.replace(extension, Place::Header, component),
            // Settings of a screen that is not ours.
            _ => {}
        }
    }

    fn replace(&mut self, extension: &str, place: Place, component: Option<Component>) {
        self.remove(&place);
        if let Some(component) = component {
            self.put(extension, place, of(component));
        }
    }

    fn remove(&mut self, place: &Place) {
        self.parts.retain(|part| part.place != *place);
    }

    fn put(&mut self, extension: &str, place: Place, content: Content) {
        self.parts.push(Part { extension: extension.to_owned(), place, content });
    }

    /// Notes that a component is to be drawn anew; all of them, if none is named.
    pub(super) fn outdate(&mut self, named: Option<(&str, u64)>) {
        for part in &mut self.parts {
            if let Content::Component { component, is_stale, .. } = &mut part.content
                && named.is_none_or(|(extension, id)| part.extension == extension && component.id() == id)
            {
                *is_stale = true;
            }
        }
    }

    /// Takes the components that are to be drawn now.
    pub(super) fn take_outdated(&mut self) -> Vec<(String, Component)> {
        let mut wanted = Vec::new();
        for part in &mut self.parts {
            if let Content::Component { component, is_drawing, is_stale, .. } = &mut part.content
                && *is_stale
                && !*is_drawing
            {
                (*is_stale, *is_drawing) = (false, true);
                wanted.push((part.extension.clone(), component.clone()));
            }
        }
        wanted
    }

    /// Takes what a component drew; gives it back if it is to be printed once. What cannot be drawn is gone.
    pub(super) fn drawn(
        &mut self,
        extension: &str,
        id: u64,
        lines: Option<Vec<String>>,
    ) -> Option<Vec<String>> {
        let is_meant = |part: &Part| {
            let Content::Component { component, .. } = &part.content else { return false };
            part.extension == extension && component.id() == id
        };
        let at = self.parts.iter().position(is_meant)?;
        let is_header = self.parts[at].place == Place::Header;
        match lines {
            Some(lines) if !is_header => {
                if let Content::Component { drawn, is_drawing, .. } = &mut self.parts[at].content {
                    (*drawn, *is_drawing) = (lines, false);
                }
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
        let of = |is_place: &dyn Fn(&Place) -> bool| -> Vec<Line<'static>> {
            let parts = self.parts.iter().filter(|part| is_place(&part.place));
            parts.flat_map(|part| super::lines(part.content.lines(), self.is_plain)).collect()
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
    fn lines(&self) -> &[String] {
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
mod tests {
    use offshoot_tui::ansi;

    use super::*;

    fn status(key: &str, text: Option<&str>) -> Notice {
        Notice::Status { key: key.to_owned(), text: text.map(str::to_owned) }
    }

    fn text(line: &Line<'_>) -> String {
        line.spans.iter().map(|span| &*span.content).collect()
    }

    #[test]
    fn statuses_stand_in_one_line_in_the_order_of_their_keys() {
        let mut surface = Surface::new(false);
        surface.take("x", status("b", Some("two\nlines \x1b[31mred\x1b[2J")));
        surface.take("x", status("a", Some("first")));
        assert_eq!(surface.extras().status.map(|line| text(&line)).unwrap(), "first  two lines red");
        surface.take("x", status("a", None));
        surface.take("x", status("b", None));
        assert_eq!(surface.extras(), Extras::default());
    }

    #[test]
    fn a_widget_has_one_place() {
        let mut surface = Surface::new(true);
        let widget = |below| Notice::Widget {
            key: "k".to_owned(),
            content: Some(WidgetContent::Lines(vec!["row".to_owned()])),
            below,
        };
        surface.take("x", widget(false));
        surface.take("x", widget(true));
        let extras = surface.extras();
        assert_eq!((extras.above.len(), extras.below.len()), (0, 1));
        assert_eq!(ansi::line("row"), extras.below[0]);
    }
}

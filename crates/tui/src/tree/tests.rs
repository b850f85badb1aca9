//! The selector without a terminal: drawings in, what shows and what is wanted out.

mod following;
mod labels;
mod looks;
mod screens;
mod search;
mod seeds;
mod vectors;
mod walking;

use ratatui::layout::Rect;
use session_tree::{Session, Timestamp};
use session_view::Filter;
use testkit::drawing::session_text;

use super::{Outcome, Purpose, TreeOptions, TreeSelector};
use crate::keys::{Action, Input, Keymap};
use crate::screen;
use crate::theme::Theme;
use crate::time::Local;

/// A session and a selector on it.
pub(super) struct Bench {
    pub(super) session: Session,
    pub(super) tree: TreeSelector,
    pub(super) size: (u16, u16),
    pub(super) theme: Theme,
}

impl Bench {
    pub(super) fn new(drawing: &str) -> Self {
        Self::with(drawing, TreeOptions::default())
    }

    pub(super) fn with(drawing: &str, options: TreeOptions) -> Self {
        let session = Session::from_bytes(session_text(drawing)).unwrap();
        let tree = TreeSelector::open(&session, options).unwrap();
        let mut bench = Self { session, tree, size: (80, 24), theme: Theme::plain() };
        bench.shown();
        bench
    }

    pub(super) fn filtered(drawing: &str, filter: Filter) -> Self {
        Self::with(drawing, TreeOptions { filter, ..TreeOptions::default() })
    }

    pub(super) fn sized(mut self, width: u16, height: u16) -> Self {
        self.size = (width, height);
        self
    }

    pub(super) fn act(&mut self, action: Action) -> Option<Outcome> {
        self.tree.update(&self.session, &Input::Action(action))
    }

    /// Presses keys that only move or show.
    pub(super) fn press(&mut self, actions: &[Action]) -> &mut Self {
        for action in actions {
            assert_eq!(self.act(*action), None, "{action:?}");
        }
        self
    }

    /// Types text as a terminal would send it, letter by letter through the keymap.
    pub(super) fn type_keys(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            let key = crossterm::event::KeyEvent::from(crossterm::event::KeyCode::Char(c));
            let input = self.tree.input(&Keymap::default(), &crossterm::event::Event::Key(key)).unwrap();
            assert_eq!(self.tree.update(&self.session, &input), None, "{input:?}");
        }
        self
    }

    /// Replaces the session by a longer version of itself, as appends do, and draws.
    pub(super) fn append(&mut self, drawing: &str) -> String {
        self.session = Session::from_bytes(session_text(drawing)).unwrap();
        self.shown()
    }

    pub(super) fn selected(&self) -> String {
        self.tree.selected.map_or_else(|| "-".to_owned(), |node| self.session.tree().id(node).to_string())
    }

    pub(super) fn select(&mut self, id: &str) -> &mut Self {
        let node = self.session.tree().node(id).unwrap();
        self.tree.go(Some(node));
        self
    }

    /// The ids of all rows.
    pub(super) fn rows(&self) -> String {
        let outline = &self.tree.outline;
        let ids = (0..outline.len())
            .filter_map(|row| outline.node(row))
            .map(|node| self.session.tree().id(node).to_string());
        ids.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn buffer(&mut self) -> ratatui::buffer::Buffer {
        let (width, height) = self.size;
        // A minute after the drawing.
        let local = Local::utc(Timestamp::from_millis(1_735_689_600_000 + 40_000));
        let area = Rect::new(0, 0, width, height);
        self.tree.prepare(&self.session, self.theme, local, area);
        screen::buffer(width, height, |area, buf| self.tree.draw(self.theme, &Keymap::default(), area, buf))
    }

    pub(super) fn shown(&mut self) -> String {
        screen::lines(&self.buffer())
    }

    /// Only the rows of the list.
    pub(super) fn list(&mut self) -> String {
        self.shown()
            .lines()
            .skip(3)
            .take_while(|line| !line.is_empty())
            .map(|line| format!("{line}\n"))
            .collect()
    }
}

/// A greeter that was tried in three ways.
pub(super) const GREETER: &str = r#"
    u1 user Build a CLI that greets people
    ! {"type":"message","id":"c1","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"k1","name":"read","arguments":{"path":"src/main.rs","offset":10,"limit":40}}],"stopReason":"toolUse","usage":{"input":900,"output":50,"totalTokens":950,"cost":{"total":0.002}}}}
    ! {"type":"message","id":"r1","parentId":"c1","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"k1","toolName":"read","content":[{"type":"text","text":"fn main() {\n    println!(\"hello\");\n}"}],"isError":false}}
    a1<r1 assistant Done: the CLI greets people.
    l1<a1 label a1 baseline
    u2<a1 user Add a --verbose flag
    a2<u2 assistant Added the flag.
    u3<a1 user Actually, use Python instead
    a3<u3 assistant Here is the port.
    s1<a1 summary from=a3 Tried Python, too slow
    u4<s1 user Use Go instead
    a4<u4 assistant Creating Go CLI...
    u5<a4 user Now with goroutines
    a5<u5 assistant Finished.
    u6<a4 user No, channels
    a6<u6 assistant Channels it is.
    m1<a5 marker a5
"#;

//! The fork selector: a flat list of prompts, of the current branch or of all branches.
//!
//! Reads a session, never changes it. The answer is the id of a prompt.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use session_tree::{EntryId, Node, Position, Role, Session};

use crate::dialog::{Answer, Item, SelectList};
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::numbers::count;
use crate::theme::Theme;

const KEYS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "fork before it"),
    (Action::SelectCancel, "back"),
    (Action::ForkScope, "this branch or all"),
];

/// The fork selector.
#[derive(Debug)]
pub struct PromptList {
    /// The prompts that the list shows, in the same order.
    nodes: Vec<Node>,
    list: SelectList,
    shows_all: bool,
}

impl PromptList {
    /// Opens the list on the newest prompt of the current branch; none if the session has no prompt.
    pub fn open(session: &Session) -> Option<Self> {
        let path = prompts(session, session.branch_path(Position::Leaf).into_iter());
        let is_elsewhere = path.is_empty();
        // Before the first prompt only other branches have some.
        let nodes = if is_elsewhere { prompts(session, session.tree().nodes()) } else { path };
        let newest = *nodes.last()?;
        Some(Self::with(session, nodes, is_elsewhere, Some(newest)))
    }

    fn with(session: &Session, nodes: Vec<Node>, shows_all: bool, start: Option<Node>) -> Self {
        let branches = if shows_all { other_branches(session) } else { HashMap::new() };
        let item = |node: &Node| {
            Item::new(prompt_text(session, *node), branches.get(node).cloned().unwrap_or_default())
        };
        let title = format!("Fork before a prompt of {} branch", if shows_all { "any" } else { "this" });
        let at = nodes.iter().position(|node| Some(*node) == start);
        let mut list = SelectList::searchable(title, nodes.iter().map(item).collect());
        list.keys = KEYS;
        Self { list: list.starting_at(at.unwrap_or(nodes.len().saturating_sub(1))), nodes, shows_all }
    }

    /// Turns an event of the terminal into what the list takes.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        keymap.input(event, &Screen::Fork.actions(), Letters::Type)
    }

    /// Takes one input. `None` means: still open.
    pub fn update(&mut self, session: &Session, input: &Input) -> Option<Answer<EntryId>> {
        if *input == Input::Action(Action::ForkScope) {
            self.toggle_scope(session);
            return None;
        }
        match self.list.update(input)? {
            Answer::Cancelled => Some(Answer::Cancelled),
            Answer::Given(at) => Some(Answer::Given(session.tree().id(*self.nodes.get(at)?))),
        }
    }

    fn toggle_scope(&mut self, session: &Session) {
        let selected = self.list.selected().and_then(|at| self.nodes.get(at)).copied();
        let nodes = match self.shows_all {
            true => prompts(session, session.branch_path(Position::Leaf).into_iter()),
            false => prompts(session, session.tree().nodes()),
        };
        if !nodes.is_empty() {
            *self = Self::with(session, nodes, !self.shows_all, selected);
        }
    }

    /// Returns how many rows the list wants.
    pub fn height(&self) -> u16 {
        self.list.height()
    }

    /// Draws the list.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        self.list.draw(theme, keymap, area, buf);
    }
}

fn prompts(session: &Session, nodes: impl Iterator<Item = Node>) -> Vec<Node> {
    nodes.filter(|node| session.tree().role(*node) == Some(Role::User)).collect()
}

/// Returns the first line of a prompt, or the number of its images.
fn prompt_text(session: &Session, node: Node) -> String {
    let Some(message) = session.entry_at(node).ok().and_then(|entry| entry.to_message()) else {
        return String::new();
    };
    let text = message.text();
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => line.trim().to_owned(),
        None => format!("[{}]", count(message.content().image_count(), "image")),
    }
}

/// Returns the name of the branch of each entry that is not on the current path.
fn other_branches(session: &Session) -> HashMap<Node, String> {
    let mut names: HashMap<Node, String> = HashMap::new();
    let here: std::collections::HashSet<Node> = session.branch_path(Position::Leaf).into_iter().collect();
    for branch in session_view::branches(session).unwrap_or_default() {
        for node in session.tree().ancestors(branch.tip) {
            if here.contains(&node) || names.contains_key(&node) {
                break;
            }
            names.insert(node, format!("branch: {}", branch.name));
        }
    }
    names
}

#[cfg(test)]
mod tests;

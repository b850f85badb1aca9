//! Views: the parts of the screen that take the keyboard from the editor, one at a time.

use std::time::Duration;

use crossterm::event::{Event, KeyEventKind};
use offshoot_agent::agent::Move;
use offshoot_agent::handle::AgentHandle;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use session_tree::{EntryId, Node, Position};

use super::App;
use super::extensions::Dialog;
use super::review::Reviewing;
use crate::branches::BranchList;
use crate::chat::item::items_at;
use crate::chat::viewer::Viewer;
use crate::dialog::{Answer, AnswerDelay, Approval, Decided, Question, Review, SelectList};
use crate::help::Help;
use crate::keys::{Action, Keymap, Screen};
use crate::picker::SessionPicker;
use crate::prompts::PromptList;
use crate::summary::SummaryFlow;
use crate::theme::Theme;
use crate::time::Local;
use crate::tree::TreeSelector;

/// The bytes of a session that are searched between two events.
const SEARCH_STEP: u64 = 4 << 20;

/// The next step after an answer.
pub(super) type Chosen<T> = Box<dyn FnOnce(&mut App<'_>, T)>;

/// A part of the screen that has the keyboard.
pub(super) enum View {
    /// The tree; an entry is chosen to go there, or for another purpose.
    Tree(Box<TreeSelector>, Option<Chosen<EntryId>>),
    /// The question how to summarise the branch that a move leaves, and the move as it was planned for the question.
    Summary(Box<SummaryFlow>, Box<Move>),
    /// The themes, and the one before the list opened.
    Themes(Box<SelectList>, Theme),
    /// A list.
    List(Box<SelectList>, Chosen<usize>),
    /// A flat list of prompts.
    Prompts(Box<PromptList>, Chosen<EntryId>),
    /// A question; no answer means no.
    Question(Question, Chosen<Option<usize>>),
    /// The question whether a tool call may run.
    Approval(Box<Approval>, Chosen<Option<Decided>>),
    /// The branches.
    Branches(Box<BranchList>),
    /// A pick or a merge before it is written.
    Review(Box<Review>, Reviewing),
    /// The sessions.
    Sessions(Box<SessionPicker>),
    /// The keys.
    Keys(Help),
    /// A question of an extension.
    Extension(Box<Dialog>),
    /// The path in full, on the other screen of the terminal.
    Viewer(Box<Viewer>, Vec<Node>),
}

impl View {
    /// Returns true if the view only waits for the agent, which may itself wait for an answer of the user.
    fn only_waits(&self) -> bool {
        match self {
            View::Summary(flow, _) => flow.is_running(),
            View::Review(review, _) => review.is_waiting(),
            _ => false,
        }
    }

    /// Returns how many rows the view wants.
    pub(super) fn height(&self, columns: u16, rows: u16) -> u16 {
        // A long list takes half of the screen, and its frame.
        let half = (rows / 2 + 3).max(8);
        let wanted = match self {
            View::Tree(tree, _) => tree.height_for(rows),
            View::Summary(flow, _) => flow.height(),
            View::List(list, _) => list.height().min(half),
            View::Themes(list, _) => list.height().min(half),
            View::Prompts(list, _) => list.height().min(half),
            View::Question(question, _) => question.height(columns),
            View::Approval(approval, _) => approval.height(columns),
            View::Branches(list) => list.height(),
            View::Review(..) | View::Sessions(_) => (rows * 2 / 3).max(12),
            View::Keys(_) => 24,
            View::Extension(dialog) => dialog.height(columns),
            View::Viewer(..) => rows,
        };
        wanted.clamp(1, rows)
    }

    /// Draws the view.
    #[expect(clippy::too_many_arguments, reason = "views read these and own none of them")]
    pub(super) fn draw(
        &mut self,
        agent: &AgentHandle,
        theme: Theme,
        keymap: &Keymap,
        local: Local,
        beat: usize,
        area: Rect,
        buf: &mut Buffer,
    ) {
        match self {
            View::Tree(tree, _) => {
                agent.read(|session| tree.prepare(session, theme, local, area));
                tree.draw(theme, keymap, area, buf);
            }
            View::Summary(flow, _) => flow.draw(theme, keymap, beat, area, buf),
            View::List(list, _) => list.draw(theme, keymap, area, buf),
            View::Themes(list, _) => list.draw(theme, keymap, area, buf),
            View::Prompts(list, _) => list.draw(theme, keymap, area, buf),
            View::Question(question, _) => question.draw(theme, keymap, area, buf),
            View::Approval(approval, _) => approval.draw(theme, keymap, area, buf),
            View::Review(review, _) => review.draw(theme, keymap, beat, area, buf),
            View::Branches(list) => list.draw(theme, keymap, local, area, buf),
            View::Sessions(picker) => picker.draw(theme, keymap, local, area, buf),
            View::Keys(help) => help.draw(theme, keymap, "Keys", &Screen::Chat.groups(), area, buf),
            View::Extension(dialog) => dialog.draw(theme, keymap, area, buf),
            View::Viewer(viewer, path) => {
                viewer.draw(keymap, &|at| agent.read(|session| items_at(session, path, at)), area, buf);
            }
        }
    }
}

/// The open view and those behind it.
#[derive(Default)]
pub(super) struct Views {
    open: Option<View>,
    /// The views that get the keyboard when the open one is closed; the last one first.
    behind: Vec<View>,
    /// The pause before the open view takes answers, if it opened by itself.
    answer_delay: Option<AnswerDelay>,
    /// Keys that were typed while a move ran; the editor gets them when no view is open.
    typed_ahead: Vec<Event>,
    /// The tree as it was left.
    tree: Option<Box<TreeSelector>>,
}

impl Views {
    /// Returns true if a view has the keyboard.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the open view.
    pub(super) fn current(&mut self) -> Option<&mut View> {
        self.open.as_mut()
    }

    /// Takes the open view.
    pub(super) fn take(&mut self) -> Option<View> {
        self.open.take()
    }

    /// Puts a view in place of the open one.
    pub(super) fn put(&mut self, view: View) {
        self.open = Some(view);
    }

    /// Opens a view; behind the open one, if there is one.
    pub(super) fn open(&mut self, view: View) {
        match self.open {
            None => self.open = Some(view),
            Some(_) => self.behind.push(view),
        }
    }

    /// Closes the open view. The tree is kept as it is.
    pub(super) fn close(&mut self) {
        if let Some(View::Tree(tree, None)) = self.open.take() {
            self.tree = Some(tree);
        }
    }

    /// Opens the view behind the one that was closed.
    pub(super) fn uncover(&mut self) {
        if self.open.is_none() {
            self.open = self.behind.pop();
        }
    }

    /// Takes the view that waited for work that is done now.
    pub(super) fn take_waiting(&mut self, is_it: impl Fn(&View) -> bool) -> Option<View> {
        let is_it = |view: &View| view.only_waits() && is_it(view);
        if let Some(at) = self.behind.iter().position(is_it) {
            return Some(self.behind.remove(at));
        }
        self.open.take_if(|view| is_it(view))
    }

    /// Returns true if a question can be asked now. A view that only waits steps back for it.
    pub(super) fn has_room(&mut self) -> bool {
        if let Some(waiting) = self.open.take_if(|view| view.only_waits()) {
            self.behind.push(waiting);
        }
        self.open.is_none()
    }

    /// Notes that the open view opened by itself. It takes answers after a pause in typing.
    pub(super) fn delay_answer(&mut self, now: Duration) {
        self.answer_delay = Some(AnswerDelay::new(now));
    }

    /// Returns the pause that the open view still waits for.
    pub(super) fn early(&self, now: Duration) -> Option<AnswerDelay> {
        self.answer_delay.filter(|answer_delay| !answer_delay.is_over(now))
    }

    /// Returns true if an event comes too early for a view that opened by itself. Cancel always works.
    pub(super) fn is_too_early(&mut self, event: &Event, keymap: &Keymap, now: Duration) -> bool {
        let is_key = match event {
            Event::Key(key) => {
                let cancels = keymap.action(key, &[Action::SelectCancel]).is_some();
                key.kind != KeyEventKind::Release && !cancels
            }
            Event::Paste(_) => true,
            Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Resize(..) => false,
        };
        let is_early =
            is_key && self.answer_delay.as_mut().is_some_and(|answer_delay| !answer_delay.takes_key(now));
        if !is_early {
            self.answer_delay = None;
        }
        is_early
    }

    /// Keeps a key for the editor.
    pub(super) fn keep_typed(&mut self, event: Event) {
        self.typed_ahead.push(event);
    }

    /// Takes the keys that were kept for the editor, if it has the keyboard.
    pub(super) fn take_typed(&mut self) -> Vec<Event> {
        if self.open.is_some() { Vec::new() } else { std::mem::take(&mut self.typed_ahead) }
    }

    /// Keeps the tree as it was left.
    pub(super) fn keep_tree(&mut self, tree: Box<TreeSelector>) {
        self.tree = Some(tree);
    }

    /// Takes the tree that was kept.
    pub(super) fn take_tree(&mut self) -> Option<Box<TreeSelector>> {
        self.tree.take()
    }

    /// Continues a search in the tree. Returns true if there is something to draw.
    pub(super) fn search_step(&mut self, agent: &AgentHandle) -> bool {
        match &mut self.open {
            Some(View::Tree(tree, _)) if tree.is_searching() => {
                agent.read(|session| tree.search_step(session, SEARCH_STEP));
                true
            }
            _ => false,
        }
    }
}

impl App<'_> {
    /// Gives an event to the open view.
    pub(super) fn view_event(&mut self, event: &Event) {
        let Some(view) = self.views.take() else { return };
        let keymap = &self.settings.keymap;
        match view {
            View::Tree(tree, purpose) => self.tree_event(tree, purpose, event),
            View::Summary(flow, planned) => self.flow_event(flow, planned, event),
            View::List(mut list, chosen) => {
                match list.input(keymap, event).and_then(|input| list.update(&input)) {
                    None => self.views.put(View::List(list, chosen)),
                    Some(Answer::Cancelled) => {}
                    Some(Answer::Given(item)) => chosen(self, item),
                }
            }
            View::Themes(list, before) => self.theme_event(list, before, event),
            View::Prompts(mut list, chosen) => {
                let input = list.input(keymap, event);
                match input.and_then(|input| self.agent.read(|session| list.update(session, &input))) {
                    None => self.views.put(View::Prompts(list, chosen)),
                    Some(Answer::Cancelled) => {}
                    Some(Answer::Given(id)) => chosen(self, id),
                }
            }
            View::Question(mut question, chosen) => {
                match question.input(keymap, event).and_then(|input| question.update(&input)) {
                    None => self.views.put(View::Question(question, chosen)),
                    Some(Answer::Cancelled) => chosen(self, None),
                    Some(Answer::Given(item)) => chosen(self, Some(item)),
                }
            }
            View::Approval(mut approval, chosen) => {
                match approval.input(keymap, event).and_then(|input| approval.update(&input)) {
                    None => self.views.put(View::Approval(approval, chosen)),
                    Some(Answer::Cancelled) => chosen(self, None),
                    Some(Answer::Given(decided)) => chosen(self, Some(decided)),
                }
            }
            View::Review(review, reviewing) => self.review_event(review, reviewing, event),
            View::Keys(mut help) => {
                if !help.input(keymap, event).is_some_and(|input| help.update(&input)) {
                    self.views.put(View::Keys(help));
                }
            }
            View::Branches(list) => self.branches_event(list, event),
            View::Sessions(picker) => self.sessions_event(picker, event),
            View::Extension(dialog) => self.dialog_event(dialog, event),
            View::Viewer(mut viewer, path) => {
                let entries = |at| self.agent.read(|session| items_at(session, &path, at));
                if !viewer.input(keymap, event).is_some_and(|input| viewer.update(&input, &entries)) {
                    self.views.put(View::Viewer(viewer, path));
                }
            }
        }
        self.pass_keyboard();
    }

    /// Opens a question; the next step gets the number of the answer, or nothing.
    pub(super) fn open_question(
        &mut self,
        question: Question,
        chosen: impl FnOnce(&mut App<'_>, Option<usize>) + 'static,
    ) {
        self.views.open(View::Question(question, Box::new(chosen)));
    }

    /// Opens a list; the next step gets the number of the item.
    pub(super) fn open_list(&mut self, list: SelectList, chosen: impl FnOnce(&mut App<'_>, usize) + 'static) {
        self.views.open(View::List(Box::new(list), Box::new(chosen)));
    }

    /// Closes the open view.
    pub(super) fn close_view(&mut self) {
        self.views.close();
        self.pass_keyboard();
    }

    /// Gives the keyboard, if nothing has it, to the view behind, to the next question, or to the editor.
    pub(super) fn pass_keyboard(&mut self) {
        self.views.uncover();
        self.show_question();
        self.run_due_task();
    }

    /// Shows the path in full.
    pub(super) fn open_viewer(&mut self) {
        let path = self.agent.read(|session| session.branch_path(Position::Leaf));
        let viewer = Viewer::new(self.chat.transcript.item_style().clone(), path.len());
        self.views.open(View::Viewer(Box::new(viewer), path));
    }
}

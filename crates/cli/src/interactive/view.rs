//! Views: what has the keyboard instead of the editor, one at a time.

use offshoot_agent::agent::Move;
use offshoot_agent::approval::{ApprovalAnswer, ApprovalRequest};
use offshoot_agent::handle::AgentHandle;
use offshoot_tui::branches::BranchList;
use offshoot_tui::chat::item::items_at;
use offshoot_tui::chat::viewer::Viewer;
use offshoot_tui::crossterm::event::Event;
use offshoot_tui::dialog::{Answer, Approval, Decided, Item, Question, Review, SelectList};
use offshoot_tui::help::Help;
use offshoot_tui::keys::{Action, Input, Keymap, Screen};
use offshoot_tui::picker::SessionPicker;
use offshoot_tui::prompts::PromptList;
use offshoot_tui::ratatui::buffer::Buffer;
use offshoot_tui::ratatui::layout::Rect;
use offshoot_tui::summary::SummaryFlow;
use offshoot_tui::theme::Theme;
use offshoot_tui::time::Local;
use offshoot_tui::tree::TreeSelector;
use session_tree::{EntryId, Node, Position};

use super::extensions::Dialog;
use super::front::Front;

/// How many bytes are searched before the next key is looked at.
const SEARCHED_AT_ONCE: u64 = 4 << 20;

/// What is done with an answer.
pub(super) type Chosen<T> = Box<dyn FnOnce(&mut Front<'_>, T)>;

/// What has the keyboard instead of the editor.
pub(super) enum View {
    /// The tree; an entry is chosen to go there, or for another purpose.
    Tree(Box<TreeSelector>, Option<Chosen<EntryId>>),
    /// The question what to tell of a branch that is left.
    /// The move is applied as it was planned for the question.
    Summary(Box<SummaryFlow>, Box<Move>),
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
    Review(Box<Review>, super::review::Reviewing),
    /// The sessions.
    Picker(Box<SessionPicker>),
    /// The keys.
    Keys(Help),
    /// A question of an extension.
    Extension(Box<Dialog>),
    /// The path in full, on a screen of its own.
    Viewer(Box<Viewer>, Vec<Node>),
}

impl View {
    /// Tells whether it only waits for the agent, which may itself wait for an answer of the person.
    fn only_waits(&self) -> bool {
        match self {
            View::Summary(flow, _) => flow.is_running(),
            View::Review(review, _) => review.is_waiting(),
            _ => false,
        }
    }
}

/// Draws a view.
#[expect(clippy::too_many_arguments, reason = "all that views look at, none of it theirs")]
pub(super) fn draw(
    view: &mut View,
    agent: &AgentHandle,
    theme: Theme,
    keymap: &Keymap,
    local: Local,
    beat: usize,
    area: Rect,
    buf: &mut Buffer,
) {
    match view {
        View::Tree(tree, _) => {
            agent.read(|session| tree.prepare(session, theme, local, area));
            tree.draw(theme, keymap, area, buf);
        }
        View::Summary(flow, _) => flow.draw(theme, keymap, beat, area, buf),
        View::List(list, _) => list.draw(theme, keymap, area, buf),
        View::Prompts(list, _) => list.draw(theme, keymap, area, buf),
        View::Question(question, _) => question.draw(theme, keymap, area, buf),
        View::Approval(approval, _) => approval.draw(theme, keymap, area, buf),
        View::Review(review, _) => review.draw(theme, keymap, beat, area, buf),
        View::Branches(list) => list.draw(theme, keymap, local, area, buf),
        View::Picker(picker) => picker.draw(theme, keymap, local, area, buf),
        View::Keys(help) => help.draw(theme, keymap, "Keys", &Screen::Chat.groups(), area, buf),
        View::Extension(dialog) => dialog.draw(theme, keymap, area, buf),
        View::Viewer(..) => {}
    }
}

/// Returns the question whether a tool call may run.
fn question(request: &ApprovalRequest) -> Approval {
    let mut answers = vec![Item::new("Yes", "this time")];
    if let Some(rule) = &request.rule {
        answers.push(Item::new("Always", format!("{rule}, until you leave")));
        answers.push(Item::new("Always in this project", rule.to_string()));
    }
    answers.push(Item::new("No", ""));
    let no = Item::new("No, and", "tell the model why");
    let title = format!("May {} do this?", request.tool);
    Approval::new(title, &request.about, &request.diff, answers, no)
}

/// Returns the height of a long list: half of the screen, and its frame.
fn half_screen(rows: u16) -> u16 {
    (rows / 2 + 3).max(8)
}

impl Front<'_> {
    /// Returns how many rows a view wants.
    pub(super) fn view_height(&self, view: &View, columns: u16, rows: u16) -> u16 {
        let wanted = match view {
            View::Tree(tree, _) => tree.height_for(rows),
            View::Summary(flow, _) => flow.height(),
            View::List(list, _) => list.height().min(half_screen(rows)),
            View::Prompts(list, _) => list.height().min(half_screen(rows)),
            View::Question(question, _) => question.height(columns),
            View::Approval(approval, _) => approval.height(columns),
            View::Branches(list) => list.height(),
            View::Review(..) | View::Picker(_) => (rows * 2 / 3).max(12),
            View::Keys(_) => 24,
            View::Extension(dialog) => dialog.height(columns),
            View::Viewer(..) => rows,
        };
        wanted.clamp(1, rows)
    }

    /// Gives an event to the view.
    pub(super) fn view_event(&mut self, event: &Event) {
        let Some(view) = self.view.take() else { return };
        match view {
            View::Tree(tree, purpose) => self.tree_event(tree, purpose, event),
            View::Summary(flow, planned) => self.flow_event(flow, planned, event),
            View::List(list, chosen) => self.list_event(list, chosen, event),
            View::Prompts(list, chosen) => self.prompts_event(list, chosen, event),
            View::Question(question, chosen) => self.question_event(question, chosen, event),
            View::Approval(approval, chosen) => self.approval_event(approval, chosen, event),
            View::Review(review, reviewing) => self.review_event(review, reviewing, event),
            View::Keys(mut help) => {
                let input = help.input(&self.keymap, event);
                if !input.is_some_and(|input| help.update(&input)) {
                    self.view = Some(View::Keys(help));
                }
            }
            View::Branches(list) => self.branches_event(list, event),
            View::Picker(picker) => self.picker_event(picker, event),
            View::Extension(dialog) => self.dialog_event(dialog, event),
            View::Viewer(viewer, path) => self.viewer_event(viewer, path, event),
        }
        self.pass_keyboard();
    }

    /// Gives the keyboard to a view; if another one has it, when that is closed.
    pub(super) fn open_view(&mut self, view: View) {
        match self.view {
            None => self.view = Some(view),
            Some(_) => self.behind.push(view),
        }
    }

    /// Takes the keyboard from the view.
    pub(super) fn close_view(&mut self) {
        if let Some(View::Tree(tree, None)) = self.view.take() {
            self.tree = Some(tree);
        }
        self.pass_keyboard();
    }

    /// Gives the keyboard, if nobody has it, to who waits behind, to the next question, or to the editor.
    pub(super) fn pass_keyboard(&mut self) {
        if self.view.is_none() {
            self.view = self.behind.pop();
        }
        self.show_question();
        self.run_due_task();
    }

    /// Takes the view that waited for the work that is done now, wherever it is.
    pub(super) fn take_waiting(&mut self, is_it: impl Fn(&View) -> bool) -> Option<View> {
        let is_it = |view: &View| view.only_waits() && is_it(view);
        if let Some(at) = self.behind.iter().position(is_it) {
            return Some(self.behind.remove(at));
        }
        self.view.take_if(|view| is_it(view))
    }

    /// Tells whether something can be asked now; a view that only waits steps back for it.
    pub(super) fn has_room(&mut self) -> bool {
        if let Some(waiting) = self.view.take_if(|view| view.only_waits()) {
            self.behind.push(waiting);
        }
        self.view.is_none()
    }

    fn list_event(&mut self, mut list: Box<SelectList>, chosen: Chosen<usize>, event: &Event) {
        let answer = list.input(&self.keymap, event).and_then(|input| list.update(&input));
        match answer {
            None => self.view = Some(View::List(list, chosen)),
            Some(Answer::Cancelled) => {}
            Some(Answer::Given(item)) => chosen(self, item),
        }
    }

    fn prompts_event(&mut self, mut list: Box<PromptList>, chosen: Chosen<EntryId>, event: &Event) {
        let input = list.input(&self.keymap, event);
        let answer = input.and_then(|input| self.agent.read(|session| list.update(session, &input)));
        match answer {
            None => self.view = Some(View::Prompts(list, chosen)),
            Some(Answer::Cancelled) => {}
            Some(Answer::Given(id)) => chosen(self, id),
        }
    }

    fn question_event(&mut self, mut question: Question, chosen: Chosen<Option<usize>>, event: &Event) {
        let answer = question.input(&self.keymap, event).and_then(|input| question.update(&input));
        match answer {
            None => self.view = Some(View::Question(question, chosen)),
            Some(Answer::Cancelled) => chosen(self, None),
            Some(Answer::Given(item)) => chosen(self, Some(item)),
        }
    }

    fn approval_event(
        &mut self,
        mut approval: Box<Approval>,
        chosen: Chosen<Option<Decided>>,
        event: &Event,
    ) {
        let answer = approval.input(&self.keymap, event).and_then(|input| approval.update(&input));
        match answer {
            None => self.view = Some(View::Approval(approval, chosen)),
            Some(Answer::Cancelled) => chosen(self, None),
            Some(Answer::Given(decided)) => chosen(self, Some(decided)),
        }
    }

    fn viewer_event(&mut self, mut viewer: Box<Viewer>, path: Vec<Node>, event: &Event) {
        let input = viewer.input(&self.keymap, event);
        let entries = |at| self.agent.read(|session| items_at(session, &path, at));
        if !input.is_some_and(|input| viewer.update(&input, &entries)) {
            self.view = Some(View::Viewer(viewer, path));
        }
    }

    /// Asks the person about the next call that waits, unless something else is asked.
    pub(super) fn show_question(&mut self) {
        if self.is_being_typed() {
            return;
        }
        // Who asked may have been stopped while the question waited.
        self.asked.retain(|asked| !asked.is_over());
        if self.asked.is_empty() {
            return self.show_dialog();
        }
        if !self.has_room() {
            return;
        }
        let Some(asked) = self.asked.pop_front() else { return };
        let question = question(&asked);
        let chosen: Chosen<Option<Decided>> = Box::new(move |front, decided| {
            let answer = match (decided, &asked.rule) {
                (Some(Decided { answer: 0, .. }), _) => ApprovalAnswer::Yes,
                (Some(Decided { answer: 1, .. }), Some(_)) => ApprovalAnswer::Always,
                (Some(Decided { answer: 2, .. }), Some(rule)) => {
                    if let Err(error) = front.setup.project_rules().add(rule) {
                        front.fail_with(error);
                    }
                    ApprovalAnswer::Always
                }
                (decided, _) => ApprovalAnswer::No(decided.map(|decided| decided.reason).unwrap_or_default()),
            };
            asked.answer(answer);
        });
        self.view = Some(View::Approval(Box::new(question), chosen));
        self.opened_unasked();
    }

    /// Shows the path in full.
    pub(super) fn open_viewer(&mut self) {
        let path = self.agent.read(|session| session.branch_path(Position::Leaf));
        let viewer = Viewer::new(self.chat.transcript.look().clone(), path.len());
        self.open_view(View::Viewer(Box::new(viewer), path));
    }

    /// Goes on with a search in the tree while nothing else is to be done; tells whether there is something to draw.
    pub(super) fn search_on(&mut self) -> bool {
        match &mut self.view {
            Some(View::Tree(tree, _)) if tree.is_searching() => {
                self.agent.read(|session| tree.search_step(session, SEARCHED_AT_ONCE));
                true
            }
            _ => false,
        }
    }

    /// Gives an event to the summary flow. Keys that it has no use for while the move runs are kept for the editor.
    fn flow_event(&mut self, mut flow: Box<SummaryFlow>, planned: Box<Move>, event: &Event) {
        let input = flow.input(&self.keymap, event);
        let is_for_flow = input == Some(Input::Action(Action::SelectCancel));
        if flow.is_running() && !is_for_flow {
            self.typed_ahead.push(event.clone());
            self.view = Some(View::Summary(flow, planned));
            return;
        }
        let effect = input.and_then(|input| flow.update(&input));
        self.follow_flow(flow, planned, effect);
    }
}

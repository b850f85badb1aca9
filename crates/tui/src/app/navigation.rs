//! Navigation: choosing an entry of the tree, choosing a summary of the branch that is left, showing the new position.

use std::time::Duration;

use crate::chat::highlight::CodeCache;
use crate::chat::item::{Item, Tone, prompts, rows};
use crate::chat::working::Activity;
use crate::keys::{Action, Input};
use crate::numbers::count;
use crate::summary::{self, Choice, Effect, LeftBranch, MoveEnd, SummaryFlow};
use crate::tree::{Outcome, Purpose, TreeOptions, TreeSelector};
use crossterm::event::Event;
use offshoot_agent::agent::{Move, NavigationResult, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy};
use offshoot_agent::error::{AgentError, chain};
use offshoot_agent::handle::Reply;
use session_tree::{EntryId, Image, Node, Position, Session};

use super::App;
use super::extensions::ExtensionItem;
use super::requests::NextStep;
use super::views::{Chosen, View};
use crate::width::shortened;

/// About how many rows of a path are printed.
const ROWS_OF_PATH: usize = 60;
/// The most rows of a path that are printed; only an entry with very many parts has more.
const MAX_ROWS_OF_PATH: usize = 2_000;
/// How many prompts of the path the arrows bring back.
const PROMPTS: usize = 200;

/// The state of navigation.
#[derive(Debug, Default)]
pub(super) struct Navigation {
    /// The summary of all branches that are left from now on.
    always: Option<Choice>,
    /// Stops the move that runs.
    stop: Option<Cancel>,
    /// The time of the last move, until the position is written.
    moved_at: Option<Duration>,
}

impl Navigation {
    /// Forgets the last move: the position is written, or about to be.
    pub(super) fn forget_move(&mut self) {
        self.moved_at = None;
    }

    /// Returns true if there was no move for so long after the last one.
    pub(super) fn has_rested(&self, now: Duration, pause: Duration) -> bool {
        self.moved_at.is_some_and(|moved| now.saturating_sub(moved) >= pause)
    }
}

/// A step of the chat that concerns one entry.
type WithEntry = fn(&mut App<'_>, &EntryId);

impl App<'_> {
    /// Opens the tree, at an entry if one is named.
    pub(super) fn open_tree(&mut self, start: Option<Node>) {
        self.choose_entry(start, None, None);
    }

    /// Opens the tree to choose an entry, by default to go there. `purpose` is the title of the tree and the action of
    /// Enter.
    pub(super) fn choose_entry(
        &mut self,
        start: Option<Node>,
        purpose: Option<(&str, &str)>,
        chosen: Option<Chosen<EntryId>>,
    ) {
        let options = TreeOptions {
            filter: self.settings.tree_filter,
            home: self.environment.home.clone(),
            purpose: purpose
                .map(|(title, confirm)| Purpose { title: title.to_owned(), confirm: confirm.to_owned() }),
            start,
            ..TreeOptions::default()
        };
        // A tree with a purpose is a new one; the other is kept with its search, filter and folds.
        let kept = if purpose.is_none() { self.views.take_tree() } else { None };
        let opened = self.agent.read(|session| match kept {
            Some(mut tree) => {
                tree.reopen(session, start.or(session.leaf()));
                Some(tree)
            }
            None => TreeSelector::open(session, options).map(Box::new),
        });
        match opened {
            None => self.tell(Tone::Info, "the session is empty, so there is no tree"),
            Some(tree) => self.views.open(View::Tree(tree, chosen)),
        }
    }

    /// Gives an event to the tree.
    pub(super) fn tree_event(
        &mut self,
        mut tree: Box<TreeSelector>,
        purpose: Option<Chosen<EntryId>>,
        event: &Event,
    ) {
        let input = tree.input(&self.settings.keymap, event);
        let outcome = input.and_then(|input| self.agent.read(|session| tree.update(session, &input)));
        match (outcome, purpose) {
            (None, purpose) => self.views.put(View::Tree(tree, purpose)),
            (Some(Outcome::Select(id) | Outcome::BranchHere(id)), Some(chosen)) => chosen(self, id),
            (Some(outcome), purpose) => {
                if outcome.stays_open() {
                    self.views.put(View::Tree(tree, purpose));
                } else if purpose.is_none() {
                    self.views.keep_tree(tree);
                }
                self.tree_outcome(outcome);
            }
        }
    }

    fn tree_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Select(id) => {
                self.ask_to_go(id, |app, id| app.go_to(id), |app, id| app.reopen_tree(id));
            }
            Outcome::BranchHere(id) => {
                self.ask_to_go(id, |app, id| app.branch_here(id), |app, id| app.reopen_tree(id));
            }
            Outcome::Pick(id) => self.pick(id.as_str()),
            Outcome::Merge(id) => self.merge(id.as_str()),
            Outcome::Export(id) => self.run_words(&["export-branch", id.as_str()]),
            Outcome::Fork(id) => {
                let fork: NextStep = {
                    let id = id.clone();
                    Box::new(move |app| app.run_words(&["fork", id.as_str()]))
                };
                self.ask_to_interrupt("fork", fork, Box::new(move |app| app.reopen_tree(&id)));
            }
            Outcome::SetLabel(id, label) => self.set_label(id.as_str(), label.as_deref()),
            Outcome::CopyId(id) => self.copy_text(id.as_str(), "the id"),
            Outcome::CopyText(id) => self.copy_entry(id.as_str()),
            Outcome::Cancel => {}
        }
    }

    /// Moves to an entry with `go`; asks first if that would interrupt running work, and then `stay` may be chosen.
    pub(super) fn ask_to_go(&mut self, id: EntryId, go: WithEntry, stay: WithEntry) {
        let what = format!("go to {}", self.agent.read(|session| entry_name(session, &id)));
        let task: NextStep = {
            let id = id.clone();
            Box::new(move |app| go(app, &id))
        };
        self.ask_to_interrupt(&what, task, Box::new(move |app| stay(app, &id)));
    }

    /// Goes to an entry; asks for a summary of the branch that is left, if there is something to summarise.
    pub(super) fn go_to(&mut self, target: &EntryId) {
        let planned = match self.agent.plan_navigation(target.as_str()) {
            Ok(planned) => planned,
            Err(error) => return self.fail_with(error),
        };
        let model = self.status.model().map(|spec| spec.id.clone());
        let leaving = planned
            .covered()
            .map(|covered| self.agent.read(|session| LeftBranch::of(session, &planned.plan, covered, model)));
        let leaving = match leaving.transpose() {
            Ok(leaving) => leaving.flatten(),
            Err(error) => return self.fail_with(error),
        };
        let skips = self.settings.skips_summary_question.then_some(Choice::Skip);
        let always = self.navigation.always.clone().or(skips);
        let is_noop = planned.plan.is_noop;
        let chosen = summary::Chosen { target: target.clone(), is_noop, leaving, always };
        let (flow, effect) = SummaryFlow::start(chosen);
        self.follow_flow(Box::new(flow), Box::new(planned), effect);
    }

    /// Performs the effect of the summary flow, and keeps it open as long as it is. The move is applied as it was
    /// planned for the question.
    fn follow_flow(&mut self, flow: Box<SummaryFlow>, planned: Box<Move>, effect: Option<Effect>) {
        let mut planned_move = (*planned).clone();
        if flow.is_open() {
            self.views.open(View::Summary(flow, planned));
        }
        match effect {
            None => {}
            Some(Effect::Run { choice, label, remember }) => {
                if remember {
                    self.navigation.always = Some(choice.clone());
                }
                planned_move.summary = match choice {
                    Choice::Skip => SummaryRequest::Skip,
                    Choice::Standard => SummaryRequest::Standard,
                    Choice::Focus(focus) => SummaryRequest::Focus(focus),
                    Choice::Note(note) => SummaryRequest::Note(note),
                };
                planned_move.label = label;
                self.start_move(planned_move);
            }
            Some(Effect::Abort) => self.abort_move(),
            Some(Effect::ReopenTree(id, status)) => {
                if let Some(status) = status {
                    self.tell(Tone::Info, status);
                }
                self.reopen_tree(&id);
            }
            Some(Effect::Merge(id)) => self.merge(id.as_str()),
            Some(Effect::EditExternally(text)) => self.edit_in_flow(&text),
            Some(Effect::Status(text)) => self.tell(Tone::Info, text),
            Some(Effect::Error(text)) => self.fail(&text),
        }
    }

    /// Gives an event to the summary flow. Keys that it has no use for while the move runs are kept for the editor.
    pub(super) fn flow_event(&mut self, mut flow: Box<SummaryFlow>, planned: Box<Move>, event: &Event) {
        let input = flow.input(&self.settings.keymap, event);
        if flow.is_running() && input != Some(Input::Action(Action::SelectCancel)) {
            self.views.keep_typed(event.clone());
            return self.views.put(View::Summary(flow, planned));
        }
        let effect = input.and_then(|input| flow.update(&input));
        self.follow_flow(flow, planned, effect);
    }

    /// Stops a move, also one that has not started.
    fn abort_move(&mut self) {
        if let Some(stop) = self.navigation.stop.take() {
            stop.cancel();
        }
    }

    fn reopen_tree(&mut self, id: &EntryId) {
        let start = self.agent.read(|session| session.tree().node(id.as_str()));
        self.open_tree(start);
    }

    fn edit_in_flow(&mut self, text: &str) {
        let edited = self.edit_externally(text);
        if let (Some(View::Summary(flow, _)), Some(text)) = (self.views.current(), edited) {
            flow.set_text(&text);
        }
    }

    /// Starts a move that the tree requested.
    fn start_move(&mut self, planned: Move) {
        if self.extensions.are_there() {
            // Extensions are asked first, and may take their time.
            self.begin(Activity::Other("Moving…".to_owned()));
        }
        let reply = self.agent.go(planned);
        self.navigation.stop = Some(reply.canceller());
        self.call(reply, |app, result| app.moved(result, None));
    }

    /// Moves to an entry without a summary.
    fn branch_here(&mut self, target: &EntryId) {
        match self.agent.plan_navigation(target.as_str()) {
            Ok(planned) => self.start_move(planned),
            Err(error) => self.fail_with(error),
        }
    }

    /// Starts a move that a command planned.
    pub(super) fn start_planned(&mut self, planned: Reply<Move>, said: &'static str) {
        self.call(planned, move |app, planned| match planned {
            Ok(planned) if planned.plan.is_noop => app.tell(Tone::Info, "Already at this point"),
            Ok(planned) => {
                let reply = app.agent.go(planned);
                app.call(reply, move |app, result| app.moved(result, Some(said)));
            }
            Err(error) => app.fail_with(error),
        });
    }

    /// Shows the result of a move.
    pub(super) fn moved(
        &mut self,
        result: Result<Applied<NavigationResult>, AgentError>,
        said: Option<&str>,
    ) {
        self.navigation.stop = None;
        self.chat.working.end();
        let waiting = match self.views.take_waiting(|view| matches!(view, View::Summary(..))) {
            Some(View::Summary(flow, planned)) => Some((flow, planned)),
            _ => None,
        };
        if let (Some((_, planned)), Err(AgentError::Session(session_tree::Error::StalePlan))) =
            (&waiting, &result)
        {
            self.warn("the session has changed since the question was asked");
            return self.go_to(&planned.plan.target);
        }
        let ended = match &result {
            Ok(Applied::Cancelled(CancelledBy::User)) => MoveEnd::Cancelled,
            Ok(Applied::Cancelled(CancelledBy::Hook(_))) => MoveEnd::Refused,
            Ok(Applied::Done(_)) => MoveEnd::Done,
            Err(error) => MoveEnd::Failed(chain(error)),
        };
        match (waiting, ended) {
            (Some((mut flow, planned)), ended) => {
                let effect = flow.end(ended);
                self.follow_flow(flow, planned, effect);
            }
            (None, MoveEnd::Cancelled) => self.show_cancelled(&CancelledBy::User),
            (None, MoveEnd::Failed(reason)) => self.fail(&reason),
            (None, MoveEnd::Done | MoveEnd::Refused) => {}
        }
        match result {
            Ok(Applied::Cancelled(by @ CancelledBy::Hook(_))) => self.show_cancelled(&by),
            Ok(Applied::Done(arrival)) if arrival.moved => {
                self.arrive(arrival.editor_text.as_deref(), arrival.images, said);
            }
            _ => {}
        }
    }

    /// Shows a session that took the place of another.
    pub(super) fn show_replaced(&mut self, title: &str) {
        drop(self.views.take_tree());
        self.navigation = Navigation::default();
        self.chat.footer.remark = None;
        self.status.count_all(&self.agent, self.services.options());
        self.show_path(title);
        self.announce();
    }

    /// Shows that a command was cancelled. A cancel by a hook is silent unless a setting shows it.
    pub(super) fn show_cancelled(&mut self, by: &CancelledBy) {
        match by {
            CancelledBy::User => self.tell(Tone::Info, "stopped; nothing changed"),
            CancelledBy::Hook(name) if self.settings.shows_hook_cancel => {
                self.tell(Tone::Info, format!("cancelled by the extension {name}; nothing changed"));
            }
            CancelledBy::Hook(_) => {}
        }
    }

    /// Shows the new position.
    pub(super) fn arrive(&mut self, text: Option<&str>, images: Vec<Image>, said: Option<&str>) {
        self.navigation.moved_at = Some(self.now());
        let name = self.agent.read(place_name);
        self.show_path(&name);
        self.edit_again(text, images);
        self.tell(Tone::Success, said.unwrap_or("moved; /back returns"));
    }

    /// Puts a prompt that was taken back into the editor, unless something is typed there.
    pub(super) fn edit_again(&mut self, text: Option<&str>, images: Vec<Image>) {
        if let Some(text) = text.filter(|_| self.chat.editor.is_blank()) {
            self.chat.editor.set_text_with_images(text, images);
        }
    }

    /// Prints a divider and the end of the path.
    pub(super) fn show_path(&mut self, title: &str) {
        self.chat.transcript.push(Item::Divider(title.to_owned()));
        self.print_path();
        let texts =
            self.agent.read(|session| prompts(session, &session.branch_path(Position::Leaf), PROMPTS));
        self.chat.editor.set_history(texts);
    }

    /// Prints the end of the path: whole entries, but of a huge one only its last parts.
    fn print_path(&mut self) {
        let item_style = self.chat.transcript.item_style().clone();
        let (columns, extensions) = (usize::from(self.screen.columns()), &self.extensions);
        let (earlier, parts, mut items) = self.agent.read(|session| {
            let path = session.branch_path(Position::Leaf);
            // Last item first.
            let mut shown: Vec<Result<Item, ExtensionItem>> = Vec::new();
            let (mut height, mut first, mut hidden_parts) = (0, path.len(), 0);
            while first > 0 && height < ROWS_OF_PATH {
                first -= 1;
                let mut items = extensions.items_at(session, &path, first);
                while height < MAX_ROWS_OF_PATH
                    && let Some(item) = items.pop()
                {
                    height += match &item {
                        Ok(item) => rows(item, columns, &item_style, &mut CodeCache::plain()).len() + 1,
                        Err(_) => 2,
                    };
                    shown.push(item);
                }
                hidden_parts = items.len();
            }
            (first, hidden_parts, shown)
        });
        let key = self.chat.transcript.item_style().expand_key.clone();
        let mut hidden = Vec::new();
        if earlier > 0 {
            hidden.push(count(earlier, "earlier entry"));
        }
        if parts > 0 {
            hidden.push(format!("{} of the next one", count(parts, "part")));
        }
        if !hidden.is_empty() {
            let text = format!("… {} · {key} shows them", hidden.join(" and "));
            self.chat.transcript.push(Item::Setting(text));
        }
        items.reverse();
        self.push_items(items);
    }

    /// Prints the entries of the path, without the first `known` ones.
    pub(super) fn print_path_from(&mut self, known: usize) {
        let extensions = &self.extensions;
        let items = self.agent.read(|session| {
            let path = session.branch_path(Position::Leaf);
            (known..path.len()).flat_map(|at| extensions.items_at(session, &path, at)).collect::<Vec<_>>()
        });
        self.push_items(items);
    }

    fn push_items(&mut self, items: Vec<Result<Item, ExtensionItem>>) {
        for item in items {
            match item {
                Ok(item) => self.chat.transcript.push(item),
                Err(item) => self.push_extension_item(item),
            }
        }
    }
}

/// Returns the text of an entry in quotation marks, or its id if it has none.
fn entry_name(session: &Session, id: &EntryId) -> String {
    let message = session.entry(id.as_str()).ok().and_then(|entry| entry.to_message());
    let text = message.map(|message| shortened(&message.text(), 40)).unwrap_or_default();
    if text.trim().is_empty() { id.to_string() } else { format!("“{text}”") }
}

/// Returns a name of the current position: its last prompt.
fn place_name(session: &Session) -> String {
    let path = session.branch_path(Position::Leaf);
    match prompts(session, &path, 1).pop() {
        Some(prompt) => format!("now after: {}", shortened(&prompt, 70)),
        None => "now at the start".to_owned(),
    }
}

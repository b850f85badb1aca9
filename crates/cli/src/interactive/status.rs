//! What the footer tells, and what others do to the session meanwhile.

use std::path::Path;

use offshoot_agent::event::AgentEvent;
use offshoot_tui::chat::footer::{BranchPlace, Footer};
use offshoot_tui::chat::item::Tone;
use offshoot_tui::dialog::{Item, Question};
use offshoot_tui::numbers::count;
use session_tree::{Entry, Node, Position, Role, Session, Usage, estimate_tokens};
use tokio::task::JoinHandle;

use super::front::{Front, finished};
use super::presence;
use super::view::{Chosen, View};
use crate::error::chain;

/// What a person can do with a session that cannot be written.
const READ_ONLY: &str = "read only; /clone continues in a copy";

/// What all branches cost so far.
#[derive(Debug, Default)]
pub(super) struct Spending {
    usage: Usage,
    /// The number of entries that are counted, here or beside the loop.
    entries: usize,
    /// Counts the entries that were there before.
    counting: Option<JoinHandle<Option<Usage>>>,
}

impl Spending {
    /// Waits until it is counted what was there before; for ever if nobody counts.
    pub(super) async fn counted(&mut self) -> Option<Usage> {
        finished(&mut self.counting).await
    }
}

impl Front<'_> {
    /// Looks at the session anew, after something changed.
    pub(super) fn refresh(&mut self) {
        let state = self.agent.state();
        self.model = state.model.map(|model| model.spec().clone());
        self.thinking = state.thinking;
        let read = self.agent.read(|session| {
            let tokens = session.context_estimate(Position::Leaf).ok().map(|estimate| estimate.tokens);
            (session.name().map(str::to_owned), branch_place(session), tokens)
        });
        let footer = &mut self.chat.footer;
        footer.cwd = short(&self.cwd, self.home.as_deref());
        footer.git_branch = git_branch(&self.cwd);
        (footer.session, footer.branch, footer.context) = read;
        match &self.model {
            Some(spec) => {
                footer.provider.clone_from(&spec.provider);
                footer.model = Some(spec.id.clone());
                footer.window = spec.context_window;
                let thinks = !spec.thinking_levels.is_empty();
                footer.thinking = thinks.then(|| self.thinking.name().to_owned());
            }
            None => *footer = Footer { model: None, thinking: None, window: 0, ..std::mem::take(footer) },
        }
        self.count_new();
        self.inform_extensions();
    }

    /// Adds the cost of entries that were not counted yet: answers, summaries, compactions, tool results.
    fn count_new(&mut self) {
        let counted = self.spending.entries;
        let (entries, figures) = self.agent.read(|session| {
            let tree = session.tree();
            (tree.len(), session_view::Stats::of_entries(session, tree.nodes().skip(counted)))
        });
        if let Ok(figures) = figures {
            self.spending.entries = entries;
            self.spending.usage += figures.usage;
        }
        let (footer, usage) = (&mut self.chat.footer, &self.spending.usage);
        footer.input = usage.input;
        footer.output = usage.output;
        footer.cached = usage.cache_read;
        footer.cost = usage.cost;
    }

    /// Adds up what all branches cost so far, beside everything else: a large session takes a while.
    pub(super) fn count_all(&mut self) {
        // What is still counted for another session is not of this one.
        self.spending = Spending::default();
        let (file, entries) = self.agent.read(|session| {
            let file = session.file().filter(|_| session.is_saved());
            (file.map(Path::to_path_buf), session.tree().len())
        });
        let Some(path) = file else { return };
        let options = self.app.options();
        self.spending.entries = entries;
        self.spending.counting = Some(tokio::task::spawn_blocking(move || {
            let session = options.open_read_only(path).ok()?;
            let figures = session_view::Stats::of_entries(&session, session.tree().nodes().take(entries));
            figures.ok().map(|figures| figures.usage)
        }));
    }

    /// Adds what was counted to what came since.
    pub(super) fn counted(&mut self, counted: Option<Usage>) {
        self.spending.counting = None;
        if let Some(before) = counted {
            self.spending.usage += before;
            self.count_new();
        }
    }

    /// Adds a message that was appended during a turn to the figures of the footer.
    pub(super) fn count(&mut self, event: &AgentEvent) {
        let AgentEvent::Message { message, .. } = event else { return };
        self.count_new();
        let reported = message.value().get("usage").map(Usage::of).filter(|usage| usage.total > 0);
        let context = &mut self.chat.footer.context;
        *context = match reported.filter(|_| message.role() == Role::Assistant) {
            Some(usage) => Some(usage.total),
            None => context.map(|tokens| tokens + estimate_tokens(message)),
        };
    }

    /// Shows others that we have the session open; tells and asks if they have it, too.
    pub(super) fn announce(&mut self) {
        let Ok(state) = self.app.env.state_dir() else { return };
        let id = self.agent.read(|session| session.header().id().into_owned());
        self.presence.announce(&state, &id);
        self.update_remark();
        if !presence::is_held(&state, &id) {
            return;
        }
        let answers = vec![
            Item::new("Continue here", "the prompts of both programs become two branches"),
            Item::new("Read only", "print what the other program adds to this branch"),
            Item::new("Fork", "continue in a copy"),
            Item::new("Quit", "without a change"),
        ];
        let question = Question::new("Another program has this session open", "", answers);
        let chosen: Chosen<Option<usize>> = Box::new(|front, answer| match answer {
            Some(1) => front.look_on(),
            Some(2) => front.submit("/clone"),
            Some(3) => front.leave(),
            _ => {}
        });
        self.open_view(View::Question(question, chosen));
    }

    /// Goes on without writing anything.
    fn look_on(&mut self) {
        let Some(path) = self.agent.read(|session| session.file().map(Path::to_path_buf)) else { return };
        match self.app.options().open_read_only(path) {
            Ok(session) => {
                self.agent.watch_only(session);
                self.update_remark();
                self.tell(Tone::Info, READ_ONLY);
            }
            Err(error) => self.fail_with(error),
        }
    }

    /// Tells that nothing can be written to this session; true if so.
    pub(super) fn is_read_only(&mut self) -> bool {
        let is_read_only = self.agent.read(|session| session.read_only().is_some());
        if is_read_only {
            self.tell(Tone::Warning, READ_ONLY);
        }
        is_read_only
    }

    /// In a session that is read only, moves on with what another program appended to this branch and prints it.
    /// Returns false if the last entry is not below the leaf.
    fn follow(&mut self, appended: &[Entry]) -> bool {
        let Some(last) = appended.last() else { return false };
        let known = self.agent.follow(last.id());
        let Some(known) = known else { return false };
        self.print_path_from(known);
        self.refresh();
        true
    }

    /// Shows in the footer what is special about the session now.
    pub(super) fn update_remark(&mut self) {
        let (id, is_read_only) =
            self.agent.read(|session| (session.header().id().into_owned(), session.read_only().is_some()));
        let is_open_elsewhere = || self.app.env.state_dir().is_ok_and(|state| presence::is_held(&state, &id));
        self.chat.footer.remark = match &self.presence.error {
            Some(error) => Some(error.clone()),
            None if is_read_only => Some("read only".to_owned()),
            None if is_open_elsewhere() => Some("also open elsewhere".to_owned()),
            None => self.presence.has_appended.then(|| "also used elsewhere".to_owned()),
        };
    }

    /// Takes in what other programs appended to the session.
    pub(super) fn look_for_others(&mut self) {
        let caught = self.agent.catch_up();
        self.presence.error = caught.as_ref().err().map(|error| chain(error));
        match caught {
            Ok(entries) if entries.is_empty() => {}
            Ok(entries) if self.follow(&entries) => {}
            Ok(entries) => {
                let told = format!(
                    "another program added {} to this session; /tree shows them",
                    count(entries.len(), "entry")
                );
                self.presence.has_appended = true;
                self.tell(Tone::Warning, told);
                self.refresh();
            }
            Err(_) => {}
        }
        self.update_remark();
    }
}

/// Tells which branch of how many the leaf is on.
fn branch_place(session: &Session) -> Option<BranchPlace> {
    // A label or a setting is no place of its own.
    let leaf = session.leaf().and_then(|leaf| session.tree().nearest_conversational(leaf))?;
    // In the order of `#1`, `#2`, …
    let tips: Vec<Node> = session_view::tips_by_activity(session.tree());
    let tip = session.tree().newest_tip_below(leaf).unwrap_or(leaf);
    let number = tips.iter().position(|other| *other == tip)? + 1;
    let name = if tips.len() > 1 { session.branch_name(leaf).unwrap_or_default() } else { String::new() };
    Some(BranchPlace { name, number, count: tips.len() })
}

/// Spells a path with the home as `~`.
fn short(path: &Path, home: Option<&str>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Returns the branch of git that a directory is on.
fn git_branch(cwd: &Path) -> Option<String> {
    let git = cwd.ancestors().map(|directory| directory.join(".git")).find(|git| git.exists())?;
    let directory = match git.is_dir() {
        true => git,
        // A worktree says where its own directory is.
        false => {
            let said = std::fs::read_to_string(&git).ok()?;
            git.parent()?.join(said.trim().strip_prefix("gitdir: ")?)
        }
    };
    let head = std::fs::read_to_string(directory.join("HEAD")).ok()?;
    let head = head.trim();
    Some(head.strip_prefix("ref: refs/heads/").map_or_else(|| head.chars().take(8).collect(), str::to_owned))
}

//! The status: the model, the cost and the position, as the footer shows them.

use std::path::Path;

use offshoot_agent::event::AgentEvent;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::{ModelSpec, ThinkingLevel};
use session_tree::{Node, Options, Position, Role, Session, Usage, estimate_tokens};
use tokio::task::JoinHandle;

use super::finished;
use super::services::Environment;
use crate::chat::footer::{BranchPlace, Footer};

/// The model, and the cost of all branches.
#[derive(Debug, Default)]
pub(super) struct Status {
    model: Option<ModelSpec>,
    thinking: ThinkingLevel,
    usage: Usage,
    /// The number of entries that are counted, here or beside the loop.
    counted_entries: usize,
    /// Counts the entries of a session that was opened.
    counting: Option<JoinHandle<Option<Usage>>>,
}

impl Status {
    /// Returns the model, also while the agent works.
    pub(super) fn model(&self) -> Option<&ModelSpec> {
        self.model.as_ref()
    }

    /// Returns the full name of the model.
    pub(super) fn model_name(&self) -> Option<String> {
        self.model.as_ref().map(ModelSpec::full_name)
    }

    /// Returns the thinking level.
    pub(super) fn thinking(&self) -> ThinkingLevel {
        self.thinking
    }

    /// Reads the state of the agent and the session, and shows it.
    pub(super) fn refresh(&mut self, agent: &AgentHandle, environment: &Environment, footer: &mut Footer) {
        let state = agent.state();
        self.model = state.model.map(|model| model.spec().clone());
        self.thinking = state.thinking;
        let read = agent.read(|session| {
            let tokens = session.context_estimate(Position::Leaf).ok().map(|estimate| estimate.tokens);
            (session.name().map(str::to_owned), branch_place(session), tokens)
        });
        footer.cwd = short(&environment.cwd, environment.home.as_deref());
        footer.git_branch = git_branch(&environment.cwd);
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
        self.count_new(agent, footer);
    }

    /// Adds the cost of entries that were not counted yet: answers, summaries, compactions, tool results.
    fn count_new(&mut self, agent: &AgentHandle, footer: &mut Footer) {
        let counted = self.counted_entries;
        let (entries, stats) = agent.read(|session| {
            let tree = session.tree();
            (tree.len(), session_view::Stats::of_entries(session, tree.nodes().skip(counted)))
        });
        if let Ok(stats) = stats {
            self.counted_entries = entries;
            self.usage += stats.usage;
        }
        footer.input = self.usage.input;
        footer.output = self.usage.output;
        footer.cached = self.usage.cache_read;
        footer.cost = self.usage.cost;
    }

    /// Starts to add up the cost of all branches, beside the loop: a large session takes a while.
    pub(super) fn count_all(&mut self, agent: &AgentHandle, options: Options) {
        let (file, entries) = agent.read(|session| {
            let file = session.file().filter(|_| session.is_saved());
            (file.map(Path::to_path_buf), session.tree().len())
        });
        // A count of another session is dropped.
        (self.usage, self.counted_entries, self.counting) = (Usage::default(), 0, None);
        let Some(path) = file else { return };
        self.counted_entries = entries;
        self.counting = Some(tokio::task::spawn_blocking(move || {
            let session = options.open_read_only(path).ok()?;
            let stats = session_view::Stats::of_entries(&session, session.tree().nodes().take(entries));
            stats.ok().map(|stats| stats.usage)
        }));
    }

    /// Waits until the cost is added up; for ever if it is not being added up.
    pub(super) async fn counted(&mut self) -> Option<Usage> {
        finished(&mut self.counting).await
    }

    /// Adds the cost of the entries that were counted beside the loop.
    pub(super) fn add_counted(&mut self, counted: Option<Usage>, agent: &AgentHandle, footer: &mut Footer) {
        self.counting = None;
        if let Some(before) = counted {
            self.usage += before;
            self.count_new(agent, footer);
        }
    }

    /// Adds a message that was appended during a turn.
    pub(super) fn count(&mut self, event: &AgentEvent, agent: &AgentHandle, footer: &mut Footer) {
        let AgentEvent::Message { message, .. } = event else { return };
        self.count_new(agent, footer);
        let reported = message.value().get("usage").map(Usage::of).filter(|usage| usage.total > 0);
        let context = &mut footer.context;
        *context = match reported.filter(|_| message.role() == Role::Assistant) {
            Some(usage) => Some(usage.total),
            None => context.map(|tokens| tokens + estimate_tokens(message)),
        };
    }
}

/// Returns the number of the branch of the leaf.
fn branch_place(session: &Session) -> Option<BranchPlace> {
    // Bookkeeping entries are not positions.
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
        // The file of a worktree names its directory.
        false => {
            let said = std::fs::read_to_string(&git).ok()?;
            git.parent()?.join(said.trim().strip_prefix("gitdir: ")?)
        }
    };
    let head = std::fs::read_to_string(directory.join("HEAD")).ok()?;
    let head = head.trim();
    Some(head.strip_prefix("ref: refs/heads/").map_or_else(|| head.chars().take(8).collect(), str::to_owned))
}

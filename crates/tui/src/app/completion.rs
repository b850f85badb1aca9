//! The candidates of completion: entries and labels, files of the project, models, levels, sessions.

use std::path::Path;
use std::time::Duration;

use crate::chat::command::Completes;
use crate::chat::completion::{Candidate, Sources};
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::ThinkingLevel;
use session_tree::{Catalog, Node, Position, Role, Session, SessionSummary};
use tokio::task::JoinHandle;

use super::extensions::ExtensionUi;
use super::services::Services;
use super::{App, finished};
use crate::width::shortened;

/// The most branches that are offered.
const MOST_BRANCHES: usize = 50;
/// The most entries of the path that are offered.
const PROMPTS: usize = 20;
/// The longest description of a candidate, in characters.
const WIDEST: usize = 80;
/// The most files that are listed.
const FILES: usize = 20_000;
/// The most files that are offered for a word.
const OFFERED_FILES: usize = 200;
/// The time for which a list of files is used.
const FILES_STAY: Duration = Duration::from_secs(3);

/// The sources of completion.
pub(super) struct CompletionSources<'a> {
    pub(super) agent: &'a AgentHandle,
    pub(super) extensions: &'a ExtensionUi,
    pub(super) files: &'a ProjectFiles,
    pub(super) services: &'a dyn Services,
    pub(super) cwd: &'a Path,
}

impl Sources for CompletionSources<'_> {
    fn candidates(&self, kind: Completes, word: &str) -> Vec<Candidate> {
        match kind {
            Completes::Nothing | Completes::Extension => Vec::new(),
            Completes::Commands => {
                let mut offered = self.extensions.offered_commands();
                let more = resource_commands(self.agent);
                offered.extend(more.filter(|one| !self.has_command(&one.text)));
                offered
            }
            Completes::Entries => {
                let mut found = self.agent.read(|session| references(Some(session)));
                found.push(("-".to_owned(), "the previous position".to_owned()));
                found.into_iter().map(|(text, what)| candidate(text, what)).collect()
            }
            Completes::Files => self.files.candidates(kind, word),
            Completes::Models => self.models(),
            Completes::Levels => ThinkingLevel::ALL.iter().map(|level| candidate(level.name(), "")).collect(),
            Completes::Sessions => self.sessions(),
        }
    }

    fn arguments(&self, command: &str, typed: &str) -> Vec<Candidate> {
        self.extensions.arguments(command, typed)
    }
}

fn candidate(text: impl Into<String>, what: impl Into<String>) -> Candidate {
    Candidate { text: text.into(), what: what.into() }
}

/// Returns the commands of prompt templates and skills.
pub(super) fn resource_commands(agent: &AgentHandle) -> impl Iterator<Item = Candidate> {
    let resources = agent.state().resources;
    let offered = resources.commands().map(|command| {
        let hint = command.argument_hint.map(|hint| format!("{hint} ")).unwrap_or_default();
        candidate(command.name, shortened(&format!("{hint}{}", command.description), WIDEST))
    });
    offered.collect::<Vec<_>>().into_iter()
}

impl CompletionSources<'_> {
    /// Returns true if an extension has a command of this name.
    fn has_command(&self, name: &str) -> bool {
        self.extensions.offered_commands().iter().any(|known| known.text == name)
    }

    fn models(&self) -> Vec<Candidate> {
        let models = self.services.models().into_iter().filter(|model| model.has_key);
        models.map(|model| candidate(model.spec.full_name(), model.spec.name)).collect()
    }

    fn sessions(&self) -> Vec<Candidate> {
        let cwd = self.cwd.to_string_lossy();
        let listed =
            |catalog: Catalog| catalog.list(&cwd).complete(&mut |_| std::ops::ControlFlow::Continue(()));
        let mut rows: Vec<SessionSummary> = self.services.catalogs().into_iter().flat_map(listed).collect();
        rows.retain(|row| row.is_session() && !row.is_sub_agent);
        rows.sort_by_key(|row| std::cmp::Reverse(row.modified));
        rows.iter()
            .take(PROMPTS)
            .map(|row| candidate(row.id.clone(), shortened(row.title(), WIDEST)))
            .collect()
    }
}

/// Returns references to entries and what they mean: labels, branches and prompts of a session, and the words that
/// always work.
pub fn references(session: Option<&Session>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    if let Some(session) = session {
        let labels = session.labels().into_iter();
        found.extend(labels.map(|(node, label)| (format!("@{}", label.text), text_of(session, node))));
        let branches = session_view::branches(session).unwrap_or_default().into_iter().take(MOST_BRANCHES);
        let named = branches.enumerate().map(|(at, branch)| (format!("branch:{}", at + 1), branch.name));
        found.extend(named.map(|(reference, name)| (reference, shortened(&name, WIDEST))));
        let is_prompt = |node: &Node| session.tree().role(*node) == Some(Role::User);
        let prompts = session.branch_path(Position::Leaf).into_iter().rev().filter(is_prompt).take(PROMPTS);
        let numbered = prompts.enumerate();
        found.extend(numbered.map(|(nth, node)| (format!("leaf~{}", nth + 1), text_of(session, node))));
    }
    let fixed = [("leaf", "the current position"), ("root", "the first entry of this branch")];
    found.extend(fixed.map(|(name, what)| (name.to_owned(), what.to_owned())));
    found
}

fn text_of(session: &Session, node: Node) -> String {
    let message = session.entry_at(node).ok().and_then(|entry| entry.to_message());
    shortened(&message.map(|message| message.text().into_owned()).unwrap_or_default(), WIDEST)
}

/// The files of the project; they are listed beside the loop, because a large project takes a while.
#[derive(Debug, Default)]
pub(super) struct ProjectFiles {
    files: Vec<String>,
    listed_at: Option<Duration>,
    listing: Option<JoinHandle<Option<Vec<String>>>>,
}

impl ProjectFiles {
    /// Waits until the files are listed; for ever if they are not being listed.
    pub(super) async fn listed(&mut self) -> Option<Vec<String>> {
        finished(&mut self.listing).await
    }
}

impl Sources for ProjectFiles {
    fn candidates(&self, _: Completes, word: &str) -> Vec<Candidate> {
        let word = word.to_lowercase();
        let found = self.files.iter().filter(|file| file.to_lowercase().contains(&word));
        found.take(OFFERED_FILES).map(|file| candidate(file, "")).collect()
    }
}

impl App<'_> {
    /// Lists the files of the project if one is being typed and the list is old.
    pub(super) fn list_files(&mut self) {
        let now = self.now();
        let is_fresh = self.files.listed_at.is_some_and(|at| now.saturating_sub(at) < FILES_STAY);
        if is_fresh || self.files.listing.is_some() || !self.chat.wants_files() {
            return;
        }
        let cwd = self.environment.cwd.clone();
        self.files.listing = Some(tokio::task::spawn_blocking(move || Some(files(&cwd))));
    }

    /// Offers the files that were listed.
    pub(super) fn files_are_listed(&mut self, files: Option<Vec<String>>) {
        self.files =
            ProjectFiles { files: files.unwrap_or_default(), listed_at: Some(self.now()), listing: None };
        self.chat.offer(Completes::Files, &self.files);
    }
}

/// Lists files of the project, without those that version control ignores.
fn files(cwd: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(cwd).max_depth(Some(8)).follow_links(false).build();
    let name = |entry: ignore::DirEntry| {
        let path = entry.path().strip_prefix(cwd).ok()?.to_string_lossy().into_owned();
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        Some(if is_directory { format!("{path}/") } else { path })
    };
    walk.filter_map(Result::ok).skip(1).take(FILES).filter_map(name).collect()
}

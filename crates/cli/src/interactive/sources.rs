//! What there is to complete: entries and labels, files of the project, models, levels, sessions.

use std::path::Path;

use offshoot_agent::model::ThinkingLevel;
use offshoot_providers::Providers;
use offshoot_tui::chat::command::Completes;
use offshoot_tui::chat::completion::{Candidate, Sources};
use session_tree::{Catalog, Session, SessionSummary};

use super::desk::Desk;
use super::extensions::Guests;
use crate::app::App;
use crate::ui::shortened;

/// How many entries of the path are offered.
const PROMPTS: usize = 20;
/// The longest words about a candidate, in characters.
const WIDEST: usize = 80;
/// How many files are looked at.
const FILES: usize = 20_000;

/// What there is to complete.
pub(super) struct Known<'a> {
    pub(super) desk: &'a Desk,
    pub(super) guests: &'a Guests,
    pub(super) providers: &'a Providers,
    pub(super) cwd: &'a Path,
    pub(super) app: &'a App,
}

impl Sources for Known<'_> {
    fn candidates(&self, kind: Completes, word: &str) -> Vec<Candidate> {
        match kind {
            Completes::Nothing | Completes::Foreign => Vec::new(),
            Completes::Commands => self.guests.offered_commands(),
            Completes::Entries => self.desk.read(entries),
            Completes::Files => files(self.cwd, word),
            Completes::Models => self.models(),
            Completes::Levels => ThinkingLevel::ALL.iter().map(|level| candidate(level.name(), "")).collect(),
            Completes::Sessions => self.sessions(),
        }
    }

    fn arguments(&self, command: &str, typed: &str) -> Vec<Candidate> {
        self.guests.arguments(command, typed)
    }
}

fn candidate(text: impl Into<String>, what: impl Into<String>) -> Candidate {
    Candidate { text: text.into(), what: what.into() }
}

impl Known<'_> {
    fn models(&self) -> Vec<Candidate> {
        let models = self.providers.models().into_iter().filter(|model| model.has_key);
        models.map(|model| candidate(model.spec.full_name(), model.spec.name)).collect()
    }

    fn sessions(&self) -> Vec<Candidate> {
        let (Ok(catalogs), Ok(cwd)) = (self.app.catalogs(), self.app.cwd()) else { return Vec::new() };
        let listed =
            |catalog: Catalog| catalog.list(&cwd).complete(&mut |_| std::ops::ControlFlow::Continue(()));
        let mut rows: Vec<SessionSummary> = catalogs.flat_map(listed).collect();
        rows.retain(|row| row.is_session() && !row.is_sub_agent);
        rows.sort_by_key(|row| std::cmp::Reverse(row.modified));
        rows.iter()
            .take(PROMPTS)
            .map(|row| candidate(row.id.clone(), shortened(row.title(), WIDEST)))
            .collect()
    }
}

/// Labels first, then the last prompts of the path, then the words that always work.
fn entries(session: &Session) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = session
        .labels()
        .into_iter()
        .map(|(node, label)| candidate(format!("@{}", label.text), text_of(session, node)))
        .collect();
    for (at, branch) in session.branches().unwrap_or_default().into_iter().enumerate() {
        found.push(candidate(format!("#{}", at + 1), format!("branch: {}", shortened(&branch.name, WIDEST))));
    }
    let tree = session.tree();
    let path = session.branch_path(None);
    let prompts = path.into_iter().rev().filter(|node| tree.role(*node) == Some(session_tree::Role::User));
    for (nth, node) in prompts.take(PROMPTS).enumerate() {
        found.push(candidate(format!("~{}", nth + 1), text_of(session, node)));
    }
    found.push(candidate("-", "where you were before"));
    found.push(candidate("leaf", "here"));
    found.push(candidate("root", "the first entry"));
    found
}

fn text_of(session: &Session, node: session_tree::Node) -> String {
    let message = session.entry_at(node).ok().and_then(|entry| entry.to_message());
    shortened(&message.map(|message| message.text().into_owned()).unwrap_or_default(), WIDEST)
}

/// Lists files of the project; what version control ignores is left out.
fn files(cwd: &Path, word: &str) -> Vec<Candidate> {
    let walk = ignore::WalkBuilder::new(cwd).max_depth(Some(8)).follow_links(false).build();
    let word = word.to_lowercase();
    let mut found = Vec::new();
    for entry in walk.filter_map(Result::ok).skip(1).take(FILES) {
        let Ok(path) = entry.path().strip_prefix(cwd) else { continue };
        let mut text = path.to_string_lossy().into_owned();
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            text.push('/');
        }
        if text.to_lowercase().contains(&word) {
            found.push(candidate(text, ""));
        }
        if found.len() >= 200 {
            break;
        }
    }
    found
}

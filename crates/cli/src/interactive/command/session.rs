//! Commands about whole sessions: `/fork`, `/clone`, `/new`, `/resume`, `/import`, `/export`, `/export-branch`, `/session`, `/compact`.

use std::path::{Path, PathBuf};

use offshoot_agent::agent::CompactRequest;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{
    Applied, ExportRequest, ExportScope, Fork, ForkRequest, Forked, Replaced, Replacement,
};
use offshoot_agent::error::AgentError;
use offshoot_tui::chat::command::Arguments;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::chat::working::Activity;
use offshoot_tui::numbers::{money, tokens};
use offshoot_tui::prompts::PromptList;
use offshoot_web::ExportOptions;
use session_tree::{Figures, Session};

use super::super::desk::Then;
use super::super::front::Front;
use super::super::view::{Chosen, View};
use crate::cmd::new_file::free;
use crate::error::{CommandError, Failure, chain};
use crate::exporting::{Export, Form, default_name, new_header};
use crate::talk::damage;

/// What is told and done when another session is open.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    title: &'static str,
    said: &'static str,
    /// What the person wants to do there.
    command: Option<&'static str>,
}

impl Front<'_> {
    /// `/fork`: without a reference, a prompt is chosen from a flat list.
    pub(super) fn fork_command(&mut self, arguments: &Arguments) {
        let stay = arguments.has("--stay");
        match arguments.first().map(str::to_owned) {
            Some(entry) => self.fork_at(&entry, stay),
            None => self.choose_prompt(Box::new(move |front, id| front.fork_at(id.as_str(), stay))),
        }
    }

    /// `/branch`: the same as `/fork`, but users who set `doubleEscapeAction` to `tree` choose in the tree.
    pub(super) fn branch_command(&mut self, arguments: &Arguments) {
        if arguments.first().is_some() || !self.setup.settings.chooses_tree() {
            return self.fork_command(arguments);
        }
        let stay = arguments.has("--stay");
        let chosen: Chosen<session_tree::EntryId> =
            Box::new(move |front, id| front.fork_at(id.as_str(), stay));
        self.choose_entry(None, Some(("Fork from which entry?", "fork here")), Some(chosen));
    }

    fn choose_prompt(&mut self, chosen: Chosen<session_tree::EntryId>) {
        match self.desk.read(PromptList::open) {
            Some(list) => self.open_view(View::Prompts(Box::new(list), chosen)),
            None => self.tell(Tone::Info, "nothing was said yet, so there is nothing to fork"),
        }
    }

    /// Goes on from an entry in a new session.
    pub(in super::super) fn fork_at(&mut self, entry: &str, stay: bool) {
        let request = ForkRequest { stay, ..ForkRequest::at(entry) };
        self.when_idle(Box::new(move |front| {
            let fork = front.free_agent().map(|agent| agent.plan_fork(&request));
            front.start_fork(fork);
        }));
    }

    pub(super) fn clone_session(&mut self) {
        let fork = self.free_agent().map(|agent| agent.plan_clone(None));
        self.start_fork(fork);
    }

    fn start_fork(&mut self, fork: Option<Result<Fork, AgentError>>) {
        let fork = match fork {
            Some(Ok(fork)) => fork,
            Some(Err(error)) => return self.fail_with(error),
            None => return,
        };
        let (options, stay) = (self.app.options(), fork.stay);
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.fork(fork, options, &cancel).await;
            let then: Then = Box::new(move |front| front.forked(result, stay));
            (agent, then)
        });
    }

    fn forked(&mut self, result: Result<Applied<Forked>, AgentError>, stay: bool) {
        let forked = match result {
            Ok(Applied::Done(forked)) => forked,
            Ok(Applied::Cancelled(by)) => return self.show_cancelled(&by),
            Err(error) => return self.fail_with(error),
        };
        if stay {
            let file = forked.session_file.as_deref().map_or_else(|| "memory only".to_owned(), shown);
            return self.tell(Tone::Success, format!("forked into {file}; this session stays open"));
        }
        self.take_place("a new session, forked");
        self.edit_again(forked.editor_text.as_deref(), forked.images);
        let old = match forked.previous_session_file.as_deref() {
            Some(old) => format!("/resume goes back to {}", shown(old)),
            None => "the old one was kept in memory only".to_owned(),
        };
        self.tell(Tone::Success, format!("forked to a new session; {old}"));
    }

    /// Shows a session that took the place of another.
    pub(in super::super) fn take_place(&mut self, title: &str) {
        self.tree = None;
        self.always = None;
        self.moved_at = None;
        self.chat.footer.remark = None;
        self.count_all();
        self.show_path(title);
        self.announce();
    }

    pub(super) fn new_session(&mut self, arguments: &Arguments) {
        if arguments.has("--here") {
            let Some(planned) = self.free_agent().map(|agent| agent.plan_new_here()) else { return };
            return self.start_planned(planned, "the next prompt begins anew in this file; /back returns");
        }
        let options = self.app.options();
        let planned = self.free_agent().map(|agent| agent.plan_new(None, options));
        let said = "the old one is kept; /resume opens it";
        self.start_replacement(planned, Arrival { title: "a new session", said, command: None });
    }

    fn start_replacement(&mut self, planned: Option<Result<Replacement, AgentError>>, arrival: Arrival) {
        let planned = match planned {
            Some(Ok(planned)) => planned,
            Some(Err(error)) => return self.fail_with(error),
            None => return,
        };
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.replace_session(planned, &cancel).await;
            let then: Then = Box::new(move |front| front.replaced(result, arrival));
            (agent, then)
        });
    }

    fn replaced(&mut self, result: Result<Applied<Replaced>, AgentError>, arrival: Arrival) {
        match result {
            Ok(Applied::Done(replaced)) => {
                self.take_place(arrival.title);
                let place = replaced.other_cwd.map(|cwd| format!(" (it was made in {cwd}; tools work here)"));
                self.tell(Tone::Success, format!("{}{}", arrival.said, place.unwrap_or_default()));
                if let Some(damage) = self.desk.read(damage) {
                    self.warn(damage);
                }
                self.restore_model(replaced.model);
                if let Some(command) = arrival.command {
                    self.submit(command);
                }
            }
            Ok(Applied::Cancelled(by)) => self.show_cancelled(&by),
            Err(error) => self.fail_with(error),
        }
    }

    pub(super) fn resume(&mut self, wanted: &str) {
        if !wanted.is_empty() {
            return match self.app.find(wanted) {
                Ok(path) => self.open_session(&path, None),
                Err(error) => self.fail_with(error),
            };
        }
        self.open_picker();
    }

    /// Opens another session, and then does what `command` says.
    pub(in super::super) fn open_session(&mut self, path: &Path, command: Option<&'static str>) {
        let options = self.app.options();
        let planned = self.free_agent().map(|agent| agent.plan_resume(path, options));
        let arrival = Arrival { title: "another session", said: "opened; the old one is kept", command };
        self.start_replacement(planned, arrival);
    }

    pub(super) fn import(&mut self, file: &str) {
        let file = file.trim_matches(['"', '\'']);
        if file.is_empty() {
            return self.tell(Tone::Info, "/import FILE copies a session file here and opens it");
        }
        let directory = match self.app.catalog().and_then(|catalog| Ok(catalog.project_dir(&self.app.cwd()?)))
        {
            Ok(directory) => directory,
            Err(error) => return self.fail_with(error),
        };
        let (file, app) = (self.cwd.join(file), self.app);
        let planned = self.free_agent().map(|agent| agent.plan_import(&file, &directory, app.options()));
        let planned = match planned {
            Some(Ok(planned)) => planned,
            Some(Err(error)) => return self.fail_with(error),
            None => return,
        };
        let options = app.options();
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.import(planned, options, &cancel).await;
            let arrival = Arrival { title: "an imported session", said: "imported", command: None };
            let then: Then = Box::new(move |front| front.replaced(result, arrival));
            (agent, then)
        });
    }

    /// Writes the session: as a page, as Markdown, or its path as a session file.
    pub(super) fn export(&mut self, file: &str) {
        let (app, file) = (self.app, file.trim_matches(['"', '\'']));
        let (name, header, saved) = self.desk.read(|session| {
            let leaf = session.leaf().map(|leaf| session.tree().id(leaf).to_string());
            let saved = session.file().filter(|_| session.is_saved()).map(|file| (file.to_path_buf(), leaf));
            (default_name(session), new_header(session, app), saved)
        });
        let path = self.cwd.join(if file.is_empty() { name.as_os_str() } else { file.as_ref() });
        if let Err(error) = free(&path) {
            return self.fail_with(error);
        }
        let options = ExportOptions { home: self.home.clone(), ..ExportOptions::default() };
        let export = Export { form: Form::of(&path), options, has_all: false, header };
        match saved {
            Some((file, leaf)) => self.start_export(export, path, file, leaf),
            None => {
                let never = Cancel::new();
                let write = |session: &Session| export.write_new_file(session, &path, &mut |_, _| {}, &never);
                let written = self.desk.read(write);
                self.exported(&path, written.map(drop));
            }
        }
    }

    /// Writes a session that lies in a file, beside everything else: a large one takes a while.
    fn start_export(&mut self, export: Export, path: PathBuf, file: PathBuf, leaf: Option<String>) {
        let (options, now) = (self.app.options(), self.now());
        self.chat.working.begin(Activity::Other(format!("Writing {}", shown(&path))), now);
        self.desk.start(move |agent, cancel| async move {
            let (to, stop) = (path.clone(), cancel.clone());
            let writing = tokio::task::spawn_blocking(move || {
                let mut session = options.open_read_only(file)?;
                match leaf {
                    Some(leaf) => session.branch(&leaf)?,
                    None => session.reset_leaf(),
                }
                export.write_new_file(&session, &to, &mut |_, _| {}, &stop).map(drop)
            });
            let written = writing.await.unwrap_or_else(|error| Err(Failure::new(chain(&error)).into()));
            let then: Then = Box::new(move |front| {
                front.chat.working.end();
                match cancel.is_cancelled() && written.is_err() {
                    true => front.tell(Tone::Info, "stopped; nothing was written"),
                    false => front.exported(&path, written),
                }
            });
            (agent, then)
        });
    }

    fn exported(&mut self, path: &Path, written: Result<(), CommandError>) {
        match written {
            Ok(()) => self.tell(Tone::Success, format!("written to {}", shown(path))),
            Err(error) => self.fail_with(error),
        }
    }

    pub(super) fn export_branch(&mut self, arguments: &Arguments) {
        let Some(entry) = arguments.first().map(str::to_owned) else {
            let chosen: Chosen<session_tree::EntryId> =
                Box::new(|front, id| front.export_branch_at(id.as_str()));
            return self.choose_entry(
                None,
                Some(("Export the branch of which entry?", "export its branch")),
                Some(chosen),
            );
        };
        let scope = match (arguments.has("--path"), arguments.has("--subtree")) {
            (true, _) => ExportScope::Path,
            (_, true) => ExportScope::Subtree,
            _ => ExportScope::Branch,
        };
        let file = arguments.words.get(1).map_or_else(|| branch_file(&entry), Clone::clone);
        self.write_branch(entry, scope, &file);
    }

    /// Writes the branch of an entry into a file of its name.
    pub(in super::super) fn export_branch_at(&mut self, id: &str) {
        self.write_branch(id.to_owned(), ExportScope::Branch, &branch_file(id));
    }

    fn write_branch(&mut self, entry: String, scope: ExportScope, file: &str) {
        let request = ExportRequest { entry, scope, file: self.cwd.join(file) };
        let options = self.app.options();
        let written = self.free_agent().map(|agent| {
            let export = agent.plan_export(&request)?;
            agent.export_branch(&export, options)
        });
        match written {
            Some(Ok(())) => self.tell(Tone::Success, format!("written to {}", shown(&request.file))),
            Some(Err(error)) => self.fail_with(error),
            None => {}
        }
    }

    /// Shows figures of this branch and of the whole file, side by side.
    pub(super) fn show_session(&mut self) {
        let told = self.desk.read(|session| -> session_tree::Result<String> {
            let branch = session.figures_of_path(session.leaf())?;
            let file = session.figures_of_all()?;
            let mut lines = vec![
                format!("file      {}", session.file().map_or_else(|| "(in memory)".to_owned(), shown)),
                format!("id        {}", session.header().id()),
                format!("name      {}", session.name().unwrap_or("(none: /name TEXT)")),
                format!("branches  {}", session.tips().len()),
                format!("{:<16}{:>14}{:>14}", "", "this branch", "whole file"),
            ];
            lines.extend(figures_table(&branch, &file));
            Ok(lines.join("\n"))
        });
        match told {
            Ok(text) => self.print(text),
            Err(error) => self.fail_with(error),
        }
    }

    pub(super) fn compact(&mut self, focus: &str) {
        let now = self.now();
        self.chat.working.begin(Activity::Compaction, now);
        let request = CompactRequest { focus: Some(focus.to_owned()).filter(|focus| !focus.is_empty()) };
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.compact(&request, &cancel).await;
            let then: Then = Box::new(move |front| {
                front.chat.working.end();
                match result {
                    Ok(Applied::Done(_)) => front.show_path("compacted"),
                    Ok(Applied::Cancelled(by)) => front.show_cancelled(&by),
                    Err(error) => front.fail_with(error),
                }
            });
            (agent, then)
        });
    }
}

/// The name of the file that the branch of an entry goes to, unless somebody gives one.
fn branch_file(reference: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let parts = reference.split(|c| !is_plain(c)).map(|part| part.trim_matches(['.', '-']));
    let parts: Vec<&str> = ["branch"].into_iter().chain(parts).filter(|part| !part.is_empty()).collect();
    format!("{}.jsonl", parts.join("-"))
}

fn figures_table(branch: &Figures, file: &Figures) -> Vec<String> {
    let row =
        |name: &str, of: &dyn Fn(&Figures) -> String| format!("{name:<16}{:>14}{:>14}", of(branch), of(file));
    vec![
        row("entries", &|figures| figures.entries.to_string()),
        row("prompts", &|figures| figures.turns.to_string()),
        row("tool calls", &|figures| figures.tool_calls().to_string()),
        row("compactions", &|figures| figures.compactions.to_string()),
        row("tokens in", &|figures| tokens(figures.usage.input)),
        row("tokens out", &|figures| tokens(figures.usage.output)),
        row("tokens cached", &|figures| tokens(figures.usage.cache_read)),
        row("cost", &|figures| money(figures.usage.cost)),
    ]
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_of_any_reference_gets_a_file_here() {
        for (reference, file) in [
            ("a1b2", "branch-a1b2.jsonl"),
            ("@feature/parser", "branch-feature-parser.jsonl"),
            ("#2", "branch-2.jsonl"),
            ("../x y\n", "branch-x-y.jsonl"),
            ("@v1.2", "branch-v1.2.jsonl"),
            ("^", "branch.jsonl"),
        ] {
            assert_eq!(branch_file(reference), file);
        }
    }
}

//! Lists and reports about whole sessions: `/fork` without an entry, `/resume`, `/export`, `/session`.

use std::path::{Path, PathBuf};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::Applied;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::chat::working::Activity;
use offshoot_tui::prompts::PromptList;
use offshoot_web::ExportOptions;
use session_tree::Session;

use super::super::front::Front;
use super::super::view::{Chosen, View};
use crate::error::{CommandError, Failure, chain};
use crate::exporting::{Export, Form, default_name, free, new_header};

impl Front<'_> {
    /// Asks where to fork, and runs the typed command with that entry: a flat list of prompts, or the tree.
    pub(super) fn choose_fork(&mut self, text: &str, in_tree: bool) {
        let text = text.trim_end().to_owned();
        let chosen: Chosen<session_tree::EntryId> =
            Box::new(move |front, id| front.submit(&format!("{text} {id}")));
        if in_tree {
            return self.choose_entry(None, Some(("Fork from which entry?", "fork here")), Some(chosen));
        }
        match self.agent.read(PromptList::open) {
            Some(list) => self.open_view(View::Prompts(Box::new(list), chosen)),
            None => self.tell(Tone::Info, "nothing was said yet, so there is nothing to fork"),
        }
    }

    /// Forks at an entry that the tree chose.
    pub(in super::super) fn fork_at(&mut self, entry: &str) {
        let entry = entry.to_owned();
        self.run_words(&["fork", &entry]);
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

    pub(super) fn resume(&mut self, wanted: &str) {
        if !wanted.is_empty() {
            return match self.app.find(wanted) {
                Ok(path) => self.open_session(&path, None),
                Err(error) => self.fail_with(error),
            };
        }
        self.open_picker();
    }

    /// Opens another session, and then runs `command`.
    pub(in super::super) fn open_session(&mut self, path: &Path, command: Option<&'static str>) {
        let options = self.app.options();
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.resume(path.to_owned(), options);
        self.call(reply, move |front, result| match result {
            Ok(Applied::Done(replaced)) => {
                front.take_place("another session");
                front.tell(Tone::Success, "opened; the old one is kept");
                front.session_replaced(replaced);
                if let Some(command) = command {
                    front.submit(command);
                }
            }
            Ok(Applied::Cancelled(by)) => front.show_cancelled(&by),
            Err(error) => front.fail_with(error),
        });
    }

    /// Writes the session: as a page, as Markdown, or its path as a session file.
    pub(super) fn export(&mut self, file: &str) {
        let (app, file) = (self.app, file.trim_matches(['"', '\'']));
        let (name, header, saved) = self.agent.read(|session| {
            let leaf = session.leaf().map(|leaf| session.tree().id(leaf).to_string());
            let saved = session.file().filter(|_| session.is_saved()).map(|file| (file.to_path_buf(), leaf));
            (default_name(session), new_header(session, app), saved)
        });
        let path = self.cwd.join(if file.is_empty() { name.as_os_str() } else { file.as_ref() });
        let form = match free(&path).and_then(|path| Form::of(&path)) {
            Ok(form) => form,
            Err(error) => return self.fail_with(error),
        };
        let options = ExportOptions { home: self.home.clone(), ..ExportOptions::default() };
        let export = Export { form, options, has_all: false, header };
        match saved {
            Some((file, leaf)) => self.start_export(export, path, file, leaf),
            None => {
                let never = Cancel::new();
                let write =
                    |session: &Session| export.write_file(session, &path, false, &mut |_, _| {}, &never);
                let written = self.agent.read(write);
                self.exported(&path, written.map(drop));
            }
        }
    }

    /// Writes a session that lies in a file, beside everything else: a large one takes a while.
    fn start_export(&mut self, export: Export, path: PathBuf, file: PathBuf, leaf: Option<String>) {
        let (options, now) = (self.app.options(), self.now());
        self.chat.working.begin(Activity::Other(format!("Writing {}", shown(&path))), now);
        let cancel = Cancel::new();
        self.stop_export = Some(cancel.clone());
        let (to, stop) = (path.clone(), cancel.clone());
        let write = async move {
            let writing = tokio::task::spawn_blocking(move || {
                let mut session = options.open_read_only(file)?;
                match leaf {
                    Some(leaf) => session.branch(&leaf)?,
                    None => session.reset_leaf(),
                }
                export.write_file(&session, &to, false, &mut |_, _| {}, &stop).map(drop)
            });
            writing.await.unwrap_or_else(|error| Err(Failure::new(chain(&error)).into()))
        };
        self.call(write, move |front, written: Result<(), CommandError>| {
            front.stop_export = None;
            front.chat.working.end();
            match cancel.is_cancelled() && written.is_err() {
                true => front.tell(Tone::Info, "stopped; nothing was written"),
                false => front.exported(&path, written),
            }
        });
    }

    fn exported(&mut self, path: &Path, written: Result<(), CommandError>) {
        match written {
            Ok(()) => self.tell(Tone::Success, format!("written to {}", shown(path))),
            Err(error) => self.fail_with(error),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

//! The list of sessions: reads rows for the picker, opens and renames sessions, and moves them to the trash and back.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crossterm::event::Event;
use offshoot_agent::command::Applied;
use offshoot_agent::error::chain;

use super::App;
use super::session_reader::{ReaderResult, SessionReader};
use super::views::View;
use crate::chat::item::Tone;
use crate::picker::{Outcome, Scope, SessionPicker};

/// The number of sessions that are read for a query between two looks at the query.
const TEXTS_AT_ONCE: usize = 16;

/// Reads sessions while the picker is open.
#[derive(Default)]
pub(super) struct SessionList {
    reader: Option<SessionReader>,
}

impl SessionList {
    /// Waits until something was read; for ever if the picker is closed.
    pub(super) async fn found(&mut self) -> ReaderResult {
        match &mut self.reader {
            Some(reader) => reader.found().await,
            None => std::future::pending().await,
        }
    }
}

impl App<'_> {
    /// Opens the picker with the sessions of this project.
    pub fn open_sessions(&mut self) {
        let cwd = self.environment.cwd.to_string_lossy().into_owned();
        let reader = SessionReader::new(self.services.catalogs(), cwd);
        reader.list(Scope::Folder);
        self.sessions.reader = Some(reader);
        let picker = SessionPicker::new(self.session_file());
        self.views.open(View::Sessions(Box::new(picker)));
    }

    fn session_file(&self) -> Option<PathBuf> {
        self.agent.read(|session| session.file().map(Path::to_path_buf))
    }

    /// Gives an event to the picker.
    pub(super) fn sessions_event(&mut self, mut picker: Box<SessionPicker>, event: &Event) {
        let input = picker.input(&self.settings.keymap, event);
        match input.and_then(|input| picker.update(&input)) {
            Some(Outcome::Cancel) => return self.sessions.reader = None,
            Some(Outcome::Open(path)) => return self.open_session(&path, None),
            Some(Outcome::Branches(path)) => return self.open_session(&path, Some("/branches")),
            Some(Outcome::Load(scope)) => {
                if let Some(reader) = &self.sessions.reader {
                    reader.list(scope);
                }
            }
            Some(Outcome::Rename(path, name)) => self.rename(&mut picker, &path, &name),
            Some(Outcome::Delete(path)) => {
                if let Err(error) = self.services.trash(&path) {
                    picker.put_back(&path);
                    picker.set_notice(format!("cannot move it to the trash: {error}"));
                }
            }
            Some(Outcome::Restore(path)) => {
                if let Err(error) = self.services.restore(&path) {
                    picker.set_notice(format!("cannot take it out of the trash: {error}"));
                }
            }
            None => {}
        }
        self.views.put(View::Sessions(picker));
    }

    /// Shows what was read for the picker.
    pub(super) fn sessions_found(&mut self, found: ReaderResult) {
        let elsewhere = match &found {
            ReaderResult::Rows { rows, .. } => self.services.open_elsewhere(rows),
            ReaderResult::Texts(_) | ReaderResult::Preview(..) => HashSet::new(),
        };
        let Some(View::Sessions(picker)) = self.views.current() else { return };
        match found {
            ReaderResult::Rows { scope, rows, progress } => {
                picker.add_open_elsewhere(elsewhere);
                picker.add_rows(scope, rows);
                if let Some((done, total)) = progress {
                    picker.set_progress(scope, done, total);
                }
            }
            ReaderResult::Texts(texts) => {
                for (path, text) in texts {
                    picker.search_text(&path, &text);
                }
            }
            ReaderResult::Preview(path, preview) => picker.set_preview(&path, preview),
        }
    }

    /// Requests previews and texts that the picker needs.
    pub(super) fn feed_sessions(&mut self) {
        let (Some(View::Sessions(picker)), Some(reader)) = (self.views.current(), &mut self.sessions.reader)
        else {
            return;
        };
        if let Some(path) = picker.wants_preview() {
            reader.read_preview(path.to_path_buf(), self.services.options());
        }
        reader.read_texts(picker.unsearched().take(TEXTS_AT_ONCE).map(Path::to_path_buf).collect());
    }

    fn rename(&mut self, picker: &mut SessionPicker, path: &Path, name: &str) {
        if self.session_file().as_deref() == Some(path) {
            return self.rename_this(picker, name);
        }
        let named = self.services.options().open(path).and_then(|mut session| {
            session.append_session_info(name)?;
            session.sync()
        });
        if let Err(error) = named {
            picker.set_notice(format!("cannot rename the session: {}", chain(&error)));
        }
    }

    /// Names the open session; only its own agent may write to it.
    fn rename_this(&mut self, picker: &mut SessionPicker, name: &str) {
        if self.is_busy() {
            return picker.set_notice("cannot rename the session while a task runs");
        }
        let (agent, name) = (self.agent.clone(), name.to_owned());
        let rename = async move {
            let plan = agent.plan_name(Some(name)).await?;
            agent.name_session(plan).await
        };
        self.call(rename, |app, renamed| {
            if let Err(error) = renamed {
                app.fail_with(error);
            }
        });
    }

    /// Opens the session that a path, an id or a name stands for; without one the picker.
    pub(super) fn resume(&mut self, wanted: &str) {
        if wanted.is_empty() {
            return self.open_sessions();
        }
        match self.services.find_session(wanted) {
            Ok(path) => self.open_session(&path, None),
            Err(error) => self.fail_with(error),
        }
    }

    /// Opens another session, and then runs `command`.
    fn open_session(&mut self, path: &Path, command: Option<&'static str>) {
        self.sessions.reader = None;
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.resume(path.to_owned(), self.services.options());
        self.call(reply, move |app, result| match result {
            Ok(Applied::Done(replaced)) => {
                app.show_replaced("another session");
                app.tell(Tone::Success, "opened; the old one is kept");
                app.session_replaced(replaced);
                if let Some(command) = command {
                    app.submit(command);
                }
            }
            Ok(Applied::Cancelled(by)) => app.show_cancelled(&by),
            Err(error) => app.fail_with(error),
        });
    }
}

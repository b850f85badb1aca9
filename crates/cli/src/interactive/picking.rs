//! Choosing another session: lists, texts and previews for the picker, and what it wants to be done to files.
//!
//! A session that is thrown away lies in the trash of the state directory and can be taken out again.

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use offshoot_tui::crossterm::event::Event;
use offshoot_tui::picker::{Outcome, Scope, SessionPicker, SessionPreview};
use session_tree::{Catalog, SessionSummary};

use super::front::Front;
use super::presence;
use super::view::View;

/// How many sessions are read for a query before the next key is looked at.
const READ_AT_ONCE: usize = 4;

impl Front<'_> {
    /// Opens the picker with the sessions of this project.
    pub(super) fn open_picker(&mut self) {
        let here = self.desk.read(|session| session.file().map(Path::to_path_buf));
        let mut picker = SessionPicker::new(here);
        self.load_sessions(&mut picker, Scope::Folder);
        self.view = Some(View::Picker(Box::new(picker)));
    }

    fn catalogs(&self) -> Vec<Catalog> {
        self.app.catalog().into_iter().chain(self.app.pi_catalog()).collect()
    }

    fn load_sessions(&self, picker: &mut SessionPicker, scope: Scope) {
        let cwd = self.app.cwd().unwrap_or_default();
        let mut rows: Vec<SessionSummary> = Vec::new();
        for catalog in self.catalogs() {
            let listing = match scope {
                Scope::Folder => catalog.list(&cwd),
                Scope::All => catalog.list_all(),
            };
            rows.extend(listing.complete(&mut |_| ControlFlow::Continue(())));
        }
        rows.retain(|row| row.is_session() && !row.is_sub_agent);
        picker.set_open_elsewhere(self.open_elsewhere(&rows));
        let total = rows.len();
        picker.add_rows(scope, rows);
        picker.set_progress(scope, total, total);
    }

    fn open_elsewhere(&self, rows: &[SessionSummary]) -> HashSet<PathBuf> {
        let Ok(state) = self.app.state_dir() else { return HashSet::new() };
        let names = presence::held(&state);
        let is_open = |row: &&SessionSummary| names.contains(&presence::name(&row.id));
        rows.iter().filter(is_open).map(|row| row.path.clone()).collect()
    }

    /// Gives an event to the picker.
    pub(super) fn picker_event(&mut self, mut picker: Box<SessionPicker>, event: &Event) {
        let outcome = picker.input(&self.keymap, event).and_then(|input| picker.update(&input));
        match outcome {
            Some(Outcome::Cancel) => return,
            Some(Outcome::Open(path)) => return self.open_session(&path),
            Some(Outcome::Branches(path)) => {
                self.open_session(&path);
                self.waiting_command = Some("/branches");
                return;
            }
            Some(Outcome::Load(scope)) => self.load_sessions(&mut picker, scope),
            Some(Outcome::Rename(path, name)) => self.rename(&mut picker, &path, &name),
            Some(Outcome::Delete(path)) => self.throw_away(&mut picker, &path),
            Some(Outcome::Restore(path)) => self.take_out(&mut picker, &path),
            None => {}
        }
        self.view = Some(View::Picker(picker));
        self.feed_picker();
    }

    /// Reads what the picker asks for, a little at a time.
    pub(super) fn feed_picker(&mut self) {
        let catalogs = self.catalogs();
        let Some(View::Picker(picker)) = &mut self.view else { return };
        if let Some(path) = picker.wants_preview().map(Path::to_path_buf)
            && let Ok(session) = self.app.options().open_read_only(&path)
            && let Ok(preview) = SessionPreview::of(&session)
        {
            picker.set_preview(&path, preview);
        }
        let paths: Vec<PathBuf> = picker.unsearched().take(READ_AT_ONCE).map(Path::to_path_buf).collect();
        for path in paths {
            let text = catalogs.first().and_then(|catalog| catalog.text(&path).ok());
            picker.tell_text(&path, &text.unwrap_or_default());
        }
    }

    fn rename(&mut self, picker: &mut SessionPicker, path: &Path, name: &str) {
        let named = self.app.options().open(path).and_then(|mut session| {
            session.append_session_info(name)?;
            session.sync()
        });
        match named {
            Ok(()) => self.load_sessions(picker, Scope::Folder),
            Err(error) => picker.set_notice(error.to_string()),
        }
    }

    fn throw_away(&mut self, picker: &mut SessionPicker, path: &Path) {
        let moved = self.trash_place(path).and_then(|place| fs::rename(path, place));
        if let Err(error) = moved {
            picker.put_back(path);
            picker.set_notice(format!("cannot throw it away: {error}"));
        }
    }

    fn take_out(&mut self, picker: &mut SessionPicker, path: &Path) {
        let moved = match path.exists() {
            true => Err(std::io::ErrorKind::AlreadyExists.into()),
            false => self.trash_place(path).and_then(|place| fs::rename(place, path)),
        };
        match moved {
            Ok(()) => self.load_sessions(picker, Scope::Folder),
            Err(error) => picker.set_notice(format!("cannot take it out of the trash: {error}")),
        }
    }

    /// Where a session lies that was thrown away.
    fn trash_place(&self, path: &Path) -> std::io::Result<PathBuf> {
        let state =
            self.app.state_dir().map_err(|_| std::io::Error::other("there is no place for a trash"))?;
        let trash = state.join("trash");
        fs::create_dir_all(&trash)?;
        Ok(trash.join(path.file_name().unwrap_or_default()))
    }

    /// Does what waits for another session to be open.
    pub(super) fn go_on_after_opening(&mut self) {
        if let Some(text) = self.waiting_command.take() {
            self.submit(text);
        }
    }
}

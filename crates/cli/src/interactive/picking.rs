//! Choosing another session: reads rows for the picker, renames sessions, and moves them to the trash and back.
//!
//! The trash is a directory in the state directory.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_tui::crossterm::event::Event;
use offshoot_tui::picker::{Outcome, Scope, SessionPicker};
use session_tree::SessionSummary;

use super::front::Front;
use super::presence;
use super::reader::{Found, Reader};
use super::view::View;
use crate::error::chain;

/// How many sessions are read for a query before the query is looked at again.
const TEXTS_AT_ONCE: usize = 16;

/// The state behind the picker.
#[derive(Default)]
pub(super) struct Picking {
    /// Reads sessions, while the picker is open.
    reader: Option<Reader>,
    /// Sessions that were moved to the trash here, and their paths in it.
    trash: HashMap<PathBuf, PathBuf>,
}

impl Picking {
    /// Waits until something was read; for ever if the picker is closed.
    pub(super) async fn found(&mut self) -> Found {
        match &mut self.reader {
            Some(reader) => reader.found().await,
            None => std::future::pending().await,
        }
    }
}

impl Front<'_> {
    /// Opens the picker with the sessions of this project.
    pub(super) fn open_picker(&mut self) {
        let catalogs = self.app.catalogs().into_iter().flatten().collect();
        let reader = Reader::new(catalogs, self.app.env.cwd().unwrap_or_default());
        reader.list(Scope::Folder);
        self.picking.reader = Some(reader);
        let picker = SessionPicker::new(self.session_file());
        self.open_view(View::Picker(Box::new(picker)));
    }

    fn session_file(&self) -> Option<PathBuf> {
        self.agent.read(|session| session.file().map(Path::to_path_buf))
    }

    fn open_elsewhere(&self, rows: &[SessionSummary]) -> HashSet<PathBuf> {
        let Ok(state) = self.app.env.state_dir() else { return HashSet::new() };
        let names = presence::held(&state);
        let is_open = |row: &&SessionSummary| names.contains(&presence::name(&row.id));
        rows.iter().filter(is_open).map(|row| row.path.clone()).collect()
    }

    /// Gives an event to the picker.
    pub(super) fn picker_event(&mut self, mut picker: Box<SessionPicker>, event: &Event) {
        let outcome = picker.input(&self.keymap, event).and_then(|input| picker.update(&input));
        match outcome {
            Some(Outcome::Cancel) => return self.picking.reader = None,
            Some(Outcome::Open(path)) => return self.open_picked(&path, None),
            Some(Outcome::Branches(path)) => return self.open_picked(&path, Some("/branches")),
            Some(Outcome::Load(scope)) => {
                if let Some(reader) = &self.picking.reader {
                    reader.list(scope);
                }
            }
            Some(Outcome::Rename(path, name)) => self.rename(&mut picker, &path, &name),
            Some(Outcome::Delete(path)) => self.throw_away(&mut picker, &path),
            Some(Outcome::Restore(path)) => self.take_out(&mut picker, &path),
            None => {}
        }
        self.view = Some(View::Picker(picker));
    }

    fn open_picked(&mut self, path: &Path, then: Option<&'static str>) {
        self.picking.reader = None;
        self.open_session(path, then);
    }

    /// Shows what was read for the picker.
    pub(super) fn found(&mut self, found: Found) {
        let elsewhere = match &found {
            Found::Rows { rows, .. } => self.open_elsewhere(rows),
            Found::Texts(_) | Found::Preview(..) => HashSet::new(),
        };
        let Some(View::Picker(picker)) = &mut self.view else { return };
        match found {
            Found::Rows { scope, rows, progress } => {
                picker.add_open_elsewhere(elsewhere);
                picker.add_rows(scope, rows);
                if let Some((done, total)) = progress {
                    picker.set_progress(scope, done, total);
                }
            }
            Found::Texts(texts) => {
                for (path, text) in texts {
                    picker.search_text(&path, &text);
                }
            }
            Found::Preview(path, preview) => picker.set_preview(&path, preview),
        }
    }

    /// Requests previews and texts that the picker needs.
    pub(super) fn feed_picker(&mut self) {
        let (Some(View::Picker(picker)), Some(reader)) = (&self.view, &mut self.picking.reader) else {
            return;
        };
        if let Some(path) = picker.wants_preview() {
            reader.read_preview(path.to_path_buf(), self.app.options());
        }
        reader.read_texts(picker.unsearched().take(TEXTS_AT_ONCE).map(Path::to_path_buf).collect());
    }

    fn rename(&mut self, picker: &mut SessionPicker, path: &Path, name: &str) {
        if self.session_file().as_deref() == Some(path) {
            return self.rename_this(picker, name);
        }
        let named = self.app.options().open(path).and_then(|mut session| {
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
        self.call(rename, |front, renamed| {
            if let Err(error) = renamed {
                front.fail_with(error);
            }
        });
    }

    fn throw_away(&mut self, picker: &mut SessionPicker, path: &Path) {
        let moved = self.trash_place(path).and_then(|place| move_file(path, &place).map(|()| place));
        match moved {
            Ok(place) => drop(self.picking.trash.insert(path.to_path_buf(), place)),
            Err(error) => {
                picker.put_back(path);
                picker.set_notice(format!("cannot move it to the trash: {error}"));
            }
        }
    }

    fn take_out(&mut self, picker: &mut SessionPicker, path: &Path) {
        let Some(place) = self.picking.trash.get(path) else { return };
        let moved = match path.exists() {
            true => Err(io::ErrorKind::AlreadyExists.into()),
            false => move_file(place, path),
        };
        match moved {
            Ok(()) => drop(self.picking.trash.remove(path)),
            Err(error) => picker.set_notice(format!("cannot take it out of the trash: {error}")),
        }
    }

    /// Returns a free path in the trash.
    fn trash_place(&self, path: &Path) -> io::Result<PathBuf> {
        let state =
            self.app.env.state_dir().map_err(|_| io::Error::other("no state directory for the trash"))?;
        let trash = state.join("trash");
        fs::create_dir_all(&trash)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let names = std::iter::once(format!("{stem}.jsonl"))
            .chain((1..1000).map(|number| format!("{stem}-{number}.jsonl")));
        let free = names.map(|name| trash.join(name)).find(|place| !place.exists());
        free.ok_or_else(|| io::Error::other("the trash is full of sessions of this name"))
    }
}

/// Moves a file, also to another file system.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::copy(from, to)?;
            fs::File::open(to)?.sync_all()?;
            fs::remove_file(from)
        }
        moved => moved,
    }
}

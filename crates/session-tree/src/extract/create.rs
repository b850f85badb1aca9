//! Creating the new session.

use std::io;
use std::path::Path;
#[cfg(feature = "fs")]
use std::path::PathBuf;

use super::copy::Part;
use super::plan::{Extract, ExtractPlan};
use crate::error::{Error, Result};
use crate::index;
use crate::journal::{ForkPart, Journal, NewLines, ReadAt, name_of, with_name};
use crate::session::{NewSession, Options, Session, split_lines};

/// The destination of a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Into this file, which must not exist.
    #[cfg(feature = "fs")]
    File(PathBuf),
    /// Into this directory, under a name made of its time and its id.
    #[cfg(feature = "fs")]
    Directory(PathBuf),
    /// Into memory only.
    Memory,
}

impl Destination {
    /// Prepares an empty session there; a file is created with its first message.
    pub(super) fn start(self, new: NewSession, options: Options) -> Result<Session> {
        match self {
            #[cfg(feature = "fs")]
            Destination::File(path) => options.create(path, new),
            #[cfg(feature = "fs")]
            Destination::Directory(directory) => options.create_in(directory, new),
            Destination::Memory => options.in_memory(new),
        }
    }
}

impl Session {
    /// Makes a new session of the path to an entry; this one stays as it is.
    ///
    /// Ids stay, label entries are replaced by new ones at the end. The file is written at once if the path has a
    /// conversation, otherwise with the first message. The leaf of the new session is its last entry.
    ///
    /// ```
    /// # use session_tree::{Message, Destination, Options};
    /// let mut session = Options::new().in_memory("/project")?;
    /// let first = session.append(Message::user("one"))?;
    /// session.append(Message::user("two"))?;
    /// let fork = session.create_branched_session(first.as_str(), Destination::Memory, Options::new())?;
    /// assert_eq!(fork.leaf_id(), Some(first));
    /// assert_ne!(fork.header().id(), session.header().id());
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn create_branched_session(&self, leaf: &str, to: Destination, options: Options) -> Result<Session> {
        let plan = self.plan_extract(Extract::Path { at: self.node(leaf)? })?;
        self.extract(&plan, to, options)
    }

    /// Makes a new session of planned entries; this one stays as it is.
    ///
    /// The new file appears whole or not at all, and never in the place of another one.
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] if the plan was made for another session or before this one was read again, or if it
    /// covers the whole session and entries were appended since.
    pub fn extract(&self, plan: &ExtractPlan, to: Destination, options: Options) -> Result<Session> {
        self.check_extract(plan)?;
        let session = to.start(self.as_parent(), options)?;
        self.fill(session, plan, plan.begins_conversation)
    }

    /// Makes a new session of planned entries in any storage, which must be empty; this one stays as it is.
    pub fn extract_to_journal(
        &self,
        plan: &ExtractPlan,
        journal: impl Journal + 'static,
        options: Options,
    ) -> Result<Session> {
        self.extract_to(plan, Box::new(journal), options)
    }

    pub(crate) fn extract_to(
        &self,
        plan: &ExtractPlan,
        journal: Box<dyn Journal>,
        options: Options,
    ) -> Result<Session> {
        let session = options.start(journal, self.as_parent())?;
        self.fill(session, plan, plan.begins_conversation)
    }

    /// Describes a session that comes from this one.
    pub(super) fn as_parent(&self) -> NewSession {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let parent_session = match self.journal.path() {
            Some(path) => Some(absolute(path).to_string_lossy().into_owned()),
            None => self.is_saved().then(|| self.location().into_owned()),
        };
        NewSession { cwd: self.header().cwd().unwrap_or_default().into_owned(), id: None, parent_session }
    }

    /// Appends planned entries to a session that is still empty, without copying their lines. Returns false if the journals
    /// cannot share lines.
    fn share_lines(&self, session: &mut Session, plan: &ExtractPlan, new_id: &str) -> Result<bool> {
        let can_fork = [self, session].iter().all(|session| session.journal.capabilities().fork);
        if !can_fork || !self.journal.exists() || plan.what == Extract::All || self.index.open_tail {
            return Ok(false);
        }
        let parts = self.planned_parts(plan, new_id).map_err(|error| self.io_error("copy", error))?;
        let parts = parts.iter().flat_map(|part| match part {
            Part::Shared(range) => vec![ForkPart::Shared(range.clone())],
            Part::New(lines) => split_lines(lines).into_iter().map(ForkPart::New).collect(),
        });
        let parts: Vec<ForkPart<'_>> = parts.collect();
        let (at, _) = session.lock_journal()?;
        let shared = session.journal.fork(at, &*self.journal, &parts);
        session.journal.unlock();
        shared.map_err(|error| with_name(&*session.journal, error, Error::io_at("fork")))
    }

    /// Writes planned entries behind the header of a session that is still empty.
    pub(super) fn fill(&self, mut session: Session, plan: &ExtractPlan, publish: bool) -> Result<Session> {
        let id = session.header().id().into_owned();
        let path = name_of(&*session.journal);
        // A file is written as a stream before it gets its name; it may be larger than memory.
        let can_replace = session.journal.capabilities().replace && !session.journal.exists();
        if (publish || session.journal.exists()) && self.share_lines(&mut session, plan, &id)? {
            session.index = index::load_journal(&*session.journal)?;
        } else if can_replace && (publish || session.file().is_none()) {
            let header = session.header().raw().to_vec();
            let mut write = |_: &dyn ReadAt, out: &mut dyn io::Write| {
                out.write_all(&header)?;
                out.write_all(b"\n")?;
                self.write_planned(plan, &id, out)
            };
            let mut loaded = None;
            session.journal.replace("", &mut write, &mut |copy| {
                loaded = Some(index::load(copy, Some(&path))?);
                Ok(())
            })?;
            if let Some(loaded) = loaded {
                session.index = loaded;
            }
        } else {
            let mut lines = Vec::new();
            self.write_planned(plan, &id, &mut lines).map_err(Error::io("copy", name_of(&*self.journal)))?;
            let new = split_lines(&lines);
            let (at, _) = session.lock_journal()?;
            let written = session.append_to_journal(&NewLines { at, bytes: &lines, lines: &new, publish });
            session.journal.unlock();
            written?;
            let len = at + lines.len() as u64;
            session.index.catch_up(&*session.journal, len).map_err(Error::io("read", &path))?;
        }
        session.set_leaf(session.recorded_leaf()?);
        Ok(session)
    }
}

//! Exports a session as a page, as Markdown, or as a session file.
//!
//! session, form, options -> **exporting** -> a complete new file, or any other output
//!
//! Shared by `offshoot export` and `/export`. Replaces a file only on request, never leaves a partial file, and never
//! contains the origin of a session.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use offshoot_agent::cancel::Cancel;
use offshoot_web::{ExportOptions, write_html, write_markdown};
use session_tree::{Error, Extract, NewHeader, Session};
use tempfile::NamedTempFile;

use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::leftovers;

/// The options of an export.
pub(crate) struct Export {
    /// The format.
    pub(crate) form: Form,
    /// The appearance of pages and Markdown, and their omissions.
    pub(crate) options: ExportOptions,
    /// True if a session file gets all branches instead of the path to the leaf.
    pub(crate) has_all: bool,
    /// The header of a session file.
    pub(crate) header: NewHeader,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Page,
    Markdown,
    Session,
}

impl Form {
    /// Returns the format of a file extension; the default is a page.
    pub(crate) fn of(path: &Path) -> Result<Self, CommandError> {
        match path.extension().map(|end| end.to_string_lossy().to_lowercase()).as_deref() {
            None | Some("html" | "htm") => Ok(Form::Page),
            Some("md" | "markdown") => Ok(Form::Markdown),
            Some("jsonl") => Ok(Form::Session),
            Some(other) => Err(CommandError::Usage(
                Failure::new(format!("cannot export as `.{other}`"))
                    .hint("`.html` is a page, `.md` is Markdown, `.jsonl` is a session file"),
            )),
        }
    }
}

impl Export {
    /// Writes the export. Returns the number of its entries.
    pub(crate) fn write(
        &self,
        session: &Session,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<usize, CommandError> {
        match self.form {
            Form::Page => Ok(write_html(session, &self.options, out, progress)?),
            Form::Markdown => Ok(write_markdown(session, &self.options, out, progress)?),
            Form::Session => {
                let what = match (self.has_all, session.leaf()) {
                    (false, Some(at)) => Extract::Path { at },
                    _ => Extract::All,
                };
                let plan = session.plan_extract(what)?;
                session.write_extract(&plan, &self.header, out)?;
                Ok(plan.entries.len())
            }
        }
    }

    /// Writes the export to a temporary file first, so that the file is complete or absent. Returns the number of
    /// entries and bytes.
    pub(crate) fn write_file(
        &self,
        session: &Session,
        path: &Path,
        force: bool,
        progress: &mut dyn FnMut(usize, usize),
        stop: &Cancel,
    ) -> Result<(usize, u64), CommandError> {
        let failed = |error: io::Error| CommandError::system("write", path, &error);
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let unfinished = self.unfinished(directory.unwrap_or(".".as_ref())).map_err(failed)?;
        let out = Stoppable { out: unfinished.as_file(), stop };
        let mut out = BufWriter::with_capacity(1 << 18, out);
        let entries = self.write(session, &mut out, progress)?;
        out.flush().map_err(failed)?;
        drop(out);
        unfinished.as_file().sync_all().map_err(failed)?;
        let persisted = if force { unfinished.persist(path) } else { unfinished.persist_noclobber(path) };
        let file = persisted.map_err(|error| failed(error.error))?;
        Ok((entries, file.metadata().map_err(failed)?.len()))
    }

    /// Creates the temporary file: sessions are private, pages and Markdown have the default mode.
    fn unfinished(&self, directory: &Path) -> io::Result<NamedTempFile> {
        leftovers::create_in(directory, "export", |builder| {
            if self.form != Form::Session {
                use std::os::unix::fs::PermissionsExt as _;
                builder.permissions(std::fs::Permissions::from_mode(0o666));
            }
        })
    }
}

/// Creates the header of an exported session file: a new id, and no origin.
pub(crate) fn new_header(session: &Session, app: &App) -> NewHeader {
    app.options().new_header(session.header().cwd().unwrap_or_default().into_owned())
}

/// Returns the default file name of a page: words of the session's name or its first prompt.
pub(crate) fn default_name(session: &Session) -> PathBuf {
    let title = offshoot_web::title(session).unwrap_or_default().to_lowercase();
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        if name.len() + word.len() > LONGEST_NAME {
            break;
        }
        name.push_str(if name.is_empty() { "" } else { "-" });
        name.push_str(word);
    }
    let name = if name.is_empty() { "session" } else { &name };
    PathBuf::from(format!("{name}.html"))
}

/// The maximum length of the default name, in bytes.
const LONGEST_NAME: usize = 60;

/// A writer that fails after a cancellation.
struct Stoppable<'s, W> {
    out: W,
    stop: &'s Cancel,
}

impl<W: Write> Write for Stoppable<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::Error::other("stopped"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the path, or an error if the file exists.
pub(crate) fn free(path: &Path) -> Result<PathBuf, CommandError> {
    if path.symlink_metadata().is_err() {
        return Ok(path.to_path_buf());
    }
    Err(Error::Exists { path: path.to_path_buf() }.into())
}

#[cfg(test)]
mod tests;

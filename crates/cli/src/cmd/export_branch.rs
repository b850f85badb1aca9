//! `offshoot export-branch`: a part of a session as a session file of its own.

use std::ffi::OsString;
use std::io::{self, Write};

use session_tree::{Destination, Extract, ExtractPlan, NewSession, Node, Session};

use super::new_file;
use crate::app::{App, file_of};
use crate::change::{Change, Changing};
use crate::error::{CommandError, Failure};
use crate::ui::{Ui, count};

/// Arguments of `offshoot export-branch`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// An entry: an id or the beginning of one, `@label`, `leaf`, `root`, `^`, `~2`, `#1`. The path to it and
    /// everything below it are exported.
    #[arg(value_name = "REF")]
    at: String,
    /// Export only the path to the entry.
    #[arg(long)]
    path: bool,
    /// Export only the entry, which becomes the root, and everything below it.
    #[arg(long, conflicts_with = "path")]
    subtree: bool,
    /// Write into this file, which must not exist; standard output if not given.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<std::path::PathBuf>,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    if args.how.json && args.output.is_none() && !args.how.dry_run {
        let failure = Failure::new("standard output gets the branch itself, which is JSON already");
        return Err(CommandError::Usage(failure.hint("`--json` goes with `-o FILE` or `--dry-run`")));
    }
    let source = app.open(&args.session)?;
    let plan = source.plan_extract(args.what(source.resolve(&args.at)?))?;
    let entries = plan.entries().len();
    let what = format!("{} of {}", count(entries, "entry"), file_of(&source));
    let verbs = ("exported", "export");
    let change = match &args.output {
        Some(file) => {
            let to = Destination::File(new_file::free(file)?);
            let made = match args.how.dry_run {
                true => None,
                false => Some(source.extract(&plan, to.clone(), app.options())?),
            };
            new_file::change(verbs, &what, &to, made)?
        }
        None => {
            if !args.how.dry_run {
                write(&source, &plan, app)?;
            }
            Change::new(verbs.0, verbs.1, what)
        }
    };
    change.field("parentSession", file_of(&source)).field("entries", entries).tell(app, args.how)
}

impl Args {
    fn what(&self, at: Node) -> Extract {
        match (self.path, self.subtree) {
            (true, _) => Extract::Path { at },
            (_, true) => Extract::Subtree { root: at },
            _ => Extract::Branch { at },
        }
    }
}

/// Writes the lines to standard output.
fn write(source: &Session, plan: &ExtractPlan, app: &mut App) -> Result<(), CommandError> {
    let header = app.options().new_header(NewSession {
        cwd: source.header().cwd().unwrap_or_default().into_owned(),
        id: None,
        parent_session: source.file().map(|file| file.display().to_string()),
    });
    let mut out = Out::new(&mut app.ui);
    let written = source.write_extract(plan, &header, &mut out);
    out.end(written.map_err(CommandError::from))
}

/// Standard output for libraries.
pub(super) struct Out<'o> {
    ui: &'o mut Ui,
    failed: Option<CommandError>,
}

impl<'o> Out<'o> {
    /// Writes to the output of commands.
    pub(super) fn new(ui: &'o mut Ui) -> Self {
        Out { ui, failed: None }
    }

    /// Tells how it went.
    pub(super) fn end(self, written: Result<(), CommandError>) -> Result<(), CommandError> {
        // Says more than the error a library made of it: the reader may just have gone away.
        self.failed.map_or(written, Err)
    }

    fn keep(&mut self, result: Result<(), CommandError>) -> io::Result<()> {
        result.map_err(|error| {
            self.failed = Some(error);
            io::ErrorKind::Other.into()
        })
    }
}

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.ui.raw(bytes);
        self.keep(result).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.ui.flush();
        self.keep(result)
    }
}

//! `offshoot export`: a session as a page, as Markdown, or as a session file to hand on.

mod source;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use offshoot_web::{ExportOptions, Packing, Theme, write_html, write_markdown};
use session_tree::{Extract, NewHeader, Session};
use tempfile::NamedTempFile;

use super::export_branch::Out;
use super::new_file;
use crate::app::{App, file_of};
use crate::change::{Change, Changing, quoted};
use crate::error::{CommandError, Failure};
use crate::ui::{Progress, bytes, count};

use source::Source;

/// Arguments of `offshoot export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: String,
    /// Write into this file, which must not exist; `-` is standard output. The end of the name decides: `.md` is
    /// Markdown, `.jsonl` a session file, anything else a page. Without it a page goes into the working directory.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Export one branch: the path to the newest tip at or below this entry. Nothing of other branches is written.
    #[arg(long, value_name = "REF")]
    branch: Option<String>,
    /// Export all branches into a `.jsonl` file, byte for byte; without it that file has the path to the leaf.
    #[arg(long, conflicts_with = "branch")]
    all: bool,
    /// Take out keys, tokens, passwords, e-mail addresses and the names of homes; tell first what was found.
    #[arg(long)]
    redact: bool,
    /// Take out what matches this regular expression, too.
    #[arg(long, value_name = "PATTERN")]
    redact_pattern: Vec<String>,
    /// Leave out arguments and results of tools.
    #[arg(long)]
    no_tools: bool,
    /// Leave out the thinking of models.
    #[arg(long)]
    no_thinking: bool,
    /// The colours that the page starts with.
    #[arg(long, value_name = "COLOURS", default_value = "auto")]
    theme: Colours,
    /// Whether the page is compressed; `auto` compresses all but small and huge sessions.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    compress: When,
    #[command(flatten)]
    how: Changing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Colours {
    Auto,
    Light,
    Dark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Page,
    Markdown,
    Session,
}

/// Where it is written to.
enum Target {
    Standard,
    File(PathBuf),
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let form = args.form();
    args.refuse_contradictions(form)?;
    let session = app.open(&args.session)?;
    let target = args.target(&session)?;
    let name = file_of(&session);
    let source = Source::prepare(args, session, app)?;
    let change = |entries: usize| {
        let what = format!("{} of {name}", count(entries, "entry"));
        let change = Change::new("exported", "export", what).field("file", name.as_str());
        change.field("entries", entries).field("redacted", source.redacted)
    };
    let change = match (&target, args.how.dry_run) {
        (Target::Standard, false) => change(args.to_standard_output(form, &source.session, app)?),
        (Target::File(path), false) => {
            let (entries, size) = args.to_file(form, &source.session, path, app)?;
            let path = path.display().to_string();
            app.ui.tell(&format!("{path}: {}", bytes(size)))?;
            let change = change(entries).field("path", path.as_str()).field("bytes", size);
            change.gives(path.as_str()).undo(format!("rm {}", quoted(&path)))
        }
        (Target::File(path), true) => {
            change(source.session.tree().len()).field("path", path.display().to_string())
        }
        (Target::Standard, true) => change(source.session.tree().len()),
    };
    change.tell(app, args.how)
}

impl Args {
    fn form(&self) -> Form {
        let extension = self.output.as_deref().and_then(Path::extension).and_then(|end| end.to_str());
        match extension {
            Some("md" | "markdown") => Form::Markdown,
            Some("jsonl") => Form::Session,
            _ => Form::Page,
        }
    }

    fn refuse_contradictions(&self, form: Form) -> Result<(), CommandError> {
        let usage = |message: &str, hint: &str| Err(CommandError::Usage(Failure::new(message).hint(hint)));
        if form == Form::Session && (self.no_tools || self.no_thinking) {
            return usage(
                "a session file has whole entries",
                "`--no-tools` and `--no-thinking` go with `.html` and `.md`",
            );
        }
        if form != Form::Session && self.all {
            return usage("a page has all branches", "`--all` goes with `-o FILE.jsonl`");
        }
        if self.how.json && self.is_standard() && !self.how.dry_run {
            return usage(
                "standard output gets the export itself",
                "`--json` goes with a file or `--dry-run`",
            );
        }
        Ok(())
    }

    fn is_standard(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    fn target(&self, session: &Session) -> Result<Target, CommandError> {
        match &self.output {
            Some(_) if self.is_standard() => Ok(Target::Standard),
            Some(path) => Ok(Target::File(new_file::free(path)?)),
            None => {
                let stem = session.file().and_then(Path::file_stem).unwrap_or("session".as_ref());
                let mut name = stem.to_os_string();
                name.push(".html");
                Ok(Target::File(new_file::free(Path::new(&name))?))
            }
        }
    }

    fn options(&self) -> ExportOptions {
        ExportOptions {
            theme: match self.theme {
                Colours::Auto => Theme::Auto,
                Colours::Light => Theme::Light,
                Colours::Dark => Theme::Dark,
            },
            tools: !self.no_tools,
            thinking: !self.no_thinking,
            home: home(),
            packing: match self.compress {
                When::Auto => Packing::Auto,
                When::Always => Packing::Always,
                When::Never => Packing::Never,
            },
        }
    }

    fn to_standard_output(
        &self,
        form: Form,
        session: &Session,
        app: &mut App,
    ) -> Result<usize, CommandError> {
        let new = new_header(session, app);
        let mut out = Out::new(&mut app.ui);
        let written = self.write(form, session, &new, &mut out);
        let entries = written.as_ref().map_or(0, |entries| *entries);
        out.end(written.map(drop))?;
        Ok(entries)
    }

    /// Writes the whole export beside its place first: a file that is there is whole.
    fn to_file(
        &self,
        form: Form,
        session: &Session,
        path: &Path,
        app: &App,
    ) -> Result<(usize, u64), CommandError> {
        let failed = |error: io::Error| CommandError::system("write", path, &error);
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let unfinished = NamedTempFile::new_in(directory.unwrap_or(".".as_ref())).map_err(failed)?;
        let mut out = BufWriter::with_capacity(1 << 18, unfinished.as_file());
        let entries = self.write(form, session, &new_header(session, app), &mut out)?;
        out.flush().map_err(failed)?;
        drop(out);
        readable_by_others(unfinished.as_file()).map_err(failed)?;
        unfinished.as_file().sync_all().map_err(failed)?;
        let file = unfinished.persist_noclobber(path).map_err(|error| failed(error.error))?;
        Ok((entries, file.metadata().map_err(failed)?.len()))
    }

    /// Writes the export; gives the number of entries in it.
    fn write(
        &self,
        form: Form,
        session: &Session,
        header: &NewHeader,
        out: &mut dyn Write,
    ) -> Result<usize, CommandError> {
        let mut bar = Progress::new("exporting", session.tree().len());
        let mut progress = |done: usize, total: usize| bar.set(done, total);
        match form {
            Form::Page => Ok(write_html(session, &self.options(), out, &mut progress)?.entries),
            Form::Markdown => Ok(write_markdown(session, &self.options(), out, &mut progress)?),
            Form::Session => {
                let what = match (self.all, session.leaf()) {
                    (false, Some(at)) => Extract::Path { at },
                    _ => Extract::All,
                };
                let plan = session.plan_extract(what)?;
                session.write_extract(&plan, header, out)?;
                Ok(plan.entries().len())
            }
        }
    }
}

/// The header of a session file to hand on: a new id, and no word of where it came from.
fn new_header(session: &Session, app: &App) -> NewHeader {
    app.options().new_header(session.header().cwd().unwrap_or_default().into_owned())
}

/// A temporary file is private; what is made to be handed on has the mode of any new file.
#[cfg(unix)]
fn readable_by_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    // The mode that a new file would get is not to be had without making one; this is the usual one.
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_others(_: &File) -> io::Result<()> {
    Ok(())
}

/// The home directory, to show paths inside it with `~`.
fn home() -> Option<String> {
    etcetera::home_dir().ok().map(|home| home.to_string_lossy().into_owned())
}

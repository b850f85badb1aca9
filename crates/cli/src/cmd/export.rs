//! `offshoot export`: a session as a page, as Markdown, or as a session file to hand on.

mod source;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_agent::cancel::Cancel;
use offshoot_web::{ExportOptions, Packing, Theme};
use session_tree::Session;

use crate::app::{App, file_of};
use crate::change::{Change, Changing, quoted};
use crate::error::{CommandError, Failure};
use crate::exporting::{Export, Form, default_name, free, new_header};
use crate::ui::Ui;
use crate::ui::{Progress, bytes, count};

use source::Source;

/// Export a session as an HTML page, as Markdown, or as a session file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
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
    let export = args.export(form, &source.session, app);
    let change = |entries: usize| {
        let what = format!("{} of {name}", count(entries, "entry"));
        let change = Change::new("exported", "export", what).field("file", name.as_str());
        change.field("entries", entries).field("redacted", source.redacted)
    };
    let change = match (&target, args.how.dry_run) {
        (Target::Standard, false) => change(to_standard_output(&export, &source.session, app)?),
        (Target::File(path), false) => {
            let session = &source.session;
            let mut bar = bar(session);
            // Who presses Ctrl-C ends the program.
            let never = Cancel::new();
            let written =
                export.write_new_file(session, path, &mut |done, total| bar.set(done, total), &never);
            drop(bar);
            let (entries, size) = written?;
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
        self.output.as_deref().map_or(Form::Page, Form::of)
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
            Some(path) => Ok(Target::File(free(path)?)),
            None => Ok(Target::File(free(Path::new(&default_name(session)))?)),
        }
    }

    fn export(&self, form: Form, session: &Session, app: &App) -> Export {
        let (options, header) = (self.options(app), new_header(session, app));
        Export { form, options, has_all: self.all, header }
    }

    fn options(&self, app: &App) -> ExportOptions {
        ExportOptions {
            theme: match self.theme {
                Colours::Auto => Theme::Auto,
                Colours::Light => Theme::Light,
                Colours::Dark => Theme::Dark,
            },
            tools: !self.no_tools,
            thinking: !self.no_thinking,
            home: app.home(),
            packing: match self.compress {
                When::Auto => Packing::Auto,
                When::Always => Packing::Always,
                When::Never => Packing::Never,
            },
        }
    }
}

fn to_standard_output(export: &Export, session: &Session, app: &mut App) -> Result<usize, CommandError> {
    let mut bar = bar(session);
    let mut out = Out::new(&mut app.ui);
    let written = export.write(session, &mut out, &mut |done, total| bar.set(done, total));
    let entries = written.as_ref().map_or(0, |entries| *entries);
    out.end(written.map(drop))?;
    Ok(entries)
}

fn bar(session: &Session) -> Progress {
    Progress::new("exporting", session.tree().len())
}

/// Standard output for libraries.
struct Out<'o> {
    ui: &'o mut Ui,
    failed: Option<CommandError>,
}

impl<'o> Out<'o> {
    /// Writes to the output of commands.
    fn new(ui: &'o mut Ui) -> Self {
        Out { ui, failed: None }
    }

    /// Tells how it went.
    fn end(self, written: Result<(), CommandError>) -> Result<(), CommandError> {
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

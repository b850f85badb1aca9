//! `offshoot export`: writes a session as a page, as Markdown, or as a session file.

mod source;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use offshoot_agent::cancel::Cancel;
use offshoot_web::ExportOptions;
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::Session;

use crate::app::{App, file_of};
use crate::change::{Change, Changing, quoted};
use crate::error::{CommandError, Failure};
use crate::exporting::{Export, Form, default_name, free, new_header};
use crate::ui::{Progress, Ui, bytes, count};

use source::Source;

/// Export a session as an HTML page, as Markdown, or as a session file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
    #[arg(value_name = "SESSION", default_value = "-")]
    session: OsString,
    /// Write into this file; `-` is standard output. The extension decides: `.html` is a page, `.md` is Markdown, `.jsonl`
    /// a session file. The default is a page in the working directory, named after the session.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Export one branch: the path to the newest tip at or below this entry. Nothing of other branches is written.
    #[arg(long, value_name = "REF")]
    branch: Option<String>,
    /// Export all branches into a `.jsonl` file, byte for byte; without it that file has the path to the leaf.
    #[arg(long, conflicts_with = "branch")]
    all: bool,
    /// Remove keys, tokens, passwords, e-mail addresses and names of home directories; report the findings first.
    #[arg(long)]
    redact: bool,
    /// Also remove text that matches this regular expression.
    #[arg(long, value_name = "PATTERN")]
    redact_pattern: Vec<String>,
    /// Leave out arguments and results of tools.
    #[arg(long)]
    no_tools: bool,
    /// Leave out the thinking of models.
    #[arg(long)]
    no_thinking: bool,
    /// Replace the file if it exists.
    #[arg(long, short)]
    force: bool,
    /// Open the file in the browser, or in the default program of its type.
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let form = args.output.as_deref().map_or(Ok(Form::Page), Form::of)?;
    args.refuse_contradictions(form)?;
    let session = app.open(&args.session)?;
    let name = file_of(&session);
    let path = match &args.output {
        Some(path) => Some(path.clone()).filter(|_| !args.is_standard()),
        None => Some(default_name(&session)),
    };
    if let Some(path) = path.as_deref().filter(|_| !args.force) {
        free(path)?;
    }
    let source = Source::prepare(args, session, app)?;
    let session = &source.session;
    let options = ExportOptions {
        tools: !args.no_tools,
        thinking: !args.no_thinking,
        home: app.env.home(),
        ..ExportOptions::default()
    };
    let export = Export { form, options, has_all: args.all, header: new_header(session, app) };
    let mut bar = Progress::new("exporting", session.tree().len());
    let mut progress = |done: usize, total: usize| bar.set(done, total);
    let (entries, size) = match &path {
        _ if args.how.dry_run => (session.tree().len(), None),
        None => (to_standard_output(&export, session, &mut progress, app)?, None),
        Some(path) => {
            // Ctrl-C ends the program.
            let (entries, size) =
                export.write_file(session, path, args.force, &mut progress, &Cancel::new())?;
            (entries, Some(size))
        }
    };
    drop(bar);
    let what = format!("{} of {name}", count(entries, "entry"));
    let mut change = Change::new("exported", "export", what);
    let path = path.map(|path| path.display().to_string());
    if let (Some(path), Some(size)) = (&path, size) {
        app.ui.tell(&format!("{path}: {}", bytes(size)))?;
        change = change.gives(path.as_str()).undo(format!("rm {}", quoted(path)));
        if args.open {
            open(path, app)?;
        }
    }
    let exported = Exported { file: name, entries, redacted: source.redacted, path, bytes: size };
    change.json(exported)?.tell(app, args.how)
}

/// The JSON of an export.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Exported {
    /// The file of the session.
    file: String,
    entries: usize,
    /// The number of places that were redacted; null if that was not requested.
    redacted: Option<usize>,
    /// The file of the export.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The length of the export; not known in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

/// Opens a file in the default program of its type.
fn open(path: &str, app: &mut App) -> Result<(), CommandError> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = process::Command::new(program);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(error) => app.ui.tell(&format!("warning: cannot run {program}: {error}")),
    }
}

impl Args {
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
        if self.is_standard() && (self.how.json || self.open) && !self.how.dry_run {
            return usage("standard output gets the export itself", "`--json` and `--open` need a file");
        }
        Ok(())
    }

    fn is_standard(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }
}

fn to_standard_output(
    export: &Export,
    session: &Session,
    progress: &mut dyn FnMut(usize, usize),
    app: &mut App,
) -> Result<usize, CommandError> {
    let mut out = StdoutWriter::new(&mut app.ui);
    let written = export.write(session, &mut out, progress);
    let entries = written.as_ref().map_or(0, |entries| *entries);
    out.end(written.map(drop))?;
    Ok(entries)
}

/// Standard output as a writer for libraries.
struct StdoutWriter<'o> {
    ui: &'o mut Ui,
    failed: Option<CommandError>,
}

impl<'o> StdoutWriter<'o> {
    /// Writes to the output of commands.
    fn new(ui: &'o mut Ui) -> Self {
        StdoutWriter { ui, failed: None }
    }

    /// Returns the error of standard output, if any, else the result.
    fn end(self, written: Result<(), CommandError>) -> Result<(), CommandError> {
        // The error of standard output is more precise: the reader may just have closed the pipe.
        self.failed.map_or(written, Err)
    }

    fn keep(&mut self, result: Result<(), CommandError>) -> io::Result<()> {
        result.map_err(|error| {
            self.failed = Some(error);
            io::ErrorKind::Other.into()
        })
    }
}

impl Write for StdoutWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.ui.raw(bytes);
        self.keep(result).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.ui.flush();
        self.keep(result)
    }
}

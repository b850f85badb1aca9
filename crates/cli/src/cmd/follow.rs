//! `offshoot follow`: prints entries as other processes append them.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use session_tree::{Entry, FileLoss, Session};

use super::texts::Texts;
use crate::app::App;
use crate::database;
use crate::error::{CommandError, Failure};
use crate::ui::Tone;

/// Short enough to feel immediate, long enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(100);

/// Print entries as other programs append them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
    #[arg(value_name = "SESSION", default_value = "-")]
    session: OsString,
    /// Also print the existing entries.
    #[arg(long)]
    from_start: bool,
    /// End after this many seconds without a new entry.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    until_idle: Option<Duration>,
    /// Print the lines of entries as JSON.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "not a number of seconds".to_owned())
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open(&args.session)?;
    if args.from_start {
        let entries: Vec<Entry> = session.entries().collect::<Result<_, _>>()?;
        print(&session, &entries, args.json, app)?;
    }
    let id = session.header().id().into_owned();
    let path = session.file().map(Path::to_path_buf).unwrap_or_default();
    let mut last_news = Instant::now();
    loop {
        let entries = look(&mut session, &path, &id)?;
        if !entries.is_empty() {
            print(&session, &entries, args.json, app)?;
            last_news = Instant::now();
        }
        if args.until_idle.is_some_and(|most| last_news.elapsed() >= most) {
            return Ok(());
        }
        if app.ui.reader_is_gone() {
            return Err(CommandError::BrokenPipe);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Reads new entries. A migrated file is followed under its name; another session is not.
fn look(session: &mut Session, path: &Path, id: &str) -> Result<Vec<Entry>, CommandError> {
    let lost = |what: FileLoss| Failure::new(format!("{} was {what} by another program", path.display()));
    // The open file would never change again.
    if !database::is_address(path)
        && path.metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    {
        return Err(lost(FileLoss::Deleted).into());
    }
    let entries = session.poll()?;
    if session.header().id() != id {
        return Err(lost(FileLoss::Replaced).into());
    }
    Ok(entries)
}

fn print(session: &Session, entries: &[Entry], is_json: bool, app: &mut App) -> Result<(), CommandError> {
    match is_json {
        true => entries.iter().try_for_each(|entry| app.ui.json(entry))?,
        false => print_rows(session, entries, app)?,
    }
    app.ui.flush()
}

fn print_rows(session: &Session, entries: &[Entry], app: &mut App) -> Result<(), CommandError> {
    let texts = Texts::new(session);
    for entry in entries {
        let (tone, text) = texts.of(session, entry.node())?;
        app.ui.row(&[(Tone::Dim, entry.id().as_str()), (Tone::Plain, "  "), (tone, &text)], 2)?;
    }
    Ok(())
}

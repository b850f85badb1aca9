//! The log: spans and events of the program.
//!
//! `tracing` -> filter (`OFFSHOOT_LOG`, `--log`) -> standard error, or a file of limited size
//!
//! Off by default. Logs only events of our own crates and the console of extensions, never those of libraries, which
//! may contain headers of requests. The chat keeps its latest lines in memory for `/log`.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tracing::{Metadata, info, subscriber};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{FilterExt as _, Targets, filter_fn};
use tracing_subscriber::fmt::{self, MakeWriter, format::FmtSpan};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry;

use crate::env::Environment;
use crate::error::{CommandError, Failure};
use crate::ui;

/// The filter of `--log` without a value.
const DEFAULT_FILTER: &str = "debug";
/// The filter of a chat without a log file: these lines are only in memory.
const CHAT_FILTER: &str = "warn,console=trace";
/// The size at which a new log file begins. The one before it is kept.
const MAX_FILE: u64 = 4 << 20;
/// The longest line, in bytes; the rest is cut off.
const MAX_LINE: usize = 8 << 10;
/// The number of lines that a chat keeps in memory.
const MAX_RECENT: usize = 1_000;

/// The latest lines of a chat, oldest first.
static RECENT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

// The option of the log. (A documentation comment would replace the help of the program.)
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Log to standard error, the chat to a file; FILTER is a level, such as `trace`, or a list.
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    log: Option<String>,
}

/// The destination of the log.
#[derive(Debug, Clone, Default)]
struct Output {
    /// True if lines go to standard error.
    to_stderr: bool,
    file: Option<PathBuf>,
    /// True if lines are kept in memory.
    keeps_recent: bool,
}

/// Starts the log if the command line or the environment requests it, or in a chat.
pub(crate) fn start(args: &Args, env: &Environment, is_chat: bool) -> Result<(), CommandError> {
    let given = args.log.as_deref().filter(|filter| !filter.is_empty()).or(env.log.as_deref());
    let filter = match given.or(args.log.as_ref().map(|_| DEFAULT_FILTER)) {
        Some(filter) => filter,
        None if is_chat => CHAT_FILTER,
        None => return Ok(()),
    };
    let is_wanted = args.log.is_some() || env.log.is_some();
    let to_stderr = args.log.is_some() && !is_chat;
    let file = if is_wanted && !to_stderr { Some(file(env)?) } else { None };
    let output = Output { to_stderr, file, keeps_recent: is_chat };
    let targets: Targets = filter.parse().map_err(|_| {
        CommandError::Usage(
            Failure::new(format!("`{filter}` is not a log filter"))
                .hint("a filter is a level, or a list such as `warn,offshoot_providers=trace`"),
        )
    })?;
    let lines = fmt::layer()
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(output)
        .with_filter(targets.and(filter_fn(is_ours)));
    // An error means that a log is already set.
    let _ = subscriber::set_global_default(registry().with(lines));
    info!(version = env!("CARGO_PKG_VERSION"), process = std::process::id(), "start");
    Ok(())
}

/// Returns the log file. It need not exist.
pub(crate) fn file(env: &Environment) -> Result<PathBuf, CommandError> {
    Ok(env.state_dir()?.join("offshoot.log"))
}

/// Returns the latest lines of this chat, oldest first.
pub(crate) fn recent(count: usize) -> Vec<String> {
    let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    recent.iter().skip(recent.len().saturating_sub(count)).cloned().collect()
}

/// Returns the latest warnings and errors of the log files, oldest first.
pub(crate) fn latest_problems(file: &Path, count: usize) -> Vec<String> {
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text: String =
        [previous(file).as_path(), file].into_iter().filter_map(|path| read(path).ok()).collect();
    let is_problem = |line: &&str| {
        // Further lines of an event are indented.
        !line.starts_with(' ') && matches!(line.split_whitespace().nth(1), Some("WARN" | "ERROR"))
    };
    let problems: Vec<&str> = text.lines().filter(is_problem).collect();
    problems[problems.len().saturating_sub(count)..].iter().map(|line| (*line).to_owned()).collect()
}

/// Returns true for events of this program and of the console of extensions.
fn is_ours(event: &Metadata<'_>) -> bool {
    event.target().starts_with("offshoot") || event.target() == offshoot_extensions::CONSOLE
}

impl<'a> MakeWriter<'a> for Output {
    type Writer = &'a Output;

    fn make_writer(&'a self) -> &'a Output {
        self
    }
}

impl Write for &Output {
    /// Writes one line. A log that cannot be written must not disturb the program.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        let text = &text[..text.floor_char_boundary(MAX_LINE)].replace('\n', "\n    ");
        if self.to_stderr {
            ui::words(text);
        }
        if let Some(file) = &self.file {
            let _ = append(file, text);
        }
        if self.keeps_recent {
            let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
            if recent.len() == MAX_RECENT {
                recent.pop_front();
            }
            recent.push_back(text.to_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Appends a line. The file is opened for each line, because another process may have started a new one.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = open(path)?;
    if file.metadata()?.len() >= MAX_FILE {
        fs::rename(path, previous(path))?;
        file = open(path)?;
    }
    file.write_all(format!("{line}\n").as_bytes())
}

/// Opens the log file, which only its owner can read.
fn open(path: &Path) -> io::Result<File> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Returns the previous log file.
fn previous(path: &Path) -> PathBuf {
    path.with_extension("log.old")
}

#[cfg(test)]
mod tests;

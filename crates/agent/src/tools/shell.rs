//! Runs a command line: its output as it comes, and nothing left behind.
//!
//! ```text
//!   spawn (own process group, one pipe for stdout and stderr)
//!     -> pump until it exits, runs out of time or is cancelled
//!     -> what is left of the group: TERM, KILL after a while
//!     -> the rest of the pipe, reaped
//! ```
//!
//! Used by the tool `bash` and by commands that users type. Never decides whether a command may run.

mod capture;
mod group;
mod logs;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout_at};

use self::capture::Capture;
pub use self::group::Group;
#[cfg(test)]
pub(crate) use self::logs::new_file as new_output_file;
pub(crate) use self::logs::{MAX_FILE, is_own_output};
use crate::cancel::Cancel;
use crate::secrets::Secrets;
use crate::tool::ToolPlace;
use crate::tools::output::Capped;

/// How long a command that was told to end may take.
const GRACE: Duration = Duration::from_secs(5);
/// How long processes that a command left in the background may take to end by themselves.
const SETTLE: Duration = Duration::from_millis(300);
/// How long the rest of the output is waited for when somebody outside the group keeps the pipe open.
const DRAIN: Duration = Duration::from_millis(300);
/// The shortest time between two progress events.
const PROGRESS: Duration = Duration::from_millis(100);
/// How often the group is looked at while it ends.
const LOOK: Duration = Duration::from_millis(10);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut(Duration),
    Cancelled,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    /// The end of its output.
    pub(crate) output: Capped,
    /// The file with its output, if the end is not all.
    pub(crate) full_output: Option<PathBuf>,
    /// Whether processes that it left in the background had to be ended.
    pub(crate) left_behind: bool,
}

/// Runs `command` in a place and passes its output so far to `watch`.
pub(crate) async fn run(
    command: &str,
    place: &ToolPlace,
    limit: Option<Duration>,
    watch: impl FnMut(&Capture),
) -> io::Result<Ran> {
    let cancel = &place.cancel;
    let (mut child, pipe) = spawn(command, place)?;
    let mut group = Group::of(&child);
    let mut pump = Pump { pipe, capture: Capture::default(), is_open: true, watch };
    let end = pump.until(ending(&mut child, limit, cancel)).await?;
    let exited = matches!(end, End::Exited(_));
    if exited {
        pump.settle(&group).await;
    }
    let left_behind = pump.end(&mut group, &mut child).await && exited;
    pump.drain().await;
    child.wait().await?;
    group.forget();
    let (output, full_output) = pump.capture.finish().await;
    Ok(Ran { end, output, full_output, left_behind })
}

/// Starts the command with `bash`, or with `sh` where there is no `bash`.
fn spawn(command: &str, place: &ToolPlace) -> io::Result<(Child, tokio::net::unix::pipe::Receiver)> {
    match spawn_with("bash", command, place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && place.cwd.is_dir() => {
            spawn_with("sh", command, place)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::other("the working directory does not exist"))
        }
        spawned => spawned,
    }
}

fn spawn_with(
    shell: &str,
    command: &str,
    place: &ToolPlace,
) -> io::Result<(Child, tokio::net::unix::pipe::Receiver)> {
    let (reader, writer) = io::pipe()?;
    let mut shell = Command::new(shell);
    for name in withheld(&place.secrets) {
        shell.env_remove(name);
    }
    let child = shell
        // `--`: a command that begins with a dash is no option.
        .args(["-c", "--", command])
        .current_dir(&place.cwd)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let pipe = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())?;
    Ok((child, pipe))
}

/// Returns the environment variables of this process that commands do not inherit.
pub(super) fn withheld(secrets: &Secrets) -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| secrets.withholds(&name.to_string_lossy())).collect()
}

/// Waits for the end of the command, or for a reason to end it.
async fn ending(child: &mut Child, limit: Option<Duration>, cancel: &Cancel) -> io::Result<End> {
    let time_out = async {
        match limit {
            Some(limit) => {
                sleep(limit).await;
                limit
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Ok(End::Cancelled),
        status = child.wait() => status.map(End::Exited),
        limit = time_out => Ok(End::TimedOut(limit)),
    }
}

/// Brings bytes from the pipe to the capture while something else is waited for.
struct Pump<W> {
    pipe: tokio::net::unix::pipe::Receiver,
    capture: Capture,
    is_open: bool,
    watch: W,
}

impl<W: FnMut(&Capture)> Pump<W> {
    async fn until<T>(&mut self, done: impl Future<Output = T>) -> T {
        tokio::pin!(done);
        let mut ticks = interval(PROGRESS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_news = false;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                result = &mut done => return result,
                read = self.pipe.read(&mut buffer), if self.is_open => {
                    is_news = true;
                    self.take(read, &buffer).await;
                }
                _ = ticks.tick(), if is_news => {
                    is_news = false;
                    (self.watch)(&self.capture);
                }
            }
        }
    }

    async fn take(&mut self, read: io::Result<usize>, buffer: &[u8]) {
        match read {
            Ok(0) => self.is_open = false,
            Ok(length) => self.capture.push(&buffer[..length]).await,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.is_open = false,
        }
    }

    /// Reads what is left, until nobody can write any more or it takes too long.
    async fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        let mut buffer = vec![0; 64 * 1024];
        // Somebody who writes without a pause never lets the timer have its turn.
        while self.is_open && Instant::now() < until {
            let Ok(read) = timeout_at(until, self.pipe.read(&mut buffer)).await else { return };
            self.take(read, &buffer).await;
        }
    }

    /// Gives processes behind an ended shell, such as a `tee`, a moment to end by themselves.
    async fn settle(&mut self, group: &Group) {
        let until = Instant::now() + SETTLE;
        while group.is_alive() && Instant::now() < until {
            self.until(sleep(LOOK)).await;
        }
    }

    /// Ends what is left of the group, and tells whether anything was.
    async fn end(&mut self, group: &mut Group, child: &mut Child) -> bool {
        if !group.is_alive() {
            // Nothing was seen; whoever came to life meanwhile goes too.
            group.kill();
            return false;
        }
        group.ask_to_end();
        let until = Instant::now() + GRACE;
        while group.is_alive() && Instant::now() < until {
            self.until(sleep(LOOK)).await;
            // An ended leader counts as alive until somebody has asked for its status.
            child.try_wait().ok();
        }
        group.kill();
        true
    }
}

//! Runs a command line, streams its output, and ends all its processes.
//!
//! ```text
//!   spawn (own process group, one pipe for stdout and stderr)
//!     -> pump until it exits, runs out of time or is cancelled
//!     -> remaining processes of the group: TERM, KILL after a while
//!     -> the rest of the pipe, reaped
//! ```
//!
//! Used by the tool `bash` and by the user's commands. Never decides whether a command may run.

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

/// The time between TERM and KILL.
const GRACE: Duration = Duration::from_secs(5);
/// The time for background processes to end by themselves.
const SETTLE: Duration = Duration::from_millis(300);
/// The time to read remaining output while a process outside the group keeps the pipe open.
const DRAIN: Duration = Duration::from_millis(300);
/// The minimum time between two progress events.
const PROGRESS: Duration = Duration::from_millis(100);
/// How often to poll the group while it ends.
const LOOK: Duration = Duration::from_millis(10);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut(Duration),
    Cancelled,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    /// The end of the output.
    pub(crate) output: Capped,
    /// The file with the whole output, if it was cut.
    pub(crate) full_output: Option<PathBuf>,
    /// True if background processes had to be ended.
    pub(crate) left_behind: bool,
}

/// Runs `command` and passes its output so far to `watch`.
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

/// Starts the command with `bash`, or with `sh` if there is no `bash`.
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
        // After `--`, a command that starts with a dash is not an option.
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

/// Waits until the command ends, times out or is cancelled.
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

/// Copies bytes from the pipe to the capture while waiting for something else.
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

    /// Reads the remaining output until all writers have closed the pipe or time is up.
    async fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        let mut buffer = vec![0; 64 * 1024];
        // A process that writes without a pause would starve a timer.
        while self.is_open && Instant::now() < until {
            let Ok(read) = timeout_at(until, self.pipe.read(&mut buffer)).await else { return };
            self.take(read, &buffer).await;
        }
    }

    /// Gives remaining processes of an ended shell, such as `tee`, time to end by themselves.
    async fn settle(&mut self, group: &Group) {
        let until = Instant::now() + SETTLE;
        while group.is_alive() && Instant::now() < until {
            self.until(sleep(LOOK)).await;
        }
    }

    /// Ends the remaining processes of the group. Returns true if there were any.
    async fn end(&mut self, group: &mut Group, child: &mut Child) -> bool {
        if !group.is_alive() {
            // No process was found; one started since then ends too.
            group.kill();
            return false;
        }
        group.ask_to_end();
        let until = Instant::now() + GRACE;
        while group.is_alive() && Instant::now() < until {
            self.until(sleep(LOOK)).await;
            // An ended leader counts as alive until its status is read.
            child.try_wait().ok();
        }
        group.kill();
        true
    }
}

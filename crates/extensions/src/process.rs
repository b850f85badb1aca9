//! One process that an extension has started: what goes in, what comes out, and how it ends.
//!
//! ```text
//!   spawn (own process group) -> input and output side by side until it exits or has to end
//!     -> if it has to: TERM to the group, KILL after a while
//!     -> the rest of the pipes, reaped
//! ```
//!
//! Used by `exec`, which is waited for, and by `execSync`, which blocks. Never decides whether a process may be
//! started.

use std::io;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt as _;
use futures_util::future::FusedFuture;
use offshoot_agent::tools::ProcessGroup;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::engine::Setting;

/// How long to wait for the rest of the output if a child of the process keeps the pipe open.
const DRAIN: Duration = Duration::from_millis(300);
/// How often a group is looked at while it ends.
const LOOK: Duration = Duration::from_millis(10);

/// A process to run.
pub(crate) struct Job {
    command: Command,
    input: Vec<u8>,
    /// How long it may run.
    limit: Option<Duration>,
    /// How long it may go on after it was asked to end.
    grace: Duration,
    /// The most bytes that are kept of each of its outputs.
    most: usize,
}

/// The result of a process.
pub(crate) struct ProcessResult {
    stdout: String,
    stderr: String,
    /// None if a signal ended it.
    code: Option<i32>,
    /// True if it was made to end.
    was_ended: bool,
}

/// Spells the result of a process as script reads it. A process that cannot be started has no exit code.
pub(crate) fn outcome(ended: Result<ProcessResult, String>) -> Json {
    match ended {
        Ok(ProcessResult { stdout, stderr, code, was_ended }) => {
            json!({"stdout": stdout, "stderr": stderr, "code": code, "killed": was_ended})
        }
        Err(error) => json!({"stdout": "", "stderr": error, "code": null, "killed": false, "error": error}),
    }
}

impl Job {
    /// Reads what script wants: `command`, `args`, `cwd`, `env`, `input` or `inputBase64`, `timeout`.
    pub(crate) fn new(wanted: &Json, setting: &Setting, grace: Duration) -> Result<Self, String> {
        let mut command = Command::new(wanted["command"].as_str().unwrap_or_default());
        command.args(wanted["args"].as_array().into_iter().flatten().filter_map(Json::as_str));
        command.current_dir(setting.host.cwd.join(wanted["cwd"].as_str().unwrap_or_default()));
        for (name, value) in std::env::vars_os() {
            let (shown, value) = (name.to_string_lossy(), value.to_string_lossy());
            if setting.host.secrets.withholds_variable(&shown, &value) {
                command.env_remove(&name);
            }
        }
        let environment = wanted["env"].as_object().into_iter().flatten();
        command.envs(environment.filter_map(|(name, value)| Some((name, value.as_str()?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        // Both outputs, as text and as script keeps them, fit into the memory of the extension.
        let most = setting.limits.memory / 8;
        let limit = milliseconds(&wanted["timeout"]);
        Ok(Job { command, input: input(wanted)?, limit, grace, most })
    }

    /// Runs the process until it ends, runs out of time, or `stop` says that it has to end.
    pub(crate) async fn run(mut self, stop: impl Future<Output = ()>) -> io::Result<ProcessResult> {
        let mut child = self.command.spawn()?;
        let mut group = ProcessGroup::of(&child);
        let (mut stdout, mut stderr) = (Output::new(self.most), Output::new(self.most));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let was_ended = {
            let flow = async {
                tokio::join!(feed(pipes.0, &self.input), stdout.collect(pipes.1), stderr.collect(pipes.2));
            };
            let mut flow = pin!(flow.fuse());
            let has_to_end = beside(flow.as_mut(), self.has_to_end(&mut child, stop)).await?;
            if has_to_end {
                self.end(flow.as_mut(), &group, &mut child).await;
            }
            if !flow.is_terminated() {
                timeout(DRAIN, flow).await.ok();
            }
            has_to_end
        };
        let code = child.wait().await?.code();
        // What it left in the background on purpose may go on, such as a browser.
        group.forget();
        Ok(ProcessResult { stdout: stdout.text(), stderr: stderr.text(), code, was_ended })
    }

    /// Waits for the end of the process, or for a reason to end it. Tells whether there was one.
    async fn has_to_end(&self, child: &mut Child, stop: impl Future<Output = ()>) -> io::Result<bool> {
        let late = async {
            match self.limit {
                Some(limit) => sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            status = child.wait() => status.map(|_| false),
            () = stop => Ok(true),
            () = late => Ok(true),
        }
    }

    /// Asks the whole group to end, and makes it end if it does not.
    async fn end(
        &self,
        mut flow: Pin<&mut impl FusedFuture<Output = ()>>,
        group: &ProcessGroup,
        child: &mut Child,
    ) {
        group.ask_to_end();
        let until = Instant::now() + self.grace;
        while group.is_alive() && Instant::now() < until {
            beside(flow.as_mut(), sleep(LOOK)).await;
            // An ended leader counts as alive until its status is read.
            child.try_wait().ok();
        }
        group.kill();
    }
}

/// Lets input and output flow while something else is waited for.
async fn beside<T>(mut flow: Pin<&mut impl FusedFuture<Output = ()>>, done: impl Future<Output = T>) -> T {
    let mut done = pin!(done);
    loop {
        tokio::select! {
            result = &mut done => return result,
            () = flow.as_mut(), if !flow.is_terminated() => {}
        }
    }
}

async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        // A process that does not read its input does not need it.
        stdin.write_all(input).await.ok();
    }
}

/// The output of a process, up to a limit.
struct Output {
    bytes: Vec<u8>,
    most: usize,
    is_cut: bool,
}

impl Output {
    fn new(most: usize) -> Self {
        Output { bytes: Vec::new(), most, is_cut: false }
    }

    /// Reads until the pipe is closed. Output beyond the limit is read too, so that the process can continue.
    async fn collect(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else { return };
        (&mut pipe).take(self.most as u64).read_to_end(&mut self.bytes).await.ok();
        self.is_cut = pipe.read(&mut [0]).await.is_ok_and(|length| length > 0);
        tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await.ok();
    }

    fn text(self) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        if self.is_cut {
            text.push_str(&format!("\n[only the first {} bytes were kept]\n", self.most));
        }
        text
    }
}

/// Reads a time limit in milliseconds, if there is one.
pub(crate) fn milliseconds(wanted: &Json) -> Option<Duration> {
    let wanted = wanted.as_f64().filter(|ms| ms.is_finite() && *ms > 0.0)?;
    Some(Duration::from_micros((wanted * 1_000.0) as u64))
}

fn input(wanted: &Json) -> Result<Vec<u8>, String> {
    match wanted["inputBase64"].as_str() {
        Some(encoded) => STANDARD.decode(encoded).map_err(|error| error.to_string()),
        None => Ok(wanted["input"].as_str().unwrap_or_default().as_bytes().to_vec()),
    }
}

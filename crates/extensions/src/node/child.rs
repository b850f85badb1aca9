//! The child processes of Node, one for the extensions of each origin.
//!
//! A child has its own process group, a limit of memory and an environment without credentials. It ends when its last
//! extension is dropped, and when the pipe to it is closed, whatever ended this program.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak, mpsc as sync};
use std::time::Duration;

use offshoot_agent::secrets::Secrets;
use offshoot_agent::tools::ProcessGroup;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;
use tracing::{debug, info};

use super::frame::{Frame, Kind};
use crate::CONSOLE;
use crate::builtin::FILES;
use crate::discover::Origin;
use crate::host::Host;
use crate::limits::Limits;
use crate::runtime::Runtimes;

/// How long a child may take to say its version.
const START: Duration = Duration::from_secs(20);
/// Memory of a child besides that of its extensions.
const OWN_MEMORY: usize = 2 << 30;
/// How much a child may write to the log at once without a line end.
const LONGEST_LINE: usize = 16 << 10;

/// The reason if no Node is found.
pub(crate) const NOT_INSTALLED: &str = "it is not installed";

const CHILD: &str = include_str!("../../js/host/child.js");
const THREAD: &str = include_str!("../../js/host/thread.js");
/// Modules of ours that are different in Node.
const OVERRIDES: [(&str, &str); 2] = [
    ("globals", include_str!("../../js/host/globals.js")),
    ("abort", include_str!("../../js/host/abort.js")),
];

/// The children of the extensions that are loaded together.
#[derive(Debug, Default)]
pub(crate) struct Children {
    runtimes: Runtimes,
    /// Weak, so that a child ends with its extensions.
    open: Mutex<BTreeMap<Origin, Weak<Child>>>,
}

impl Children {
    pub(crate) fn new(runtimes: Runtimes) -> Self {
        Children { runtimes, open: Mutex::default() }
    }

    /// Returns true if a program is known that may run a child.
    pub(crate) fn are_possible(&self) -> bool {
        !self.runtimes.is_empty()
    }

    /// Returns the child for an origin, and starts it if it does not run.
    pub(crate) fn of(&self, origin: Origin, host: &Host, limits: &Limits) -> Result<Arc<Child>, String> {
        let mut open = self.open.lock();
        if let Some(child) = open.get(&origin).and_then(Weak::upgrade).filter(|child| child.ended().is_none())
        {
            return Ok(child);
        }
        let mut reasons = Vec::new();
        for program in self.runtimes.programs() {
            match Child::start(program, host, limits) {
                Ok(child) => {
                    open.insert(origin, Arc::downgrade(&child));
                    return Ok(child);
                }
                Err(reason) => reasons.push(format!("{} {reason}", program.display())),
            }
        }
        Err(if reasons.is_empty() { NOT_INSTALLED.to_owned() } else { reasons.join("; ") })
    }
}

/// A running child.
pub(crate) struct Child {
    input: Mutex<ChildStdin>,
    routes: Arc<Routes>,
    group: ProcessGroup,
    next: AtomicU32,
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("group", &self.group).finish_non_exhaustive()
    }
}

/// The receivers of frames, by the numbers of extensions.
#[derive(Default)]
struct Routes {
    receivers: Mutex<BTreeMap<u32, mpsc::UnboundedSender<Frame>>>,
    /// The reason why the child has ended.
    ended: OnceLock<String>,
}

impl Child {
    /// Starts a child and waits for its version. The error continues a sentence that begins with the program.
    fn start(program: &Path, host: &Host, limits: &Limits) -> Result<Arc<Self>, String> {
        let failed = |error: io::Error| format!("cannot be started: {error}");
        let mut process =
            command(program, &host.secrets, limits).current_dir(&host.cwd).spawn().map_err(failed)?;
        let group = ProcessGroup::led_by(process.id());
        let (Some(input), Some(output), Some(errors)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err("has no pipes".to_owned());
        };
        let routes = Arc::new(Routes::default());
        let (said_hello, hello) = sync::channel();
        let (of_reader, of_log) = (routes.clone(), host.secrets.clone());
        std::thread::Builder::new()
            .name("node output".to_owned())
            .spawn(move || {
                let why = read(output, &of_reader, &said_hello);
                let mut group = ProcessGroup::led_by(process.id());
                group.kill();
                let status = process.wait();
                group.forget();
                of_reader.end(why.unwrap_or_else(|| spelled(status)));
            })
            .map_err(failed)?;
        std::thread::Builder::new()
            .name("node log".to_owned())
            .spawn(move || log(errors, &of_log))
            .map_err(failed)?;
        let child = Child { input: Mutex::new(input), routes, group, next: AtomicU32::new(1) };
        let hello: Frame = hello.recv_timeout(START).map_err(|_| match child.ended() {
            Some(reason) => format!("did not start: {reason}"),
            None => "does not start".to_owned(),
        })?;
        if !hello.is_ok {
            return Err(format!("is version {}, which is too old", hello.text));
        }
        debug!(version = hello.text, "a child process for extensions has started");
        child.send(&Frame::new(Kind::SetUp, 0, "", modules().to_string()));
        Ok(Arc::new(child))
    }

    /// Starts the thread of an extension. Returns its number and its frames.
    pub(crate) fn add(&self, setup: &Json) -> (u32, mpsc::UnboundedReceiver<Frame>) {
        let extension = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = mpsc::unbounded_channel();
        self.routes.receivers.lock().insert(extension, sender);
        self.send(&Frame { extension, ..Frame::new(Kind::StartThread, 0, "", setup.to_string()) });
        (extension, receiver)
    }

    /// Ends the thread of an extension.
    pub(crate) fn remove(&self, extension: u32) {
        self.routes.receivers.lock().remove(&extension);
        self.send(&Frame { extension, ..Frame::new(Kind::EndThread, 0, "", "") });
    }

    /// Sends a frame. Nothing happens if the child has ended: its extensions get a frame about that.
    pub(crate) fn send(&self, frame: &Frame) {
        frame.write(&mut *self.input.lock()).ok();
    }

    /// Returns why the child has ended.
    pub(crate) fn ended(&self) -> Option<&str> {
        self.routes.ended.get().map(String::as_str)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The thread that reads its output waits for its status.
        self.group.kill();
        self.group.forget();
    }
}

impl Routes {
    /// Tells all extensions that the child has ended.
    fn end(&self, reason: String) {
        let reason = self.ended.get_or_init(|| reason).clone();
        for (extension, receiver) in std::mem::take(&mut *self.receivers.lock()) {
            let frame = Frame { extension, ..Frame::new(Kind::Ended, 0, "process", &*reason) };
            // The extension may have ended, too.
            receiver.send(frame).ok();
        }
    }
}

/// Passes on the frames of a child until it ends. Returns why no more can be read from a child that may go on.
fn read(output: ChildStdout, routes: &Routes, said_hello: &sync::Sender<Frame>) -> Option<String> {
    let mut output = BufReader::with_capacity(1 << 16, output);
    loop {
        match Frame::read(&mut output) {
            Ok(Some(frame)) if frame.kind == Kind::Hello => drop(said_hello.send(frame)),
            Ok(Some(frame)) => {
                if let Some(receiver) = routes.receivers.lock().get(&frame.extension) {
                    receiver.send(frame).ok();
                }
            }
            Ok(None) => return None,
            Err(error) => return Some(error.to_string()),
        }
    }
}

fn spelled(status: io::Result<std::process::ExitStatus>) -> String {
    match status {
        Ok(status) => format!("its process ended ({status})"),
        Err(error) => format!("its process ended ({error})"),
    }
}

/// Writes what programs and native modules say on their standard streams to the log, without secrets.
fn log(errors: ChildStderr, secrets: &Secrets) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    let mut byte = [0];
    while errors.read(&mut byte).is_ok_and(|length| length > 0) {
        if byte != *b"\n" {
            line.push(byte[0]);
        }
        if byte == *b"\n" || line.len() >= LONGEST_LINE {
            let text = String::from_utf8_lossy(&line);
            info!(target: CONSOLE, extension = "node", "{}", secrets.mask(&text));
            line.clear();
        }
    }
}

fn command(program: &Path, secrets: &Secrets, limits: &Limits) -> Command {
    // The heaps have limits, too; this one includes buffers. Where the system does not have it, only the heaps are limited.
    let most = (limits.node_memory.saturating_mul(2).saturating_add(OWN_MEMORY)) / 1024;
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &format!("ulimit -d {most} 2>/dev/null; ulimit -c 0 2>/dev/null; exec \"$0\" \"$@\"")]);
    command.arg(program).args(["--max-old-space-size=256", "--no-warnings", "-e", CHILD]);
    for (name, value) in std::env::vars_os() {
        if secrets.withholds_variable(&name.to_string_lossy(), &value.to_string_lossy()) {
            command.env_remove(&name);
        }
    }
    // Options of the user's own Node processes, such as a debugger, are not meant for this one.
    command.env_remove("NODE_OPTIONS").env_remove("NODE_CHANNEL_FD");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}

/// The texts of our modules, and the names under which extensions import them.
fn modules() -> Json {
    let (mut texts, mut names) = (Map::new(), Map::new());
    for (file, text, imported_as) in FILES.iter().filter(|(file, ..)| !file.starts_with("node/")) {
        texts.insert((*file).to_owned(), (*text).into());
        names.extend(imported_as.iter().map(|name| ((*name).to_owned(), (*file).into())));
    }
    texts.extend(OVERRIDES.map(|(file, text)| (file.to_owned(), text.into())));
    json!({"modules": texts, "names": names, "thread": THREAD})
}

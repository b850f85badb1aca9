//! One extension in a child process, as its thread in this program sees it: messages out, messages in, and the time that
//! script takes to handle them.

use std::collections::VecDeque;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use super::child::Child;
use super::frame::{Frame, Kind};
use super::source;
use crate::engine::{Entry, Shared, native_call};

/// How long the thread of an extension may take to start.
const START: Duration = Duration::from_secs(20);
/// How often script that does something by itself is asked whether it is still there.
const LOOK: Duration = Duration::from_secs(5);
/// The least time for what has to be on the screen at once: the first call of a function is slow.
const LEAST: Duration = Duration::from_secs(1);

/// One extension in a child process.
pub(crate) struct Remote {
    pub(crate) shared: Rc<Shared>,
    child: Arc<Child>,
    extension: u32,
    frames: UnboundedReceiver<Frame>,
    /// Whether it takes messages.
    is_ready: bool,
    /// The messages that it has not handled yet: the call that each belongs to, and how long it may take.
    unhandled: VecDeque<(Option<u64>, Duration)>,
    /// The time at which it began to handle the first of them.
    since: Instant,
    /// Whether script waits for nothing but the host.
    is_idle: bool,
}

impl Remote {
    /// Starts the thread of an extension in a child.
    pub(crate) fn new(shared: Rc<Shared>, child: Arc<Child>) -> Self {
        let setting = &shared.setting;
        let setup = json!({
            "facts": setting.facts,
            "memory": setting.limits.node_memory >> 20,
            "root": setting.root.as_deref().map(Path::to_string_lossy),
        });
        let (extension, frames) = child.add(&setup);
        let (unhandled, since) = (VecDeque::new(), Instant::now());
        Remote { shared, child, extension, frames, is_ready: false, unhandled, since, is_idle: false }
    }

    /// Sends a message to script.
    pub(crate) fn enter(&mut self, budget: Duration, entry: Entry, of_call: Option<u64>) {
        let frame = match entry {
            Entry::Begin { id, name, payload } => Frame::new(Kind::Begin, id, &name, payload),
            Entry::Cancel { id } => Frame::new(Kind::Cancel, id, "", ""),
            Entry::Settle { op, is_ok, text } => Frame { is_ok, ..Frame::new(Kind::Settle, op, "", text) },
            // Timers are those of Node.
            Entry::Tick { .. } => return,
        };
        self.send(frame, budget, of_call);
    }

    fn send(&mut self, frame: Frame, budget: Duration, of_call: Option<u64>) {
        if self.unhandled.is_empty() {
            self.since = Instant::now();
        }
        self.is_idle = false;
        self.unhandled.push_back((of_call, budget.max(LEAST)));
        self.child.send(&Frame { extension: self.extension, ..frame });
    }

    /// Waits for the next message of script.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        self.frames.recv().await
    }

    /// Notes that script is ready. Its time begins now.
    pub(crate) fn note_ready(&mut self) {
        self.is_ready = true;
        self.since = Instant::now();
    }

    /// Notes that script has handled a message. Returns the call that it belongs to, and how long it took.
    pub(crate) fn note_handled(&mut self) -> Option<(Option<u64>, Duration)> {
        let (of_call, _) = self.unhandled.pop_front()?;
        let took = self.since.elapsed();
        self.since = Instant::now();
        Some((of_call, took))
    }

    /// Answers a question that script waits for. The time does not count if a user or a program takes it.
    pub(crate) fn answer(&mut self, question: &Frame) {
        let result = match question.name.starts_with("module.") {
            true => source::answer(&self.shared, &question.name, &question.text),
            false => native_call(&self.shared, &question.name, &question.text),
        };
        let is_ok = result.is_ok();
        let text = result.unwrap_or_else(|error| error);
        let reply =
            Frame { is_ok, extension: self.extension, ..Frame::new(Kind::Reply, question.id, "", text) };
        self.child.send(&reply);
    }

    pub(crate) fn note_idle(&mut self) {
        self.is_idle = self.unhandled.is_empty();
    }

    /// Returns true if script has handled everything and waits for nothing but the host.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Logs what an extension wrote to standard output or standard error.
    pub(crate) fn log(&self, output: &Frame) {
        let line = json!({"level": output.name, "text": output.text.trim_end()}).to_string();
        // What is too much is not logged.
        native_call(&self.shared, "host.log", &line).ok();
    }

    /// Returns when script has to have handled its message, or when it is asked whether it is still there.
    pub(crate) fn wake_up(&self) -> Option<Instant> {
        match self.unhandled.front() {
            _ if !self.is_ready => Some(self.since + START),
            Some((_, budget)) => Some(self.since + *budget),
            None => (!self.is_idle).then(|| self.since + LOOK),
        }
    }

    /// Asks script whether it is still there, if nothing else was sent for a while. Fails if it is late.
    pub(crate) fn look_after(&mut self, event: Duration) -> Result<(), String> {
        if self.wake_up().is_none_or(|at| at > Instant::now()) {
            return Ok(());
        }
        if !self.is_ready {
            return Err("it did not start in time".to_owned());
        }
        if !self.unhandled.is_empty() {
            return Err("it exceeded its time limit".to_owned());
        }
        self.send(Frame::new(Kind::Ping, 0, "", ""), event, None);
        Ok(())
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.child.remove(self.extension);
    }
}

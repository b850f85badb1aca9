//! The thread of one extension: takes orders, runs script, waits for the operations of script.
//!
//! In the embedded engine script runs on this thread until all its jobs are done, and then the thread waits again. In a
//! child process script runs by itself, and its messages arrive here like orders.

mod fetch;
mod ops;
mod script;

pub(crate) use fetch::Fetches;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use offshoot_agent::cancel::Cancel;
use serde_json::Value as Json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::engine::{Entry, Request, Setting};
use crate::handle::{Handle, Kind, Order, Reply, soon};
use crate::load::Program;
use crate::node::{Frame, FrameKind};
use script::{Absence, Script, Started};

/// How much stack a thread has besides what script may use.
const OWN_STACK: usize = 2 << 20;
/// How long until is never.
const FAR: Duration = Duration::from_secs(86_400);

/// Starts the thread of an extension.
pub(crate) fn start(
    handle: &Arc<Handle>,
    orders: UnboundedReceiver<Order>,
    trusted: bool,
    program: Program,
    facts: Json,
) -> std::io::Result<()> {
    let setting = Setting {
        name: handle.name.clone(),
        host: handle.host.clone(),
        limits: handle.limits.clone(),
        clock: handle.clock.clone(),
        handle: Arc::downgrade(handle),
        trusted,
        root: program.root.as_ref().map(std::fs::canonicalize).transpose()?,
        facts,
    };
    let (weak, stack) = (Arc::downgrade(handle), handle.limits.stack + OWN_STACK);
    let name = format!("extension {}", handle.name);
    // The thread is not joined: it may hang in one operation.
    std::thread::Builder::new()
        .name(name)
        .stack_size(stack)
        .spawn(move || run(setting, orders, &weak, &program))?;
    Ok(())
}

fn run(setting: Setting, mut orders: UnboundedReceiver<Order>, handle: &Weak<Handle>, program: &Program) {
    let made = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let started = made
        .map_err(|error| error.to_string())
        .and_then(|runtime| Ok((runtime, script::start(setting, program)?)));
    match started {
        Ok((runtime, started)) => {
            let mut worker = Worker::new(started, handle.clone());
            runtime.block_on(worker.work(orders));
        }
        Err(message) => refuse(&mut orders, &message),
    }
}

/// Answers calls of an extension whose engine does not start, until it is dropped.
fn refuse(orders: &mut UnboundedReceiver<Order>, message: &str) {
    while let Some(order) = orders.blocking_recv() {
        match order {
            Order::Call { reply: Some(reply), .. } => drop(reply.send(Err(message.to_owned()))),
            Order::End => return,
            _ => {}
        }
    }
}

/// A running operation, which returns its number and its result.
type Op = Pin<Box<dyn Future<Output = (u64, Result<String, String>)>>>;

struct Worker {
    script: Script,
    /// Known if it may need another engine.
    absence: Option<Absence>,
    handle: Weak<Handle>,
    calls: BTreeMap<u64, Call>,
    /// The bytes of messages that script has not received, by their calls.
    unread: BTreeMap<u64, usize>,
    ops: FuturesUnordered<Op>,
    /// How running operations are stopped.
    stops: HashMap<u64, Cancel>,
    /// The timers that wait, and when they are due.
    timers: BTreeMap<u64, Instant>,
    /// The latest call, which is named if the extension is disabled.
    latest: String,
}

/// A call that has not been answered yet.
struct Call {
    kind: Kind,
    doing: String,
    reply: Reply,
    /// How long script may still run for it.
    left: Duration,
    /// The time since when nothing can produce an answer.
    stuck_since: Option<Instant>,
}

impl Worker {
    fn new(started: Started, handle: Weak<Handle>) -> Self {
        Worker {
            script: started.script,
            absence: started.absence,
            handle,
            calls: BTreeMap::new(),
            unread: BTreeMap::new(),
            ops: FuturesUnordered::new(),
            stops: HashMap::new(),
            timers: BTreeMap::new(),
            latest: String::new(),
        }
    }

    /// Works until the extension is dropped or unusable.
    async fn work(&mut self, mut orders: UnboundedReceiver<Order>) {
        loop {
            let wake_up = self.next_wake_up();
            let rest = tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::End) | None => return self.stop_ops(),
                    Some(order) => self.obey_all(order, &mut orders),
                },
                Some((op, result)) = self.ops.next(), if !self.ops.is_empty() => self.settle(op, result),
                frame = self.script.next() => self.hear(frame),
                () = tokio::time::sleep_until(wake_up) => self.wake_up(),
            };
            if let Err(reason) = rest {
                return self.give_up(&reason);
            }
        }
    }

    /// Obeys an order and those that follow it at once, as when an answer grows.
    fn obey_all(&mut self, first: Order, orders: &mut UnboundedReceiver<Order>) -> Result<(), String> {
        let mut next = Some(first);
        while let Some(order) = next {
            self.obey(order)?;
            // Timers and operations must not wait longer.
            let is_idle = self.ops.is_empty() && self.timers.is_empty() && self.calls.is_empty();
            next = if is_idle { soon(|| orders.try_recv().ok()) } else { None };
        }
        Ok(())
    }

    fn obey(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Call { id, kind, doing, payload, reply } => {
                if reply.is_none() {
                    self.unread.insert(id, payload.len());
                }
                let limits = &self.script.shared().setting.limits;
                let left = match kind {
                    Kind::Event => limits.event,
                    Kind::Command => limits.command,
                    Kind::Screen => limits.screen,
                };
                let name = doing.split(' ').next().unwrap_or_default().to_owned();
                self.latest.clone_from(&doing);
                self.calls.insert(id, Call { kind, doing, reply, left, stuck_since: None });
                self.script.shared().sent.set(0);
                self.enter(left, Entry::Begin { id, name, payload }, Some(id))?;
                if let Script::Embedded(_) = self.script {
                    self.note_read(id);
                }
                Ok(())
            }
            Order::Cancel { id } if self.calls.contains_key(&id) => {
                self.enter(self.budget(), Entry::Cancel { id }, Some(id))?;
                if let Some(call) = self.calls.get_mut(&id)
                    && call.reply.as_ref().is_none_or(tokio::sync::oneshot::Sender::is_closed)
                {
                    self.calls.remove(&id);
                }
                Ok(())
            }
            Order::Cancel { .. } | Order::End => Ok(()),
        }
    }

    fn settle(&mut self, op: u64, result: Result<String, String>) -> Result<(), String> {
        self.stops.remove(&op);
        let is_ok = result.is_ok();
        let text = result.unwrap_or_else(|error| error);
        self.enter(self.budget(), Entry::Settle { op, is_ok, text }, None)
    }

    /// Returns how long script may run that belongs to no call in particular.
    fn budget(&self) -> Duration {
        let event = self.script.shared().setting.limits.event;
        self.calls.values().map(|call| call.left).max().unwrap_or(event)
    }

    /// Tells script something and fulfils its requests. Fails if the extension becomes unusable.
    ///
    /// The time that script takes counts for one call if it is known; otherwise for all that wait.
    fn enter(&mut self, budget: Duration, entry: Entry, of_call: Option<u64>) -> Result<(), String> {
        // A child process reports later how long script ran.
        let Some((entered, took)) = self.script.enter(budget, entry, of_call) else {
            self.note_stuck();
            return Ok(());
        };
        for message in self.script.shared().rejections.take() {
            self.report("promise", message);
        }
        self.count(took, of_call);
        entered?;
        self.check_time()?;
        self.fulfil_all()?;
        self.note_stuck();
        Ok(())
    }

    /// Notes that script has received a message without an answer.
    fn note_read(&mut self, call: u64) {
        if let Some(length) = self.unread.remove(&call)
            && let Some(handle) = self.handle.upgrade()
        {
            handle.unread.fetch_sub(length, Ordering::Relaxed);
        }
    }

    fn count(&mut self, took: Duration, of_call: Option<u64>) {
        for (id, call) in &mut self.calls {
            if of_call.is_none_or(|known| known == *id) {
                call.left = call.left.saturating_sub(took);
            }
        }
    }

    fn check_time(&self) -> Result<(), String> {
        let is_over = self.calls.values().any(|call| call.left.is_zero() && call.kind != Kind::Screen);
        if is_over { Err("it exceeded its time limit".to_owned()) } else { Ok(()) }
    }

    /// Fulfils the requests of script. Answers are sent last, after everything that was requested before them.
    fn fulfil_all(&mut self) -> Result<(), String> {
        let requests = std::mem::take(&mut *self.script.shared().outbox.borrow_mut());
        let (answers, others): (Vec<_>, Vec<_>) =
            requests.into_iter().partition(|request| matches!(request, Request::Finish { .. }));
        others.into_iter().for_each(|request| self.fulfil(request));
        if self.timers.len() > self.script.shared().setting.limits.timers {
            return Err("it exceeded its limit of timers".to_owned());
        }
        answers.into_iter().for_each(|request| self.fulfil(request));
        Ok(())
    }

    /// Does what script in a child process says.
    fn hear(&mut self, frame: Option<Frame>) -> Result<(), String> {
        let (Some(frame), Script::Remote(remote)) = (frame, &mut self.script) else {
            return Err("its process has ended".to_owned());
        };
        match frame.kind {
            FrameKind::Ready => remote.note_ready(),
            FrameKind::Call => {
                remote.answer(&frame);
                self.fulfil_all()?;
            }
            FrameKind::Handled => {
                if let Some((of_call, took)) = remote.note_handled() {
                    self.count(took, of_call);
                    of_call.into_iter().for_each(|id| self.note_read(id));
                    self.check_time()?;
                }
            }
            FrameKind::Idle => remote.note_idle(),
            FrameKind::Output => remote.log(&frame),
            FrameKind::Ended => return Err(ended(&frame)),
            FrameKind::Start => {
                let arguments = serde_json::from_str(&frame.text).map_err(|error| error.to_string())?;
                self.fulfil(Request::Start { op: frame.id, name: frame.name, arguments });
                if self.ops.len() > self.script.shared().setting.limits.timers {
                    return Err("it exceeded its limit of operations".to_owned());
                }
            }
            FrameKind::Stop => self.fulfil(Request::Stop { op: frame.id }),
            FrameKind::Finish => {
                let shared = self.script.shared();
                let result =
                    if frame.is_ok { Ok(frame.text) } else { Err(shared.original_places(&frame.text)) };
                self.fulfil(Request::Finish { call: frame.id, result });
            }
            _ => return Err("it sent a message that it may not send".to_owned()),
        }
        self.note_stuck();
        Ok(())
    }

    fn fulfil(&mut self, request: Request) {
        match request {
            Request::Start { op, name, arguments } => {
                let stop = Cancel::new();
                self.stops.insert(op, stop.clone());
                let is_in_event = self.is_in_event(arguments["call"].as_u64());
                let work = ops::start(self.script.shared(), &name, arguments, is_in_event, stop);
                let mut work: Op = Box::pin(async move { (op, work.await) });
                // The agent receives a request before the answer of the handler that made it.
                if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    work = Box::pin(std::future::ready(done));
                }
                self.ops.push(work);
            }
            Request::Stop { op } => {
                if let Some(stop) = self.stops.get(&op) {
                    stop.cancel();
                }
            }
            Request::Finish { call, result } => self.finish(call, result),
            Request::Timer { id, delay } => drop(self.timers.insert(id, Instant::now() + delay)),
            Request::ClearTimer { id } => drop(self.timers.remove(&id)),
        }
    }

    /// Returns true if an event is being handled, unless the request comes from a running command.
    fn is_in_event(&self, call: Option<u64>) -> bool {
        let of_command =
            call.and_then(|id| self.calls.get(&id)).is_some_and(|call| call.kind == Kind::Command);
        !of_command && self.calls.values().any(|call| call.kind == Kind::Event)
    }

    fn finish(&mut self, call: u64, result: Result<String, String>) {
        let Some(call) = self.calls.remove(&call) else { return };
        let most = self.script.shared().setting.limits.answer;
        let result = match result {
            Ok(text) if text.len() > most => Err(format!("its answer is longer than {most} bytes")),
            Err(message) if call.doing == "load" => Err(match &self.absence {
                Some(absence) => absence.explain(message),
                None => message,
            }),
            result => result,
        };
        match call.reply {
            Some(reply) => drop(reply.send(result)),
            None => {
                if let Err(message) = result {
                    self.report(&call.doing, message);
                }
            }
        }
    }

    /// Marks calls that nothing can answer: no operation runs and no timer waits.
    fn note_stuck(&mut self) {
        let is_stuck = self.ops.is_empty() && self.timers.is_empty() && self.script.is_idle();
        let now = Instant::now();
        for call in self.calls.values_mut() {
            call.stuck_since = is_stuck.then(|| call.stuck_since.unwrap_or(now));
        }
    }

    fn next_wake_up(&self) -> Instant {
        let limits = &self.script.shared().setting.limits;
        let stuck = self.calls.values().filter_map(|call| Some(call.stuck_since? + limits.stuck));
        let timers = self.timers.values().copied();
        stuck.chain(timers).chain(self.script.wake_up()).min().unwrap_or_else(|| Instant::now() + FAR)
    }

    /// Runs the due timers, and fails calls that are stuck for too long.
    fn wake_up(&mut self) -> Result<(), String> {
        self.script.look_after(self.budget())?;
        let now = Instant::now();
        let due = self.timers.iter().filter(|(_, at)| **at <= now).map(|(id, at)| (*at, *id));
        // The first one may clear the others.
        for (_, id) in due.collect::<BTreeSet<_>>() {
            if self.timers.remove(&id).is_none() {
                continue;
            }
            self.enter(self.budget(), Entry::Tick { id }, None)?;
        }
        self.abandon_stuck(now);
        Ok(())
    }

    fn abandon_stuck(&mut self, now: Instant) {
        let limit = self.script.shared().setting.limits.stuck;
        let is_over = |call: &Call| call.stuck_since.is_some_and(|since| since + limit <= now);
        let over: Vec<u64> = self.calls.iter().filter(|(_, call)| is_over(call)).map(|(id, _)| *id).collect();
        for id in over {
            self.finish(id, Err(STUCK.to_owned()));
        }
    }

    /// Ends the extension for good.
    fn give_up(&mut self, reason: &str) {
        let doing = self.calls.values().next().map_or(&self.latest, |call| &call.doing).clone();
        if let Some(handle) = self.handle.upgrade() {
            handle.disable(&doing, reason);
        }
        let message = format!("the extension is disabled: {reason}");
        for (_, call) in std::mem::take(&mut self.calls) {
            if let Some(reply) = call.reply {
                drop(reply.send(Err(message.clone())));
            }
        }
        self.stop_ops();
    }

    fn stop_ops(&mut self) {
        self.stops.values().for_each(Cancel::cancel);
    }

    fn report(&self, doing: &str, message: String) {
        let setting = &self.script.shared().setting;
        setting.host.report(&setting.name, doing, message);
    }
}

/// Tells why the thread of an extension in a child process has ended.
fn ended(frame: &Frame) -> String {
    match frame.name.as_str() {
        "memory" => "it exceeded its memory limit".to_owned(),
        "exit" => format!("its thread ended with exit code {}", frame.text),
        "process" => frame.text.clone(),
        _ => format!("its thread failed: {}", frame.text),
    }
}

const STUCK: &str = "it waits for a promise that nothing can settle";

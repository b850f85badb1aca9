//! The thread of one extension: takes orders, runs script, waits for the operations of script.
//!
//! Script runs until all its jobs are done, and then the thread waits again. Nothing else runs on it, so script is never
//! entered twice.

mod fetch;
mod ops;

pub(crate) use fetch::Fetches;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use offshoot_agent::cancel::Cancel;
use rquickjs::function::IntoArgs;
use serde_json::Value as Json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::engine::{Engine, Request, Setting, number};
use crate::handle::{Handle, Kind, Order, Reply, soon};

/// How much stack a thread has besides what script may use.
const OWN_STACK: usize = 2 << 20;
/// How long until is never.
const FAR: Duration = Duration::from_secs(86_400);

/// Starts the thread of an extension.
pub(crate) fn start(
    handle: &Arc<Handle>,
    orders: UnboundedReceiver<Order>,
    trusted: bool,
    root: Option<PathBuf>,
    facts: Json,
) -> std::io::Result<()> {
    let setting = Setting {
        name: handle.name.clone(),
        host: handle.host.clone(),
        limits: handle.limits.clone(),
        clock: handle.clock.clone(),
        handle: Arc::downgrade(handle),
        trusted,
        root: root.map(std::fs::canonicalize).transpose()?,
        facts,
    };
    let (weak, stack) = (Arc::downgrade(handle), handle.limits.stack + OWN_STACK);
    let name = format!("extension {}", handle.name);
    // The thread is not joined: it may hang in one operation.
    std::thread::Builder::new().name(name).stack_size(stack).spawn(move || run(setting, orders, &weak))?;
    Ok(())
}

fn run(setting: Setting, orders: UnboundedReceiver<Order>, handle: &Weak<Handle>) {
    let made = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let worker = made.map_err(|error| error.to_string()).and_then(|runtime| {
        let engine = Engine::new(setting)?;
        Ok((runtime, Worker::new(engine, handle.clone())))
    });
    match worker {
        Ok((runtime, mut worker)) => runtime.block_on(worker.work(orders)),
        Err(message) => {
            if let Some(handle) = handle.upgrade() {
                handle.disable("start", &message);
            }
        }
    }
}

/// A running operation, which returns its number and its result.
type Op = Pin<Box<dyn Future<Output = (u64, Result<String, String>)>>>;

struct Worker {
    engine: Engine,
    handle: Weak<Handle>,
    calls: BTreeMap<u64, Call>,
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
    fn new(engine: Engine, handle: Weak<Handle>) -> Self {
        Worker {
            engine,
            handle,
            calls: BTreeMap::new(),
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
                if let Some(handle) = self.handle.upgrade().filter(|_| reply.is_none()) {
                    handle.unread.fetch_sub(payload.len(), Ordering::Relaxed);
                }
                let limits = &self.engine.shared.setting.limits;
                let left = match kind {
                    Kind::Event => limits.event,
                    Kind::Command => limits.command,
                    Kind::Screen => limits.screen,
                };
                let name = doing.split(' ').next().unwrap_or_default().to_owned();
                self.latest.clone_from(&doing);
                self.calls.insert(id, Call { kind, doing, reply, left, stuck_since: None });
                self.engine.shared.sent.set(0);
                self.enter(left, "begin", (number(id), name, payload), Some(id))
            }
            Order::Cancel { id } if self.calls.contains_key(&id) => {
                self.enter(self.budget(), "cancel", (number(id),), Some(id))?;
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
        self.enter(self.budget(), "settle", (number(op), is_ok, text), None)
    }

    /// Returns how long script may run that belongs to no call in particular.
    fn budget(&self) -> Duration {
        let event = self.engine.shared.setting.limits.event;
        self.calls.values().map(|call| call.left).max().unwrap_or(event)
    }

    /// Enters script, counts the time that it takes, and fulfils its requests. Fails if the extension becomes unusable.
    /// Answers are sent last, after everything that script requested before them.
    ///
    /// The time counts for one call if it is known; otherwise for all that wait.
    fn enter<A>(
        &mut self,
        budget: Duration,
        function: &str,
        arguments: A,
        of_call: Option<u64>,
    ) -> Result<(), String>
    where
        A: for<'js> IntoArgs<'js>,
    {
        let (entered, took) = self.engine.enter(budget, function, arguments);
        for message in self.engine.shared.rejections.take() {
            self.report("promise", message);
        }
        for (id, call) in &mut self.calls {
            if of_call.is_none_or(|known| known == *id) {
                call.left = call.left.saturating_sub(took);
            }
        }
        entered?;
        if self.calls.values().any(|call| call.left.is_zero() && call.kind != Kind::Screen) {
            return Err("it exceeded its time limit".to_owned());
        }
        let requests = std::mem::take(&mut *self.engine.shared.outbox.borrow_mut());
        let (answers, others): (Vec<_>, Vec<_>) =
            requests.into_iter().partition(|request| matches!(request, Request::Finish { .. }));
        others.into_iter().for_each(|request| self.fulfil(request));
        if self.timers.len() > self.engine.shared.setting.limits.timers {
            return Err("it exceeded its limit of timers".to_owned());
        }
        answers.into_iter().for_each(|request| self.fulfil(request));
        self.note_stuck();
        Ok(())
    }

    fn fulfil(&mut self, request: Request) {
        match request {
            Request::Start { op, name, arguments } => {
                let stop = Cancel::new();
                self.stops.insert(op, stop.clone());
                let is_in_event = self.is_in_event(arguments["call"].as_u64());
                let work = ops::start(&self.engine.shared, &name, arguments, is_in_event, stop);
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
        let most = self.engine.shared.setting.limits.answer;
        let result = match result {
            Ok(text) if text.len() > most => Err(format!("its answer is longer than {most} bytes")),
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
        let is_stuck = self.ops.is_empty() && self.timers.is_empty();
        let now = Instant::now();
        for call in self.calls.values_mut() {
            call.stuck_since = is_stuck.then(|| call.stuck_since.unwrap_or(now));
        }
    }

    fn next_wake_up(&self) -> Instant {
        let limits = &self.engine.shared.setting.limits;
        let stuck = self.calls.values().filter_map(|call| Some(call.stuck_since? + limits.stuck));
        stuck.chain(self.timers.values().copied()).min().unwrap_or_else(|| Instant::now() + FAR)
    }

    /// Runs the due timers, and fails calls that are stuck for too long.
    fn wake_up(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let due = self.timers.iter().filter(|(_, at)| **at <= now).map(|(id, at)| (*at, *id));
        // The first one may clear the others.
        for (_, id) in due.collect::<BTreeSet<_>>() {
            if self.timers.remove(&id).is_none() {
                continue;
            }
            self.enter(self.budget(), "tick", (number(id),), None)?;
        }
        self.abandon_stuck(now);
        Ok(())
    }

    fn abandon_stuck(&mut self, now: Instant) {
        let limit = self.engine.shared.setting.limits.stuck;
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
        let setting = &self.engine.shared.setting;
        setting.host.report(&setting.name, doing, message);
    }
}

const STUCK: &str = "it waits for a promise that nothing can settle";

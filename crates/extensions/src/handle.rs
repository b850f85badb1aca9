//! One extension from the outside: whoever wants something of it sends an order to its thread and waits.
//!
//! agent, screen -> **handle** -> worker -> engine

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use offshoot_agent::cancel::Cancel;
use parking_lot::Mutex;
use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot};

use crate::bus::Bus;
use crate::host::{Host, HostEvent, Trouble};
use crate::limits::{Clock, Limits};
use crate::registry::Registry;

/// How often somebody looks after an extension that does not answer.
const LOOK: Duration = Duration::from_millis(500);
/// How long a call may go on after it was told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// How long something is awaited by looking again and again: a trivial handler is done before a thread that sleeps has
/// been woken up.
const MOMENT: Duration = Duration::from_micros(40);

/// Looks again and again for something that may be there in a moment; lets others work in between.
pub(crate) fn soon<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if begun.elapsed() > MOMENT {
            return None;
        }
        std::thread::yield_now();
    }
}

/// What kind of call it is: it decides how long script may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An event, a tool, loading.
    Event,
    /// A command of the user.
    Command,
    /// Something that has to be on the screen at once.
    Screen,
}

/// What the thread of an extension is told.
pub(crate) enum Order {
    /// Do something and answer.
    Call { id: u64, kind: Kind, doing: String, payload: String, reply: Reply },
    /// Nobody waits for this call any more.
    Cancel { id: u64 },
    /// Nobody needs the extension any more.
    End,
}

/// Where an answer goes.
pub(crate) type Reply = Option<oneshot::Sender<Result<String, String>>>;

/// One extension from the outside.
pub(crate) struct Handle {
    pub(crate) name: String,
    orders: mpsc::UnboundedSender<Order>,
    next: AtomicU64,
    /// The bytes of messages on the bus that script has not received yet.
    pub(crate) unheard: AtomicUsize,
    pub(crate) clock: Arc<Clock>,
    pub(crate) limits: Limits,
    pub(crate) host: Arc<Host>,
    pub(crate) bus: Arc<Bus>,
    /// Why it is not used any more.
    disabled: OnceLock<String>,
    /// Dialogs that are open: who waits for a person is not looked after.
    pub(crate) open_dialogs: AtomicUsize,
    registry: Mutex<Registry>,
    /// True once the extension has been loaded.
    pub(crate) is_loaded: AtomicBool,
    /// The receivers of the output of running tools, by the id of the call.
    pub(crate) progress: Mutex<BTreeMap<String, Progress>>,
}

/// Receives the output of a running tool so far.
pub(crate) type Progress = Arc<dyn Fn(Json) + Send + Sync>;

impl Handle {
    pub(crate) fn new(
        name: String,
        host: Arc<Host>,
        limits: Limits,
        bus: Arc<Bus>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Order>) {
        let (orders, receiver) = mpsc::unbounded_channel();
        let handle = Arc::new(Handle {
            name,
            orders,
            next: AtomicU64::new(1),
            unheard: AtomicUsize::new(0),
            clock: Arc::new(Clock::new()),
            limits,
            host,
            bus,
            disabled: OnceLock::new(),
            open_dialogs: AtomicUsize::new(0),
            registry: Mutex::default(),
            is_loaded: AtomicBool::new(false),
            progress: Mutex::default(),
        });
        handle.bus.join(Arc::downgrade(&handle));
        (handle, receiver)
    }

    /// Returns true if script listens to an event.
    pub(crate) fn listens(&self, event: &str) -> bool {
        self.disabled.get().is_none() && self.registry.lock().events.iter().any(|(name, _)| name == event)
    }

    /// Returns the listeners for an event, in the order in which they were registered.
    pub(crate) fn listeners(&self, event: &str) -> Vec<u64> {
        if self.disabled.get().is_some() {
            return Vec::new();
        }
        let registry = self.registry.lock();
        registry.events.iter().filter(|(name, _)| name == event).map(|(_, listener)| *listener).collect()
    }

    /// Returns why the extension is disabled.
    pub(crate) fn disabled(&self) -> Option<&str> {
        self.disabled.get().map(String::as_str)
    }

    /// Puts the extension out of use and says so.
    pub(crate) fn disable(&self, doing: &str, reason: &str) {
        if self.disabled.set(reason.to_owned()).is_ok() {
            self.clock.stop();
            let (extension, doing) = (self.name.clone(), doing.to_owned());
            let trouble = Trouble { extension, doing, message: reason.to_owned(), disabled: true };
            self.host.send(HostEvent::Failed(trouble));
        }
    }

    /// Stores what script has registered. Returns true if more than events changed after the extension was loaded.
    pub(crate) fn register(&self, new: Registry) -> bool {
        let mut registry = self.registry.lock();
        let old = std::mem::replace(&mut *registry, new);
        let is_same = Registry { events: registry.events.clone(), ..old } == *registry;
        !is_same && self.is_loaded.load(Ordering::Relaxed)
    }

    /// Returns what script has registered.
    pub(crate) fn registry(&self) -> Registry {
        self.registry.lock().clone()
    }

    /// Tells script something; nobody waits for an answer. Refused if it has not heard of too much else yet.
    pub(crate) fn tell(&self, doing: &str, payload: String) -> Result<(), String> {
        let unheard = self.unheard.fetch_add(payload.len(), Ordering::Relaxed) + payload.len();
        if unheard > self.limits.memory / 4 {
            self.unheard.fetch_sub(payload.len(), Ordering::Relaxed);
            return Err(format!("the extension {} has too many unread messages", self.name));
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let order = Order::Call { id, kind: Kind::Event, doing: doing.to_owned(), payload, reply: None };
        // Whoever is gone hears nothing.
        drop(self.orders.send(order));
        Ok(())
    }

    /// Asks script something and waits for the answer. If nobody waits any more, script is told to stop.
    pub(crate) async fn call(
        &self,
        kind: Kind,
        doing: &str,
        payload: String,
        cancel: Option<&Cancel>,
    ) -> Result<Json, String> {
        if let Some(reason) = self.disabled() {
            return Err(format!("the extension is disabled: {reason}"));
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let order = Order::Call { id, kind, doing: doing.to_owned(), payload, reply: Some(reply) };
        if self.orders.send(order).is_err() {
            return Err("the extension is disabled".to_owned());
        }
        let mut waiting = Waiting { handle: self, id, is_over: false };
        // Without an answer script goes on: that nobody waits any more is told once more, now that it is true.
        let text = self.wait(answer, doing, cancel, id).await?;
        waiting.is_over = true;
        serde_json::from_str(&text?).map_err(|error| error.to_string())
    }

    /// Waits for an answer. Fails if none is to be waited for any longer.
    async fn wait(
        &self,
        mut answer: oneshot::Receiver<Result<String, String>>,
        doing: &str,
        cancel: Option<&Cancel>,
        id: u64,
    ) -> Result<Result<String, String>, String> {
        if let Some(text) = soon(|| answer.try_recv().ok()) {
            return Ok(text);
        }
        let never = Cancel::new();
        let cancel = cancel.unwrap_or(&never);
        let (mut waited, mut since_stop) = (Duration::ZERO, None::<Duration>);
        loop {
            tokio::select! {
                biased;
                text = &mut answer => return text.map_err(|_| self.gone()),
                () = cancel.cancelled(), if since_stop.is_none() => {
                    drop(self.orders.send(Order::Cancel { id }));
                    since_stop = Some(Duration::ZERO);
                }
                () = tokio::time::sleep(LOOK) => {
                    waited += LOOK;
                    if let Some(stopped) = &mut since_stop {
                        *stopped += LOOK;
                        if *stopped >= GRACE {
                            return Err("it did not end after it was cancelled".to_owned());
                        }
                    }
                    self.look_after(doing, waited)?;
                }
            }
        }
    }

    /// Looks whether an extension that does not answer is to be waited for any longer.
    fn look_after(&self, doing: &str, waited: Duration) -> Result<(), String> {
        // The engine asks the clock all the time, except in the middle of one long operation.
        if self.clock.overdue().is_some_and(|over| over > GRACE) {
            self.disable(doing, "it is stuck in an operation that cannot be interrupted");
            return Err(self.gone());
        }
        let has_dialog = self.open_dialogs.load(Ordering::Relaxed) > 0;
        if waited.saturating_sub(LOOK) < self.limits.notice && waited >= self.limits.notice && !has_dialog {
            self.host.send(HostEvent::Waiting(self.name.clone(), doing.to_owned()));
        }
        Ok(())
    }

    fn gone(&self) -> String {
        let reason = self.disabled().unwrap_or("its thread has ended");
        format!("the extension is disabled: {reason}")
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.orders.send(Order::End));
        self.clock.stop();
    }
}

/// A call that is waited for. Dropping it cancels the call.
struct Waiting<'h> {
    handle: &'h Handle,
    id: u64,
    is_over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            drop(self.handle.orders.send(Order::Cancel { id: self.id }));
        }
    }
}

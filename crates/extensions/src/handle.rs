//! The handle of one extension, which sends orders to its thread and waits for answers, and the bus between extensions.
//!
//! agent, screen -> **handle** -> worker -> engine

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use offshoot_agent::cancel::Cancel;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use tokio::sync::{mpsc, oneshot};

use crate::discover::FoundExtension;
use crate::host::{ExtensionFailure, Host, HostEvent};
use crate::limits::{Clock, Limits};
use crate::notifications::Notifications;
use crate::registry::Registry;

/// How often to check an extension that does not answer.
const LOOK: Duration = Duration::from_millis(500);
/// How long a call may run after it was cancelled.
const GRACE: Duration = Duration::from_secs(2);

/// How long to poll before sleeping: a trivial handler is done before a sleeping thread would wake up.
const MOMENT: Duration = Duration::from_micros(40);

/// Polls for something that may be there in a moment; other threads run in between.
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

/// The kind of a call, which decides how long script may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An event, a tool, loading.
    Event,
    /// A command of the user.
    Command,
    /// Something that has to be on the screen at once.
    Screen,
}

/// An order to the thread of an extension.
pub(crate) enum Order {
    /// Do something and answer.
    Call { id: u64, kind: Kind, doing: String, payload: String, reply: Reply },
    /// The answer to this call is not needed.
    Cancel { id: u64 },
    /// The extension is dropped.
    End,
}

/// The receiver of an answer.
pub(crate) type Reply = Option<oneshot::Sender<Result<String, String>>>;

/// The handle of one extension.
pub(crate) struct Handle {
    pub(crate) name: String,
    /// The name that rules for tool calls use.
    pub(crate) rule_name: String,
    orders: mpsc::UnboundedSender<Order>,
    next: AtomicU64,
    /// The bytes of messages on the bus that script has not received yet.
    pub(crate) unread: AtomicUsize,
    pub(crate) clock: Arc<Clock>,
    pub(crate) limits: Limits,
    pub(crate) host: Arc<Host>,
    pub(crate) bus: Arc<Bus>,
    /// The reason why it is disabled.
    disabled: OnceLock<String>,
    /// The number of open dialogs. Waiting for the user is not reported.
    pub(crate) open_dialogs: AtomicUsize,
    registry: Mutex<Registry>,
    /// True once the extension has been loaded.
    pub(crate) is_loaded: AtomicBool,
    /// How many notifications may be shown.
    pub(crate) notifications: Notifications,
    /// The receivers of the output of running tools, by the id of the call.
    pub(crate) progress: Mutex<BTreeMap<String, Progress>>,
    /// The receivers of the answers that script streams for its models.
    pub(crate) answers: Mutex<BTreeMap<u64, mpsc::UnboundedSender<Json>>>,
}

/// Receives the output of a running tool so far.
pub(crate) type Progress = Arc<dyn Fn(Json) + Send + Sync>;

impl Handle {
    pub(crate) fn new(
        found: &FoundExtension,
        host: Arc<Host>,
        limits: Limits,
        bus: Arc<Bus>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Order>) {
        let (orders, receiver) = mpsc::unbounded_channel();
        let handle = Arc::new(Handle {
            name: found.name.clone(),
            rule_name: found.rule_name(),
            orders,
            next: AtomicU64::new(1),
            unread: AtomicUsize::new(0),
            clock: Arc::default(),
            limits,
            host,
            bus,
            disabled: OnceLock::new(),
            open_dialogs: AtomicUsize::new(0),
            registry: Mutex::default(),
            is_loaded: AtomicBool::new(false),
            notifications: Notifications::default(),
            progress: Mutex::default(),
            answers: Mutex::default(),
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

    /// Disables the extension and reports it.
    pub(crate) fn disable(&self, doing: &str, reason: &str) {
        if self.disabled.set(reason.to_owned()).is_ok() {
            self.clock.stop();
            let (extension, doing) = (self.name.clone(), doing.to_owned());
            let trouble = ExtensionFailure { extension, doing, message: reason.to_owned(), disabled: true };
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

    /// Sends something to script without waiting for an answer. Fails if too many messages are unread.
    pub(crate) fn notify(&self, doing: &str, payload: String) -> Result<(), String> {
        let unread = self.unread.fetch_add(payload.len(), Ordering::Relaxed) + payload.len();
        if unread > self.limits.memory / 4 {
            self.unread.fetch_sub(payload.len(), Ordering::Relaxed);
            return Err(format!("the extension {} has too many unread messages", self.name));
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let order = Order::Call { id, kind: Kind::Event, doing: doing.to_owned(), payload, reply: None };
        // The thread may have ended.
        drop(self.orders.send(order));
        Ok(())
    }

    /// Calls script and waits for the answer. Dropping the future cancels the call.
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
        // Without an answer `waiting` stays open, and its drop cancels the call.
        let text = self.wait(answer, doing, cancel, id).await?;
        waiting.is_over = true;
        serde_json::from_str(&text?).map_err(|error| error.to_string())
    }

    /// Waits for an answer. Fails after a cancellation, or if the extension is stuck.
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

    /// Checks an extension that does not answer: disables it if it is stuck, and notifies the user once.
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

/// The bus of all extensions of one agent.
#[derive(Default)]
pub(crate) struct Bus(Mutex<Vec<Weak<Handle>>>);

impl Bus {
    pub(crate) fn join(&self, handle: Weak<Handle>) {
        self.0.lock().push(handle);
    }

    /// Returns the extensions that still exist.
    pub(crate) fn members(&self) -> Vec<Arc<Handle>> {
        let members = self.0.lock();
        members.iter().filter_map(Weak::upgrade).collect()
    }

    /// Sends a message to all other extensions. Script delivers it to its own listeners itself.
    pub(crate) fn emit(&self, from: &Arc<Handle>, channel: &str, data: &Json) -> Result<(), String> {
        let payload = json!({"channel": channel, "data": data}).to_string();
        let others = self.members().into_iter().filter(|handle| !Arc::ptr_eq(handle, from));
        let in_use = others.filter(|handle| handle.disabled().is_none());
        // A full queue of one extension does not affect the others.
        let sent: Vec<_> = in_use.map(|handle| handle.notify("bus", payload.clone())).collect();
        sent.into_iter().collect()
    }
}

//! Hooks: the places where extensions are asked or informed.
//!
//! agent -> **hooks** (table of events, combined answers) -> handlers
//!
//! Events and payloads have the shape that extensions see; [`events`] lists them. A failed handler is reported and
//! skipped, and never stops the agent. Only the failure of a guard blocks the action.

mod combine;
pub mod events;

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde_json::Value as Json;

use crate::cancel::Cancel;
use crate::shared::lock;

pub(crate) use combine::given;
pub use combine::{Gate, Trust};

/// A running handler.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, String>> + Send + 'a>>;

/// A receiver of events: an extension, or a program that embeds the agent.
pub trait Handler: Send + Sync {
    /// Returns the name for messages to the user.
    fn name(&self) -> &str;

    /// Returns true if the handler listens to an event, given its current name.
    fn wants(&self, event: &str) -> bool;

    /// Returns the listeners of an event in calling order. Their answers are combined like those of several handlers.
    fn listeners(&self, event: &str) -> Vec<u64> {
        if self.wants(event) { vec![0] } else { Vec::new() }
    }

    /// Returns true if the handler assembles an answer from its parts. `message_update` then comes without `message`,
    /// the answer so far: repeating it with every part takes quadratic time.
    fn assembles_answers(&self) -> bool {
        false
    }

    /// Calls all listeners. The answer is an object or null. An error is reported and counts as null.
    fn call<'a>(&'a self, event: &'a str, payload: &'a Json, cancel: &'a Cancel) -> HookFuture<'a>;

    /// Calls one listener.
    fn call_listener<'a>(
        &'a self,
        event: &'a str,
        _listener: u64,
        payload: &'a Json,
        cancel: &'a Cancel,
    ) -> HookFuture<'a> {
        self.call(event, payload, cancel)
    }
}

/// A handler that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFailure {
    /// The name of the handler.
    pub handler: String,
    /// The event.
    pub event: String,
    /// The message of the error.
    pub message: String,
}

/// All handlers in the order of registration.
#[derive(Clone, Default)]
pub struct Hooks {
    handlers: Vec<Arc<dyn Handler>>,
    failures: Arc<Mutex<Vec<HookFailure>>>,
}

impl Hooks {
    /// Creates a set without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a handler after the existing ones.
    pub fn register(&mut self, handler: Arc<dyn Handler>) {
        self.handlers.push(handler);
    }

    /// Registers a function for one event, under its name or an older one.
    ///
    /// ```
    /// use offshoot_agent::hooks::Hooks;
    /// use serde_json::json;
    ///
    /// let mut hooks = Hooks::new();
    /// hooks.on("keep-main", "session_before_tree", |payload, _| {
    ///     let leaves_main = payload["preparation"]["label"] == "main";
    ///     Box::pin(async move { Ok(json!({ "cancel": leaves_main })) })
    /// });
    /// ```
    pub fn on<F>(&mut self, name: &str, event: &str, call: F)
    where
        F: for<'a> Fn(&'a Json, &'a Cancel) -> HookFuture<'a> + Send + Sync + 'static,
    {
        let current = events::event(event).map_or(event, |known| known.name);
        let older_name = (current != event).then(|| event.to_owned());
        let (name, event) = (name.to_owned(), current.to_owned());
        self.register(Arc::new(Function { name, event, older_name, call: Box::new(call) }));
    }

    /// Returns true if any handler listens to an event. If not, its payload need not be built.
    pub fn wants(&self, event: &str) -> bool {
        self.handlers.iter().any(|handler| handler.wants(event))
    }

    /// Takes the failures since the last call.
    pub fn take_failures(&self) -> Vec<HookFailure> {
        std::mem::take(&mut *lock(&self.failures))
    }

    /// Returns all listeners of an event with their handlers, in calling order.
    fn listeners<'h>(&'h self, event: &'h str) -> impl Iterator<Item = (&'h dyn Handler, u64)> {
        self.handlers.iter().flat_map(move |handler| {
            handler.listeners(event).into_iter().map(|listener| (&**handler, listener))
        })
    }

    /// Stores the failure of a handler, or an answer that cannot be used.
    pub(crate) fn report(&self, handler: &str, event: &str, message: String) {
        let failure = HookFailure { handler: handler.to_owned(), event: event.to_owned(), message };
        lock(&self.failures).push(failure);
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.handlers.iter().map(|handler| handler.name())).finish()
    }
}

type Call = dyn for<'a> Fn(&'a Json, &'a Cancel) -> HookFuture<'a> + Send + Sync;

/// A function as a handler of one event.
struct Function {
    name: String,
    event: String,
    /// The older name of the event that the function was registered for.
    older_name: Option<String>,
    call: Box<Call>,
}

impl Handler for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, event: &str) -> bool {
        self.event == event
    }

    fn call<'a>(&'a self, _: &'a str, payload: &'a Json, cancel: &'a Cancel) -> HookFuture<'a> {
        let Some(name) = &self.older_name else { return (self.call)(payload, cancel) };
        Box::pin(async move {
            let mut payload = payload.clone();
            payload["type"] = name.as_str().into();
            (self.call)(&payload, cancel).await
        })
    }
}

#[cfg(test)]
mod tests;

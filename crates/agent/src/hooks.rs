//! Hooks: places where extensions are asked or told something.
//!
//! This module knows how answers are combined, and next to nothing of what they mean: events and payloads have the shape
//! that extensions see. An extension that fails is reported and passed over; it never stops the agent. Only a guard that
//! fails counts as one that says no.

mod combine;
mod names;

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value as Json, json};

use crate::cancel::Cancel;

pub(crate) use combine::given;
pub use combine::{Gate, Trust};
pub use names::ALIASES;

/// What a handler becomes while it runs.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, String>> + Send + 'a>>;

/// Somebody who wants to be asked or told: an extension, or a program that embeds the agent.
pub trait Handler: Send + Sync {
    /// Returns the name to be told when something goes wrong.
    fn name(&self) -> &str;

    /// Tells whether the handler wants to hear of an event.
    fn wants(&self, event: &str) -> bool;

    /// Returns true if the handler puts an answer together from its parts. Then `message_update` comes without
    /// `message`, the answer so far: spelling it again for every part takes time that grows with its square.
    fn assembles_answers(&self) -> bool {
        false
    }

    /// Asks or tells. The answer is an object, or null for none; an error is reported and counts as none.
    fn call<'a>(&'a self, event: &'a str, payload: &'a Json, cancel: &'a Cancel) -> HookFuture<'a>;
}

/// A handler that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFailure {
    /// The name of the handler.
    pub handler: String,
    /// The event.
    pub event: String,
    /// What it said.
    pub message: String,
}

/// All handlers, in the order in which they were registered.
#[derive(Clone, Default)]
pub struct Hooks {
    handlers: Vec<Arc<dyn Handler>>,
    failures: Arc<Mutex<Vec<HookFailure>>>,
}

impl Hooks {
    /// Makes a set without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a handler behind those that are there.
    pub fn register(&mut self, handler: Arc<dyn Handler>) {
        self.handlers.push(handler);
    }

    /// Registers a function for one event.
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
        let function = Function { name: name.to_owned(), event: event.to_owned(), call: Box::new(call) };
        self.register(Arc::new(function));
    }

    /// Tells whether anybody wants to hear of an event; if not, its payload need not be made.
    pub fn wants(&self, event: &str) -> bool {
        self.interested(event).next().is_some()
    }

    /// Takes the failures that were noted since the last time.
    pub fn take_failures(&self) -> Vec<HookFailure> {
        std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns those who want to hear of an event, each with the name under which it does.
    fn interested<'h>(&'h self, event: &'h str) -> impl Iterator<Item = Interest<'h>> {
        self.handlers.iter().filter_map(move |handler| {
            let name = names::names_of(event).find(|name| handler.wants(name))?;
            Some(Interest { handler: &**handler, name, is_older: name != event })
        })
    }

    /// Calls one handler. Gives what it answered; none if it failed, answered nothing, or was cancelled.
    async fn ask(&self, interest: &Interest<'_>, payload: &Json, cancel: &Cancel) -> Option<Json> {
        let Interest { handler, name, .. } = *interest;
        let renamed = interest.is_older.then(|| renamed(payload, name));
        let payload = renamed.as_ref().unwrap_or(payload);
        match cancel.unless_cancelled(handler.call(name, payload, cancel)).await? {
            Ok(Json::Null) => None,
            Ok(answer) => Some(answer),
            Err(message) => {
                let refusal = names::is_guarded(name)
                    .then(|| json!({"block": true, "reason": format!("an extension failed: {message}")}));
                self.report(handler.name(), name, message);
                refusal
            }
        }
    }

    /// Notes that a handler failed, or that what it answered cannot be used.
    pub(crate) fn report(&self, handler: &str, event: &str, message: String) {
        let failure = HookFailure { handler: handler.to_owned(), event: event.to_owned(), message };
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
    }
}

/// A handler that wants to hear of an event, and how it calls it.
struct Interest<'h> {
    handler: &'h dyn Handler,
    name: &'h str,
    is_older: bool,
}

/// Returns a payload under an older name.
fn renamed(payload: &Json, name: &str) -> Json {
    let mut payload = payload.clone();
    if let Some(object) = payload.as_object_mut() {
        object.insert("type".to_owned(), name.into());
    }
    payload
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
        (self.call)(payload, cancel)
    }
}

#[cfg(test)]
mod tests;

//! Hooks: places where extensions are asked or told something.
//!
//! This module knows how answers are combined, and nothing of what they mean: events and payloads have the shape that
//! extensions see. An extension that fails is reported and passed over; it never stops the agent.

mod combine;

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;

use crate::cancel::Cancel;

pub use combine::Gate;

/// What a handler becomes while it runs.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, String>> + Send + 'a>>;

/// Somebody who wants to be asked or told: an extension, or a program that embeds the agent.
pub trait Handler: Send + Sync {
    /// Returns the name to be told when something goes wrong.
    fn name(&self) -> &str;

    /// Tells whether the handler wants to hear of an event.
    fn wants(&self, event: &str) -> bool;

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
        self.handlers.iter().any(|handler| handler.wants(event))
    }

    /// Takes the failures that were noted since the last time.
    pub fn take_failures(&self) -> Vec<HookFailure> {
        std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn interested<'h>(&'h self, event: &'h str) -> impl Iterator<Item = &'h Arc<dyn Handler>> {
        self.handlers.iter().filter(move |handler| handler.wants(event))
    }

    /// Calls one handler. Gives what it answered; none if it failed, answered nothing, or was cancelled.
    async fn ask(&self, handler: &dyn Handler, event: &str, payload: &Json, cancel: &Cancel) -> Option<Json> {
        match cancel.unless_cancelled(handler.call(event, payload, cancel)).await? {
            Ok(Json::Null) => None,
            Ok(answer) => Some(answer),
            Err(message) => {
                let (handler, event) = (handler.name().to_owned(), event.to_owned());
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                failures.push(HookFailure { handler, event, message });
                None
            }
        }
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

//! Lets extensions see and change the HTTP requests of a model.

use serde_json::{Value as Json, json};

use crate::cancel::Cancel;
use crate::hooks::Hooks;
use crate::model::{Headers, ObserverFuture, WireObserver};

const REQUEST: &str = "before_provider_request";
const HEADERS: &str = "before_provider_headers";
const RESPONSE: &str = "after_provider_response";

/// The extensions that listen to HTTP requests and responses.
#[derive(Debug)]
pub(super) struct HookObserver {
    hooks: Hooks,
    cancel: Cancel,
}

impl HookObserver {
    /// Creates an observer. Returns `None` if no extension listens.
    pub(super) fn new(hooks: &Hooks, cancel: &Cancel) -> Option<Self> {
        let is_wanted = [REQUEST, HEADERS, RESPONSE].iter().any(|event| hooks.wants(event));
        is_wanted.then(|| HookObserver { hooks: hooks.clone(), cancel: cancel.clone() })
    }
}

impl WireObserver for HookObserver {
    fn request(&self, body: Json) -> ObserverFuture<'_, Json> {
        Box::pin(async move {
            if !self.hooks.wants(REQUEST) {
                return body;
            }
            let payload = json!({"type": REQUEST, "payload": body});
            self.hooks.chain(REQUEST, payload, &self.cancel).await["payload"].take()
        })
    }

    fn headers(&self, headers: Headers) -> ObserverFuture<'_, Headers> {
        Box::pin(async move {
            if !self.hooks.wants(HEADERS) {
                return headers;
            }
            let payload = json!({"type": HEADERS, "headers": headers});
            let answer = self.hooks.chain(HEADERS, payload, &self.cancel).await;
            let Some(changed) = answer["headers"].as_object() else { return headers };
            let text = |value: &Json| value.as_str().map(str::to_owned);
            let kept = changed.iter().filter_map(|(name, value)| Some((name.to_lowercase(), text(value)?)));
            kept.collect()
        })
    }

    fn response(&self, status: u16, headers: Headers) -> ObserverFuture<'_, ()> {
        Box::pin(async move {
            if self.hooks.wants(RESPONSE) {
                let payload = json!({"type": RESPONSE, "status": status, "headers": headers});
                self.hooks.notify(RESPONSE, &payload, &self.cancel).await;
            }
        })
    }
}

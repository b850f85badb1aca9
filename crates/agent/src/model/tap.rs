//! A tap on the wire: somebody who sees a request as the service will see it, and may change it.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;

use serde_json::Value as Json;

/// What a tap becomes while it is asked.
pub type TapFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Headers by their names in lower case. Keys are never among them.
pub type Headers = BTreeMap<String, String>;

/// Somebody who sees a request on its way to a service.
pub trait Tap: fmt::Debug + Send + Sync {
    /// Takes the body that is about to be sent; gives the one to send.
    fn request(&self, body: Json) -> TapFuture<'_, Json>;

    /// Takes the headers that are about to be sent; gives the ones to send. A header that is missing then is not sent.
    fn headers(&self, headers: Headers) -> TapFuture<'_, Headers>;

    /// Hears that the service has begun to answer.
    fn response(&self, status: u16, headers: Headers) -> TapFuture<'_, ()>;
}

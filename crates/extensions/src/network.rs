//! The network as extensions reach it: the program provides the client and keeps the answers of the user.

use std::fmt;
use std::pin::Pin;

use futures_util::Stream;

use crate::host::HostFuture;

/// A client for requests of extensions, and the hosts that the user allows them.
pub trait Network: fmt::Debug + Send + Sync {
    /// Sends a request. Never follows a redirect, and adds no key and no cookie.
    fn send(&self, request: HttpRequest) -> HostFuture<Result<HttpResponse, HttpError>>;

    /// Returns true if an extension, named by its file, may reach a host without a question.
    fn is_allowed(&self, extension: &str, host: &str) -> bool;

    /// Keeps for good that an extension may reach a host.
    ///
    /// # Errors
    ///
    /// Why it cannot be kept.
    fn allow(&self, extension: &str, host: &str) -> Result<(), String>;
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The address, `http` or `https`.
    pub url: String,
    /// The headers that script sets.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A response whose body is still to come.
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The pieces of the body.
    pub body: Pin<Box<dyn Stream<Item = Result<Vec<u8>, HttpError>> + Send>>,
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// A failure below HTTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    /// The code that Node gives it, such as `ECONNREFUSED`.
    pub code: &'static str,
    /// The failure.
    pub message: String,
}

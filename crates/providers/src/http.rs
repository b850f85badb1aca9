//! The HTTP client: one request, one response whose body comes in pieces, typed errors.
//!
//! Never follows a redirect (a key must not travel to another host), never repeats a request, never exceeds its limits
//! of time and size.

use std::error::Error as _;
use std::sync::OnceLock;
use std::time::Duration;

use offshoot_agent::model::{Headers, WireObserver};
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER, SET_COOKIE};
use reqwest::{Client, Response, redirect};
use tracing::debug;

use crate::request_error::{self, ApiError, RequestError};

/// How patient and how generous the client is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// How long to wait for the first and for every further byte of an answer.
    pub idle_timeout: Duration,
    /// The largest event of a stream, in bytes.
    pub longest_event: usize,
    /// The largest answer, in bytes as they come over the wire.
    pub longest_answer: usize,
    /// The largest content of an answer, in bytes: text, thoughts and arguments of tools.
    pub longest_content: usize,
    /// How much of the body of an error is read, in bytes.
    pub longest_error: usize,
    /// Whether the proxies of the system are used.
    pub use_proxies: bool,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(300),
            longest_event: 8 << 20,
            // The longest answers of models have 128,000 tokens: less than 1 MiB of text, in events of 1 KiB at most.
            longest_answer: 128 << 20,
            longest_content: 8 << 20,
            longest_error: 64 << 10,
            use_proxies: true,
        }
    }
}

/// The one client. It is made when it is first needed: reading the certificates of a system takes its time.
#[derive(Debug)]
pub(crate) struct Http {
    client: OnceLock<Result<Client, String>>,
    pub options: HttpOptions,
}

/// A request to post.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub url: String,
    pub headers: HeaderMap,
    pub body: String,
}

/// The body of a response while it comes.
#[derive(Debug)]
pub(crate) struct Incoming {
    response: Response,
    idle_timeout: Duration,
    left: usize,
    limit: usize,
}

impl Http {
    /// Makes a client.
    pub(crate) fn new(options: HttpOptions) -> Self {
        Self { client: OnceLock::new(), options }
    }

    /// Posts and returns the body of the answer if it may be a stream of events. The observer receives every response.
    pub(crate) async fn post(
        &self,
        post: HttpRequest,
        observer: Option<&dyn WireObserver>,
    ) -> Result<Incoming, RequestError> {
        let request = self.client()?.post(post.url).headers(post.headers).body(post.body);
        let idle_timeout = self.options.idle_timeout;
        let response = in_time(idle_timeout, request.send()).await?;
        let response = response.map_err(|error| RequestError::Network(reason(error)))?;
        debug!(status = response.status().as_u16(), retry_after = ?retry_after(response.headers()), "response");
        if let Some(observer) = observer {
            observer.response(response.status().as_u16(), spelled(response.headers())).await;
        }
        if !response.status().is_success() || other_type(&response).is_some() {
            return Err(self.api_error(response).await);
        }
        let limit = self.options.longest_answer;
        Ok(Incoming { response, idle_timeout, left: limit, limit })
    }

    fn client(&self) -> Result<&Client, RequestError> {
        let client = self.client.get_or_init(|| build(&self.options));
        client.as_ref().map_err(|reason| RequestError::Network(reason.clone()))
    }

    /// Reads why a service refused. A response that is no stream of events although it says that it went well has no
    /// status for this.
    async fn api_error(&self, response: Response) -> RequestError {
        let is_success = response.status().is_success();
        let status = if is_success { 0 } else { response.status().as_u16() };
        let delay = retry_after(response.headers());
        if response.status().is_redirection() {
            let message = redirected(&response);
            return RequestError::Api(ApiError { status, message, ..ApiError::default() });
        }
        let found = other_type(&response).unwrap_or_default();
        let text = self.beginning(response).await;
        let json = serde_json::from_str(&text).ok();
        match json.and_then(|json| ApiError::read(status, &json)) {
            Some(mut error) => {
                error.retry_after = delay.or(error.retry_after);
                RequestError::Api(error)
            }
            None if is_success => {
                RequestError::Malformed(format!("`{found}` came instead of a stream of events"))
            }
            None => {
                let retry_after = delay;
                RequestError::Api(ApiError { status, message: text, retry_after, ..ApiError::default() })
            }
        }
    }

    /// Reads a body as far as it interests; a body that breaks off says what it said so far.
    async fn beginning(&self, response: Response) -> String {
        let longest = self.options.longest_error;
        let idle_timeout = self.options.idle_timeout;
        let mut incoming = Incoming { response, idle_timeout, left: usize::MAX, limit: usize::MAX };
        let mut bytes = Vec::new();
        while bytes.len() < longest
            && let Ok(Some(piece)) = incoming.piece().await
        {
            bytes.extend_from_slice(piece.as_ref());
        }
        bytes.truncate(longest);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A client for requests that are not to a model service: with the proxies and certificates of the system, without keys.
#[derive(Debug)]
pub struct WebClient {
    http: Http,
}

/// A response whose body is still to come.
#[derive(Debug)]
pub struct WebResponse {
    response: Response,
    idle_timeout: Duration,
}

/// A failure below HTTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WebError {
    /// The code that Node gives it, such as `ECONNREFUSED`.
    pub code: &'static str,
    /// The failure and its causes, without the address.
    pub message: String,
}

impl WebClient {
    /// Makes a client.
    pub fn new(options: HttpOptions) -> Self {
        WebClient { http: Http::new(options) }
    }

    /// Sends a request. A redirect is an answer like any other.
    ///
    /// # Errors
    ///
    /// A request that cannot be sent, or a server that does not answer.
    pub async fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<WebResponse, WebError> {
        let invalid = |message: String| WebError { code: "ERR_INVALID_ARG_VALUE", message };
        let method =
            reqwest::Method::from_bytes(method.as_bytes()).map_err(|error| invalid(error.to_string()))?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::try_from(name.as_str()).map_err(|error| invalid(error.to_string()))?;
            let value =
                reqwest::header::HeaderValue::from_str(value).map_err(|error| invalid(error.to_string()))?;
            map.append(name, value);
        }
        let client = self.http.client.get_or_init(|| build(&self.http.options));
        let client = client.as_ref().map_err(|reason| invalid(reason.clone()))?;
        let idle_timeout = self.http.options.idle_timeout;
        let mut request = client.request(method, url).headers(map);
        if !body.is_empty() {
            request = request.body(body);
        }
        let response = web_in_time(idle_timeout, request.send()).await?.map_err(web_error)?;
        Ok(WebResponse { response, idle_timeout })
    }
}

impl WebResponse {
    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the headers. Values that are not UTF-8 are replaced in part.
    pub fn headers(&self) -> Vec<(String, String)> {
        let pair = |(name, value): (&HeaderName, &reqwest::header::HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        self.response.headers().iter().map(pair).collect()
    }

    /// Returns the next piece of the body; none at its end.
    ///
    /// # Errors
    ///
    /// A connection that breaks off or does not go on.
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, WebError> {
        let piece = web_in_time(self.idle_timeout, self.response.chunk()).await?.map_err(web_error)?;
        Ok(piece.map(|piece| piece.to_vec()))
    }
}

async fn web_in_time<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, WebError> {
    let late =
        |_| WebError { code: "ETIMEDOUT", message: format!("nothing came for {} seconds", limit.as_secs()) };
    tokio::time::timeout(limit, future).await.map_err(late)
}

fn web_error(error: reqwest::Error) -> WebError {
    let is_connect = error.is_connect();
    let message = reason(error);
    let lower = message.to_lowercase();
    let code = match () {
        () if lower.contains("refused") => "ECONNREFUSED",
        () if lower.contains("reset") => "ECONNRESET",
        () if lower.contains("dns") || lower.contains("lookup") => "ENOTFOUND",
        () if lower.contains("timed out") => "ETIMEDOUT",
        () if lower.contains("certificate") => "CERT_INVALID",
        () if is_connect => "ECONNREFUSED",
        () => "UND_ERR_SOCKET",
    };
    WebError { code, message }
}

impl Incoming {
    /// Returns the next piece of the body; none at its end.
    pub(crate) async fn piece(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, RequestError> {
        let piece = in_time(self.idle_timeout, self.response.chunk()).await?;
        let Some(piece) = piece.map_err(|error| RequestError::BrokenOff(reason(error)))? else {
            return Ok(None);
        };
        if piece.len() > self.left {
            return Err(RequestError::TooLarge { what: "it", limit: self.limit });
        }
        self.left -= piece.len();
        Ok(Some(piece))
    }

    /// Reads the rest of a body whose answer is complete, so that the connection can serve the next request. A server
    /// that sends more than an end, or takes its time, loses the connection instead.
    pub(crate) async fn finish(mut self) {
        let rest = async {
            let mut left = LONGEST_REST;
            while let Ok(Some(piece)) = self.response.chunk().await {
                left = left.saturating_sub(piece.len());
                if left == 0 {
                    break;
                }
            }
        };
        // Too late: the connection is closed.
        let _ = tokio::time::timeout(REST_TIMEOUT, rest).await;
    }
}

/// Waits for a response or a piece of it, but not too long.
async fn in_time<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, RequestError> {
    tokio::time::timeout(limit, future).await.map_err(|_| RequestError::Idle(limit))
}

/// The most bytes that are read after the end of an answer.
const LONGEST_REST: usize = 16 << 10;
/// The time to wait for the end of a body after the end of its answer.
const REST_TIMEOUT: Duration = Duration::from_millis(300);

fn build(options: &HttpOptions) -> Result<Client, String> {
    // An error means that the program has chosen its provider of cryptography already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("offshoot/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(options.connect_timeout)
        .redirect(redirect::Policy::none());
    let builder = if options.use_proxies { builder } else { builder.no_proxy() };
    builder.build().map_err(reason)
}

/// Returns the messages of an error and its causes, without the address, which may contain secrets.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    reason
}

/// Explains a redirect. Its query is left out: it may hold a token.
fn redirected(response: &Response) -> String {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let address = location.and_then(|location| response.url().join(location).ok()).map(|mut url| {
        url.set_query(None);
        url.set_fragment(None);
        // Both fail only for addresses that cannot have them.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url
    });
    match address {
        Some(url) => format!(
            "it redirects to {url}; the key is not sent to another address, so set `baseUrl` to the new one"
        ),
        None => "it redirects without naming an address".into(),
    }
}

/// Headers as a observer sees them: by name, without what is secret and without what is no text.
pub(crate) fn spelled(headers: &HeaderMap) -> Headers {
    let open = headers.iter().filter(|(name, value)| !value.is_sensitive() && *name != SET_COOKIE);
    open.filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect()
}

/// The content type of a response that is surely no stream of events.
///
/// Servers in the wild say `text/plain` or nothing at all and stream nonetheless.
fn other_type(response: &Response) -> Option<String> {
    let found = response.headers().get(CONTENT_TYPE)?.to_str().ok()?.to_lowercase();
    let is_other = ["text/html", "application/json"].iter().any(|other| found.starts_with(other));
    is_other.then_some(found)
}

/// When a service wants to be asked again: in milliseconds, in seconds, or at a time by its own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let millis = text(HeaderName::from_static("retry-after-ms")).and_then(|text| text.trim().parse().ok());
    if let Some(millis) = millis {
        return Some(Duration::from_millis(millis));
    }
    let wanted = text(RETRY_AFTER)?;
    request_error::seconds(wanted).or_else(|| {
        let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp());
        let wait = date(wanted)?.duration_since(date(text(DATE)?)?);
        Duration::try_from(wait).ok()
    })
}

#[cfg(test)]
mod tests;

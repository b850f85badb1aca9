//! A model that a service hosts: the loop that posts, reads, decodes and hands on.
//!
//! Nothing happens before the stream is polled; dropping the stream closes the connection.

use std::sync::Arc;

use futures_util::stream;
use offshoot_agent::model::{
    AnswerEvent, AnswerStream, BlockStart, Model, ModelError, ModelSpec, Request, StopReason, Usage,
    WireObserver,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tracing::{debug, trace};

use crate::catalogue::Target;
use crate::error::{Error, Result};
use crate::http::{Http, HttpRequest, Incoming, spelled};
use crate::request_error::RequestError;
use crate::secret::Secret;
use crate::sse;
use crate::wire::{self, Decoder, Events};

/// A model that a service hosts.
#[derive(Debug, Clone)]
pub(crate) struct ServiceModel {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    target: Target,
    headers: HeaderMap,
    /// The key and the values of the user's own headers, to be kept out of errors.
    secrets: Vec<Secret>,
    http: Arc<Http>,
}

impl ServiceModel {
    /// Makes a model; nothing is sent yet.
    pub(crate) fn new(target: Target, key: Option<Secret>, http: Arc<Http>) -> Result<Self> {
        let url =
            reqwest::Url::parse(&target.base_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        if url.is_none() {
            let reason = format!("its address is not an http or https URL: `{}`", target.base_url);
            return Err(Error::bad_provider(&target.spec.provider, reason));
        }
        let headers = headers(&target, key.as_ref())?;
        let secrets = target.headers.values().cloned().chain(key).collect();
        Ok(Self { inner: Arc::new(Inner { target, headers, secrets, http }) })
    }
}

impl Model for ServiceModel {
    fn spec(&self) -> &ModelSpec {
        &self.inner.target.spec
    }

    fn answer(&self, request: Request) -> AnswerStream {
        let begin = State::New(Arc::clone(&self.inner), Box::new(request));
        Box::pin(stream::unfold(begin, next))
    }
}

/// How far an answer is.
enum State {
    New(Arc<Inner>, Box<Request>),
    Open(Box<Open>),
    /// The answer is complete; the end of the body may be missing.
    Complete(Box<Incoming>),
    Over,
}

/// An answer that comes.
struct Open {
    model: Arc<Inner>,
    incoming: Incoming,
    frames: sse::Decoder,
    decoder: Box<dyn Decoder>,
    events: Events,
    /// The fault that ended the answer, reported after all events before it.
    fault: Option<RequestError>,
    /// True once a part of the answer could be shown: some text, or the name of a tool.
    has_begun: bool,
    usage: Usage,
}

async fn next(state: State) -> Option<(Result<AnswerEvent, ModelError>, State)> {
    let mut open = match state {
        State::New(model, request) => match open(Arc::clone(&model), &request).await {
            Ok(open) => Box::new(open),
            Err(fault) => return Some((Err(model.error(fault, false)), State::Over)),
        },
        State::Open(open) => open,
        State::Complete(incoming) => {
            incoming.finish().await;
            return None;
        }
        State::Over => return None,
    };
    match open.next().await {
        Ok(event @ AnswerEvent::End { .. }) => Some((Ok(event), State::Complete(Box::new(open.incoming)))),
        Ok(event) => Some((Ok(event), State::Open(open))),
        Err(fault) => Some((Err(open.model.error(fault, open.has_begun)), State::Over)),
    }
}

async fn open(model: Arc<Inner>, request: &Request) -> Result<Open, RequestError> {
    let target = &model.target;
    let (mut body, mut headers) = (wire::body(target, request), model.headers.clone());
    if let Some(observer) = &request.observer {
        body = observer.request(body).await;
        headers = observed(headers, &**observer).await;
    }
    debug!(provider = target.spec.provider, api = target.api.name(), "post");
    let post = HttpRequest { url: target.api.url(target), headers, body: body.to_string() };
    trace!(bytes = post.body.len(), "body");
    let incoming = model.http.post(post, request.observer.as_deref()).await?;
    let frames = sse::Decoder::new(model.http.options.longest_event);
    let decoder = target.api.decoder();
    Ok(Open {
        model,
        incoming,
        frames,
        decoder,
        events: Events::default(),
        fault: None,
        has_begun: false,
        usage: Usage::default(),
    })
}

impl Open {
    async fn next(&mut self) -> Result<AnswerEvent, RequestError> {
        loop {
            if let Some(event) = self.events.pop() {
                return self.observe(event);
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            if let Err(fault) = self.read().await {
                self.fault = Some(fault);
            }
        }
    }

    /// Updates the state of the answer.
    fn observe(&mut self, event: AnswerEvent) -> Result<AnswerEvent, RequestError> {
        match &event {
            AnswerEvent::BlockDelta { .. }
            | AnswerEvent::BlockStart { block: BlockStart::ToolCall { .. }, .. } => self.has_begun = true,
            AnswerEvent::Usage(usage) => self.usage = *usage,
            // Some services cut a request to the window, which leaves nothing for the answer.
            AnswerEvent::End { stop: StopReason::Length } if !self.has_begun && self.fills_window() => {
                return Err(RequestError::NoRoom(
                    "it fills the context window, so the answer is empty".into(),
                ));
            }
            _ => {}
        }
        Ok(event)
    }

    fn fills_window(&self) -> bool {
        let window = self.model.target.spec.context_window;
        self.usage.output == 0 && self.usage.total() >= window - window / 100
    }

    /// Reads one frame, or the next piece of the body.
    async fn read(&mut self) -> Result<(), RequestError> {
        let limits = &self.model.http.options;
        match self.frames.next() {
            Ok(Some(frame)) => {
                wire::decode(&mut *self.decoder, &frame, &mut self.events)?;
                let limit = limits.longest_content;
                let is_too_large = self.events.bytes > limit;
                return if is_too_large { Err(RequestError::TooLarge { what: "it", limit }) } else { Ok(()) };
            }
            Ok(None) => {}
            Err(sse::TooLarge) => {
                return Err(RequestError::TooLarge {
                    what: "one of its events",
                    limit: limits.longest_event,
                });
            }
        }
        if let Some(piece) = self.incoming.piece().await? {
            self.frames.feed(piece.as_ref());
            return Ok(());
        }
        if let Some(frame) = self.frames.flush() {
            wire::decode(&mut *self.decoder, &frame, &mut self.events)?;
        }
        self.events.finish(&mut *self.decoder)
    }
}

impl Inner {
    fn error(&self, fault: RequestError, has_begun: bool) -> ModelError {
        fault.into_error(&self.target.spec.provider, &self.secrets, has_begun)
    }
}

/// The headers of every request: those of the format, those of the user, and the key.
fn headers(target: &Target, key: Option<&Secret>) -> Result<HeaderMap> {
    let bad = |what: &str| {
        let reason = format!("its {what} has characters that a header cannot carry");
        Error::bad_provider(&target.spec.provider, reason)
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    for (name, value) in target.api.headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    for (name, value) in &target.headers {
        let bad = || bad(&format!("header `{name}`"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        headers.insert(name, hidden(value.reveal()).ok_or_else(bad)?);
    }
    if let Some(key) = key {
        let (name, value) = target.api.key_header(key);
        headers.insert(HeaderName::from_static(name), hidden(&value).ok_or_else(|| bad("key"))?);
    }
    Ok(headers)
}

/// Lets the observer change the headers. It does not receive secret ones, which stay unless it replaces them.
async fn observed(headers: HeaderMap, observer: &dyn WireObserver) -> HeaderMap {
    let shown = spelled(&headers);
    let named = headers.into_iter().filter_map(|(name, value)| Some((name?, value)));
    let mut changed: HeaderMap = named.filter(|(_, value)| value.is_sensitive()).collect();
    for (name, value) in observer.headers(shown).await {
        if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_bytes()), hidden(&value)) {
            changed.insert(name, value);
        }
    }
    changed
}

/// Makes a value that is never printed; headers of the user may be keys as well.
fn hidden(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

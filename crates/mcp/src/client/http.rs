//! The HTTP client for servers: like that of `rmcp`, but no response is read beyond the size limit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::HEADER_SESSION_ID;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::limits::{MAX_MESSAGE, Observed};
use super::lock;

type Error = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The client of one server.
#[derive(Clone)]
pub(super) struct HttpClient {
    pub(super) client: Client,
    /// Receives the limit that an answer exceeds.
    pub(super) observed: Arc<Mutex<Observed>>,
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let request = self.client.post(&*uri).header(ACCEPT, "application/json, text/event-stream");
        let response = with_headers(request, session_id.as_deref(), headers).json(&message).send().await?;
        let session = header(&response, HEADER_SESSION_ID).map(str::to_owned);
        match (response.status(), header(&response, CONTENT_TYPE.as_str()).unwrap_or_default()) {
            (StatusCode::ACCEPTED | StatusCode::NO_CONTENT, _) => Ok(StreamableHttpPostResponse::Accepted),
            (StatusCode::NOT_FOUND, _) if session_id.is_some() => Err(StreamableHttpError::SessionExpired),
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
                let challenge = header(&response, WWW_AUTHENTICATE.as_str()).unwrap_or_default().to_owned();
                Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)))
            }
            (status, kind) if status.is_success() && kind.starts_with("text/event-stream") => {
                Ok(StreamableHttpPostResponse::Sse(self.events(response), session))
            }
            (status, _) => {
                let body = self.body(response).await?;
                read(status, &body, &message, session)
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Error> {
        self.client.delete_session(uri, session_id, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        // This stream is long, so only its events are limited.
        self.client
            .get_stream_with_max_sse_event_size(uri, session_id, last_event_id, token, headers, MAX_MESSAGE)
            .await
    }
}

fn with_headers(mut request: RequestBuilder, session: Option<&str>, headers: Headers) -> RequestBuilder {
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(HEADER_SESSION_ID, session),
        None => request,
    }
}

fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

impl HttpClient {
    /// Reads the events of a response, up to the limit.
    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let (mut left, observed) = (MAX_MESSAGE, self.observed.clone());
        let bytes = response.bytes_stream().map_err(std::io::Error::other).and_then(move |bytes| {
            let fits = left.checked_sub(bytes.len());
            left = fits.unwrap_or_default();
            std::future::ready(fits.map(|_| bytes).ok_or_else(|| std::io::Error::other(too_long(&observed))))
        });
        SseStream::from_bytes_stream(bytes).boxed()
    }

    /// Reads a body, up to the limit.
    async fn body(&self, mut response: Response) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await? {
            if body.len() + bytes.len() > MAX_MESSAGE {
                return Err(unexpected(too_long(&self.observed)));
            }
            body.extend_from_slice(&bytes);
        }
        Ok(body)
    }
}

/// Reads a message, also from a response that is an error.
fn read(
    status: StatusCode,
    body: &[u8],
    message: &ClientJsonRpcMessage,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Error> {
    let answer = serde_json::from_slice::<ServerJsonRpcMessage>(body);
    match (answer, message) {
        // A server of an older revision refuses the request by which a client asks for the revisions.
        (answer, ClientJsonRpcMessage::Request(request))
            if status.is_client_error() && matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            let error = match answer {
                Ok(ServerJsonRpcMessage::Error(error)) => error.error,
                _ => ErrorData::invalid_request(format!("HTTP {status}"), None),
            };
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(answer, None))
        }
        (Ok(answer), _) => Ok(StreamableHttpPostResponse::Json(answer, session)),
        // A notification needs no answer.
        (Err(_), ClientJsonRpcMessage::Request(_)) => {
            let start: String = String::from_utf8_lossy(body).chars().take(200).collect();
            Err(unexpected(format!("HTTP {status}, and no message of the protocol: {start}")))
        }
        (Err(_), _) if status.is_success() => Ok(StreamableHttpPostResponse::Accepted),
        (Err(_), _) => Err(unexpected(format!("HTTP {status}"))),
    }
}

/// Records that an answer exceeds the limit.
fn too_long(observed: &Mutex<Observed>) -> String {
    let text = format!("it sent an answer of more than {} MiB", MAX_MESSAGE >> 20);
    lock(observed).excess = Some(text.clone());
    text
}

fn unexpected(text: String) -> Error {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text))
}

//! The server over streamable HTTP: one address, `/mcp`, with checks of `Host` and `Origin`.
//!
//! A page in a browser can send requests to a port of this machine under a name that it controls (DNS rebinding). So only
//! requests whose `Host` and `Origin` name an allowed host are answered.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use offshoot_agent::cancel::Cancel;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::SessionServer;

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to wait after a connection could not be accepted, for instance because no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The clients that may connect.
#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    /// Names of this machine besides `localhost` and loopback addresses.
    pub hosts: Vec<String>,
    /// The token that every request must carry, if there is one.
    pub token: Option<String>,
}

/// A server that listens.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    options: HttpOptions,
}

impl HttpServer {
    /// Listens on an address; port 0 is any free port.
    ///
    /// # Errors
    ///
    /// The error of the system, such as a port that is in use.
    pub async fn bind(address: SocketAddr, options: HttpOptions) -> io::Result<Self> {
        Ok(HttpServer { listener: TcpListener::bind(address).await?, options })
    }

    /// Returns the address of the server.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}/mcp", self.listener.local_addr()?))
    }

    /// Answers requests until `cancel` is cancelled.
    pub async fn run(self, server: SessionServer, cancel: &Cancel) {
        let sessions_end = CancellationToken::new();
        let _guard = sessions_end.clone().drop_guard();
        let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let hosts: Vec<String> = loopback.into_iter().chain(self.options.hosts.iter().cloned()).collect();
        let origins = hosts.iter().flat_map(|host| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            [format!("http://{host}:*"), format!("https://{host}:*")]
        });
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(origins.collect::<Vec<_>>())
            .with_allowed_hosts(hosts)
            .with_cancellation_token(sessions_end);
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
        let (free, token) = (Arc::new(Semaphore::new(MAX_CONNECTIONS)), Arc::new(self.options.token));
        let mut connections = JoinSet::new();
        loop {
            let accepted = async {
                // The semaphore is never closed.
                let permit = free.clone().acquire_owned().await.ok();
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                () = cancel.cancelled() => break,
                accepted = accepted => accepted,
            };
            while connections.try_join_next().is_some() {}
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let (service, token) = (service.clone(), token.clone());
            connections.spawn(async move {
                let answer = hyper::service::service_fn(move |request: Request<Incoming>| {
                    let (service, token) = (service.clone(), token.clone());
                    async move {
                        if let Some(refused) =
                            refusal(request.uri().path(), request.headers(), token.as_deref())
                        {
                            let mut response = Response::new(Empty::new().boxed());
                            *response.status_mut() = refused;
                            return Ok::<_, Infallible>(response);
                        }
                        Ok(service.handle(request).await)
                    }
                });
                let mut http = hyper::server::conn::http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
                if let Err(error) = http.serve_connection(TokioIo::new(stream), answer).await {
                    debug!(%error, "connection ended");
                }
                drop(permit);
            });
        }
        connections.shutdown().await;
    }
}

/// Returns the status of a request that is refused before the protocol sees it.
fn refusal(path: &str, headers: &HeaderMap, token: Option<&str>) -> Option<StatusCode> {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    match token {
        _ if path != "/mcp" => Some(StatusCode::NOT_FOUND),
        Some(token) if !given.is_some_and(|given| is_same(given, token.as_bytes())) => {
            Some(StatusCode::UNAUTHORIZED)
        }
        _ => None,
    }
}

/// Compares without revealing by the time it takes where the texts differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

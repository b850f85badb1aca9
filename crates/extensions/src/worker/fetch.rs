//! `fetch`: asks whether a host may be reached, sends the request, follows redirects, and hands out the body in pieces.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt as _;
use offshoot_agent::cancel::Cancel;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;
use url::Url;

use super::ops::{Work, ask, refused};
use crate::engine::Shared;
use crate::network::{HttpError, HttpRequest, HttpResponse, Network};

/// The most redirects that are followed, as in browsers and in Node.
const MOST_REDIRECTS: usize = 20;
/// The largest body of a response, in bytes. Script reads it in pieces.
const LARGEST_BODY: usize = 512 << 20;
/// The most responses whose bodies are open at a time.
const MOST_OPEN: usize = 256;

const ONCE: &str = "Allow once";
const WHILE_RUNNING: &str = "Allow until offshoot ends";
const ALWAYS: &str = "Always allow for this extension";
const REFUSE: &str = "Refuse";

/// The responses of an extension, and what the user answered about hosts.
#[derive(Default)]
pub(crate) struct Fetches {
    open: std::cell::RefCell<BTreeMap<u64, Body>>,
    next: std::cell::Cell<u64>,
    /// Whether a host may be reached; held while the user is asked.
    answers: Rc<Mutex<BTreeMap<String, bool>>>,
}

struct Body {
    response: HttpResponse,
    left: usize,
}

/// Sends a request.
pub(super) fn start(shared: &Rc<Shared>, arguments: Json, stop: Cancel) -> Work {
    let Some(network) = shared.setting.host.network.clone() else {
        return refused("this program has no network for extensions");
    };
    let shared = shared.clone();
    Box::pin(async move {
        let value = match followed(&shared, &network, arguments, &stop).await {
            Err(_) if stop.is_cancelled() => json!({"aborted": true}),
            Ok(value) => value,
            Err(error) => json!({"error": error.message, "code": error.code}),
        };
        Ok(value.to_string())
    })
}

/// Reads the next piece of a body; null at its end.
pub(super) fn read(shared: &Rc<Shared>, arguments: &Json, stop: Cancel) -> Work {
    let (shared, id) = (shared.clone(), arguments["body"].as_u64().unwrap_or_default());
    Box::pin(async move {
        let Some(mut body) = shared.fetches.open.borrow_mut().remove(&id) else {
            return Ok("null".to_owned());
        };
        let value = match stop.unless_cancelled(body.response.body.next()).await {
            None => json!({"aborted": true}),
            Some(None) => Json::Null,
            Some(Some(Err(error))) => json!({"error": error.message, "code": error.code}),
            Some(Some(Ok(piece))) if piece.len() > body.left => {
                json!({"error": format!("the body is longer than {LARGEST_BODY} bytes"), "code": "ERR_TOO_LARGE"})
            }
            Some(Some(Ok(piece))) => {
                body.left -= piece.len();
                shared.fetches.open.borrow_mut().insert(id, body);
                json!({"base64": STANDARD.encode(piece)})
            }
        };
        Ok(value.to_string())
    })
}

/// Drops a body that has no reader.
pub(super) fn close(shared: &Rc<Shared>, arguments: &Json) -> Work {
    shared.fetches.open.borrow_mut().remove(&arguments["body"].as_u64().unwrap_or_default());
    Box::pin(std::future::ready(Ok("null".to_owned())))
}

fn failed(code: &'static str, message: impl Into<String>) -> HttpError {
    HttpError { code, message: message.into() }
}

/// Sends a request and those of its redirects. Returns the head of the response.
async fn followed(
    shared: &Rc<Shared>,
    network: &Arc<dyn Network>,
    arguments: Json,
    stop: &Cancel,
) -> Result<Json, HttpError> {
    let mut request = request(shared, &arguments)?;
    let mut url = Url::parse(&request.url).map_err(|error| failed("ERR_INVALID_URL", error.to_string()))?;
    let mut redirects = 0;
    loop {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(failed("ERR_INVALID_URL", format!("unknown scheme `{}`", url.scheme())));
        }
        check(shared, network, url.host_str().unwrap_or_default(), stop).await?;
        let sent = stop.unless_cancelled(network.send(request.clone())).await;
        let response = sent.unwrap_or_else(|| Err(failed("ABORT_ERR", "aborted")))?;
        let location = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
        let target = location.and_then(|(_, target)| url.join(target).ok());
        match (is_redirect(response.status), target, arguments["redirect"].as_str()) {
            (true, Some(_), Some("error")) => return Err(failed("ERR_REDIRECT", "unexpected redirect")),
            (true, Some(target), mode) if mode != Some("manual") => {
                redirects += 1;
                if redirects > MOST_REDIRECTS {
                    return Err(failed("ERR_REDIRECT", "redirect count exceeded"));
                }
                redirect(&mut request, response.status, &url, &target);
                url = target;
            }
            _ => return opened(shared, response, &url, redirects > 0),
        }
    }
}

fn request(shared: &Shared, arguments: &Json) -> Result<HttpRequest, HttpError> {
    let body = STANDARD.decode(arguments["base64"].as_str().unwrap_or_default());
    let body = body.map_err(|error| failed("ERR_INVALID_ARG_VALUE", error.to_string()))?;
    if body.len() > shared.setting.limits.memory / 4 {
        return Err(failed("ERR_TOO_LARGE", "the body of the request is too large"));
    }
    let pairs = arguments["headers"].as_array().into_iter().flatten();
    let headers = pairs.filter_map(|pair| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned())));
    Ok(HttpRequest {
        method: arguments["method"].as_str().unwrap_or("GET").to_owned(),
        url: arguments["url"].as_str().unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body,
    })
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Changes a request as its redirect requires: without its body if the method becomes `GET`, without credentials if it goes
/// to another place.
fn redirect(request: &mut HttpRequest, status: u16, from: &Url, to: &Url) {
    let becomes_get = match status {
        303 => request.method != "HEAD",
        301 | 302 => request.method == "POST",
        _ => false,
    };
    if becomes_get {
        request.method = "GET".to_owned();
        request.body.clear();
        request.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    }
    if from.origin() != to.origin() {
        let secret = ["authorization", "cookie", "host", "proxy-authorization"];
        request.headers.retain(|(name, _)| !secret.contains(&name.to_ascii_lowercase().as_str()));
    }
    request.url = to.to_string();
}

/// Keeps a response and returns its head.
fn opened(shared: &Shared, response: HttpResponse, url: &Url, redirected: bool) -> Result<Json, HttpError> {
    let fetches = &shared.fetches;
    if fetches.open.borrow().len() >= MOST_OPEN {
        let message = format!("more than {MOST_OPEN} responses are open; read or cancel their bodies");
        return Err(failed("ERR_TOO_MANY", message));
    }
    let id = fetches.next.get() + 1;
    fetches.next.set(id);
    let head = json!({
        "body": id, "status": response.status, "headers": response.headers, "url": url.as_str(),
        "redirected": redirected,
    });
    fetches.open.borrow_mut().insert(id, Body { response, left: LARGEST_BODY });
    Ok(head)
}

/// Fails if an extension may not reach a host. The user is asked at the first use.
async fn check(
    shared: &Rc<Shared>,
    network: &Arc<dyn Network>,
    host: &str,
    stop: &Cancel,
) -> Result<(), HttpError> {
    let setting = &shared.setting;
    let path = setting.facts["path"].as_str().unwrap_or_default();
    if network.is_allowed(path, host) {
        return Ok(());
    }
    let mut answers = shared.fetches.answers.lock().await;
    match answers.get(host) {
        Some(true) => return Ok(()),
        None if network.is_allowed(path, host) => return Ok(()),
        Some(false) => return Err(denied(host, "the user refused it")),
        None => {}
    }
    if !setting.host.mode.has_ui() {
        return Err(denied(host, "no user can be asked; the setting `extensionHosts` allows hosts"));
    }
    let title = format!("The extension `{}` wants to reach {host}", setting.name);
    let question =
        json!({"kind": "select", "title": title, "options": [ONCE, WHILE_RUNNING, ALWAYS, REFUSE]});
    let answer = ask(shared, &question, stop.child()).await.unwrap_or_default();
    match serde_json::from_str::<Json>(&answer).unwrap_or_default().as_str() {
        Some(ONCE) => Ok(()),
        Some(WHILE_RUNNING) => {
            answers.insert(host.to_owned(), true);
            Ok(())
        }
        Some(ALWAYS) => {
            answers.insert(host.to_owned(), true);
            if let Err(error) = network.allow(path, host) {
                setting.host.report(&setting.name, "fetch", format!("the answer cannot be kept: {error}"));
            }
            Ok(())
        }
        _ if stop.is_cancelled() => Err(failed("ABORT_ERR", "aborted")),
        _ => {
            answers.insert(host.to_owned(), false);
            Err(denied(host, "the user refused it"))
        }
    }
}

fn denied(host: &str, reason: &str) -> HttpError {
    failed("EACCES", format!("this extension may not reach {host}: {reason}"))
}

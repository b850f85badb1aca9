//! `fetch` of extensions, against a server on this machine, with the client of the program.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use offshoot_extensions::host::HostFuture;
use offshoot_extensions::network::{HttpError, HttpRequest, HttpResponse, Network};
use offshoot_providers::{HttpOptions, WebClient, WebError};
use serde_json::{Value as Json, json};

use crate::support::{Setup, Stage};

/// The client of the program, with a list of hosts in memory.
#[derive(Debug)]
struct Client {
    client: Arc<WebClient>,
    allowed: Mutex<BTreeSet<String>>,
}

impl Client {
    fn allowing(hosts: &[&str]) -> Arc<Self> {
        let options = HttpOptions {
            use_proxies: false,
            idle_timeout: Duration::from_secs(10),
            ..HttpOptions::default()
        };
        let allowed = hosts.iter().map(|host| (*host).to_owned()).collect();
        Arc::new(Client { client: Arc::new(WebClient::new(options)), allowed: Mutex::new(allowed) })
    }
}

fn error(error: WebError) -> HttpError {
    HttpError { code: error.code, message: error.message }
}

impl Network for Client {
    fn send(&self, request: HttpRequest) -> HostFuture<Result<HttpResponse, HttpError>> {
        let client = self.client.clone();
        Box::pin(async move {
            let HttpRequest { method, url, headers, body } = request;
            let response = client.send(&method, &url, &headers, body).await.map_err(error)?;
            let (status, headers) = (response.status(), response.headers());
            let pieces = stream::try_unfold(response, |mut response| async move {
                Ok(response.piece().await.map_err(error)?.map(|piece| (piece, response)))
            });
            Ok(HttpResponse { status, headers, body: Box::pin(pieces) })
        })
    }

    fn is_allowed(&self, _: &str, host: &str) -> bool {
        self.allowed.lock().unwrap().contains(host)
    }

    fn allow(&self, _: &str, host: &str) -> Result<(), String> {
        self.allowed.lock().unwrap().insert(host.to_owned());
        Ok(())
    }
}

/// Starts a server that repeats requests, redirects, streams or breaks off, by the path. Returns its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drop(serve(stream)));
        }
    });
    address
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let answer = |status: &str, headers: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let text = match path.split('?').next().unwrap_or_default() {
        "/away" => answer("302 Found", "location: /echo?moved\r\n", ""),
        "/localhost" => {
            let port = stream.local_addr()?.port();
            answer("307 Temporary Redirect", &format!("location: http://localhost:{port}/echo\r\n"), "")
        }
        "/circle" => answer("302 Found", "location: /circle\r\n", ""),
        "/pieces" => {
            write!(stream, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")?;
            for piece in ["eins ", "zwei ", "dr\u{e9}i"] {
                write!(stream, "{:x}\r\n{piece}\r\n", piece.len())?;
                stream.flush()?;
                std::thread::sleep(Duration::from_millis(30));
            }
            "0\r\n\r\n".to_owned()
        }
        "/broken" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this".to_owned(),
        "/silent" => {
            std::thread::sleep(Duration::from_secs(5));
            String::new()
        }
        "/missing" => answer("404 Not Found", "", "gone"),
        _ => {
            let body = json!({"head": head, "body": String::from_utf8_lossy(&body)}).to_string();
            answer(
                "200 OK",
                "content-type: application/json\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n",
                &body,
            )
        }
    };
    stream.write_all(text.as_bytes())
}

async fn staged(network: Arc<dyn Network>, has_ui: bool, body: &str) -> Stage {
    let text = format!(
        "const at = '{}'; export default (pi) => pi.on('x', async (event, ctx) => {{ {body} }})",
        server()
    );
    let setup = Setup { network: Some(network), has_ui, ..Setup::default() };
    let stage = setup.with(&[("one.ts", &text)]).await;
    assert_eq!(stage.errors, []);
    stage
}

async fn fetched(body: &str) -> Json {
    staged(Client::allowing(&["127.0.0.1"]), true, body).await.fire("x", json!({})).await
}

#[tokio::test]
async fn a_request_has_its_method_headers_and_body() {
    let answer = fetched(
        "const post = await fetch(`${at}/echo?q=1`, { method: 'post', headers: { 'X-One': '1' }, body: JSON.stringify({ a: 1 }) });
         const said = await post.json();
         const form = new FormData(); form.append('file', new Blob(['inside']), 'a.txt'); form.append('k', 'v');
         const sent = await (await fetch(at, { method: 'POST', body: form })).json();
         const params = await (await fetch(new URL('/p', at), { method: 'PUT', body: new URLSearchParams({ a: 'b c' }) })).json();
         const missing = await fetch(`${at}/missing`);
         return {
             ok: post.ok, type: post.headers.get('Content-Type'), cookies: post.headers.getSetCookie(), line: said.head.split('\\r\\n')[0],
             header: said.head.includes('x-one: 1'), body: said.body, text: said.head.includes('text/plain'), url: post.url === `${at}/echo?q=1`,
             keys: /authorization|api-key|cookie/i.test(said.head),
             form: sent.body.includes('filename=\"a.txt\"') && sent.body.includes('inside') && sent.head.includes('multipart/form-data; boundary='),
             params: [params.body, params.head.includes('application/x-www-form-urlencoded')],
             missing: [missing.ok, missing.status, missing.statusText, await missing.text(), missing.bodyUsed],
         };",
    )
    .await;
    let expected = json!({
        "ok": true, "type": "application/json", "cookies": ["a=1", "b=2"], "line": "POST /echo?q=1 HTTP/1.1", "header": true,
        "body": "{\"a\":1}", "text": true, "url": true, "keys": false, "form": true, "params": ["a=b+c", true],
        "missing": [false, 404, "Not Found", "gone", true],
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn redirects_are_followed_as_far_as_they_may_be() {
    let answer = fetched(
        "const moved = await fetch(`${at}/away`, { method: 'POST', body: 'x' }); const said = await moved.json();
         const manual = await fetch(`${at}/away`, { redirect: 'manual' });
         const error = (url, init) => fetch(url, init).then(() => 'none', (error) => [error.name, error.message, error.cause.message]);
         return { line: said.head.split(' HTTP')[0], redirected: moved.redirected, url: moved.url.endsWith('/echo?moved'),
             manual: [manual.status, manual.headers.get('location')],
             refused: await error(`${at}/away`, { redirect: 'error' }), circle: await error(`${at}/circle`) };",
    )
    .await;
    let expected = json!({
        "line": "GET /echo?moved", "redirected": true, "url": true, "manual": [302, "/echo?moved"],
        "refused": ["TypeError", "fetch failed", "unexpected redirect"],
        "circle": ["TypeError", "fetch failed", "redirect count exceeded"],
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_body_comes_in_pieces_and_may_break_off() {
    let answer = fetched(
        "const pieces = []; const decoder = new TextDecoder();
         for await (const piece of (await fetch(`${at}/pieces`)).body) pieces.push(decoder.decode(piece, { stream: true }));
         const reader = (await fetch(`${at}/pieces`)).body.getReader(); const first = await reader.read(); await reader.cancel();
         const broken = await fetch(`${at}/broken`); const failed = await broken.text().catch((error) => [error.name, error.message]);
         const late = (init) => fetch(`${at}/silent`, init).then(() => 'none', (error) => error.name);
         const controller = new AbortController(); setTimeout(() => controller.abort(), 50);
         const gone = await fetch('http://127.0.0.1:1/').catch((error) => [error.message, error.cause.code]);
         const bad = await fetch('not a url').catch((error) => error.message);
         const both = await fetch(`${at}/pieces`); const copy = both.clone();
         return { all: pieces.join(''), several: pieces.length > 1, first: first.value instanceof Uint8Array, failed,
             timeout: await late({ signal: AbortSignal.timeout(50) }), abort: await late({ signal: controller.signal }),
             any: await late({ signal: AbortSignal.any([AbortSignal.timeout(50), new AbortController().signal]) }), gone, bad,
             copy: (await both.text()) === (await copy.text()) };",
    )
    .await;
    let expected = json!({
        "all": "eins zwei dréi", "several": true, "first": true, "failed": ["TypeError", "terminated"],
        "timeout": "TimeoutError", "abort": "AbortError", "any": "TimeoutError", "gone": ["fetch failed", "ECONNREFUSED"],
        "bad": "Invalid URL", "copy": true,
    });
    assert_eq!(answer, expected);
}

const STATUS: &str = "return { status: await fetch(`${at}/${event.path ?? ''}`).then((response) => response.status, (error) => error.cause.message) }";

#[tokio::test]
async fn the_user_is_asked_about_each_host() {
    let network = Client::allowing(&[]);
    let stage = staged(network.clone(), true, STATUS).await;
    let ask = async |answer: Option<&str>, path: &str| {
        if let Some(answer) = answer {
            stage.says(answer);
        }
        stage.fire("x", json!({ "path": path })).await["status"].clone()
    };
    assert_eq!(ask(Some("Allow once"), "").await, 200);
    assert_eq!(ask(Some("Allow until offshoot ends"), "").await, 200);
    assert_eq!(ask(None, "").await, 200);
    assert_eq!(
        ask(Some("Refuse"), "localhost").await,
        "this extension may not reach localhost: the user refused it"
    );
    assert_eq!(ask(None, "localhost").await, "this extension may not reach localhost: the user refused it");
    let questions: Vec<String> =
        stage.notes().into_iter().filter(|note| note.starts_with("select")).collect();
    assert_eq!(questions.len(), 3, "{questions:?}");
    assert!(questions[0].contains("The extension `one` wants to reach 127.0.0.1"), "{questions:?}");
    assert!(!network.is_allowed("", "127.0.0.1"));
    let stage = staged(network.clone(), true, STATUS).await;
    stage.says("Always allow for this extension");
    assert_eq!(stage.fire("x", json!({})).await["status"], 200);
    assert!(network.is_allowed("", "127.0.0.1"));
}

#[tokio::test]
async fn without_a_user_only_allowed_hosts_are_reached() {
    let stage = staged(Client::allowing(&["localhost"]), false, STATUS).await;
    let answer = stage.fire("x", json!({})).await;
    let refused = "this extension may not reach 127.0.0.1: no user can be asked; the setting `extensionHosts` allows hosts";
    assert_eq!(answer["status"], refused);
}

#[tokio::test]
async fn addresses_have_their_parts() {
    let answer = fetched(
        "const url = new URL('../b/./c?x=1#y', 'https://user:pw@EXAMPLE.org:8443/a/d/e'); url.searchParams.append('z', 'ä &'); url.port = '443';
         url.pathname = '/new path'; url.hash = '';
         const params = new URLSearchParams([['b', '2'], ['a', '1'], ['b', '3']]); params.sort(); params.set('b', '4'); params.delete('a', '9');
         return { href: url.href, origin: url.origin, user: url.username, can: [URL.canParse('x'), URL.canParse('x', 'https://a')],
             params: params.toString(), size: params.size, entries: [...new URLSearchParams('?q=a+b%20c&r')], file: new URL('file:///a%20b').pathname };",
    )
    .await;
    let expected = json!({
        "href": "https://user:pw@example.org/new%20path?x=1&z=%C3%A4+%26", "origin": "https://example.org", "user": "user",
        "can": [false, true], "params": "a=1&b=4", "size": 2, "entries": [["q", "a b c"], ["r", ""]], "file": "/a%20b",
    });
    assert_eq!(answer, expected);
}

//! A server over HTTP: of the older revision, with answers as JSON, and one that is too long.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use offshoot_mcp::client::{ServerConfig, Servers, State};
use serde_json::{Value as Json, json};

use crate::nasty::{Failures, PATIENCE, call, configs, only, options, reason};

/// Starts a server on a thread; it ends with the test. Returns its address.
fn serve(answer: fn(&Json) -> Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that leaves in the middle of an answer ends the connection.
            std::thread::spawn(move || stream.and_then(|stream| respond(&stream, answer)).ok());
        }
    });
    format!("http://{address}/mcp")
}

fn respond(mut stream: &TcpStream, answer: fn(&Json) -> Vec<u8>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Json = serde_json::from_slice(&body).unwrap_or_default();
    stream.write_all(&answer(&request))
}

/// Writes a response that ends with the connection.
fn response(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn with_result(request: &Json, result: &Json) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    response("200 OK", "application/json", message.to_string().as_bytes())
}

/// A server of the older revision, whose call gives what `call` makes of it.
fn old(request: &Json, call: impl FnOnce(&Json) -> Vec<u8>) -> Vec<u8> {
    match request["method"].as_str() {
        None => response("405 Method Not Allowed", "text/plain", b""),
        Some("server/discover") => response("400 Bad Request", "text/plain", b"no session"),
        Some("initialize") => with_result(
            request,
            &json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"},
            }),
        ),
        Some("tools/list") => {
            with_result(request, &json!({"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}))
        }
        Some("tools/call") => call(request),
        Some(_) => response("202 Accepted", "text/plain", b""),
    }
}

fn config(url: &str) -> Vec<ServerConfig> {
    configs(&json!({"nasty": {"url": url, "headers": {"X-Key": "k"}, "timeout": 5}}))
}

async fn start(answer: fn(&Json) -> Vec<u8>) -> Servers {
    let servers = Servers::start(config(&serve(answer)), &options(&Failures::default()));
    servers.settled(PATIENCE).await;
    servers
}

#[tokio::test]
async fn a_server_of_the_older_revision_that_answers_with_json_is_used() {
    let servers = start(|request| {
        old(request, |request| with_result(request, &json!({"content": [{"type": "text", "text": "fine"}]})))
    })
    .await;
    assert_eq!(only(&servers).state, State::Ready);
    assert_eq!(call(&servers).await.all_text(), "fine");
}

#[tokio::test]
async fn an_answer_of_100_mb_fails_the_call() {
    let as_json =
        |request: &Json| old(request, |_| response("200 OK", "application/json", &vec![b' '; 100_000_000]));
    let as_events = |request: &Json| {
        old(request, |_| {
            let body = [b"data: ".to_vec(), vec![b'x'; 100_000_000]].concat();
            response("200 OK", "text/event-stream", &body)
        })
    };
    for answer in [as_json as fn(&Json) -> Vec<u8>, as_events] {
        let servers = start(answer).await;
        let output = call(&servers).await;
        let expected = "the server was stopped: it sent an answer of more than 16 MiB";
        assert_eq!((output.is_error, output.all_text()), (true, expected.to_owned()));
    }
}

#[tokio::test]
async fn a_server_that_wants_a_sign_in_or_is_not_there_is_explained() {
    let servers = start(|_| {
        let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        head.as_bytes().to_vec()
    })
    .await;
    assert_eq!(
        reason(&servers),
        "the server wants you to sign in | set the header `Authorization` in mcp.json; signing in with OAuth is not supported"
    );
    let servers = Servers::start(config("http://127.0.0.1:1/mcp"), &options(&Failures::default()));
    servers.settled(PATIENCE).await;
    assert!(reason(&servers).contains("check the address, and that the server runs"), "{}", reason(&servers));
    let servers = start(|_| response("200 OK", "text/html", b"<p>hello")).await;
    assert!(reason(&servers).contains("no message of the protocol: <p>hello"), "{}", reason(&servers));
}

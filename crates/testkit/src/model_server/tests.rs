use std::io::{Read as _, Write as _};

use super::*;

/// Posts an empty object and returns everything that comes back.
fn post(server: &ModelServer, path: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(
            format!("POST {path} HTTP/1.1\r\nX-Key: k\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}")
                .as_bytes(),
        )
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn every_format_says_what_the_script_says() {
    let paths =
        ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/models/m:streamGenerateContent?alt=sse"];
    let server =
        ModelServer::start(paths.map(|_| Reply::answer().text("hello").stop(ScriptedStop::Length))).unwrap();
    let marks = ["max_tokens", "[DONE]", "response.incomplete", "MAX_TOKENS"];
    for (path, mark) in paths.iter().zip(marks) {
        let text = post(&server, path);
        assert!(text.starts_with("HTTP/1.1 200") && text.contains("hello") && text.contains(mark), "{text}");
        assert!(text.ends_with("0\r\n\r\n"), "the body is complete");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert_eq!((requests[3].path.as_str(), requests[3].header("x-key")), (paths[3], Some("k")));
    assert!(post(&server, "/v1/messages").contains("the script is over"));
}

#[test]
fn a_stalled_client_that_leaves_is_noticed_and_a_server_that_goes_does_not_hang() {
    let stall = || Reply::answer().text("a b c").stall_after(1);
    let server = ModelServer::start([stall(), stall()]).unwrap();
    let request = b"POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n";
    let mut leaves = TcpStream::connect(server.address).unwrap();
    leaves.write_all(request).unwrap();
    let mut first = [0; 8];
    leaves.read_exact(&mut first).unwrap();
    drop(leaves);
    assert!(server.wait_for_hang_up(Duration::from_secs(10)));
    let mut stays = TcpStream::connect(server.address).unwrap();
    stays.write_all(request).unwrap();
    stays.read_exact(&mut first).unwrap();
    drop(server);
    let mut rest = Vec::new();
    let _ = stays.read_to_end(&mut rest);
}

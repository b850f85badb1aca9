//! One connection: requests are read and kept, and replies are written as well or as badly as the script wants.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::Value as Json;

use super::reply::{Ending, Format, Reply};
use super::{RecordedRequest, Shared};

/// Serves requests until the client leaves, wants the connection to be closed, or the script cuts it.
pub(super) fn serve(mut stream: TcpStream, shared: &Arc<Shared>) {
    let (Ok(copy), Ok(input)) = (stream.try_clone(), stream.try_clone()) else { return };
    let mut is_over = false;
    shared.change(|state| {
        state.connections += 1;
        state.open.push(copy);
        is_over = state.is_over;
    });
    let mut input = BufReader::new(input);
    while !is_over && serve_one(&mut input, &mut stream, shared) {}
    let _ = stream.shutdown(Shutdown::Both);
}

/// Serves one request. Returns true if another one may follow on the same connection.
fn serve_one(input: &mut BufReader<TcpStream>, stream: &mut TcpStream, shared: &Arc<Shared>) -> bool {
    let Ok(Some(request)) = read(input) else { return false };
    let is_last = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let format = Format::of_path(&request.path).unwrap_or(Format::Completions);
    let mut reply = None;
    shared.change(|state| {
        state.requests.push(request);
        reply = state.script.pop_front();
    });
    let reply = reply.unwrap_or_else(Reply::nothing_left);
    let written = write(stream, &reply, format);
    if written.is_err() {
        shared.change(|state| state.hang_ups += 1);
    }
    written.is_ok() && !is_last && !matches!(reply.ending, Ending::CutAfter(..))
}

/// Reads a request; none if the client left without one.
fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<RecordedRequest>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers: Vec<(String, String)> = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok(Some(RecordedRequest {
        method,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Json::Null),
    }))
}

/// Writes a reply. An error means that the client has left.
fn write(stream: &mut TcpStream, reply: &Reply, format: Format) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in reply.all_headers() {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    let frames = reply.frames(format);
    match reply.ending {
        Ending::Complete => send(stream, reply, &frames.concat()).and_then(|()| end(stream)),
        Ending::EndAfter(count) => send(stream, reply, &first(&frames, count)).and_then(|()| end(stream)),
        Ending::CutAfter(count, bytes) => {
            let mut sent = first(&frames, count);
            sent.extend(frames.get(count).into_iter().flatten().take(bytes));
            send(stream, reply, &sent)
        }
        Ending::StallAfter(count) => {
            send(stream, reply, &first(&frames, count))?;
            until_left(stream)
        }
    }
}

fn first(frames: &[Vec<u8>], count: usize) -> Vec<u8> {
    frames[..count.min(frames.len())].concat()
}

/// Sends bytes in chunks of the size that the script wants.
fn send(stream: &mut TcpStream, reply: &Reply, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(reply.pace.piece.unwrap_or(bytes.len()).max(1)) {
        if !reply.pace.delay.is_zero() {
            thread::sleep(reply.pace.delay);
        }
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk)?;
        stream.flush()?;
    }
    Ok(())
}

fn end(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")
}

/// Waits until the client closes the connection, which is what it is waited for.
fn until_left(stream: &mut TcpStream) -> io::Result<()> {
    let mut byte = [0];
    while stream.read(&mut byte)? > 0 {}
    Err(io::ErrorKind::ConnectionAborted.into())
}

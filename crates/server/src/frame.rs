//! Frames of the input: lines that end in LF, or bodies with a `Content-Length`.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// The longest frame, in bytes.
pub(crate) const LONGEST_FRAME: usize = 64 << 20;

/// A frame of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The text, without LF and CR.
    Text(Vec<u8>),
    /// A frame of more than [`LONGEST_FRAME`] bytes, which was skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads frames. A last line without LF counts. CR before LF is removed, and no other character ends a line.
#[derive(Debug)]
pub(crate) struct FrameReader<R> {
    input: BufReader<R>,
    /// True if a frame may begin with a header `Content-Length`.
    takes_headers: bool,
    /// True as soon as a frame had one.
    pub(crate) has_headers: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(crate) fn new(input: R, takes_headers: bool) -> Self {
        FrameReader { input: BufReader::new(input), takes_headers, has_headers: false }
    }

    /// Reads the next frame.
    pub(crate) async fn next(&mut self) -> io::Result<Frame> {
        let line = match self.line().await? {
            Frame::Text(line) => line,
            other => return Ok(other),
        };
        match self.takes_headers.then(|| content_length(&line)).flatten() {
            Some(length) => self.body(length).await,
            None => Ok(Frame::Text(line)),
        }
    }

    async fn line(&mut self) -> io::Result<Frame> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            let buffer = self.input.fill_buf().await?;
            if buffer.is_empty() {
                let frame = if line.is_empty() { Frame::End } else { Frame::Text(without_cr(line)) };
                return Ok(if is_too_long { Frame::TooLong } else { frame });
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            is_too_long |= line.len() + part.len() > LONGEST_FRAME;
            if is_too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            match end {
                Some(_) if is_too_long => return Ok(Frame::TooLong),
                Some(_) => return Ok(Frame::Text(without_cr(line))),
                None => {}
            }
        }
    }

    /// Reads the rest of the headers and a body of `length` bytes.
    async fn body(&mut self, length: u64) -> io::Result<Frame> {
        self.has_headers = true;
        loop {
            match self.line().await? {
                Frame::Text(line) if line.is_empty() => break,
                Frame::Text(_) => {}
                other => return Ok(other),
            }
        }
        let mut body = (&mut self.input).take(length);
        if length > LONGEST_FRAME as u64 {
            tokio::io::copy(&mut body, &mut tokio::io::sink()).await?;
            return Ok(Frame::TooLong);
        }
        let mut text = Vec::new();
        body.read_to_end(&mut text).await?;
        Ok(Frame::Text(text))
    }
}

fn without_cr(mut line: Vec<u8>) -> Vec<u8> {
    line.pop_if(|last| *last == b'\r');
    line
}

/// Reads the header `Content-Length: 12`.
fn content_length(line: &[u8]) -> Option<u64> {
    let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
}

#[cfg(test)]
mod tests;

//! Limits of the messages of a server: their size, and their rate. A server that exceeds one is stopped.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, ReadBuf};

use super::lock;

/// The longest message.
pub(super) const MAX_MESSAGE: usize = 16 << 20;
/// The most bytes within [`WINDOW`].
const MAX_BYTES: u64 = 64 << 20;
/// The most messages within [`WINDOW`].
const MAX_MESSAGES: u64 = 20_000;
const WINDOW: Duration = Duration::from_secs(10);
/// How much of a line that is not JSON is kept, to be shown.
const SAMPLE: usize = 200;

/// Oddities in the output of a server.
#[derive(Debug, Default, Clone)]
pub(super) struct Observed {
    /// The limit that it exceeded.
    pub(super) excess: Option<String>,
    /// The first line that is not JSON.
    pub(super) not_json: Option<String>,
}

/// Reads the output of a server and fails as soon as a limit is exceeded.
pub(super) struct Limited<R> {
    inner: R,
    observed: Arc<Mutex<Observed>>,
    /// The length of the line so far.
    line: usize,
    /// The beginning of a line that is not JSON.
    sample: Vec<u8>,
    is_json: bool,
    window: (Instant, u64, u64),
}

impl<R> Limited<R> {
    pub(super) fn new(inner: R, observed: Arc<Mutex<Observed>>) -> Self {
        let window = (Instant::now(), 0, 0);
        Limited { inner, observed, line: 0, sample: Vec::new(), is_json: true, window }
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.window.0.elapsed() > WINDOW {
            self.window = (Instant::now(), 0, 0);
        }
        self.window.1 += bytes.len() as u64;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line == 0 {
                self.is_json =
                    line.trim_ascii_start().first().is_none_or(|byte| *byte == b'{' || *byte == b'[');
            }
            self.line += line.len();
            self.keep_sample(line);
            if self.line > MAX_MESSAGE {
                return Err(
                    self.exceeded(format!("it sent a message of more than {} MiB", MAX_MESSAGE >> 20))
                );
            }
            if line.ends_with(b"\n") {
                self.line = 0;
                self.window.2 += 1;
            }
        }
        if self.window.1 > MAX_BYTES || self.window.2 > MAX_MESSAGES {
            let (seconds, mebibytes) = (WINDOW.as_secs(), MAX_BYTES >> 20);
            let text =
                format!("it sent more than {mebibytes} MiB or {MAX_MESSAGES} messages in {seconds} seconds");
            return Err(self.exceeded(text));
        }
        Ok(())
    }

    fn keep_sample(&mut self, line: &[u8]) {
        if self.is_json {
            return;
        }
        let room = SAMPLE.saturating_sub(self.sample.len());
        self.sample.extend(line.iter().take(room));
        let is_complete = line.ends_with(b"\n") || self.sample.len() >= SAMPLE;
        let mut observed = lock(&self.observed);
        if is_complete && observed.not_json.is_none() {
            observed.not_json = Some(String::from_utf8_lossy(&self.sample).trim().to_owned());
        }
    }

    fn exceeded(&self, text: String) -> io::Error {
        lock(&self.observed).excess = Some(text.clone());
        io::Error::other(text)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Limited<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.inner).poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                let read = buffer.filled()[before..].to_vec();
                Poll::Ready(self.take(&read))
            }
            other => other,
        }
    }
}

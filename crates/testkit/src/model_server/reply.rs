//! Replies of the server, including broken ones.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::frames;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Anthropic messages, `/v1/messages`.
    Anthropic,
    /// OpenAI chat completions, `/chat/completions`.
    Completions,
    /// OpenAI responses, `/responses`.
    Responses,
    /// Google Gemini, `:streamGenerateContent`.
    Gemini,
}

impl Format {
    /// Returns the format that is spoken at a path.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        [
            ("/v1/messages", Format::Anthropic),
            ("/chat/completions", Format::Completions),
            ("/responses", Format::Responses),
            (":streamGenerateContent", Format::Gemini),
        ]
        .into_iter()
        .find_map(|(end, format)| path.ends_with(end).then_some(format))
    }
}

/// One reply of the script.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content: Content,
    pub(super) ending: Ending,
    pub(super) pace: SendOptions,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    /// An answer, in the format that was asked for.
    Answer(Answer),
    /// An error, in the format that was asked for.
    Error(String),
    /// The complaint of each service about a conversation that is too long.
    Overflow,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// One part of an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub blocks: Vec<Block>,
    pub usage: ScriptedUsage,
    pub stop: Option<ScriptedStop>,
    /// Bytes that take the place of a frame.
    pub replaced: Vec<(usize, Vec<u8>)>,
}

#[derive(Debug, Clone)]
pub(super) enum Block {
    Text(String),
    Thinking { text: String, signature: String },
    Redacted(String),
    Call { id: String, name: String, arguments: Json },
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedStop {
    /// It is done.
    Stop,
    /// It wants tools to be run.
    ToolUse,
    /// It may not say more.
    Length,
}

/// The tokens that the server claims to have counted. `input` counts only what was in no cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptedUsage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens that were found in a cache.
    pub cache_read: u64,
    /// Tokens that were put into a cache; chat completions and Gemini do not report them.
    pub cache_write: u64,
}

impl Default for ScriptedUsage {
    fn default() -> Self {
        Self { input: 10, output: 5, cache_read: 0, cache_write: 0 }
    }
}

/// How a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Complete,
    /// The body ends as if it were complete.
    EndAfter(usize),
    /// The connection ends inside the body, that many bytes into the next frame.
    CutAfter(usize, usize),
    /// Nothing more comes until the client leaves.
    StallAfter(usize),
}

/// How bytes are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SendOptions {
    pub crlf: bool,
    pub comments: bool,
    /// The size of the pieces; whole frames if not given.
    pub piece: Option<usize>,
    pub delay: Duration,
}

impl Reply {
    fn new(status: u16, content: Content) -> Self {
        Self { status, headers: Vec::new(), content, ending: Ending::Complete, pace: SendOptions::default() }
    }

    /// An answer; add what the model says.
    pub fn answer() -> Self {
        Self::new(200, Content::Answer(Answer::default()))
    }

    /// An error in the words of the service.
    pub fn error(status: u16, message: &str) -> Self {
        Self::new(status, Content::Error(message.into()))
    }

    /// The complaint of each service about a conversation that is too long.
    pub fn overflow() -> Self {
        Self::new(400, Content::Overflow)
    }

    /// These bytes with this content type.
    pub fn bytes(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(status, Content::Bytes(bytes.into())).header("content-type", content_type)
    }

    fn block(mut self, block: Block) -> Self {
        if let Content::Answer(answer) = &mut self.content {
            answer.blocks.push(block);
        }
        self
    }

    fn with_answer(mut self, change: impl FnOnce(&mut Answer)) -> Self {
        if let Content::Answer(answer) = &mut self.content {
            change(answer);
        }
        self
    }

    /// The model says something.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.block(Block::Text(text.into()))
    }

    /// The model thinks.
    #[must_use]
    pub fn thinking(self, text: &str, signature: &str) -> Self {
        self.block(Block::Thinking { text: text.into(), signature: signature.into() })
    }

    /// Redacted thinking, which only Anthropic sends.
    #[must_use]
    pub fn redacted(self, data: &str) -> Self {
        self.block(Block::Redacted(data.into()))
    }

    /// The model calls a tool.
    #[must_use]
    pub fn call(self, id: &str, name: &str, arguments: Json) -> Self {
        self.block(Block::Call { id: id.into(), name: name.into(), arguments })
    }

    /// So many tokens were used.
    #[must_use]
    pub fn usage(self, usage: ScriptedUsage) -> Self {
        self.with_answer(|answer| answer.usage = usage)
    }

    /// Why the model stops; if not said, because it wants tools to be run if it called some.
    #[must_use]
    pub fn stop(self, stop: ScriptedStop) -> Self {
        self.with_answer(|answer| answer.stop = Some(stop))
    }

    /// These bytes stand in the place of frame number `place`.
    #[must_use]
    pub fn replace_frame(self, place: usize, bytes: impl Into<Vec<u8>>) -> Self {
        self.with_answer(|answer| answer.replaced.push((place, bytes.into())))
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Lines end in CR LF.
    #[must_use]
    pub fn crlf(mut self) -> Self {
        self.pace.crlf = true;
        self
    }

    /// A comment stands in front of every frame.
    #[must_use]
    pub fn comments(mut self) -> Self {
        self.pace.comments = true;
        self
    }

    /// Bytes are sent in pieces of this size.
    #[must_use]
    pub fn pieces(mut self, size: usize) -> Self {
        self.pace.piece = Some(size.max(1));
        self
    }

    /// The server waits before every piece.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.pace.delay = delay;
        self
    }

    /// The body ends after so many frames, as if it were complete.
    #[must_use]
    pub fn end_after(mut self, frames: usize) -> Self {
        self.ending = Ending::EndAfter(frames);
        self
    }

    /// The connection is cut after so many frames.
    #[must_use]
    pub fn cut_after(self, frames: usize) -> Self {
        self.cut_inside(frames, 0)
    }

    /// The connection is cut so many bytes into frame number `frame`.
    #[must_use]
    pub fn cut_inside(mut self, frame: usize, bytes: usize) -> Self {
        self.ending = Ending::CutAfter(frame, bytes);
        self
    }

    /// Nothing more comes after so many frames, until the client leaves.
    #[must_use]
    pub fn stall_after(mut self, frames: usize) -> Self {
        self.ending = Ending::StallAfter(frames);
        self
    }

    /// Returns how many frames the answer has in a format, the mark of the end included.
    pub fn frame_count(&self, format: Format) -> usize {
        self.frames(format).len()
    }

    /// The frames of the body, as bytes.
    pub(super) fn frames(&self, format: Format) -> Vec<Vec<u8>> {
        let json = |body: Json| vec![body.to_string().into_bytes()];
        let mut frames = match &self.content {
            Content::Bytes(bytes) => return vec![bytes.clone()],
            Content::Error(message) => return json(frames::error(format, self.status, message)),
            Content::Overflow => return json(frames::overflow(format)),
            Content::Answer(answer) => frames::answer(format, answer),
        };
        if self.pace.comments {
            frames.iter_mut().for_each(|frame| *frame = format!(": keep-alive\n{frame}"));
        }
        if self.pace.crlf {
            frames.iter_mut().for_each(|frame| *frame = frame.replace('\n', "\r\n"));
        }
        let mut frames: Vec<Vec<u8>> = frames.into_iter().map(String::into_bytes).collect();
        if let Content::Answer(answer) = &self.content {
            for (place, bytes) in &answer.replaced {
                if let Some(frame) = frames.get_mut(*place) {
                    frame.clone_from(bytes);
                }
            }
        }
        frames
    }

    /// The headers of the response, with a content type that fits.
    pub(super) fn all_headers(&self) -> Vec<(String, String)> {
        let content_type = match self.content {
            Content::Answer(_) => Some("text/event-stream"),
            Content::Error(_) | Content::Overflow => Some("application/json"),
            Content::Bytes(_) => None,
        };
        let content_type = content_type.map(|value| ("content-type".to_owned(), value.to_owned()));
        content_type.into_iter().chain(self.headers.iter().cloned()).collect()
    }

    /// The reply after the end of the script.
    pub(super) fn nothing_left() -> Self {
        Self::bytes(500, "application/json", json!({"error": {"message": "the script is over"}}).to_string())
    }
}

//! Wire formats: one file each, a body out of a request and events out of frames.
//!
//! [`Request`] -> **body** ... frames -> **decoder** -> [`AnswerEvent`]s
//!
//! Bodies are the same bytes for the same request, and what stands in front of the last message does not change when
//! a message is added: messages come last, and only cache marks move. Never touches a network.

mod anthropic;
mod completions;
mod events;
mod gemini;
mod responses;
mod window;

use offshoot_agent::model::{Request, ThinkingLevel, Usage};
use serde_json::{Value as Json, json};
use session_tree::json::Doc;

use crate::catalogue::Target;
use crate::request_error::{ApiError, RequestError};
use crate::secret::Secret;
use crate::transform::{ImageLimits, Part, ToolResult, Turn, digest, limit_images, turns};

pub(crate) use events::Events;
use window::max_output;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic messages.
    AnthropicMessages,
    /// OpenAI chat completions, and what is compatible with them.
    OpenAiCompletions,
    /// OpenAI responses.
    OpenAiResponses,
    /// Google Gemini.
    GoogleGenerativeAi,
}

/// Turns the frames of a stream into events.
pub(crate) trait Decoder: Send {
    /// Takes one frame.
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), RequestError>;

    /// Ends the blocks that are still open at the end of the answer.
    fn close(&mut self, _out: &mut Events) {}
}

impl Api {
    /// All wire formats.
    pub const ALL: [Api; 4] =
        [Api::AnthropicMessages, Api::OpenAiCompletions, Api::OpenAiResponses, Api::GoogleGenerativeAi];

    /// Returns the name that settings and files use.
    pub fn name(self) -> &'static str {
        match self {
            Api::AnthropicMessages => "anthropic-messages",
            Api::OpenAiCompletions => "openai-completions",
            Api::OpenAiResponses => "openai-responses",
            Api::GoogleGenerativeAi => "google-generative-ai",
        }
    }

    /// Finds a wire format by its name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }

    /// Returns where a request is posted.
    pub(crate) fn url(self, target: &Target) -> String {
        let base = &target.base_url;
        match self {
            Api::AnthropicMessages => format!("{base}/v1/messages"),
            Api::OpenAiCompletions => format!("{base}/chat/completions"),
            Api::OpenAiResponses => format!("{base}/responses"),
            Api::GoogleGenerativeAi => {
                format!("{base}/models/{}:streamGenerateContent?alt=sse", target.spec.id)
            }
        }
    }

    /// Returns the headers of the format, besides the key.
    pub(crate) fn headers(self) -> &'static [(&'static str, &'static str)] {
        if self == Api::AnthropicMessages { anthropic::HEADERS } else { &[] }
    }

    /// Returns the header that carries the key, and what stands in it.
    pub(crate) fn key_header(self, key: &Secret) -> (&'static str, String) {
        match self {
            Api::AnthropicMessages => ("x-api-key", key.reveal().to_owned()),
            Api::OpenAiCompletions | Api::OpenAiResponses => {
                ("authorization", format!("Bearer {}", key.reveal()))
            }
            Api::GoogleGenerativeAi => ("x-goog-api-key", key.reveal().to_owned()),
        }
    }

    /// Returns a decoder for one answer.
    pub(crate) fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Api::AnthropicMessages => Box::new(anthropic::AnthropicDecoder::default()),
            Api::OpenAiCompletions => Box::new(completions::CompletionsDecoder::default()),
            Api::OpenAiResponses => Box::new(responses::ResponsesDecoder::default()),
            Api::GoogleGenerativeAi => Box::new(gemini::GeminiDecoder::default()),
        }
    }
}

/// Makes the body of a request, as JSON.
pub(crate) fn body(target: &Target, request: &Request) -> Json {
    match target.api {
        Api::AnthropicMessages => anthropic::body(target, request),
        Api::OpenAiCompletions => completions::body(target, request),
        Api::OpenAiResponses => responses::body(target, request),
        Api::GoogleGenerativeAi => gemini::body(target, request),
    }
}

/// The limits of Anthropic, also behind a gateway: 32 MB for the whole request, 5 MiB for one image.
const ANTHROPIC_IMAGES: ImageLimits = ImageLimits {
    count: 100,
    bytes: 24 << 20,
    bytes_of_one: 5 << 20,
    side: 8_000,
    side_of_many: Some((20, 2_000)),
};
/// The limits of OpenAI: 50 MB for the whole request. Compatible services may accept fewer (`mostImages`).
const OPENAI_IMAGES: ImageLimits =
    ImageLimits { count: 500, bytes: 40 << 20, bytes_of_one: 20 << 20, side: u32::MAX, side_of_many: None };
/// The limits of Gemini: 20 MB for the whole request.
const GEMINI_IMAGES: ImageLimits =
    ImageLimits { count: 3_000, bytes: 15 << 20, bytes_of_one: 15 << 20, side: u32::MAX, side_of_many: None };

fn image_limits(target: &Target) -> ImageLimits {
    let limits = match target.api {
        Api::AnthropicMessages => ANTHROPIC_IMAGES,
        // Marks in the way of Anthropic: its models behind a gateway.
        Api::OpenAiCompletions if target.dialect.cache_marks => ANTHROPIC_IMAGES,
        Api::OpenAiCompletions | Api::OpenAiResponses => OPENAI_IMAGES,
        Api::GoogleGenerativeAi => GEMINI_IMAGES,
    };
    ImageLimits { count: target.dialect.most_images.unwrap_or(limits.count), ..limits }
}

/// The longest cache key that OpenAI accepts.
const LONGEST_CACHE_KEY: usize = 64;

/// Brings the conversation of a request into the shape that the model may read and the service takes.
fn conversation(target: &Target, request: &Request) -> Vec<Turn> {
    let mut turns = turns(&target.spec, &request.messages);
    limit_images(&mut turns, image_limits(target));
    turns
}

/// The data of the frame that ends a stream of OpenAI.
const DONE: &str = "[DONE]";

/// Gives one frame to a decoder.
pub(crate) fn decode(decoder: &mut dyn Decoder, frame: &str, out: &mut Events) -> Result<(), RequestError> {
    let data = frame.trim();
    if data == DONE {
        return out.finish(decoder);
    }
    if data.is_empty() {
        return Ok(());
    }
    // Half characters, which some servers escape apart, are no reason to give up.
    let doc = Doc::parse(data.as_bytes())
        .map_err(|error| RequestError::Malformed(format!("an event is no JSON: {error}")))?;
    let frame = doc.root().to_serde().unwrap_or_default();
    // Every format may break off with an error in the place of a frame.
    match ApiError::read(0, &frame).filter(|_| !frame["error"].is_null()) {
        Some(error) => Err(RequestError::Api(error)),
        None => decoder.frame(&frame, out),
    }
}

/// The text at a key, or an empty one.
fn text<'f>(value: &'f Json, key: &str) -> &'f str {
    value[key].as_str().unwrap_or_default()
}

/// The number at a key, or zero.
fn number(value: &Json, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}

/// The items of the list at a key.
fn items<'f>(value: &'f Json, key: &str) -> impl Iterator<Item = &'f Json> {
    value[key].as_array().into_iter().flatten()
}

/// The tokens of an answer. `input` counts those of the cache, as most services do.
fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input: input.saturating_sub(cache_read + cache_write), output, cache_read, cache_write }
}

/// The level to ask for: a model that cannot stop thinking thinks as little as it can.
fn level(target: &Target, request: &Request) -> ThinkingLevel {
    let spec = &target.spec;
    let level = spec.clamp(request.thinking);
    let cannot_stop = level == ThinkingLevel::Off && !spec.thinking_levels.contains(&ThinkingLevel::Off);
    if cannot_stop { spec.thinking_levels.iter().copied().min().unwrap_or(level) } else { level }
}

/// The service's word for a level; none if it has no word for not thinking.
fn level_word(target: &Target, level: ThinkingLevel) -> Option<String> {
    let own = target.dialect.level_names.get(&level).cloned();
    own.or_else(|| (level != ThinkingLevel::Off).then(|| level.name().to_owned()))
}

/// The key under which a service finds its cache again: the id of the session. A request without a session has a key
/// that depends on its beginning.
fn cache_key(request: &Request) -> String {
    let fits = |id: &&String| {
        (1..=LONGEST_CACHE_KEY).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic())
    };
    if let Some(id) = request.session.as_ref().filter(fits) {
        return id.clone();
    }
    if let Some(id) = &request.session {
        return format!("offshoot-{}", digest(id));
    }
    let tools: Vec<Json> =
        request.tools.iter().map(|tool| json!([tool.name, tool.description, tool.parameters])).collect();
    format!("offshoot-{}", digest(&json!([request.system, tools]).to_string()))
}

/// The images of results behind a line about them, for formats whose results cannot carry them; nothing without images.
fn images_behind(results: &[ToolResult], write: fn(&Part) -> Json) -> Vec<Json> {
    let images: Vec<&Part> = results.iter().flat_map(ToolResult::images).collect();
    let intro = Part::Text("Images from the results of the tools:".into());
    let intro = (!images.is_empty()).then_some(&intro);
    intro.into_iter().chain(images).map(write).collect()
}

/// An image as a URL that contains it.
fn data_url(data: &str, mime_type: &str) -> String {
    format!("data:{mime_type};base64,{data}")
}

#[cfg(test)]
mod tests;

//! Builders: messages from typed parts, with their members in the order in which pi writes them.
//!
//! A message without a time gets that of its entry when it is appended; [`Message::with_time`] sets another one.

use serde_json::Value as Json;

use super::message::{Image, Message, StopReason, ToolCall};
use super::usage::Usage;
use crate::json::{ObjectWriter, array};

impl ObjectWriter {
    pub(crate) fn message(self) -> Message {
        Message::built(self.finish())
    }
}

/// The blocks of a content while it is built.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks(Vec<Vec<u8>>);

impl Blocks {
    fn push(&mut self, kind: &str, members: impl FnOnce(ObjectWriter) -> ObjectWriter) {
        self.0.push(members(ObjectWriter::new().string("type", kind)).finish());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.push("text", |block| block.string("text", text));
    }

    pub(super) fn image(&mut self, image: &Image) {
        self.push("image", |block| block.string("data", &image.data).string("mimeType", &image.mime_type));
    }

    pub(super) fn finish(&self) -> Vec<u8> {
        array(&self.0)
    }
}

/// An answer of a model while it is built.
///
/// ```
/// use session_tree::{Message, StopReason};
/// use serde_json::json;
///
/// let answer = Message::assistant()
///     .thinking("The user wants a listing.")
///     .text("I will look.")
///     .tool_call("call_1", "ls", json!({"path": "."}))
///     .build();
/// assert_eq!(answer.stop_reason(), Some(StopReason::ToolUse));
/// assert_eq!(answer.tool_calls()[0].name, "ls");
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct AssistantBuilder {
    blocks: Blocks,
    calls_tools: bool,
    api: Option<String>,
    model: Option<(String, String)>,
    usage: Usage,
    cost: [f64; 4],
    stop_reason: Option<StopReason>,
    error: Option<String>,
    response_id: Option<String>,
}

impl AssistantBuilder {
    /// Adds a text block.
    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        self.blocks.text(text.as_ref());
        self
    }

    /// Adds a thinking block.
    pub fn thinking(mut self, text: impl AsRef<str>) -> Self {
        self.blocks.push("thinking", |block| block.string("thinking", text.as_ref()));
        self
    }

    /// Adds a call of a tool; `arguments` is a JSON object.
    #[expect(clippy::needless_pass_by_value, reason = "callers build the arguments in place")]
    pub fn tool_call(mut self, id: impl AsRef<str>, name: impl AsRef<str>, arguments: Json) -> Self {
        self.calls_tools = true;
        self.blocks.push("toolCall", |block| {
            let block = block.string("id", id.as_ref()).string("name", name.as_ref());
            block.json("arguments", Some(&arguments))
        });
        self
    }

    /// Adds a block given as JSON, for members that the other methods do not set, such as signatures.
    pub fn block(mut self, block: &Json) -> Self {
        self.calls_tools |= block["type"] == "toolCall";
        self.blocks.0.push(block.to_string().into_bytes());
        self
    }

    /// Sets the protocol through which the model was called.
    pub fn api(mut self, api: impl Into<String>) -> Self {
        self.api = Some(api.into());
        self
    }

    /// Sets the model that answered.
    pub fn model(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        self.model = Some((provider.into(), model.into()));
        self
    }

    /// Sets the tokens and the cost of the answer.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the cost in dollars, split as [`Usage`] splits the tokens: input, output, read from and written to a cache.
    pub fn cost(mut self, parts: [f64; 4]) -> Self {
        self.cost = parts;
        self.usage.cost = parts.iter().sum();
        self
    }

    /// Sets why the answer ended; if not set, [`StopReason::ToolUse`] with tool calls, else [`StopReason::Stop`].
    pub fn stop_reason(mut self, reason: StopReason) -> Self {
        self.stop_reason = Some(reason);
        self
    }

    /// Sets the error that ended the answer.
    pub fn error_message(mut self, message: impl Into<String>) -> Self {
        self.error = Some(message.into());
        self
    }

    /// Sets the id that the service gave to the answer.
    pub fn response_id(mut self, id: impl Into<String>) -> Self {
        self.response_id = Some(id.into());
        self
    }

    /// Builds the message.
    pub fn build(self) -> Message {
        let default = if self.calls_tools { StopReason::ToolUse } else { StopReason::Stop };
        let stop = self.stop_reason.unwrap_or(default).name().unwrap_or("stop");
        let (provider, model) = self.model.unzip();
        let message = ObjectWriter::new().string("role", "assistant").raw("content", self.blocks.finish());
        let message = message.optional("api", self.api.as_deref()).optional("provider", provider.as_deref());
        let message = message.optional("model", model.as_deref());
        let message = message.raw("usage", usage_text(&self.usage, self.cost)).string("stopReason", stop);
        let message = message.optional("errorMessage", self.error.as_deref());
        message.optional("responseId", self.response_id.as_deref()).message()
    }
}

fn usage_text(usage: &Usage, cost: [f64; 4]) -> Vec<u8> {
    let tokens = [usage.input, usage.output, usage.cache_read, usage.cache_write];
    let names = ["input", "output", "cacheRead", "cacheWrite"];
    let total = if usage.total == 0 { tokens.iter().sum() } else { usage.total };
    let dollars = |object: ObjectWriter, name: &str, dollars: f64| {
        object.raw(name, ryu_js::Buffer::new().format(if dollars.is_finite() { dollars } else { 0.0 }))
    };
    let parts =
        names.iter().zip(cost).fold(ObjectWriter::new(), |all, (name, part)| dollars(all, name, part));
    let cost = dollars(parts, "total", usage.cost).finish();
    let counts = names.iter().zip(tokens);
    let counts = counts.fold(ObjectWriter::new(), |all, (name, count)| all.raw(name, count.to_string()));
    counts.raw("totalTokens", total.to_string()).raw("cost", cost).finish()
}

/// The result of a tool call while it is built; [`ToolCall::result`] and [`ToolCall::error`] are shorter for one text.
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolResultBuilder {
    call_id: String,
    tool: String,
    blocks: Blocks,
    details: Option<Json>,
    is_error: bool,
}

impl ToolResultBuilder {
    pub(super) fn new(call_id: String, tool: String) -> Self {
        let blocks = Blocks::default();
        ToolResultBuilder { call_id, tool, blocks, details: None, is_error: false }
    }

    /// Adds a text block.
    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        self.blocks.text(text.as_ref());
        self
    }

    /// Adds an image.
    pub fn image(mut self, image: &Image) -> Self {
        self.blocks.image(image);
        self
    }

    /// Adds a block given as JSON.
    pub fn block(mut self, block: &Json) -> Self {
        self.blocks.0.push(block.to_string().into_bytes());
        self
    }

    /// Sets data for programs; no model reads it.
    pub fn details(mut self, details: impl Into<Option<Json>>) -> Self {
        self.details = details.into();
        self
    }

    /// Sets whether the tool failed.
    pub fn is_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// Builds the message.
    pub fn build(self) -> Message {
        let message = ObjectWriter::new().string("role", "toolResult").string("toolCallId", &self.call_id);
        let message = message.string("toolName", &self.tool).raw("content", self.blocks.finish());
        let message = message.json("details", self.details.as_ref()).bool("isError", self.is_error);
        message.message()
    }
}

/// A shell command that the user ran, while it is built.
///
/// ```
/// use session_tree::Message;
///
/// let message = Message::bash("ls").output("Cargo.toml\n").exit_code(0).build();
/// assert_eq!(
///     message.json(),
///     r#"{"role":"bashExecution","command":"ls","output":"Cargo.toml\n","exitCode":0,"cancelled":false,"truncated":false}"#
/// );
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct BashBuilder {
    command: String,
    output: String,
    exit_code: Option<i64>,
    is_cancelled: bool,
    is_truncated: bool,
    full_output: Option<String>,
    is_excluded: bool,
}

impl BashBuilder {
    pub(super) fn new(command: String) -> Self {
        BashBuilder { command, ..BashBuilder::default() }
    }

    /// Sets the output.
    pub fn output(mut self, output: impl Into<String>) -> Self {
        self.output = output.into();
        self
    }

    /// Sets the exit code; a command that was killed has none.
    pub fn exit_code(mut self, code: impl Into<Option<i64>>) -> Self {
        self.exit_code = code.into();
        self
    }

    /// Sets whether the user stopped the command.
    pub fn cancelled(mut self, is_cancelled: bool) -> Self {
        self.is_cancelled = is_cancelled;
        self
    }

    /// Sets whether the output is only a part of the output of the command.
    pub fn truncated(mut self, is_truncated: bool) -> Self {
        self.is_truncated = is_truncated;
        self
    }

    /// Sets the file that holds the whole output.
    pub fn full_output_path(mut self, path: impl Into<String>) -> Self {
        self.full_output = Some(path.into());
        self
    }

    /// Sets whether models never see the command.
    pub fn exclude_from_context(mut self, is_excluded: bool) -> Self {
        self.is_excluded = is_excluded;
        self
    }

    /// Builds the message.
    pub fn build(self) -> Message {
        let message = ObjectWriter::new().string("role", "bashExecution").string("command", &self.command);
        let message = message.string("output", &self.output);
        let message = message.json("exitCode", self.exit_code.map(Json::from).as_ref());
        let message = message.bool("cancelled", self.is_cancelled).bool("truncated", self.is_truncated);
        let message = message.optional("fullOutputPath", self.full_output.as_deref());
        let message = if self.is_excluded { message.bool("excludeFromContext", true) } else { message };
        message.message()
    }
}

/// A message of an extension while it is built. [`Session::append`](crate::Session::append) stores it as a
/// `custom_message` entry.
#[derive(Debug, Clone)]
#[must_use]
pub struct CustomBuilder {
    custom_type: String,
    content: String,
    is_displayed: bool,
    details: Option<Json>,
}

impl CustomBuilder {
    pub(super) fn new(custom_type: String, content: &Json) -> Self {
        let content = content.to_string();
        CustomBuilder { custom_type, content, is_displayed: true, details: None }
    }

    /// Sets whether people see the message; true if not set. Models always do.
    pub fn display(mut self, is_displayed: bool) -> Self {
        self.is_displayed = is_displayed;
        self
    }

    /// Sets data for the extension; no model reads it.
    pub fn details(mut self, details: impl Into<Option<Json>>) -> Self {
        self.details = details.into();
        self
    }

    /// Builds the message.
    pub fn build(self) -> Message {
        let message = ObjectWriter::new().string("role", "custom").string("customType", &self.custom_type);
        let message = message.raw("content", &self.content).bool("display", self.is_displayed);
        message.json("details", self.details.as_ref()).message()
    }
}

impl ToolCall {
    /// Builds the result of this call from one text.
    pub fn result(&self, text: impl AsRef<str>) -> Message {
        self.answer().text(text).build()
    }

    /// Builds the result of this call when it failed.
    pub fn error(&self, text: impl AsRef<str>) -> Message {
        self.answer().text(text).is_error(true).build()
    }

    /// Starts the result of this call, for images, several blocks or details.
    pub fn answer(&self) -> ToolResultBuilder {
        ToolResultBuilder::new(self.id.clone(), self.name.clone())
    }
}

//! One entry as the page reads it: what it says, without what nobody reads.
//!
//! entry -> **JSON** -> part
//!
//! Keys are short because there are many. `k` is the kind of entry, `b` its blocks: `t` text, `h` thinking, `p` plain
//! text, `c` a call, `i` an image, `o` anything else. Results and arguments pass as they are. `assets/js/entry.js`
//! reads this; the two change together.

use session_tree::json::{Kind as JsonKind, Value};
use session_tree::{Block, Body, Content, Entry, Replacement, Role, Usage};

use crate::ExportOptions;
use crate::markdown;
use crate::text::{Object, push_number};

/// The types of images that a page shows.
const IMAGES: [&str; 6] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"];

/// Tells whether a page shows an image: its type is known, and its data is base64.
pub(crate) fn is_image(mime_type: &str, data: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    IMAGES.contains(&mime_type) && data.bytes().all(is_base64)
}

/// Writes an entry.
pub(crate) fn write(out: &mut String, entry: &Entry, options: &ExportOptions) {
    let mut writer = Writer { object: Object::new(out), options };
    writer.body(entry);
    writer.object.close();
}

struct Writer<'w> {
    object: Object<'w>,
    options: &'w ExportOptions,
}

impl Writer<'_> {
    fn body(&mut self, entry: &Entry) {
        match entry.body() {
            Body::Message(Some(message)) => self.message(message),
            Body::CustomMessage { custom_type, content, display, details } => {
                self.named("custom", custom_type.as_deref());
                self.object.flag("hidden", !display);
                self.blocks(content);
                self.object.raw("j", details);
            }
            Body::Compaction { summary, first_kept, tokens_before, .. } => {
                self.summary("compaction", summary.as_deref());
                self.object.some("from", first_kept.as_deref());
                self.object.number("tokens", tokens_before.unwrap_or(0.0));
            }
            Body::BranchSummary { summary, .. } => self.summary("summary", summary.as_deref()),
            Body::ModelChange { provider, model_id, .. } => {
                self.named("model", model_id.as_deref());
                self.object.some("p", provider.as_deref());
            }
            Body::ThinkingLevelChange { level } => self.named("level", level.as_deref()),
            Body::Label { target, label } => {
                self.named("label", label.as_deref());
                self.object.some("to", target.as_deref());
            }
            Body::SessionInfo { name: title } | Body::TitleChange { title } => {
                self.named("title", title.as_deref());
            }
            Body::ContextEdit { target, replacement } => self.edit(target.as_deref(), replacement),
            Body::Custom { custom_type, data } => {
                self.named("state", custom_type.as_deref());
                self.object.raw("j", data);
            }
            Body::Placeholder => self.kind("damaged"),
            Body::Message(None)
            | Body::Usage { .. }
            | Body::LeafMove { .. }
            | Body::ModeChange { .. }
            | Body::RuleInjection { .. }
            | Body::ResetBoundary
            | Body::ModelUsage { .. }
            | Body::Opaque { .. } => {
                self.named("other", Some(&entry.type_name()));
                self.object.raw("j", entry.value());
            }
        }
    }

    fn kind(&mut self, kind: &str) {
        self.object.text("k", kind);
    }

    fn named(&mut self, kind: &str, name: Option<&str>) {
        self.kind(kind);
        self.object.some("n", name);
    }

    fn summary(&mut self, kind: &str, summary: Option<&str>) {
        self.kind(kind);
        markdown::write_json(self.object.key("t"), summary.unwrap_or_default());
    }

    fn edit(&mut self, target: Option<&str>, replacement: Replacement<'_>) {
        self.kind("edit");
        self.object.some("to", target);
        match replacement {
            Replacement::Content(content) => self.blocks(Some(content)),
            Replacement::Omit => self.object.flag("omit", true),
            Replacement::Unreadable => {}
        }
    }

    fn message(&mut self, message: Value<'_>) {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let content = message.get("content");
        match Role::from_name(role.as_bytes()) {
            Role::User => {
                self.kind("user");
                self.blocks(content);
            }
            Role::Assistant => self.answer(message),
            Role::ToolResult => self.result(message),
            Role::BashExecution => self.command(message),
            Role::System => {
                self.kind("system");
                self.object.raw("p", content);
                let tools = message.get("toolsAdded").into_iter().flat_map(Value::items);
                self.object.list("tools", tools.filter_map(|tool| tool.get("name")), crate::text::raw);
            }
            Role::Custom
            | Role::HookMessage
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Other => {
                self.named("other", Some(&role));
                self.object.raw("j", Some(message));
            }
        }
    }

    fn answer(&mut self, message: Value<'_>) {
        self.kind("assistant");
        self.blocks(message.get("content"));
        self.object.raw("n", message.get("model"));
        self.object.raw("p", message.get("provider"));
        self.object.raw("stop", message.get("stopReason"));
        self.object.raw("error", message.get("errorMessage"));
        if let Some(usage) = message.get("usage").filter(|usage| !usage.is_null()) {
            let Usage { input, output, cache_read, cache_write, total, cost } = Usage::of(usage);
            let numbers = [input, output, cache_read, cache_write, total].map(|tokens| tokens as f64);
            self.object.list("u", numbers.into_iter().chain([cost]), push_number);
        }
    }

    fn result(&mut self, message: Value<'_>) {
        self.kind("result");
        self.object.raw("n", message.get("toolName"));
        self.object.raw("c", message.get("toolCallId"));
        self.object.flag("x", message.get("isError").and_then(Value::as_bool).unwrap_or(false));
        if !self.options.tools {
            return;
        }
        self.output(message.get("content"));
        self.object.raw("d", message.get("details").and_then(|details| details.get("diff")));
    }

    fn command(&mut self, message: Value<'_>) {
        self.kind("bash");
        self.object.raw("n", message.get("command"));
        self.object.raw("code", message.get("exitCode"));
        if self.options.tools {
            self.object.raw("p", message.get("output"));
        }
    }

    /// Blocks of prose.
    fn blocks(&mut self, content: Option<Value<'_>>) {
        let options = self.options;
        let shown = Content::of(content).blocks().filter(|block| match block {
            Block::Thinking(text) => options.thinking && !text.is_empty(),
            Block::Other(value) => options.thinking || !is_thinking(*value),
            Block::Text(text) => !text.is_empty(),
            Block::Image { .. } | Block::ToolCall { .. } => true,
        });
        self.object.list("b", shown, |out, block| write_block(out, &block, options));
    }

    /// Blocks of what a tool printed: its text passes as it is.
    fn output(&mut self, content: Option<Value<'_>>) {
        let plain = |value: Value<'_>| value.get("type").is_some_and(|kind| kind.is_str("text"));
        match content {
            Some(text) if text.kind() == JsonKind::String => {
                self.object.list("b", [text], |out, text| write_plain(out, text));
            }
            Some(blocks) if blocks.items().next().is_some() => {
                let options = self.options;
                self.object.list("b", blocks.items(), |out, block| match block.get("text") {
                    Some(text) if plain(block) => write_plain(out, text),
                    _ => write_block(out, &block_of(block), options),
                });
            }
            _ => {}
        }
    }
}

/// Reads one block that is no text.
fn block_of(value: Value<'_>) -> Block<'_> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    match value.get("type").is_some_and(|kind| kind.is_str("image")) {
        true => Block::Image { data: text("data"), mime_type: text("mimeType") },
        false => Block::Other(value),
    }
}

fn is_thinking(block: Value<'_>) -> bool {
    block.get("type").and_then(Value::as_str).is_some_and(|kind| kind.contains("thinking"))
}

fn write_plain(out: &mut String, text: Value<'_>) {
    let mut object = Object::new(out);
    object.raw("p", Some(text));
    object.close();
}

fn write_block(out: &mut String, block: &Block<'_>, options: &ExportOptions) {
    let mut object = Object::new(out);
    match block {
        Block::Text(text) => markdown::write_json(object.key("t"), text),
        Block::Thinking(text) => markdown::write_json(object.key("h"), text),
        Block::Image { data, mime_type } => {
            object.text("i", mime_type);
            match is_image(mime_type, data) {
                true => object.text("d", data),
                false => object.number("len", data.len() as f64),
            }
        }
        Block::ToolCall { id, name, arguments } => {
            object.text("c", id);
            object.text("n", name);
            object.raw("a", arguments.filter(|_| options.tools));
        }
        Block::Other(value) => object.raw("o", Some(*value)),
    }
    object.close();
}

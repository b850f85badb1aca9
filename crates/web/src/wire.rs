//! One entry as the page reads it.
//!
//! entry -> **JSON** -> part
//!
//! Keys are short because there are many. `k` is the kind of entry, `b` its blocks: `t` text, `h` thinking, `p` plain
//! text, `i` an image, `o` anything else. Calls of tools, results and reports of usage pass as they stand in the
//! session. `assets/js/shape.js` reads this; the two change together.

use session_tree::json::{Kind as JsonKind, ValueRef};
use session_tree::{Body, Entry, Replacement, Role};

use crate::ExportOptions;
use crate::markdown;
use crate::text::{Json, Object, raw};

/// The types of images that a page shows.
const IMAGES: [&str; 6] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"];

/// Returns true if a page shows an image: its type is known, and its data is base64.
pub(crate) fn is_image(mime_type: &str, data: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    IMAGES.contains(&mime_type) && data.bytes().all(is_base64)
}

/// Writes an entry.
pub(crate) fn write(out: &mut Json, entry: &Entry, options: &ExportOptions) {
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
            Body::Compaction { summary, first_kept, tokens_before, details, .. } => {
                self.summary("compaction", summary.as_deref());
                self.object.some("from", first_kept.as_deref());
                self.object.number("tokens", tokens_before.unwrap_or(0.0));
                self.files(details);
            }
            Body::BranchSummary { summary, details, .. } => {
                self.summary("summary", summary.as_deref());
                self.files(details);
            }
            Body::ModelChange { provider, model_id, .. } => {
                self.named("model", model_id.as_deref());
                self.object.some("p", provider.as_deref());
            }
            Body::ThinkingLevelChange { level } => self.named("level", level.as_deref()),
            Body::Label { target, label } => {
                self.named("label", label.as_deref());
                self.object.some("to", target.as_deref());
            }
            Body::SessionInfo { name: title } => {
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
        markdown::write_text(self.object.key("t"), summary.unwrap_or_default());
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

    fn message(&mut self, message: ValueRef<'_>) {
        let [role, content] = message.get_each(["role", "content"]);
        let role = role.and_then(ValueRef::as_str).unwrap_or_default();
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
                self.object.raw("sections", message.get("sections"));
                self.tools(message.get("toolsAdded"));
                self.object.raw("gone", message.get("toolsRemoved"));
            }
            Role::Custom
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Other => {
                self.named("other", Some(&role));
                self.object.raw("j", Some(message));
            }
        }
    }

    /// Names and descriptions of tools.
    fn tools(&mut self, tools: Option<ValueRef<'_>>) {
        self.object.list("tools", tools.into_iter().flat_map(ValueRef::items), |out, tool| {
            let mut object = Object::new(out);
            object.raw("n", tool.get("name"));
            object.raw("d", tool.get("description"));
            object.close();
        });
    }

    /// The files that a summary names.
    fn files(&mut self, details: Option<ValueRef<'_>>) {
        let Some(details) = details.filter(|_| self.options.tools) else { return };
        let lists = ["readFiles", "modifiedFiles"].into_iter().filter_map(|key| details.get(key));
        self.object.list("f", lists.flat_map(ValueRef::items), raw);
    }

    fn answer(&mut self, message: ValueRef<'_>) {
        let [content, model, provider, stop, error, usage] =
            message.get_each(["content", "model", "provider", "stopReason", "errorMessage", "usage"]);
        self.kind("assistant");
        self.blocks(content);
        self.object.raw("n", model);
        self.object.raw("p", provider);
        self.object.raw("stop", stop);
        self.object.raw("error", error);
        self.object.raw("u", usage.filter(|usage| !usage.is_null()));
    }

    fn result(&mut self, message: ValueRef<'_>) {
        let [tool, call, is_error, content, details] =
            message.get_each(["toolName", "toolCallId", "isError", "content", "details"]);
        self.kind("result");
        self.object.raw("n", tool);
        self.object.raw("c", call);
        self.object.flag("x", is_error.and_then(ValueRef::as_bool).unwrap_or(false));
        if !self.options.tools {
            return;
        }
        self.output(content);
        self.object.raw("d", details.and_then(|details| details.get("diff")));
    }

    fn command(&mut self, message: ValueRef<'_>) {
        self.kind("bash");
        self.object.raw("n", message.get("command"));
        self.object.raw("code", message.get("exitCode"));
        if self.options.tools {
            self.object.raw("p", message.get("output"));
        }
    }

    /// Blocks of prose.
    fn blocks(&mut self, content: Option<ValueRef<'_>>) {
        let options = self.options;
        let shown = RawBlock::all_of(content).filter(|block| block.is_shown(options));
        self.object.list("b", shown, |out, block| block.write(out, options));
    }

    /// Blocks of what a tool printed: its text passes as it is.
    fn output(&mut self, content: Option<ValueRef<'_>>) {
        let options = self.options;
        let mut blocks = RawBlock::all_of(content).peekable();
        if blocks.peek().is_none() {
            return;
        }
        self.object.list("b", blocks, |out, block| match block {
            RawBlock::Text(text) => write_one(out, "p", text),
            RawBlock::Thinking(_, whole) | RawBlock::Call(whole) => write_one(out, "o", whole),
            RawBlock::Image(_) | RawBlock::Other(_) => block.write(out, options),
        });
    }
}

/// One block, by its type; nothing of it was decoded.
#[derive(Clone, Copy)]
enum RawBlock<'v> {
    Text(ValueRef<'v>),
    /// Thoughts, and the whole block.
    Thinking(ValueRef<'v>, ValueRef<'v>),
    Image(ValueRef<'v>),
    Call(ValueRef<'v>),
    Other(ValueRef<'v>),
}

impl<'v> RawBlock<'v> {
    /// Returns the blocks of a content, which may be a text alone.
    fn all_of(content: Option<ValueRef<'v>>) -> impl Iterator<Item = Self> {
        let plain = content.filter(|content| content.kind() == JsonKind::String).map(RawBlock::Text);
        plain.into_iter().chain(content.into_iter().flat_map(ValueRef::items).map(RawBlock::of))
    }

    fn of(block: ValueRef<'v>) -> Self {
        let [kind, text, thinking] = block.get_each(["type", "text", "thinking"]);
        let is = |name: &str| kind.is_some_and(|kind| kind.is_str(name));
        match (text, thinking) {
            (Some(text), _) if is("text") => RawBlock::Text(text),
            (_, Some(thinking)) if is("thinking") => RawBlock::Thinking(thinking, block),
            _ if is("toolCall") => RawBlock::Call(block),
            _ if is("image") => RawBlock::Image(block),
            _ => RawBlock::Other(block),
        }
    }

    fn is_shown(&self, options: &ExportOptions) -> bool {
        match self {
            RawBlock::Text(text) => !text.is_str(""),
            RawBlock::Thinking(text, _) => options.thinking && !text.is_str(""),
            RawBlock::Other(value) => options.thinking || !is_thinking(*value),
            RawBlock::Image(_) | RawBlock::Call(_) => true,
        }
    }

    fn write(&self, out: &mut Json, options: &ExportOptions) {
        match *self {
            RawBlock::Text(text) => write_prose(out, "t", text),
            RawBlock::Thinking(text, _) => write_prose(out, "h", text),
            RawBlock::Image(block) => write_image(out, block),
            RawBlock::Call(block) if options.tools => raw(out, block),
            RawBlock::Call(block) => write_bare_call(out, block),
            RawBlock::Other(value) => write_one(out, "o", value),
        }
    }
}

fn is_thinking(block: ValueRef<'_>) -> bool {
    block.get("type").and_then(ValueRef::as_str).is_some_and(|kind| kind.contains("thinking"))
}

fn write_one(out: &mut Json, key: &str, value: ValueRef<'_>) {
    let mut object = Object::new(out);
    object.raw(key, Some(value));
    object.close();
}

fn write_prose(out: &mut Json, key: &str, text: ValueRef<'_>) {
    let mut object = Object::new(out);
    markdown::write_json(object.key(key), text);
    object.close();
}

fn write_image(out: &mut Json, block: ValueRef<'_>) {
    let [data, mime_type] =
        block.get_each(["data", "mimeType"]).map(|value| value.and_then(ValueRef::as_str));
    let (data, mime_type) = (data.unwrap_or_default(), mime_type.unwrap_or_default());
    let mut object = Object::new(out);
    object.text("i", &mime_type);
    match is_image(&mime_type, &data) {
        true => object.text("d", &data),
        false => object.number("len", data.len() as f64),
    }
    object.close();
}

/// A call without what it was called with.
fn write_bare_call(out: &mut Json, block: ValueRef<'_>) {
    let [id, name] = block.get_each(["id", "name"]);
    let mut object = Object::new(out);
    object.text("type", "toolCall");
    object.raw("id", id);
    object.raw("name", name);
    object.close();
}

//! A tool of a server as the agent sees it: a description, and calls that the permissions judge like all others.

use std::sync::Arc;

use offshoot_agent::model::ToolSpec;
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace, text_block};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value as Json, json};

use super::server::Server;

/// The most text of a result that a model gets, in bytes; the same as for other tools.
const MAX_TEXT: usize = 50 << 10;
/// The longest description that models get.
const MAX_DESCRIPTION: usize = 2 << 10;
/// The most images of a result.
const MAX_IMAGES: usize = 8;
/// The longest image of a result, as base64.
const MAX_IMAGE: usize = 5 << 20;

/// A tool of a server.
#[derive(Debug)]
pub(super) struct McpTool {
    server: Arc<Server>,
    name: String,
    tool: rmcp::model::Tool,
}

impl McpTool {
    /// Returns the tools of a server.
    pub(super) fn of(server: &Arc<Server>) -> Vec<McpTool> {
        let tool = |(name, tool)| McpTool { server: server.clone(), name, tool };
        server.tools().into_iter().map(tool).collect()
    }

    /// Returns true if the user trusts the server and the server claims that the tool only reads.
    fn only_reads(&self) -> bool {
        let claims = self.tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint);
        self.server.config.trusts_read_only && claims == Some(true)
    }
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        let description: String =
            self.tool.description.as_deref().unwrap_or_default().chars().take(MAX_DESCRIPTION).collect();
        ToolSpec {
            name: self.name.clone(),
            description,
            parameters: Json::Object(self.tool.input_schema.as_ref().clone()),
        }
    }

    fn effect(&self, arguments: &Json) -> Effect {
        match self.only_reads() {
            true => Effect::Reads(Vec::new()),
            false => {
                let server = &self.server.config.name;
                Effect::Other(format!(
                    "it calls `{}` of the MCP server `{server}` with {arguments}",
                    self.tool.name
                ))
            }
        }
    }

    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(async move {
            let arguments = match call.arguments {
                Json::Object(arguments) => arguments,
                _ => serde_json::Map::new(),
            };
            match self.server.call(&self.tool.name, arguments, &place.cancel).await {
                Ok(result) => output(result),
                Err(text) => ToolOutput::error(text),
            }
        })
    }
}

/// Turns a result into what a model gets: text within a limit, and images.
fn output(result: CallToolResult) -> ToolOutput {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for block in result.content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) if images.len() < MAX_IMAGES && image.data.len() <= MAX_IMAGE => {
                images.push(json!({"type": "image", "data": image.data, "mimeType": image.mime_type}));
            }
            ContentBlock::Image(image) => {
                texts.push(format!("[an image ({}) is left out: too large]", image.mime_type));
            }
            ContentBlock::Audio(audio) => texts.push(format!("[audio ({}) is left out]", audio.mime_type)),
            ContentBlock::Resource(embedded) => texts.push(resource(embedded.resource)),
            ContentBlock::ResourceLink(link) => texts.push(format!("[resource {}: {}]", link.uri, link.name)),
            _ => texts.push("[content of an unknown type is left out]".to_owned()),
        }
    }
    // A structured result repeats the text, as servers should; without text it is the result.
    if let (true, true, Some(structured)) = (texts.is_empty(), images.is_empty(), result.structured_content) {
        texts.push(structured.to_string());
    }
    let text = cut(texts.join("\n"));
    let mut content = vec![text_block(text)];
    content.extend(images);
    ToolOutput { content, is_error: result.is_error == Some(true), ..ToolOutput::default() }
}

fn resource(contents: ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
        ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
            format!("[resource {uri} ({}) is left out]", mime_type.unwrap_or_default())
        }
        _ => "[a resource of an unknown type is left out]".to_owned(),
    }
}

/// Cuts a text in the middle: its beginning and its end say the most.
fn cut(text: String) -> String {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let (head, tail) =
        (text.floor_char_boundary(MAX_TEXT / 2), text.ceil_char_boundary(text.len() - MAX_TEXT / 2));
    format!("{}\n[{} bytes are left out]\n{}", &text[..head], tail - head, &text[tail..])
}

//! A tool of an extension, as the agent knows tools.

use std::sync::Arc;

use offshoot_agent::model::ToolSpec;
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};
use serde_json::{Value as Json, json};

use crate::component::given;
use crate::extension::Extension;
use crate::handle::{Kind, Progress};
use crate::registry::RegisteredTool;

/// A tool of an extension.
#[derive(Debug)]
pub(crate) struct ExtensionTool {
    pub(crate) extension: Extension,
    pub(crate) tool: RegisteredTool,
}

impl ExtensionTool {
    async fn answer(&self, call: &ToolCall, place: &ToolPlace) -> Result<ToolOutput, String> {
        let payload = json!({"name": call.name, "call": call.id, "args": call.arguments});
        let progress = place.progress.clone();
        let watch: Progress = Arc::new(move |so_far| progress(output(&so_far)));
        self.extension.handle.progress.lock().insert(call.id.clone(), watch);
        let doing = format!("tool {}", call.name);
        let answer = self.extension.call(Kind::Event, &doing, &payload, Some(&place.cancel)).await;
        self.extension.handle.progress.lock().remove(&call.id);
        answer.map(|answer| output(&answer))
    }
}

impl Tool for ExtensionTool {
    fn spec(&self) -> ToolSpec {
        self.tool.spec.clone()
    }

    fn effect(&self, _: &Json) -> Effect {
        Effect::Other(format!(
            "the tool `{}` of the extension `{}`",
            self.tool.spec.name,
            self.extension.name()
        ))
    }

    fn runs_concurrently(&self, _: &Json) -> bool {
        self.tool.concurrent
    }

    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(async move {
            self.answer(&call, place).await.unwrap_or_else(|message| ToolOutput::error(first_line(&message)))
        })
    }
}

/// Models get what went wrong, not where in the source.
fn first_line(message: &str) -> &str {
    message.split("\n    at ").next().unwrap_or(message)
}

fn output(answer: &Json) -> ToolOutput {
    ToolOutput {
        content: answer["content"].as_array().cloned().unwrap_or_default(),
        details: given(answer, "details").cloned(),
        is_error: answer["isError"].as_bool().unwrap_or(false),
    }
}

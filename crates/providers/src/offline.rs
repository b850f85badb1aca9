//! The offline model: no key, no network, always the same answer to the same request.
//!
//! It answers that no model is configured. For a summary of a conversation it quotes the first prompt, prompts and
//! answers, tool calls and the files that they touched, so trees work without a key.

use futures_util::stream;
use offshoot_agent::model::{
    AnswerEvent, AnswerStream, BlockEnd, BlockStart, Model, ModelSpec, Price, Request, StopReason, Usage,
};
use offshoot_agent::summary::offline_summary;
use session_tree::Role;

/// The model that is there when no other is. Its full name is `offshoot/offline`.
///
/// ```
/// use offshoot_agent::model::Model;
///
/// let model = offshoot_providers::OfflineModel::new();
/// assert_eq!(model.spec().full_name(), "offshoot/offline");
/// ```
#[derive(Debug, Clone)]
pub struct OfflineModel {
    spec: ModelSpec,
}

const NO_MODEL: &str = "\
No model is configured, so nobody has read your message: this text is built into the program.

To configure one, set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, or choose a \
local one by its name, such as `ollama/<model>`.

Everything that needs no model works: the tree, navigation, forks, labels, export. Summaries of branches and \
compactions are picked from what was said, without understanding it.";

impl OfflineModel {
    /// The provider that its full name begins with.
    pub const PROVIDER: &'static str = "offshoot";

    /// Makes the model.
    pub fn new() -> Self {
        Self {
            spec: ModelSpec {
                provider: Self::PROVIDER.into(),
                id: "offline".into(),
                name: "Offline (no model configured)".into(),
                api: "offshoot-offline".into(),
                context_window: 200_000,
                max_output: 16_384,
                thinking_levels: Vec::new(),
                reads_images: false,
                price: Price::default(),
            },
        }
    }
}

impl Default for OfflineModel {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for OfflineModel {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn answer(&self, request: Request) -> AnswerStream {
        Box::pin(stream::iter(events(&reply(&request)).into_iter().map(Ok)))
    }
}

fn reply(request: &Request) -> String {
    let prompt = request.messages.iter().rev().find(|message| message.role() == Role::User);
    prompt.and_then(|prompt| offline_summary(&prompt.text())).unwrap_or_else(|| NO_MODEL.to_owned())
}

/// A text as a model would stream it, a paragraph at a time. Nothing was used.
fn events(text: &str) -> Vec<AnswerEvent> {
    let begin = [
        AnswerEvent::Begin { response_id: None },
        AnswerEvent::BlockStart { index: 0, block: BlockStart::Text },
    ];
    let deltas =
        text.split_inclusive("\n\n").map(|part| AnswerEvent::BlockDelta { index: 0, text: part.into() });
    let end = [
        AnswerEvent::BlockEnd { index: 0, end: BlockEnd::default() },
        AnswerEvent::Usage(Usage::default()),
        AnswerEvent::End { stop: StopReason::Stop },
    ];
    begin.into_iter().chain(deltas).chain(end).collect()
}

#[cfg(test)]
mod tests;

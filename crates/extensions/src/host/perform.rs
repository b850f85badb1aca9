//! Operations of extensions that take the whole agent, and requests to a model beside the conversation.

use std::path::PathBuf;

use offshoot_agent::agent::{NavigateRequest, NavigationResult, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, ForkRequest, MoveRequest, NewRequest};
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::{Request, ThinkingLevel, ToolSpec};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use session_tree::{ForkPosition, Message, NewSession, Options};

/// Performs an operation with the agent. The answer has the shape that extensions read. Sessions are opened and created
/// with `options`.
pub(super) async fn perform(
    agent: &AgentHandle,
    name: &str,
    arguments: &Json,
    options: Options,
    cancel: &Cancel,
) -> Result<Json, String> {
    match name {
        "navigateTree" => navigate(agent, arguments, cancel).await,
        "branchInPlace" => branch_in_place(agent, arguments, cancel).await,
        "fork" => fork(agent, arguments, options, cancel).await,
        "newSession" => {
            let parent_session = arguments["parentSession"].as_str().map(str::to_owned);
            let new = NewSession { parent_session, ..NewSession::default() };
            let request = NewRequest { new, ..NewRequest::default() };
            Ok(cancelled(&agent.new_session(request, options).unless(cancel).await.map_err(said)?))
        }
        "switchSession" => {
            let path = PathBuf::from(arguments["path"].as_str().unwrap_or_default());
            Ok(cancelled(&agent.resume(path, options).unless(cancel).await.map_err(said)?))
        }
        "compact" => {
            let focus = arguments["customInstructions"].as_str().map(str::to_owned);
            match agent.compact(focus).unless(cancel).await.map_err(said)? {
                Applied::Done(id) => Ok(json!({"entryId": id.to_string()})),
                Applied::Cancelled(_) => Err("Compaction cancelled".to_owned()),
            }
        }
        "waitForIdle" => agent.wait_until_idle().await.map(|()| Json::Null).map_err(said),
        name => Err(format!("no such operation: {name}")),
    }
}

async fn navigate(agent: &AgentHandle, arguments: &Json, cancel: &Cancel) -> Result<Json, String> {
    let request = NavigateRequest {
        target: arguments["targetId"].as_str().unwrap_or_default().to_owned(),
        summary: summary_request(arguments),
        label: arguments["label"].as_str().map(str::to_owned),
    };
    let applied = agent.navigate(request).unless(cancel).await.map_err(said)?;
    navigated(agent, applied)
}

/// Moves the leaf onto an entry itself, also if it is a prompt.
async fn branch_in_place(agent: &AgentHandle, arguments: &Json, cancel: &Cancel) -> Result<Json, String> {
    let target = arguments["targetId"].as_str().unwrap_or_default().to_owned();
    let request = MoveRequest { target, exact: true, summary: summary_request(arguments) };
    let applied = agent.branch_here(request).unless(cancel).await.map_err(said)?;
    navigated(agent, applied)
}

/// Reads which summary an extension wants: its own text, or one that the model makes.
fn summary_request(arguments: &Json) -> SummaryRequest {
    if let Some(text) = arguments["summary"].as_str() {
        return SummaryRequest::Made(text.to_owned());
    }
    let instructions = arguments["customInstructions"].as_str().map(str::to_owned);
    match (arguments["summarize"].as_bool().unwrap_or(false), instructions) {
        (false, _) => SummaryRequest::Skip,
        (true, None) => SummaryRequest::Standard,
        (true, Some(text)) if arguments["replaceInstructions"] == true => SummaryRequest::Replace(text),
        (true, Some(text)) => SummaryRequest::Focus(text),
    }
}

/// Spells the result of a navigation. What does not exist is left out.
fn navigated(agent: &AgentHandle, applied: Applied<NavigationResult>) -> Result<Json, String> {
    let mut answer = cancelled(&applied);
    answer["aborted"] = (applied.cancelled_by() == Some(&CancelledBy::User)).into();
    let arrival = applied.done().unwrap_or_default();
    if let Some(text) = arrival.editor_text {
        answer["editorText"] = text.into();
    }
    if let Some(id) = arrival.summary_entry {
        let entry = agent.read(|session| session.entry(id.as_str())).map_err(said)?;
        answer["summaryEntry"] = entry.value().and_then(|value| value.to_serde()).unwrap_or_default();
    }
    Ok(answer)
}

async fn fork(
    agent: &AgentHandle,
    arguments: &Json,
    options: Options,
    cancel: &Cancel,
) -> Result<Json, String> {
    let position = match arguments["position"].as_str() {
        Some("at") => Some(ForkPosition::At),
        Some("before") => Some(ForkPosition::Before),
        _ => None,
    };
    let entry = arguments["entryId"].as_str().unwrap_or_default();
    let request = ForkRequest { position, ..ForkRequest::at(entry) };
    let applied = agent.fork_at(request, options).unless(cancel).await.map_err(said)?;
    let mut answer = cancelled(&applied);
    if let Applied::Done(forked) = applied {
        if let Some(text) = forked.editor_text {
            answer["editorText"] = text.into();
        }
        if let Some(file) = forked.session_file {
            answer["newSessionFile"] = file.to_string_lossy().into();
        }
    }
    Ok(answer)
}

fn cancelled<T>(applied: &Applied<T>) -> Json {
    json!({"cancelled": applied.cancelled_by().is_some()})
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Makes a request of what script asks.
pub(super) fn request(context: &Json, options: &Json) -> Request {
    let messages = context["messages"].as_array().into_iter().flatten();
    let tools = context["tools"].as_array().into_iter().flatten();
    let level = options["reasoning"].as_str().or_else(|| options["reasoningEffort"].as_str());
    Request {
        system: context["systemPrompt"].as_str().unwrap_or_default().to_owned(),
        messages: messages.filter_map(|message| Message::parse_unchecked(message.to_string()).ok()).collect(),
        tools: tools.filter_map(|tool| ToolSpec::deserialize(tool).ok()).collect(),
        thinking: level.and_then(ThinkingLevel::from_name).unwrap_or_default(),
        max_output: options["maxTokens"].as_u64(),
        ..Request::default()
    }
}

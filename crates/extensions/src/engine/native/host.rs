//! The host as script sees it: one arm for each operation that does not take time.

use offshoot_agent::handle::{CustomMessage, SendOptions};
use offshoot_agent::model::{ModelSpec, ThinkingLevel};
use offshoot_agent::queue::Delivery;
use offshoot_agent::summary::{SummarySubject, summary_request};
use offshoot_agent::tools::ToolBox;
use serde::Deserialize as _;
use serde_json::{Value as Json, json};
use session_tree::{Message, convert_to_llm, estimate_tokens, serialize_conversation};
use tracing::{debug, error, info, trace, warn};

use super::{Answer, count_sent, count_shown, json as spelled, said, text, unknown};
use crate::CONSOLE;
use crate::engine::Shared;
use crate::extension::given;
use crate::host::{Host, HostEvent, Notice, ProviderConfig};
use crate::registry::Registry;

pub(super) fn call(shared: &Shared, name: &str, mut arguments: Json, length: usize) -> Answer {
    let (host, extension) = (&shared.setting.host, &shared.setting.name);
    if matches!(name, "sendMessage" | "sendUserMessage" | "setLabel" | "setSessionName") {
        count_sent(shared)?;
    }
    match name {
        "info" => {
            return spelled(json!({
                "mode": host.mode,
                "hasUI": host.mode.has_ui(),
                "cwd": host.cwd.to_string_lossy(),
                "configDir": host.config_dir.to_string_lossy(),
                "trusted": host.is_project_trusted,
            }));
        }
        "state" => return state(host),
        "models" => {
            return spelled(host.models().iter().map(|model| model.spec().to_json()).collect::<Vec<_>>());
        }
        "tools" => return spelled(json!(host.tools.all().specs())),
        "settings" => return spelled(host.settings.clone()),
        "builtinTools" => return spelled(json!(ToolBox::all().specs())),
        "commands" => return commands(shared),
        "convertToLlm" => return convert(&arguments),
        "serializeConversation" => return spelled(serialize_conversation(&messages(&arguments))),
        "summaryPrompt" => return summary_prompt(&arguments),
        "estimateTokens" => return spelled(messages(&arguments).iter().map(estimate_tokens).sum::<u64>()),
        "show" => {
            count_shown(shared, length)?;
            let notice = Notice::deserialize(&arguments).map_err(said)?;
            if let Some(extension) = shared.setting.extension() {
                extension.show(notice);
            }
        }
        "log" => count_shown(shared, length).map(|()| log(extension, &arguments))?,
        "report" => report(shared, &arguments),
        // While the extension is loaded, the agent has not asked for its registrations yet.
        "registered" => {
            let registry = Registry::deserialize(&arguments).map_err(said)?;
            if shared.setting.handle.upgrade().is_some_and(|handle| handle.register(registry)) {
                host.registered();
            }
        }
        "emit" => emit(shared, &arguments)?,
        "registerProvider" | "unregisterProvider" | "answerEvent" => provider(shared, name, &mut arguments)?,
        "progress" => {
            let call = text(&arguments, "call")?;
            let handle = shared.setting.handle.upgrade();
            if let Some(watch) = handle.and_then(|handle| handle.progress.lock().get(call).cloned()) {
                watch(arguments["output"].take());
            }
        }
        "sendMessage" => {
            let options = SendOptions {
                trigger_turn: arguments["triggerTurn"].as_bool(),
                deliver_as: deliver_as(&arguments),
            };
            host.agent.send_message(&custom_message(&arguments)?, options).map_err(said)?;
        }
        "sendUserMessage" => host.send_user(&arguments["content"], deliver_as(&arguments))?,
        "setLabel" => {
            host.agent.set_label(text(&arguments, "id")?, arguments["label"].as_str()).map_err(said)?;
        }
        "setSessionName" => drop(host.agent.set_session_name(text(&arguments, "name")?).map_err(said)?),
        "setThinking" => {
            let name = text(&arguments, "level")?;
            let level = ThinkingLevel::from_name(name);
            host.set_thinking(level.ok_or_else(|| format!("no thinking level `{name}`"))?);
        }
        "setActiveTools" => {
            host.tools.choose(serde_json::from_value(arguments["names"].take()).map_err(said)?);
        }
        "abort" => host.agent.abort(),
        "shutdown" => host.send(HostEvent::Shutdown),
        _ => return unknown("host", name),
    }
    spelled(Json::Null)
}

/// Registers or removes a provider, or takes an event of an answer that script gives for one.
fn provider(shared: &Shared, name: &str, arguments: &mut Json) -> Result<(), String> {
    let host = &shared.setting.host;
    match name {
        "registerProvider" => register_provider(shared, arguments)?,
        "unregisterProvider" => {
            host.providers.remove(text(arguments, "name")?);
            host.send(HostEvent::Registered);
        }
        _ => {
            let handle = shared.setting.handle.upgrade();
            let id = arguments["stream"].as_u64().unwrap_or_default();
            if let Some(events) = handle.and_then(|handle| handle.answers.lock().get(&id).cloned()) {
                drop(events.send(arguments["event"].take()));
            }
        }
    }
    Ok(())
}

/// Registers a provider. A wrong one is reported, because the extension may be good for other things.
fn register_provider(shared: &Shared, arguments: &Json) -> Result<(), String> {
    let (host, provider) = (&shared.setting.host, text(arguments, "name")?);
    let Some(handle) = shared.setting.handle.upgrade() else { return Ok(()) };
    let config = ProviderConfig::deserialize(&arguments["config"]).map_err(said);
    let added = config.and_then(|config| {
        let answers_itself = arguments["streams"] == true;
        let config = ProviderConfig { provider: provider.to_owned(), answers_itself, ..config };
        host.providers.add(&handle, config, &host.connect)
    });
    match added {
        Ok(()) => host.send(HostEvent::Registered),
        Err(reason) => {
            let message = format!("the provider `{provider}` is not used: {reason}");
            host.report(&shared.setting.name, "registerProvider", message);
        }
    }
    Ok(())
}

fn state(host: &Host) -> Answer {
    let active: Vec<String> = host.tools.active().names().map(str::to_owned).collect();
    let state = host.state().clone();
    spelled(json!({
        "model": state.model.as_ref().map(ModelSpec::to_json),
        "thinking": state.thinking.name(),
        "isIdle": !host.agent.has_turn(),
        "hasPending": host.agent.has_waiting(),
        "system": state.system,
        "activeTools": active,
        "editorText": state.editor_text,
        "toolsExpanded": state.tools_expanded,
    }))
}

/// The commands of all extensions.
fn commands(shared: &Shared) -> Answer {
    let handles = shared.setting.handle.upgrade().map(|handle| handle.bus.members()).unwrap_or_default();
    let mut list = Vec::new();
    for handle in handles {
        for command in handle.registry().commands {
            list.push(json!({
                "name": command.name, "description": command.description, "source": "extension",
                "extension": handle.name,
                "sourceInfo": {"source": "extension", "path": handle.name, "scope": "user"},
            }));
        }
    }
    let resources = shared.setting.host.agent.state().resources;
    list.extend(resources.commands().map(|command| {
        json!({
            "name": command.name, "description": command.description, "source": command.source,
            "sourceInfo": {"source": command.source, "path": command.path, "scope": "user"},
        })
    }));
    spelled(list)
}

fn custom_message(arguments: &Json) -> Result<CustomMessage, String> {
    let content = arguments["content"].clone();
    if !content.is_string() && !content.is_array() {
        return Err("`content` is neither text nor a list of blocks".to_owned());
    }
    Ok(CustomMessage {
        custom_type: text(arguments, "customType")?.to_owned(),
        content,
        display: arguments["display"].as_bool().unwrap_or(false),
        details: given(arguments, "details").cloned(),
    })
}

fn deliver_as(arguments: &Json) -> Option<Delivery> {
    match arguments["deliverAs"].as_str()? {
        "steer" => Some(Delivery::Steer),
        "followUp" => Some(Delivery::FollowUp),
        "nextTurn" => Some(Delivery::NextTurn),
        "afterTurn" => Some(Delivery::AfterTurn),
        _ => None,
    }
}

/// Logs a line of the console of an extension.
fn log(extension: &str, line: &Json) {
    let text = line["text"].as_str().unwrap_or_default();
    match line["level"].as_str().unwrap_or_default() {
        "error" => error!(target: CONSOLE, extension, "{text}"),
        "warning" => warn!(target: CONSOLE, extension, "{text}"),
        "debug" => debug!(target: CONSOLE, extension, "{text}"),
        "trace" => trace!(target: CONSOLE, extension, "{text}"),
        _ => info!(target: CONSOLE, extension, "{text}"),
    }
}

fn report(shared: &Shared, arguments: &Json) {
    let message = shared.original_places(arguments["message"].as_str().unwrap_or_default());
    shared.note_exhausted(&message);
    let doing = arguments["doing"].as_str().unwrap_or_default();
    shared.setting.host.report(&shared.setting.name, doing, message);
}

fn emit(shared: &Shared, arguments: &Json) -> Result<(), String> {
    let Some(handle) = shared.setting.handle.upgrade() else { return Ok(()) };
    handle.bus.emit(&handle, text(arguments, "channel")?, &arguments["data"])
}

fn messages(arguments: &Json) -> Vec<Message> {
    let list = arguments["messages"].as_array().into_iter().flatten();
    list.filter_map(|value| Message::parse_unchecked(value.to_string()).ok()).collect()
}

/// Returns the texts with which the agent itself asks for a summary.
fn summary_prompt(arguments: &Json) -> Answer {
    let subject = match text(arguments, "kind")? {
        "branch" => SummarySubject::Branch,
        "prefix" => SummarySubject::TurnPrefix,
        _ => SummarySubject::History,
    };
    let field = |name: &str| given(arguments, name).and_then(Json::as_str);
    let conversation = serialize_conversation(&messages(arguments));
    let (focus, replace) = (field("customInstructions"), arguments["replaceInstructions"] == true);
    let (system, prompt) = summary_request(subject, &conversation, field("previousSummary"), focus, replace);
    spelled(json!({"system": system, "prompt": prompt}))
}

fn convert(arguments: &Json) -> Answer {
    let converted = messages(arguments).iter().filter_map(convert_to_llm).collect::<Vec<_>>();
    let spelled: Vec<_> = converted.iter().map(|message| message.json().into_owned()).collect();
    Ok(format!("[{}]", spelled.join(",")))
}

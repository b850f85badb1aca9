//! The host as script sees it: how the agent is set, what it is to do, what is to be shown.

use offshoot_agent::handle::{CustomMessage, SendOptions};
use offshoot_agent::inbox::Delivery;
use offshoot_agent::model::{ModelSpec, ThinkingLevel, ToolSpec};
use offshoot_agent::tools::ToolBox;
use serde_json::{Value as Json, json};
use session_tree::{Message, convert_to_llm, estimate_tokens, serialize_conversation};

use super::{Answer, count_sent, count_shown, json as spelled, text, unknown};
use crate::component::Component;
use crate::component::given;
use crate::engine::Shared;
use crate::host::{Action, Notice, Trouble, WidgetContent};

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json, length: usize) -> Answer {
    let host = &shared.setting.host;
    match name {
        "info" => spelled(json!({
            "mode": host.mode().name(),
            "hasUI": host.has_ui(),
            "cwd": host.cwd().to_string_lossy(),
            "configDir": host.config_dir().to_string_lossy(),
            "trusted": host.is_project_trusted(),
        })),
        "state" => state(shared),
        "models" => spelled(host.models().iter().map(model).collect::<Vec<_>>()),
        "tools" => tools(&shared.setting.host.tools()),
        "builtinTools" => tools(&ToolBox::all().specs()),
        "commands" => commands(shared),
        "show" => show(shared, arguments, length),
        "report" => report(shared, arguments),
        "registered" => registered(shared, arguments),
        "emit" => emit(shared, arguments),
        "registerProvider" => refuse_provider(shared, arguments),
        "progress" => progress(shared, arguments),
        "convertToLlm" => convert(arguments),
        "serializeConversation" => serialize(arguments),
        "estimateTokens" => spelled(messages(arguments).iter().map(estimate_tokens).sum::<u64>()),
        _ => act(shared, name, arguments),
    }
}

fn state(shared: &Shared) -> Answer {
    let state = shared.setting.host.state();
    spelled(json!({
        "model": state.model.as_ref().map(model),
        "thinking": state.thinking.name(),
        "isIdle": state.is_idle,
        "hasPending": state.has_pending,
        "system": state.system,
        "activeTools": state.active_tools,
        "editorText": state.editor_text,
    }))
}

/// Spells a model as extensions know it.
pub(crate) fn model(spec: &ModelSpec) -> Json {
    let input = if spec.reads_images { json!(["text", "image"]) } else { json!(["text"]) };
    json!({
        "provider": spec.provider, "id": spec.id, "name": spec.name, "api": spec.api,
        "contextWindow": spec.context_window, "maxTokens": spec.max_output,
        "reasoning": spec.thinking_levels.iter().any(|level| *level != ThinkingLevel::Off),
        "thinkingLevels": spec.thinking_levels.iter().map(|level| level.name()).collect::<Vec<_>>(),
        "input": input,
        "cost": {
            "input": spec.price.input, "output": spec.price.output,
            "cacheRead": spec.price.cache_read, "cacheWrite": spec.price.cache_write,
        },
    })
}

/// The commands of all extensions.
fn commands(shared: &Shared) -> Answer {
    let handles = shared.setting.handle.upgrade().map(|handle| handle.bus.members()).unwrap_or_default();
    let mut list = Vec::new();
    for handle in handles {
        for command in handle.registry().commands {
            list.push(json!({
                "name": command.name, "description": command.description, "source": "extension",
                "extension": handle.name(),
                "sourceInfo": {"source": "extension", "path": handle.name(), "scope": "user"},
            }));
        }
    }
    spelled(list)
}

fn tools(tools: &[ToolSpec]) -> Answer {
    let tools = tools.iter().map(
        |tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}),
    );
    spelled(tools.collect::<Vec<_>>())
}

fn act(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    let action = match name {
        "sendMessage" => {
            count_sent(shared)?;
            let message = custom_message(arguments)?;
            let trigger_turn = arguments["triggerTurn"].as_bool();
            Action::SendMessage(message, SendOptions { trigger_turn, deliver_as: deliver_as(arguments) })
        }
        "sendUserMessage" => {
            count_sent(shared)?;
            let content = arguments["content"].clone();
            Action::SendUserMessage { content, deliver_as: deliver_as(arguments) }
        }
        "setLabel" => {
            count_sent(shared)?;
            let label = arguments["label"].as_str().map(str::to_owned);
            Action::SetLabel { target: text(arguments, "id")?.to_owned(), label }
        }
        "setSessionName" => {
            count_sent(shared)?;
            Action::SetSessionName(text(arguments, "name")?.to_owned())
        }
        "setThinking" => {
            let name = text(arguments, "level")?;
            let level =
                ThinkingLevel::from_name(name).ok_or_else(|| format!("no thinking level `{name}`"))?;
            Action::SetThinking(level)
        }
        "setActiveTools" => Action::SetActiveTools(texts(&arguments["names"])),
        "abort" => Action::Abort,
        "shutdown" => Action::Shutdown,
        _ => return unknown("host", name),
    };
    shared.setting.host.act(&shared.setting.name, action)?;
    spelled(Json::Null)
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

fn show(shared: &Shared, arguments: &Json, length: usize) -> Answer {
    count_shown(shared, length)?;
    let own = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    let component = || component(shared, &arguments["component"]);
    let notice = match text(arguments, "kind")? {
        "notify" => Notice::Notify { message: own("message"), level: own("level") },
        "status" => Notice::Status { key: own("key"), text: arguments["text"].as_str().map(str::to_owned) },
        "widget" => {
            let lines = arguments["lines"].as_array();
            let content = match lines {
                Some(_) => Some(WidgetContent::Lines(texts(&arguments["lines"]))),
                None => component().map(WidgetContent::Component),
            };
            let below = arguments["below"].as_bool().unwrap_or(false);
            Notice::Widget { key: own("key"), content, below }
        }
        "footer" => Notice::Footer(component()),
        "header" => Notice::Header(component()),
        "title" => Notice::Title(own("text")),
        "editorText" => Notice::EditorText(own("text")),
        "paste" => Notice::Paste(own("text")),
        "working" => Notice::Working(arguments["text"].as_str().map(str::to_owned)),
        "redraw" => Notice::Redraw(arguments["component"].as_u64().unwrap_or_default()),
        name => Notice::Other { name: name.to_owned(), arguments: arguments["arguments"].clone() },
    };
    shared.setting.host.show(&shared.setting.name, notice);
    spelled(Json::Null)
}

/// Makes the handle of a component that script has put under a number.
pub(crate) fn component(shared: &Shared, id: &Json) -> Option<Component> {
    Some(Component::new(id.as_u64()?, shared.setting.handle.upgrade()?))
}

fn report(shared: &Shared, arguments: &Json) -> Answer {
    let message = shared.original_places(arguments["message"].as_str().unwrap_or_default());
    shared.note_exhausted(&message);
    let doing = arguments["doing"].as_str().unwrap_or_default().to_owned();
    let extension = shared.setting.name.clone();
    shared.setting.host.report(Trouble { extension, doing, message, disabled: false });
    spelled(Json::Null)
}

/// Says that a provider is not used; the extension may be good for other things.
fn refuse_provider(shared: &Shared, arguments: &Json) -> Answer {
    let name = text(arguments, "name")?;
    let message = format!("the provider `{name}` is not used: keys and requests stay with the host");
    let (extension, doing) = (shared.setting.name.clone(), "registerProvider".to_owned());
    shared.setting.host.report(Trouble { extension, doing, message, disabled: false });
    spelled(Json::Null)
}

/// Keeps what script has registered, for the agent and the screen.
fn registered(shared: &Shared, arguments: &Json) -> Answer {
    if let Some(handle) = shared.setting.handle.upgrade()
        && handle.register(arguments)
    {
        // Before the first event nobody has asked yet, so nobody has to be told.
        shared.setting.host.act(&shared.setting.name, Action::Registered)?;
    }
    spelled(Json::Null)
}

fn emit(shared: &Shared, arguments: &Json) -> Answer {
    if let Some(handle) = shared.setting.handle.upgrade() {
        handle.bus.emit(&handle, text(arguments, "channel")?, &arguments["data"])?;
    }
    spelled(Json::Null)
}

/// Hands on what a running tool has so far.
fn progress(shared: &Shared, arguments: &Json) -> Answer {
    if let Some(handle) = shared.setting.handle.upgrade() {
        handle.tell_progress(text(arguments, "call")?, &arguments["output"]);
    }
    spelled(Json::Null)
}

fn messages(arguments: &Json) -> Vec<Message> {
    let list = arguments["messages"].as_array().into_iter().flatten();
    list.filter_map(|value| Message::from_value(value).ok()).collect()
}

fn convert(arguments: &Json) -> Answer {
    let converted = messages(arguments).iter().filter_map(convert_to_llm).collect::<Vec<_>>();
    let spelled: Vec<_> = converted.iter().map(|message| message.json().into_owned()).collect();
    Ok(format!("[{}]", spelled.join(",")))
}

fn serialize(arguments: &Json) -> Answer {
    spelled(serialize_conversation(&messages(arguments)))
}

fn texts(list: &Json) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

//! Extensions: events of a turn in order, changes that handlers may make, and actions during a turn.

use std::sync::{Arc, Mutex};

use offshoot_agent::agent::{Delivery, Submission, Submitted};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::error::AgentError;
use offshoot_agent::extension::{CommandFuture, CommandRun, ExtensionBundle, ExtensionCommand, numbered};
use offshoot_agent::handle::{AgentHandle, CustomMessage, SendOptions, Sent};
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::ToolSpec;
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};
use offshoot_agent::tools::{ToolBox, UserCommand};
use offshoot_agent::turn::Outcome;
use serde_json::{Value as Json, json};
use session_tree::{Message, Timestamp};

use crate::support::{Reply, Scripted, agent, empty, path, prompt};

pub(crate) type Seen = Arc<Mutex<Vec<Json>>>;

/// Records every event of these names without answering.
pub(crate) fn noting(events: &[&str]) -> (Hooks, Seen) {
    let (mut hooks, seen) = (Hooks::new(), Seen::default());
    for event in events {
        let seen = seen.clone();
        hooks.on("noter", event, move |payload, _| {
            seen.lock().unwrap().push(payload.clone());
            Box::pin(async { Ok(Json::Null) })
        });
    }
    (hooks, seen)
}

pub(crate) fn names(seen: &Seen) -> Vec<String> {
    let names = seen.lock().unwrap();
    names.iter().map(|payload| payload["type"].as_str().unwrap().to_owned()).collect()
}

/// Registers a handler with a fixed answer.
fn answering(hooks: &mut Hooks, event: &str, answer: Json) {
    hooks.on("teller", event, move |_, _| {
        let answer = answer.clone();
        Box::pin(async { Ok(answer) })
    });
}

/// A tool that reports progress and then calls a function of the test.
struct Calls(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Calls")
    }
}

impl Tool for Calls {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "calls".into(), description: String::new(), parameters: json!({"type": "object"}) }
    }

    fn effect(&self, _: &Json) -> Effect {
        Effect::Other("calls".into())
    }

    fn run<'a>(&'a self, _: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(async move {
            (place.progress)(ToolOutput::text("half"));
            (self.0)();
            ToolOutput::text("done")
        })
    }
}

pub(crate) fn with_tool(call: impl Fn() + Send + Sync + 'static) -> ToolBox {
    let mut tools = ToolBox::new();
    tools.add(Arc::new(Calls(Box::new(call))));
    tools
}

pub(crate) fn call() -> Reply {
    Reply::Calls("look", vec![("c1", "calls", json!({}))])
}

#[tokio::test]
async fn a_turn_is_reported_in_order() {
    let events = [
        "input",
        "before_agent_start",
        "agent_start",
        "turn_start",
        "context",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_call",
        "tool_execution_update",
        "tool_result",
        "tool_execution_end",
        "turn_end",
        "agent_end",
        "agent_settled",
    ];
    let (hooks, seen) = noting(&events);
    let model = Scripted::new(vec![call(), Reply::Text("fine")]);
    let mut agent = agent(empty(), &model).with_tools(with_tool(|| {})).with_hooks(hooks);
    let submitted = agent.submit(Submission::typed("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(submitted, Submitted::Answered(Outcome::Done));
    let mut told = names(&seen);
    told.dedup();
    insta::assert_snapshot!(told.join("\n"), @r"
    input
    before_agent_start
    agent_start
    message_start
    message_end
    turn_start
    context
    message_start
    message_update
    message_end
    tool_execution_start
    tool_call
    tool_execution_update
    tool_result
    tool_execution_end
    message_start
    message_end
    turn_end
    turn_start
    context
    message_start
    message_update
    message_end
    turn_end
    agent_end
    agent_settled
    ");
    let seen = seen.lock().unwrap();
    let last = |name: &str| seen.iter().rfind(|payload| payload["type"] == name).unwrap().clone();
    assert_eq!(last("turn_end")["turnIndex"], 1);
    assert_eq!(last("turn_end")["message"]["content"][0]["text"], "fine");
    assert_eq!(last("agent_end")["messages"].as_array().unwrap().len(), 4);
    assert_eq!(last("message_update")["message"]["role"], "assistant");
}

#[tokio::test]
async fn input_can_be_changed_or_handled() {
    let mut hooks = Hooks::new();
    answering(&mut hooks, "input", json!({"action": "transform", "text": "shouted"}));
    let model = Scripted::new(vec![Reply::Text("one")]);
    let mut changed = agent(empty(), &model).with_hooks(hooks);
    changed.submit(Submission::typed("said"), &Cancel::new()).await.unwrap();
    assert_eq!(model.asked(0), ["user: shouted"]);

    let mut hooks = Hooks::new();
    answering(&mut hooks, "input", json!({"action": "handled"}));
    let model = Scripted::new(vec![]);
    let mut taken = agent(empty(), &model).with_hooks(hooks);
    let submitted = taken.submit(Submission::typed("said"), &Cancel::new()).await.unwrap();
    assert_eq!(submitted, Submitted::Handled);
    assert!(taken.session().tree().is_empty() && model.requests().is_empty());
}

#[tokio::test]
async fn input_hooks_run_for_prompts_queued_during_a_turn() {
    let mut hooks = Hooks::new();
    hooks.on("loud", "input", |payload, _| {
        let (text, source) = (payload["text"].as_str().unwrap_or_default(), payload["source"].clone());
        let answer = match text {
            "gone" => json!({"action": "handled"}),
            text => json!({"action": "transform", "text": format!("{text} by {}", source.as_str().unwrap_or_default())}),
        };
        Box::pin(async move { Ok(answer) })
    });
    let model = Scripted::new(vec![Reply::Text("one"), Reply::Text("two"), Reply::Text("three")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    let handle = agent.handle();
    let message = session_tree::Message::user("sent").with_time(session_tree::Timestamp::from_millis(0));
    handle.queue_prompt(Submission::typed("gone"), Delivery::Steer);
    handle.queue_prompt(Submission::typed("typed"), Delivery::Steer);
    handle.send_user_message(&message, Some(Delivery::Steer)).unwrap();
    agent.submit(Submission::typed("hi"), &Cancel::new()).await.unwrap();
    agent.run_queue(&Cancel::new()).await;
    assert_eq!(model.asked(1)[2..], ["user: typed by interactive"]);
    assert_eq!(model.asked(2)[4..], ["user: sent by extension"]);
}

#[tokio::test]
async fn before_the_start_messages_are_added_and_the_system_prompt_changes_for_one_prompt() {
    let mut hooks = Hooks::new();
    hooks.on("first", "before_agent_start", |payload, _| {
        let system = format!("{} Be brief.", payload["systemPrompt"].as_str().unwrap_or_default());
        Box::pin(async move { Ok(json!({ "systemPrompt": system })) })
    });
    hooks.on("second", "before_agent_start", |payload, _| {
        let system = format!("{} Rhyme.", payload["systemPrompt"].as_str().unwrap_or_default());
        let message = json!({"customType": "note", "content": "mind the gap", "display": false});
        let is_first = payload["prompt"] == "hi";
        Box::pin(async move {
            Ok(if is_first {
                json!({"systemPrompt": system, "message": message})
            } else {
                json!({"systemPrompt": null})
            })
        })
    });
    let model = Scripted::new(vec![Reply::Text("one"), Reply::Text("two")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    agent.submit(Submission::typed("hi"), &Cancel::new()).await.unwrap();
    agent.submit(Submission::typed("again"), &Cancel::new()).await.unwrap();
    assert_eq!(model.requests()[0].system, "You are a test. Be brief. Rhyme.");
    assert_eq!(model.requests()[1].system, "You are a test. Be brief.");
    assert_eq!(model.asked(0), ["user: hi", "user: mind the gap"]);
    assert_eq!(path(&agent.session())[..2], ["user: hi", "custom_message"]);
}

#[tokio::test]
async fn the_end_of_a_message_can_change_its_content_but_not_its_role() {
    let mut hooks = Hooks::new();
    hooks.on("censor", "message_end", |payload, _| {
        let mut message = payload["message"].clone();
        match message["role"].as_str() {
            Some("assistant") => message["content"] = json!([{"type": "text", "text": "***"}]),
            _ => message["role"] = "assistant".into(),
        }
        Box::pin(async move { Ok(json!({ "message": message })) })
    });
    let model = Scripted::new(vec![Reply::Text("a secret")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(path(&agent.session()), ["user: hi", "assistant: ***"]);
}

fn note(text: &str) -> CustomMessage {
    CustomMessage::text("note", text)
}

#[tokio::test]
async fn a_message_to_an_idle_agent_is_appended_and_answered_on_request() {
    let model = Scripted::new(vec![Reply::Text("one")]);
    let mut agent = agent(empty(), &model);
    let handle = agent.handle();
    let sent = handle.send_message(&note("quiet"), SendOptions::default()).unwrap();
    assert!(matches!(sent, Sent::Appended(_)));
    agent.run_queue(&Cancel::new()).await;
    assert_eq!(path(&agent.session()), ["custom_message"]);

    let trigger = SendOptions { trigger_turn: Some(true), ..SendOptions::default() };
    assert_eq!(handle.send_message(&note("loud"), trigger).unwrap(), Sent::Queued);
    agent.run_queue(&Cancel::new()).await;
    assert_eq!(path(&agent.session()), ["custom_message", "custom_message", "assistant: one"]);
    assert_eq!(model.asked(0), ["user: quiet", "user: loud"]);
}

#[tokio::test]
async fn a_message_to_a_busy_agent_steers_follows_or_waits() {
    for (options, expected) in [
        (SendOptions::default(), ["toolResult: done", "custom_message", "assistant: two"]),
        (
            SendOptions { deliver_as: Some(Delivery::FollowUp), ..SendOptions::default() },
            ["assistant: two", "custom_message", "assistant: three"],
        ),
        (
            SendOptions { trigger_turn: Some(false), ..SendOptions::default() },
            ["toolResult: done", "assistant: two", "custom_message"],
        ),
    ] {
        let model = Scripted::new(vec![call(), Reply::Text("two"), Reply::Text("three")]);
        let agent = agent(empty(), &model);
        let handle = agent.handle();
        let mut agent = agent.with_tools(with_tool(move || {
            assert!(!handle.is_idle());
            assert_eq!(handle.send_message(&note("psst"), options).unwrap(), Sent::Queued);
        }));
        agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
        let path = path(&agent.session());
        assert_eq!(path[path.len() - 3..], expected, "{options:?}");
        assert!(agent.handle().is_idle());
    }
}

#[tokio::test]
async fn a_message_for_the_next_turn_goes_with_the_next_prompt() {
    let model = Scripted::new(vec![Reply::Text("one")]);
    let mut agent = agent(empty(), &model);
    let next = SendOptions { deliver_as: Some(Delivery::NextTurn), trigger_turn: Some(true) };
    agent.handle().send_message(&note("by the way"), next).unwrap();
    agent.run_queue(&Cancel::new()).await;
    assert!(agent.session().tree().is_empty());
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(model.asked(0), ["user: hi", "user: by the way"]);
}

#[tokio::test]
async fn a_prompt_of_an_extension_needs_a_delivery_while_the_agent_is_busy() {
    let model = Scripted::new(vec![call(), Reply::Text("two"), Reply::Text("three")]);
    let agent = agent(empty(), &model);
    let handle = agent.handle();
    let mut agent = agent.with_tools(with_tool(move || {
        let message = || Message::user("and then?").with_time(Timestamp::from_millis(5));
        assert!(matches!(handle.send_user_message(&message(), None), Err(AgentError::Busy)));
        handle.send_user_message(&message(), Some(Delivery::FollowUp)).unwrap();
    }));
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(path(&agent.session())[4..], ["user: and then?", "assistant: three"]);
}

#[tokio::test]
async fn state_is_written_and_read_at_once_while_a_turn_goes_on() {
    let model = Scripted::new(vec![call(), Reply::Text("two")]);
    let agent = agent(empty(), &model);
    let handle = agent.handle();
    let mut agent = agent.with_tools(with_tool(move || {
        let id = handle.append_entry("todo", Some(&json!({"open": 3}))).unwrap();
        assert_eq!(handle.read(session_tree::Session::leaf_id), Some(id));
    }));
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(
        path(&agent.session()),
        ["user: hi", "assistant: look", "custom", "toolResult: done", "assistant: two"]
    );
}

#[tokio::test]
async fn labels_and_names_set_by_extensions_are_reported() {
    let (hooks, seen) = noting(&["session_label", "session_info_changed"]);
    let model = Scripted::new(vec![]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    let handle = agent.handle();
    let id = handle.change(|session| session.append(Message::user("hi"))).unwrap();
    handle.set_label(id.as_str(), Some(" start ")).unwrap();
    handle.set_session_name(" a\ngreeting ").unwrap();
    assert_eq!(agent.session().name(), Some("a greeting"));
    handle.set_session_name(" ").unwrap();
    agent.run_queue(&Cancel::new()).await;
    assert_eq!(names(&seen), ["session_label", "session_info_changed", "session_info_changed"]);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["label"], "start");
    assert_eq!((&seen[1]["name"], &seen[2]["name"]), (&json!("a greeting"), &Json::Null), "as it is stored");
}

#[derive(Debug)]
struct Bookmark(&'static str);

impl ExtensionCommand for Bookmark {
    fn name(&self) -> &str {
        self.0
    }

    fn run<'a>(&'a self, arguments: &'a str, agent: &'a AgentHandle, _: &'a Cancel) -> CommandFuture<'a> {
        Box::pin(async move {
            if arguments == "fail" {
                return Err("no such place".to_owned());
            }
            let replied = agent.prompt(Submission::typed("from a command")).await;
            assert!(replied.is_ok(), "a request of a command runs while the command waits");
            Ok((arguments == "then").then(|| "go on".to_owned()))
        })
    }
}

#[tokio::test]
async fn commands_of_extensions_run_by_name_with_their_requests() {
    let model = Scripted::new(vec![Reply::Text("one"), Reply::Text("two")]);
    let mut agent = agent(empty(), &model);
    let commands = ["mark", "twice", "twice"];
    let commands = commands.map(|name| Arc::new(Bookmark(name)) as Arc<dyn ExtensionCommand>).to_vec();
    let names: Vec<String> = numbered(&commands).into_iter().map(|(name, _)| name).collect();
    agent.install(ExtensionBundle { hooks: Hooks::new(), commands });
    assert_eq!(names, ["mark", "twice:1", "twice:2"]);
    let cancel = Cancel::new();
    assert_eq!(agent.run_extension_command("mark", "", &cancel).await, CommandRun::Done(None));
    assert_eq!(path(&agent.session()), ["model_change", "user: from a command", "assistant: one"]);
    let then = agent.run_extension_command("twice:2", "then", &cancel).await;
    assert_eq!(then, CommandRun::Done(Some("go on".into())));
    let failed = agent.run_extension_command("mark", "fail", &cancel).await;
    assert_eq!(failed, CommandRun::Failed("no such place".into()));
    assert_eq!(agent.run_extension_command("twice", "", &cancel).await, CommandRun::Unknown);
}

#[tokio::test]
async fn an_extension_may_run_the_commands_of_the_user() {
    let mut hooks = Hooks::new();
    answering(&mut hooks, "user_bash", json!({"result": {"output": "remote", "exitCode": 3}}));
    let model = Scripted::new(vec![]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    let command = UserCommand::parse("!!uname").unwrap();
    let ran = agent.run_user_command(&command, &Cancel::new()).await.unwrap();
    ran.appended.unwrap();
    let said = ran.message.value().to_serde().unwrap();
    assert_eq!((&said["output"], &said["exitCode"]), (&json!("remote"), &json!(3)));
    assert_eq!(said["excludeFromContext"], true);
    assert_eq!(path(&agent.session()).len(), 1);
}

#[tokio::test]
async fn output_of_an_extension_has_the_same_limits() {
    let mut hooks = Hooks::new();
    let output = "line\n".repeat(100_000);
    answering(&mut hooks, "user_bash", json!({ "result": {"output": output, "exitCode": null} }));
    let model = Scripted::new(vec![]);
    let agent = agent(empty(), &model).with_hooks(hooks);
    let place = ToolPlace::new(".", Cancel::new());
    let message = agent.run_command(&UserCommand::parse("!yes").unwrap(), &place).await.unwrap();
    let said = message.value().to_serde().unwrap();
    assert_eq!((said.get("exitCode"), &said["truncated"]), (None, &json!(true)));
    assert_eq!(said["output"].as_str().unwrap().lines().count(), 2_000);
}

#[tokio::test]
async fn aborting_through_the_handle_stops_the_turn() {
    let model = Scripted::new(vec![call(), Reply::Hangs("hm")]);
    let agent = agent(empty(), &model);
    let handle = agent.handle();
    let mut agent = agent.with_tools(with_tool(move || handle.abort()));
    let outcome = agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Aborted);
    assert!(agent.handle().is_idle());
}

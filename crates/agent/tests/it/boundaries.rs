//! Hooks at the end of a turn and before the work on a prompt is over, and the use of their answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use offshoot_agent::agent::{Delivery, Submission};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::{AgentEvent, Events};
use offshoot_agent::handle::{CustomMessage, SendOptions};
use offshoot_agent::hooks::{Handler, HookFuture, Hooks};
use offshoot_agent::model::{Answer, ThinkingLevel};
use offshoot_agent::tool::ToolPlace;
use offshoot_agent::tools::UserCommand;
use offshoot_agent::turn::Outcome;
use serde_json::{Value as Json, json};
use session_tree::{Message, Timestamp};

use crate::extensions::{call, names, noting, with_tool};
use crate::support::{Reply, Scripted, agent, empty, overloaded, path, prompt};

/// Answers once, then with null.
fn once(hooks: &mut Hooks, event: &str, answer: impl Fn(&Json) -> Json + Send + Sync + 'static) {
    let asked = AtomicUsize::new(0);
    hooks.on("once", event, move |payload, _| {
        let is_first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        let answer = if is_first { answer(payload) } else { Json::Null };
        Box::pin(async move { Ok(answer) })
    });
}

/// Records failed extensions and their errors.
fn failures() -> (Events, Arc<Mutex<Vec<String>>>) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let into = seen.clone();
    let watcher = Events::new(move |event| {
        if let AgentEvent::HookFailed(failure) = &event.event {
            into.lock().unwrap().push(format!("{}: {}", failure.event, failure.message));
        }
    });
    (watcher, seen)
}

#[tokio::test]
async fn the_end_of_a_turn_may_take_an_answer_back_and_ask_for_another() {
    let mut hooks = Hooks::new();
    once(&mut hooks, "turn_end", |payload| {
        assert_eq!(payload["outcome"], "completed");
        json!({
            "entries": [
                {"type": "custom", "customType": "state", "data": 1},
                {"type": "context_edit", "targetId": payload["messageEntryId"], "replacement": null},
                {"type": "custom_message", "customType": "again", "content": "once more", "display": false},
            ],
            "continue": true,
        })
    });
    let model = Scripted::new(vec![Reply::Text("poor"), Reply::Text("good")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    let outcome = agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(
        path(&agent.session()),
        ["user: hi", "assistant: poor", "custom", "context_edit", "custom_message", "assistant: good"]
    );
    assert_eq!(model.asked(1), ["user: hi", "user: once more"]);
}

#[tokio::test]
async fn the_next_handler_sees_the_proposals_so_far() {
    let mut hooks = Hooks::new();
    let entry = |name: &str| json!({"type": "custom", "customType": name});
    let (one, other) = (entry("one"), entry("other"));
    once(&mut hooks, "turn_end", move |_| json!({"entries": [one]}));
    once(&mut hooks, "turn_end", move |payload| {
        let mut entries = payload["entries"].clone();
        assert_eq!((entries[0]["customType"].as_str(), &payload["continue"]), (Some("one"), &json!(false)));
        entries.as_array_mut().unwrap().push(other.clone());
        json!({ "entries": entries })
    });
    let model = Scripted::new(vec![Reply::Text("fine")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(path(&agent.session()), ["user: hi", "assistant: fine", "custom", "custom"]);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_proposal_is_accepted_as_a_whole_or_not_at_all() {
    let fine = json!({"type": "custom", "customType": "state"});
    for (bad, why) in [
        (json!({"type": "label", "targetId": "x"}), "`label` cannot be appended here"),
        (json!({"customType": "state"}), "`an entry without type` cannot be appended here"),
        (
            json!({"type": "context_edit", "targetId": "none", "replacement": null}),
            "`targetId`: no entry `none` on the path",
        ),
        (json!({"type": "compaction", "firstKeptEntryId": null}), "a compaction without summary"),
    ] {
        let (mut hooks, fine) = (Hooks::new(), fine.clone());
        let (watcher, failures) = failures();
        once(&mut hooks, "turn_end", move |_| json!({"entries": [fine, bad]}));
        let model = Scripted::new(vec![Reply::Text("fine")]);
        let mut agent = agent(empty(), &model).with_hooks(hooks).with_events(watcher);
        agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
        assert_eq!(path(&agent.session()), ["user: hi", "assistant: fine"]);
        assert_eq!(*failures.lock().unwrap(), [format!("turn_end: {why}")]);
    }
}

#[tokio::test]
async fn no_request_is_sent_if_there_is_nothing_to_answer() {
    let mut hooks = Hooks::new();
    let (watcher, failures) = failures();
    once(&mut hooks, "turn_end", |_| json!({"continue": true}));
    let model = Scripted::new(vec![Reply::Text("fine")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks).with_events(watcher);
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(model.requests().len(), 1);
    let why = "turn_end: an extension requested another turn, but there is nothing to answer";
    assert_eq!(*failures.lock().unwrap(), [why]);
}

#[tokio::test]
async fn messages_added_at_the_end_of_a_turn_are_sent() {
    let model = Scripted::new(vec![Reply::Text("fine"), Reply::Text("sure")]);
    let agent = agent(empty(), &model);
    let (handle, mut hooks) = (agent.handle(), Hooks::new());
    once(&mut hooks, "turn_end", move |payload| {
        assert_eq!(payload["context"]["canContinue"], false);
        let message = Message::user("and tests?").with_time(Timestamp::from_millis(5));
        handle.send_user_message(&message, Some(Delivery::Steer)).unwrap();
        json!({"continue": true})
    });
    agent.with_hooks(hooks).prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(model.requests().len(), 2);
    assert_eq!(model.asked(1).last().unwrap(), "user: and tests?");
}

#[tokio::test]
async fn queued_messages_are_pending_at_a_boundary_until_they_are_sent() {
    let model = Scripted::new(vec![call(), Reply::Text("two"), Reply::Text("three")]);
    let agent = agent(empty(), &model);
    let (handle, (hooks, seen)) = (agent.handle(), noting(&["turn_end"]));
    let sender = handle.clone();
    let tools = with_tool(move || {
        let later = SendOptions { deliver_as: Some(Delivery::FollowUp), ..SendOptions::default() };
        sender.send_message(&CustomMessage::text("note", "later"), later).unwrap();
    });
    agent.with_hooks(hooks).with_tools(tools).prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    let pending = |told: &Json| told["context"]["pendingMessages"].as_array().unwrap().len();
    assert_eq!(seen.lock().unwrap().iter().map(pending).collect::<Vec<_>>(), [1, 1, 0]);
    assert!(!handle.has_waiting());
}

#[tokio::test]
async fn messages_for_the_end_of_a_turn_need_no_answer() {
    let model = Scripted::new(vec![Reply::Text("fine")]);
    let agent = agent(empty(), &model);
    let (handle, mut hooks) = (agent.handle(), Hooks::new());
    once(&mut hooks, "turn_end", move |_| {
        let late = SendOptions { trigger_turn: Some(false), ..SendOptions::default() };
        handle.send_message(&CustomMessage::text("note", "by the way"), late).unwrap();
        json!({"continue": true})
    });
    let mut agent = agent.with_hooks(hooks);
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(model.requests().len(), 1);
    assert_eq!(path(&agent.session()), ["user: hi", "assistant: fine", "custom_message"]);
}

#[tokio::test]
async fn an_extension_may_request_another_turn_before_the_work_is_over() {
    let (mut hooks, seen) = noting(&["agent_start", "agent_end", "agent_settled"]);
    once(&mut hooks, "agent_before_settle", |_| {
        let reminder =
            json!({"type": "custom_message", "customType": "note", "content": "and tests?", "display": true});
        json!({"entries": [reminder], "continue": true})
    });
    let model = Scripted::new(vec![Reply::Text("done"), Reply::Text("tested")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(
        path(&agent.session()),
        ["user: hi", "assistant: done", "custom_message", "assistant: tested"]
    );
    assert_eq!(names(&seen), ["agent_start", "agent_end", "agent_start", "agent_end", "agent_settled"]);
}

#[tokio::test]
async fn cancelled_or_failed_work_is_not_continued() {
    let mut hooks = Hooks::new();
    let proposal = json!({
        "entries": [{"type": "custom_message", "customType": "n", "content": "go on", "display": true}],
        "continue": true,
    });
    once(&mut hooks, "turn_end", move |payload| {
        assert_eq!(payload["outcome"], "error");
        proposal.clone()
    });
    let refused = offshoot_agent::model::ModelError::Key { service: "s".into(), message: "no".into() };
    let model = Scripted::new(vec![Reply::Fails("hm", refused), Reply::Text("never")]);
    let mut failing = agent(empty(), &model).with_hooks(hooks);
    let outcome = failing.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert!(matches!(outcome, Outcome::Failed(_)));
    assert_eq!(model.requests().len(), 1);

    let (hooks, seen) = noting(&["turn_end", "agent_before_settle", "agent_settled"]);
    let model = Scripted::new(vec![call(), Reply::Hangs("hm")]);
    let stopped = agent(empty(), &model);
    let handle = stopped.handle();
    let mut stopped = stopped.with_hooks(hooks).with_tools(with_tool(move || handle.abort()));
    stopped.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(names(&seen), ["turn_end", "agent_settled"], "who was stopped still tells how it ended");
}

#[tokio::test]
async fn every_entry_is_reported_with_its_source() {
    let (hooks, seen) = noting(&["session_entry"]);
    let model = Scripted::new(vec![call(), Reply::Text("two")]);
    let agent = agent(empty(), &model);
    let handle = agent.handle().for_extensions();
    let tools = with_tool(move || drop(handle.append_entry("state", None).unwrap()));
    let mut agent = agent.with_tools(tools).with_hooks(hooks);
    agent.choose_thinking(ThinkingLevel::High).unwrap();
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    let seen = seen.lock().unwrap();
    let told: Vec<_> = seen.iter().map(|one| format!("{} {}", one["entry"]["type"], one["source"])).collect();
    let by = |kind: &str, source: &str| format!("\"{kind}\" \"{source}\"");
    let message = || by("message", "agent");
    let expected = [
        by("thinking_level_change", "agent"),
        message(),
        message(),
        by("custom", "extension"),
        message(),
        message(),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn choosing_the_current_model_is_not_reported() {
    let (hooks, seen) = noting(&["model_select", "thinking_level_select"]);
    let model = Scripted::new(vec![]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    agent.choose_model(model.clone()).unwrap();
    agent.restore_model(Scripted::named("other"), ThinkingLevel::High);
    agent.choose_thinking(ThinkingLevel::High).unwrap();
    agent.run_queue(&Cancel::new()).await;
    assert_eq!(names(&seen), ["model_select", "thinking_level_select"]);
    let seen = seen.lock().unwrap();
    let chosen = (&seen[0]["model"]["id"], &seen[0]["previousModel"]["id"], &seen[0]["source"]);
    assert_eq!(chosen, (&json!("other"), &json!("mod"), &json!("restore")));
    assert_eq!((&seen[1]["level"], &seen[1]["previousLevel"]), (&json!("high"), &json!("off")));
}

#[tokio::test]
async fn the_stored_thinking_level_is_not_clamped_to_the_model() {
    let mut agent = agent(empty(), &Scripted::new(vec![]));
    assert_eq!(agent.stored_thinking(), None, "nothing is said yet");
    agent.session().append_thinking_level_change("max").unwrap();
    assert_eq!(agent.stored_thinking(), Some(ThinkingLevel::Max));
    agent.restore_model(Scripted::named("other"), agent.stored_thinking().unwrap());
    assert_eq!(agent.thinking(), ThinkingLevel::High, "the most that this model can do");
}

#[tokio::test]
async fn a_message_that_starts_a_turn_is_reported_before_the_start() {
    let (hooks, seen) = noting(&["input", "before_agent_start"]);
    let model = Scripted::new(vec![Reply::Text("one"), Reply::Text("two")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    let wake = SendOptions { trigger_turn: Some(true), ..SendOptions::default() };
    agent.handle().send_message(&CustomMessage::text("note", "wake up"), wake).unwrap();
    agent
        .handle()
        .send_user_message(&Message::user("and you").with_time(Timestamp::from_millis(5)), None)
        .unwrap();
    agent.run_queue(&Cancel::new()).await;
    assert_eq!(names(&seen), ["before_agent_start", "input", "before_agent_start"]);
    let seen = seen.lock().unwrap();
    assert_eq!(
        (&seen[0]["messageType"], &seen[0]["message"]["content"]),
        (&json!("custom"), &json!("wake up"))
    );
    assert_eq!((&seen[1]["source"], &seen[1]["text"]), (&json!("extension"), &json!("and you")));
    assert_eq!((&seen[2]["messageType"], &seen[2]["prompt"]), (&json!("user"), &json!("and you")));
}

#[tokio::test]
async fn extensions_may_add_images_and_change_the_whole_request() {
    let mut hooks = Hooks::new();
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    once(&mut hooks, "input", move |_| json!({"action": "transform", "text": "look", "images": [image]}));
    once(&mut hooks, "context_with_system", |payload| {
        let mut messages = payload["messages"].clone();
        assert_eq!(messages[0], json!({"role": "system", "content": "You are a test."}));
        messages[0]["content"] = "You are somebody else.".into();
        messages[1]["content"] = "seen".into();
        json!({ "messages": messages })
    });
    let model = Scripted::new(vec![Reply::Text("one")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    agent.submit(Submission::typed("hi"), &Cancel::new()).await.unwrap();
    let kept = agent.session().context().unwrap();
    assert_eq!(kept.messages().next().unwrap().content().image_count(), 1);
    assert_eq!(
        (model.requests()[0].system.as_str(), model.asked(0)),
        ("You are somebody else.", vec!["user: seen".to_owned()])
    );
}

#[tokio::test]
async fn a_command_that_an_extension_blocks_does_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let place = ToolPlace::new(dir.path(), Cancel::new());
    let command = UserCommand::parse("!touch made").unwrap();
    for (answer, why) in [
        (Ok(json!({"block": true, "reason": "not today"})), "not today"),
        (Err("it broke".to_owned()), "an extension failed: it broke"),
    ] {
        let mut hooks = Hooks::new();
        hooks.on("guard", "user_bash", move |_, _| {
            let answer = answer.clone();
            Box::pin(async move { answer })
        });
        let model = Scripted::new(vec![]);
        let agent = agent(empty(), &model).with_hooks(hooks);
        let error = agent.run_command(&command, &place).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the command was not run: {why}"));
        assert!(!dir.path().join("made").exists());
    }
}

#[tokio::test]
async fn a_call_cancelled_before_its_guard_answers_does_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = Cancel::new();
    let mut hooks = Hooks::new();
    for event in ["user_bash", "tool_call"] {
        let stop = cancel.clone();
        hooks.on("guard", event, move |_, _| {
            stop.cancel();
            Box::pin(std::future::pending())
        });
    }
    let model = Scripted::new(vec![call()]);
    let tools = with_tool(|| panic!("nobody allowed it"));
    let mut agent = agent(empty(), &model).with_hooks(hooks).with_tools(tools);
    assert_eq!(agent.prompt(prompt("hi"), &cancel).await.unwrap(), Outcome::Aborted);
    assert_eq!(path(&agent.session())[2], "toolResult: Operation aborted");
    let place = ToolPlace::new(dir.path(), cancel);
    let error = agent.run_command(&UserCommand::parse("!touch made").unwrap(), &place).await.unwrap_err();
    assert_eq!(error.to_string(), "the command was not run: it was cancelled before it started");
    assert!(!dir.path().join("made").exists());
}

#[tokio::test]
async fn an_extension_receives_an_answer_block_by_block() {
    let (hooks, seen) = noting(&["message_update"]);
    let model = Scripted::new(vec![call(), Reply::Text("fine")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks).with_tools(with_tool(|| {}));
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    let seen = seen.lock().unwrap();
    let kinds: Vec<_> =
        seen.iter().map(|one| one["assistantMessageEvent"]["type"].as_str().unwrap()).collect();
    let [text, tool] =
        [["text_start", "text_delta", "text_end"], ["toolcall_start", "toolcall_delta", "toolcall_end"]];
    assert_eq!(kinds, [text, tool, text].concat());
    assert_eq!(seen[2]["assistantMessageEvent"]["content"], "look");
    assert_eq!(seen[5]["assistantMessageEvent"]["toolCall"]["name"], "calls");
}

/// A handler that assembles answers by itself, and records its payloads.
#[derive(Default)]
struct Assembler(Arc<Mutex<Vec<Json>>>);

impl Handler for Assembler {
    fn name(&self) -> &str {
        "assembler"
    }

    fn wants(&self, event: &str) -> bool {
        event == "message_update"
    }

    fn assembles_answers(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, _: &'a str, payload: &'a Json, _: &'a Cancel) -> HookFuture<'a> {
        self.0.lock().unwrap().push(payload.clone());
        Box::pin(std::future::ready(Ok(Json::Null)))
    }
}

#[tokio::test]
async fn a_handler_that_assembles_answers_is_sent_each_part_once() {
    let assembler = Assembler::default();
    let parts = assembler.0.clone();
    let mut hooks = Hooks::new();
    hooks.register(Arc::new(assembler));
    let model = Scripted::new(vec![call(), Reply::Text("fine")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks).with_tools(with_tool(|| {}));
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    let parts = parts.lock().unwrap();
    assert!(parts.iter().all(|part| part.get("message").is_none()), "{parts:?}");
    assert_eq!(parts[2]["block"], json!({"type": "text", "text": "look"}));
    assert_eq!(parts[3]["block"]["name"], "calls");
}

#[tokio::test]
async fn a_retry_restarts_the_blocks_in_json_events() {
    let lines: Arc<Mutex<Vec<Json>>> = Arc::default();
    let into = lines.clone();
    let mut answer = Answer::default();
    let watcher = Events::new(move |event| into.lock().unwrap().push(event.event.to_json_in(&mut answer)));
    let model = Scripted::new(vec![Reply::Fails("h", overloaded()), Reply::Text("fine")]);
    let mut agent = agent(empty(), &model).with_events(watcher);
    tokio::time::pause();
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    let lines = lines.lock().unwrap();
    let updates = lines.iter().filter_map(|line| line["assistantMessageEvent"]["type"].as_str());
    let expected = ["text_start", "text_delta", "text_start", "text_delta", "text_end"];
    assert_eq!(updates.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_transient_failure_is_reported_as_turns_and_settles_once() {
    let (hooks, seen) = noting(&["turn_end", "agent_end", "agent_settled"]);
    let model = Scripted::new(vec![Reply::Fails("hm", overloaded()), Reply::Text("fine")]);
    let mut agent = agent(empty(), &model).with_hooks(hooks);
    tokio::time::pause();
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(names(&seen), ["turn_end", "turn_end", "agent_end", "agent_settled"]);
}

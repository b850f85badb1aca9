//! Turns: the requests to the model and the entries of the session.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use offshoot_agent::agent::{Agent, Delivery, Submission};
use offshoot_agent::approval::{Approval, Approver};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::error::AgentError;
use offshoot_agent::event::{AgentEvent, Events};
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::{AnswerEvent, ModelError, ThinkingLevel, ToolSpec};
use offshoot_agent::settings::Settings;
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};
use offshoot_agent::tools::ReadyCall;
use offshoot_agent::tools::ToolBox;
use offshoot_agent::turn::{Outcome, RetryPolicy};
use serde_json::{Value as Json, json};
use session_tree::{EntryId, Role};

use crate::support::{Reply, Scripted, agent, allow_all, empty, overloaded, path, prompt, usage_of, watched};

/// A tool that counts its runs and returns its arguments.
#[derive(Debug, Default)]
struct Echo {
    runs: AtomicUsize,
    /// True to wait forever.
    hangs: bool,
}

impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "echo".into(),
            description: "says it again".into(),
            parameters: json!({"type": "object"}),
        }
    }

    fn effect(&self, _: &Json) -> Effect {
        Effect::Reads(Vec::new())
    }

    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            if self.hangs {
                place.cancel.cancelled().await;
                return ToolOutput::error("stopped");
            }
            // The first call is the slowest, so that the order of the results is not accidental.
            for _ in 0..10_usize.saturating_sub(self.runs.load(Ordering::Relaxed)) {
                tokio::task::yield_now().await;
            }
            (place.progress)(ToolOutput::text("half"));
            ToolOutput::text(call.arguments["text"].as_str().unwrap_or("nothing").to_owned())
        })
    }
}

fn only(tool: Arc<Echo>) -> ToolBox {
    let mut tools = ToolBox::new();
    tools.add(tool);
    tools
}

fn calls(texts: &[&'static str]) -> Reply {
    let ids = ["c1", "c2", "c3"];
    let calls = texts.iter().zip(ids).map(|(text, id)| (id, "echo", json!({ "text": text }))).collect();
    Reply::Calls("look", calls)
}

#[tokio::test]
async fn a_prompt_is_answered_and_both_are_in_the_session() {
    let model = Scripted::new(vec![Reply::Text("hello")]);
    let (watcher, seen) = watched();
    let mut agent = agent(empty(), &model).with_events(watcher);
    let outcome = agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(path(&agent.session()), ["user: hi", "assistant: hello"]);
    assert_eq!(model.asked(0), ["user: hi"]);
    assert_eq!(model.requests()[0].system, "You are a test.");
    assert_eq!(usage_of(&agent.session())["totalTokens"], 15);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.first().unwrap(), "agent_start");
    assert_eq!(seen.last().unwrap(), "agent_end");
}

#[tokio::test]
async fn calls_that_read_run_concurrently_and_results_stand_in_the_order_of_the_calls() {
    let model = Scripted::new(vec![calls(&["one", "two", "three"]), Reply::Text("done")]);
    let tool = Arc::new(Echo::default());
    let mut agent = agent(empty(), &model).with_tools(only(tool.clone()));
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    let expected = ["user: go", "assistant: look", "toolResult: one", "toolResult: two", "toolResult: three"];
    assert_eq!(model.asked(1), expected);
    assert_eq!(tool.runs.load(Ordering::Relaxed), 3);
}

/// A tool that records when its calls start and end.
#[derive(Debug)]
struct Recording {
    name: &'static str,
    effect: Effect,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Tool for Recording {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({"type": "object"});
        ToolSpec { name: self.name.into(), description: "takes notes".into(), parameters }
    }

    fn effect(&self, _: &Json) -> Effect {
        self.effect.clone()
    }

    fn run<'a>(&'a self, call: ToolCall, _: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(async move {
            self.notes.lock().unwrap().push(format!("{} starts", call.id));
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            self.notes.lock().unwrap().push(format!("{} ends", call.id));
            ToolOutput::text(call.id)
        })
    }
}

/// Runs calls of tools with different effects. Returns when each started and ended.
async fn order_of(calls: &[&'static str]) -> Vec<String> {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let mut tools = ToolBox::new();
    for (name, effect) in [
        ("write", Effect::Writes(vec!["a".into()])),
        ("bash", Effect::Runs("cat a".into())),
        ("read", Effect::Reads(vec!["a".into()])),
        ("other", Effect::Other("something".into())),
    ] {
        tools.add(Arc::new(Recording { name, effect, notes: notes.clone() }));
    }
    let ids = ["1", "2", "3", "4", "5"];
    let calls = calls.iter().zip(ids).map(|(name, id)| (id, *name, json!({}))).collect();
    let model = Scripted::new(vec![Reply::Calls("go", calls), Reply::Text("done")]);
    let mut agent = agent(empty(), &model).with_tools(tools);
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    let notes = notes.lock().unwrap();
    notes.clone()
}

#[tokio::test]
async fn a_call_that_may_change_something_waits_for_those_before_it_and_is_waited_for() {
    for pair in
        [["write", "bash"], ["bash", "write"], ["write", "read"], ["read", "write"], ["other", "bash"]]
    {
        assert_eq!(order_of(&pair).await, ["1 starts", "1 ends", "2 starts", "2 ends"], "{pair:?}");
    }
    let order = order_of(&["read", "read", "write", "read", "read"]).await;
    let spans = [["1 starts", "2 starts"], ["1 ends", "2 ends"], ["3 starts", "3 ends"]].concat();
    assert_eq!(order[..6], spans);
    assert_eq!(order[6..], ["4 starts", "5 starts", "4 ends", "5 ends"]);
}

#[tokio::test]
async fn no_call_of_a_cut_off_answer_runs_and_the_limit_is_reported_to_the_model() {
    let cut = Reply::CutCalls(
        "look",
        vec![("c1", "echo", r#"{"text": "whole"}"#), ("c2", "echo", r#"{"text": "ha"#)],
    );
    let model = Scripted::new(vec![cut, Reply::Text("shorter now")]);
    let tool = Arc::new(Echo::default());
    let mut agent = agent(empty(), &model).with_tools(only(tool.clone()));
    assert_eq!(agent.prompt(prompt("go"), &Cancel::new()).await.unwrap(), Outcome::Done);
    assert_eq!(tool.runs.load(Ordering::Relaxed), 0);
    let asked = model.asked(1);
    assert_eq!(asked.len(), 4, "{asked:?}");
    for result in &asked[2..] {
        assert!(result.starts_with("toolResult: ") && result.contains("output limit"), "{result}");
    }
}

#[tokio::test]
async fn a_model_that_is_cut_off_every_time_is_not_asked_for_ever() {
    let cut = || Reply::CutCalls("look", vec![("c1", "echo", r#"{"text": "ha"#)]);
    let model = Scripted::new((0..20).map(|_| cut()).collect());
    let mut agent = agent(empty(), &model).with_tools(only(Arc::new(Echo::default())));
    let outcome = agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    assert!(matches!(outcome, Outcome::Failed(ModelError::OutputLimit { .. })), "{outcome:?}");
    assert!(model.requests().len() < 10, "{}", model.requests().len());
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_an_error_for_the_model() {
    let model = Scripted::new(vec![calls(&["one"]), Reply::Text("oh")]);
    let mut agent = agent(empty(), &model);
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    assert!(model.asked(1)[2].starts_with("toolResult: there is no tool `echo`"), "{:?}", model.asked(1));
}

#[derive(Debug)]
struct RefuseAll;

impl Approver for RefuseAll {
    fn approve<'a>(&'a self, request: &'a ReadyCall) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        Box::pin(async { Approval::No(format!("{} is not allowed here", request.call.name)) })
    }
}

#[tokio::test]
async fn a_refused_call_does_not_run_and_the_model_gets_the_reason() {
    let model = Scripted::new(vec![calls(&["one"]), Reply::Text("oh")]);
    let tool = Arc::new(Echo::default());
    let mut agent = agent(empty(), &model).with_tools(only(tool.clone())).with_approver(Arc::new(RefuseAll));
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    assert_eq!(tool.runs.load(Ordering::Relaxed), 0);
    assert_eq!(model.asked(1)[2], "toolResult: echo is not allowed here");
}

#[tokio::test]
async fn extensions_change_what_a_tool_gets_and_gives_or_block_it() {
    let mut hooks = Hooks::new();
    hooks.on("changer", "tool_call", |payload, _| {
        let block = payload["input"]["text"] == "two";
        Box::pin(async move {
            Ok(if block {
                json!({"block": true, "reason": "no two"})
            } else {
                json!({"input": {"text": "ONE"}})
            })
        })
    });
    hooks.on("changer", "tool_result", |payload, _| {
        let text = payload["content"][0]["text"].as_str().unwrap().to_lowercase();
        Box::pin(async move { Ok(json!({"content": [{"type": "text", "text": format!("({text})")}]})) })
    });
    let model = Scripted::new(vec![calls(&["one", "two"]), Reply::Text("done")]);
    let mut agent = agent(empty(), &model).with_tools(only(Arc::new(Echo::default()))).with_hooks(hooks);
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    assert_eq!(model.asked(1)[2..], ["toolResult: (one)", "toolResult: (no two)"]);
}

#[tokio::test]
async fn messages_that_come_during_a_turn_are_sent_when_their_time_comes() {
    let model = Scripted::new(vec![calls(&["one"]), Reply::Text("first"), Reply::Text("second")]);
    let mut agent = agent(empty(), &model).with_tools(only(Arc::new(Echo::default())));
    let handle = agent.handle();
    handle.queue_prompt(Submission::typed("later"), Delivery::FollowUp);
    handle.queue_prompt(Submission::typed("sooner"), Delivery::Steer);
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    assert_eq!(model.asked(1).last().unwrap(), "user: sooner");
    assert_eq!(model.asked(2).last().unwrap(), "user: later");
}

#[tokio::test]
async fn a_prompt_is_sent_together_with_its_files() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes"), "the notes").unwrap();
    let model = Scripted::new(vec![calls(&["one"]), Reply::Text("first"), Reply::Text("second")]);
    let mut agent = Agent::new(empty(), dir.path())
        .with_model(model.clone(), ThinkingLevel::Off)
        .with_approver(allow_all())
        .with_tools(only(Arc::new(Echo::default())));
    let typed = "use @notes";
    let with_file = Submission { typed: typed.to_owned(), ..Submission::typed(typed) };
    agent.handle().queue_prompt(with_file, Delivery::Steer);
    agent.handle().queue_prompt(Submission::typed("more"), Delivery::Steer);
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    let asked = model.asked(1);
    assert_eq!(asked[3], "user: use @notes");
    assert!(asked[4].contains("the notes") && asked.len() == 5, "{asked:?}");
    assert_eq!(model.asked(2).last().unwrap(), "user: more");
}

#[tokio::test]
async fn queued_prompts_can_be_taken_back_while_tools_run() {
    let model = Scripted::new(vec![calls(&["one"]), Reply::Text("hello")]);
    let tool = Arc::new(Echo { hangs: true, ..Echo::default() });
    let agent = agent(empty(), &model).with_tools(only(tool.clone()));
    // The user types as soon as the answer starts.
    let (typist, is_typed) = (agent.handle(), AtomicBool::new(false));
    let watcher = Events::new(move |event| {
        let begins = matches!(event.event, AgentEvent::Answer(AnswerEvent::Begin { .. }));
        if begins && !is_typed.swap(true, Ordering::Relaxed) {
            typist.queue_prompt(Submission::typed("never mind"), Delivery::Steer);
        }
    });
    let mut agent = agent.with_events(watcher);
    let handle = agent.handle();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move {
        while tool.runs.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(handle.queue()[0].text, "never mind");
        assert_eq!(handle.take_back()[0].text, "never mind");
        assert!(handle.queue().is_empty());
        stop.cancel();
    });
    assert_eq!(agent.prompt(prompt("go"), &cancel).await.unwrap(), Outcome::Aborted);
    stopper.await.unwrap();
    let mut agent = agent.with_events(Events::default());
    agent.prompt(prompt("again"), &Cancel::new()).await.unwrap();
    assert_eq!(model.requests().len(), 2);
    assert_eq!(model.asked(1).last().unwrap(), "user: again");
}

#[tokio::test]
async fn prompts_that_a_cancelled_turn_did_not_take_stay_queued() {
    let model = Scripted::new(vec![calls(&["one"]), Reply::Text("first"), Reply::Text("second")]);
    let tool = Arc::new(Echo { hangs: true, ..Echo::default() });
    let mut agent = agent(empty(), &model).with_tools(only(tool));
    agent.handle().queue_prompt(Submission::typed("and this"), Delivery::Steer);
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    assert_eq!(agent.prompt(prompt("go"), &cancel).await.unwrap(), Outcome::Aborted);
    stopper.await.unwrap();
    agent.prompt(prompt("again"), &Cancel::new()).await.unwrap();
    assert_eq!(model.asked(1).last().unwrap(), "user: again");
    assert_eq!(model.asked(2).last().unwrap(), "user: and this");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_busy_is_asked_again_and_its_failures_are_not_sent() {
    let busy = || Reply::Fails("hal", overloaded());
    let model = Scripted::new(vec![busy(), busy(), Reply::Text("hello")]);
    let mut agent = agent(empty(), &model);
    let before = tokio::time::Instant::now();
    assert_eq!(agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap(), Outcome::Done);
    assert_eq!(before.elapsed().as_secs(), 6);
    assert_eq!(model.asked(2), ["user: hi"]);
    assert_eq!(path(&agent.session()), ["user: hi", "assistant: hal", "assistant: hal", "assistant: hello"]);
}

#[tokio::test(start_paused = true)]
async fn a_permanent_overload_is_reported_and_the_prompt_is_kept() {
    let model = Scripted::new(vec![Reply::Fails("", overloaded()), Reply::Fails("", overloaded())]);
    let retry = RetryPolicy { most: 1, first_delay: Duration::from_secs(1), ..RetryPolicy::default() };
    let mut agent = agent(empty(), &model).with_settings(Settings { retry, ..Settings::default() });
    let outcome = agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Failed(overloaded()));
    assert_eq!(path(&agent.session())[0], "user: hi");
}

#[tokio::test]
async fn an_aborted_answer_keeps_its_text_and_cost() {
    let model = Scripted::new(vec![Reply::Hangs("half a sen"), Reply::Text("hello")]);
    let mut agent = agent(empty(), &model);
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move {
        tokio::task::yield_now().await;
        stop.cancel();
    });
    assert_eq!(agent.prompt(prompt("hi"), &cancel).await.unwrap(), Outcome::Aborted);
    stopper.await.unwrap();
    assert_eq!(path(&agent.session()), ["user: hi", "assistant: half a sen"]);
    assert_eq!(usage_of(&agent.session())["input"], 10);
    // The next turn does not include the aborted answer.
    agent.prompt(prompt("again"), &Cancel::new()).await.unwrap();
    assert_eq!(model.asked(1), ["user: hi", "user: again"]);
}

#[tokio::test]
async fn cancelled_tools_leave_a_result_for_every_call() {
    let model = Scripted::new(vec![calls(&["one", "two"]), Reply::Text("hello")]);
    let tool = Arc::new(Echo { hangs: true, ..Echo::default() });
    let mut agent = agent(empty(), &model).with_tools(only(tool.clone()));
    let cancel = Cancel::new();
    let (stop, watched) = (cancel.clone(), tool.clone());
    let stopper = tokio::spawn(async move {
        while watched.runs.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    });
    assert_eq!(agent.prompt(prompt("go"), &cancel).await.unwrap(), Outcome::Aborted);
    stopper.await.unwrap();
    assert_eq!(path(&agent.session())[2..], ["toolResult: stopped", "toolResult: stopped"]);
    assert_eq!(tool.runs.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn without_a_model_nothing_is_written() {
    let mut agent = offshoot_agent::agent::Agent::new(empty(), "/w");
    let error = agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap_err();
    assert!(matches!(error, AgentError::NoModel), "{error}");
    assert!(agent.session().tree().is_empty());
}

#[tokio::test]
async fn the_request_of_the_next_turn_begins_with_the_bytes_of_the_last() {
    let model = Scripted::new(vec![calls(&["one"]), Reply::Text("a"), Reply::Text("b")]);
    let mut agent = agent(empty(), &model).with_tools(only(Arc::new(Echo::default())));
    agent.prompt(prompt("hi"), &Cancel::new()).await.unwrap();
    agent.prompt(prompt("more"), &Cancel::new()).await.unwrap();
    let requests = model.requests();
    for pair in requests.windows(2) {
        let bytes = |messages: &[session_tree::Message]| -> Vec<Vec<u8>> {
            messages.iter().map(|message| message.raw().to_vec()).collect()
        };
        let (before, after) = (bytes(&pair[0].messages), bytes(&pair[1].messages));
        assert_eq!(after[..before.len()], before);
        assert_eq!((&pair[0].system, &pair[0].tools), (&pair[1].system, &pair[1].tools));
    }
}

#[tokio::test]
async fn the_entry_of_an_answer_is_known_before_its_first_part() {
    let model = Scripted::new(vec![Reply::Text("one"), Reply::Text("two")]);
    let seen: Arc<Mutex<Vec<(bool, EntryId)>>> = Arc::default();
    let into = seen.clone();
    let events = Events::new(move |event| match &event.event {
        AgentEvent::TurnStart { entry, .. } => into.lock().unwrap().push((true, entry.clone())),
        AgentEvent::Message { id, message } if message.role() == Role::Assistant => {
            into.lock().unwrap().push((false, id.clone()));
        }
        _ => {}
    });
    let mut agent = agent(empty(), &model).with_events(events);
    for text in ["first", "second"] {
        agent.prompt(prompt(text), &Cancel::new()).await.unwrap();
    }
    let seen = seen.lock().unwrap();
    let (announced, stored): (Vec<_>, Vec<_>) = seen.iter().partition(|(is_announced, _)| *is_announced);
    let ids = |list: Vec<&(bool, EntryId)>| list.iter().map(|(_, id)| id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(announced), stored.len()), (ids(stored.clone()), 2));
}

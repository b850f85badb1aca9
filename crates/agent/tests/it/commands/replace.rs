//! Commands that replace the session: fork, clone, new, resume, import.

use std::path::Path;
use std::sync::{Arc, Mutex};

use offshoot_agent::agent::{Delivery, Submission};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, ForkRequest, MoveRequest, NewRequest, Reload, Replaced};
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::ThinkingLevel;
use serde_json::{Value as Json, json};
use session_tree::{Destination, ForkPosition, Session};
use testkit::drawing::session_text;

use super::{TestAgent, ids, note_all, open, options, refusing};
use crate::support::{Reply, empty, prompt};

/// Three prompts.
const TALK: &str = "
    a user one
    b<a assistant 1
    c<b user two
    d<c assistant 2
    e<d user three
    f<e assistant 3
";

fn files(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

fn name(path: &Path) -> Json {
    path.to_string_lossy().into()
}

#[tokio::test]
async fn a_fork_before_a_prompt_continues_in_a_new_file_with_events_in_order() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let fork = test.agent.plan_fork(&ForkRequest::at("c")).unwrap();
    assert_eq!(fork.position, ForkPosition::Before);
    let forked = test.agent.fork(fork, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(forked.editor_text.as_deref(), Some("two"));
    let file = forked.session_file.unwrap();
    assert_eq!(ids(&open(&file)), ["a", "b"]);
    assert_eq!(test.context(), ["user: one", "assistant: 1"]);
    assert_eq!(test.agent.session().file(), Some(&*file));
    let expected = [
        json!({"type": "session_before_fork", "entryId": "c", "position": "before"}),
        json!({"type": "session_shutdown", "reason": "fork", "targetSessionFile": name(&file)}),
        json!({"type": "session_start", "reason": "fork", "previousSessionFile": name(&test.file())}),
        json!({"type": "session_fork", "reason": "fork", "previousSessionFile": name(&test.file())}),
    ];
    assert_eq!(*test.seen.lock().unwrap(), expected);
    assert_eq!(test.appended(TALK), [json!(null); 0]);
}

#[tokio::test]
async fn a_fork_before_the_first_prompt_is_empty_and_has_no_file_yet() {
    let mut test = TestAgent::draw(TALK, vec![Reply::Text("again")]);
    let fork = test.agent.plan_fork(&ForkRequest::at("a")).unwrap();
    let forked = test.agent.fork(fork, options(), &Cancel::new()).await.unwrap().done().unwrap();
    let file = forked.session_file.unwrap();
    assert!(test.agent.session().tree().is_empty() && !file.exists());
    assert_eq!(test.agent.session().header().parent_session().unwrap(), test.file().to_string_lossy());
    test.agent.prompt(prompt("one, better"), &Cancel::new()).await.unwrap();
    assert!(file.exists());
}

#[tokio::test]
async fn only_prompts_can_be_forked_before() {
    let test = TestAgent::draw(TALK, vec![]);
    let request = ForkRequest { position: Some(ForkPosition::Before), ..ForkRequest::at("b") };
    assert_eq!(test.agent.plan_fork(&request).unwrap_err().to_string(), "Invalid entry ID for forking");
    let fork = test.agent.plan_fork(&ForkRequest::at("b")).unwrap();
    assert_eq!((fork.position, fork.plan.editor_text), (ForkPosition::At, None));
}

#[tokio::test]
async fn a_clone_has_the_position_of_the_session() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let planned =
        test.agent.plan_switch(&MoveRequest { exact: true, target: "d".into(), ..Default::default() });
    test.agent.go(planned.unwrap(), &Cancel::new()).await.unwrap();
    let clone = test.agent.plan_clone(None).unwrap();
    let cloned = test.agent.fork(clone, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(ids(&open(&cloned.session_file.unwrap())), ["a", "b", "c", "d"]);
    assert_eq!(cloned.editor_text, None);
    // The previous session has stored its position.
    assert_eq!(open(&test.file()).leaf_id().unwrap(), "d");
    assert!(test.agent.history().behind().is_empty());

    let test = TestAgent::draw("", vec![]);
    assert_eq!(test.agent.plan_clone(None).unwrap_err().to_string(), "Nothing to clone yet");
}

#[tokio::test]
async fn a_session_in_memory_forks_in_memory() {
    let mut session = empty();
    session.append(session_tree::Message::user("one")).unwrap();
    let mut agent = offshoot_agent::agent::Agent::new(session, "/w");
    let clone = agent.plan_clone(None).unwrap();
    assert_eq!(clone.to, Destination::Memory);
    let cloned = agent.fork(clone, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((cloned.session_file, agent.session().tree().len()), (None, 1));
}

#[tokio::test]
async fn a_fork_that_stays_creates_a_file_and_keeps_the_session() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let fork = test.agent.plan_fork(&ForkRequest { stay: true, ..ForkRequest::at("d") }).unwrap();
    let forked = test.agent.fork(fork, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(ids(&open(&forked.session_file.unwrap())), ["a", "b", "c", "d"]);
    assert_eq!(test.agent.session().file(), Some(&*test.file()));
    assert_eq!(test.events(), ["session_before_fork"]);
}

#[tokio::test]
async fn a_cancelled_replacement_creates_no_file_and_keeps_the_session() {
    let mut test = TestAgent::with_hooks(TALK, vec![], refusing("session_before_fork"));
    let fork = test.agent.plan_fork(&ForkRequest::at("c")).unwrap();
    let done = test.agent.fork(fork, options(), &Cancel::new()).await.unwrap();
    assert_eq!(done, Applied::Cancelled(CancelledBy::Hook("guard".into())));
    assert_eq!(files(test.dir.path()), 1);

    let mut test = TestAgent::with_hooks(TALK, vec![], refusing("session_before_switch"));
    let other = test.dir.path().join("other.jsonl");
    std::fs::write(&other, session_text("x user hi")).unwrap();
    let cancelled = Applied::Cancelled(CancelledBy::Hook("guard".into()));
    let cancel = Cancel::new();
    let planned = test.agent.plan_new(NewRequest::default(), options()).unwrap();
    assert_eq!(test.agent.replace_session(planned, &cancel).await.unwrap(), cancelled);
    let planned = test.agent.plan_resume(&other, options()).unwrap();
    assert_eq!(test.agent.replace_session(planned, &cancel).await.unwrap(), cancelled);
    let directory = test.dir.path().join("sessions");
    let import = test.agent.plan_import(&other, &directory, options()).unwrap();
    assert_eq!(test.agent.import(import, options(), &cancel).await.unwrap(), cancelled);
    assert!(!directory.exists());
    assert_eq!((test.agent.session().file(), files(test.dir.path())), (Some(&*test.file()), 2));
    assert_eq!(test.appended(TALK), [json!(null); 0]);
    assert!(!test.events().iter().any(|event| event == "session_shutdown"));
}

#[tokio::test]
async fn cancelling_during_the_hooks_keeps_the_session() {
    let mut hooks = Hooks::new();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    hooks.on("slow", "session_before_fork", move |_, _| {
        let stop = stop.clone();
        Box::pin(async move {
            stop.cancel();
            std::future::pending().await
        })
    });
    let mut test = TestAgent::with_hooks(TALK, vec![], hooks);
    let fork = test.agent.plan_fork(&ForkRequest::at("c")).unwrap();
    let done = test.agent.fork(fork, options(), &cancel).await.unwrap();
    assert_eq!((done, files(test.dir.path())), (Applied::Cancelled(CancelledBy::User), 1));
}

#[tokio::test]
async fn a_new_session_is_empty_and_drops_the_old_queue() {
    let mut test = TestAgent::draw(TALK, vec![Reply::Text("fresh")]);
    for delivery in [Delivery::Steer, Delivery::FollowUp, Delivery::AfterTurn, Delivery::NextTurn] {
        test.agent.handle().queue_prompt(Submission::typed("for the old one"), delivery);
    }
    let planned = test.agent.plan_new(NewRequest::default(), options()).unwrap();
    let replaced = test.agent.replace_session(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(replaced.previous_session_file, Some(test.file()));
    let expected = [
        json!({"type": "session_before_switch", "reason": "new", "targetSessionFile": null}),
        json!({
            "type": "session_shutdown", "reason": "new",
            "targetSessionFile": name(replaced.session_file.as_ref().unwrap()),
        }),
        json!({"type": "session_start", "reason": "new", "previousSessionFile": name(&test.file())}),
        json!({"type": "session_switch", "reason": "new", "previousSessionFile": name(&test.file())}),
    ];
    assert_eq!(*test.seen.lock().unwrap(), expected);
    test.agent.prompt(prompt("hello"), &Cancel::new()).await.unwrap();
    assert_eq!(test.context(), ["user: hello", "assistant: fresh"]);
    assert_eq!(test.agent.session().header().parent_session(), None);
}

#[tokio::test]
async fn a_resumed_session_restores_its_thinking_level_and_names_its_model() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let other = test.dir.path().join("other.jsonl");
    let drawing = "x user hi\ny<x model far/away\nz<y thinking high";
    std::fs::write(&other, session_text(drawing)).unwrap();
    let planned = test.agent.plan_resume(&other, options()).unwrap();
    assert_eq!(planned.session.tree().len(), 3);
    let replaced = test.agent.replace_session(planned, &Cancel::new()).await.unwrap().done().unwrap();
    let Replaced { model, other_cwd, session_file, .. } = replaced;
    assert_eq!(model.map(|model| model.model_id).as_deref(), Some("away"));
    assert_eq!((other_cwd, session_file), (None, Some(other.clone())));
    assert_eq!(test.agent.thinking(), ThinkingLevel::High);
    assert_eq!(test.context(), ["user: hi"]);
    assert_eq!(test.event("session_before_switch")["targetSessionFile"], name(&other));
    assert_eq!(test.event("session_switch")["reason"], "resume");
    assert_eq!(std::fs::read(other).unwrap(), session_text(drawing), "opening writes nothing");
}

#[tokio::test]
async fn a_file_that_is_no_session_is_refused_before_any_hook() {
    let test = TestAgent::draw(TALK, vec![]);
    let other = test.dir.path().join("other.jsonl");
    std::fs::write(&other, "hello").unwrap();
    test.agent.plan_resume(&other, options()).unwrap_err();
    test.agent.plan_resume(&test.dir.path().join("none"), options()).unwrap_err();
    test.agent.plan_import(&other, test.dir.path(), options()).unwrap_err();
    assert!(test.events().is_empty());
}

#[tokio::test]
async fn a_failed_fork_changes_nothing() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let taken = test.dir.path().join("taken.jsonl");
    std::fs::write(&taken, "mine").unwrap();
    let to = Some(Destination::File(taken.clone()));
    let fork = test.agent.plan_fork(&ForkRequest { to, ..ForkRequest::at("c") }).unwrap();
    test.agent.fork(fork, options(), &Cancel::new()).await.unwrap_err();
    assert_eq!(test.events(), ["session_before_fork"]);
    assert_eq!((std::fs::read(taken).unwrap(), test.appended(TALK)), (b"mine".to_vec(), vec![]));
    assert_eq!(test.agent.session().file(), Some(&*test.file()));
}

#[tokio::test]
async fn an_import_works_on_a_copy() {
    let mut test = TestAgent::draw(TALK, vec![Reply::Text("yes")]);
    let other = test.dir.path().join("other.jsonl");
    let text = session_text("x user hi");
    std::fs::write(&other, &text).unwrap();
    let directory = test.dir.path().join("sessions");
    std::fs::create_dir(&directory).unwrap();
    let import = test.agent.plan_import(&other, &directory, options()).unwrap();
    assert_eq!(import.source.tree().len(), 1);
    let replaced = test.agent.import(import, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(replaced.session_file, Some(directory.join("other.jsonl")));
    test.agent.prompt(prompt("more"), &Cancel::new()).await.unwrap();
    assert_eq!(std::fs::read(other).unwrap(), text);
    assert_eq!(Session::open_read_only(directory.join("other.jsonl")).unwrap().tree().len(), 3);
}

#[tokio::test]
async fn extensions_are_reloaded_between_shutdown_and_start() {
    let test = TestAgent::draw(TALK, vec![]);
    let (old, new) = (test.seen.clone(), Arc::new(Mutex::new(Vec::new())));
    let into = new.clone();
    let reload = Reload::new(move |session| {
        let mut hooks = Hooks::new();
        note_all(&mut hooks, &into);
        into.lock().unwrap().push(json!({"type": "loaded", "entries": session.tree().len()}));
        Box::pin(async { hooks.into() })
    });
    let mut agent = test.agent;
    agent.set_reload(reload);
    let clone = agent.plan_clone(None).unwrap();
    agent.fork(clone, options(), &Cancel::new()).await.unwrap();
    let names = |seen: &Mutex<Vec<Json>>| -> Vec<String> {
        seen.lock().unwrap().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&old), ["session_before_fork", "session_shutdown"]);
    assert_eq!(names(&new), ["loaded", "session_start", "session_fork"]);
}

#[tokio::test(start_paused = true)]
async fn an_extension_that_hangs_at_shutdown_is_abandoned() {
    let mut hooks = Hooks::new();
    hooks.on("clings", "session_shutdown", |_, _| Box::pin(std::future::pending()));
    let mut test = TestAgent::with_hooks(TALK, vec![], hooks);
    let planned = test.agent.plan_new(NewRequest::default(), options()).unwrap();
    test.agent.replace_session(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(test.events(), ["session_before_switch", "session_start", "session_switch"]);
}

#[tokio::test]
async fn an_agent_reports_start_and_shutdown_and_stores_its_position() {
    let mut test = TestAgent::draw(TALK, vec![]);
    test.agent.start(&Cancel::new()).await;
    let planned =
        test.agent.plan_switch(&MoveRequest { exact: true, target: "b".into(), ..Default::default() });
    test.agent.go(planned.unwrap(), &Cancel::new()).await.unwrap();
    let file = test.file();
    let seen = test.seen.clone();
    test.agent.quit().await;
    assert_eq!(open(&file).leaf_id().unwrap(), "b");
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["reason"], "startup");
    assert_eq!(seen.last().unwrap()["reason"], "quit");
}

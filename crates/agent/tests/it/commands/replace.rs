//! Commands that put another session into the place of the one at hand: fork, clone, new, resume, import.

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

use super::{Desk, ids, note_all, open, options, refusing};
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
async fn a_fork_before_a_prompt_goes_on_in_a_new_file_and_tells_everybody_in_order() {
    let mut desk = Desk::draw(TALK, vec![]);
    let fork = desk.agent.plan_fork(&ForkRequest::at("c")).unwrap();
    assert_eq!(fork.position, ForkPosition::Before);
    let forked = desk.agent.fork(fork, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(forked.editor_text.as_deref(), Some("two"));
    let file = forked.session_file.unwrap();
    assert_eq!(ids(&open(&file)), ["a", "b"]);
    assert_eq!(desk.context(), ["user: one", "assistant: 1"]);
    assert_eq!(desk.agent.session().file(), Some(&*file));
    let expected = [
        json!({"type": "session_before_fork", "entryId": "c", "position": "before"}),
        json!({"type": "session_shutdown", "reason": "fork", "targetSessionFile": name(&file)}),
        json!({"type": "session_start", "reason": "fork", "previousSessionFile": name(&desk.file())}),
        json!({"type": "session_fork", "reason": "fork", "previousSessionFile": name(&desk.file())}),
    ];
    assert_eq!(*desk.seen.lock().unwrap(), expected);
    assert_eq!(desk.appended(TALK), [json!(null); 0]);
}

#[tokio::test]
async fn a_fork_before_the_first_prompt_is_empty_and_has_no_file_yet() {
    let mut desk = Desk::draw(TALK, vec![Reply::Text("again")]);
    let fork = desk.agent.plan_fork(&ForkRequest::at("a")).unwrap();
    let forked = desk.agent.fork(fork, options(), &Cancel::new()).await.unwrap().done().unwrap();
    let file = forked.session_file.unwrap();
    assert!(desk.agent.session().tree().is_empty() && !file.exists());
    assert_eq!(desk.agent.session().header().parent_session().unwrap(), desk.file().to_string_lossy());
    desk.agent.prompt(prompt("one, better"), &Cancel::new()).await.unwrap();
    assert!(file.exists());
}

#[tokio::test]
async fn only_prompts_can_be_forked_before() {
    let desk = Desk::draw(TALK, vec![]);
    let request = ForkRequest { position: Some(ForkPosition::Before), ..ForkRequest::at("b") };
    assert_eq!(desk.agent.plan_fork(&request).unwrap_err().to_string(), "Invalid entry ID for forking");
    let fork = desk.agent.plan_fork(&ForkRequest::at("b")).unwrap();
    assert_eq!((fork.position, fork.plan.editor_text), (ForkPosition::At, None));
}

#[tokio::test]
async fn a_clone_stands_where_the_session_stands() {
    let mut desk = Desk::draw(TALK, vec![]);
    let planned =
        desk.agent.plan_switch(&MoveRequest { exact: true, target: "d".into(), ..Default::default() });
    desk.agent.go(planned.unwrap(), &Cancel::new()).await.unwrap();
    let clone = desk.agent.plan_clone(None).unwrap();
    let cloned = desk.agent.fork(clone, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(ids(&open(&cloned.session_file.unwrap())), ["a", "b", "c", "d"]);
    assert_eq!(cloned.editor_text, None);
    // Who comes back to the old session finds the place that was left.
    assert_eq!(open(&desk.file()).leaf_id().unwrap(), "d");
    assert!(desk.agent.history().behind().is_empty());

    let desk = Desk::draw("", vec![]);
    assert_eq!(desk.agent.plan_clone(None).unwrap_err().to_string(), "Nothing to clone yet");
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
async fn who_stays_gets_a_file_and_nobody_is_told_of_a_change() {
    let mut desk = Desk::draw(TALK, vec![]);
    let fork = desk.agent.plan_fork(&ForkRequest { stay: true, ..ForkRequest::at("d") }).unwrap();
    let forked = desk.agent.fork(fork, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(ids(&open(&forked.session_file.unwrap())), ["a", "b", "c", "d"]);
    assert_eq!(desk.agent.session().file(), Some(&*desk.file()));
    assert_eq!(desk.events(), ["session_before_fork"]);
}

#[tokio::test]
async fn what_is_not_wanted_makes_no_file_and_keeps_the_session() {
    let mut desk = Desk::with_hooks(TALK, vec![], refusing("session_before_fork"));
    let fork = desk.agent.plan_fork(&ForkRequest::at("c")).unwrap();
    let done = desk.agent.fork(fork, options(), &Cancel::new()).await.unwrap();
    assert_eq!(done, Applied::Cancelled(CancelledBy::Hook("guard".into())));
    assert_eq!(files(desk.dir.path()), 1);

    let mut desk = Desk::with_hooks(TALK, vec![], refusing("session_before_switch"));
    let other = desk.dir.path().join("other.jsonl");
    std::fs::write(&other, session_text("x user hi")).unwrap();
    let cancelled = Applied::Cancelled(CancelledBy::Hook("guard".into()));
    let cancel = Cancel::new();
    let planned = desk.agent.plan_new(NewRequest::default(), options()).unwrap();
    assert_eq!(desk.agent.replace_session(planned, &cancel).await.unwrap(), cancelled);
    let planned = desk.agent.plan_resume(&other, options()).unwrap();
    assert_eq!(desk.agent.replace_session(planned, &cancel).await.unwrap(), cancelled);
    let directory = desk.dir.path().join("sessions");
    let import = desk.agent.plan_import(&other, &directory, options()).unwrap();
    assert_eq!(desk.agent.import(import, options(), &cancel).await.unwrap(), cancelled);
    assert!(!directory.exists());
    assert_eq!((desk.agent.session().file(), files(desk.dir.path())), (Some(&*desk.file()), 2));
    assert_eq!(desk.appended(TALK), [json!(null); 0]);
    assert!(!desk.events().iter().any(|event| event == "session_shutdown"));
}

#[tokio::test]
async fn who_stops_while_extensions_are_asked_stays() {
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
    let mut desk = Desk::with_hooks(TALK, vec![], hooks);
    let fork = desk.agent.plan_fork(&ForkRequest::at("c")).unwrap();
    let done = desk.agent.fork(fork, options(), &cancel).await.unwrap();
    assert_eq!((done, files(desk.dir.path())), (Applied::Cancelled(CancelledBy::User), 1));
}

#[tokio::test]
async fn a_new_session_is_empty_and_drops_what_waited_for_the_old_one() {
    let mut desk = Desk::draw(TALK, vec![Reply::Text("fresh")]);
    for delivery in [Delivery::Steer, Delivery::FollowUp, Delivery::AfterTurn, Delivery::NextTurn] {
        desk.agent.handle().queue_prompt(Submission::typed("for the old one"), delivery);
    }
    let planned = desk.agent.plan_new(NewRequest::default(), options()).unwrap();
    let replaced = desk.agent.replace_session(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(replaced.previous_session_file, Some(desk.file()));
    let expected = [
        json!({"type": "session_before_switch", "reason": "new", "targetSessionFile": null}),
        json!({
            "type": "session_shutdown", "reason": "new",
            "targetSessionFile": name(replaced.session_file.as_ref().unwrap()),
        }),
        json!({"type": "session_start", "reason": "new", "previousSessionFile": name(&desk.file())}),
        json!({"type": "session_switch", "reason": "new", "previousSessionFile": name(&desk.file())}),
    ];
    assert_eq!(*desk.seen.lock().unwrap(), expected);
    desk.agent.prompt(prompt("hello"), &Cancel::new()).await.unwrap();
    assert_eq!(desk.context(), ["user: hello", "assistant: fresh"]);
    assert_eq!(desk.agent.session().header().parent_session(), None);
}

#[tokio::test]
async fn a_resumed_session_brings_its_thinking_level_and_names_its_model() {
    let mut desk = Desk::draw(TALK, vec![]);
    let other = desk.dir.path().join("other.jsonl");
    let drawing = "x user hi\ny<x model far/away\nz<y thinking high";
    std::fs::write(&other, session_text(drawing)).unwrap();
    let planned = desk.agent.plan_resume(&other, options()).unwrap();
    assert_eq!(planned.session.tree().len(), 3);
    let replaced = desk.agent.replace_session(planned, &Cancel::new()).await.unwrap().done().unwrap();
    let Replaced { model, other_cwd, session_file, .. } = replaced;
    assert_eq!(model.map(|model| model.model_id).as_deref(), Some("away"));
    assert_eq!((other_cwd, session_file), (None, Some(other.clone())));
    assert_eq!(desk.agent.thinking(), ThinkingLevel::High);
    assert_eq!(desk.context(), ["user: hi"]);
    assert_eq!(desk.event("session_before_switch")["targetSessionFile"], name(&other));
    assert_eq!(desk.event("session_switch")["reason"], "resume");
    assert_eq!(std::fs::read(other).unwrap(), session_text(drawing), "opening writes nothing");
}

#[tokio::test]
async fn a_file_that_is_no_session_is_refused_before_anybody_is_asked() {
    let desk = Desk::draw(TALK, vec![]);
    let other = desk.dir.path().join("other.jsonl");
    std::fs::write(&other, "hello").unwrap();
    desk.agent.plan_resume(&other, options()).unwrap_err();
    desk.agent.plan_resume(&desk.dir.path().join("none"), options()).unwrap_err();
    desk.agent.plan_import(&other, desk.dir.path(), options()).unwrap_err();
    assert!(desk.events().is_empty());
}

#[tokio::test]
async fn a_fork_that_cannot_be_written_leaves_everything_as_it_was() {
    let mut desk = Desk::draw(TALK, vec![]);
    let taken = desk.dir.path().join("taken.jsonl");
    std::fs::write(&taken, "mine").unwrap();
    let to = Some(Destination::File(taken.clone()));
    let fork = desk.agent.plan_fork(&ForkRequest { to, ..ForkRequest::at("c") }).unwrap();
    desk.agent.fork(fork, options(), &Cancel::new()).await.unwrap_err();
    assert_eq!(desk.events(), ["session_before_fork"]);
    assert_eq!((std::fs::read(taken).unwrap(), desk.appended(TALK)), (b"mine".to_vec(), vec![]));
    assert_eq!(desk.agent.session().file(), Some(&*desk.file()));
}

#[tokio::test]
async fn an_import_works_on_a_copy() {
    let mut desk = Desk::draw(TALK, vec![Reply::Text("yes")]);
    let other = desk.dir.path().join("other.jsonl");
    let text = session_text("x user hi");
    std::fs::write(&other, &text).unwrap();
    let directory = desk.dir.path().join("sessions");
    std::fs::create_dir(&directory).unwrap();
    let import = desk.agent.plan_import(&other, &directory, options()).unwrap();
    assert_eq!(import.source.tree().len(), 1);
    let replaced = desk.agent.import(import, options(), &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(replaced.session_file, Some(directory.join("other.jsonl")));
    desk.agent.prompt(prompt("more"), &Cancel::new()).await.unwrap();
    assert_eq!(std::fs::read(other).unwrap(), text);
    assert_eq!(Session::open_read_only(directory.join("other.jsonl")).unwrap().tree().len(), 3);
}

#[tokio::test]
async fn extensions_are_loaded_anew_between_the_farewell_and_the_start() {
    let desk = Desk::draw(TALK, vec![]);
    let (old, new) = (desk.seen.clone(), Arc::new(Mutex::new(Vec::new())));
    let into = new.clone();
    let reload = Reload::new(move |session| {
        let mut hooks = Hooks::new();
        note_all(&mut hooks, &into);
        into.lock().unwrap().push(json!({"type": "loaded", "entries": session.tree().len()}));
        Box::pin(async { hooks.into() })
    });
    let mut agent = desk.agent;
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
async fn an_extension_that_does_not_want_to_go_is_left_behind() {
    let mut hooks = Hooks::new();
    hooks.on("clings", "session_shutdown", |_, _| Box::pin(std::future::pending()));
    let mut desk = Desk::with_hooks(TALK, vec![], hooks);
    let planned = desk.agent.plan_new(NewRequest::default(), options()).unwrap();
    desk.agent.replace_session(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(desk.events(), ["session_before_switch", "session_start", "session_switch"]);
}

#[tokio::test]
async fn an_agent_says_hello_and_farewell_and_keeps_its_place() {
    let mut desk = Desk::draw(TALK, vec![]);
    desk.agent.start(&Cancel::new()).await;
    let planned =
        desk.agent.plan_switch(&MoveRequest { exact: true, target: "b".into(), ..Default::default() });
    desk.agent.go(planned.unwrap(), &Cancel::new()).await.unwrap();
    let file = desk.file();
    let seen = desk.seen.clone();
    desk.agent.quit().await;
    assert_eq!(open(&file).leaf_id().unwrap(), "b");
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["reason"], "startup");
    assert_eq!(seen.last().unwrap()["reason"], "quit");
}

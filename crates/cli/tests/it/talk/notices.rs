//! The messages of print mode on standard error: why an answer is missing, short or late.

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, ScriptedStop};

use super::set_up;
use crate::support::{Home, Run};

/// Runs one prompt against a server with these replies.
fn ask(replies: impl IntoIterator<Item = Reply>, arguments: &[&str]) -> Run {
    let server = ModelServer::start(replies).unwrap();
    let home = Home::new();
    set_up(&home, &server, "anthropic-messages");
    home.run(&[&["-p", "go"], arguments].concat())
}

#[test]
fn a_call_that_is_refused_for_permission_is_reported() {
    for mode in ["text", "json"] {
        let call = Reply::answer().call("call_1", "bash", json!({"command": "touch made"}));
        let run = ask([call, Reply::answer().text("oh")], &["--mode", mode]);
        assert!(run.ok().contains("oh"), "{run}");
        assert!(run.err().contains("`bash` was not run: not allowed"), "{mode}: {run}");
    }
}

#[test]
fn an_answer_that_is_cut_off_or_empty_is_reported() {
    let run = ask([Reply::answer().text("half an ans").stop(ScriptedStop::Length)], &[]);
    assert_eq!(run.ok(), "half an ans\n");
    assert!(run.err().contains("cut off at the output limit"), "{run}");
    let run = ask([Reply::answer()], &[]);
    assert_eq!(run.ok(), "");
    assert!(run.err().contains("the answer of the model is empty"), "{run}");
    let run = ask([Reply::answer().text("fine")], &[]);
    assert_eq!((run.ok(), run.err()), ("fine\n", ""));
}

#[test]
fn a_wait_before_another_attempt_is_reported_with_its_cause() {
    let run = ask([Reply::error(529, "overloaded"), Reply::answer().text("at last")], &[]);
    assert_eq!(run.ok(), "at last\n");
    assert!(run.err().contains("overloaded") && run.err().contains("ask again in"), "{run}");
}

#[test]
fn a_call_that_the_output_limit_cut_off_does_not_run() {
    let call = Reply::answer().call("call_1", "bash", json!({"command": "touch made"}));
    let server = ModelServer::start([call.stop(ScriptedStop::Length), Reply::answer().text("oh")]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "anthropic-messages");
    let run = home.run(&["-p", "go", "--yes"]);
    assert_eq!(run.ok(), "oh\n");
    assert!(!home.path("project/made").exists());
    assert!(server.requests()[1].body.to_string().contains("output limit"));
}

#[test]
fn an_overflow_is_survived_although_every_summary_request_fails() {
    let home = Home::new();
    let mut replies: Vec<Reply> = Vec::new();
    replies.extend([Reply::answer().text("one"), Reply::overflow()]);
    // The summary request and its retries.
    replies.extend((0..3).map(|_| Reply::error(500, "broken")));
    replies.push(Reply::answer().text("two"));
    let server = ModelServer::start(replies).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let long = "word ".repeat(30_000);
    home.run_with_input(&["-p", "first"], long.as_bytes()).ok();
    let run = home.run(&["-c", "-p", "second"]);
    assert_eq!(run.ok(), "two\n", "{run}");
    assert!(run.err().contains("an extract of the conversation") && run.err().contains("broken"), "{run}");
}

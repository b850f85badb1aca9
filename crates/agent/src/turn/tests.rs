use session_tree::Timestamp;

use super::*;

fn message(text: &str) -> Message {
    Message::user(text, Timestamp::from_millis(0))
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "read".into(), arguments: serde_json::json!({}) }
}

fn turn() -> Turn {
    Turn::new(RetryPolicy::default(), QueueMode::OneAtATime, QueueMode::OneAtATime)
}

fn begin(text: &str) -> Input {
    Input::Begin(vec![message(text)])
}

fn answered(text: &str, calls: &[&str]) -> Input {
    Input::Answered { message: message(text), calls: calls.iter().map(|id| call(id)).collect() }
}

fn failed(error: ModelError) -> Input {
    Input::Failed { message: message("failed"), error }
}

fn overloaded() -> ModelError {
    ModelError::Service { service: "s".into(), status: 529, message: "busy".into(), retry_after: None }
}

fn overflow() -> ModelError {
    ModelError::Overflow { message: "too long".into() }
}

/// Spells effects as words, so that a test reads as a story.
fn words(effects: &[Effect]) -> String {
    let word = |effect: &Effect| match effect {
        Effect::Append(message) => format!("append({})", message.text()),
        Effect::Barrier => "barrier".into(),
        Effect::Ask => "ask".into(),
        Effect::WatchContext => "watch".into(),
        Effect::CompactAfterOverflow => "compact".into(),
        Effect::RunTools(calls) => {
            format!("run({})", calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>().join(","))
        }
        Effect::Wait { delay, attempt, .. } => format!("wait({}s,{attempt})", delay.as_secs()),
        Effect::End(Outcome::Done) => "done".into(),
        Effect::End(Outcome::Aborted) => "aborted".into(),
        Effect::End(Outcome::Failed(_)) => "failed".into(),
    };
    effects.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Plays inputs and gives what was to be done after each.
fn play(turn: &mut Turn, inputs: Vec<Input>) -> Vec<String> {
    inputs.into_iter().map(|input| words(&turn.step(input))).collect()
}

#[test]
fn a_prompt_is_on_the_disk_before_the_request_leaves() {
    assert_eq!(
        play(&mut turn(), vec![begin("hi"), answered("hello", &[])]),
        ["append(hi) barrier ask", "append(hello) barrier done"]
    );
}

#[test]
fn a_call_is_on_the_disk_before_it_runs_and_its_result_before_the_next_request() {
    let results = Input::ToolsDone(vec![message("r1"), message("r2")]);
    assert_eq!(
        play(&mut turn(), vec![begin("hi"), answered("look", &["c1", "c2"]), results, answered("done", &[])]),
        [
            "append(hi) barrier ask",
            "append(look) barrier run(c1,c2)",
            "append(r1) append(r2) barrier watch ask",
            "append(done) barrier done",
        ]
    );
}

#[test]
fn a_steering_message_comes_after_the_running_tools_and_a_follow_up_after_the_answer() {
    let mut turn = turn();
    play(&mut turn, vec![begin("hi"), answered("look", &["c1"])]);
    turn.follow_up(message("later"));
    turn.steer(message("sooner"));
    assert_eq!(turn.waiting(), (1, 1));
    assert_eq!(
        play(
            &mut turn,
            vec![Input::ToolsDone(vec![message("r")]), answered("one", &[]), answered("two", &[]),]
        ),
        [
            "append(r) barrier watch append(sooner) barrier ask",
            "append(one) watch append(later) barrier ask",
            "append(two) barrier done",
        ]
    );
}

#[test]
fn messages_that_wait_go_one_by_one_or_all_together() {
    for (mode, expected) in [
        (QueueMode::OneAtATime, "append(a) watch append(x) barrier ask"),
        (QueueMode::All, "append(a) watch append(x) append(y) barrier ask"),
    ] {
        let mut turn = Turn::new(RetryPolicy::default(), QueueMode::OneAtATime, mode);
        play(&mut turn, vec![begin("hi")]);
        turn.follow_up(message("x"));
        turn.follow_up(message("y"));
        assert_eq!(play(&mut turn, vec![answered("a", &[])]), [expected]);
    }
}

#[test]
fn a_failure_that_may_pass_is_met_with_patience_and_then_told() {
    let once = || failed(overloaded());
    let inputs =
        vec![begin("hi"), once(), Input::Waited, once(), Input::Waited, once(), Input::Waited, once()];
    assert_eq!(
        play(&mut turn(), inputs),
        [
            "append(hi) barrier ask",
            "append(failed) wait(2s,1)",
            "ask",
            "append(failed) wait(4s,2)",
            "ask",
            "append(failed) wait(8s,3)",
            "ask",
            "append(failed) barrier failed",
        ]
    );
}

#[test]
fn an_answer_forgets_the_failures_before_it() {
    let mut turn = turn();
    play(&mut turn, vec![begin("hi"), failed(overloaded()), Input::Waited, answered("look", &["c"])]);
    let again = vec![Input::ToolsDone(vec![]), failed(overloaded())];
    assert_eq!(play(&mut turn, again), ["barrier watch ask", "append(failed) wait(2s,1)"]);
}

#[test]
fn a_service_that_says_when_to_come_back_is_believed_within_reason() {
    let limit = |seconds| ModelError::RateLimit {
        service: "s".into(),
        message: "slow down".into(),
        retry_after: Some(Duration::from_secs(seconds)),
    };
    let mut turn = turn();
    play(&mut turn, vec![begin("hi")]);
    assert_eq!(play(&mut turn, vec![failed(limit(30))]), ["append(failed) wait(30s,1)"]);
    play(&mut turn, vec![Input::Waited]);
    assert_eq!(play(&mut turn, vec![failed(limit(3_600))]), ["append(failed) barrier failed"]);
}

#[test]
fn a_failure_that_stays_is_told_at_once() {
    let error = ModelError::Key { service: "s".into(), message: "no".into() };
    assert_eq!(
        play(&mut turn(), vec![begin("hi"), failed(error)]),
        ["append(hi) barrier ask", "append(failed) barrier failed"]
    );
}

#[test]
fn an_overflow_is_met_by_one_compaction_and_one_more_try() {
    let inputs = vec![begin("hi"), failed(overflow()), Input::Compacted(true), failed(overflow())];
    assert_eq!(
        play(&mut turn(), inputs),
        ["append(hi) barrier ask", "append(failed) barrier compact", "ask", "append(failed) barrier failed",]
    );
}

#[test]
fn an_overflow_that_cannot_be_compacted_is_told() {
    let inputs = vec![begin("hi"), failed(overflow()), Input::Compacted(false)];
    assert_eq!(play(&mut turn(), inputs)[2], "barrier failed");
}

#[test]
fn a_stop_keeps_what_there_was_and_leaves_the_waiting_messages_to_be_taken_back() {
    for before in [
        vec![begin("hi")],
        vec![begin("hi"), answered("look", &["c"])],
        vec![begin("hi"), failed(overloaded())],
    ] {
        let mut turn = turn();
        play(&mut turn, before);
        turn.steer(message("s"));
        assert_eq!(
            play(&mut turn, vec![Input::Aborted(vec![message("half")])]),
            ["append(half) barrier aborted"]
        );
        assert!(!turn.is_running());
        assert_eq!(turn.take_waiting().len(), 1);
    }
    assert_eq!(play(&mut turn(), vec![Input::Aborted(vec![])]), [""]);
}

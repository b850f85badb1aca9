use session_tree::Timestamp;

use super::*;

fn message(text: &str) -> Message {
    Message::user(text).with_time(Timestamp::from_millis(0))
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "read".into(), arguments: serde_json::json!({}) }
}

fn turn() -> Turn {
    Turn::new(RetryPolicy::default())
}

fn begin(text: &str) -> Input {
    Input::Begin(vec![message(text)])
}

fn answered(text: &str, calls: &[&str]) -> Input {
    Input::Answered {
        message: message(text),
        calls: calls.iter().map(|id| call(id)).collect(),
        is_cut: false,
    }
}

fn cut(text: &str, calls: &[&str]) -> Input {
    Input::Answered { message: message(text), calls: calls.iter().map(|id| call(id)).collect(), is_cut: true }
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

fn ids(calls: &[ToolCall]) -> String {
    calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>().join(",")
}

/// Formats effects as words.
fn words(effects: &[Effect]) -> String {
    let word = |effect: &Effect| match effect {
        Effect::Append(message) => format!("append({})", message.text()),
        Effect::Barrier => "barrier".into(),
        Effect::Ask => "ask".into(),
        Effect::TakeWaiting(Moment::AfterTools) => "take(tools)".into(),
        Effect::TakeWaiting(Moment::AfterAnswer) => "take(answer)".into(),
        Effect::CompactAfterOverflow { keep: Keep::Default } => "compact".into(),
        Effect::CompactAfterOverflow { keep: Keep::Minimum } => "compact(least)".into(),
        Effect::RunTools(calls) => format!("run({})", ids(calls)),
        Effect::RefuseCutCalls(calls) => format!("refuse({})", ids(calls)),
        Effect::Wait { delay, attempt, .. } => format!("wait({}s,{attempt})", delay.as_secs()),
        Effect::End(Outcome::Done) => "done".into(),
        Effect::End(Outcome::Aborted) => "aborted".into(),
        Effect::End(Outcome::Failed(_)) => "failed".into(),
    };
    effects.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Feeds inputs to the machine and returns the effects of each.
fn play(turn: &mut Turn, inputs: Vec<Input>) -> Vec<String> {
    inputs.into_iter().map(|input| words(&turn.step(input))).collect()
}

#[test]
fn a_prompt_is_on_the_disk_before_the_request_leaves() {
    assert_eq!(
        play(&mut turn(), vec![begin("hi"), answered("hello", &[]), Input::NothingWaits]),
        ["append(hi) barrier ask", "append(hello) barrier take(answer)", "barrier done"]
    );
}

#[test]
fn a_call_is_on_the_disk_before_it_runs_and_its_result_before_the_next_request() {
    let results = Input::ToolsDone(vec![message("r1"), message("r2")]);
    let inputs = vec![begin("hi"), answered("look", &["c1", "c2"]), results, Input::Taken(vec![])];
    assert_eq!(
        play(&mut turn(), inputs),
        [
            "append(hi) barrier ask",
            "append(look) barrier run(c1,c2)",
            "append(r1) append(r2) barrier take(tools)",
            "ask",
        ]
    );
}

#[test]
fn waiting_messages_are_sent_after_the_running_tools_and_after_the_answer() {
    let taken = |texts: &[&str]| Input::Taken(texts.iter().map(|text| message(text)).collect());
    let mut turn = turn();
    play(&mut turn, vec![begin("hi"), answered("look", &["c1"]), Input::ToolsDone(vec![])]);
    assert_eq!(
        play(
            &mut turn,
            vec![
                taken(&["prompt", "file"]),
                answered("one", &[]),
                taken(&["later"]),
                answered("two", &[]),
                // An extension requests another answer.
                taken(&[]),
            ]
        ),
        [
            "append(prompt) append(file) barrier ask",
            "append(one) barrier take(answer)",
            "append(later) barrier ask",
            "append(two) barrier take(answer)",
            "ask",
        ]
    );
}

#[test]
fn a_transient_failure_is_retried_and_then_reported() {
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
fn an_answer_resets_the_count_of_failures() {
    let mut turn = turn();
    play(&mut turn, vec![begin("hi"), failed(overloaded()), Input::Waited, answered("look", &["c"])]);
    let again = vec![Input::ToolsDone(vec![]), Input::Taken(vec![]), failed(overloaded())];
    assert_eq!(play(&mut turn, again), ["barrier take(tools)", "ask", "append(failed) wait(2s,1)"]);
}

#[test]
fn the_requested_delay_of_a_service_is_respected_up_to_a_limit() {
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
fn a_permanent_failure_is_reported_at_once() {
    let error = ModelError::Key { service: "s".into(), message: "no".into() };
    assert_eq!(
        play(&mut turn(), vec![begin("hi"), failed(error)]),
        ["append(hi) barrier ask", "append(failed) barrier failed"]
    );
}

#[test]
fn an_overflow_causes_a_compaction_and_then_one_that_keeps_less() {
    let compacted = || Input::Compacted(Ok(()));
    let again = || failed(overflow());
    let inputs = vec![begin("hi"), again(), compacted(), again(), compacted(), again()];
    assert_eq!(
        play(&mut turn(), inputs),
        [
            "append(hi) barrier ask",
            "append(failed) barrier compact",
            "ask",
            "append(failed) barrier compact(least)",
            "ask",
            "append(failed) barrier failed",
        ]
    );
}

#[test]
fn an_overflow_that_cannot_be_compacted_is_reported() {
    let inputs = vec![begin("hi"), failed(overflow()), Input::Compacted(Err("why".into()))];
    assert_eq!(play(&mut turn(), inputs)[2], "barrier failed");
}

#[test]
fn a_cancelled_turn_keeps_its_messages() {
    for before in [
        vec![begin("hi")],
        vec![begin("hi"), answered("look", &["c"])],
        vec![begin("hi"), answered("hello", &[])],
        vec![begin("hi"), failed(overloaded())],
    ] {
        let mut turn = turn();
        play(&mut turn, before);
        assert_eq!(
            play(&mut turn, vec![Input::Aborted(vec![message("half")])]),
            ["append(half) barrier aborted"]
        );
        assert_eq!(turn.state, State::Idle);
    }
    assert_eq!(play(&mut turn(), vec![Input::Aborted(vec![])]), [""]);
}

#[test]
fn calls_of_a_cut_answer_are_refused_and_the_model_is_asked_again() {
    let results = || Input::ToolsDone(vec![message("cut")]);
    let mut turn = turn();
    assert_eq!(
        play(&mut turn, vec![begin("hi"), cut("look", &["c1"]), results(), Input::Taken(vec![])]),
        [
            "append(hi) barrier ask",
            "append(look) barrier refuse(c1)",
            "append(cut) barrier take(tools)",
            "ask"
        ]
    );
    play(&mut turn, vec![cut("look", &["c1"]), results(), Input::Taken(vec![])]);
    assert_eq!(
        play(&mut turn, vec![cut("look", &["c1"]), results()]),
        ["append(look) barrier refuse(c1)", "append(cut) barrier failed"],
        "a model that never gets shorter is not asked for ever"
    );
}

#[test]
fn a_cut_answer_without_calls_ends_the_turn() {
    assert_eq!(
        play(&mut turn(), vec![begin("hi"), cut("long", &[])])[1],
        "append(long) barrier take(answer)"
    );
}

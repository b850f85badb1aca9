//! Extensions that want to do harm. Whatever they try, their neighbour and the agent go on.

use std::time::Duration;

use offshoot_agent::agent::SummaryRequest;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::Handler;
use offshoot_agent::tool::{ToolCall, ToolOutput, ToolPlace};
use offshoot_extensions::Limits;
use serde_json::{Value as Json, json};

use crate::support::{Setup, Stage};

pub(crate) const NEIGHBOUR: &str = "export default (pi) => pi.on('x', () => ({ neighbour: 'fine' }));";

/// Loads a hostile extension and a harmless one.
pub(crate) async fn beside(hostile: &str, trusted: bool) -> Stage {
    limited(hostile, trusted, Limits::default().event).await
}

/// Loads a hostile extension that runs until it is stopped.
pub(crate) async fn endless(hostile: &str) -> Stage {
    limited(hostile, true, Duration::from_millis(300)).await
}

async fn limited(hostile: &str, trusted: bool, event: Duration) -> Stage {
    let limits = Limits {
        event,
        memory: 16 << 20,
        node_memory: 64 << 20,
        stuck: Duration::from_millis(100),
        messages: 50,
        ..Limits::default()
    };
    let setup = Setup { limits, trusted, ..Setup::default() };
    let stage = setup.with(&[("hostile.ts", hostile), ("neighbour.ts", NEIGHBOUR)]).await;
    assert_eq!(stage.errors, []);
    stage
}

/// Fires an event at it. What it answered, after its neighbour has been asked too.
pub(crate) async fn fired(stage: &Stage) -> Result<Json, String> {
    let hostile = stage.extensions.named("hostile").unwrap().clone();
    let answer = Handler::call(&hostile, "x", &json!({}), &Cancel::new()).await;
    let neighbour = stage.extensions.named("neighbour").unwrap().clone();
    let fine = Handler::call(&neighbour, "x", &json!({}), &Cancel::new()).await;
    assert_eq!(fine, Ok(json!({"neighbour": "fine"})));
    answer
}

pub(crate) fn assert_disabled(stage: &Stage, reason: &str) {
    let trouble =
        stage.troubles().into_iter().find(|trouble| trouble.disabled).expect("it is put out of use");
    assert_eq!((trouble.extension.as_str(), trouble.doing.as_str()), ("hostile", "event x"));
    assert!(trouble.message.contains(reason), "{trouble}");
    assert!(!stage.extensions.named("hostile").unwrap().wants("x"), "it is not called again");
}

#[tokio::test]
async fn an_endless_loop_is_ended() {
    let stage = endless(include_str!("../fixtures/hostile/endless-loop.ts")).await;
    assert!(fired(&stage).await.unwrap_err().contains("exceeded its time limit"));
    assert_disabled(&stage, "exceeded its time limit");
}

#[tokio::test]
async fn a_loop_that_catches_everything_and_one_that_awaits_are_ended_too() {
    for body in ["for (;;) { try { for (;;) {} } catch {} }", "for (;;) await null;"] {
        let stage = endless(&format!("export default (pi) => pi.on('x', async () => {{ {body} }});")).await;
        assert!(fired(&stage).await.is_err());
        assert_disabled(&stage, "exceeded its time limit");
    }
}

#[tokio::test]
async fn memory_that_is_never_given_back_has_an_end() {
    let text = include_str!("../fixtures/hostile/allocation.ts");
    let stage = limited(text, true, Duration::from_secs(60)).await;
    assert!(fired(&stage).await.is_err());
    assert_disabled(&stage, "memory");
}

#[tokio::test]
async fn endless_recursion_is_an_exception() {
    let stage = beside(include_str!("../fixtures/hostile/recursion.ts"), true).await;
    let error = fired(&stage).await.unwrap_err();
    assert!(error.contains("call stack"), "{error}");
    assert_eq!(stage.extensions.named("hostile").unwrap().disabled(), None, "it did no harm");
}

#[tokio::test]
async fn a_pattern_that_goes_back_forever_is_ended() {
    let stage = endless(include_str!("../fixtures/hostile/regex.ts")).await;
    assert!(fired(&stage).await.is_err());
    assert_disabled(&stage, "exceeded its time limit");
}

#[tokio::test]
async fn a_promise_that_nothing_can_keep_is_given_up() {
    let stage = beside(include_str!("../fixtures/hostile/never.ts"), true).await;
    let error = fired(&stage).await.unwrap_err();
    assert!(error.contains("waits for a promise that nothing can settle"), "{error}");
}

#[tokio::test]
async fn a_getter_that_throws_is_a_failure_of_its_own() {
    let stage = beside(include_str!("../fixtures/hostile/getter.ts"), true).await;
    let error = fired(&stage).await.unwrap_err();
    assert!(error.starts_with("gotcha"), "{error}");
}

#[tokio::test]
async fn changed_prototypes_change_nothing_outside() {
    let mut stage = beside(include_str!("../fixtures/hostile/pollution.ts"), true).await;
    drop(fired(&stage).await);
    let target = stage.user("first");
    stage.assistant("answer");
    let result = stage.navigate(&target, SummaryRequest::Skip).await;
    assert_eq!(result.cancelled_by(), None, "a forged field cancels nothing");
}

#[tokio::test]
async fn constructors_do_not_lead_to_the_host() {
    let stage = beside(include_str!("../fixtures/hostile/escape.ts"), false).await;
    let answer = fired(&stage).await.unwrap();
    let expected = ["nothing", "nothing", "refused", "refused", "refused", "refused", "nothing"];
    assert_eq!(answer["results"], json!(expected));
}

#[tokio::test]
async fn navigation_inside_of_navigation_is_refused() {
    let mut stage = beside(include_str!("../fixtures/hostile/reentrant.ts"), true).await;
    let target = stage.user("first");
    stage.assistant("answer");
    stage.command("keep").await.unwrap();
    let result = stage.navigate(&target, SummaryRequest::Skip).await;
    assert!(result.done().unwrap().moved);
    let notes = stage.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("info: refused at depth 1: an event handler cannot"), "{notes:?}");
}

#[tokio::test]
async fn an_answer_without_measure_is_refused() {
    let limits = Limits { answer: 1 << 20, ..Limits::default() };
    let text = include_str!("../fixtures/hostile/huge.ts");
    let stage =
        Setup { limits, ..Setup::default() }.with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    let error = fired(&stage).await.unwrap_err();
    assert!(error.contains("longer than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn a_flood_of_messages_is_stopped() {
    let stage = beside(include_str!("../fixtures/hostile/flood.ts"), true).await;
    let error = fired(&stage).await.unwrap_err();
    assert!(error.contains("at most 50 times"), "{error}");
    assert_eq!(stage.path().len(), 50);
}

#[tokio::test]
async fn the_program_cannot_be_ended() {
    let stage = beside(include_str!("../fixtures/hostile/exit.ts"), true).await;
    let error = fired(&stage).await.unwrap_err();
    assert!(error.contains("cannot end the program"), "{error}");
}

#[tokio::test]
async fn a_failure_that_nobody_waits_for_is_reported_with_its_name() {
    let text = "export default (pi) => pi.on('x', () => { (async () => { throw new Error('lost'); })(); });";
    let stage = beside(text, true).await;
    assert_eq!(fired(&stage).await, Ok(Json::Null));
    let troubles = stage.troubles();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].message.starts_with("lost"), "{troubles:?}");
    assert_eq!(troubles[0].extension, "hostile");
}

#[tokio::test]
async fn a_summary_without_measure_is_refused() {
    let text = "export default (pi) => pi.on('x', () => ({ summary: { summary: 'x'.repeat(2 ** 21) } }));";
    let stage = beside(text, true).await;
    assert!(fired(&stage).await.unwrap_err().contains("summary is longer than"));
}

#[tokio::test]
async fn who_merely_speaks_of_memory_is_not_at_its_end() {
    let text = "export default (pi) => pi.on('x', () => { throw new Error('CUDA out of memory'); });";
    let stage = beside(text, true).await;
    for _ in 0..2 {
        assert!(fired(&stage).await.unwrap_err().starts_with("CUDA out of memory"));
    }
    assert_eq!(stage.extensions.named("hostile").unwrap().disabled(), None);
}

/// Runs a tool whose call is stopped, or has to wait for events that together take longer than one may.
const SLOW: &str = "export default (pi) => {
    let done;
    pi.registerTool({ name: 't', description: '', parameters: {}, execute: () => new Promise((resolve) => {
        done = resolve; setInterval(() => {}, 5);
    }) });
    pi.on('busy', () => { const end = Date.now() + 60; while (Date.now() < end); });
    pi.on('end', () => done('done'));
}";

async fn slow() -> Stage {
    let limits = Limits { event: Duration::from_millis(500), ..Limits::default() };
    Setup { limits, ..Setup::default() }.with(&[("slow.ts", SLOW)]).await
}

async fn keep_busy(stage: &Stage) {
    for _ in 0..12 {
        stage.fire("busy", json!({})).await;
    }
    assert_eq!(stage.only().disabled(), None, "each of them was short");
}

async fn run_tool(stage: &Stage, cancel: Cancel) -> ToolOutput {
    let tool = stage.extensions.tools().remove(0);
    let call = ToolCall { id: "c".into(), name: "t".into(), arguments: json!({}) };
    let place = ToolPlace::new(stage.project(), cancel);
    tool.run(call, &place).await
}

#[tokio::test]
async fn a_call_that_was_stopped_and_did_not_end_costs_nothing_later() {
    let stage = slow().await;
    let cancel = Cancel::new();
    cancel.cancel();
    let output = run_tool(&stage, cancel).await;
    assert!(output.is_error, "{output:?}");
    keep_busy(&stage).await;
}

#[tokio::test]
async fn a_call_that_waits_does_not_pay_for_others() {
    let stage = slow().await;
    let events = async {
        keep_busy(&stage).await;
        stage.fire("end", json!({})).await;
    };
    let (output, ()) = tokio::join!(run_tool(&stage, Cancel::new()), events);
    assert!(!output.is_error, "{output:?}");
}

#[tokio::test]
async fn a_flood_of_what_others_should_hear_is_refused() {
    let flood = "export default (pi) => pi.on('x', () => { const much = 'y'.repeat(1e6); for (let i = 0; i < 100; i++) pi.events.emit('z', much); });";
    let busy = "import { existsSync, writeFileSync } from 'node:fs';
        export default (pi) => pi.on('y', () => { writeFileSync('busy', ''); while (!existsSync('go')); });";
    let limits = Limits { memory: 16 << 20, event: Duration::from_secs(20), ..Limits::default() };
    let stage = Setup { limits, ..Setup::default() }.with(&[("hostile.ts", flood), ("busy.ts", busy)]).await;
    let flooded = async {
        while !stage.project().join("busy").exists() {
            tokio::task::yield_now().await;
        }
        let hostile = stage.extensions.named("hostile").unwrap().clone();
        let answer = Handler::call(&hostile, "x", &json!({}), &Cancel::new()).await;
        std::fs::write(stage.project().join("go"), "").unwrap();
        answer
    };
    let (answer, _) = tokio::join!(flooded, stage.fire("y", json!({})));
    let error = answer.unwrap_err();
    assert!(error.contains("busy has too many unread messages"), "{error}");
}

#[tokio::test]
async fn a_flood_of_what_should_be_shown_is_refused() {
    for show in ["console.log(much)", "ctx.ui.notify(much)"] {
        let text = format!(
            "export default (pi) => pi.on('x', (e, ctx) => {{ const much = 'y'.repeat(1e6); for (let i = 0; i < 1e4; i++) {show}; }});"
        );
        let stage = beside(&text, true).await;
        let error = fired(&stage).await.unwrap_err();
        assert!(error.contains("may show at most"), "{show}: {error}");
    }
}

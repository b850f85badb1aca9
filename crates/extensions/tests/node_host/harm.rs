//! Extensions in Node that want to do harm. Whatever they try, their neighbour in the same child and the program continue.

use std::time::{Duration, Instant};

use offshoot_extensions::Limits;
use serde_json::json;

use crate::hostile::{NEIGHBOUR, assert_disabled, beside, endless, fired};
use crate::support::{Setup, Stage};

/// Waits until an extension is disabled. Returns the reason.
async fn disabled(stage: &Stage, name: &str) -> String {
    let begun = Instant::now();
    loop {
        if let Some(reason) = stage.extensions.named(name).unwrap().disabled() {
            return reason.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{name} is not disabled");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn assert_neighbour_is_fine(stage: &Stage) {
    assert_eq!(stage.fire("x", json!({})).await, json!({"neighbour": "fine"}));
}

/// Loads a hostile extension that cannot be loaded, and a harmless one. Returns the error.
async fn refused(text: &str) -> String {
    let limits =
        Limits { event: Duration::from_millis(300), stuck: Duration::from_millis(300), ..Limits::default() };
    let setup = Setup { limits, ..Setup::default() };
    let stage = setup.with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    assert_neighbour_is_fine(&stage).await;
    assert_eq!(stage.errors.len(), 1, "{:?}", stage.errors);
    assert!(stage.errors[0].path.ends_with("hostile.ts"), "{:?}", stage.errors);
    stage.errors[0].message.clone()
}

#[tokio::test]
async fn what_goes_wrong_at_load_is_an_error_of_that_extension() {
    for (text, reason) in [
        ("throw new Error('not today'); export default () => {};", "not today"),
        ("for (;;) {} export default () => {};", "exceeded its time limit"),
        ("process.exit(3); export default () => {};", "cannot end the program"),
        ("process.kill(process.pid, 'SIGKILL'); export default () => {};", "cannot end the program"),
        ("import { gone } from './gone'; export default () => gone;", "Cannot find module"),
        ("await new Promise(() => {}); export default () => {};", "promise that nothing can settle"),
        ("export default () => { for (;;) {} };", "exceeded its time limit"),
        ("export default 5;", "no default export that is a function"),
        ("export default (pi => {;", "hostile.ts:1:"),
    ] {
        let message = refused(text).await;
        assert!(message.contains(reason), "{text}: {message}");
    }
}

#[tokio::test]
async fn a_loop_that_no_call_waits_for_is_ended() {
    let stage =
        endless("export default (pi) => pi.on('x', () => { setTimeout(() => { for (;;) {} }, 50); });").await;
    fired(&stage).await.unwrap();
    assert!(disabled(&stage, "hostile").await.contains("exceeded its time limit"));
    assert_neighbour_is_fine(&stage).await;
}

#[tokio::test]
async fn memory_outside_of_the_heap_has_an_end() {
    let text = "const held = []; export default (pi) => pi.on('x', () => { for (;;) held.push(Buffer.alloc(16 << 20, 1)); });";
    let limits = Limits { node_memory: 64 << 20, event: Duration::from_secs(30), ..Limits::default() };
    let setup = Setup { limits, ..Setup::default() };
    let stage = setup.with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    assert_eq!(stage.errors, []);
    let hostile = stage.extensions.named("hostile").unwrap().clone();
    let call = offshoot_agent::hooks::Handler::call(&hostile, "x", &json!({}), &Default::default()).await;
    // The allocation fails, or the child ends and both extensions are reported.
    let error = call.unwrap_err();
    assert!(error.contains("llocation failed") || error.contains("process ended"), "{error}");
}

#[tokio::test]
async fn a_dying_child_is_reported_for_each_of_its_extensions() {
    let text = "import { execSync } from 'node:child_process'; export default (pi) => pi.on('x', () => { execSync(`kill -SEGV ${process.pid}`); });";
    let stage = Setup::default().with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    assert_eq!(stage.errors, []);
    let hostile = stage.extensions.named("hostile").unwrap().clone();
    let call = offshoot_agent::hooks::Handler::call(&hostile, "x", &json!({}), &Default::default()).await;
    assert!(call.unwrap_err().contains("its process ended (signal: 11"));
    assert!(disabled(&stage, "neighbour").await.contains("its process ended (signal: 11"));
    let mut named: Vec<String> = stage.troubles().into_iter().map(|trouble| trouble.extension).collect();
    named.sort();
    assert_eq!(named, ["hostile", "neighbour"]);
}

#[tokio::test]
async fn bytes_on_the_private_pipe_end_the_child_and_not_the_program() {
    let text = "import { readdirSync, writeSync } from 'node:fs';
        export default (pi) => pi.on('x', async () => {
            for (const fd of readdirSync('/proc/self/fd')) { try { if (fd > 2) writeSync(Number(fd), 'x'.repeat(64)); } catch {} }
            await new Promise((resolve) => setTimeout(resolve, 5000));
        });";
    let stage = Setup::default().with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    assert_eq!(stage.errors, []);
    let hostile = stage.extensions.named("hostile").unwrap().clone();
    let call = offshoot_agent::hooks::Handler::call(&hostile, "x", &json!({}), &Default::default()).await;
    let error = call.unwrap_err();
    assert!(error.contains("disabled"), "{error}");
}

#[tokio::test]
async fn standard_streams_are_not_those_of_the_program() {
    let text = "import { writeSync } from 'node:fs'; import { execSync } from 'node:child_process';
        export default (pi) => pi.on('x', () => {
            writeSync(1, 'raw\\n'); writeSync(2, 'raw\\n'); process.stdout.write('said\\n'); process.stderr.write('said\\n');
            execSync('cat; echo heard', { stdio: 'inherit' });
            return { fine: true };
        });";
    let stage = beside(text, true).await;
    for _ in 0..3 {
        assert_eq!(fired(&stage).await, Ok(json!({"fine": true})));
    }
}

#[tokio::test]
async fn a_flood_on_a_standard_stream_does_no_harm() {
    let text = "export default (pi) => pi.on('x', () => { for (let i = 0; i < 2_000; i++) process.stdout.write('y'.repeat(100_000) + '\\n'); return { fine: true }; });";
    let limits = Limits { event: Duration::from_secs(30), ..Limits::default() };
    let setup = Setup { limits, ..Setup::default() };
    let stage = setup.with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    assert_eq!(fired(&stage).await, Ok(json!({"fine": true})));
}

#[tokio::test]
async fn a_failure_of_a_timer_or_a_socket_is_reported_and_survived() {
    let text = "export default (pi) => { let n = 0; pi.on('x', async () => {
            setTimeout(() => { throw new Error('late'); }, 0);
            process.emit('uncaughtException', new Error('odd'));
            await new Promise((resolve) => setTimeout(resolve, 50));
            return { n: ++n };
        }); };";
    let stage = beside(text, true).await;
    assert_eq!(fired(&stage).await, Ok(json!({"n": 1})));
    assert_eq!(fired(&stage).await, Ok(json!({"n": 2})));
    let messages: Vec<String> = stage.troubles().into_iter().map(|trouble| trouble.message).collect();
    assert!(messages.iter().filter(|message| message.starts_with("late")).count() == 2, "{messages:?}");
}

#[tokio::test]
async fn an_extension_that_is_ended_leaves_its_neighbour_in_the_same_process() {
    let stage = endless("export default (pi) => pi.on('x', () => { for (;;) {} });").await;
    fired(&stage).await.unwrap_err();
    assert_disabled(&stage, "exceeded its time limit");
    assert_neighbour_is_fine(&stage).await;
}

//! Limits that only the embedded engine has.

use offshoot_extensions::Limits;
use serde_json::Value as Json;

use crate::hostile::{NEIGHBOUR, assert_disabled, beside, endless, fired};
use crate::support::Setup;

#[tokio::test]
async fn a_million_timers_are_too_many() {
    let text = "export default (pi) => pi.on('x', () => { for (let i = 0; i < 20_000; i++) setTimeout(() => {}, 1e6); });";
    let limits = Limits { timers: 1_000, ..Limits::default() };
    let stage =
        Setup { limits, ..Setup::default() }.with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    drop(fired(&stage).await);
    let troubles = stage.troubles();
    assert!(
        troubles.iter().any(|trouble| trouble.disabled && trouble.message.contains("timers")),
        "{troubles:?}"
    );
}

#[tokio::test]
async fn timers_that_were_cleared_do_not_count() {
    let text = "export default (pi) => pi.on('x', () => { for (let i = 0; i < 5_000; i++) clearTimeout(setTimeout(() => {}, 1e6)); });";
    let limits = Limits { timers: 1_000, ..Limits::default() };
    let stage =
        Setup { limits, ..Setup::default() }.with(&[("hostile.ts", text), ("neighbour.ts", NEIGHBOUR)]).await;
    assert_eq!(fired(&stage).await, Ok(Json::Null));
    assert_eq!(stage.extensions.named("hostile").unwrap().disabled(), None);
}

#[tokio::test]
async fn an_operation_that_cannot_be_interrupted_is_not_waited_for() {
    let text = "export default (pi) => pi.on('x', () => ({ text: Array.prototype.join.call({ length: 2 ** 28 }, '') }));";
    let stage = endless(text).await;
    let error = fired(&stage).await.unwrap_err();
    assert!(error.contains("stuck in an operation"), "{error}");
    assert_disabled(&stage, "stuck in an operation");
}

#[tokio::test]
async fn what_has_no_end_is_read_up_to_a_limit() {
    let text = "import { readFileSync } from 'node:fs';
        export default (pi) => pi.on('x', async () => {
            let said;
            try { readFileSync('/dev/zero'); } catch (error) { said = error.message; }
            const { stdout } = await pi.exec('yes', [], { timeout: 500 });
            return { said, stdout: stdout.length, end: stdout.slice(-30) };
        });";
    let stage = beside(text, true).await;
    let answer = fired(&stage).await.unwrap();
    assert!(answer["said"].as_str().unwrap().contains("too large"), "{answer}");
    assert!(answer["stdout"].as_u64().unwrap() < 3 << 20, "{answer}");
    assert!(answer["end"].as_str().unwrap().contains("bytes were kept]"), "{answer}");
}

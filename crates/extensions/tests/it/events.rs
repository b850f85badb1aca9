//! Events: order, change, cancel, throw, several extensions, several handlers.

use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::events::{EVENTS, Event};
use offshoot_agent::hooks::{Handler, Hooks};
use offshoot_extensions::Limits;
use serde_json::{Value as Json, json};

use crate::support::{Setup, Stage, stage};

async fn both(first: &str, second: &str) -> Stage {
    let stage = Setup::default().with(&[("a.ts", first), ("b.ts", second)]).await;
    assert_eq!(stage.errors, []);
    stage
}

fn hooks(stage: &Stage) -> Hooks {
    stage.extensions.hooks()
}

#[tokio::test]
async fn extensions_are_asked_in_the_order_of_loading_and_handlers_in_that_of_registering() {
    let one = |name: &str| {
        format!(
            "export default (pi) => {{
                pi.on('session_before_tree', (e, ctx) => {{ ctx.ui.notify('{name}1'); return {{ label: '{name}' }}; }});
                pi.on('session_before_tree', async (e, ctx) => {{ await null; ctx.ui.notify('{name}2'); }});
            }}"
        )
    };
    let stage = both(&one("a"), &one("b")).await;
    let gate = hooks(&stage).gate("session_before_tree", &json!({}), &Cancel::new()).await;
    assert_eq!(stage.notes(), ["info: a1", "info: a2", "info: b1", "info: b2"]);
    assert_eq!(gate.text("label").as_deref(), Some("b"));
}

#[tokio::test]
async fn answers_to_a_gate_are_merged_field_by_field() {
    let stage = both(
        "export default (pi) => { pi.on('session_before_tree', () => ({ label: 'kept', customInstructions: 'old' }));
                                  pi.on('session_before_tree', (e) => e.setCustomInstructions('newer')); }",
        "export default (pi) => pi.on('session_before_tree', () => ({ summary: { summary: 's' } }))",
    )
    .await;
    let gate = hooks(&stage).gate("session_before_tree", &json!({}), &Cancel::new()).await;
    assert_eq!(gate.text("label").as_deref(), Some("kept"));
    assert_eq!(gate.text("customInstructions").as_deref(), Some("newer"));
    assert_eq!(gate.get("summary"), Some(&json!({"summary": "s"})));
}

#[tokio::test]
async fn every_gate_can_be_cancelled_in_both_ways_and_nobody_is_asked_after() {
    for Event { name: event, .. } in EVENTS.iter().filter(|event| event.can_be_cancelled()) {
        for answer in ["return { cancel: true }", "e.cancel()"] {
            let stage = both(
                &format!(
                    "export default (pi) => {{ pi.on('{event}', (e) => {{ {answer} }});
                          pi.on('{event}', (e, ctx) => ctx.ui.notify('asked')); }}"
                ),
                &format!("export default (pi) => pi.on('{event}', (e, ctx) => ctx.ui.notify('asked'))"),
            )
            .await;
            let gate = hooks(&stage).gate(event, &json!({}), &Cancel::new()).await;
            assert_eq!(gate.cancelled_by.as_deref(), Some("a"), "{event} {answer}");
            assert!(stage.notes().is_empty(), "{event} {answer}");
        }
    }
}

#[tokio::test]
async fn who_throws_is_named_and_passed_over() {
    let stage = both(
        "export default (pi) => pi.on('session_before_tree', () => { throw new Error('oops'); })",
        "export default (pi) => { pi.on('session_before_tree', () => { throw new TypeError('also'); });
                                  pi.on('session_before_tree', () => ({ label: 'fine' })); }",
    )
    .await;
    let hooks = hooks(&stage);
    let gate = hooks.gate("session_before_tree", &json!({}), &Cancel::new()).await;
    assert_eq!(gate.text("label").as_deref(), Some("fine"));
    let failures = hooks.take_failures();
    let told: Vec<_> = failures.iter().map(|one| (one.handler.as_str(), one.event.as_str())).collect();
    assert_eq!(told, [("a", "session_before_tree"), ("b", "session_before_tree")]);
    assert!(failures[0].message.starts_with("oops\n"), "{}", failures[0].message);
    assert!(failures[1].message.starts_with("TypeError: also"), "{}", failures[1].message);
}

#[tokio::test]
async fn a_tool_call_is_changed_in_place_or_blocked_and_a_failure_blocks_it() {
    let stage = both(
        "export default (pi) => pi.on('tool_call', (e) => { e.input.command = e.input.command + ' --dry-run'; })",
        "export default (pi) => pi.on('tool_call', (e) => { if (e.input.command.startsWith('bad')) throw new Error('hm');
             if (e.input.command.startsWith('no')) return { block: true, reason: e.input.command }; })",
    )
    .await;
    let call = async |command: &str| {
        let payload = json!({"toolName": "bash", "toolCallId": "1", "input": {"command": command}});
        hooks(&stage).chain("tool_call", payload, &Cancel::new()).await
    };
    assert_eq!(call("ls").await["input"]["command"], "ls --dry-run");
    assert_eq!(call("no").await["reason"], "no --dry-run");
    let failed = call("bad").await;
    assert_eq!((&failed["block"], &failed["reason"]), (&json!(true), &json!("an extension failed: hm")));
}

#[tokio::test]
async fn what_is_chained_goes_from_hand_to_hand() {
    let shout = "export default (pi) => {
        pi.on('input', (e) => ({ action: 'transform', text: e.text + '!' }));
        pi.on('context', (e) => ({ messages: e.messages.slice(1) }));
        pi.on('tool_result', (e) => ({ content: [...e.content, { type: 'text', text: 'more' }] }));
        pi.on('message_end', (e) => ({ message: { ...e.message, content: e.message.content + '.' } }));
        pi.on('before_provider_request', (e) => ({ ...e.payload, n: e.payload.n + 1 }));
    }";
    let stage = both(shout, shout).await;
    let chain = async |event: &str, payload: Json| hooks(&stage).chain(event, payload, &Cancel::new()).await;
    assert_eq!(chain("input", json!({"text": "hi", "source": "interactive"})).await["text"], "hi!!");
    assert_eq!(chain("context", json!({"messages": [1, 2, 3]})).await["messages"], json!([3]));
    assert_eq!(chain("tool_result", json!({"content": []})).await["content"].as_array().unwrap().len(), 2);
    assert_eq!(chain("message_end", json!({"message": {"content": "a"}})).await["message"]["content"], "a..");
    assert_eq!(chain("before_provider_request", json!({"payload": {"n": 0}})).await["payload"]["n"], 2);
}

#[tokio::test]
async fn what_is_proposed_at_a_boundary_goes_from_hand_to_hand() {
    let one = |name: &str| {
        format!(
            "export default (pi) => {{ for (const event of ['turn_end', 'agent_before_settle'])
                 pi.on(event, (e) => ({{ entries: [...e.entries, {{ type: 'custom', customType: '{name}' }}],
                                        continue: e.entries.length > 0 }})); }}"
        )
    };
    let stage = both(&one("a"), &one("b")).await;
    for event in ["turn_end", "agent_before_settle"] {
        let payload = json!({"type": event, "entries": [], "continue": false, "outcome": "completed"});
        let answer = hooks(&stage).chain(event, payload, &Cancel::new()).await;
        let proposed = json!([{"type": "custom", "customType": "a"}, {"type": "custom", "customType": "b"}]);
        assert_eq!((&answer["entries"], &answer["continue"]), (&proposed, &json!(true)), "{event}");
    }
}

#[tokio::test]
async fn a_command_of_the_user_is_blocked_by_a_guard_that_fails() {
    let stage = both(
        "export default (pi) => pi.on('user_bash', () => { throw new Error('hm'); })",
        "export default (pi) => pi.on('user_bash', () => ({ result: { output: 'never', exitCode: 0 } }))",
    )
    .await;
    let answer = hooks(&stage).first("user_bash", &json!({"command": "ls"}), &Cancel::new()).await.unwrap();
    assert_eq!((&answer["block"], &answer["reason"]), (&json!(true), &json!("an extension failed: hm")));
}

#[tokio::test]
async fn a_name_that_every_object_has_is_an_event_like_any_other() {
    let stage = stage("export default (pi) => pi.on('constructor', () => ({ heard: true }))").await;
    assert_eq!(stage.fire("constructor", json!({})).await, json!({"heard": true}));
}

#[tokio::test]
async fn who_handles_input_keeps_it_from_the_others() {
    let stage = both(
        "export default (pi) => pi.on('input', () => ({ action: 'handled' }))",
        "export default (pi) => pi.on('input', (e, ctx) => ctx.ui.notify('asked'))",
    )
    .await;
    let answer = hooks(&stage).chain("input", json!({"text": "hi"}), &Cancel::new()).await;
    assert_eq!(answer["action"], "handled");
    assert!(stage.notes().is_empty());
}

#[tokio::test]
async fn messages_are_collected_and_system_prompts_chained() {
    let one = |name: &str| {
        format!(
            "export default (pi) => pi.on('before_agent_start', (e) => ({{
                message: {{ customType: '{name}', content: 'from {name}', display: false }},
                systemPrompt: e.systemPrompt + ' {name}',
            }}))"
        )
    };
    let mut stage = both(&one("a"), &one("b")).await;
    stage.submit("hello").await;
    assert_eq!(stage.model.requests.lock().unwrap()[0].system, "You are a test. a b");
    assert_eq!(stage.path()[..3], ["user: hello", "custom_message a", "custom_message b"]);
}

#[tokio::test]
async fn a_signal_tells_that_nobody_waits_any_more() {
    let stage = stage(
        "export default (pi) => pi.on('x', async (e, ctx) => {
             e.signal.addEventListener('abort', () => ctx.ui.notify('stopped'));
             await ctx.ui.confirm('Really?', '');
         })",
    )
    .await;
    stage.stays_silent();
    let cancel = Cancel::new();
    let one = stage.only();
    let asked = tokio::spawn({
        let cancel = cancel.clone();
        async move { cancel.unless_cancelled(Handler::call(&one, "x", &json!({}), &cancel)).await }
    });
    stage.shown("confirm Really?").await;
    cancel.cancel();
    assert_eq!(asked.await.unwrap(), None);
    stage.shown("stopped").await;
}

#[tokio::test]
async fn whom_everybody_waits_for_is_named() {
    let limits = Limits { notice: Duration::from_millis(500), ..Limits::default() };
    let text = "export default (pi) => pi.on('x', () => new Promise((done) => setTimeout(() => done({ late: true }), 1200)))";
    let stage = Setup { limits, ..Setup::default() }.with(&[("slow.ts", text)]).await;
    // A busy machine may be slow to load it.
    drop(stage.notes());
    assert_eq!(stage.fire("x", json!({})).await, json!({"late": true}), "it may take its time");
    assert_eq!(stage.notes(), ["waiting for slow (event x)"]);
}

#[tokio::test]
async fn who_unsubscribes_is_not_asked_again() {
    let stage =
        stage("export default (pi) => { const stop = pi.on('x', () => { stop(); return { n: 1 }; }); }")
            .await;
    assert_eq!(stage.fire("x", json!({})).await, json!({"n": 1}));
    assert!(!stage.only().wants("x"));
}

#[tokio::test]
async fn extensions_tell_each_other_things() {
    let stage = both(
        "export default (pi) => pi.on('x', () => pi.events.emit('ch', { n: 7 }))",
        "export default (pi) => { let ctx; pi.on('y', (e, c) => { ctx = c; }); pi.events.on('ch', ({ n }) => ctx.ui.notify(`got ${n}`)); }",
    )
    .await;
    stage.fire("y", json!({})).await;
    stage.fire("x", json!({})).await;
    assert_eq!(stage.shown("got").await, ["info: got 7"]);
}

#[tokio::test]
async fn an_event_that_nobody_wants_is_not_even_spelled() {
    let stage = stage("export default () => {}").await;
    let hooks = Arc::new(hooks(&stage));
    assert!(!hooks.wants("session_tree"));
}

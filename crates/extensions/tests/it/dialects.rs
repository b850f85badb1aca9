//! Dialects: older names, older forms, one session.

use offshoot_agent::agent::SummaryRequest;
use offshoot_agent::hooks::events::{EVENTS, Event};
use serde_json::json;

use crate::support::{Setup, Stage, stage};

async fn hook(text: &str) -> Stage {
    let stage = Setup::default().with(&[("hooks/old.ts", text)]).await;
    assert_eq!(stage.errors, []);
    stage
}

#[tokio::test]
async fn older_names_of_events_mean_the_new_ones() {
    for Event { name: new, older_names, .. } in EVENTS {
        for old in *older_names {
            let stage =
                stage(&format!("export default (pi) => pi.on('{old}', (e) => ({{ type: e.type }}))")).await;
            assert_eq!(stage.fire(new, json!({"type": new})).await, json!({"type": old}), "{old}");
        }
    }
}

#[tokio::test]
async fn the_older_compaction_event_lists_earlier_compactions() {
    let stage = stage("export default (pi) => pi.on('before_compact', (e) => ({ ids: e.previousCompactions.map((c) => c.id) }))").await;
    let entries = json!([{"type": "compaction", "id": "1"}, {"type": "message", "id": "2"}, {"type": "compaction", "id": "3"}]);
    let answer = stage.fire("session_before_compact", json!({"branchEntries": entries})).await;
    assert_eq!(answer, json!({"ids": ["3", "1"]}));
}

#[tokio::test]
async fn a_message_may_be_sent_with_a_flag() {
    let mut stage = stage(
        "export default (pi) => pi.registerCommand('go', { handler: async (flag) => {
             pi.sendMessage({ customType: 't', content: 'a', display: true }, flag === 'true');
         } })",
    )
    .await;
    stage.command("go false").await.unwrap();
    assert_eq!(stage.path(), ["custom_message t"], "no turn");
    stage.command("go true").await.unwrap();
    assert_eq!(stage.path(), ["custom_message t", "custom_message t", "assistant: (the script is over)"]);
}

#[tokio::test]
async fn fields_that_are_missing_are_left_out() {
    let stage = stage(
        "export default (pi) => ['session_before_tree', 'session_label', 'session_start'].forEach((name) => pi.on(name, (event) =>
             ({ keys: [...Object.keys(event), ...Object.keys(event.preparation ?? {})].filter((key) => typeof event[key] !== 'function') })))",
    )
    .await;
    let preparation = json!({"targetId": "1", "oldLeafId": null, "customInstructions": null, "label": null});
    for (event, payload, expected) in [
        (
            "session_before_tree",
            json!({"type": "x", "model": null, "preparation": preparation}),
            json!(["type", "preparation", "signal", "targetId", "oldLeafId"]),
        ),
        (
            "session_label",
            json!({"targetId": "1", "label": null, "previous": "a"}),
            json!(["targetId", "previous", "type", "signal"]),
        ),
        (
            "session_start",
            json!({"reason": "new", "previousSessionFile": null}),
            json!(["reason", "type", "signal"]),
        ),
    ] {
        assert_eq!(stage.fire(event, payload).await["keys"], expected, "{event}");
    }
}

#[tokio::test]
async fn a_command_of_a_hook_gets_its_context_alone_and_may_return_a_prompt() {
    let mut stage = hook(
        "export default (pi) => pi.registerCommand('fix', { handler: async (ctx) => {
             const id = ctx.session.sessionManager.appendCustomEntry('state', { n: 1 });
             return `Fix ${ctx.args} (${ctx.entries.length} entries, leaf ${id === ctx.sessionManager.getLeafUuid()})`;
         } })",
    )
    .await;
    assert_eq!(stage.command("fix it all").await, Ok(Some("Fix it all (1 entries, leaf true)".into())));
}

/// Shows a component in the older form; `body` are its methods, `log` what its test wants to know.
async fn shown(body: &str, keys: &[&'static str]) -> Stage {
    let mut stage = stage(&format!(
        "export default (pi) => pi.registerCommand('show', {{ handler: async (ctx) => {{
             let now = 0;
             Date.now = () => now;
             const wait = (ms) => {{ now += ms; }};
             const component = {{ render: () => ['x'], {body} }};
             await ctx.ui.custom(component, (...args) => ctx.ui.notify(`closed ${{args.length}}`));
             ctx.ui.notify('after');
         }} }})"
    ))
    .await;
    stage.types(keys);
    stage.command("show").await.unwrap();
    stage
}

const CLOSED_ONCE: [&str; 3] = ["custom", "info: closed 0", "info: after"];

#[tokio::test]
async fn a_component_closes_through_what_it_is_given() {
    for body in [
        "handleInput(data, close) { close(); close(); }",
        "handleInput() { this.close(); }",
        "close: undefined, handleInput() { this.close(); }",
        "handleInput(data, close) { return new Promise((resolve) => setTimeout(() => { close(); resolve(); }, 1)); }",
    ] {
        let stage = shown(body, &["a", "b"]).await;
        assert_eq!(stage.screens().len(), 1, "{body}");
        assert_eq!(stage.notes(), CLOSED_ONCE, "{body}");
    }
}

#[tokio::test]
async fn a_component_keeps_a_close_function_of_its_own() {
    let stage =
        shown("close() { throw new Error('mine'); }, handleInput(data, close) { close(); }", &["a"]).await;
    assert_eq!((stage.notes(), stage.troubles()), (CLOSED_ONCE.map(str::to_owned).to_vec(), vec![]));
}

#[tokio::test]
async fn escape_closes_a_component_that_makes_no_use_of_it() {
    for body in [
        "",
        "handleInput() {}",
        "async handleInput() { return 'true'; }",
        "handleInput() { throw new Error('oops'); }",
    ] {
        let stage = shown(body, &["\x1b", "a"]).await;
        assert_eq!(stage.screens().len(), 1, "{body}");
        assert_eq!(stage.notes(), CLOSED_ONCE, "{body}");
        assert_eq!(stage.troubles().len(), usize::from(body.contains("oops")), "{body}");
    }
    let stage = shown("handleInput() {}", &["a", "\x03"]).await;
    assert_eq!(stage.screens().len(), 3, "other keys close nothing");
}

#[tokio::test]
async fn a_component_that_uses_escape_closes_when_it_comes_twice_within_a_second() {
    for used in ["return true;", "this.requestRender();", "return Promise.resolve(true);"] {
        let slow = shown(&format!("handleInput() {{ wait(1001); {used} }}"), &["\x1b", "\x1b", "\x1b"]).await;
        assert_eq!(slow.screens().len(), 4, "{used}");
        let fast = shown(&format!("handleInput() {{ wait(1000); {used} }}"), &["\x1b", "\x1b", "\x1b"]).await;
        assert_eq!(fast.screens().len(), 2, "{used}");
        for stage in [slow, fast] {
            assert_eq!(stage.notes(), CLOSED_ONCE, "{used}");
        }
    }
}

#[tokio::test]
async fn a_component_made_by_a_factory_gets_escape_like_any_other_key() {
    let mut stage = stage(
        "export default (pi) => pi.registerCommand('show', { handler: async (args, ctx) => {
             const keys = [];
             await ctx.ui.custom((tui, theme, kb, done) => ({ render: () => ['x'], handleInput: (...input) => void keys.push(input.length) }));
             ctx.ui.notify(keys.join());
         } })",
    )
    .await;
    stage.types(&["\x1b", "\x1b", "a"]);
    stage.command("show").await.unwrap();
    assert_eq!(stage.notes(), ["custom", "info: 1,1,1"]);
}

#[tokio::test]
async fn without_a_screen_the_older_form_ends_at_once() {
    let text = "export default (pi) => pi.registerCommand('show', { handler: async (ctx) => {
             await ctx.ui.custom({ render: () => [] }, () => ctx.ui.notify('closed'));
         } })";
    let mut stage = Setup { has_ui: false, ..Setup::default() }.with(&[("one.ts", text)]).await;
    stage.command("show").await.unwrap();
    assert_eq!(stage.notes(), ["info: closed"]);
}

#[tokio::test]
async fn a_handler_with_one_parameter_is_read_for_its_form() {
    for (handler, expected) in [
        ("async (ctx) => ctx.args", Some("x y")),
        ("async ({ args }) => args", Some("x y")),
        ("async (ctx) => { const { args } = ctx; return args; }", Some("x y")),
        ("async (ctx) => { await ctx.ui.notify('n'); return 'p'; }", Some("p")),
        ("(ctx) => ctx.session.messages.length === 0 ? 'empty' : 'p'", Some("empty")),
        ("async (ctx) => (await ctx.exec('echo', ['hi'])).stdout", Some("hi\n")),
        ("async (args) => { if (args !== 'x y') throw new Error(typeof args); return args; }", None),
        (
            "async (args, ctx) => { if (args !== 'x y' || !ctx.ui) throw new Error(typeof args); return args; }",
            None,
        ),
        ("async (text) => { if (/x/.exec(text) === null) throw new Error(typeof text); }", None),
        ("async () => 'p'", None),
    ] {
        let mut stage =
            stage(&format!("export default (pi) => pi.registerCommand('go', {{ handler: {handler} }})"))
                .await;
        assert_eq!(stage.command("go x y").await, Ok(expected.map(str::to_owned)), "{handler}");
    }
}

#[tokio::test]
async fn a_declared_dialect_still_counts() {
    let text = "export const dialect = 'events';
        export default (pi) => { const seen = []; pi.on('session_before_tree', () => ({ cancel: true }));
            pi.on('session_tree', (event) => void seen.push(Object.keys(event).includes('cancelled')));
            pi.on('probe', () => ({ seen })); }";
    let mut stage = stage(text).await;
    let target = stage.user("a");
    stage.assistant("b");
    stage.navigate(&target, SummaryRequest::Skip).await;
    assert_eq!(stage.fire("probe", json!({})).await, json!({"seen": [true]}));

    // In `hooks/`, a command with two parameters is pi's.
    let mut stage = hook(
        "export default (pi) => pi.registerCommand('go', { handler: async (args, ctx) => ctx.ui.notify(args) })",
    )
    .await;
    stage.command("go there").await.unwrap();
    assert_eq!(stage.notes(), ["info: there"]);
}

#[tokio::test]
async fn branch_in_place_moves_the_leaf() {
    let mut stage = hook(
        "export default (pi) => pi.registerCommand('back', { handler: async (ctx) => {
             await ctx.branchInPlace(ctx.currentPath[1].id);
             ctx.saveEntry({ type: 'custom', customType: 'here', data: 1 });
             ctx.ui.notify(String(ctx.rebuildContext().length));
         } })",
    )
    .await;
    stage.user("a");
    stage.assistant("b");
    stage.user("c");
    stage.assistant("d");
    stage.command("back").await.unwrap();
    assert_eq!(stage.path(), ["user: a", "assistant: b", "custom here"]);
    assert_eq!(stage.notes(), ["info: 2"]);
}

#[tokio::test]
async fn branch_in_place_in_an_event_waits_for_what_is_being_decided() {
    let mut stage = stage(
        "export default (pi) => {
             pi.on('session_before_tree', async (event, ctx) => {
                 const failed = await ctx.branchInPlace('no such entry').catch((error) => error.message);
                 ctx.ui.notify(failed);
                 if (ctx.entries.length === 4) await ctx.branchInPlace(ctx.entries[0].id, 'later');
             });
             pi.on('agent_end', (event, ctx) => ctx.branchInPlace(ctx.entries[0].id, { summarize: true }));
         }",
    )
    .await;
    stage.user("a");
    let target = stage.assistant("b");
    stage.user("c");
    stage.assistant("d");
    stage.navigate(&target, SummaryRequest::Skip).await;
    assert_eq!(stage.path(), ["user: a", "assistant: b"], "the navigation that was asked for comes first");
    stage.serve_one().await;
    assert_eq!(stage.path(), ["user: a", "branch_summary later"]);
    assert_eq!(stage.notes()[0], "info: no entry no such entry in this session");
}

#[tokio::test]
async fn tools_of_hooks_are_told_of_session_changes() {
    let mut stage = hook(
        "export default (pi) => pi.registerTool({ name: 't', description: '', execute() {},
             onSession: (event, ctx) => ctx.ui.notify(`${event.reason} ${event.entries.length}`) })",
    )
    .await;
    stage.user("a");
    let target = stage.assistant("b");
    stage.user("c");
    stage.navigate(&target, SummaryRequest::Skip).await;
    assert_eq!(stage.notes(), ["info: tree 2"]);
}

#[tokio::test]
async fn renderers_have_two_names() {
    let stage = stage(
        "export default (pi) => { pi.registerMessageRenderer('a', () => undefined); pi.registerCustomMessageRenderer('b', () => undefined); }",
    )
    .await;
    for custom_type in ["a", "b"] {
        assert!(stage.extensions.message_renderer(custom_type).is_some());
    }
}

#[tokio::test]
async fn actions_while_loading_are_refused() {
    let stage = Setup::default().with(&[("early.ts", "export default (pi) => pi.appendEntry('x', 1)")]).await;
    assert!(stage.errors[0].message.contains("cannot be used while loading"), "{:?}", stage.errors);
}

//! Dialects: older names, older forms, one session.

use offshoot_agent::agent::SummaryRequest;
use offshoot_agent::handle::SendOptions;
use offshoot_agent::inbox::Delivery;
use offshoot_extensions::host::Action;
use serde_json::json;

use crate::support::{Setup, Stage, stage};

async fn hook(text: &str) -> Stage {
    let stage = Setup::default().with(&[("hooks/old.ts", text)]).await;
    assert_eq!(stage.errors, []);
    stage
}

#[tokio::test]
async fn older_names_of_events_mean_the_new_ones() {
    for (old, new) in offshoot_agent::hooks::ALIASES {
        let stage =
            stage(&format!("export default (pi) => pi.on('{old}', (e) => ({{ type: e.type }}))")).await;
        assert_eq!(stage.fire(new, json!({"type": new})).await, json!({"type": old}), "{old}");
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
        "export default (pi) => pi.registerCommand('go', { handler: async () => {
             pi.sendMessage({ customType: 't', content: 'a', display: true }, true);
             pi.sendMessage({ customType: 't', content: 'b', display: true }, { triggerTurn: true, deliverAs: 'followUp' });
             pi.sendMessage({ customType: 't', content: 'c' });
         } })",
    )
    .await;
    stage.command("go").await.unwrap();
    let options: Vec<SendOptions> = stage
        .actions()
        .into_iter()
        .filter_map(|action| match action {
            Action::SendMessage(_, options) => Some(options),
            _ => None,
        })
        .collect();
    let of = |trigger_turn, deliver_as| SendOptions { trigger_turn, deliver_as };
    let expected =
        [of(Some(true), Some(Delivery::AfterTurn)), of(Some(true), Some(Delivery::FollowUp)), of(None, None)];
    assert_eq!(options, expected);
    assert!(stage.path().iter().any(|line| line.starts_with("assistant:")), "the flag triggers a turn");
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

#[tokio::test]
async fn a_hook_shows_a_component_and_is_told_when_it_closes() {
    let mut stage = hook(
        "export default (pi) => pi.registerCommand('show', { handler: async (ctx) => {
             await ctx.ui.custom({ render: (w) => ['x'.repeat(w)], handleInput() {} }, () => ctx.ui.notify('closed'));
         } })",
    )
    .await;
    stage.types(&["a"]);
    stage.command("show").await.unwrap();
    assert_eq!(stage.screens(), ["x".repeat(72), "x".repeat(72)]);
    assert_eq!(stage.notes(), ["custom", "info: closed"]);
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

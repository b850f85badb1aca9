//! The session as extensions see it: at once, with what they have just written.

use serde_json::{Value as Json, json};

use crate::support::stage;

#[tokio::test]
async fn what_was_just_written_is_there() {
    let mut stage = stage(
        "export default (pi) => pi.registerCommand('go', { handler: async (_a, ctx) => {
             const sm = ctx.sessionManager;
             const before = sm.getLeafId();
             const id = pi.appendEntry('state', { n: 1 });
             pi.setLabel(before, 'mark');
             pi.setSessionName('named');
             ctx.ui.notify(JSON.stringify([sm.getEntry(id).data, sm.getEntry(id).parentId === before, sm.getLabel(before),
                 sm.getSessionName(), pi.getSessionName(), sm.getLeafEntry().type, sm.getBranch().length, sm.getEntries().length]));
         } })",
    )
    .await;
    stage.user("a");
    stage.command("go").await.unwrap();
    assert_eq!(stage.notes(), [r#"info: [{"n":1},true,"mark","named","named","session_info",4,4]"#]);
}

#[tokio::test]
async fn the_tree_is_nested_and_labelled() {
    let mut stage = stage(
        "export default (pi) => pi.registerCommand('go', { handler: async (_a, ctx) => {
             const shape = (node) => ({ id: node.entry.id.slice(-1), label: node.label, children: node.children.map(shape) });
             ctx.ui.notify(JSON.stringify(ctx.sessionManager.getTree().map(shape)));
         } })",
    )
    .await;
    let first = stage.user("a");
    stage.assistant("b");
    stage.agent.session().branch(&first).unwrap();
    stage.assistant("c");
    stage.agent.session().append_label_change(&first, Some("start")).unwrap();
    stage.command("go").await.unwrap();
    let expected = r#"info: [{"id":"1","label":"start","children":[{"id":"2","children":[]},{"id":"3","children":[{"id":"4","children":[]}]}]}]"#;
    assert_eq!(stage.notes(), [expected]);
}

#[tokio::test]
async fn context_and_conversation_are_those_of_the_engine() {
    let mut stage = stage(
        "import { convertToLlm, serializeConversation } from '@mariozechner/pi-coding-agent';
         export default (pi) => pi.registerCommand('go', { handler: async (_a, ctx) => {
             const { messages } = ctx.sessionManager.buildSessionContext();
             ctx.ui.notify(serializeConversation(convertToLlm(messages)));
         } })",
    )
    .await;
    stage.user("hi");
    stage.agent.session().append_custom_message("note", &json!("remember"), true, None).unwrap();
    stage.assistant("hello");
    stage.command("go").await.unwrap();
    assert_eq!(stage.notes(), ["info: [User]: hi\n\n[User]: remember\n\n[Assistant]: hello"]);
}

#[tokio::test]
async fn an_entry_that_is_not_there_is_undefined_and_a_bad_label_is_an_exception() {
    let stage = stage(
        "export default (pi) => pi.on('x', (e, ctx) => {
             let error; try { pi.setLabel('nope', 'l'); } catch (e) { error = e.message; }
             return { entry: String(ctx.sessionManager.getEntry('nope')), error };
         })",
    )
    .await;
    let answer = stage.fire("x", json!({})).await;
    assert_eq!(answer["entry"], "undefined");
    assert!(answer["error"].as_str().unwrap().contains("nope"), "{answer}");
}

#[tokio::test]
async fn commands_navigate_and_fork() {
    let mut stage = stage(
        "export default (pi) => pi.registerCommand('go', { handler: async (args, ctx) => {
             const result = await ctx.navigateTree(args, { label: 'back' });
             ctx.ui.notify(JSON.stringify(result));
             await ctx.newSession({ withSession: async (c) => c.ui.notify(`new ${c.sessionManager.getEntries().length}`) });
         } })",
    )
    .await;
    let target = stage.user("a");
    stage.assistant("b");
    stage.command(&format!("go {target}")).await.unwrap();
    let notes = stage.notes();
    assert!(
        notes[0].contains(r#""cancelled":false"#) && notes[0].contains(r#""editorText":"a""#),
        "{notes:?}"
    );
    assert_eq!(notes[1], "info: new 0");
}

#[tokio::test]
async fn processes_and_files_are_for_trusted_extensions() {
    let text = "import * as fs from 'node:fs';
        export default (pi) => pi.on('x', async (e, ctx) => {
            fs.mkdirSync('d/e', { recursive: true });
            fs.writeFileSync('d/e/f.txt', 'hi');
            const { stdout, code } = await pi.exec('cat', ['d/e/f.txt']);
            const bad = await pi.exec('no-such-program-anywhere', []);
            const slow = await pi.exec('sleep', ['60'], { timeout: 20 });
            let missing; try { fs.readFileSync('gone'); } catch (error) { missing = error.code; }
            return { stdout, code, bad: bad.code, killed: slow.killed, missing, list: fs.readdirSync('d') };
        })";
    let stage = stage(text).await;
    let answer = stage.fire("x", json!({})).await;
    let expected =
        json!({"stdout": "hi", "code": 0, "bad": 1, "killed": true, "missing": "ENOENT", "list": ["e"]});
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_session_made_by_an_extension_has_the_clock_the_ids_and_the_parent_it_was_given() {
    let mut stage = stage(
        "export default (pi) => pi.registerCommand('new', { handler: async (args, ctx) => {
             await ctx.newSession({
                 parentSession: '/elsewhere/parent.jsonl',
                 setup: async (session) => void session.appendMessage({ role: 'user', content: 'hand-over', timestamp: 1 }),
             });
         } })",
    )
    .await;
    stage.user("before");
    stage.command("new").await.unwrap();
    assert_eq!(stage.path(), ["user: hand-over"]);
    let session = stage.agent.session();
    let header = session.header().value().to_serde().unwrap();
    assert_eq!(header["parentSession"], "/elsewhere/parent.jsonl");
    assert!(header["timestamp"].as_str().unwrap().starts_with("2025-01-01T00:00:0"), "{header}");
    assert_eq!(session.leaf_id().unwrap().as_str(), "00000001");
}

#[tokio::test]
async fn an_answer_that_grows_is_put_together_for_its_handlers() {
    let stage = stage(
        "export default (pi) => {
             const seen = [];
             pi.on('message_update', (event) => void seen.push([event.assistantMessageEvent.type, JSON.stringify(event.message.content),
                 event.assistantMessageEvent.partial === event.message, 'block' in event]));
             pi.on('probe', () => ({ seen: seen.splice(0) }));
         }",
    )
    .await;
    let start =
        || json!({"type": "message_start", "message": {"role": "assistant", "content": [], "model": "m"}});
    let update = |kind: &str, index: u64, more: Json| {
        let mut event = json!({"type": kind, "contentIndex": index});
        event.as_object_mut().unwrap().extend(more["event"].as_object().cloned().unwrap_or_default());
        json!({"type": "message_update", "assistantMessageEvent": event, "block": more["block"]})
    };
    let delta = |text: &str| json!({"event": {"delta": text}});
    let call = json!({"type": "toolCall", "id": "1", "name": "t", "arguments": {}});
    let whole = json!({"type": "toolCall", "id": "1", "name": "t", "arguments": {"a": 1}});
    stage.fire("message_start", start()).await;
    for (kind, index, more) in [
        ("text_start", 0, json!({})),
        ("text_delta", 0, delta("o")),
        ("text_delta", 0, delta("ne")),
        ("text_end", 0, json!({"block": {"type": "text", "text": "one", "textSignature": "s"}})),
        ("toolcall_start", 1, json!({"block": call})),
        ("toolcall_delta", 1, delta("{\"a\":")),
        ("toolcall_end", 1, json!({"block": whole})),
    ] {
        stage.fire("message_update", update(kind, index, more)).await;
    }
    let text = |text: &str| json!({"type": "text", "text": text});
    let done = json!({"type": "text", "text": "one", "textSignature": "s"});
    let expected = [
        ("text_start", json!([text("")])),
        ("text_delta", json!([text("o")])),
        ("text_delta", json!([text("one")])),
        ("text_end", json!([done])),
        ("toolcall_start", json!([done, call])),
        ("toolcall_delta", json!([done, call])),
        ("toolcall_end", json!([done, whole])),
    ];
    let probe = async || stage.fire("probe", json!({})).await["seen"].as_array().unwrap().clone();
    for (seen, (kind, content)) in probe().await.iter().zip(expected) {
        let found: Json = serde_json::from_str(seen[1].as_str().unwrap()).unwrap();
        assert_eq!((seen[0].as_str(), found), (Some(kind), content));
        assert_eq!((&seen[2], &seen[3]), (&json!(true), &json!(false)));
    }
    // The next answer starts empty.
    stage.fire("message_start", start()).await;
    stage.fire("message_update", update("text_start", 0, json!({}))).await;
    assert_eq!(probe().await[0][1], r#"[{"type":"text","text":""}]"#);
}

//! The classes that programs embed pi with, used in an extension: sessions, agents, settings, resources.

use serde_json::json;

use crate::support::{Setup, stage};

const HEAD: &str = "import { SessionManager, buildSessionContext, createAgentSession, migrateSessionEntries, parseSessionEntries, \
    SettingsManager, DefaultResourceLoader, defineTool } from '@earendil-works/pi-coding-agent';\n";

/// Runs script in a handler; gives what it returns.
async fn script(body: &str) -> serde_json::Value {
    let stage =
        stage(&format!("{HEAD}export default (pi) => pi.on('x', async (_e, ctx) => {{ {body} }})")).await;
    let answer = stage.fire("x", json!({})).await;
    assert_eq!(stage.troubles(), []);
    answer
}

const USER: &str = "const user = (text) => ({ role: 'user', content: text, timestamp: 1 });";

#[tokio::test]
async fn a_session_in_memory_is_a_tree() {
    let answer = script(&format!(
        "{USER} const session = SessionManager.inMemory('/w');
         const a = session.appendMessage(user('one'));
         session.appendMessage(user('two'));
         session.branch(a);
         const c = session.appendMessage(user('three'));
         session.appendLabelChange(a, 'here');
         session.appendSessionInfo('tree');
         session.appendModelChange('prov', 'mod');
         session.appendThinkingLevelChange('high');
         const context = session.buildSessionContext();
         return {{ texts: context.messages.map((one) => one.content), level: context.thinkingLevel, model: context.model,
             children: session.getChildren(a).length, label: session.getLabel(a), name: session.getSessionName(),
             persisted: session.isPersisted(), cwd: session.getCwd(), entry: session.getEntry(c).parentId === a }};"
    ))
    .await;
    let expected = json!({
        "texts": ["one", "three"], "level": "high", "model": {"provider": "prov", "modelId": "mod"}, "children": 2,
        "label": "here", "name": "tree", "persisted": false, "cwd": "/w", "entry": true,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn sessions_are_files_that_can_be_opened_listed_and_forked() {
    let answer = script(&format!(
        "{USER} const dir = ctx.cwd + '/sessions';
         const session = SessionManager.create('/w', dir);
         session.appendMessage(user('hello'));
         session.appendMessage({{ role: 'assistant', content: [{{ type: 'text', text: 'hi' }}], stopReason: 'stop', timestamp: 2 }});
         const file = session.getSessionFile();
         const again = SessionManager.open(file);
         const forked = SessionManager.forkFrom(file, '/other', ctx.cwd + '/forks');
         const memory = SessionManager.inMemory('/w', undefined, [session.getHeader(), ...session.getEntries()]);
         const listed = await SessionManager.list('/w', dir);
         const recent = SessionManager.continueRecent('/w', dir);
         return {{ count: again.getEntries().length, same: again.getSessionId() === session.getSessionId(),
             forked: forked.getCwd(), parent: forked.getHeader().parentSession === file, entries: forked.getEntries().length,
             listed: listed.map((one) => [one.messageCount, one.firstMessage, one.modified instanceof Date]),
             recent: recent.getSessionId() === session.getSessionId(),
             branched: memory.createBranchedSession(memory.getEntries()[0].id) ?? null, left: memory.getEntries().length }};"
    ))
    .await;
    let expected = json!({
        "count": 2, "same": true, "forked": "/other", "parent": true, "entries": 2,
        "listed": [[2, "hello", true]], "recent": true, "branched": null, "left": 1,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn entries_are_parsed_migrated_and_turned_into_a_context() {
    let answer = script(
        r#"const text = [
               { type: "session", id: "s", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/" },
               { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: { role: "user", content: "a", timestamp: 1 } },
               { type: "message", timestamp: "2025-01-01T00:00:02.000Z", message: { role: "user", content: "b", timestamp: 2 } },
           ].map((one) => JSON.stringify(one)).join("\n") + "\n{broken\n";
           const entries = parseSessionEntries(text);
           migrateSessionEntries(entries);
           const [header, first, second] = entries;
           return { count: entries.length, version: header.version, linked: second.parentId === first.id,
               all: buildSessionContext(entries).messages.length, one: buildSessionContext(entries, first.id).messages.length,
               none: buildSessionContext(entries, null).messages.length };"#,
    )
    .await;
    assert_eq!(answer, json!({"count": 3, "version": 3, "linked": true, "all": 2, "one": 1, "none": 0}));
}

#[tokio::test]
async fn an_agent_of_an_extension_answers_beside_the_user_s() {
    let mut stage = Setup { replies: vec!["I am beside you"], ..Setup::default() }
        .with(&[(
            "agent.ts",
            &format!(
                "{HEAD}export default (pi) => pi.registerCommand('go', {{ handler: async (_a, ctx) => {{
                     const loader = new DefaultResourceLoader({{ systemPromptOverride: () => 'You are beside.' }});
                     await loader.reload();
                     const {{ session }} = await createAgentSession({{ model: ctx.model, resourceLoader: loader, tools: ['read'],
                         sessionManager: SessionManager.inMemory(), settingsManager: SettingsManager.inMemory({{ compaction: {{ enabled: false }} }}) }});
                     const seen = [];
                     session.subscribe((event) => seen.push(event.type));
                     await session.prompt('who are you?');
                     const text = session.getLastAssistantText();
                     const count = session.messages.length;
                     const idle = session.isIdle;
                     session.dispose();
                     ctx.ui.notify(JSON.stringify({{ text, count, idle, ended: seen.includes('agent_end'), tools: session.getActiveToolNames() }}));
                 }} }})"
            ),
        )])
        .await;
    assert_eq!(stage.errors, []);
    stage.command("go").await.unwrap();
    let expected = r#"info: {"text":"I am beside you","count":2,"idle":true,"ended":true,"tools":["read"]}"#;
    assert_eq!(stage.notes(), [expected]);
    let requests = stage.model.requests.lock().unwrap();
    assert!(requests[0].system.contains("You are beside."), "{}", requests[0].system);
    // The user's own session has nothing of it.
    assert_eq!(stage.path(), Vec::<String>::new());
}

#[tokio::test]
async fn a_session_that_was_disposed_says_so() {
    let answer = script(
        "const { session } = await createAgentSession({ model: ctx.model, sessionManager: SessionManager.inMemory() });
         session.dispose();
         const said = await session.prompt('x').catch((error) => error.message);
         return { said };",
    )
    .await;
    assert_eq!(answer["said"], "this session was disposed");
}

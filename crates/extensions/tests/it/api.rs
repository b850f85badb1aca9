//! Functions of pi's packages. The results are those of pi 1.5.0.

use serde_json::json;

use crate::support::stage;

async fn of(package: &str, names: &str, body: &str) -> serde_json::Value {
    let source = format!(
        "import {{ {names} }} from '@earendil-works/{package}'; export default (pi) => pi.on('x', async (_e, ctx) => {{ {body} }})"
    );
    let stage = stage(&source).await;
    let answer = stage.fire("x", json!({})).await;
    assert_eq!(stage.troubles(), []);
    answer
}

#[tokio::test]
async fn arguments_of_tools_are_checked_and_made_right() {
    let answer = of(
        "pi-ai",
        "validateToolArguments, isContextOverflow, parseStreamingJson",
        "const tool = { name: 't', parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } };
         let said; try { validateToolArguments(tool, { name: 't', arguments: {} }); } catch (error) { said = error.message; }
         return { made: validateToolArguments(tool, { name: 't', arguments: { a: '5' } }), said,
             parts: ['{\"a\": [1, 2', '{\"a\": \"x', '{\"a\": 1, \"b', ''].map(parseStreamingJson),
             long: isContextOverflow({ stopReason: 'error', errorMessage: 'prompt is too long: 5 tokens > 4', usage: {} }, 10) };",
    )
    .await;
    assert_eq!(answer["made"], json!({"a": 5}));
    assert_eq!(
        answer["said"],
        "Validation failed for tool \"t\":\n  - a: missing\n\nReceived arguments:\n{}"
    );
    assert_eq!(answer["parts"], json!([{"a": [1, 2]}, {"a": "x"}, {"a": 1}, {}]));
    assert_eq!(answer["long"], true);
}

#[tokio::test]
async fn texts_are_compared_cut_and_described() {
    let answer = of(
        "pi-coding-agent",
        "generateDiffString, generateUnifiedPatch, truncateToVisualLines, parseSkillBlock, formatDimensionNote, getShellConfig, \
         calculateContextTokens, shouldCompact",
        r#"return { diff: generateDiffString("a\nb\nc\n", "a\nB\nc\n"), patch: generateUnifiedPatch("f", "a\nb\nc\n", "a\nB\nc\n"),
             cut: truncateToVisualLines("a\nb\nc\nddddddddd", 2, 5).skippedCount,
             skill: parseSkillBlock('<skill name="x" location="/a/SKILL.md">\nbody\n</skill>\n\nargs here'),
             note: formatDimensionNote({ wasResized: true, originalWidth: 2000, originalHeight: 1000, width: 1000, height: 500 }),
             shell: getShellConfig(), tokens: calculateContextTokens({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 0 }),
             due: shouldCompact(100, 120, { enabled: true, reserveTokens: 30, keepRecentTokens: 1 }) };"#,
    )
    .await;
    let expected = json!({
        "diff": {"diff": " 1 a\n-2 b\n+2 B\n 3 c", "firstChangedLine": 2},
        "patch": "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
        "cut": 3,
        "skill": {"name": "x", "location": "/a/SKILL.md", "content": "body", "userMessage": "args here"},
        "note": "[Image: original 2000x1000, displayed at 1000x500. Multiply coordinates by 2.00 to map to original image.]",
        "shell": {"shell": "/bin/bash", "args": ["-c"]}, "tokens": 10, "due": true,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn colours_lines_and_links_of_the_terminal() {
    let answer = of(
        "pi-tui",
        "parseColor, colorToHex, sliceByColumn, hyperlink, fuzzyMatch, rgbColor, stripTerminalSequences, matchesKey",
        r##"return { hex: colorToHex(parseColor("okhsl(234 3% 89%)")), rgb: parseColor("#ff00aa"), index: parseColor(5),
             slice: sliceByColumn("abcdef", 2, 3), link: hyperlink("a", "http://x"), made: rgbColor(1, 2, 3),
             plain: stripTerminalSequences("\x1b[31mred\x1b[0m"), fits: fuzzyMatch("abc", "xaxbxc").matches };"##,
    )
    .await;
    let expected = json!({
        "hex": "#dee0e1", "rgb": {"kind": "rgb", "r": 255, "g": 0, "b": 170}, "index": {"kind": "indexed", "index": 5},
        "slice": "cde", "link": "\u{1b}]8;;http://x\u{1b}\\a\u{1b}]8;;\u{1b}\\", "made": {"kind": "rgb", "r": 1, "g": 2, "b": 3},
        "plain": "red", "fits": true,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn an_agent_in_script_runs_tools_until_the_model_is_done() {
    let answer = of(
        "pi-agent-core",
        "Agent",
        "const turn = (content, stopReason) => ({ role: 'assistant', content, stopReason, usage: {}, timestamp: 1 });
         const answers = [turn([{ type: 'toolCall', id: '1', name: 'add', arguments: { a: '2' } }], 'toolUse'), turn([{ type: 'text', text: 'done' }], 'stop')];
         const streamFn = async () => { const message = answers.shift(); return { async *[Symbol.asyncIterator]() { yield { type: 'start', partial: message }; }, result: async () => message }; };
         const add = { name: 'add', parameters: { type: 'object', properties: { a: { type: 'number' } } }, execute: async (_id, { a }) => ({ content: [{ type: 'text', text: String(a + 1) }], details: {} }) };
         const agent = new Agent({ streamFn, initialState: { model: { id: 'm' }, tools: [add] } });
         const seen = [];
         agent.subscribe((event) => seen.push(event.type));
         await agent.prompt('go');
         return { roles: agent.state.messages.map((one) => one.role), result: agent.state.messages[2].content[0].text,
             last: seen.at(-1), turns: seen.filter((one) => one === 'turn_end').length, streaming: agent.state.isStreaming };",
    )
    .await;
    let expected = json!({
        "roles": ["user", "assistant", "toolResult", "assistant"], "result": "3", "last": "agent_end", "turns": 2,
        "streaming": false,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn themes_are_listed_chosen_and_used_by_what_is_drawn() {
    let home = tempfile::tempdir().unwrap();
    let stage = stage(
        "export default (pi) => pi.on('x', (_e, ctx) => {
             const before = ctx.ui.theme.fg('accent', 'a');
             const chosen = ctx.ui.setTheme('sea');
             return { names: ctx.ui.getAllThemes().map((one) => one.name), before, chosen, after: ctx.ui.theme.fg('accent', 'a'),
                 bad: ctx.ui.setTheme('none').success, name: ctx.ui.theme.name, other: ctx.ui.getTheme('nothing') ?? null };
         })",
    )
    .await;
    let dark: serde_json::Value = serde_json::from_str(include_str!("../fixtures/theme.json")).unwrap();
    std::fs::write(home.path().join("sea.json"), dark.to_string()).unwrap();
    assert_eq!(stage.host.themes.load(&[home.path().to_owned()]), Vec::<String>::new());
    stage.host.themes.set_mode("truecolor");
    let answer = stage.fire("x", json!({})).await;
    let expected = json!({
        "names": ["dark", "light", "sea"], "before": "\u{1b}[36ma\u{1b}[39m", "chosen": {"success": true},
        "after": "\u{1b}[38;2;1;2;3ma\u{1b}[39m", "bad": false, "name": "sea", "other": null,
    });
    assert_eq!(answer, expected);
    assert_eq!(stage.notes(), ["theme sea"]);
}

#[tokio::test]
async fn listeners_to_the_keyboard_may_consume_and_change_keys() {
    let stage = stage(
        "export default (pi) => { let stop; pi.on('x', (_e, ctx) => { stop = ctx.ui.onTerminalInput((data) => data === 'q' ? { consume: true } : data === 'a' ? { data: 'b' } : undefined); });
             pi.on('y', () => stop()); }",
    )
    .await;
    stage.fire("x", json!({})).await;
    assert_eq!(stage.notes(), ["terminal input true"]);
    let extension = stage.only();
    assert_eq!(extension.terminal_input("q").await.unwrap(), None);
    assert_eq!(extension.terminal_input("a").await.unwrap().as_deref(), Some("b"));
    assert_eq!(extension.terminal_input("z").await.unwrap().as_deref(), Some("z"));
    stage.fire("y", json!({})).await;
    assert_eq!(stage.notes(), ["terminal input false"]);
    assert_eq!(extension.terminal_input("q").await.unwrap().as_deref(), Some("q"));
}

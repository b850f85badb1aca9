//! Components, keys and widths, without a screen.

use serde_json::json;

use crate::support::{Setup, plain, stage};

async fn evaluated(body: &str) -> serde_json::Value {
    let text = format!(
        "import * as tui from '@earendil-works/pi-tui';
         import {{ DynamicBorder, getSelectListTheme, getMarkdownTheme }} from '@earendil-works/pi-coding-agent';
         export default (pi) => pi.on('x', (e, ctx) => {{ const theme = ctx.ui.theme; {body} }})"
    );
    stage(&text).await.fire("x", json!({})).await
}

fn lines(value: &serde_json::Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|line| plain(line.as_str().unwrap()).trim_end().to_owned()).collect()
}

#[tokio::test]
async fn text_boxes_and_containers() {
    let answer = evaluated(
        "const box = new tui.Box(2, 1, (t) => theme.bg('customMessageBg', t));
         box.addChild(new tui.Text('one two three', 0, 0)); box.addChild(new tui.Spacer(1));
         box.addChild(new tui.TruncatedText('a very long line indeed'));
         return { lines: box.render(14), widths: box.render(14).map(tui.visibleWidth) };",
    )
    .await;
    assert_eq!(lines(&answer["lines"]), ["", "  one two", "  three", "", "  a very ...", ""]);
    assert!(answer["widths"].as_array().unwrap().iter().all(|width| width == 14), "{answer}");
}

#[tokio::test]
async fn a_list_is_walked_with_keys() {
    let answer = evaluated(
        "const list = new tui.SelectList([{ value: 'a', label: 'A', description: 'first' }, { value: 'b', label: 'B' }], 5, getSelectListTheme());
         const seen = []; list.onSelect = (item) => seen.push(item.value); list.onCancel = () => seen.push('cancel');
         for (const key of ['\\x1b[B', '\\r', '\\x1b[B', '\\r', '\\x1b']) list.handleInput(key);
         return { seen, lines: list.render(40) };",
    )
    .await;
    assert_eq!(answer["seen"], json!(["b", "a", "cancel"]));
    assert_eq!(lines(&answer["lines"])[1], "  B");
    assert!(lines(&answer["lines"])[0].starts_with("→ A") && lines(&answer["lines"])[0].ends_with("first"));
}

#[tokio::test]
async fn markdown_becomes_lines() {
    let answer = evaluated(
        "return { lines: new tui.Markdown('# Title\\n\\n- **bold** and `code`\\n- a longer item that wraps\\n\\n> said\\n\\n```\\nx = 1\\n```', 0, 0, getMarkdownTheme()).render(20) };",
    )
    .await;
    let expected = [
        "Title",
        "",
        "- bold and code",
        "- a longer item that",
        "  wraps",
        "",
        "│ said",
        "",
        "```",
        "  x = 1",
        "```",
    ];
    assert_eq!(lines(&answer["lines"]), expected);
}

#[tokio::test]
async fn keys_have_names() {
    let answer = evaluated(
        "const is = [['\\x1b[A', 'up'], ['\\r', 'return'], ['\\x03', 'ctrl+c'], ['\\x1b[1;5C', tui.Key.ctrl('right')], ['\\x1bp', 'alt+p'],
                      ['\\x1b[Z', 'shift+tab'], ['\\x1b[97;5u', 'ctrl+a'], ['G', 'shift+g'], [' ', 'space'], ['\\x1b', tui.Key.escape], ['\\x1b[99;7u', tui.Key.ctrlAlt('c')]];
         const isNot = [['a', 'b'], ['\\x1b[A', 'down'], ['\\x1b[1;5C', 'right'], ['x', 'ctrl+x']];
         return { is: is.filter(([d, k]) => !tui.matchesKey(d, k)).map(([, k]) => k), isNot: isNot.filter(([d, k]) => tui.matchesKey(d, k)), release: tui.isKeyRelease('\\x1b[97;1:3u') };",
    )
    .await;
    assert_eq!(answer, json!({"is": [], "isNot": [], "release": true}));
}

#[tokio::test]
async fn without_a_screen_every_question_has_a_harmless_answer() {
    let text = "export default (pi) => pi.on('x', async (e, ctx) => ({ values: [await ctx.ui.select('a', ['b']), await ctx.ui.confirm('a', 'b'),
        await ctx.ui.input('a'), await ctx.ui.editor('a'), await ctx.ui.custom(() => { throw new Error('never'); })].map(String), mode: ctx.mode, hasUI: ctx.hasUI }))";
    let plain = offshoot_agent::agent::Agent::new(crate::support::options().in_memory("/w").unwrap(), "/w");
    let host = std::sync::Arc::new(offshoot_extensions::host::Host::new(&plain.handle(), "/w", "/c"));
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.ts"), text).unwrap();
    let found = offshoot_extensions::discover::in_directory(home.path());
    let (extensions, errors) =
        offshoot_extensions::Extensions::load(&found, &host, &Default::default()).await;
    assert_eq!(errors, []);
    let one = extensions.iter().next().unwrap();
    let answers =
        offshoot_agent::hooks::Handler::call(one, "x", &json!({}), &Default::default()).await.unwrap();
    let expected = json!({"values": ["undefined", "false", "undefined", "undefined", "undefined"], "mode": "print", "hasUI": false});
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn a_component_that_hangs_is_ended() {
    let limits =
        offshoot_extensions::Limits { screen: std::time::Duration::from_millis(50), ..Default::default() };
    let text = "export default (pi) => pi.on('x', (e, ctx) => ctx.ui.setFooter(() => ({ render() { for (;;) {} } })))";
    let stage = Setup { limits, ..Setup::default() }.with(&[("a.ts", text)]).await;
    stage.fire("x", json!({})).await;
    assert!(stage.try_drawn().await.is_err());
    assert!(stage.only().disabled().is_some());
}

#[tokio::test]
async fn what_is_replaced_or_taken_away_is_disposed_of() {
    let text = "export default (pi) => {
        const gone = [];
        const one = (name) => () => ({ render: () => [name], dispose: () => gone.push(name) });
        pi.on('x', (e, { ui }) => {
            ui.setWidget('k', one('a')); ui.setWidget('k', one('b')); ui.setWidget('other', one('c')); ui.setWidget('k', ['text']);
            ui.setFooter(one('d')); ui.setHeader(one('e')); ui.setFooter(undefined); ui.setHeader(one('f'));
            return { gone };
        });
    }";
    let stage = stage(text).await;
    assert_eq!(stage.fire("x", json!({})).await, json!({"gone": ["a", "b", "d", "e"]}));
    assert_eq!(stage.drawn().await, "f");
}

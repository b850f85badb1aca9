//! Sessions of people who want to run something in the reader's browser.
//!
//! 29 payloads stand in every field that can carry text. A real HTML parser looks at the page as it is written, and
//! the page is walked through with scripts on: nothing runs, nothing is loaded, the policy has nothing to stop.

use serde_json::{Value, json};
use session_tree::Session;
use testkit::browser::Browser;

use crate::support::{Page, html, plain};

const RUN: &str = "window.__x=1";

/// The payloads; `RUN` is what they want to run.
fn payloads() -> Vec<String> {
    let texts = [
        "<script>RUN</script>",
        "<img src=x onerror=\"RUN\">",
        "<svg onload=RUN>",
        "\"><script>RUN</script>",
        "'><img src=x onerror=RUN>",
        "</template><script>RUN</script>",
        "</script><script>RUN</script>",
        "</style><script>RUN</script>",
        "</title><script>RUN</script>",
        "--><script>RUN</script>",
        "]]><script>RUN</script>",
        "[x](javascript:RUN)",
        "![x](javascript:RUN)",
        "![x](http://evil.example/track.png) <img src=http://evil.example/t.png>",
        "<javascript:RUN>",
        "[x](data:text/html,<script>RUN</script>)",
        "[x](java\tscript:RUN) [y](\u{1}javascript:RUN) [z](vbscript:RUN)",
        "`</code><script>RUN</script>`",
        "```\"><script>RUN</script>\n</code></pre><script>RUN</script>\n```",
        "<iframe srcdoc=\"<script>parent.RUN</script>\"></iframe><iframe src=javascript:parent.RUN>",
        "<a href=javascript:RUN autofocus onfocus=RUN tabindex=1>",
        "<math><mtext></p><script>RUN</script>",
        "\\u003cscript\\u003eRUN\\u003c/script\\u003e &lt;script&gt;RUN&lt;/script&gt;",
        "{{constructor.constructor('RUN')()}} ${RUN} <%= RUN %>",
        "<meta http-equiv=refresh content=\"0;url=http://evil.example/\">",
        "![x\" onerror=\"RUN](http://a)",
        "[x](http://a\" onfocus=\"RUN\" autofocus=\"\")",
        "![x](x\" onerror=\"RUN)",
        "<base href=http://evil.example/><link rel=stylesheet href=http://evil.example/x.css><style>@import 'http://evil.example/y.css'</style>",
    ];
    assert_eq!(texts.len(), 29);
    texts.map(|text| text.replace("RUN", RUN)).to_vec()
}

/// The entries that carry one payload, without their envelopes.
fn carriers(p: &str) -> Vec<Value> {
    let message = |message: Value| json!({"type": "message", "message": message});
    let usage = json!({"input": p, "output": p, "totalTokens": p, "cost": {"total": p}});
    vec![
        message(json!({"role": "user", "content": p})),
        message(
            json!({"role": "user", "content": [{"type": "text", "text": p}, {"type": "image", "data": p, "mimeType": p}, {"type": "image", "data": p, "mimeType": "image/png"}, {"type": p, "x": p}]}),
        ),
        message(
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": p}, {"type": "text", "text": p},
            {"type": "toolCall", "id": p, "name": p, "arguments": {p: p, "path": p, "content": p}},
            {"type": "toolCall", "id": format!("bash{p}"), "name": "bash", "arguments": {"command": p}},
            {"type": "toolCall", "id": format!("write{p}"), "name": "write", "arguments": {"path": format!("{p}.js"), "content": p}},
            {"type": "toolCall", "id": format!("edit{p}"), "name": "edit", "arguments": {"path": p, "edits": [{"oldText": p, "newText": p}]}},
            {"type": "toolCall", "id": format!("read{p}"), "name": "read", "arguments": {"path": p, "offset": p, "limit": p}},
            {"type": "toolCall", "id": format!("odd{p}"), "name": "grep", "arguments": p}],
            "model": p, "provider": p, "api": p, "stopReason": p, "errorMessage": p, "usage": usage}),
        ),
        message(
            json!({"role": "toolResult", "toolCallId": p, "toolName": p, "isError": p, "content": [{"type": "text", "text": p}, {"type": "image", "data": p, "mimeType": p}], "details": {"diff": p, p: p}}),
        ),
        message(
            json!({"role": "toolResult", "toolCallId": format!("bash{p}"), "toolName": "bash", "isError": true, "content": p}),
        ),
        message(json!({"role": "bashExecution", "command": p, "output": p, "exitCode": p})),
        message(json!({"role": "system", "content": p, "toolsAdded": [{"name": p}]})),
        message(json!({"role": p, "content": p})),
        json!({"type": "custom_message", "customType": p, "content": p, "display": true, "details": {"kind": "cherry-pick", "sourceEntryIds": [p], p: p}}),
        json!({"type": "custom", "customType": p, "data": {p: p}}),
        json!({"type": "branch_summary", "summary": p, "fromId": p, "details": {"merge": {"sourceLeafId": p, "sourceSession": {"id": p}}}}),
        json!({"type": "compaction", "summary": p, "firstKeptEntryId": p, "tokensBefore": p, "details": {p: p}}),
        json!({"type": "model_change", "provider": p, "modelId": p}),
        json!({"type": "thinking_level_change", "thinkingLevel": p}),
        json!({"type": "session_info", "name": p}),
        json!({"type": "context_edit", "targetId": p, "replacement": {"content": p}}),
        json!({"type": p, "anything": p}),
        json!({"type": "label", "targetId": "e1", "label": p}),
    ]
}

/// One path through all payloads, with a branch and an odd id for each.
fn session() -> Session {
    let all = payloads().join(" ");
    let header = json!({"type": "session", "version": 3, "id": all, "timestamp": "2025-01-01T00:00:00.000Z", "cwd": all, "title": all});
    let mut lines = vec![header];
    let mut parent = Value::Null;
    let mut number = 0;
    for payload in payloads() {
        lines.push(json!({"type": "message", "id": payload, "parentId": parent, "timestamp": payload, "message": {"role": "user", "content": payload}}));
        for mut entry in carriers(&payload) {
            number += 1;
            let id = json!(format!("e{number}"));
            entry["id"] = id.clone();
            entry["parentId"] = std::mem::replace(&mut parent, id);
            entry["timestamp"] = json!("2025-01-01T00:00:01.000Z");
            lines.push(entry);
        }
        lines.push(json!({"type": "label", "id": format!("l{number}"), "parentId": parent, "targetId": payload, "label": payload, "timestamp": "2025-01-01T00:00:02.000Z"}));
    }
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    Session::from_bytes(text.join("\n").into_bytes()).unwrap()
}

/// Looks at every element of the document: what it is, and where it leads.
const LOOK: &str = "(() => {
    const bad = [];
    const known = new Set(('html head meta title style body header button span div nav input select option main section h1 h2 h3 h4 h5 h6 p dl dt dd '
        + 'small ul ol li a noscript article b time label details summary pre code img dialog template script strong em del blockquote table tr th td br hr i mark kbd').split(' '));
    const look = (root) => {
        for (const node of root.querySelectorAll('*')) {
            if (!known.has(node.localName)) bad.push(`element ${node.localName}`);
            for (const { name, value } of node.attributes) {
                if (/^on/i.test(name) || name === 'srcdoc' || name === 'style' && !/^(div|i)$/.test(node.localName)) bad.push(`${node.localName} ${name}`);
                if ((name === 'href' || name === 'xlink:href') && !/^(#|https?:\\/\\/|mailto:)/i.test(value)) bad.push(`${name} ${value}`);
                if (name === 'src' && !/^data:image\\/(png|jpeg|gif|webp|avif|bmp);base64,/.test(value)) bad.push(`${name} ${value}`);
            }
            if (node.localName === 'template') look(node.content);
        }
    };
    look(document);
    const scripts = document.querySelectorAll('script').length;
    if (scripts !== 1) bad.push(`${scripts} scripts`);
    if (document.querySelectorAll('meta').length !== 5) bad.push('a meta');
    if (document.querySelectorAll('style').length !== 1) bad.push('a style');
    return bad;
})()";

fn assert_harmless(browser: &mut Browser, file: &str) {
    assert_eq!(browser.eval(LOOK), json!([]));
    assert_eq!(browser.eval("window.__x === undefined"), true);
    let outside: Vec<String> = browser.requests().into_iter().filter(|url| is_outside(url, file)).collect();
    assert_eq!(outside, Vec::<String>::new());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn is_outside(url: &str, file: &str) -> bool {
    !(url.starts_with(file) || url.starts_with("data:image/"))
}

#[test]
fn nothing_that_a_session_says_runs_or_loads_anything() {
    let page = Page::of(&session(), &plain());
    let file = format!("file://{}", page.file.display());
    let mut browser = Browser::start();

    // As it is written, by the parser that counts.
    browser.without_scripts();
    browser.navigate(&file);
    assert_harmless(&mut browser, &file);
    drop(browser);

    // As it is shown: every branch, every part of the long path, every filter, every search.
    let mut browser = Browser::start();
    browser.open(&page.file);
    assert_harmless(&mut browser, &file);
    let last = carriers("").len() * payloads().len();
    for at in (1..=last).step_by(12) {
        browser.eval(&format!("location.hash = 'e{at}'"));
        browser.wait(&format!("document.querySelector('.target') && location.hash === '#e{at}'"));
        browser.eval("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    }
    for payload in payloads() {
        browser.eval(&format!("location.hash = encodeURIComponent({})", json!(payload)));
        browser.eval(&format!(
            "(() => {{ const query = document.querySelector('#query'); query.value = {}; query.dispatchEvent(new Event('input')); }})()",
            json!(payload)
        ));
        browser.wait("document.querySelector('#status').textContent.includes('hit')");
    }
    assert_harmless(&mut browser, &file);
    browser.eval("document.querySelector('#reset').click()");
    for filter in
        ["all", "turns", "branches", "errors", "files", "labeled-only", "user-only", "no-tools", "default"]
    {
        browser.eval(&format!("(() => {{ const box = document.querySelector('#filter'); box.value = '{filter}'; box.dispatchEvent(new Event('change')); }})()"));
        browser.eval("document.querySelector('#times').click()");
        assert_harmless(&mut browser, &file);
    }
}

#[test]
fn the_policy_of_a_page_stops_what_no_template_wrote() {
    let page = Page::drawn("u1 user hello");
    let text = std::fs::read_to_string(&page.file).unwrap();
    let planted = format!("<script>{RUN}</script><img src=x onerror=\"{RUN}\">");
    assert!(text.contains("</body>"));
    std::fs::write(&page.file, text.replacen("</body>", &format!("{planted}</body>"), 1)).unwrap();
    let mut browser = Browser::start();
    browser.open(&page.file);
    assert_eq!(browser.eval("document.querySelectorAll('script').length > 1"), true, "it is there");
    assert_eq!(browser.eval("window.__x === undefined"), true);
    assert_ne!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn parts_hold_nothing_that_html_knows() {
    let page = html(&session(), &plain());
    let parts: Vec<&str> = page.split("<template").skip(1).collect();
    assert!(parts.len() > 10, "{}", parts.len());
    for part in parts {
        let (_, content) = part.split_once('>').unwrap();
        let (content, _) = content.split_once("</template>").unwrap();
        assert!(!content.contains(['<', '>', '&']), "{content}");
        if !part.contains("data-packed") {
            content.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
        }
    }
    assert!(page.contains("http-equiv=\"Content-Security-Policy\""));
    assert!(page.contains("default-src &#39;none&#39;; script-src &#39;sha256-"), "the policy");
}

#[test]
fn deep_markdown_and_deep_json_have_a_floor() {
    let quotes = ">".repeat(50_000);
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let mut lines = vec![json!({"type": "session", "version": 3, "id": "s", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/"}).to_string()];
    lines.push(json!({"type": "message", "id": "a", "parentId": null, "timestamp": "2025-01-01T00:00:01.000Z", "message": {"role": "user", "content": format!("{quotes} deep words")}}).to_string());
    lines.push(format!(r#"{{"type":"custom_message","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:02.000Z","customType":"x","content":"after","display":true,"details":{deep}}}"#));
    let session = Session::from_bytes(lines.join("\n").into_bytes()).unwrap();
    let page = Page::of(&session, &plain());
    let mut browser = Browser::start();
    browser.open(&page.file);
    let text = browser.eval("document.querySelector('#log').innerText");
    assert!(text.as_str().unwrap().contains("deep words"));
    assert!(text.as_str().unwrap().contains("after"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

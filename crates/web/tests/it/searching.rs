//! Searching in the page: what is found, how hits are walked through, and how a search ends.

use offshoot_web::ExportOptions;
use serde_json::{Value, json};
use session_view::{Query, Search};
use testkit::browser::Browser;

use crate::support::{Page, THREE_WAYS, everything, session};

const HITS: &str =
    "[...document.querySelectorAll('#hit-list .hit')].map((hit) => decodeURIComponent(hit.hash.slice(1)))";

/// Types a query and waits until the search is complete; returns the ids of the hits, or the status without hits.
fn found(browser: &mut Browser, query: &str) -> Vec<String> {
    type_query(browser, query);
    browser.wait("/hits?(, the first 400 listed)?$|:/.test(document.querySelector('#status').textContent)");
    serde_json::from_value(browser.eval(HITS)).unwrap()
}

fn type_query(browser: &mut Browser, query: &str) {
    browser.eval("document.querySelector('#status').textContent = ''");
    browser.eval(&format!(
        "(() => {{ const box = document.querySelector('#query'); box.focus(); box.value = {}; box.dispatchEvent(new Event('input')); }})()",
        json!(query)
    ));
}

fn status(browser: &mut Browser) -> Value {
    browser.eval("document.querySelector('#status').textContent")
}

#[test]
fn queries_find_what_they_find_in_the_terminal() {
    let session = session(&everything());
    let page = Page::of(&session, &ExportOptions::default());
    let mut browser = Browser::start();
    browser.open(&page.file);
    for query in [
        "python",
        "\"from python\"",
        "rust -version",
        "role:user",
        "role:assistant greets",
        "role:result",
        "tool:bash",
        "tool:web",
        "file:secret",
        "file:kept",
        "label:base",
        "baseline",
        "before:2025-01-02",
        "after:2025-01-02",
        "needle",
        "re:line 3\\d of",
        "re:^use (node|rust)$",
        "weather",
        "overloaded",
        "think",
        "cargo",
        "-role:user -role:assistant",
        "careful",
        "checks",
        "b10",
        "compaction",
        "off",
        "404",
        "quoted",
    ] {
        let mut search = Search::new(&session, Query::parse(query));
        search.run(&session).unwrap();
        let mut expected: Vec<String> =
            search.hits(&session).iter().map(|node| session.tree().id(*node).as_str().to_owned()).collect();
        let mut hits = found(&mut browser, query);
        expected.sort();
        hits.sort();
        assert_eq!(hits, expected, "{query}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_query_that_cannot_be_understood_is_named() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.open(&page.file);
    for query in ["re:[", "before:2025-13-45", "after:soon"] {
        assert_eq!(found(&mut browser, query), Vec::<String>::new());
        let said = status(&mut browser);
        assert!(said.as_str().unwrap().starts_with(&format!("{query}: ")), "{said}");
    }
}

#[test]
fn snippets_are_text_and_arguments_of_tools_are_not_json() {
    let page = Page::drawn(&everything());
    let mut browser = Browser::start();
    browser.open(&page.file);
    for query in ["secret.rs", "needle", "seq"] {
        found(&mut browser, query);
        let text = browser.eval("document.querySelector('#hit-list').innerText");
        let text = text.as_str().unwrap();
        assert!(text.contains(query) && !text.contains(['{', '}', '"']), "{text}");
    }
}

#[test]
fn enter_moves_on_arrows_select_and_escape_keeps_the_place() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.open(&page.file);
    browser.press("/");
    for key in "use".chars() {
        browser.press(&key.to_string());
    }
    browser.wait("document.querySelector('#status').textContent === '4 hits'");
    let hits: Vec<String> = serde_json::from_value(browser.eval(HITS)).unwrap();
    let place = |browser: &mut Browser| browser.eval("location.hash.slice(1)");
    let selected =
        |browser: &mut Browser| browser.eval("document.querySelector('.hit[aria-current]')?.hash.slice(1)");
    browser.press("Enter");
    assert_eq!(place(&mut browser), hits[0].as_str());
    browser.press("Enter");
    assert_eq!(place(&mut browser), hits[1].as_str());
    browser.press("ArrowDown");
    browser.press("ArrowDown");
    browser.press("ArrowUp");
    assert_eq!(selected(&mut browser), hits[2].as_str());
    assert_eq!(place(&mut browser), hits[1].as_str(), "an arrow only selects");
    browser.press("Enter");
    assert_eq!(place(&mut browser), hits[2].as_str());
    assert_eq!(browser.eval("document.activeElement.id"), "query");
    assert_eq!(status(&mut browser), format!("hit 3 of {}", hits.len()));

    browser.press("Escape");
    assert_eq!(place(&mut browser), hits[2].as_str());
    assert_eq!(browser.eval("document.querySelector('#query').value"), "");
    assert_eq!(browser.eval("document.querySelector('#tree').hidden"), false, "the tree is back");
    assert_eq!(browser.eval("document.querySelectorAll('mark').length"), 0);
    browser.press("Escape");
    assert_eq!(place(&mut browser), hits[2].as_str());
}

#[test]
fn hits_are_marked_in_the_conversation_also_in_output_that_was_cut() {
    let page = Page::drawn(&everything());
    let mut browser = Browser::start();
    browser.open(&page.file);
    assert_eq!(
        browser.eval("document.querySelector('#log').innerText.includes('line 37 of')"),
        false,
        "it is cut"
    );
    found(&mut browser, "\"line 37\"");
    browser.press("Enter");
    browser.wait("document.querySelector('#log .target mark')");
    assert_eq!(browser.eval("document.querySelector('#log .target mark').textContent"), "line 37");

    // What a fold hides is opened.
    found(&mut browser, "careful");
    browser.press("Enter");
    browser.wait("document.querySelector('#log .target mark')");
    let height = browser.eval("document.querySelector('#log .target mark').getBoundingClientRect().height");
    assert!(height.as_f64().unwrap() > 0.0);

    // Marks follow the query, and go with it.
    found(&mut browser, "rains");
    assert_eq!(
        browser.eval("[...document.querySelectorAll('#log mark')].map((mark) => mark.textContent)"),
        json!(["rains"])
    );
    browser.press("Escape");
    assert_eq!(browser.eval("document.querySelectorAll('#log mark').length"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

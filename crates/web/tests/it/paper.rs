//! The page on paper: the whole branch, and a word about all that is not on it.

use serde_json::Value;
use testkit::browser::Browser;
use testkit::corpus::Shape;

use crate::support::{Page, everything};

/// Prints the page and returns its text, entries and cut parts as they were on paper.
fn printed(browser: &mut Browser) -> Value {
    browser.eval(
        "addEventListener('beforeprint', () => {
            window.paper = { text: document.querySelector('#log').innerText,
                entries: document.querySelectorAll('#log article').length,
                cut: [...document.querySelectorAll('.clip[data-cut]')].map((clip) => clip.dataset.cut) };
        })",
    );
    browser.print();
    browser.eval("window.paper")
}

#[test]
fn all_of_a_branch_is_printed_and_the_screen_is_as_it_was_before() {
    let page = Page::shaped(&Shape::chain(1_018));
    let mut browser = Browser::start();
    browser.open(&page.file);
    let entries = "document.querySelectorAll('#log article').length";
    let before = browser.eval(entries);
    assert!(before.as_u64().unwrap() < 400, "{before}");
    let paper = printed(&mut browser);
    assert_eq!(paper["entries"], 1_018);
    assert_eq!(browser.eval(entries), before);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn what_is_cut_or_folded_is_marked_on_paper() {
    let page = Page::drawn(&everything());
    let mut browser = Browser::start();
    browser.open(&page.file);
    let paper = printed(&mut browser);
    assert_eq!(paper["cut"], serde_json::json!(["… 28 more lines, not printed"]));
    browser.on_paper();
    let after = |node: &str| format!("getComputedStyle(document.querySelector('{node}'), '::after').content");
    assert_eq!(browser.eval(&after(".clip[data-cut]")), "\"… 28 more lines, not printed\"");
    assert_eq!(browser.eval(&after("details:not([open]) > summary")), "\" (folded, not printed)\"");

    // An open dialog covers nothing.
    browser.eval("document.querySelector('#keys').showModal()");
    assert_eq!(browser.eval("document.querySelector('#keys').getBoundingClientRect().height"), 0);
    browser.eval("document.querySelector('#keys').close()");

    // With all output open nothing is cut.
    browser.eval("document.querySelector('#output').click()");
    let paper = printed(&mut browser);
    assert_eq!(paper["cut"], serde_json::json!([]));
    assert!(paper["text"].as_str().unwrap().contains("line 40 of the output"), "{paper}");
}

#[test]
fn paper_names_the_entries_that_are_missing_from_a_huge_branch() {
    let page = Page::shaped(&Shape::chain(5_100));
    let mut browser = Browser::start();
    browser.open(&page.file);
    // Without a printer, which would take a minute.
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.eval("document.querySelectorAll('#log article').length"), 5_000);
    let end = browser.eval("document.querySelector('#log').lastChild.textContent");
    assert_eq!(end, "100 more entries below");
    browser.on_paper();
    let said = "getComputedStyle(document.querySelector('.edge[data-edge=after]'), '::after').content";
    assert_eq!(browser.eval(said), "\", not printed\"");
}

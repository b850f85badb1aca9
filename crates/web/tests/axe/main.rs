//! Pages as axe-core sees them: no violation of any of its rules.
//!
//! axe-core is read from the file that `OFFSHOOT_AXE` names: `axe.min.js` of the published package `axe-core`. It is
//! not part of this project.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../it/support.rs"]
mod support;

use serde_json::{Value, json};
use support::{Page, everything, plain, session};
use testkit::browser::Browser;

/// Runs all rules of axe-core on the page as it is shown; lists what it finds.
fn violations(browser: &mut Browser) -> Value {
    let Some(file) = std::env::var_os("OFFSHOOT_AXE") else {
        panic!("OFFSHOOT_AXE does not name the file axe.min.js of the package axe-core");
    };
    let axe = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    browser.eval(&format!("{axe}; 1"));
    browser.eval(
        "axe.run(document).then((found) => found.violations.flatMap(({ id, nodes }) =>
            nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`)))",
    )
}

fn assert_accessible(browser: &mut Browser, what: &str) {
    let found = violations(browser);
    let list = found.as_array().unwrap();
    assert!(list.is_empty(), "{what}: {} violations: {:#}", list.len(), json!(list));
}

#[test]
fn a_page_in_light_and_dark_has_no_violations() {
    let page = Page::of(&session(&everything()), &plain());
    let mut browser = Browser::start();
    browser.open(&page.file);
    browser.eval("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    for colours in ["auto", "light", "dark"] {
        assert_eq!(browser.eval("document.documentElement.dataset.theme"), colours);
        assert_accessible(&mut browser, colours);
        browser.eval("document.querySelector('#theme').click()");
    }
}

#[test]
fn filters_searches_dialogs_and_other_branches_have_no_violations() {
    let page = Page::of(&session(&everything()), &plain());
    let mut browser = Browser::start();
    browser.open(&page.file);
    for filter in ["all", "turns", "files", "errors"] {
        browser.eval(&format!(
            "(() => {{ const box = document.querySelector('#filter'); box.value = '{filter}'; box.dispatchEvent(new Event('change')); }})()"
        ));
        assert_accessible(&mut browser, filter);
    }
    browser.eval("location.hash = 'a3'");
    browser.wait("document.querySelector('.target')");
    assert_accessible(&mut browser, "another branch");
    browser.press("/");
    browser.press("e");
    browser.press("Enter");
    browser.wait("document.querySelector('#log mark')");
    assert_accessible(&mut browser, "a search");
    browser.press("Escape");
    browser.press("?");
    browser.wait("document.querySelector('#keys').open");
    assert_accessible(&mut browser, "the keys");
}

#[test]
fn a_phone_with_its_drawer_and_a_page_without_scripts_have_no_violations() {
    let page = Page::of(&session(&everything()), &plain());
    let mut browser = Browser::start();
    browser.size(390, 844);
    browser.open(&page.file);
    assert_accessible(&mut browser, "a phone");
    browser.eval("document.querySelector('#menu').click()");
    browser.wait("document.querySelector('#side').getBoundingClientRect().left >= 0");
    assert_accessible(&mut browser, "its drawer");
    // A browser that runs no scripts would not run axe-core either.
    let text = std::fs::read_to_string(&page.file).unwrap();
    let (before, script) = text.split_once("<script>").unwrap();
    let (_, after) = script.split_once("</script>").unwrap();
    std::fs::write(&page.file, format!("{before}{after}")).unwrap();
    browser.navigate(&format!("file://{}", page.file.display()));
    assert_accessible(&mut browser, "without scripts");
}

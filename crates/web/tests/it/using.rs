//! Tools of the page: saving the session, copying, switching, asking for the keys.

use offshoot_web::ExportOptions;
use session_tree::Session;
use testkit::browser::Browser;
use testkit::drawing::session_text;

use crate::support::{Page, THREE_WAYS, everything, html, plain, session};

#[test]
fn the_session_file_is_saved_as_it_was_written() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.open(&page.file);
    browser.eval("URL.createObjectURL = (blob) => { window.saved = blob; return '#saved'; }");
    browser.eval("HTMLAnchorElement.prototype.click = function () { window.name = this.download; }");
    browser.eval("document.querySelector('#file').click()");
    assert_eq!(browser.eval("window.name"), "Three-greeters.jsonl");
    let saved = browser.eval("window.saved.text()");
    let saved = saved.as_str().unwrap();
    let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(saved), lines(&String::from_utf8(session_text(THREE_WAYS)).unwrap()));
    let header = |session: &Session| {
        (session.header().id().into_owned(), session.header().cwd().map(|cwd| cwd.into_owned()))
    };
    let again = Session::from_bytes(saved.as_bytes().to_vec()).unwrap();
    assert_eq!(header(&again), header(&session(THREE_WAYS)));
}

#[test]
fn a_page_that_leaves_something_out_has_no_session_file() {
    let session = session(THREE_WAYS);
    assert!(html(&session, &plain()).contains("data-part=\"file\""));
    for options in [ExportOptions { tools: false, ..plain() }, ExportOptions { thinking: false, ..plain() }] {
        let page = html(&session, &options);
        assert!(!page.contains("data-part=\"file\"") && !page.contains("id=\"file\""));
    }
}

#[test]
fn messages_and_output_are_copied_as_text() {
    let page = Page::drawn(&everything());
    let mut browser = Browser::start();
    browser.open(&page.file);
    browser.eval("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    let mut copy = |button: &str| {
        browser.eval(&format!("document.querySelector('{button}').click()"));
        browser.eval("window.copied").as_str().unwrap().to_owned()
    };
    assert_eq!(copy("article[aria-label*=\"Look at this picture\"] header .copy"), "Look at this picture");
    let answer = copy("article[aria-label*=Plan] header .copy");
    assert!(answer.starts_with("# Plan\nSee [the manual](https://example.org) and `code`.\n"), "{answer}");
    let output = copy("article[aria-label*=Plan] .clip .copy");
    assert!(
        output.starts_with("line 1 of the output\n") && output.ends_with("line 40 of the output"),
        "{output}"
    );
}

#[test]
fn a_question_mark_shows_the_keys() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.open(&page.file);
    browser.press("?");
    assert_eq!(browser.eval("document.querySelector('#keys').open"), true);
    browser.eval("document.querySelector('#keys button').click()");
    assert_eq!(browser.eval("document.querySelector('#keys').open"), false);
}

#[test]
fn a_phone_switches_thinking_and_output() {
    let page = Page::drawn(&everything());
    let mut browser = Browser::start();
    browser.size(390, 844);
    browser.open(&page.file);
    for button in ["thinking", "output", "file", "help", "reset", "theme", "menu"] {
        let right =
            browser.eval(&format!("document.querySelector('#{button}').getBoundingClientRect().right"));
        assert!((1.0..=390.0).contains(&right.as_f64().unwrap()), "{button}: {right}");
    }
    browser.eval("document.querySelector('#thinking').click(); document.querySelector('#output').click()");
    let text = browser.eval("document.querySelector('#log').innerText");
    let text = text.as_str().unwrap();
    assert!(text.contains("line 40 of the output") && !text.contains("Let me think."), "{text}");
}

#[test]
fn text_is_centred_when_the_tree_is_closed() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.open(&page.file);
    browser.eval("document.querySelector('#menu').click()");
    let box_ = "document.querySelector('main').getBoundingClientRect()";
    let off = browser.eval(&format!("{box_}.left - (innerWidth - {box_}.right)"));
    assert!(off.as_f64().unwrap().abs() < 2.0, "{off}");
}

#[test]
fn deep_rows_keep_most_of_their_width_for_text() {
    let mut drawing = String::from("e0 user start\n");
    for at in 1..=30 {
        drawing.push_str(&format!("e{at}<e{} user way {at}\nx{at}<e{} user other {at}\n", at - 1, at - 1));
    }
    let page = Page::drawn(&drawing);
    let mut browser = Browser::start();
    browser.open(&page.file);
    let widest = "Math.max(...[...document.querySelectorAll('#rows .row')].map((row) =>
        row.querySelector('.said').getBoundingClientRect().left - row.getBoundingClientRect().left))";
    let indent = browser.eval(widest);
    assert!(indent.as_f64().unwrap() < 140.0, "{indent}");
}

#[test]
fn system_messages_and_tools_are_shown() {
    let page = Page::drawn(&everything());
    let mut browser = Browser::start();
    browser.open(&page.file);
    let text = browser.eval("document.querySelector('#log .system').textContent");
    for said in ["You are careful.", "Run the checks.", "2 tools: bash, read", "Reads a file."] {
        assert!(text.as_str().unwrap().contains(said), "{said}: {text}");
    }
}

#[test]
fn times_have_one_form_and_a_setting_is_no_branch_name() {
    let page = Page::drawn(&everything());
    let mut browser = Browser::start();
    browser.open(&page.file);
    browser.eval("document.querySelector('#times').click()");
    let odd = r"[...document.querySelectorAll('time')].map((time) => time.textContent).filter((text) => !/^\d{4}-\d\d-\d\d \d\d:\d\d$/.test(text))";
    assert_eq!(browser.eval(odd), serde_json::json!([]));
    let when = browser.eval("document.querySelector('.when').firstChild.textContent");
    assert_eq!(when.as_str().unwrap().trim(), "2025-01-01 – 2025-01-02");
    let crumb = browser.eval("document.querySelector('#crumb').innerText");
    assert!(!crumb.as_str().unwrap().contains("thinking"), "{crumb}");
    let ways = browser.eval("document.querySelector('#crumb b').textContent");
    assert!(!ways.as_str().unwrap().is_empty());
}

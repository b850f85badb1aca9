//! The page in a real browser: opening, folding, filtering, going somewhere and back.

use testkit::browser::Browser;
use testkit::corpus::Shape;

use crate::support::{Page, THREE_WAYS};

const ROWS: &str =
    "[...document.querySelectorAll('#rows .row')].map((row) => row.querySelector('.said').textContent)";
const LOG: &str = "document.querySelector('#log').innerText";

fn rows(browser: &mut Browser) -> Vec<String> {
    serde_json::from_value(browser.eval(ROWS)).unwrap()
}

fn text(browser: &mut Browser) -> String {
    browser.eval(LOG).as_str().unwrap().to_owned()
}

fn choose(browser: &mut Browser, filter: &str) {
    browser.eval(&format!(
        "(() => {{ const box = document.querySelector('#filter'); box.value = '{filter}'; box.dispatchEvent(new Event('change')); }})()"
    ));
}

/// Clicks the row with a text and waits until the address names it.
fn click(browser: &mut Browser, said: &str) {
    browser.eval(&format!(
        "[...document.querySelectorAll('#rows .row')].find((row) => row.textContent.includes('{said}')).click()"
    ));
}

#[test]
fn a_session_is_walked_through_with_mouse_keys_and_history() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.open(&page.file);
    let opened = text(&mut browser);
    assert!(opened.contains("The Rust version greets people"), "{opened}");
    assert!(opened.contains("3 ways from here"), "{opened}");
    assert!(opened.contains("The session ends here"), "{opened}");
    assert!(!opened.contains("print hello from python"), "{opened}");

    // Filters show the rows of the engine's outline.
    let all: Vec<String> = rows(&mut browser);
    assert!(all.iter().any(|row| row == "[branch summary]: Node was too slow"), "{all:?}");
    choose(&mut browser, "user-only");
    let prompts = ["Build a greeter", "Use Rust", "Use Node", "Use Python instead"];
    assert_eq!(rows(&mut browser), prompts);
    choose(&mut browser, "turns");
    assert_eq!(rows(&mut browser).len(), 5, "four prompts and the labelled answer");
    choose(&mut browser, "labeled-only");
    assert_eq!(rows(&mut browser), ["The project is there."]);
    choose(&mut browser, "files");
    assert_eq!(rows(&mut browser).last().unwrap(), "[edit: ]");
    choose(&mut browser, "errors");
    assert_eq!(rows(&mut browser), Vec::<String>::new());

    // A click shows another branch, Back returns, the button goes to the end.
    choose(&mut browser, "default");
    click(&mut browser, "Use Python instead");
    browser.wait("document.querySelector('#log').innerText.includes('print hello from python')");
    assert_eq!(browser.eval("location.hash"), "#u3");
    assert!(text(&mut browser).contains("abandoned"), "{}", text(&mut browser));
    browser.eval("history.back()");
    browser.wait("document.querySelector('#log').innerText.includes('The Rust version')");
    click(&mut browser, "Use Node");
    browser.wait("document.querySelector('#log').innerText.includes('Here is a Node version')");
    browser.eval("document.querySelector('#reset').click()");
    browser.wait("document.querySelector('#log').innerText.includes('The Rust version')");

    // Folding hides what hangs below a branch.
    let before = rows(&mut browser).len();
    browser.eval("document.querySelector('#rows .g + .fold').click()");
    assert!(rows(&mut browser).len() < before);
    browser.eval("document.querySelector('#unfold').click()");
    assert_eq!(rows(&mut browser).len(), before);

    // Keys.
    browser.eval("document.querySelector('#tree').focus()");
    browser.press("Home");
    browser.press("j");
    assert_eq!(
        browser.eval("document.querySelector('.row.cursor .said').textContent"),
        rows(&mut browser)[1]
    );
    browser.press("k");
    assert_eq!(browser.eval("document.querySelector('.row.cursor').getAttribute('aria-selected')"), "true");
    browser.eval("document.querySelector('#reset').click()");
    browser.press("]");
    assert_eq!(browser.eval("document.querySelector('.row.cursor .said').textContent"), "Use Node");
    browser.press("Enter");
    browser.wait("document.querySelector('#log').innerText.includes('Here is a Node version')");
    browser.press("[");
    browser.press("/");
    assert_eq!(browser.eval("document.activeElement.id"), "query");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn an_address_with_an_entry_opens_there() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.navigate(&format!("file://{}#a3", page.file.display()));
    browser.wait("document.querySelector('#log .target')");
    let target = browser.eval("document.querySelector('#log .target').innerText");
    assert!(target.as_str().unwrap().contains("print hello from python"), "{target}");
    browser.navigate("about:blank");
    browser.navigate(&format!("file://{}#a4/u1", page.file.display()));
    browser.wait("document.querySelector('#log .target')");
    let shown = text(&mut browser);
    assert!(shown.contains("The Rust version"), "{shown}");
}

#[test]
fn the_page_reads_without_scripts() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.without_scripts();
    browser.navigate(&format!("file://{}", page.file.display()));
    let text = browser.eval("document.body.innerText");
    let text = text.as_str().unwrap();
    for said in
        ["Three greeters", "Build a greeter", "The Rust version greets people", "abandoned", "3 branches"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("print hello from python"), "another branch");
    assert_eq!(browser.eval("getComputedStyle(document.querySelector('#side')).display"), "none");
}

#[test]
fn a_phone_has_a_drawer_and_nothing_sticks_out() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.size(390, 844);
    browser.open(&page.file);
    let sideways = "document.documentElement.scrollWidth > innerWidth";
    let side = "document.querySelector('#side').getBoundingClientRect().right > 0";
    assert_eq!(browser.eval(sideways), false);
    assert_eq!(browser.eval(side), false, "the drawer is closed");
    browser.eval("document.querySelector('#menu').click()");
    browser.wait(side);
    click(&mut browser, "Use Node");
    browser.wait("document.querySelector('#log').innerText.includes('Here is a Node version')");
    browser.wait(&format!("!({side})"));
    browser.size(1400, 900);
    assert_eq!(browser.eval(side), true);
    assert_eq!(browser.eval(sideways), false);
}

#[test]
fn rows_count_their_siblings_at_each_level() {
    let page = Page::drawn(THREE_WAYS);
    let mut browser = Browser::start();
    browser.open(&page.file);
    choose(&mut browser, "user-only");
    let rows = "[...document.querySelectorAll('#tree [role=treeitem]')]
        .map((row) => [row.querySelector('.said').textContent, row.ariaLevel, row.ariaPosInSet, row.ariaSetSize].join(' '))";
    let expected = ["Build a greeter 1 1 1", "Use Rust 2 1 3", "Use Node 2 2 3", "Use Python instead 2 3 3"];
    assert_eq!(browser.eval(rows), serde_json::json!(expected));
    let folds = "document.querySelector('#tree [role=treeitem]').ariaExpanded";
    assert_eq!(browser.eval(folds), "true");
}

#[test]
fn compactions_sources_labels_and_colours_are_marked() {
    let page = Page::drawn(
        "u1 user first words
         a1<u1 assistant first answer
         u2<a1 user second words
         k<u2 compaction keep=u2 a short summary
         x<a1 user another way
         y<x assistant it failed
         s<k summary from=y what the other way did
         l<s label u2 good place",
    );
    let mut browser = Browser::start();
    browser.open(&page.file);
    let past = "[...document.querySelectorAll('#log .past')].map((entry) => entry.innerText).join()";
    let past = browser.eval(past);
    assert!(
        past.as_str().unwrap().contains("first words") && !past.as_str().unwrap().contains("second"),
        "{past}"
    );
    let shown = text(&mut browser);
    let line = shown.find("in the model's context from here on").unwrap();
    assert!(shown.find("first answer").unwrap() < line && line < shown.find("second words").unwrap());

    // The summary leads to its source, by a dashed bracket and by a dashed link.
    assert_eq!(browser.eval("document.querySelectorAll('#rows .arc.top.bottom').length"), 1);
    browser.eval("document.querySelector('#log .origin').click()");
    browser.wait("document.querySelector('#log').innerText.includes('it failed')");

    // The time of a label is shown on request.
    assert_eq!(browser.eval("document.querySelectorAll('.row .label time').length"), 0);
    browser.eval("document.querySelector('#times').click()");
    assert_eq!(browser.eval("document.querySelectorAll('.row .label time').length"), 1);

    let colour = "getComputedStyle(document.body).backgroundColor";
    let mut colours = Vec::new();
    for _ in 0..3 {
        colours.push((browser.eval("document.documentElement.dataset.theme"), browser.eval(colour)));
        browser.eval("document.querySelector('#theme').click()");
    }
    assert_eq!(
        colours.iter().map(|(theme, _)| theme.as_str().unwrap()).collect::<Vec<_>>(),
        ["auto", "light", "dark"]
    );
    assert_ne!(colours[1].1, colours[2].1);
}

/// Opens the page of a session of a certain shape. How long that takes is measured in `benches`.
fn open_shaped(shape: &Shape, browser: &mut Browser) -> Page {
    let page = Page::shaped(shape);
    browser.open(&page.file);
    browser.wait("document.querySelectorAll('#rows .row').length > 10");
    page
}

#[test]
fn of_twenty_thousand_entries_only_those_on_the_screen_are_drawn() {
    let mut browser = Browser::start();
    let _page = open_shaped(&Shape::small(20_000), &mut browser);
    browser.eval("document.querySelector('#tree').scrollTop = 1e9");
    let last = "[...document.querySelectorAll('#rows .row')].at(-1).getBoundingClientRect().bottom";
    browser.wait(&format!("{last} <= document.querySelector('#tree').getBoundingClientRect().bottom + 1"));
    assert!(
        browser.eval("document.querySelectorAll('*').length").as_f64().unwrap() < 8_000.0,
        "it is virtual"
    );
}

#[test]
fn what_is_drawn_of_a_tree_with_many_branches_fits_the_screen() {
    // Dashed curves between rows far apart took a browser seconds per step: one was two million pixels long.
    let page = Page::shaped(&Shape::bushy(20_000));
    let mut browser = Browser::start();
    browser.open(&page.file);
    let tallest = "(() => {
        const view = document.querySelector('#tree'), found = { arcs: 0, tallest: 0, nodes: 0 };
        return new Promise((done) => {
            let step = 0;
            const look = () => {
                const drawn = [...document.querySelectorAll('#rows *')];
                const arcs = drawn.filter((node) => node.classList.contains('arc'));
                found.arcs += arcs.length;
                found.tallest = Math.max(found.tallest, ...drawn.map((node) => node.getBoundingClientRect().height));
                found.nodes = Math.max(found.nodes, drawn.length);
                view.scrollTop = view.scrollHeight * step / 40;
                if (step++ < 40) requestAnimationFrame(() => requestAnimationFrame(look)); else done(found);
            };
            look();
        });
    })()";
    let found = browser.eval(tallest);
    assert!(found["arcs"].as_u64().unwrap() > 10, "{found}");
    assert!(found["tallest"].as_f64().unwrap() < 1_500.0, "{found}");
    assert!(found["nodes"].as_u64().unwrap() < 3_000, "{found}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_tree_that_parts_at_every_step_opens_and_is_walked_along() {
    let mut browser = Browser::start();
    let _page = open_shaped(&Shape::comb(20_000), &mut browser);
    browser.eval("document.querySelector('#reset').click()");
    browser.wait("document.querySelector('#log .end')");
    assert!(text(&mut browser).contains("2 ways from here"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_chain_of_a_hundred_thousand_entries_opens() {
    let mut browser = Browser::start();
    let _page = open_shaped(&Shape::chain(100_000), &mut browser);
    browser.eval("document.querySelector('#reset').click()");
    browser.wait("document.querySelector('#log .end')");
    browser.press("/");
    browser.press("z");
    browser.wait("document.querySelector('#status').textContent.includes('hit')");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

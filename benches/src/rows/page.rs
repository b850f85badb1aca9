//! Pages in a browser: how long it takes from the address to a tree that answers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::browser::Browser;

use super::Bench;
use super::export::export;
use crate::Failure;
use crate::clock::best;
use crate::table::Line;

/// What a page says of itself once it can be used.
const ROWS: &str = "document.querySelectorAll('#rows .row').length > 10";

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let files = bench.files;
    let pages: [(&str, PathBuf, u64); 5] = [
        ("20k entries", files.small(20_000)?, 1_000),
        ("100k small entries", files.small(100_000)?, 3_000),
        ("a chain of 100k", files.chain(100_000)?, 3_000),
        ("a comb of 100k", files.comb(100_000)?, 3_000),
        ("100k entries, 185 MB", files.realistic(100_000)?, 8_000),
    ];
    let mut lines = Vec::new();
    for (name, session, limit) in pages {
        let page = files.scratch("browser.html");
        export(&session, &page)?;
        lines.extend(opened(name, &page, Duration::from_millis(limit), bench.runs.min(3))?);
        std::fs::remove_file(page)?;
    }
    Ok(lines)
}

/// Opens a page some times; then goes to the end, filters and searches in it.
fn opened(name: &str, page: &Path, limit: Duration, runs: usize) -> Result<[Line; 3], Failure> {
    let time = best(runs, || {
        let mut browser = Browser::start();
        browser.open(page);
        browser.wait(ROWS);
        milliseconds(&mut browser, "performance.now()")
    })?;
    let mut browser = Browser::start();
    browser.open(page);
    let filter = milliseconds(&mut browser, FILTER)?;
    let search = milliseconds(&mut browser, SEARCH)?;
    Ok([
        Line::limit(&format!("open the page of {name}"), time, limit),
        Line::limit("the same: the slowest filter", filter, Duration::from_millis(500)),
        Line::limit("the same: first answer to a search", search, Duration::from_millis(500)),
    ])
}

/// Shows the tree under every filter; gives the time of the slowest.
const FILTER: &str = "(() => {
    const box = document.querySelector('#filter');
    let slowest = 0;
    for (const { value } of box.options) {
        const before = performance.now();
        box.value = value;
        box.dispatchEvent(new Event('change'));
        document.querySelector('#tree').getBoundingClientRect();
        slowest = Math.max(slowest, performance.now() - before);
    }
    return slowest;
})()";

/// Types a word; gives the time until the page says how far it is.
const SEARCH: &str = "new Promise((done) => {
    const before = performance.now();
    const box = document.querySelector('#query');
    box.value = 'error';
    box.dispatchEvent(new Event('input'));
    const look = () => /hit/.test(document.querySelector('#status').textContent)
        ? done(performance.now() - before) : setTimeout(look, 2);
    look();
})";

fn milliseconds(browser: &mut Browser, script: &str) -> Result<Duration, Failure> {
    let time = browser.eval(script).as_f64().ok_or("the page gave no time")?;
    Ok(Duration::from_secs_f64(time / 1e3))
}

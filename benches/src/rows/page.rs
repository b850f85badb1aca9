//! Pages in a browser: how long it takes from the address to a tree that answers, and how fast it answers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::browser::Browser;

use super::Bench;
use super::export::export;
use crate::Failure;
use crate::clock::best;
use crate::table::Line;

/// True once the tree has rows.
const ROWS: &str = "document.querySelectorAll('#rows .row').length > 10";
/// The time at which the page could be used.
const READY: &str = "performance.getEntriesByName('ready')[0].startTime";

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let files = bench.files;
    let pages: [(&str, PathBuf, u64); 7] = [
        ("10k entries with many branches", files.bushy(10_000)?, 1_000),
        ("20k entries", files.small(20_000)?, 1_000),
        ("100k small entries", files.small(100_000)?, 2_000),
        ("100k entries with many branches", files.bushy(100_000)?, 2_000),
        ("a chain of 100k", files.chain(100_000)?, 2_000),
        ("a comb of 100k", files.comb(100_000)?, 2_000),
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

/// Opens a page some times; then scrolls, clicks, filters and searches in it.
fn opened(name: &str, page: &Path, limit: Duration, runs: usize) -> Result<[Line; 5], Failure> {
    let time = best(runs, || {
        let mut browser = Browser::start();
        browser.open(page);
        browser.wait(ROWS);
        milliseconds(&mut browser, READY)
    })?;
    let mut browser = Browser::start();
    browser.open(page);
    let scroll = milliseconds(&mut browser, SCROLL)?;
    let click = milliseconds(&mut browser, CLICK)?;
    let filter = milliseconds(&mut browser, FILTER)?;
    let search = milliseconds(&mut browser, SEARCH)?;
    let line = |work: &str, time, limit| Line::limit(work, time, Duration::from_millis(limit));
    Ok([
        Line::limit(&format!("open the page of {name}"), time, limit),
        line("the same: a step of scrolling the tree", scroll, 50),
        line("the same: a click on a row", click, 200),
        line("the same: the slowest filter", filter, 500),
        line("the same: first answer to a search", search, 500),
    ])
}

/// Scrolls the tree at three places, one step per frame; gives the median time of a frame at the slowest place.
const SCROLL: &str = "(async () => {
    const view = document.querySelector('#tree');
    const frame = () => new Promise(requestAnimationFrame);
    let slowest = 0;
    for (const share of [0.05, 0.5, 0.9]) {
        view.scrollTop = view.scrollHeight * share;
        await frame();
        const times = [];
        for (let step = 0, before = performance.now(); step < 30; step++) {
            view.scrollTop += 240;
            await frame();
            times.push(performance.now() - before);
            before = performance.now();
        }
        times.sort((one, other) => one - other);
        slowest = Math.max(slowest, times[15]);
    }
    return slowest;
})()";

/// Clicks on rows at four places; gives the median time until the frame that shows the entry.
const CLICK: &str = "(async () => {
    const view = document.querySelector('#tree');
    const frame = () => new Promise(requestAnimationFrame);
    const times = [];
    for (const share of [0.1, 0.4, 0.6, 0.8, 0.95]) {
        view.scrollTop = view.scrollHeight * share;
        await frame();
        await frame();
        document.querySelector('.target')?.classList.remove('target');
        const before = performance.now();
        document.querySelectorAll('#rows .row')[12].click();
        while (!document.querySelector('.target')) await frame();
        await frame();
        times.push(performance.now() - before);
    }
    return times.sort((one, other) => one - other)[2];
})()";

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

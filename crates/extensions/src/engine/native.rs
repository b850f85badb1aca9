//! Operations that script calls and that return at once: name and arguments in, JSON out.
//!
//! Names have two parts, `session.entry`; the first one names the file here that answers.

mod bytes;
mod files;
mod host;
mod session;
mod sessions;
mod system;
mod theme;
mod url;

use std::time::{Duration, Instant};

use offshoot_agent::tools::diff_details;
use serde_json::{Value as Json, json};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Request, Shared, parsed};
use crate::source::function_use;
use crate::width;

pub(super) use files::{Descriptors, refuse_secret};

const SECOND: Duration = Duration::from_secs(1);

/// The result of a native: JSON as text, or an error.
type Answer = Result<String, String>;

/// Answers script.
pub(crate) fn call(shared: &Shared, name: &str, arguments: &str) -> Answer {
    let length = arguments.len();
    let arguments = parsed(arguments)?;
    let (part, name) = name.split_once('.').unwrap_or((name, ""));
    match part {
        "session" => session::call(shared, name, &arguments),
        "sessions" => sessions::call(shared, name, &arguments),
        "agent" if name == "create" => {
            trusted(shared, "agents")?;
            let owner = shared.setting.handle.upgrade().ok_or("the extension is ending")?;
            let host = &shared.setting.host;
            json(host.agents.create(host, &owner, &arguments)?)
        }
        "agent" => json(crate::host::agents::call(&shared.setting.host, name, &arguments)?),
        "host" => host::call(shared, name, arguments, length),
        "text" => on_screen(name, &arguments),
        "fs" => files::call(shared, name, &arguments),
        "system" => system::call(shared, name, &arguments),
        "theme" => theme::call(shared, name, &arguments),
        "bytes" => bytes::call(shared, name, &arguments),
        "url" => url::call(name, &arguments),
        "timer" => timer(shared, name, &arguments),
        "source" if name == "use" => json(json!(function_use(text(&arguments, "text")?))),
        _ => unknown(part, name),
    }
}

/// Measures, cuts and wraps text for a terminal.
fn on_screen(name: &str, arguments: &Json) -> Answer {
    let words = text(arguments, "text")?;
    let columns = || usize::try_from(arguments["width"].as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
    match name {
        "width" => json(width::visible(words)),
        "truncate" => {
            json(width::truncate(words, columns(), arguments["ellipsis"].as_str().unwrap_or("...")))
        }
        "slice" => {
            let start =
                usize::try_from(arguments["start"].as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
            json(width::slice(words, start, columns()))
        }
        "diff" => json(diff_details(text(arguments, "path")?, words, text(arguments, "after")?)),
        "wrap" => json(width::wrap(words, columns())),
        "segments" => segments(words, arguments["kind"].as_str().unwrap_or_default()),
        _ => unknown("text", name),
    }
}

/// Divides text into characters, words or sentences, each with its place in units of UTF-16.
fn segments(words: &str, kind: &str) -> Answer {
    let parts: Vec<&str> = match kind {
        "word" => words.split_word_bounds().collect(),
        "sentence" => words.split_sentence_bounds().collect(),
        _ => words.graphemes(true).collect(),
    };
    let mut at = 0;
    let placed = parts.into_iter().map(|part| {
        let start = at;
        at += part.encode_utf16().count();
        json!([part, start, part.chars().any(char::is_alphanumeric)])
    });
    json(placed.collect::<Vec<_>>())
}

fn timer(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    let id = arguments["id"].as_u64().unwrap_or_default();
    match name {
        "set" => {
            let delay = arguments["ms"].as_f64().unwrap_or_default().clamp(0.0, 2_147_483_647.0);
            let delay = Duration::from_micros((delay * 1_000.0) as u64);
            shared.request(Request::Timer { id, delay });
        }
        "clear" => shared.request(Request::ClearTimer { id }),
        _ => return unknown("timer", name),
    }
    Ok("null".to_owned())
}

fn unknown(part: &str, name: &str) -> Answer {
    Err(format!("no such native: {part}.{name}"))
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Spells a value.
fn json(value: impl Into<Json>) -> Answer {
    Ok(value.into().to_string())
}

/// Returns an argument that is a text.
fn text<'a>(arguments: &'a Json, key: &str) -> Result<&'a str, String> {
    arguments[key].as_str().ok_or_else(|| format!("`{key}` is not a string"))
}

/// Refuses what only trusted extensions may do.
fn trusted(shared: &Shared, what: &str) -> Result<(), String> {
    shared.setting.trusted.then_some(()).ok_or_else(|| format!("this extension may not use {what}"))
}

/// Counts the messages and entries of one call.
fn count_sent(shared: &Shared) -> Result<(), String> {
    let sent = shared.sent.get() + 1;
    shared.sent.set(sent);
    let most = shared.setting.limits.messages;
    let error = || format!("an extension may send or append at most {most} times in one call");
    (sent <= most).then_some(()).ok_or_else(error)
}

/// The bytes that a notice counts for besides its text.
const NOTICE: usize = 64;

/// Counts the bytes that are shown: the front end stores them, and may be slower than script.
fn count_shown(shared: &Shared, length: usize) -> Result<(), String> {
    let (begun, shown) = shared.shown.get();
    let (begun, shown) = if begun.elapsed() < SECOND { (begun, shown) } else { (Instant::now(), 0) };
    let shown = shown + length + NOTICE;
    shared.shown.set((begun, shown));
    let most = shared.setting.limits.answer;
    (shown <= most)
        .then_some(())
        .ok_or_else(|| format!("an extension may show at most {most} bytes per second"))
}

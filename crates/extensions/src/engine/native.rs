//! What script may ask for at once: a name and arguments go in, JSON comes out.
//!
//! Names have two parts, `session.entry`; the first one names the file here that answers.

mod files;
mod host;
mod session;
mod system;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::{Shared, Wish, parsed};
use crate::source::function_use;
use crate::width;

pub(super) use files::refuse_secret;

const SECOND: Duration = Duration::from_secs(1);

/// What a native gives: JSON as text, or why it cannot.
type Answer = Result<String, String>;

/// Answers script.
pub(super) fn call(shared: &Shared, name: &str, arguments: &str) -> Answer {
    let length = arguments.len();
    let arguments = parsed(arguments)?;
    let (part, name) = name.split_once('.').unwrap_or((name, ""));
    match part {
        "session" => session::call(shared, name, &arguments),
        "host" => host::call(shared, name, arguments, length),
        "text" => on_screen(name, &arguments),
        "fs" => files::call(shared, name, &arguments),
        "system" => system::call(shared, name, &arguments),
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
        "wrap" => json(width::wrap(words, columns())),
        _ => unknown("text", name),
    }
}

fn timer(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    let id = arguments["id"].as_u64().unwrap_or_default();
    match name {
        "set" => {
            let delay = arguments["ms"].as_f64().unwrap_or_default().clamp(0.0, 2_147_483_647.0);
            let delay = Duration::from_micros((delay * 1_000.0) as u64);
            shared.wish(Wish::Timer { id, delay });
        }
        "clear" => shared.wish(Wish::ClearTimer { id }),
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
    match shared.setting.trusted {
        true => Ok(()),
        false => Err(format!("this extension may not use {what}")),
    }
}

/// Counts what one call sends and appends.
fn count_sent(shared: &Shared) -> Result<(), String> {
    let sent = shared.sent.get() + 1;
    shared.sent.set(sent);
    let most = shared.setting.limits.messages;
    if sent > most {
        return Err(format!("an extension may send or append at most {most} times in one call"));
    }
    Ok(())
}

/// What a notice takes besides its text.
const NOTICE: usize = 64;

/// Counts what is shown: whoever shows it may be slower than script, and keeps it until then.
fn count_shown(shared: &Shared, length: usize) -> Result<(), String> {
    let (begun, shown) = shared.shown.get();
    let (begun, shown) = if begun.elapsed() < SECOND { (begun, shown) } else { (Instant::now(), 0) };
    let shown = shown + length + NOTICE;
    shared.shown.set((begun, shown));
    let most = shared.setting.limits.answer;
    match shown > most {
        true => Err(format!("an extension may show at most {most} bytes per second")),
        false => Ok(()),
    }
}

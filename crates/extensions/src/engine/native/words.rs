//! Text on a screen: how wide it is, how it is cut and wrapped. Escape codes have no width.

use serde_json::Value as Json;

use super::{Answer, json, text, unknown};
use crate::width;

pub(super) fn call(name: &str, arguments: &Json) -> Answer {
    let words = text(arguments, "text")?;
    let columns = || usize::try_from(arguments["width"].as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
    match name {
        "width" => json(width::visible(words)),
        "truncate" => {
            let ellipsis = arguments["ellipsis"].as_str().unwrap_or("...");
            json(width::truncate(words, columns(), ellipsis))
        }
        "wrap" => json(width::wrap(words, columns())),
        _ => unknown("text", name),
    }
}

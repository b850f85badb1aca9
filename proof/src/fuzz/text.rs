//! Hostile texts: escape codes, marks that turn or hide text, and markup that wants to run something.

use offshoot_tui::clean::{clean, clean_lines};
use serde_json::Value;
use testkit::hostile::{Allowed, text as hostile, watch};
use testkit::rng::Rng;

/// Cleans one text and looks at what a terminal would make of it.
pub(super) fn clean_one(rng: &mut Rng) -> Result<(), String> {
    let text = hostile(rng);
    let cleaned = clean(&text);
    for line in std::iter::once(cleaned.clone()).chain(clean_lines(&text)) {
        let nothing = Allowed { lines: false, sequence: |_, _| false };
        if let Some(what) = watch(line.as_bytes(), nothing).foreign.first() {
            return Err(format!("{what} in {line:?}, from {text:?}"));
        }
    }
    if clean(&cleaned) == cleaned {
        Ok(())
    } else {
        Err(format!("cleaning twice changes {cleaned:?}, from {text:?}"))
    }
}

/// Writes a session whose every text is hostile.
pub(super) fn hostile_session(rng: &mut Rng) -> Vec<u8> {
    let time = "2025-01-01T00:00:00.000Z";
    let cwd = Value::from(hostile(rng));
    let mut out = format!(r#"{{"type":"session","version":3,"id":"s","timestamp":"{time}","cwd":{cwd}}}"#);
    for number in 0..rng.range(2, 12) {
        let [one, two] = [hostile(rng), hostile(rng)].map(Value::from);
        let body = match rng.below(9) {
            0 | 1 => format!(r#""type":"message","message":{{"role":"user","content":{one}}}"#),
            2 => format!(
                r#""type":"message","message":{{"role":"assistant","content":[{{"type":"text","text":{one}}},{{"type":"toolCall","id":{two},"name":{one},"arguments":{{{two}:{one}}}}}],"model":{two},"stopReason":"error","errorMessage":{two}}}"#
            ),
            3 => format!(
                r#""type":"message","message":{{"role":"toolResult","toolCallId":{two},"toolName":{one},"content":[{{"type":"image","mimeType":{one},"data":{two}}}],"details":{{"diff":{two}}},"isError":{one}}}"#
            ),
            4 => format!(r#""type":"custom_message","customType":{one},"content":{two},"display":true"#),
            5 => format!(r#""type":"label","targetId":"e0","label":{one}"#),
            6 => format!(
                r#""type":"compaction","summary":{one},"firstKeptEntryId":{two},"tokensBefore":{two}"#
            ),
            7 => format!(
                r#""type":"message","message":{{"role":"bashExecution","command":{one},"output":{two},"exitCode":{one}}}"#
            ),
            _ => format!(r#""type":"session_info","name":{one}"#),
        };
        let parent =
            number.checked_sub(1 + rng.below(2)).map_or("null".into(), |parent| format!("\"e{parent}\""));
        out.push_str(&format!(
            "\n{{{body},\"id\":\"e{number}\",\"parentId\":{parent},\"timestamp\":\"{time}\"}}"
        ));
    }
    out.push('\n');
    out.into_bytes()
}

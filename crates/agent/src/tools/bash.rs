//! The tool `bash`: runs a command line.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::built_in::{BuiltIn, Work};
use super::output::{self, MAX_BYTES};
use super::shell::{self, End, MAX_FILE, Ran};
use super::work;
use crate::tool::{ToolCall, ToolOutput, ToolPlace};

/// The tool `bash`.
pub(super) const TOOL: BuiltIn = BuiltIn {
    name: "bash",
    description: "Runs a command line with bash in the working directory, without input. Returns what it writes \
                  to stdout and stderr; of long output the last 2000 lines or 50 KB, and a file with all of it. \
                  Processes that it leaves in the background are ended with it; start one with setsid, and \
                  its output in a file, to keep it running.",
    arguments: || {
        json!({
            "command": {"type": "string", "description": "The command line"},
            "timeout": {"type": "number", "description": "The most seconds it may take; no limit if not given"},
        })
    },
    required: &["command"],
    work: Work::Runs,
};

/// Runs a call.
pub(super) async fn run(call: ToolCall, place: &ToolPlace) -> ToolOutput {
    let fields = Fields(&call.arguments);
    let Some(command) = fields.text("command") else {
        return ToolOutput::error("the argument `command` is missing");
    };
    if place.cancel.is_cancelled() {
        return work::cancelled();
    }
    let limit = fields.number("timeout").filter(|&seconds| seconds > 0.0);
    let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let progress = &place.progress;
    let ran = shell::run(command, place, limit, |capture| {
        progress(ToolOutput::text(capture.so_far().text));
    });
    match ran.await {
        Ok(ran) => output(&ran, withheld_note(command, place)),
        Err(error) => ToolOutput::error(format!("cannot run the command: {error}")),
    }
}

/// Returns a note about the variables that a command names but did not inherit.
fn withheld_note(command: &str, place: &ToolPlace) -> Option<String> {
    let is_named = |name: &String| {
        let mut words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.any(|word| word == name)
    };
    let names = shell::withheld(&place.secrets).into_iter().filter_map(|name| name.into_string().ok());
    let names: Vec<String> = names.filter(is_named).collect();
    (!names.is_empty()).then(|| {
        format!("Withheld from commands: {}. The user can pass them with a setting.", names.join(", "))
    })
}

fn output(ran: &Ran, withheld: Option<String>) -> ToolOutput {
    let mut text = ran.output.text.clone();
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if let Some(note) = left_out(ran) {
        output::add_note(&mut text, &note);
    }
    if ran.left_behind {
        output::add_note(&mut text, "Processes that the command left in the background were ended.");
    }
    if let Some(note) = withheld {
        output::add_note(&mut text, &note);
    }
    let ended = end_note(ran.end);
    if let Some(ended) = &ended {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        text.push_str(ended);
    }
    let output = if ended.is_some() { ToolOutput::error(text) } else { ToolOutput::text(text) };
    match details(ran) {
        Some(details) => output.with_details(details),
        None => output,
    }
}

/// Describes how a command ended, unless it succeeded.
fn end_note(end: End) -> Option<String> {
    match end {
        End::Cancelled => Some("Command cancelled".into()),
        End::TimedOut(limit) => Some(format!("Command timed out after {} seconds", limit.as_secs_f64())),
        End::Exited(status) => match (status.code(), status.signal()) {
            (Some(0), _) => None,
            (Some(code), _) => Some(format!("Command exited with code {code}")),
            (None, signal) => Some(format!("Command was ended by signal {}", signal.unwrap_or_default())),
        },
    }
}

fn left_out(ran: &Ran) -> Option<String> {
    let capped = &ran.output;
    capped.cut_by?;
    let shown = if capped.is_partial {
        format!("The last {} of the output are shown", output::size(MAX_BYTES as u64))
    } else {
        format!("The last {} of {} lines are shown", capped.lines, capped.total_lines)
    };
    Some(match &ran.full_output {
        Some(path) if capped.total_bytes > MAX_FILE => {
            format!("{shown}. The beginning of the output: {}", path.display())
        }
        Some(path) => format!("{shown}. Full output: {}", path.display()),
        None => format!("{shown}. The full output could not be kept"),
    })
}

fn details(ran: &Ran) -> Option<Json> {
    ran.output.cut_by?;
    let mut details = json!({"truncation": ran.output.truncation()});
    if let Some(path) = &ran.full_output {
        details["fullOutputPath"] = json!(path.to_string_lossy());
    }
    Some(details)
}

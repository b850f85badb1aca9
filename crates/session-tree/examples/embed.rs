//! An agent on the engine: it continues its session, asks a model, runs tools, labels, compacts and branches.
//!
//! `cargo run -p session-tree --example embed` writes into `./sessions`. `ask_model` and `run_tool` stand for the parts
//! that an embedder brings; the rest is the front page of the crate.
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use serde_json::json;
use session_tree::{EntryId, KeepFrom, Message, Result, Role, Session, ToolCall};

fn main() -> Result<()> {
    let mut session = Session::continue_in("sessions", "/project")?;
    for call in session.open_calls()? {
        session.append(call.error("interrupted"))?; // killed while a tool ran
    }
    let first = turn(&mut session, "List the files")?;
    turn(&mut session, "And again")?;
    session.set_label(&first, Some("start"))?;
    session.compact("Listed the files twice.", KeepFrom::LastPrompt)?;
    session.branch_with_summary(&first, "The listing shows Cargo.toml.")?;
    turn(&mut session, "Read Cargo.toml")?;
    print!("{}", session_view::outline(&session));
    session.sync()
}

fn turn(session: &mut Session, prompt: &str) -> Result<EntryId> {
    let id = session.append(Message::user(prompt))?;
    loop {
        let answer = ask_model(&session.context()?.to_request());
        let calls = answer.tool_calls();
        session.append(answer)?;
        if calls.is_empty() {
            return Ok(id);
        }
        for call in calls {
            session.append(call.result(run_tool(&call)))?;
        }
    }
}

/// Answers a prompt with a tool call, and a tool result with a text.
fn ask_model(request: &[Message]) -> Message {
    match request.last().filter(|last| last.role() == Role::ToolResult) {
        Some(result) => Message::assistant().text(format!("The tool printed: {}", result.text())).build(),
        None => Message::assistant().tool_call("call_1", "ls", json!({"path": "."})).build(),
    }
}

fn run_tool(call: &ToolCall) -> String {
    format!("{}: Cargo.toml src", call.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only test of this process, so it may change the working directory.
    #[test]
    fn the_program_runs_and_continues_its_session() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        std::env::set_current_dir(directory.path())?;
        main()?;
        let mut killed = Session::continue_in("sessions", "/project")?;
        assert_eq!(killed.tree().len(), 15);
        killed.append(ask_model(&[Message::user("hi")]))?;
        drop(killed);
        main()?;
        assert_eq!(std::fs::read_dir("sessions")?.count(), 1, "the latest session is continued");
        let session = Session::continue_in("sessions", "/project")?;
        let interrupted = session.tree().nodes().filter_map(|node| session.entry_at(node).ok());
        let interrupted =
            interrupted.filter(|entry| entry.raw().windows(11).any(|text| text == b"interrupted"));
        assert_eq!(interrupted.count(), 1, "the open call was answered");
        assert!(session.open_calls()?.is_empty() && !session.needs_answer()?);
        assert!(session.check()?.is_clean());
        Ok(())
    }
}

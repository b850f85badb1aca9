//! `offshoot demo`: a session to look at, made on the spot.

use std::path::PathBuf;

use serde_json::{Value, json};
use session_tree::{
    Charset, EntryId, FirstKept, Message, NewBranchSummary, NewCompaction, Options, Outline, OutlineOptions,
    Session,
};

use crate::cmd::tree;
use crate::error::CommandError;
use crate::ui::Ui;

/// Arguments of `offshoot demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to put the session; a new directory below the system's temporary one if not given.
    directory: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, ui: &mut Ui) -> Result<(), CommandError> {
    let fallback = || std::env::temp_dir().join(format!("offshoot-demo-{}", std::process::id()));
    let directory = args.directory.clone().unwrap_or_else(fallback);
    let mut session = Options::new().create_in(&directory, "/home/ann/greeter")?;
    write(&mut session)?;
    session.sync()?;

    let outline = Outline::new(&session, OutlineOptions::default());
    tree::print(&session, &outline, Charset::Unicode, false, ui)?;
    let file = session.file().map(|file| file.display().to_string()).unwrap_or_default();
    ui.plain("")?;
    ui.plain(&format!("The session is {file}"))?;
    ui.plain("Try: offshoot tree FILE --filter turns, offshoot context FILE, offshoot check FILE")
}

/// Three attempts at one task: the first is left with a summary, the second is labelled and compacted.
fn write(session: &mut Session) -> Result<(), CommandError> {
    session.append_model_change("offshoot", "demo")?;
    session.append_session_info("Greeter")?;
    let start = session.append_user_text("Build a CLI that greets people")?;
    answer(session, "Which language do you have in mind?")?;
    let fork = session.leaf_id();

    session.append_user_text("Use Node")?;
    tool(session, "write", &json!({"path": "/home/ann/greeter/greet.js"}), "wrote 12 lines")?;
    answer(session, "Done, but it needs 60 ms to say hello.")?;

    let summary =
        NewBranchSummary { summary: "Node works and starts in 60 ms.".into(), ..Default::default() };
    session.branch_with_summary(fork.as_ref().map(EntryId::as_str), &summary)?;
    let rust = session.append_user_text("Too slow. Use Rust instead")?;
    tool(session, "bash", &json!({"command": "cargo new greeter"}), "Created binary `greeter`")?;
    answer(session, "It starts in one millisecond.")?;
    session.append_label_change(rust.as_str(), Some("rust"))?;
    session.append_compaction(&NewCompaction {
        summary: "A greeter in Rust, after a try with Node.".into(),
        first_kept: FirstKept::Entry(rust),
        tokens_before: 12_000,
        details: None,
        usage: None,
        from_hook: false,
    })?;
    session.append_user_text("Add a --shout flag")?;
    answer(session, "HELLO, ANN!")?;
    let leaf = session.leaf_id();

    session.branch(start.as_str())?;
    session.append_user_text("No CLI after all: a web page")?;
    answer(session, "A page that greets, then.")?;
    if let Some(leaf) = leaf {
        session.branch(leaf.as_str())?;
        session.mark_leaf()?;
    }
    Ok(())
}

fn answer(session: &mut Session, text: &str) -> Result<(), CommandError> {
    say(session, &json!([{"type": "text", "text": text}]), "stop")
}

fn tool(session: &mut Session, name: &str, arguments: &Value, result: &str) -> Result<(), CommandError> {
    let call = format!("call-{}", session.tree().len());
    say(
        session,
        &json!([{"type": "toolCall", "id": call, "name": name, "arguments": arguments}]),
        "toolUse",
    )?;
    let result = json!({
        "role": "toolResult", "toolCallId": call, "toolName": name,
        "content": [{"type": "text", "text": result}], "isError": false, "timestamp": 0,
    });
    session.append_message(&Message::from_value(&result)?)?;
    Ok(())
}

fn say(session: &mut Session, content: &Value, stop: &str) -> Result<(), CommandError> {
    let message = json!({
        "role": "assistant", "content": content, "api": "demo", "provider": "offshoot", "model": "demo",
        "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0},
        "stopReason": stop, "timestamp": 0,
    });
    session.append_message(&Message::from_value(&message)?)?;
    Ok(())
}

//! Writes a session with two branches into a temporary directory and shows what a model would get on each.
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use session_tree::{NewBranchSummary, Options, Session};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("session-tree-example-{}", std::process::id()));
    let mut session = Options::new().create_in(&directory, "/project")?;
    let question = session.append_user_text("Build a CLI that greets people")?;
    session.append_user_text("Use Node")?;
    session.sync()?;
    show("first try", &session)?;

    let summary =
        NewBranchSummary { summary: "Node was tried and is too slow.".into(), ..Default::default() };
    session.branch_with_summary(Some(question.as_str()), &summary)?;
    session.append_user_text("Use Rust instead")?;
    session.append_label_change(question.as_str(), Some("start"))?;
    session.sync()?;
    show("second try", &session)?;

    if let Some(file) = session.file() {
        println!("both are in {}", file.display());
    }
    Ok(())
}

fn show(title: &str, session: &Session) -> session_tree::Result<()> {
    println!("{title}:");
    for item in session.build_context()?.to_llm() {
        println!("  {}: {}", item.message.role(), item.message.text().replace('\n', " "));
    }
    Ok(())
}

//! `offshoot context`: what a model would get.

use std::path::PathBuf;

use session_tree::{LlmMessage, Session, estimate_tokens};

use crate::error::CommandError;
use crate::ui::{Tone, Ui};

/// Arguments of `offshoot context`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session file.
    session: PathBuf,
    /// An entry: an id or a unique part of its beginning, `@label`, `leaf`, `root`, `^`, `~2`, `#1`.
    #[arg(default_value = "leaf")]
    at: String,
}

pub(crate) fn run(args: &Args, ui: &mut Ui) -> Result<(), CommandError> {
    let session = Session::open_read_only(&args.session)?;
    let at = match (args.at.as_str(), session.leaf()) {
        ("leaf", leaf) => leaf,
        (reference, _) => Some(session.resolve(reference)?),
    };
    let context = session.context_at(at)?;
    let model =
        context.model.as_ref().map_or_else(|| "none".into(), |m| format!("{}/{}", m.provider, m.model_id));
    ui.plain(&format!("model {model}, thinking {}", context.thinking_level))?;
    for item in context.to_llm() {
        print(&session, &item, ui)?;
    }
    Ok(())
}

fn print(session: &Session, item: &LlmMessage, ui: &mut Ui) -> Result<(), CommandError> {
    let id = session.tree().id(item.source).to_string();
    let text: String =
        item.message.text().split_whitespace().collect::<Vec<_>>().join(" ").chars().take(100).collect();
    let tokens = format!(" {:>6} ", estimate_tokens(&item.message));
    ui.line(&[
        (Tone::Dim, &id),
        (Tone::Dim, &tokens),
        (Tone::Accent, &item.message.role().to_string()),
        (Tone::Plain, ": "),
        (Tone::Plain, &text),
    ])
}

//! `offshoot context`: shows the messages that a model gets.

use session_tree::json::ValueRef;
use session_tree::{
    Block, Context, ContextItem, Inclusion, Message, Role, Session, convert_to_llm, estimate_tokens,
};

use crate::app::{App, resolve};
use crate::error::CommandError;
use crate::reading::SessionAt;
use crate::ui::{Column, Table, Tone, count, thousands};

/// Show the messages that a model gets at an entry.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionAt,
    /// Show messages as they are sent to a model, not as they are stored.
    #[arg(long)]
    llm: bool,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.session.each_path(app, &mut |app, session| {
        let mut context = session.context_at(session.position_of(resolve(session, args.session.at())?)?)?;
        if args.llm {
            let sent =
                |item: ContextItem| Some(ContextItem { message: convert_to_llm(&item.message)?, ..item });
            context.items = context.items.into_iter().filter_map(sent).collect();
        }
        match args.session.output.json {
            true => app.ui.json(&context),
            false => print(session, &context, app),
        }
    })
}

fn word(inclusion: Inclusion) -> &'static str {
    match inclusion {
        Inclusion::Plain => "",
        Inclusion::Summary => "summarised",
        Inclusion::Kept => "kept",
        Inclusion::Edited => "edited",
        Inclusion::SystemCheckpoint => "checkpoint",
    }
}

fn print(session: &Session, context: &Context, app: &mut App) -> Result<(), CommandError> {
    let total: u64 = context.items.iter().map(|item| estimate_tokens(&item.message)).sum();
    let columns = [
        Column::words("entry"),
        Column::words("").spare(1),
        Column::numbers("tokens"),
        Column::words("role"),
        Column::wide("text"),
    ];
    let row = |item: &ContextItem| {
        Ok([
            (Tone::Dim, session.tree().id(item.source).to_string()),
            (Tone::Notice, word(item.inclusion).to_owned()),
            (Tone::Plain, thousands(estimate_tokens(&item.message))),
            (Tone::Accent, item.message.role().to_string()),
            (Tone::Plain, one_line(&item.message)),
        ])
    };
    Table::show(columns, context.items.iter().map(row), &mut app.ui)?;
    let messages = count(context.items.len(), "message");
    let model =
        context.model.as_ref().map_or_else(|| "none".into(), |m| format!("{}/{}", m.provider, m.model_id));
    let level = &context.thinking_level;
    app.ui.tell(&format!("{messages}, about {} tokens; model {model}, thinking {level}", thousands(total)))
}

/// Returns the start of a message; tool calls by their names.
fn one_line(message: &Message) -> String {
    let field = |key| message.value().get(key).and_then(ValueRef::as_str);
    let text = match message.role() {
        Role::CompactionSummary | Role::BranchSummary => field("summary"),
        Role::BashExecution => field("command"),
        _ => Some(message.text()),
    };
    let text = text.unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(60).collect();
    let calls = message.content().blocks().filter_map(|block| match block {
        Block::ToolCall { name, .. } => Some(format!("[{name}]")),
        Block::Image { .. } => Some("[image]".into()),
        Block::Text(_) | Block::Thinking(_) | Block::Other(_) => None,
    });
    let parts: Vec<String> =
        std::iter::once(words.join(" ")).chain(calls).filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

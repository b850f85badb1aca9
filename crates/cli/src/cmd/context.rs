//! `offshoot context`: what a model would get.

use serde::Serialize;
use serde_json::value::RawValue;
use session_tree::json::ValueRef;
use session_tree::{
    Block, Context, ContextItem, Inclusion, Message, Node, Role, Session, convert_to_llm, estimate_tokens,
};

use crate::app::{App, resolve};
use crate::error::CommandError;
use crate::json;
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

/// One message, and why it is there.
struct Item {
    source: Node,
    message: Message,
    mark: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonContext {
    messages: Vec<Option<Box<RawValue>>>,
    thinking_level: String,
    model: Option<JsonModel>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonModel {
    provider: String,
    model_id: String,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.session.each(app, &mut |app, session| {
        let context = session.context_at(session.position_of(resolve(session, args.session.at())?)?)?;
        let items = items(&context, args.llm);
        match args.session.output.json {
            true => app.ui.json(&as_json(context, &items)),
            false => print(session, &context, items, app),
        }
    })
}

fn items(context: &Context, llm: bool) -> Vec<Item> {
    let item = |item: &ContextItem| {
        let message = if llm { convert_to_llm(&item.message)? } else { item.message.clone() };
        Some(Item { source: item.source, message, mark: word(item.inclusion) })
    };
    context.items.iter().filter_map(item).collect()
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

fn as_json(context: Context, items: &[Item]) -> JsonContext {
    let model = context.model.map(|model| JsonModel { provider: model.provider, model_id: model.model_id });
    let messages = items.iter().map(|item| json::message(&item.message)).collect();
    JsonContext { messages, thinking_level: context.thinking_level, model }
}

fn print(session: &Session, context: &Context, items: Vec<Item>, app: &mut App) -> Result<(), CommandError> {
    let total: u64 = items.iter().map(|item| estimate_tokens(&item.message)).sum();
    let mut table = Table::new([
        Column::words("entry"),
        Column::words("").spare(1),
        Column::numbers("tokens"),
        Column::words("role"),
        Column::wide("text"),
    ]);
    let messages = count(items.len(), "message");
    for item in items {
        let cells = [
            (Tone::Dim, session.tree().id(item.source).to_string()),
            (Tone::Notice, item.mark.to_owned()),
            (Tone::Plain, thousands(estimate_tokens(&item.message))),
            (Tone::Accent, item.message.role().to_string()),
            (Tone::Plain, one_line(&item.message)),
        ];
        table.push(cells, &mut app.ui)?;
    }
    table.print(&mut app.ui)?;
    let model =
        context.model.as_ref().map_or_else(|| "none".into(), |m| format!("{}/{}", m.provider, m.model_id));
    let level = &context.thinking_level;
    app.ui.tell(&format!("{messages}, about {} tokens; model {model}, thinking {level}", thousands(total)))
}

/// The beginning of what a message says; calls of tools by their names.
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

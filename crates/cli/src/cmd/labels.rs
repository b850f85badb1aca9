//! `offshoot labels`: all labels of sessions.

use serde::Serialize;
use session_tree::Session;

use super::texts::Texts;
use crate::app::App;
use crate::error::CommandError;
use crate::reading::Sessions;
use crate::ui::{Column, Table, Tone, age};

/// Arguments of `offshoot labels`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    sessions: Sessions,
}

/// One label of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonLabel {
    label: String,
    entry_id: String,
    set_at: String,
    text: String,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.sessions.each(app, &mut |app, session| match args.sessions.output.json {
        true => print_json(session, app),
        false => print(session, app),
    })
}

fn print(session: &Session, app: &mut App) -> Result<(), CommandError> {
    let texts = Texts::new(session);
    let mut table = Table::new([
        Column::words("label"),
        Column::words("entry"),
        Column::words("set").spare(1),
        Column::wide("text"),
    ]);
    let labels = session.labels();
    if labels.is_empty() {
        return app.ui.tell("no labels");
    }
    for (node, label) in labels {
        table.push([
            (Tone::Notice, label.text.clone()),
            (Tone::Plain, session.tree().id(node).to_string()),
            (Tone::Dim, age(app.now(), label.set_at)),
            texts.of(session, node)?,
        ]);
    }
    table.print(&mut app.ui)
}

fn print_json(session: &Session, app: &mut App) -> Result<(), CommandError> {
    let texts = Texts::new(session);
    let labels = session.labels().into_iter().map(|(node, label)| {
        Ok(JsonLabel {
            label: label.text.clone(),
            entry_id: session.tree().id(node).to_string(),
            set_at: label.set_at.to_string(),
            text: texts.of(session, node)?.1,
        })
    });
    let labels = labels.collect::<Result<Vec<_>, CommandError>>()?;
    app.ui.json(&labels)
}

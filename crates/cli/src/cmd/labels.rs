//! `offshoot labels`: lists all labels of sessions.

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{EntryId, Label, Node, Session};

use super::texts::Texts;
use crate::app::App;
use crate::error::CommandError;
use crate::reading::Sessions;
use crate::ui::{Column, Table, Tone, age};

/// List all labels.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    sessions: Sessions,
}

/// The JSON of a label.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LabelledEntry {
    #[serde(flatten)]
    label: Label,
    entry_id: EntryId,
    /// The description of the entry in one line.
    text: String,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.sessions.each(app, &mut |app, session| list(session, args.sessions.output.json, app))
}

/// Prints the labels of a session.
pub(super) fn list(session: &Session, is_json: bool, app: &mut App) -> Result<(), CommandError> {
    if is_json {
        return app.ui.json_list(rows(session));
    }
    let texts = Texts::new(session);
    let labels = session.labels();
    if labels.is_empty() {
        return app.ui.tell("no labels");
    }
    let columns =
        [Column::words("label"), Column::words("entry"), Column::words("set").spare(1), Column::wide("text")];
    let now = app.env.now();
    let row = |(node, label): (Node, &Label)| {
        let id = session.tree().id(node).to_string();
        let set = (Tone::Dim, age(now, label.set_at));
        Ok([(Tone::Notice, label.text.clone()), (Tone::Plain, id), set, texts.of(session, node)?])
    };
    Table::show(columns, labels.into_iter().map(row), &mut app.ui)
}

/// Returns the labels of a session.
pub(crate) fn rows(session: &Session) -> impl Iterator<Item = Result<LabelledEntry, CommandError>> {
    let texts = Texts::new(session);
    session.labels().into_iter().map(move |(node, label)| {
        let (entry_id, label) = (session.tree().id(node), label.clone());
        Ok(LabelledEntry { label, entry_id, text: texts.of(session, node)?.1 })
    })
}

//! `offshoot path`: the entries from the root to a position; also the list of `offshoot tree --flat`.

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{Entry, EntryId, Label, Node, Session};

use super::texts::Texts;
use crate::app::{App, resolve};
use crate::error::CommandError;
use crate::reading::SessionAt;
use crate::ui::{Column, Table, Tone, age};

/// List the entries from the root to the leaf or another entry.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionAt,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.session.each(app, &mut |app, session| {
        let at = resolve(session, args.session.at())?;
        let nodes = at.map(|at| session.tree().path(at)).unwrap_or_default();
        list(session, &nodes, args.session.output.json, app)
    })
}

/// One entry of `--json`. Lines of version 1 have no ids, so they are given beside the line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedEntry {
    /// The line in the file, counted from 1.
    line: u64,
    id: EntryId,
    parent_id: Option<EntryId>,
    #[serde(flatten)]
    label: Option<Label>,
    entry: Entry,
}

/// Prints entries as a list.
pub(super) fn list(session: &Session, nodes: &[Node], json: bool, app: &mut App) -> Result<(), CommandError> {
    let tree = session.tree();
    let parent_id = |node: Node| tree.parent(node).map(|parent| tree.id(parent));
    if json {
        return app.ui.json_list(nodes.iter().map(|node| {
            Ok(ListedEntry {
                line: session.line_number(*node),
                id: tree.id(*node),
                parent_id: parent_id(*node),
                label: session.label(*node).cloned(),
                entry: session.entry_at(*node)?,
            })
        }));
    }
    let texts = Texts::new(session);
    let columns = [
        Column::numbers("line").spare(3),
        Column::words("entry"),
        Column::words("parent").spare(2),
        Column::words("age").spare(1),
        Column::wide("text"),
    ];
    let now = app.env.now();
    let row = |node: &Node| {
        let (tone, text) = texts.of(session, *node)?;
        let label = session.label(*node).map_or_else(String::new, |label| format!("[{}] ", label.text));
        Ok([
            (Tone::Dim, session.line_number(*node).to_string()),
            (Tone::Plain, tree.id(*node).to_string()),
            (Tone::Dim, parent_id(*node).map(|id| id.to_string()).unwrap_or_default()),
            (Tone::Dim, age(now, tree.timestamp(*node))),
            (tone, format!("{label}{text}")),
        ])
    };
    Table::show(columns, nodes.iter().map(row), &mut app.ui)
}

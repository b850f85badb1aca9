//! `offshoot entries` and `offshoot path`: entries as a list, in the order of the file or from the root down.

use serde::Serialize;
use serde_json::value::RawValue;
use session_tree::{Node, Session};

use super::texts::Texts;
use crate::app::App;
use crate::error::CommandError;
use crate::json;
use crate::reading::Sessions;
use crate::ui::{Column, Table, Tone, age};

/// Arguments of `offshoot entries`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    sessions: Sessions,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.sessions.each(app, &mut |app, session| {
        let nodes: Vec<Node> = session.tree().nodes().collect();
        list(session, &nodes, args.sessions.output.json, app)
    })
}

/// One entry of `--json`: where it stands, and its line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonEntry {
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    entry: Option<Box<RawValue>>,
}

/// Prints entries as a list.
pub(super) fn list(session: &Session, nodes: &[Node], json: bool, app: &mut App) -> Result<(), CommandError> {
    if json {
        return list_json(session, nodes, app);
    }
    let texts = Texts::new(session);
    let mut table = Table::new([
        Column::numbers("line").spare(3),
        Column::words("entry"),
        Column::words("parent").spare(2),
        Column::words("age").spare(1),
        Column::wide("text"),
    ]);
    let tree = session.tree();
    for node in nodes {
        let (tone, text) = texts.of(session, *node)?;
        let label = session.label(*node).map_or_else(String::new, |label| format!("[{}] ", label.text));
        let cells = [
            (Tone::Dim, session.line_number(*node).to_string()),
            (Tone::Plain, tree.id(*node).to_string()),
            (Tone::Dim, tree.parent(*node).map(|parent| tree.id(parent).to_string()).unwrap_or_default()),
            (Tone::Dim, age(app.now(), tree.timestamp(*node))),
            (tone, format!("{label}{text}")),
        ];
        table.stream(cells, &mut app.ui)?;
    }
    table.print(&mut app.ui)
}

fn list_json(session: &Session, nodes: &[Node], app: &mut App) -> Result<(), CommandError> {
    let mut separator = "[";
    for node in nodes {
        let entry = session.entry_at(*node)?;
        let label = session.label(*node).map(|label| label.text.to_string());
        app.ui.raw(separator.as_bytes())?;
        separator = ",";
        let line = session.line_number(*node);
        app.ui.json_part(&JsonEntry { line: line as usize, label, entry: json::entry(&entry) })?;
    }
    app.ui.raw(if nodes.is_empty() { b"[]\n" } else { b"]\n" })
}

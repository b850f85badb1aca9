//! `offshoot branches`: lists the branches of a session and their state.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{Node, Session};
use session_view::BranchRow;

use crate::app::App;
use crate::error::CommandError;
use crate::reading::Sessions;
use crate::ui::{Column, Table, Tone, age, count, money, shortened, thousands, tokens};

/// The maximum length of the text at which a branch began, in characters.
const FROM: usize = 24;

/// List the branches of a session.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    sessions: Sessions,
    /// Also show hidden branches.
    #[arg(long)]
    all: bool,
}

/// The JSON of a branch.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NumberedBranch {
    /// A reference to the tip, such as `branch:2`.
    #[serde(rename = "ref")]
    reference: String,
    /// The number of the branch; hidden branches are counted too.
    number: usize,
    #[serde(flatten)]
    row: BranchRow,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.sessions.each(app, &mut |app, session| {
        if !args.sessions.output.json {
            return print(session, args.all, app);
        }
        app.ui.json_list(numbered(session, args.all)?)
    })
}

/// Returns the branches with their numbers, as `--json` prints them.
pub(crate) fn numbered(
    session: &Session,
    all: bool,
) -> Result<impl Iterator<Item = Result<NumberedBranch, CommandError>>, CommandError> {
    Ok(rows(session, all)?.map(|row| {
        row.map(|(number, row)| NumberedBranch { reference: format!("branch:{number}"), number, row })
    }))
}

/// Returns the branches with their numbers; the hidden ones only if `all` is true.
/// Returns the branches with their numbers; hidden ones only if `all` is true.
///
/// Numbers count hidden branches too: `#2` means the same with and without `--all`. Rows are read one at a time,
/// because a session may have a million branches.
fn rows(
    session: &Session,
    all: bool,
) -> Result<impl Iterator<Item = Result<(usize, BranchRow), CommandError>>, CommandError> {
    let rows = session_view::iter_branch_table(session)?.enumerate();
    Ok(rows
        .filter(move |(_, row)| all || !row.as_ref().is_ok_and(|row| row.branch.is_hidden))
        .map(|(at, row)| Ok((at + 1, row?))))
}

fn print(session: &Session, all: bool, app: &mut App) -> Result<(), CommandError> {
    let numbers = Numbers::of(session);
    let mut table = Table::new([
        Column::numbers("branch"),
        Column::wide("name"),
        Column::words("from").spare(3),
        Column::numbers("turns"),
        Column::numbers("tokens").spare(5),
        Column::numbers("cost").spare(4),
        Column::words("model").spare(6),
        Column::words("last").spare(1),
        Column::words("").spare(2),
    ]);
    let mut shown = 0;
    for row in rows(session, all)? {
        let (number, row) = row?;
        shown += 1;
        let (branch, own) = (&row.branch, &row.stats.own);
        let model = own.last_model.as_ref().map(|model| model.model_id.clone());
        let tone = if branch.is_current { Tone::Accent } else { Tone::Plain };
        let cells = [
            (tone, format!("{}%{number}", if branch.is_current { "● " } else { "" })),
            (tone, branch.name.clone()),
            (Tone::Dim, branch.from.as_deref().map(|from| shortened(from, FROM)).unwrap_or_default()),
            (Tone::Plain, thousands(branch.turns as u64)),
            (Tone::Plain, tokens(own.usage.total)),
            (Tone::Plain, money(own.usage.cost)),
            (Tone::Plain, model.unwrap_or_default()),
            (Tone::Dim, age(app.env.now(), branch.last_activity)),
            (if branch.ends_in_error { Tone::Bad } else { Tone::Notice }, marks(&row, &numbers)),
        ];
        table.push(cells, &mut app.ui)?;
    }
    if shown > 0 {
        table.print(&mut app.ui)?;
    }
    app.ui.tell(&footer(session, numbers.count, numbers.count - shown))
}

/// Lists the marks of a branch.
fn marks(row: &BranchRow, numbers: &Numbers) -> String {
    let branch = &row.branch;
    let merged = branch.merged_into.map(|tip| match numbers.of_tip(tip) {
        Some(number) => format!("⇢ merged into %{number}"),
        None => "⇢ merged".into(),
    });
    let marks = [
        branch.is_current.then(|| "here".to_owned()),
        merged,
        branch.compacted.then(|| "⌂ compacted".to_owned()),
        branch.ends_in_error.then(|| "⚠ ends in error".to_owned()),
        branch.is_hidden.then(|| "hidden".to_owned()),
    ];
    marks.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The numbers of the branches, by their tips.
struct Numbers {
    by_tip: HashMap<Node, usize>,
    count: usize,
}

impl Numbers {
    fn of(session: &Session) -> Self {
        let tips = session_view::tips_by_activity(session.tree());
        let count = tips.len();
        Self { by_tip: tips.into_iter().enumerate().map(|(at, tip)| (tip, at + 1)).collect(), count }
    }

    fn of_tip(&self, tip: Node) -> Option<usize> {
        self.by_tip.get(&tip).copied()
    }
}

fn footer(session: &Session, all: usize, hidden: usize) -> String {
    let tree = session.tree();
    let points = tree.nodes().filter(|node| tree.is_branch_point(*node)).count();
    let branches = count(all, "branch");
    let mut text = format!("{branches}, {}", count(points, "branch point"));
    if hidden > 0 {
        text.push_str(&format!(", {hidden} hidden (`--all` shows them)"));
    }
    text
}

//! `offshoot stats`: prints the numbers of a session, for this branch and for the whole file.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{Role, Session, Usage};
use session_view::Stats;

use crate::app::{App, file_of};
use crate::error::CommandError;
use crate::reading::Sessions;
use crate::ui::{Column, Table, Tone, Ui, bytes, money, thousands, tokens};

/// Show entries, tokens and cost of this branch and of the whole session.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    sessions: Sessions,
}

/// The numbers of a session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionStats {
    /// The file; empty if the session has none.
    file: String,
    /// The length of the file in bytes.
    size: u64,
    /// The id of the session.
    id: String,
    /// The version of the file format.
    version: u64,
    name: Option<String>,
    /// The session that this one was forked from.
    parent_session: Option<String>,
    /// The number of branches.
    branches: usize,
    /// The entries on the path to the leaf.
    this_branch: Stats,
    /// All entries.
    whole_file: Stats,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.sessions.each(app, &mut |app, session| {
        let stats = SessionStats::of(session)?;
        match args.sessions.output.json {
            true => app.ui.json(&stats),
            false => stats.print(&mut app.ui),
        }
    })
}

/// Prints the numbers of a session, for the chat.
pub(crate) fn print_session(session: &Session, app: &mut App) -> Result<(), CommandError> {
    SessionStats::of(session)?.print(&mut app.ui)
}

impl SessionStats {
    fn of(session: &Session) -> Result<Self, CommandError> {
        let header = session.header();
        Ok(SessionStats {
            file: file_of(session),
            size: session.size(),
            id: header.id().into_owned(),
            version: header.version(),
            name: session.name().map(str::to_owned),
            parent_session: header.parent_session().map(Cow::into_owned),
            branches: session.tree().tips().len(),
            this_branch: Stats::of_path(session, session.leaf())?,
            whole_file: Stats::of(session)?,
        })
    }

    fn both(&self) -> [&Stats; 2] {
        [&self.this_branch, &self.whole_file]
    }

    fn print(&self, ui: &mut Ui) -> Result<(), CommandError> {
        let mut field =
            |name: &str, value: &str| ui.line(&[(Tone::Dim, &format!("{name:9}")), (Tone::Plain, value)]);
        field("file", &format!("{}, {}", self.file, bytes(self.size)))?;
        field("session", &format!("{}, version {}", self.id, self.version))?;
        if let Some(name) = &self.name {
            field("name", name)?;
        }
        if let Some(parent) = &self.parent_session {
            field("parent", parent)?;
        }
        if let (Some(earliest), Some(latest)) = (self.whole_file.earliest, self.whole_file.latest) {
            field("time", &format!("{earliest} to {latest}"))?;
        }
        ui.plain("")?;
        self.print_sums(ui)?;
        self.print_models(ui)?;
        self.print_tools(ui)
    }

    fn print_sums(&self, ui: &mut Ui) -> Result<(), CommandError> {
        let both = self.both();
        let number = |of: fn(&Stats) -> usize| both.map(|figures| thousands(of(figures) as u64));
        let spent = |of: fn(&Usage) -> u64| both.map(|figures| tokens(of(&figures.usage)));
        let cost = match self.whole_file.usage.is_empty() {
            true => [String::new(), "0".to_owned()],
            false => both.map(|figures| money(figures.usage.cost)),
        };
        let rows = [
            ("branches", [String::new(), thousands(self.branches as u64)]),
            ("entries", number(|figures| figures.entries)),
            ("prompts", number(|figures| figures.turns)),
            ("answers", number(|figures| figures.messages(Role::Assistant).count)),
            ("failed answers", number(|figures| figures.failed + figures.aborted)),
            ("tool calls", number(Stats::tool_calls)),
            ("tool errors", number(Stats::tool_errors)),
            ("compactions", number(|figures| figures.compactions)),
            ("branch summaries", number(|figures| figures.branch_summaries)),
            ("bytes", both.map(|figures| bytes(figures.bytes))),
            ("tokens sent", spent(|usage| usage.input + usage.cache_write)),
            ("tokens from cache", spent(|usage| usage.cache_read)),
            ("tokens received", spent(|usage| usage.output)),
            ("tokens", spent(|usage| usage.total)),
            ("cost", cost),
        ];
        let mut table =
            Table::new([Column::wide(""), Column::numbers("this branch"), Column::numbers("whole file")]);
        for (name, [branch, file]) in rows {
            if file != "0" || name == "entries" {
                let cells = [(Tone::Plain, name.to_owned()), (Tone::Plain, branch), (Tone::Plain, file)];
                table.push(cells, ui)?;
            }
        }
        table.print(ui)
    }

    fn print_models(&self, ui: &mut Ui) -> Result<(), CommandError> {
        if self.whole_file.models.is_empty() {
            return Ok(());
        }
        let numbers = Column::numbers;
        let columns = [numbers("this branch"), numbers(""), numbers("whole file"), numbers("")];
        let mut table = Table::new([&[Column::wide("model")][..], &columns].concat());
        for name in self.whole_file.models.keys() {
            let mut cells = vec![(Tone::Plain, name.clone())];
            for figures in self.both() {
                let usage = figures.models.get(name).copied().unwrap_or_default().usage;
                cells.extend([(Tone::Plain, tokens(usage.total)), (Tone::Dim, money(usage.cost))]);
            }
            table.push(cells, ui)?;
        }
        ui.plain("")?;
        table.print(ui)
    }

    fn print_tools(&self, ui: &mut Ui) -> Result<(), CommandError> {
        if self.whole_file.tools.is_empty() {
            return Ok(());
        }
        let numbers = Column::numbers;
        let columns =
            [Column::wide("tool"), numbers("this branch"), numbers("whole file"), numbers("failed")];
        let mut table = Table::new(columns);
        for (name, file) in &self.whole_file.tools {
            let branch = self.this_branch.tools.get(name).copied().unwrap_or_default();
            let number = |number: usize| (Tone::Plain, thousands(number as u64));
            let cells =
                [(Tone::Plain, name.clone()), number(branch.calls), number(file.calls), number(file.errors)];
            table.push(cells, ui)?;
        }
        ui.plain("")?;
        table.print(ui)
    }
}

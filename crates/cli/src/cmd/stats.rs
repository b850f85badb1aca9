//! `offshoot stats`: the numbers of a session, on this branch and in the whole file.

use serde_json::{Map, Value as Json, json};
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
struct SessionStats {
    branch: Stats,
    file: Stats,
    branches: usize,
    size: u64,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.sessions.each(app, &mut |app, session| {
        let stats = SessionStats::of(session)?;
        match args.sessions.output.json {
            true => app.ui.json(&stats.as_json(session)),
            false => stats.print(session, &mut app.ui),
        }
    })
}

/// Prints the numbers of a session, for the chat.
pub(crate) fn print_session(session: &Session, app: &mut App) -> Result<(), CommandError> {
    SessionStats::of(session)?.print(session, &mut app.ui)
}

impl SessionStats {
    fn of(session: &Session) -> Result<Self, CommandError> {
        Ok(SessionStats {
            branch: Stats::of_path(session, session.leaf())?,
            file: Stats::of(session)?,
            branches: session.tree().tips().len(),
            size: session.file().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len()),
        })
    }

    fn both(&self) -> [&Stats; 2] {
        [&self.branch, &self.file]
    }

    fn print(&self, session: &Session, ui: &mut Ui) -> Result<(), CommandError> {
        let header = session.header();
        let mut field =
            |name: &str, value: &str| ui.line(&[(Tone::Dim, &format!("{name:9}")), (Tone::Plain, value)]);
        field("file", &format!("{}, {}", file_of(session), bytes(self.size)))?;
        field("session", &format!("{}, version {}", header.id(), header.version()))?;
        if let Some(name) = session.name() {
            field("name", name)?;
        }
        if let Some(parent) = header.parent_session() {
            field("parent", &parent)?;
        }
        if let (Some(earliest), Some(latest)) = (self.file.earliest, self.file.latest) {
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
        let cost = match self.file.usage.is_empty() {
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
        if self.file.models.is_empty() {
            return Ok(());
        }
        let numbers = Column::numbers;
        let columns = [numbers("this branch"), numbers(""), numbers("whole file"), numbers("")];
        let mut table = Table::new([&[Column::wide("model")][..], &columns].concat());
        for name in self.file.models.keys() {
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
        if self.file.tools.is_empty() {
            return Ok(());
        }
        let numbers = Column::numbers;
        let columns =
            [Column::wide("tool"), numbers("this branch"), numbers("whole file"), numbers("failed")];
        let mut table = Table::new(columns);
        for (name, file) in &self.file.tools {
            let branch = self.branch.tools.get(name).copied().unwrap_or_default();
            let number = |number: usize| (Tone::Plain, thousands(number as u64));
            let cells =
                [(Tone::Plain, name.clone()), number(branch.calls), number(file.calls), number(file.errors)];
            table.push(cells, ui)?;
        }
        ui.plain("")?;
        table.print(ui)
    }

    fn as_json(&self, session: &Session) -> Json {
        let header = session.header();
        json!({
            "file": file_of(session), "size": self.size, "id": header.id(), "version": header.version(),
            "name": session.name(), "parentSession": header.parent_session(), "branches": self.branches,
            "thisBranch": figures_json(&self.branch), "wholeFile": figures_json(&self.file),
        })
    }
}

fn figures_json(figures: &Stats) -> Json {
    let tool = |name: &String| {
        let tool = figures.tools[name];
        (name.clone(), json!({"calls": tool.calls, "errors": tool.errors}))
    };
    let model = |name: &String| (name.clone(), usage_json(&figures.models[name].usage));
    json!({
        "entries": figures.entries, "bytes": figures.bytes, "turns": figures.turns,
        "answers": figures.messages(Role::Assistant).count, "failed": figures.failed, "aborted": figures.aborted,
        "compactions": figures.compactions, "branchSummaries": figures.branch_summaries,
        "tools": figures.tools.keys().map(tool).collect::<Map<_, _>>(), "usage": usage_json(&figures.usage),
        "models": figures.models.keys().map(model).collect::<Map<_, _>>(),
    })
}

/// Returns tokens and cost with the names that session files use.
pub(super) fn usage_json(usage: &Usage) -> Json {
    json!({
        "input": usage.input, "output": usage.output, "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write, "totalTokens": usage.total, "cost": usage.cost,
    })
}

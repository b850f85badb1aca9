//! `offshoot stats`: what a session holds in numbers, on this branch and in the whole file.

mod as_json;
mod related;

use session_tree::{Figures, Kind, Role, Session, Share, Usage};

use super::texts::Texts;
use crate::app::{App, file_of};
use crate::error::CommandError;
use crate::reading::Sessions;
use crate::ui::{Column, Table, Tone, Ui, bytes, money, thousands, tokens};

pub(super) use as_json::JsonUsage;
use related::Related;

/// Arguments of `offshoot stats`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    sessions: Sessions,
}

/// Everything that is told of a session.
struct Stats {
    branch: Figures,
    file: Figures,
    branches: usize,
    size: u64,
    related: Related,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.sessions.each(app, &mut |app, session| {
        let stats = Stats::of(session, app)?;
        match args.sessions.output.json {
            true => app.ui.json(&as_json::of(session, &stats)),
            false => print(session, &stats, &mut app.ui),
        }
    })
}

impl Stats {
    fn of(session: &Session, app: &App) -> Result<Self, CommandError> {
        let size = session.file().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len());
        Ok(Stats {
            branch: session.figures_of_path(session.leaf())?,
            file: session.figures_of_all()?,
            branches: session.tips().len(),
            size,
            related: Related::of(session, app),
        })
    }

    fn both(&self) -> [&Figures; 2] {
        [&self.branch, &self.file]
    }
}

fn print(session: &Session, stats: &Stats, ui: &mut Ui) -> Result<(), CommandError> {
    print_head(session, stats, ui)?;
    ui.plain("")?;
    print_sums(stats, ui)?;
    if stats.file.entries > 0 {
        ui.plain("")?;
        print_kinds(stats, ui)?;
    }
    if !stats.file.models.is_empty() {
        ui.plain("")?;
        print_models(stats, ui)?;
    }
    if !stats.file.tools.is_empty() {
        ui.plain("")?;
        print_tools(stats, ui)?;
    }
    if !stats.file.largest.is_empty() {
        ui.plain("")?;
        print_largest(session, stats, ui)?;
    }
    Ok(())
}

fn print_head(session: &Session, stats: &Stats, ui: &mut Ui) -> Result<(), CommandError> {
    let header = session.header();
    field(ui, "file     ", &format!("{}, {}", file_of(session), bytes(stats.size)))?;
    field(ui, "session  ", &format!("{}, version {}", header.id(), header.version()))?;
    if let Some(name) = session.name() {
        field(ui, "name     ", name)?;
    }
    if let Some(parent) = &stats.related.parent {
        field(ui, "parent   ", parent)?;
    }
    for child in &stats.related.children {
        field(ui, "child    ", &format!("{}, {}", child.path.display(), child.title))?;
    }
    match (stats.file.earliest, stats.file.latest) {
        (Some(earliest), Some(latest)) => field(ui, "time     ", &format!("{earliest} to {latest}")),
        _ => Ok(()),
    }
}

fn field(ui: &mut Ui, name: &str, value: &str) -> Result<(), CommandError> {
    ui.line(&[(Tone::Dim, name), (Tone::Plain, value)])
}

/// Two columns of numbers.
fn print_sums(stats: &Stats, ui: &mut Ui) -> Result<(), CommandError> {
    let mut table =
        Table::new([Column::wide(""), Column::numbers("this branch"), Column::numbers("whole file")]);
    let mut row = |name: &str, [branch, file]: [String; 2]| {
        // What there is none of is not worth a line.
        if file == "0" && name != "entries" {
            return;
        }
        table.push([(Tone::Plain, name.to_owned()), (Tone::Plain, branch), (Tone::Plain, file)]);
    };
    let both = stats.both();
    let number = |of: fn(&Figures) -> usize| both.map(|figures| thousands(of(figures) as u64));
    let spent = |of: fn(&Usage) -> u64| both.map(|figures| tokens(of(&figures.usage)));
    row("branches", [String::new(), thousands(stats.branches as u64)]);
    row("entries", number(|figures| figures.entries));
    row("prompts", number(|figures| figures.turns));
    row("answers", number(|figures| figures.messages(Role::Assistant).count));
    row("failed answers", number(|figures| figures.failed + figures.aborted));
    row("tool calls", number(Figures::tool_calls));
    row("tool errors", number(Figures::tool_errors));
    row("compactions", number(|figures| figures.compactions));
    row("branch summaries", number(|figures| figures.branch_summaries));
    row("images", number(|figures| figures.images.count));
    row("bytes", both.map(|figures| bytes(figures.bytes)));
    if !stats.file.usage.is_empty() {
        row("tokens sent", spent(|usage| usage.input + usage.cache_write));
        row("tokens from cache", spent(|usage| usage.cache_read));
        row("tokens received", spent(|usage| usage.output));
        row("tokens", spent(|usage| usage.total));
        row("cost", both.map(|figures| money(figures.usage.cost)));
    }
    table.print(ui)
}

/// What takes the room: messages by role, other entries by type.
fn print_kinds(stats: &Stats, ui: &mut Ui) -> Result<(), CommandError> {
    let mut table = Table::new([
        Column::wide("kind"),
        Column::numbers("this branch"),
        Column::numbers(""),
        Column::numbers("whole file"),
        Column::numbers(""),
    ]);
    for (name, [branch, file]) in shares(stats) {
        table.push([
            (Tone::Plain, name),
            (Tone::Plain, thousands(branch.count as u64)),
            (Tone::Dim, bytes(branch.bytes)),
            (Tone::Plain, thousands(file.count as u64)),
            (Tone::Dim, bytes(file.bytes)),
        ]);
    }
    table.print(ui)
}

fn shares(stats: &Stats) -> Vec<(String, [Share; 2])> {
    let roles =
        stats.file.roles.iter().map(|(role, _)| {
            (format!("message {role}"), stats.both().map(|figures| figures.messages(*role)))
        });
    let kinds = stats.file.kinds.iter().filter(|(kind, _)| *kind != Kind::Message);
    let kinds = kinds.map(|(kind, _)| (kind.to_string(), stats.both().map(|figures| figures.kind(*kind))));
    let mut all: Vec<_> = roles.chain(kinds).collect();
    all.sort_by_key(|(_, [_, file])| std::cmp::Reverse(file.bytes));
    all
}

fn print_models(stats: &Stats, ui: &mut Ui) -> Result<(), CommandError> {
    let mut table = Table::new([
        Column::wide("model"),
        Column::numbers("this branch"),
        Column::numbers(""),
        Column::numbers("whole file"),
        Column::numbers(""),
    ]);
    for name in stats.file.models.keys() {
        let [branch, file] =
            stats.both().map(|figures| figures.models.get(name).copied().unwrap_or_default());
        table.push([
            (Tone::Plain, name.clone()),
            (Tone::Plain, tokens(branch.usage.total)),
            (Tone::Dim, money(branch.usage.cost)),
            (Tone::Plain, tokens(file.usage.total)),
            (Tone::Dim, money(file.usage.cost)),
        ]);
    }
    table.print(ui)
}

fn print_tools(stats: &Stats, ui: &mut Ui) -> Result<(), CommandError> {
    let mut table = Table::new([
        Column::wide("tool"),
        Column::numbers("this branch"),
        Column::numbers("whole file"),
        Column::words("").spare(1),
    ]);
    for (name, file) in &stats.file.tools {
        let branch = stats.branch.tools.get(name).copied().unwrap_or_default();
        let failed = match file.errors {
            0 => String::new(),
            errors => format!("{} failed", thousands(errors as u64)),
        };
        table.push([
            (Tone::Plain, name.clone()),
            (Tone::Plain, thousands(branch.calls as u64)),
            (Tone::Plain, thousands(file.calls as u64)),
            (Tone::Bad, failed),
        ]);
    }
    table.print(ui)
}

fn print_largest(session: &Session, stats: &Stats, ui: &mut Ui) -> Result<(), CommandError> {
    let texts = Texts::new(session);
    ui.line(&[(Tone::Dim, "largest entries")])?;
    let mut table = Table::new([Column::numbers(""), Column::words(""), Column::wide("")]);
    for (node, size) in &stats.file.largest {
        let (tone, text) = texts.of(session, *node)?;
        let id = session.tree().id(*node).to_string();
        table.push([(Tone::Plain, bytes(*size)), (Tone::Dim, id), (tone, text)]);
    }
    table.print(ui)
}

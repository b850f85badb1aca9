//! `offshoot diff`: compares two branches from their common ancestor.

use std::ffi::OsString;

use session_tree::{Node, Session};
use session_view::{CommandRun, Comparison, Outcome, Side};

use super::texts::Texts;
use crate::app::{App, resolve};
use crate::error::{CommandError, Failure};
use crate::ui::{Tone, Ui, count, money, one_line, shortened, tokens};

/// The maximum number of commands to show, unless all are requested.
const MOST_COMMANDS: usize = 20;

/// Compare two branches from their common ancestor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// The tip of one branch.
    #[arg(value_name = "REF")]
    one: String,
    /// The tip of the other branch; the default is the leaf.
    #[arg(value_name = "REF")]
    other: Option<String>,
    /// Show all commands.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let session = app.open(&args.session)?;
    let none = || Failure::new("the session is before its first entry").hint("name two entries");
    let find = |reference| Ok::<Node, CommandError>(resolve(&session, reference)?.ok_or_else(none)?);
    let comparison = session_view::compare(&session, find(Some(&args.one))?, find(args.other.as_deref())?)?;
    match args.json {
        true => app.ui.json(&comparison),
        false => print(&session, &comparison, args.all, &mut app.ui),
    }
}

/// Prints the comparison of the branches of two entries, for the chat.
pub(crate) fn print_between(
    session: &Session,
    one: &str,
    other: &str,
    app: &mut App,
) -> Result<(), CommandError> {
    let comparison = session_view::compare(session, session.node(one)?, session.node(other)?)?;
    print(session, &comparison, false, &mut app.ui)
}

fn print(session: &Session, comparison: &Comparison, all: bool, ui: &mut Ui) -> Result<(), CommandError> {
    match &comparison.base {
        Some(base) => {
            let (tone, text) = Texts::new(session).of(session, session.node(base)?)?;
            let id = format!("{base}  ");
            ui.row(&[(Tone::Dim, "common ancestor "), (Tone::Plain, &id), (tone, &text)], 2)?;
        }
        None => ui.line(&[(Tone::Dim, "no common ancestor")])?,
    }
    for side in &comparison.sides {
        ui.plain("")?;
        print_side(session, side, all, ui)?;
    }
    let in_both = in_both(comparison);
    if !in_both.is_empty() {
        ui.plain("")?;
        ui.line(&[(Tone::Accent, "in both")])?;
        in_both.iter().try_for_each(|(word, file)| item(ui, (Tone::Dim, word), file))?;
    }
    Ok(())
}

/// Returns the files of both sides, those that both changed first.
fn in_both(comparison: &Comparison) -> Vec<(&'static str, &str)> {
    let contested = comparison.contested_files.iter().map(|file| ("both changed", file.as_str()));
    let others = comparison.files_in_both.iter().filter(|file| !comparison.contested_files.contains(file));
    contested.chain(others.map(|file| ("both touched", file.as_str()))).collect()
}

fn print_side(session: &Session, side: &Side, all: bool, ui: &mut Ui) -> Result<(), CommandError> {
    let figures = &side.stats;
    let numbers = format!(
        ": {}, {}, {} tokens, {}",
        count(figures.entries, "entry"),
        count(figures.turns, "prompt"),
        tokens(figures.usage.total),
        money(figures.usage.cost)
    );
    let name = format!(" ({})", shortened(&session.branch_name(session.node(&side.at)?)?, 40));
    ui.line(&[(Tone::Accent, side.at.as_str()), (Tone::Plain, &name), (Tone::Plain, &numbers)])?;
    for prompt in &side.prompts {
        item(ui, (Tone::Dim, "prompt"), &one_line(&prompt.text))?;
    }
    for file in side.files.modified_files() {
        item(ui, (Tone::Notice, "changed"), file)?;
    }
    for file in side.files.read_files() {
        item(ui, (Tone::Dim, "read"), file)?;
    }
    print_commands(&side.commands, all, ui)?;
    match &side.ends_with {
        Some(answer) => item(ui, (Tone::Dim, "ends with"), answer),
        None => Ok(()),
    }
}

fn print_commands(commands: &[CommandRun], all: bool, ui: &mut Ui) -> Result<(), CommandError> {
    let most = if all { commands.len() } else { MOST_COMMANDS };
    for command in commands.iter().take(most) {
        let (tone, word) = word(command.outcome);
        let by = if command.by_person { "! " } else { "" };
        let said = format!("{by}{} {}", command.tool, one_line(&command.argument));
        item(ui, (tone, word), &said)?;
    }
    match commands.len().saturating_sub(most) {
        0 => Ok(()),
        left => item(ui, (Tone::Dim, ""), &format!("and {left} more; --all shows them")),
    }
}

fn item(ui: &mut Ui, (tone, word): (Tone, &str), text: &str) -> Result<(), CommandError> {
    let word = format!("  {word:<12}");
    ui.row(&[(tone, &word), (Tone::Plain, " "), (Tone::Plain, text)], 2)
}

fn word(outcome: Outcome) -> (Tone, &'static str) {
    match outcome {
        Outcome::Ok => (Tone::Good, "ok"),
        Outcome::Error => (Tone::Bad, "error"),
        Outcome::Open => (Tone::Notice, "open"),
    }
}

//! `offshoot demo`: writes a sample session, then opens the chat on it; without a terminal it prints the tree.

mod script;

use std::path::PathBuf;

use clap::Parser;
use session_tree::Session;
use session_view::{Charset, Outline, OutlineOptions};

use crate::app::{App, file_of};
use crate::change::quoted;
use crate::cmd::tree;
use crate::error::{CommandError, Failure};
use crate::{interactive, talk};

/// Write a sample session with branches and open the chat on it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory of the session; the default is a new temporary one.
    #[arg(value_name = "DIRECTORY", value_hint = clap::ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let fallback = || std::env::temp_dir().join(format!("offshoot-demo-{}", std::process::id()));
    let directory = args.directory.clone().unwrap_or_else(fallback);
    let at_terminal = interactive::is_possible();
    let cwd = if at_terminal { app.env.cwd()? } else { script::CWD.to_owned() };
    let clock = script::PastClock::before(app.env.now());
    std::fs::create_dir_all(&directory).map_err(|error| CommandError::system("make", &directory, &error))?;
    let mut session = app.options().clock(clock).create(directory.join("greeter.jsonl"), cwd)?;
    script::write(&mut session)?;
    session.sync()?;
    if at_terminal { tour(session, app) } else { print(&session, app) }
}

/// The text above the tree of the demo.
const INTRODUCTION: &str = "\
This is a sample session: one task, tried in three ways. Its tree is below.
Up/Down move, Enter goes to an entry, Esc closes the tree; nothing is lost.
A prompt starts a new branch; the offline model answers. /tree, /help, /quit.";

/// The arguments of a conversation only.
#[derive(Parser)]
struct Talk {
    #[command(flatten)]
    args: talk::Args,
}

/// Opens the chat on the sample session, with its tree on the screen.
fn tour(session: Session, app: &mut App) -> Result<(), CommandError> {
    let file = file_of(&session);
    drop(session);
    let options = ["--model", "offshoot/offline", "--no-extensions", "--no-context-files", "--no-approve"];
    let line = ["offshoot", "--session", &file].into_iter().chain(options);
    let talk = Talk::try_parse_from(line).map_err(|error| Failure::new(error.to_string()))?;
    interactive::tour(&talk.args, INTRODUCTION, app)?;
    let program = program();
    app.ui.tell(&format!(
        "the sample session is kept; `{program} --session {}` opens it again",
        quoted(&file)
    ))?;
    app.ui.tell(&format!(
        "`{program}` starts a conversation of your own, `{program} --help` lists all commands"
    ))
}

/// Returns the name under which this program was started.
fn program() -> String {
    let program = std::env::args_os().next().unwrap_or_else(|| "offshoot".into());
    quoted(&program.to_string_lossy())
}

/// Prints the tree of the sample session, and commands to try on it.
fn print(session: &Session, app: &mut App) -> Result<(), CommandError> {
    let outline = Outline::new(session, OutlineOptions::default());
    tree::print(session, &outline, Charset::Unicode, false, &mut app.ui)?;
    let program = program();
    let file = quoted(&file_of(session));
    app.ui.tell("")?;
    app.ui.tell("A sample session: a task that was tried in three ways. Walk it:")?;
    for command in [
        "branches FILE",
        "context FILE",
        "show FILE @rust",
        "diff FILE branch:1 branch:2",
        "switch FILE branch:3",
    ] {
        app.ui.tell(&format!("  {program} {}", command.replace("FILE", &file)))?;
    }
    Ok(())
}

//! `offshoot demo`: a session to look at, made on the spot.

mod script;

use std::path::PathBuf;

use session_tree::{Charset, Outline, OutlineOptions};

use crate::app::{App, file_of};
use crate::change::quoted;
use crate::cmd::tree;
use crate::error::CommandError;

/// Arguments of `offshoot demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to put the session; a new directory below the system's temporary one if not given.
    #[arg(value_name = "DIRECTORY", value_hint = clap::ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let fallback = || std::env::temp_dir().join(format!("offshoot-demo-{}", std::process::id()));
    let directory = args.directory.clone().unwrap_or_else(fallback);
    let clock = script::PastClock::before(app.now());
    std::fs::create_dir_all(&directory).map_err(|error| CommandError::system("make", &directory, &error))?;
    let mut session = app.options().clock(clock).create(directory.join("greeter.jsonl"), script::CWD)?;
    script::write(&mut session)?;
    session.sync()?;

    let outline = Outline::new(&session, OutlineOptions::default());
    tree::print(&session, &outline, Charset::Unicode, false, &mut app.ui)?;
    let program = std::env::args_os().next().unwrap_or_else(|| "offshoot".into());
    let program = quoted(&program.to_string_lossy());
    let file = quoted(&file_of(&session));
    app.ui.tell("")?;
    app.ui.tell("A sample session: a task that was tried in three ways. Walk it:")?;
    for command in
        ["branches FILE", "context FILE", "show FILE @rust", "diff FILE '#1' '#2'", "switch FILE '#3'"]
    {
        app.ui.tell(&format!("  {program} {}", command.replace("FILE", &file)))?;
    }
    Ok(())
}

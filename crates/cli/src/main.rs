//! The binary: arguments in, one function per command, an exit code out.
//!
//! Knows no rules of the domain; those are in `session-tree`.
#![forbid(unsafe_code)]

mod app;
mod change;
mod cmd;
mod complete;
mod env;
mod error;
mod json;
mod reading;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use app::{App, Places};
use env::Environment;
use ui::{Colour, Ui};

/// What all commands have in common; it stands below the help of the program and in its manual page.
const AFTER_HELP: &str = "\
A SESSION is a path, an id or the beginning of one, a name, or `-` for the latest of this project.
A REF is an entry: an id or the beginning of one, `@label`, `leaf` or `.`, `root`, `^` (parent), `~1` (latest
prompt), `#1` (first branch); `SESSION:REF` where entries may come from elsewhere.

Exit codes: 0 done, 1 failed, 2 wrong arguments, 4 `check` found damage.
Environment: OFFSHOOT_HOME, OFFSHOOT_SESSION_DIR, OFFSHOOT_NO_CACHE, PI_CODING_AGENT_DIR, NO_COLOR.";

/// Walk the history of AI conversations as a tree.
#[derive(Debug, Parser)]
#[command(
    name = "offshoot",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = AFTER_HELP
)]
struct Args {
    #[command(flatten)]
    places: Places,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
    #[command(subcommand)]
    command: cmd::Command,
}

fn main() -> ExitCode {
    complete::answer();
    let args = Args::parse();
    let env = Environment::read();
    let ui = Ui::new(args.color, env.no_color);
    let mut app = App::new(ui, env, args.places);
    let result = args.command.run(&mut app).and_then(|()| app.ui.flush());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(&mut app.ui),
    }
}

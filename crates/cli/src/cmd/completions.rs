//! `offshoot completions`: prints the completion script of a shell.

use std::path::PathBuf;

use clap_complete::env::Shells;

use crate::app::App;
use crate::complete::VARIABLE;
use crate::error::{CommandError, Failure};

/// Print a script that completes commands, sessions and entries in a shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// The supported shells.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Elvish => "elvish",
            Shell::Fish => "fish",
            Shell::Powershell => "powershell",
            Shell::Zsh => "zsh",
        }
    }
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let name = args.shell.name();
    let shells = Shells::builtins();
    let shell = shells.completer(name).ok_or_else(|| Failure::new(format!("no completions for {name}")))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "offshoot", "offshoot", &program(), &mut script)?;
    app.ui.raw(&script)
}

/// Returns the command with which the shell calls this program: its name if it was found by name.
fn program() -> String {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let program = match called.components().count() {
        0 | 1 => PathBuf::from("offshoot"),
        _ => std::env::current_exe().unwrap_or(called),
    };
    program.to_string_lossy().into_owned()
}

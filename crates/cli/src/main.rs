//! The binary: arguments in, one function per command, an exit code out.
//!
//! Knows no rules of the domain; those are in `session-tree`.
#![forbid(unsafe_code)]

mod cmd;
mod error;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::CommandError;
use ui::Ui;

/// Walk the history of AI conversations as a tree.
#[derive(Debug, Parser)]
#[command(name = "offshoot", version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a small session with branches into a new directory and show its tree.
    Demo(cmd::demo::Args),
    /// Show a session as a tree.
    Tree(cmd::tree::Args),
    /// Show what a model would get at a position of a session.
    Context(cmd::context::Args),
    /// Explain everything odd in a session file; never writes.
    Check(cmd::check::Args),
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut ui = Ui::new();
    let result = run(args.command, &mut ui).and_then(|()| ui.flush());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(&mut ui),
    }
}

fn run(command: Command, ui: &mut Ui) -> Result<(), CommandError> {
    match command {
        Command::Demo(args) => cmd::demo::run(&args, ui),
        Command::Tree(args) => cmd::tree::run(&args, ui),
        Command::Context(args) => cmd::context::run(&args, ui),
        Command::Check(args) => cmd::check::run(&args, ui),
    }
}

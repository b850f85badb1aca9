//! The binary: parses arguments, runs one function per command, and returns an exit code.
//!
//! Contains no rules of the domain; those are in `session-tree`.
#![forbid(unsafe_code)]

mod app;
mod ask;
mod change;
mod cmd;
mod complete;
mod database;
mod env;
mod error;
mod exporting;
mod extensions;
mod interactive;
mod leftovers;
mod log;
mod mcp;
mod packages;
mod pi;
mod project_file;
mod reading;
mod resources;
#[cfg(feature = "server")]
mod server;
mod settings;
mod setup;
mod slash;
mod talk;
mod trust;
mod ui;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};

use app::{App, Places};
use env::Environment;
use ui::{Colour, Ui};

/// The help text below the list of commands, also part of the manual page.
const AFTER_HELP: &str = "\
A SESSION is a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
A REF is an entry: an id or a prefix of it, `@label`, `leaf`, `root`, `leaf^` (the parent),
`leaf~1` (the latest prompt), `branch:2` (the second branch of `offshoot branches`);
`SESSION:REF` is an entry of another session. `offshoot COMMAND --help` has examples.

Exit codes: 0 done, 1 failed, 2 wrong arguments, 4 `check` found damage, 130 interrupted.
Environment: OFFSHOOT_HOME, OFFSHOOT_SESSION_DIR, OFFSHOOT_STORE, OFFSHOOT_NO_CACHE, OFFSHOOT_LOG,
PI_CODING_AGENT_DIR, NO_COLOR, PGPASSWORD, PGPASSFILE, and the keys of model services, such as ANTHROPIC_API_KEY.";

/// Browse and branch AI conversations as a tree.
#[derive(Debug, Parser)]
#[command(
    name = "offshoot",
    version,
    max_term_width = 100,
    after_help = AFTER_HELP
)]
struct Args {
    #[command(flatten)]
    places: Places,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
    #[command(flatten)]
    log: log::Args,
    #[command(flatten)]
    talk: talk::Args,
    #[command(subcommand)]
    command: Option<cmd::Command>,
}

/// The arguments of a line without a command.
#[derive(Debug, Parser)]
#[command(name = "offshoot", version, max_term_width = 100, after_help = AFTER_HELP)]
struct PromptArgs {
    #[command(flatten)]
    places: Places,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
    #[command(flatten)]
    log: log::Args,
    #[command(flatten)]
    talk: talk::Args,
}

fn main() -> ExitCode {
    complete::answer();
    let args = arguments();
    let env = Environment::read();
    let ui = Ui::new(args.color, env.no_color);
    let log = log::start(&args.log, &env, opens_chat(&args));
    let mut app = App::new(ui, env, args.places);
    let run = |()| match &args.command {
        Some(command) => args.talk.refuse_beside_command().and_then(|()| command.run(&mut app)),
        None => args.talk.refuse_mistyped_command().and_then(|()| ask_model(&args.talk, &mut app)),
    };
    let result = log.and_then(run).and_then(|()| app.ui.flush());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(&mut app.ui),
    }
}

/// Returns true if the command line opens the chat, which owns the screen.
fn opens_chat(args: &Args) -> bool {
    let is_chat = args.command.as_ref().map_or(args.talk.is_conversation(), cmd::Command::opens_chat);
    is_chat && interactive::is_possible()
}

/// Talks to a model: in a chat at a terminal, otherwise with one prompt.
fn ask_model(args: &talk::Args, app: &mut App) -> Result<(), error::CommandError> {
    match args.is_conversation() && interactive::is_possible() {
        true => interactive::run(args, app),
        false => talk::run(args, app),
    }
}

/// Returns the parser, with the commands in groups in its help.
fn program() -> clap::Command {
    let program = Args::command();
    let mut groups = String::new();
    for (title, commands) in cmd::groups(&program) {
        let lines = commands.iter().map(|(name, about)| format!("  {name:<14} {about}\n"));
        groups.extend([format!("{title}:\n"), lines.collect(), "\n".to_owned()]);
    }
    let help =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{{all-args}}{{after-help}}");
    // The groups already list the commands.
    program.mut_subcommands(|command| command.hide(true)).help_template(help)
}

/// Parses the command line. Unknown options are kept, because an extension may define them; that is known only after
/// loading.
fn arguments() -> Args {
    let mut line: Vec<OsString> = std::env::args_os().collect();
    let mut foreign: Vec<(String, clap::Error)> = Vec::new();
    loop {
        let error = match parse(&line) {
            Ok(mut args) if args.command.is_none() => {
                args.talk.note_mistyped_command(&line, &Args::command());
                foreign.iter().for_each(|(option, error)| args.talk.extensions.add_flag(option, error));
                return args;
            }
            Ok(args) => match foreign.into_iter().next() {
                Some((_, first)) => first.exit(),
                None => return args,
            },
            Err(error) => error,
        };
        match unknown_option(&error, &line) {
            Some(at) => foreign.push((line.remove(at).to_string_lossy().into_owned(), error)),
            // Reports the first error.
            None if error.use_stderr() => foreign.into_iter().next().map_or(error, |(_, first)| first).exit(),
            None => error.exit(),
        }
    }
}

/// Parses a command line. Text after `-p` is a prompt, even if it starts with the name of a command.
fn parse(line: &[OsString]) -> Result<Args, clap::Error> {
    let program = program();
    if !talk::names_command_after_print(line, &program) {
        let read = program.try_get_matches_from(line)?;
        let mut args = Args::from_arg_matches(&read)?;
        args.talk.note_options(&read);
        return Ok(args);
    }
    let read = PromptArgs::command().try_get_matches_from(line)?;
    let PromptArgs { places, color, log, mut talk } = PromptArgs::from_arg_matches(&read)?;
    talk.note_options(&read);
    Ok(Args { places, color, log, talk, command: None })
}

/// Returns the index of the unknown option.
fn unknown_option(error: &clap::Error, line: &[OsString]) -> Option<usize> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let is_meant = |word: &OsString| {
        let word = word.to_string_lossy();
        word == *option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    };
    let options = line.iter().take_while(|word| *word != "--");
    option.starts_with("--").then(|| options.into_iter().position(is_meant)).flatten()
}

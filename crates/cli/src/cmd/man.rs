//! `offshoot man`: manual pages.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::app::App;
use crate::error::{CommandError, Failure};

/// Print manual pages.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command; the default is the whole program.
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Option<String>,
    /// Write the pages of the program and of all commands into this directory.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut program = crate::Args::command().disable_help_subcommand(true);
    program.build();
    if let Some(dir) = &args.dir {
        let written = write_all(&program, dir);
        return written.map_err(|error| CommandError::system("write manual pages into", dir, &error));
    }
    let command = match &args.command {
        None => &program,
        Some(name) => find(&program, name)?,
    };
    app.ui.raw(&page(command)?)
}

fn find<'p>(program: &'p Command, name: &str) -> Result<&'p Command, CommandError> {
    let unknown = || Failure::new(format!("no command `{name}`")).hint("`offshoot help` lists the commands");
    Ok(program.find_subcommand(name).ok_or_else(unknown)?)
}

fn write_all(program: &Command, dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    for command in std::iter::once(program).chain(program.get_subcommands()) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        std::fs::write(dir.join(format!("{name}.1")), page(command)?)?;
    }
    Ok(())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let source = concat!("offshoot ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).manual("offshoot").render(&mut page)?;
    Ok(page)
}

//! `update`: installs packages again, in the latest version that their source allows.

use super::install::{ScopeArgs, Target, report};
use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::packages;

/// Update packages to the latest versions that their sources allow.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A package with an exact version, a git reference or a path stays as it is; `offshoot install` with
another version replaces it.")]
pub(crate) struct Args {
    /// The source or the name of a package; the default is all of them.
    #[arg(value_name = "PACKAGE")]
    package: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Run the scripts of packages and of their dependencies while they are installed.
    #[arg(long)]
    allow_scripts: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let target = Target::open(args.scope, app)?;
    let wanted = match &args.package {
        Some(text) => vec![target.find(text, app)?],
        None => target.declared(app),
    };
    let (mut changed, mut failures) = (Vec::new(), Vec::new());
    for package in wanted.iter().filter(|package| package.source.is_copied()) {
        if package.source.is_pinned() && package.is_installed() {
            continue;
        }
        match packages::install(&package.source, &target.scope, args.allow_scripts) {
            Ok(installed) => changed.push(installed.changed(&package.text)),
            Err(error) => failures.push(error),
        }
    }
    target.keep_trust(app)?;
    report(&changed, "updated", args.json, app)?;
    // One package that fails does not stop the others.
    let Some(first) = failures.pop() else { return Ok(()) };
    for error in &failures {
        let text = error.failure().map_or("stopped", |failure: &Failure| failure.message.as_str());
        app.ui.tell(&format!("warning: {text}"))?;
    }
    Err(first)
}

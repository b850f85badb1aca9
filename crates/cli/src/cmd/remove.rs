//! `remove`: removes a package and its entry in the settings.

use super::install::{ChangedPackage, ScopeArgs, Target, report};
use crate::app::App;
use crate::error::CommandError;
use crate::packages;

/// Remove a package.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A directory that is used where it is stays; only its entry in the settings is removed."
)]
pub(crate) struct Args {
    /// The source or the name of the package, as `offshoot list` shows it.
    #[arg(value_name = "PACKAGE")]
    package: String,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let target = Target::open(args.scope, app)?;
    let package = target.find(&args.package, app)?;
    packages::uninstall(&package.source, &target.scope)?;
    target.change(app, |packages, target| {
        packages.retain(|entry| !target.is(entry, &package.source, app));
        Ok(())
    })?;
    let removed = ChangedPackage { source: package.text, version: None, path: None };
    report(&[removed], "removed", args.json, app)
}

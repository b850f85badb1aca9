//! `new`: starts an empty session.

use std::path::{Path, PathBuf};

use offshoot_agent::command::NewRequest;
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{Destination, NewSession};

use super::fork::Made;
use super::moving::{MoveOutput, go};
use super::session_command::{Outcome, Work};
use crate::app::App;
use crate::change::Effect;
use crate::error::{CommandError, Failure};

/// Start an empty session.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Args {
    /// The name of the session.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// The working directory of the session; the default is the current directory.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// The id of the session; the default is a new one.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Start over in the same file: the next prompt becomes a new root.
    #[arg(long, conflicts_with_all = ["name", "cwd", "id"])]
    here: bool,
}

/// The JSON of a new session.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Created {
    name: Option<String>,
    /// The working directory.
    cwd: String,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    if args.here {
        if !work.is_chat {
            let failure = Failure::new("`--here` needs an open session");
            return Err(CommandError::Usage(failure.hint("`offshoot switch SESSION start` does the same")));
        }
        let planned = work.agent.plan_new_here().await?;
        return go(planned, MoveOutput::Leaf, work).await;
    }
    let cwd = args.cwd.as_deref().map_or_else(|| work.app.env.cwd(), real_directory)?;
    if let Some(id) = &args.id {
        check_unused(id, work.app)?;
    }
    let to = match work.database() {
        _ if work.is_chat && work.file().is_empty() => Destination::Memory,
        Some(database) => Destination::Directory(database),
        None => Destination::Directory(work.app.catalog()?.project_dir(&cwd)),
    };
    let new = NewSession { cwd: cwd.clone(), id: args.id.clone(), parent_session: None };
    let request = NewRequest { new, to: Some(to.clone()), name: args.name.clone() };
    // Planning creates no file yet, and checks the id.
    let planned = work.agent.plan_new(request, work.app.options()).await?;
    let name = planned.session.name().map(str::to_owned);
    let what = match &name {
        Some(name) => format!("the session `{name}` of {cwd}"),
        None => format!("a session of {cwd}"),
    };
    let mut made = Made::new(what, to);
    let mut effect = Effect::None;
    if !work.dry_run {
        let replaced = work.finish(work.agent.replace_session(planned)).await?;
        effect = made.replaced(replaced, Default::default(), work)?;
    }
    Ok(made.change(("created", "create"), Created { name, cwd })?.effect(effect))
}

/// Returns the full path of a directory, as sessions store it.
fn real_directory(path: &Path) -> Result<String, CommandError> {
    let real = path.canonicalize().map_err(|error| CommandError::system("find", path, &error))?;
    if !real.is_dir() {
        return Err(Failure::new(format!("{} is not a directory", path.display())).into());
    }
    Ok(real.to_string_lossy().into_owned())
}

/// Refuses an id that another session has.
fn check_unused(id: &str, app: &App) -> Result<(), CommandError> {
    let taken = app.catalog()?.list_all().quick().find(|row| row.id == id);
    match taken {
        None => Ok(()),
        Some(row) => Err(Failure::new(format!("{} has the id `{id}` already", row.path.display())).into()),
    }
}

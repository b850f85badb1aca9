//! `offshoot trust`: shows what a project would load, and stores the decision.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::ask;
use crate::error::{CommandError, Failure};
use crate::trust::{CODE_NOTE, Project, TrustFile, TrustState};
use crate::ui::{Column, Table, Tone, bytes, count};

/// Show what a project would load, and decide whether to trust it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory of a project; the default is the current one.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
    /// Trust the current files without asking.
    #[arg(long, short, group = "what")]
    yes: bool,
    /// Use nothing of the project and of its subdirectories, and do not ask again.
    #[arg(long, group = "what")]
    refuse: bool,
    /// Remove the decision.
    #[arg(long, group = "what")]
    remove: bool,
    /// List all decisions.
    #[arg(long, group = "what", conflicts_with = "dir")]
    list: bool,
    /// Print the list as JSON.
    #[arg(long, requires = "list")]
    json: bool,
}

/// The JSON of a decision.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Decision<'d> {
    dir: &'d str,
    /// `trusted`, `refused`, `changed`, `undecided` or `gone`.
    trust: &'d str,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let file = TrustFile::in_directory(&app.env.state_dir()?);
    if args.list {
        return list(&file, args.json, app);
    }
    let dir = args.dir.clone().map_or_else(|| app.env.cwd().map(PathBuf::from), Ok)?;
    let dir = dir.canonicalize().map_err(|error| CommandError::system("find", &dir, &error))?;
    let project = Project::find(&dir);
    if args.remove {
        let dir = project.ok().flatten().map_or(dir, |project| project.dir);
        return remove(&file, &dir, app);
    }
    match project? {
        Some(project) => decide(args, &file, &project, app),
        None => app.ui.tell(&format!("{} would load nothing; there is nothing to trust", dir.display())),
    }
}

fn list(file: &TrustFile, is_json: bool, app: &mut App) -> Result<(), CommandError> {
    let mut rows = Vec::new();
    for saved in file.list()? {
        let standing = match Project::at(&saved.dir) {
            _ if !saved.is_trusted => (Tone::Bad, "refused"),
            Ok(None) => (Tone::Dim, "gone"),
            Ok(Some(project)) => describe(file.standing(&project)?),
            Err(_) => (Tone::Notice, "changed"),
        };
        rows.push((standing, shown(&saved.dir)));
    }
    if is_json {
        return app.ui.json_list(rows.iter().map(|((_, trust), dir)| Ok(Decision { dir, trust })));
    }
    let rows = rows.into_iter().map(|((tone, word), dir)| Ok([(tone, word.to_owned()), (Tone::Plain, dir)]));
    Table::show([Column::words(""), Column::wide("")], rows, &mut app.ui)
}

fn describe(standing: TrustState) -> (Tone, &'static str) {
    match standing {
        TrustState::Trusted => (Tone::Good, "trusted"),
        TrustState::Refused => (Tone::Bad, "refused"),
        TrustState::Changed => (Tone::Notice, "changed"),
        TrustState::Undecided => (Tone::Notice, "undecided"),
    }
}

fn remove(file: &TrustFile, dir: &Path, app: &mut App) -> Result<(), CommandError> {
    match file.forget(dir)? {
        true => app.ui.tell(&format!("forgot what was decided about {}", dir.display())),
        false => Err(Failure::new(format!("nothing was decided about {}", dir.display()))
            .hint("`offshoot trust --list` lists all decisions")
            .into()),
    }
}

/// Shows what would load, and stores the user's decision.
fn decide(args: &Args, file: &TrustFile, project: &Project, app: &mut App) -> Result<(), CommandError> {
    show(project, file.standing(project)?, app)?;
    let is_trusted = match () {
        () if args.yes => true,
        () if args.refuse => false,
        () if !ask::is_possible() => {
            return app.ui.tell("hint: `--yes` trusts it, `--refuse` does not");
        }
        () => {
            app.ui.flush()?;
            if !ask::yes(&mut app.ui, "trust all of this?")? {
                return app.ui.tell("nothing was decided; `--refuse` would remember a no");
            }
            true
        }
    };
    file.remember(project, is_trusted)?;
    let verb = if is_trusted { "trusted" } else { "refused" };
    app.ui.tell(&format!("{verb} {}", shown(&project.dir)))
}

/// Before a conversation, shows what a project would load and asks for trust. Returns true if the user agreed.
pub(crate) fn ask_before(project: &Project, is_changed: bool, app: &mut App) -> Result<bool, CommandError> {
    let standing = if is_changed { TrustState::Changed } else { TrustState::Undecided };
    show(project, standing, app)?;
    app.ui.flush()?;
    let answer = ask::word(&mut app.ui, "trust all of this?", &["yes", "no", "never"])?;
    let file = TrustFile::in_directory(&app.env.state_dir()?);
    match answer {
        Some("yes") => file.remember(project, true)?,
        Some("never") => file.remember(project, false)?,
        _ => {}
    }
    Ok(answer == Some("yes"))
}

fn show(project: &Project, standing: TrustState, app: &mut App) -> Result<(), CommandError> {
    let files = count(project.items.len(), "file");
    let (tone, word) = describe(standing);
    app.ui.line(&[
        (Tone::Plain, &shown(&project.dir)),
        (Tone::Dim, &format!(" would load {files}; ")),
        (tone, word),
    ])?;
    let rows = project.items.iter().map(|item| {
        let purpose = (Tone::Accent, item.purpose.to_owned());
        Ok([purpose, (Tone::Plain, shown(&item.path)), (Tone::Dim, bytes(item.bytes))])
    });
    Table::show([Column::words(""), Column::wide(""), Column::numbers("")], rows, &mut app.ui)?;
    if project.has_code() && standing != TrustState::Refused {
        app.ui.line(&[(Tone::Notice, &format!("note: {CODE_NOTE}"))])?;
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

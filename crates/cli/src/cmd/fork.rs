//! `offshoot fork`: a new session that goes on from an entry of an old one.

use std::ffi::OsString;

use session_tree::{Destination, Extract, ForkPlan, ForkPosition, Node, Role, Session};

use super::moving::images;
use super::new_file::{self, Output};
use crate::app::{App, file_of, resolve};
use crate::change::Changing;
use crate::error::{CommandError, Failure};
use crate::ui::count;

/// Arguments of `offshoot fork`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// An entry: an id or the beginning of one, `@label`, `leaf`, `root`, `^`, `~2`, `#1`. The fork ends before it if
    /// it is a prompt, and at it if it is anything else. Without it the fork ends at the current position.
    #[arg(value_name = "REF")]
    at: Option<String>,
    /// End before the prompt.
    #[arg(long, conflicts_with = "at_entry")]
    before: bool,
    /// End at the entry, also if it is a prompt.
    #[arg(long = "at", id = "at_entry")]
    at_entry: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let source = app.open(&args.session)?;
    let at = resolve(&source, args.at.as_deref())?.ok_or_else(|| Failure::new("Nothing to fork yet"))?;
    let plan = plan(&source, at, args.position(&source, at))?;
    let to = args.output.destination(&source, app)?;
    make(&source, &plan, &to, ("forked", "fork"), args.how, app)
}

impl Args {
    fn position(&self, source: &Session, at: Node) -> ForkPosition {
        let is_prompt = source.tree().role(at) == Some(Role::User) && !source.tree().is_placeholder(at);
        match (self.before, self.at_entry || self.at.is_none()) {
            (true, _) => ForkPosition::Before,
            (_, true) => ForkPosition::At,
            _ if is_prompt => ForkPosition::Before,
            _ => ForkPosition::At,
        }
    }
}

/// Plans a fork at an entry.
pub(super) fn plan(source: &Session, at: Node, position: ForkPosition) -> Result<ForkPlan, CommandError> {
    let id = source.tree().id(at);
    if position == ForkPosition::Before && source.tree().role(at) != Some(Role::User) {
        return Err(Failure::new(format!("entry {id} is no prompt"))
            .hint("without `--before` the fork ends at the entry")
            .into());
    }
    Ok(source.plan_fork(id.as_str(), position)?)
}

/// Makes the new session, and tells about it.
pub(super) fn make(
    source: &Session,
    plan: &ForkPlan,
    to: &Destination,
    verbs: (&'static str, &'static str),
    how: Changing,
    app: &mut App,
) -> Result<(), CommandError> {
    let entries = match plan.target {
        Some(at) => source.plan_extract(Extract::Path { at })?.entries().len(),
        None => 0,
    };
    let made = match how.dry_run {
        true => None,
        false => Some(source.fork(plan, to.clone(), app.options())?),
    };
    let what = format!("{} of {}", count(entries, "entry"), file_of(source));
    new_file::change(verbs, &what, to, made)?
        .field("parentSession", file_of(source))
        .field("entries", entries)
        .field("prompt", plan.editor_text.clone())
        .field("images", images(&plan.images))
        .tell(app, how)?;
    if how.json { Ok(()) } else { tell_prompt(plan, app) }
}

/// Tells the prompt that the fork ends before, so that it can be changed and sent again.
fn tell_prompt(plan: &ForkPlan, app: &mut App) -> Result<(), CommandError> {
    let Some(prompt) = &plan.editor_text else { return Ok(()) };
    let images = match plan.images.len() {
        0 => String::new(),
        images => format!(" (with {})", count(images, "image")),
    };
    app.ui.tell(&format!("the prompt was{images}:"))?;
    for line in prompt.lines() {
        app.ui.tell(&format!("  {line}"))?;
    }
    Ok(())
}

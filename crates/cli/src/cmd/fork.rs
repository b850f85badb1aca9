//! `fork`: starts a new session from an entry of this one.

use std::path::PathBuf;

use offshoot_agent::command::{Fork, ForkRequest, Forked, Replaced};
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{Destination, Error, Extract, ForkPlan, ForkPosition, Image, Role};

use super::session_command::{Outcome, Work};
use crate::change::{Change, Effect};
use crate::database::remove_command;
use crate::error::{CommandError, Failure};
use crate::ui::count;

/// Start a new session from an entry of a session.
#[derive(Debug, Clone, clap::Args)]
#[command(
    visible_alias = "branch",
    after_help = "\
The new session holds the path to the entry. It ends before the entry if that is a prompt, and
its text is printed, to be edited and sent again; otherwise it ends at the entry. The old
session stays as it is.

Examples:
  offshoot fork work leaf~1           start over from the last prompt, in a new session
  offshoot fork work @done -o x.jsonl write the new session to a file"
)]
pub(crate) struct Args {
    /// An entry: an id or a prefix of it, `@label`, `branch:2`, `leaf~1`, `root`; the default is the leaf.
    #[arg(value_name = "REF")]
    pub(crate) at: Option<String>,
    /// End before the prompt.
    #[arg(long, conflicts_with = "at_entry")]
    before: bool,
    /// End at the entry, also if it is a prompt.
    #[arg(long = "at", id = "at_entry")]
    at_entry: bool,
    /// Create the new session without opening it.
    #[arg(long)]
    stay: bool,
    #[command(flatten)]
    output: Output,
}

// The place of a new session. (A documentation comment would replace the help of the command.)
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct Output {
    /// Write to this file, which must not exist. The default is a file beside the other sessions of the project.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let entry = match &args.at {
        Some(entry) => entry.clone(),
        None => {
            let leaf = work.leaf();
            leaf.ok_or_else(|| Failure::new("Nothing to fork yet"))?.to_string()
        }
    };
    let position = match (args.before, args.at_entry || args.at.is_none()) {
        (true, _) => Some(ForkPosition::Before),
        (false, true) => Some(ForkPosition::At),
        (false, false) => None,
    };
    if args.before {
        check_prompt(&entry, work)?;
    }
    let to = Some(work.destination(args.output.output.as_deref())?);
    let fork = work.agent.plan_fork(ForkRequest { entry, position, to, stay: args.stay }).await?;
    apply(fork, ("forked", "fork"), work).await
}

fn check_prompt(entry: &str, work: &Work<'_>) -> Result<(), CommandError> {
    let id = work.agent.find(entry)?;
    if work.agent.read(|session| Ok::<_, Error>(session.tree().role(session.node(id.as_str())?)))?
        == Some(Role::User)
    {
        return Ok(());
    }
    let failure = Failure::new(format!("entry {id} is not a prompt"));
    Err(failure.hint("without `--before` the fork ends at the entry").into())
}

/// Makes the new session as planned.
pub(super) async fn apply(fork: Fork, verbs: (&'static str, &'static str), work: &mut Work<'_>) -> Outcome {
    let entries = work.agent.read(|session| {
        let target = fork.plan.target.as_ref().map(|id| session.node(id.as_str())).transpose()?;
        let path = target.map(|at| session.plan_extract(Extract::Path { at })).transpose()?;
        Ok::<_, Error>(path.map_or(0, |path| path.entries.len()))
    })?;
    let old_file = work.file();
    let (plan, to, stay) = (fork.plan.clone(), fork.to.clone(), fork.stay);
    let mut made = Made::new(format!("{} of {}", count(entries, "entry"), work.session_name()), to);
    let mut effect = Effect::None;
    if !work.dry_run {
        let options = work.app.options();
        let forked = work.finish(work.agent.fork(fork, options)).await?;
        if let (Some(file), true) = (&forked.session_file, stay) {
            made.file = Some(file.display().to_string());
            made.id = Some(work.app.options().open_read_only(file)?.header().id().into_owned());
        }
        if !stay {
            let Forked { session_file, previous_session_file, editor_text, images } = forked;
            let replaced = Replaced { session_file, previous_session_file, ..Replaced::default() };
            effect = made.replaced(replaced, (editor_text, images), work)?;
        }
    }
    let json = CopyJson { parent_session: old_file, entries, plan: Some(plan.clone()) };
    let mut change = made.change(verbs, json)?;
    if let (Some(prompt), false) = (&plan.editor_text, work.is_chat) {
        change = change.note(prompt_note(prompt, &plan.images));
    }
    Ok(change.effect(effect))
}

fn prompt_note(prompt: &str, images: &[Image]) -> String {
    let images = match images.len() {
        0 => String::new(),
        images => format!(" (with {})", count(images, "image")),
    };
    let lines = prompt.lines().map(|line| format!("\n  {line}"));
    format!("the prompt was{images}:{}", lines.collect::<String>())
}

/// The JSON of a session that was made, or would be.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MadeJson<T> {
    /// The file; null in a dry run that leaves the name open.
    path: Option<String>,
    /// The id of the session; null in a dry run.
    id: Option<String>,
    #[serde(flatten)]
    fields: T,
}

/// The JSON of a copy of another session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CopyJson {
    /// The file of the session that was copied.
    pub(super) parent_session: String,
    /// The number of copied entries.
    pub(super) entries: usize,
    #[serde(flatten)]
    pub(super) plan: Option<ForkPlan>,
}

/// A session that was made, or would be.
#[derive(Debug)]
pub(super) struct Made {
    /// A description of its content.
    pub(super) what: String,
    /// The place of the session.
    pub(super) to: Destination,
    /// Its file and its id, once it is made.
    pub(super) file: Option<String>,
    pub(super) id: Option<String>,
}

impl Made {
    /// Describes a session that is not made yet.
    pub(super) fn new(what: String, to: Destination) -> Self {
        Made { what, to, file: None, id: None }
    }

    /// Takes the session that the agent works on now, and the prompt that was taken back; returns the effect in the chat.
    pub(super) fn replaced(
        &mut self,
        replaced: Replaced,
        (prompt, images): (Option<String>, Vec<Image>),
        work: &Work<'_>,
    ) -> Result<Effect, CommandError> {
        work.save()?;
        self.file = replaced.session_file.as_ref().map(|file| file.display().to_string());
        self.id = Some(work.agent.read(|session| session.header().id().into_owned()));
        Ok(Effect::Replaced { prompt, images, replaced })
    }

    /// Reports the session; `fields` are the part of the JSON form that only this command has.
    pub(super) fn change<T: Serialize>(
        &self,
        verbs: (&'static str, &'static str),
        fields: T,
    ) -> Result<Change, CommandError> {
        let (place, path) = match (&self.file, &self.to) {
            (Some(file), _) => (format!(" as {file}"), Some(file.clone())),
            (None, Destination::File(path)) => {
                let path = path.display().to_string();
                (format!(" as {path}"), Some(path))
            }
            (None, Destination::Directory(directory)) => {
                (format!(" as a new file in {}", directory.display()), None)
            }
            (None, Destination::Memory) => (String::new(), None),
        };
        let change = Change::new(verbs.0, verbs.1, format!("{}{place}", self.what));
        let change = match &self.file {
            Some(file) => change.gives(file.as_str()).undo(remove_command(file)),
            None => change,
        };
        change.json(MadeJson { path, id: self.id.clone(), fields })
    }
}

//! `offshoot append`: reads drafts as JSON lines and prints their ids, one by one.
//!
//! A draft is an entry as files store it, without id, parent and time.

use std::ffi::OsString;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::json::{Doc, Edit, Kind as JsonKind, ValueRef, write_string};
use session_tree::{
    Draft, EntryId, Error, Kind, LONGEST_LINE, NewContent, NewSession, Options, Role, Session, SyncPolicy,
    Timestamp, replay_system,
};

use crate::app::{App, file_of};
use crate::change::{Change, Changing};
use crate::database;
use crate::error::{CommandError, Failure};
use crate::ui::count;

/// Append entries given as lines of JSON on standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// Append below this entry instead of the current position.
    #[arg(long, value_name = "REF")]
    under: Option<String>,
    /// When entries are made safe from a power cut.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    sync: Sync,
    /// Create the file if the session is a path that does not exist.
    #[arg(long)]
    create: bool,
    /// The working directory of a created session; the default is the current directory.
    #[arg(long, value_name = "DIR", requires = "create", value_hint = clap::ValueHint::DirPath)]
    cwd: Option<String>,
    #[command(flatten)]
    how: Changing,
}

/// When entries are made safe from a power cut.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Sync {
    /// Before each id is printed.
    Always,
    /// At the end.
    #[default]
    Barrier,
    /// When the operating system writes them.
    Os,
}

impl Sync {
    fn policy(self) -> SyncPolicy {
        match self {
            Sync::Always => SyncPolicy::Always,
            Sync::Barrier => SyncPolicy::Periodic,
            Sync::Os => SyncPolicy::Os,
        }
    }
}

/// The JSON of an appended entry.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewEntry {
    id: EntryId,
    parent_id: Option<EntryId>,
}

/// The JSON of the last line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Appended {
    file: String,
    /// The leaf after the last entry.
    leaf_id: Option<EntryId>,
    /// The number of entries.
    entries: usize,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut appending = Appending::start(args, app)?;
    let result = appending.read_all(app);
    // Reported entries must be on disk, whatever came after them.
    appending.session.sync()?;
    let is_worth_telling = appending.taken > 0 && !args.how.dry_run;
    if is_worth_telling || result.is_ok() {
        appending.tell(app)?;
    }
    result
}

/// The state of appending drafts to a session.
struct Appending {
    session: Session,
    how: Changing,
    now: Timestamp,
    file: String,
    old_leaf: Option<EntryId>,
    /// True if the file was created by this command.
    is_new: bool,
    taken: usize,
    /// True if the reader of the ids has closed the pipe. Drafts are still appended.
    is_unheard: bool,
}

impl Appending {
    fn start(args: &Args, app: &App) -> Result<Self, CommandError> {
        let (session, is_new) = open(args, app)?;
        let file = match is_new {
            // In a dry run the session exists in memory only.
            true => absolute(Path::new(&args.session)).display().to_string(),
            false => file_of(&session),
        };
        let (how, now, old_leaf) = (args.how, app.env.now(), session.leaf_id());
        let mut appending =
            Appending { session, how, now, file, old_leaf, is_new, taken: 0, is_unheard: false };
        if let Some(under) = &args.under {
            appending.go_to(under)?;
        }
        Ok(appending)
    }

    fn read_all(&mut self, app: &mut App) -> Result<(), CommandError> {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        for number in 1_usize.. {
            line.clear();
            // One byte beyond the limit shows that the line is too long.
            let read = input.by_ref().take(LONGEST_LINE + 2).read_until(b'\n', &mut line);
            let read =
                read.map_err(|error| CommandError::system("read", "standard input".as_ref(), &error))?;
            if read == 0 {
                break;
            }
            let length = line.trim_ascii().len() as u64;
            if length > LONGEST_LINE {
                let error = Error::EntryTooLong { length, limit: LONGEST_LINE };
                return Err(at_line(number, error.into()));
            }
            if !line.trim_ascii().is_empty() {
                self.take(line.trim_ascii(), app).map_err(|error| at_line(number, error))?;
            }
        }
        Ok(())
    }

    /// Appends one draft and prints its id at once, because the script may wait for it.
    fn take(&mut self, line: &[u8], app: &mut App) -> Result<(), CommandError> {
        let doc = Doc::parse(line).map_err(|error| Failure::new(format!("not JSON: {error}")))?;
        let prepared = self.prepare(&doc)?;
        if self.taken == 0 && !self.how.dry_run {
            app.migrate(&mut self.session)?;
        }
        self.taken += 1;
        if self.how.dry_run {
            return Ok(());
        }
        let id = prepared.append(&mut self.session)?;
        self.report(&id, app)
    }

    fn report(&mut self, id: &EntryId, app: &mut App) -> Result<(), CommandError> {
        if self.is_unheard {
            return Ok(());
        }
        let node = self.session.node(id.as_str())?;
        let tree = self.session.tree();
        let parent_id = tree.parent(node).map(|parent| tree.id(parent));
        let printed = match self.how.json {
            true => app.ui.json(&NewEntry { id: id.clone(), parent_id }),
            false => app.ui.plain(id.as_str()),
        };
        match printed.and_then(|()| app.ui.flush()) {
            Err(CommandError::BrokenPipe) => self.is_unheard = true,
            other => other?,
        }
        Ok(())
    }

    /// Moves the leaf to a reference; the next draft goes below it.
    fn go_to(&mut self, reference: &str) -> Result<(), CommandError> {
        let id = self.session.tree().id(session_view::resolve(&self.session, reference)?);
        Ok(self.session.branch(id.as_str())?)
    }

    fn prepare(&mut self, doc: &Doc) -> Result<Prepared, CommandError> {
        let entry = doc.root();
        // Validates the shape first, so that a typing error is not reported as a missing entry.
        let draft = Draft::from_entry(entry)?;
        match entry.get("parentId") {
            None => {}
            Some(parent) if parent.is_null() => self.session.reset_leaf(),
            Some(parent) => match parent.as_str() {
                Some(reference) => self.go_to(&reference)?,
                None => return Err(Failure::new("`parentId` is neither an entry nor null").into()),
            },
        }
        match draft.kind() {
            Kind::Label => {
                let target = self.named(entry, "targetId")?;
                Ok(Prepared::Draft(Draft::from_entry(with_target(entry, &target)?.root())?))
            }
            Kind::ContextEdit => Ok(Prepared::Edit(self.named_above(entry, "targetId")?, content_of(entry)?)),
            Kind::Compaction => {
                self.named_above(entry, "firstKeptEntryId")?;
                self.with_system_state(entry, draft).map(Prepared::Draft)
            }
            Kind::BranchSummary if !entry.get("fromId").is_some_and(|from| from.is_str("root")) => {
                self.named(entry, "fromId").map(|_| Prepared::Draft(draft))
            }
            _ => Ok(Prepared::Draft(draft)),
        }
    }

    /// Finds the entry that a field names.
    fn named(&self, entry: ValueRef<'_>, key: &str) -> Result<EntryId, CommandError> {
        let reference = entry.get(key).and_then(ValueRef::as_str).unwrap_or_default();
        Ok(self.session.tree().id(session_view::resolve(&self.session, &reference)?))
    }

    /// Finds the entry that a field names, which must be on the current path.
    fn named_above(&self, entry: ValueRef<'_>, key: &str) -> Result<EntryId, CommandError> {
        let id = self.named(entry, key)?;
        let node = self.session.node(id.as_str())?;
        match self.session.leaf() {
            Some(leaf) if self.session.tree().is_on_path(node, leaf) => Ok(id),
            _ => Err(Error::NotOnPath { id }.into()),
        }
    }

    /// Adds the state of the system messages that a compaction hides.
    fn with_system_state(&self, entry: ValueRef<'_>, draft: Draft) -> Result<Draft, CommandError> {
        if entry.get("systemMessage").is_some() {
            return Ok(draft);
        }
        let context = self.session.context()?;
        let state = replay_system(context.messages().filter(|message| message.role() == Role::System));
        let Some(mut state) = state.and_then(|state| state.value().to_serde()) else { return Ok(draft) };
        state["timestamp"] = self.now.as_millis().into();
        Ok(draft.with_field("systemMessage", &state)?)
    }

    fn tell(&self, app: &mut App) -> Result<(), CommandError> {
        let new = if self.is_new { "the new session " } else { "" };
        let what = format!("{} to {new}{}", count(self.taken, "entry"), self.file);
        let (file, leaf_id) = (self.file.clone(), self.session.leaf_id());
        let change =
            Change::new("appended", "append", what).json(Appended { file, leaf_id, entries: self.taken })?;
        let change = match (self.is_new, self.taken) {
            (true, _) => change.undo(database::remove_command(&self.file)),
            (false, 0) => change,
            (false, _) => change.undo_by_moving(&file_of(&self.session), self.old_leaf.as_ref()),
        };
        match change.tell(app, self.how) {
            Err(CommandError::BrokenPipe) if self.is_unheard => Ok(()),
            told => told,
        }
    }
}

/// A draft whose references are resolved.
enum Prepared {
    Draft(Draft),
    Edit(EntryId, NewContent),
}

impl Prepared {
    fn append(&self, session: &mut Session) -> Result<EntryId, CommandError> {
        Ok(match self {
            Prepared::Draft(draft) => session.append(draft)?,
            Prepared::Edit(target, content) => session.append_context_edit(target.as_str(), content)?,
        })
    }
}

/// Opens or creates the session. Returns true if it was created.
fn open(args: &Args, app: &App) -> Result<(Session, bool), CommandError> {
    let options = app.options().sync(args.sync.policy());
    if args.create {
        let (path, exists) = match database::address(&args.session) {
            Some(address) => {
                let path = app.databases.add(address, &app.env)?;
                let exists = app.databases.has_session(&path)?;
                (path, exists)
            }
            None => (PathBuf::from(&args.session), Path::new(&args.session).exists()),
        };
        if !exists {
            let cwd = args.cwd.clone().map_or_else(|| app.env.cwd(), Ok)?;
            return Ok((create(options, &path, cwd, args.how.dry_run)?, true));
        }
    }
    let found = app.find(&args.session)?;
    let session = if args.how.dry_run { options.open_read_only(found) } else { options.open(found) };
    Ok((session?, false))
}

fn create(options: Options, path: &Path, cwd: String, dry_run: bool) -> Result<Session, CommandError> {
    // A mistyped id must not create a file.
    if path.components().count() < 2 && path.extension().is_none_or(|extension| extension != "jsonl") {
        let name = path.display();
        return Err(Failure::new(format!("{name} does not look like the path of a session"))
            .hint(format!("use `./{name}` or `{name}.jsonl` to make a file of that name"))
            .into());
    }
    let new = NewSession { cwd, ..NewSession::default() };
    if dry_run {
        return Ok(options.in_memory(new)?);
    }
    let mut session = options.create(absolute(path), new)?;
    session.save()?;
    Ok(session)
}

/// Returns a path that does not depend on the working directory. An address stays as it is.
fn absolute(path: &Path) -> PathBuf {
    if database::is_address(path) {
        return path.to_path_buf();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn with_target(entry: ValueRef<'_>, target: &EntryId) -> Result<Doc, CommandError> {
    let mut text = String::new();
    write_string(&mut text, target.as_str());
    let mut edit = Edit::new(entry);
    edit.replace("targetId", text.as_bytes());
    let doc = Doc::parse(edit.object_text());
    Ok(doc.map_err(|error| Failure::new(format!("not JSON: {error}")))?)
}

fn content_of(entry: ValueRef<'_>) -> Result<NewContent, CommandError> {
    let content = entry.get("replacement").and_then(|replacement| replacement.get("content"));
    match content {
        None => Ok(NewContent::Omit),
        Some(content) if content.kind() == JsonKind::String => {
            Ok(NewContent::Text(content.as_str().unwrap_or_default().into_owned()))
        }
        Some(content) => Ok(NewContent::Blocks(content.to_serde().ok_or(Error::BadReplacement)?)),
    }
}

fn at_line(number: usize, error: CommandError) -> CommandError {
    match error {
        CommandError::Failed(mut failure) => {
            failure.message = format!("line {number} of standard input: {}", failure.message);
            CommandError::Failed(failure)
        }
        other => other,
    }
}

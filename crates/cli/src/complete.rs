//! Completion in shells: sessions of this project, and entries of the session named so far.
//!
//! Runs between two key strokes: reads little, writes nothing, and offers nothing rather than wrong candidates.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, ArgMatches, Command, CommandFactory};
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::{ArgValueCompleter, CompleteEnv};
use offshoot_tui::app::references;
use session_tree::{Session, SessionSummary};
use session_view::{Filter, Outline, OutlineOptions};

use crate::app::{App, Places};
use crate::env::Environment;
use crate::ui::{Colour, Ui, clean};

/// The variable with which the script of a shell calls this program.
pub(crate) const VARIABLE: &str = "OFFSHOOT_COMPLETE";

/// The maximum number of candidates.
const MOST_SESSIONS: usize = 50;
const MOST_ENTRIES: usize = 200;
/// The maximum length of the description of a candidate.
const MOST_LETTERS: usize = 60;

/// Answers a shell and exits, if one asks.
pub(crate) fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Returns the program with completions for all arguments that name a session or an entry.
fn command() -> Command {
    crate::Args::command().mut_subcommands(|command| {
        command.mut_args(|argument| match () {
            () if names(&argument, "SESSION") => argument.add(ArgValueCompleter::new(sessions)),
            () if names(&argument, "REF") => argument.add(ArgValueCompleter::new(entries)),
            () => argument,
        })
    })
}

/// Returns true if the value name of an argument is `what`.
fn names(argument: &Arg, what: &str) -> bool {
    argument.get_value_names().is_some_and(|names| names.iter().any(|name| name == what))
}

fn sessions(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = &*unquoted(current);
    let files = PathCompleter::any().filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let paths = files.complete(current);
    let Some(typed) = current.to_str().filter(|typed| !typed.contains('/')) else { return paths };
    let rows = asked().and_then(|asked| asked.sessions()).unwrap_or_default();
    let mut found: Vec<_> = rows.iter().flat_map(|row| session_names(row, typed)).collect();
    found.extend(paths);
    found
}

/// Returns a session by its id and, if it fits, by its name.
fn session_names(row: &SessionSummary, typed: &str) -> Vec<CompletionCandidate> {
    let title = shortened(row.title());
    let by_id = row.id.starts_with(typed).then(|| candidate(&row.id, &title));
    let name = row.name.as_deref().filter(|name| !typed.is_empty() && name.starts_with(typed));
    let by_name = name.filter(|name| is_one_line(name)).map(|name| candidate(name, &row.id));
    by_id.into_iter().chain(by_name).collect()
}

fn entries(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = unquoted(current);
    let Some(typed) = current.to_str() else { return Vec::new() };
    let session = asked().and_then(|asked| asked.session());
    let references = references(session.as_ref()).into_iter().filter(|(name, _)| is_one_line(name));
    let mut found: Vec<_> = references.map(|(name, help)| candidate(&name, &help)).collect();
    found.extend(session.and_then(|session| ids(&session, typed)).unwrap_or_default());
    found.retain(|candidate| unquoted(candidate.get_value()).to_string_lossy().starts_with(typed));
    found
}

/// Returns the latest entries of the conversation with their texts.
fn ids(session: &Session, typed: &str) -> Option<Vec<CompletionCandidate>> {
    let tree = session.tree();
    let outline = Outline::new(session, OutlineOptions { filter: Filter::All, ..OutlineOptions::default() });
    let fits = |node: &_| !tree.is_bookkeeping(*node) && tree.id(*node).as_str().starts_with(typed);
    let mut found = Vec::new();
    for node in tree.nodes().rev().filter(fits).take(MOST_ENTRIES) {
        let position = outline.position_of(node)?;
        let row = outline.rows(session, position..position + 1).ok()?.pop()?;
        found.push(candidate(row.id.as_str(), &row.text));
    }
    Some(found)
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(quoted(value)).help(Some(shortened(help).into()))
}

/// Quotes a candidate for bash; other shells quote it themselves.
fn quoted(value: &str) -> String {
    if std::env::var_os(VARIABLE).is_none_or(|shell| shell != "bash") {
        return value.to_owned();
    }
    let is_plain = |c: char| c.is_alphanumeric() || "-_./@:=+,%#^~".contains(c);
    let spell = |c: char| if is_plain(c) { c.to_string() } else { format!("\\{c}") };
    value.chars().map(spell).collect()
}

/// Returns the typed text without quotes.
fn unquoted(typed: &OsStr) -> OsString {
    match typed.to_str() {
        Some(text) => text.replace('\\', "").into(),
        None => typed.to_owned(),
    }
}

fn shortened(text: &str) -> String {
    clean(&text.chars().take(MOST_LETTERS).collect::<String>()).into_owned()
}

/// Returns true if a text is one line, as shells require.
fn is_one_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// The command line typed so far.
struct TypedLine {
    app: App,
    session: Option<OsString>,
}

/// Parses the command line typed so far.
fn asked() -> Option<TypedLine> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let command = crate::Args::command().ignore_errors(true);
    let matches = command.clone().try_get_matches_from(words).ok()?;
    let (name, below) = matches.subcommand()?;
    let mut positionals = command.find_subcommand(name)?.get_positionals();
    let positional = positionals.find(|argument| names(argument, "SESSION"));
    let session = positional.and_then(|argument| first_word(below, argument.get_id().as_str()));
    let places =
        Places { pi: flag(below, "pi"), session_dir: first_word(below, "session_dir").map(Into::into) };
    let app = App::new(Ui::new(Colour::Never, true), Environment::read(), places);
    Some(TypedLine { app, session })
}

fn first_word(matches: &ArgMatches, id: &str) -> Option<OsString> {
    matches.try_get_raw(id).ok().flatten()?.next().map(OsStr::to_owned)
}

fn flag(matches: &ArgMatches, id: &str) -> bool {
    matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or(false)
}

impl TypedLine {
    /// Returns the sessions of this project, including those of pi.
    fn sessions(&self) -> Option<Vec<SessionSummary>> {
        let cwd = self.app.env.cwd().ok()?;
        let mut rows = Vec::new();
        for catalog in self.app.catalogs().into_iter().flatten() {
            let listing = catalog.list(&cwd);
            rows.extend(listing.quick().filter(SessionSummary::is_session).take(MOST_SESSIONS));
        }
        rows.truncate(MOST_SESSIONS);
        Some(rows)
    }

    /// Returns the named session, if it is found quickly.
    fn session(&self) -> Option<Session> {
        let wanted = self.session.as_ref()?.to_str()?;
        if Path::new(wanted).is_file() {
            return Session::open_read_only(wanted).ok();
        }
        let rows = self.sessions()?;
        let row = match wanted {
            "-" => rows.iter().max_by_key(|row| row.modified),
            _ => rows.iter().find(|row| row.id.starts_with(wanted) || row.name.as_deref() == Some(wanted)),
        };
        Session::open_read_only(&row?.path).ok()
    }
}

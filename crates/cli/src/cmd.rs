//! The table of commands. One command is one file: its arguments, its help text and one function.
//!
//! [`SessionCommand`]s change a session. They have one definition and one implementation for `offshoot x`, for `/x` in the
//! chat and for `offshoot -p '/x'`, and they run through an agent, so extensions see the same events each time.

#[cfg(feature = "server")]
mod acp;
mod append;
mod branch_here;
pub(crate) mod branches;
mod check;
pub(crate) mod cherry_pick;
mod clone;
mod compact;
mod completions;
mod config;
mod context;
#[cfg(feature = "postgres")]
mod db;
mod demo;
mod diff;
mod export;
mod export_branch;
mod extension;
mod follow;
mod fork;
mod import;
mod install;
mod label;
pub(crate) mod labels;
mod list;
mod login;
mod logout;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
pub(crate) mod merge;
mod migrate;
mod models;
mod moving;
mod name;
mod new;
mod note;
mod path;
mod permissions;
mod pop;
pub(crate) mod push;
mod remove;
mod repair;
mod report;
mod schema;
#[cfg(feature = "server")]
mod serve;
mod session_command;
pub(crate) mod sessions;
mod settings;
mod show;
mod stats;
mod switch;
mod texts;
mod tree;
pub(crate) mod trust;
mod types;
mod undo;
mod update;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use session_tree::{Context, Entry};
use session_view::{Comparison, OutlineRow};
use tracing::{Instrument as _, info_span};

use crate::app::App;
use crate::change::{ChangeJson, SessionState};
use crate::error::CommandError;
use crate::settings::Listed;

pub(crate) use diff::print_between as print_diff;
use session_command::{Alone, OnLatest, OnSession};
pub(crate) use session_command::{Outcome, Work, spawn};
pub(crate) use stats::print_session as print_stats;
pub(crate) use tree::print_session as print_tree;

/// The heading of a command in `offshoot --help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Look,
    Move,
    Copy,
    Mend,
    Connect,
    SetUp,
}

impl Group {
    const ALL: [(Group, &'static str); 6] = [
        (Group::Look, "Look at sessions"),
        (Group::Move, "Move in a session"),
        (Group::Copy, "Copy and combine"),
        (Group::Mend, "Check and repair"),
        (Group::Connect, "Connect"),
        (Group::SetUp, "Set up"),
    ];
}

/// A row of the table of commands.
struct Row {
    group: Group,
    /// The name of the module; the command has `-` instead of `_`.
    module: &'static str,
    /// The schemas of the `--json` output; empty without such an option.
    json: &'static [fn(&mut SchemaGenerator) -> Schema],
}

impl Row {
    fn name(&self) -> String {
        self.module.replace('_', "-")
    }
}

/// Declares the commands that change a session: group, additions of the command line, name, module, and the types that
/// `--json` prints.
macro_rules! session_commands {
    ($($(#[$attribute:meta])* $group:ident $line:ident $name:ident($module:ident) -> [$($json:ty),+],)*) => {
        /// A command that changes a session.
        #[derive(Debug, Clone, clap::Subcommand)]
        pub(crate) enum SessionCommand {
            $($name($module::Args),)*
        }

        /// A [`SessionCommand`] with the arguments that only the command line has: the session, `--json`, extensions.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum SessionCommandLine {
            $($(#[$attribute])* $name($line<$module::Args>),)*
        }

        const SESSION_COMMANDS: &[Row] = &[$(Row {
            group: Group::$group,
            module: stringify!($module),
            json: &[$(<$json as JsonSchema>::json_schema),+],
        },)*];

        impl SessionCommand {
            /// Runs the command.
            pub(crate) async fn run(&self, work: &mut Work<'_>) -> Outcome {
                match self {
                    $(SessionCommand::$name(args) => {
                        let span = info_span!("command", name = stringify!($module));
                        $module::run(args, work).instrument(span).await
                    })*
                }
            }
        }

        impl SessionCommandLine {
            fn run(&self, app: &mut App) -> Result<(), CommandError> {
                match self {
                    $(SessionCommandLine::$name(line) => {
                        line.run(&SessionCommand::$name(line.args.clone()), app)
                    })*
                }
            }
        }
    };
}

/// Declares all other commands: group, name, module, and the types that `--json` prints.
macro_rules! other_commands {
    ($($(#[$attribute:meta])* $group:ident $name:ident($module:ident) -> [$($json:ty),*],)*) => {
        /// A command that only the command line has.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum OtherCommand {
            $($(#[$attribute])* $name($module::Args),)*
        }

        const OTHER_COMMANDS: &[Row] = &[$($(#[$attribute])* Row {
            group: Group::$group,
            module: stringify!($module),
            json: &[$(<$json as JsonSchema>::json_schema),*],
        },)*];

        impl OtherCommand {
            fn run(&self, app: &mut App) -> Result<(), CommandError> {
                match self {
                    $($(#[$attribute])* OtherCommand::$name(args) => {
                        info_span!("command", name = stringify!($module)).in_scope(|| $module::run(args, app))
                    })*
                }
            }
        }
    };
}

session_commands! {
    #[command(allow_missing_positional = true)]
    Move OnLatest Switch(switch) -> [ChangeJson<moving::Moved>],
    #[command(allow_missing_positional = true)]
    Move OnLatest BranchHere(branch_here) -> [ChangeJson<moving::Moved>],
    Move OnLatest Undo(undo) -> [ChangeJson<moving::Moved>],
    Move OnLatest Pop(pop) -> [ChangeJson<pop::Popped>],
    Move OnLatest Push(push) -> [ChangeJson<label::Labelled>],
    Move OnSession Label(label) -> [ChangeJson<label::Labelled>, label::Shown],
    Move OnLatest Name(name) -> [ChangeJson<name::Named>, name::Shown],
    Move OnSession Note(note) -> [ChangeJson<note::NoteJson>],
    Move OnLatest Compact(compact) -> [ChangeJson<SessionState>],
    Copy OnLatest Fork(fork) -> [ChangeJson<fork::MadeJson<fork::CopyJson>>],
    Copy OnLatest Clone(clone) -> [ChangeJson<fork::MadeJson<fork::CopyJson>>],
    #[command(allow_missing_positional = true)]
    Copy OnLatest CherryPick(cherry_pick) -> [ChangeJson<cherry_pick::Picked>],
    #[command(allow_missing_positional = true)]
    Copy OnLatest Merge(merge) -> [ChangeJson<merge::Merged>],
    Copy OnSession ExportBranch(export_branch) -> [ChangeJson<fork::MadeJson<fork::CopyJson>>],
    Copy Alone New(new) -> [ChangeJson<fork::MadeJson<new::Created>>],
    Copy Alone Import(import) -> [ChangeJson<import::Imported>],
    SetUp Alone Permissions(permissions) -> [permissions::Shown<'_>, ChangeJson<permissions::Revoked>],
}

other_commands! {
    Look Demo(demo) -> [],
    Look Sessions(sessions) -> [Vec<sessions::Row>],
    Look Tree(tree) -> [Vec<OutlineRow>, Vec<path::ListedEntry>, Vec<tree::NestedEntry>],
    Look Show(show) -> [show::ShownEntry],
    Look Path(path) -> [Vec<path::ListedEntry>],
    Look Context(context) -> [Context],
    Look Branches(branches) -> [Vec<branches::NumberedBranch>],
    Look Labels(labels) -> [Vec<labels::LabelledEntry>],
    Look Diff(diff) -> [Comparison],
    Look Stats(stats) -> [stats::SessionStats],
    Look Follow(follow) -> [Entry],
    Copy Export(export) -> [ChangeJson<export::Exported>],
    Copy Append(append) -> [append::NewEntry, ChangeJson<append::Appended>],
    Mend Check(check) -> [check::Checked],
    Mend Repair(repair) -> [
        ChangeJson<repair::RepairedHere<'_>>, ChangeJson<repair::RepairedCopy<'_>>, ChangeJson<repair::UndoneRepair>
    ],
    Mend Migrate(migrate) -> [ChangeJson<migrate::Migrated>],
    Mend Report(report) -> [Vec<report::Section>],
    #[cfg(feature = "server")]
    Connect Serve(serve) -> [],
    #[cfg(feature = "server")]
    Connect Acp(acp) -> [],
    #[cfg(feature = "mcp")]
    Connect Mcp(mcp) -> [Vec<mcp::Listed>],
    #[cfg(feature = "postgres")]
    SetUp Db(db) -> [db::State, Vec<db::Listed>],
    SetUp Models(models) -> [Vec<models::ListedModel<'_>>],
    SetUp Login(login) -> [Vec<login::KeyPlace<'_>>],
    SetUp Logout(logout) -> [],
    SetUp Settings(settings) -> [Vec<Listed>],
    SetUp Trust(trust) -> [Vec<trust::Decision<'_>>],
    SetUp Install(install) -> [Vec<install::ChangedPackage>],
    SetUp Remove(remove) -> [Vec<install::ChangedPackage>],
    SetUp Update(update) -> [Vec<install::ChangedPackage>],
    SetUp List(list) -> [Vec<list::ListedPackage>],
    SetUp Config(config) -> [Vec<config::ListedResource>],
    SetUp Extension(extension) -> [Vec<extension::ListedExtension>],
    SetUp Types(types) -> [],
    SetUp Schema(schema) -> [],
    SetUp Completions(completions) -> [],
    SetUp Man(man) -> [],
}

/// Returns all rows of the table.
fn table() -> impl Iterator<Item = &'static Row> {
    OTHER_COMMANDS.iter().chain(SESSION_COMMANDS)
}

impl SessionCommand {
    /// Returns true if the command appends to the session; the others create new files.
    fn writes_here(&self) -> bool {
        use SessionCommand::{Clone, ExportBranch, Fork, Import, New, Permissions};
        !matches!(self, Clone(_) | ExportBranch(_) | Fork(_) | Import(_) | New(_) | Permissions(_))
    }

    /// Returns true if the command asks a model for a summary.
    pub(crate) fn writes_summary(&self) -> bool {
        match self {
            SessionCommand::Switch(args) => args.summary.is_requested(),
            SessionCommand::BranchHere(args) => args.summary.is_requested(),
            SessionCommand::Pop(args) => args.message.is_none(),
            SessionCommand::Merge(args) => args.writes_summary(true),
            _ => false,
        }
    }
}

/// The commands of the command line.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Session(SessionCommandLine),
    #[command(flatten)]
    Other(OtherCommand),
}

impl Command {
    /// Returns true if the command opens the chat at a terminal.
    pub(crate) fn opens_chat(&self) -> bool {
        matches!(self, Command::Other(OtherCommand::Demo(_)))
    }

    /// Runs the command.
    pub(crate) fn run(&self, app: &mut App) -> Result<(), CommandError> {
        match self {
            Command::Session(command) => command.run(app),
            Command::Other(command) => command.run(app),
        }
    }
}

/// Sorts the commands of `program` into the groups of its help, each as name and description.
pub(crate) fn groups(program: &clap::Command) -> Vec<(&'static str, Vec<(String, String)>)> {
    let line = |row: &Row| {
        let about = program.find_subcommand(row.name()).and_then(clap::Command::get_about);
        (row.name(), about.map(ToString::to_string).unwrap_or_default())
    };
    let of_group = |group: Group| table().filter(move |row| row.group == group).map(line);
    Group::ALL.iter().map(|(group, title)| (*title, of_group(*group).collect())).collect()
}

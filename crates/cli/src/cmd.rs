//! The table of commands. One command is one file: its arguments, its help text and one function.
//!
//! [`SessionCommand`]s change a session. They have one definition and one implementation for `offshoot x`, for `/x` in the
//! chat and for `offshoot -p '/x'`, and they run through an agent, so extensions see the same events each time.

mod append;
mod branch_here;
mod branches;
mod check;
pub(crate) mod cherry_pick;
mod clone;
mod compact;
mod completions;
mod context;
mod demo;
mod diff;
mod export;
mod export_branch;
mod extension;
mod follow;
mod fork;
mod import;
mod label;
mod labels;
mod login;
mod logout;
mod man;
pub(crate) mod merge;
mod migrate;
mod models;
mod moving;
mod name;
mod new;
mod path;
mod permissions;
mod pop;
pub(crate) mod push;
mod repair;
mod report;
mod session_command;
mod sessions;
mod settings;
mod show;
mod stats;
mod switch;
mod texts;
mod tree;
pub(crate) mod trust;
mod types;
mod undo;

use tracing::{Instrument as _, info_span};

use crate::app::App;
use crate::error::CommandError;

pub(crate) use diff::print_between as print_diff;
use session_command::{Alone, OnLatest, OnSession};
pub(crate) use session_command::{Outcome, Work, done, spawn};
pub(crate) use stats::print_session as print_stats;
pub(crate) use tree::print_session as print_tree;

/// The heading of a command in `offshoot --help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Look,
    Move,
    Copy,
    Mend,
    SetUp,
}

impl Group {
    const ALL: [(Group, &'static str); 5] = [
        (Group::Look, "Look at sessions"),
        (Group::Move, "Move in a session"),
        (Group::Copy, "Copy and combine"),
        (Group::Mend, "Check and repair"),
        (Group::SetUp, "Set up"),
    ];
}

/// Declares the commands that change a session: group, what the command line adds to the arguments, name and module.
macro_rules! session_commands {
    ($($(#[$attribute:meta])* $group:ident $line:ident $name:ident($module:ident),)*) => {
        /// A command that changes a session.
        #[derive(Debug, Clone, clap::Subcommand)]
        pub(crate) enum SessionCommand {
            $($name($module::Args),)*
        }

        /// A [`SessionCommand`] with what only the command line can say: the session, `--json`, extensions.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum SessionCommandLine {
            $($(#[$attribute])* $name($line<$module::Args>),)*
        }

        const SESSION_COMMANDS: &[(Group, &str)] = &[$((Group::$group, stringify!($module)),)*];

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

/// Declares all other commands: group, name and module.
macro_rules! other_commands {
    ($($group:ident $name:ident($module:ident),)*) => {
        /// A command that only the command line has.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum OtherCommand {
            $($name($module::Args),)*
        }

        const OTHER_COMMANDS: &[(Group, &str)] = &[$((Group::$group, stringify!($module)),)*];

        impl OtherCommand {
            fn run(&self, app: &mut App) -> Result<(), CommandError> {
                match self {
                    $(OtherCommand::$name(args) => {
                        info_span!("command", name = stringify!($module)).in_scope(|| $module::run(args, app))
                    })*
                }
            }
        }
    };
}

session_commands! {
    #[command(allow_missing_positional = true)]
    Move OnLatest Switch(switch),
    #[command(allow_missing_positional = true)]
    Move OnLatest BranchHere(branch_here),
    Move OnLatest Undo(undo),
    Move OnLatest Pop(pop),
    Move OnLatest Push(push),
    Move OnSession Label(label),
    Move OnLatest Name(name),
    Move OnLatest Compact(compact),
    Copy OnLatest Fork(fork),
    Copy OnLatest Clone(clone),
    #[command(allow_missing_positional = true)]
    Copy OnLatest CherryPick(cherry_pick),
    #[command(allow_missing_positional = true)]
    Copy OnLatest Merge(merge),
    Copy OnSession ExportBranch(export_branch),
    Copy Alone New(new),
    Copy Alone Import(import),
    SetUp Alone Permissions(permissions),
}

other_commands! {
    Look Demo(demo),
    Look Sessions(sessions),
    Look Tree(tree),
    Look Show(show),
    Look Path(path),
    Look Context(context),
    Look Branches(branches),
    Look Labels(labels),
    Look Diff(diff),
    Look Stats(stats),
    Look Follow(follow),
    Copy Export(export),
    Copy Append(append),
    Mend Check(check),
    Mend Repair(repair),
    Mend Migrate(migrate),
    Mend Report(report),
    SetUp Models(models),
    SetUp Login(login),
    SetUp Logout(logout),
    SetUp Settings(settings),
    SetUp Trust(trust),
    SetUp Extension(extension),
    SetUp Types(types),
    SetUp Completions(completions),
    SetUp Man(man),
}

impl SessionCommand {
    /// Returns true if the command appends to the session; the others make files of their own.
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
    let line = |(_, module): &(Group, &str)| {
        let name = module.replace('_', "-");
        let about = program.find_subcommand(&name).and_then(clap::Command::get_about);
        (name, about.map(ToString::to_string).unwrap_or_default())
    };
    let of_group =
        |group: Group| OTHER_COMMANDS.iter().chain(SESSION_COMMANDS).filter(move |(own, _)| *own == group);
    Group::ALL.iter().map(|(group, title)| (*title, of_group(*group).map(line).collect())).collect()
}

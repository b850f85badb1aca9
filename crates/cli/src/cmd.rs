//! One command, one file.

mod append;
mod branch_here;
mod branches;
mod check;
mod cherry_pick;
mod clone;
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
mod man;
mod merge;
mod migrate;
mod models;
mod moving;
mod name;
mod new;
pub(crate) mod new_file;
mod path;
mod pop;
mod repair;
mod sessions;
mod settings;
mod show;
mod stats;
mod switch;
mod texts;
mod tree;
pub(crate) mod trust;
mod types;

pub(crate) use cherry_pick::open_source;
pub(crate) use merge::merge_warnings;

use crate::app::App;
use crate::error::CommandError;

/// The commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Write a sample session with branches and open the chat on it, with its tree.
    Demo(demo::Args),
    /// List sessions.
    Sessions(sessions::Args),
    /// Make a new session.
    New(new::Args),
    /// Show sessions as trees.
    Tree(tree::Args),
    /// Show one entry in full.
    Show(show::Args),
    /// List the entries from the root to a position.
    Path(path::Args),
    /// Show what a model would get at a position.
    Context(context::Args),
    /// List the branches of a session.
    Branches(branches::Args),
    /// Move to another branch.
    Switch(switch::Args),
    /// Move to where another attempt can begin, and print the prompt to change.
    BranchHere(branch_here::Args),
    /// Show, set or clear the label of an entry.
    Label(label::Args),
    /// List all labels.
    Labels(labels::Args),
    /// Show, set or clear the name of a session.
    Name(name::Args),
    /// Make a new session that goes on from an entry of an old one.
    Fork(fork::Args),
    /// Make a new session that stands where an old one stands.
    Clone(clone::Args),
    /// Copy a session file into the directory of sessions.
    Import(import::Args),
    /// Write a session as a page to read, as Markdown, or as a session file.
    Export(export::Args),
    /// Write a part of a session as a session file of its own.
    ExportBranch(export_branch::Args),
    /// Copy entries of another branch or session under the current position.
    CherryPick(cherry_pick::Args),
    /// Tell under the current position what another branch achieved.
    Merge(merge::Args),
    /// Go back to before a prompt and leave a note about what was tried.
    Pop(pop::Args),
    /// Explain everything odd in session files; never writes.
    Check(check::Args),
    /// Heal a damaged session by appending to it, or in a copy.
    Repair(repair::Args),
    /// Write an old session in the current version, and keep the original.
    Migrate(migrate::Args),
    /// Append entries that standard input gives as lines of JSON.
    Append(append::Args),
    /// Print entries as other programs append them.
    Follow(follow::Args),
    /// Count entries, tokens and cost, on this branch and in the whole file.
    Stats(stats::Args),
    /// Compare two branches from their common ancestor.
    Diff(diff::Args),
    /// List the models that can be asked.
    Models(models::Args),
    /// Store the key of a model service.
    Login(login::Args),
    /// Forget the key of a model service.
    Logout(login::LogoutArgs),
    /// Show the effective settings, or the schema of the settings file.
    Settings(settings::Args),
    /// Show what a project would load, and decide whether it may.
    Trust(trust::Args),
    /// Write a first extension, or list those that would be loaded.
    Extension(extension::Args),
    /// Print type declarations for extensions.
    Types(types::Args),
    /// Print a script that completes commands, sessions and entries in a shell.
    Completions(completions::Args),
    /// Print manual pages.
    Man(man::Args),
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(&self, app: &mut App) -> Result<(), CommandError> {
        match self {
            Command::Demo(args) => demo::run(args, app),
            Command::Sessions(args) => sessions::run(args, app),
            Command::New(args) => new::run(args, app),
            Command::Tree(args) => tree::run(args, app),
            Command::Show(args) => show::run(args, app),
            Command::Path(args) => path::run(args, app),
            Command::Context(args) => context::run(args, app),
            Command::Branches(args) => branches::run(args, app),
            Command::Switch(args) => switch::run(args, app),
            Command::BranchHere(args) => branch_here::run(args, app),
            Command::Label(args) => label::run(args, app),
            Command::Labels(args) => labels::run(args, app),
            Command::Name(args) => name::run(args, app),
            Command::Fork(args) => fork::run(args, app),
            Command::Clone(args) => clone::run(args, app),
            Command::Import(args) => import::run(args, app),
            Command::Export(args) => export::run(args, app),
            Command::ExportBranch(args) => export_branch::run(args, app),
            Command::CherryPick(args) => cherry_pick::run(args, app),
            Command::Merge(args) => merge::run(args, app),
            Command::Pop(args) => pop::run(args, app),
            Command::Check(args) => check::run(args, app),
            Command::Repair(args) => repair::run(args, app),
            Command::Migrate(args) => migrate::run(args, app),
            Command::Append(args) => append::run(args, app),
            Command::Follow(args) => follow::run(args, app),
            Command::Stats(args) => stats::run(args, app),
            Command::Diff(args) => diff::run(args, app),
            Command::Models(args) => models::run(args, app),
            Command::Login(args) => login::run(args, app),
            Command::Logout(args) => login::logout(args, app),
            Command::Settings(args) => settings::run(args, app),
            Command::Trust(args) => trust::run(args, app),
            Command::Extension(args) => extension::run(args, app),
            Command::Types(args) => types::run(args, app),
            Command::Completions(args) => completions::run(args, app),
            Command::Man(args) => man::run(args, app),
        }
    }
}

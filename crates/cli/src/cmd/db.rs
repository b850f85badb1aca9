//! `offshoot db`: sessions in a PostgreSQL database.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::Timestamp;
use session_tree::fs::{Access, RealFs};
use session_tree::journal::FileJournal;
use session_tree_postgres::{
    Address, PostgresJournal, VERSION, copy_missing, delete, init, migrate, sessions, status,
};

use crate::app::App;
use crate::database::{self, Databases};
use crate::error::{CommandError, Failure};
use crate::ui::{bytes, count};

/// Keep sessions in a PostgreSQL database.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An address is postgres://USER@HOST/DATABASE, and postgres://USER@HOST/DATABASE/SESSION for one
session. Every command that takes a session takes such an address. Use ?sslmode=verify-full on a
network. docs/postgres.md describes tenants and roles.

Examples:
  createdb team && offshoot db init postgres:///team
  offshoot db push session.jsonl postgres:///team/refactoring
  offshoot tree postgres:///team/refactoring
  offshoot db pull postgres:///team/refactoring session.jsonl")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create the tables, and make a login role a member of a tenant.
    Init {
        /// The database; the default is that of `OFFSHOOT_STORE` or of the setting `store`.
        address: Option<String>,
        /// The tenant; it is created if it does not exist.
        #[arg(long, default_value = "default", value_name = "NAME")]
        tenant: String,
        /// The login role, by default that of the address; it is created if it does not exist.
        #[arg(long, value_name = "NAME")]
        role: Option<String>,
    },
    /// Bring the tables to the version of this program.
    Migrate {
        /// The database; the default is that of `OFFSHOOT_STORE` or of the setting `store`.
        address: Option<String>,
    },
    /// Show the version of the tables, and the tenant.
    Status {
        /// The database; the default is that of `OFFSHOOT_STORE` or of the setting `store`.
        address: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the sessions of the tenant, the last changed first.
    List {
        /// The database; the default is that of `OFFSHOOT_STORE` or of the setting `store`.
        address: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Copy the entries of a session to the database that it lacks.
    Push {
        /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
        session: String,
        /// The database, or the session in it; without a session, its id is the name.
        address: String,
    },
    /// Delete a session for good. Its forks keep the entries that they share with it.
    Delete {
        /// The session in the database.
        address: String,
    },
    /// Copy the entries of a session in the database to a file that lacks them.
    Pull {
        /// The session in the database.
        address: String,
        /// The file; it is created if it does not exist.
        file: PathBuf,
    },
}

/// A session of `offshoot db list --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    /// The address, without a password.
    address: String,
    /// The last part of the address.
    name: String,
    /// The working directory of the session.
    cwd: Option<String>,
    /// The size of the session.
    bytes: u64,
    /// The time of the last append.
    changed: Timestamp,
}

/// The state of `offshoot db status --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    /// The version of the tables; null without tables.
    version: Option<i32>,
    /// The version that this program uses.
    newest_version: i32,
    /// The role that logged in.
    role: String,
    /// The tenant of the role.
    tenant: Option<String>,
    /// The version of the server.
    server: String,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let database = |address: &Option<String>| named(address.as_deref(), app);
    match &args.command {
        Command::Init { address, tenant, role } => {
            let state = init(&database(address)?, tenant, role.as_deref())?;
            let role = role.as_ref().unwrap_or(&state.role);
            app.ui.plain(&format!("the tables have version {VERSION}; {role} works for the tenant {tenant}"))
        }
        Command::Migrate { address } => {
            migrate(&database(address)?)?;
            app.ui.plain(&format!("the tables have version {VERSION}"))
        }
        Command::Status { address, json } => show_status(&database(address)?, *json, app),
        Command::List { address, json } => list(&database(address)?, *json, app),
        Command::Push { session, address } => {
            let address = named(Some(address), app)?;
            push(&app.find_file(session)?, &address, app)
        }
        Command::Pull { address, file } => pull(&named(Some(address), app)?, file, app),
        Command::Delete { address } => {
            let address = named(Some(address), app)?;
            delete(&address)?;
            app.ui.tell(&format!("deleted {address}"))
        }
    }
}

/// Returns the address of an argument, or that of the environment or the settings.
fn named(address: Option<&str>, app: &App) -> Result<Address, CommandError> {
    if let Some(address) = address {
        return Databases::parse(address, &app.env);
    }
    let store = app.session_dir()?.path;
    if !database::is_address(&store) {
        let failure = Failure::new("no database is given");
        return Err(failure.hint("give its address, or set OFFSHOOT_STORE or the setting `store`").into());
    }
    app.databases.address(&store)
}

fn show_status(address: &Address, is_json: bool, app: &mut App) -> Result<(), CommandError> {
    let state = status(address)?;
    if is_json {
        let (version, role, tenant, server) = (state.version, state.role, state.tenant, state.server);
        return app.ui.json(&State { version, newest_version: VERSION, role, tenant, server });
    }
    let version = match state.version {
        None => "none; `offshoot db init` creates them".to_owned(),
        Some(version) if version < VERSION => {
            format!("version {version}; `offshoot db migrate` updates them")
        }
        Some(version) => format!("version {version}"),
    };
    app.ui.plain(&format!("server  PostgreSQL {}", state.server))?;
    app.ui.plain(&format!("tables  {version}"))?;
    app.ui.plain(&format!("role    {}", state.role))?;
    app.ui.plain(&format!("tenant  {}", state.tenant.as_deref().unwrap_or("none")))
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn list(address: &Address, is_json: bool, app: &mut App) -> Result<(), CommandError> {
    let sessions = sessions(address)?;
    if is_json {
        return app.ui.json_list(sessions.into_iter().map(|session| {
            Ok(Listed {
                address: address.with_session(&session.name).to_string(),
                name: session.name,
                cwd: Some(session.summary.cwd).filter(|cwd| !cwd.is_empty()),
                bytes: session.summary.size,
                changed: timestamp(session.changed),
            })
        }));
    }
    for session in &sessions {
        let summary = &session.summary;
        app.ui.plain(&format!("{}  {}  {}", session.name, bytes(summary.size), summary.cwd))?;
    }
    match sessions.is_empty() {
        true => app.ui.tell("no sessions yet; `offshoot db push` copies one"),
        false => Ok(()),
    }
}

fn push(file: &Path, address: &Address, app: &mut App) -> Result<(), CommandError> {
    let source = FileJournal::open(Arc::new(RealFs), file, Access::Read)?;
    let address = match address.session() {
        Some(_) => address.clone(),
        None => address.with_session(app.options().open_read_only(file)?.header().id()),
    };
    let mut target = match PostgresJournal::open(&address) {
        Err(session_tree_postgres::Error::NoSession { .. }) => PostgresJournal::create(&address)?,
        opened => opened?,
    };
    let copied = copy_missing(&source, &mut target)?;
    app.ui.plain(&format!("{} to {address}", count(copied.lines, "line")))
}

fn pull(address: &Address, file: &Path, app: &mut App) -> Result<(), CommandError> {
    let source = PostgresJournal::open(address)?;
    if !file.exists() {
        let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(missing) = directory.filter(|directory| !directory.is_dir()) {
            return Err(Failure::new(format!("there is no directory {}", missing.display())).into());
        }
    }
    let mut target = match file.exists() {
        true => FileJournal::open(Arc::new(RealFs), file, Access::Append)?,
        false => FileJournal::unsaved(Arc::new(RealFs), file.to_path_buf()),
    };
    let copied = copy_missing(&source, &mut target)?;
    app.ui.plain(&format!("{} to {}", count(copied.lines, "line"), file.display()))
}

//! The context of every command: the output, the environment, and the sessions that the user can name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use session_tree::{Catalog, Error, Node, Options, Session};
use sha2::{Digest, Sha256};

use crate::change::quoted;
use crate::database::{self, Databases};
use crate::env::{Environment, SessionDir};
use crate::error::{CommandError, Failure};
use crate::settings::Settings;
use crate::setup::Setup;
use crate::trust;
use crate::ui::Ui;

/// The context of a command.
#[derive(Debug)]
pub(crate) struct App {
    /// The output.
    pub(crate) ui: Ui,
    /// The environment: directories, clock, terminal.
    pub(crate) env: Environment,
    places: Places,
    /// The databases that were named.
    pub(crate) databases: Databases,
    /// The database for sessions without an address, once it is known.
    store: OnceLock<Option<PathBuf>>,
}

/// The directory in which sessions are searched.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Places {
    /// Work on the sessions of pi, in pi's own directory.
    #[arg(long, global = true, conflicts_with = "session_dir")]
    pub(crate) pi: bool,
    /// Work on the sessions in this directory.
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) session_dir: Option<PathBuf>,
}

impl App {
    /// Creates the context.
    pub(crate) fn new(ui: Ui, env: Environment, places: Places) -> Self {
        let databases = Databases::default();
        if let Ok(state) = env.state_dir() {
            databases.set_spool(state.join("spool"));
        }
        App { ui, env, places, databases, store: OnceLock::new() }
    }

    /// Returns the same context with an output that collects the text, for the chat.
    pub(crate) fn capturing(&self, columns: Option<usize>) -> Self {
        App {
            ui: Ui::capturing(columns),
            env: self.env.clone(),
            places: self.places.clone(),
            databases: self.databases.clone(),
            store: self.store.clone(),
        }
    }

    /// Returns a context for another directory, with an output that collects the text.
    #[cfg(feature = "server")]
    pub(crate) fn in_directory(&self, cwd: &Path) -> Self {
        App { env: self.env.in_directory(cwd), ..self.capturing(None) }
    }

    /// Returns the options for opening and creating sessions.
    pub(crate) fn options(&self) -> Options {
        self.options_maker()()
    }

    /// Returns a function that makes [`App::options`], for code that outlives this borrow.
    pub(crate) fn options_maker(&self) -> impl Fn() -> Options + Send + Sync + 'static {
        let sidecars = self.env.cache_dir().map(|dir| dir.join("sidecars"));
        let (clock, ids) = self.env.fixed();
        let databases = self.databases.clone();
        move || {
            // A command reads an entry once or twice; reused memory is faster than new memory.
            let mut options = databases.open_with(Options::new().cache_bytes(512 << 10));
            if let Some(sidecars) = &sidecars {
                options = options.sidecar_dir(sidecars);
            }
            options = options
                .on_lock_wait(|holder| crate::ui::words(&offshoot_tui::app::lock_notice(None, holder)));
            if let Some(clock) = clock {
                options = options.clock(clock);
            }
            if let Some(ids) = ids {
                options = options.ids(ids);
            }
            options
        }
    }

    /// Returns the requested sessions, or offshoot's own. New sessions are created there.
    pub(crate) fn catalog(&self) -> Result<Catalog, CommandError> {
        Ok(self.catalog_of(&self.session_dir()?))
    }

    /// Returns the directory of [`catalog`](App::catalog).
    pub(crate) fn session_dir(&self) -> Result<SessionDir, CommandError> {
        match &self.places {
            Places { pi: true, .. } => self.env.pi_sessions(),
            Places { session_dir: Some(path), .. } => Ok(SessionDir { path: path.clone(), is_flat: true }),
            Places { .. } => match self.store()? {
                Some(path) => Ok(SessionDir { path, is_flat: true }),
                None => self.env.own_sessions(),
            },
        }
    }

    /// Returns the database for sessions without an address, if the environment or a setting names one.
    fn store(&self) -> Result<Option<PathBuf>, CommandError> {
        if let Some(store) = self.store.get() {
            return Ok(store.clone());
        }
        let is_elsewhere = self.places.pi || self.places.session_dir.is_some() || self.env.has_session_dir();
        if self.env.store.is_none() && is_elsewhere {
            return Ok(None);
        }
        self.use_store(&Setup::read(self, trust::Args::default())?.0.settings)
    }

    /// Uses the database that the environment or a setting names, unless that is decided already.
    pub(crate) fn use_store(&self, settings: &Settings) -> Result<Option<PathBuf>, CommandError> {
        let named = match (&self.env.store, settings.store()) {
            (Some(address), _) => Some(address.clone()),
            (None, Some(setting)) if !self.env.has_session_dir() => Some(match setting.strip_prefix('$') {
                None => setting,
                Some(name) => self.env.variable(name).ok_or_else(|| {
                    Failure::new(format!("the setting `store` names the variable {name}, which is not set"))
                })?,
            }),
            _ => None,
        };
        let store = named.map(|address| self.databases.add(&address, &self.env)).transpose()?;
        Ok(self.store.get_or_init(|| store).clone())
    }

    /// Returns the sessions of pi, unless a directory was requested.
    pub(crate) fn pi_catalog(&self) -> Option<Catalog> {
        let is_asked = self.places.pi || self.places.session_dir.is_some();
        let dir = self.env.pi_sessions().ok().filter(|_| !is_asked)?;
        Some(self.catalog_of(&dir))
    }

    /// Returns all sessions that the user can name: those of [`catalog`](App::catalog), then those of pi.
    pub(crate) fn catalogs(&self) -> Result<impl Iterator<Item = Catalog>, CommandError> {
        // Files are found beside a database.
        let is_store = database::is_address(&self.session_dir()?.path);
        let files = is_store.then(|| self.env.own_sessions()).transpose()?.map(|dir| self.catalog_of(&dir));
        Ok(std::iter::once(self.catalog()?).chain(files).chain(self.pi_catalog()))
    }

    fn catalog_of(&self, dir: &SessionDir) -> Catalog {
        if database::is_address(&dir.path) {
            return self.databases.catalog(&dir.path);
        }
        let mut catalog = Catalog::new(&dir.path);
        if dir.is_flat {
            catalog = catalog.flat();
        }
        if let Some(cache) = self.env.cache_dir() {
            catalog = catalog.cache_file(
                cache.join("catalogs").join(file_name_of(dir.path.as_os_str().as_encoded_bytes())),
            );
        }
        catalog
    }

    /// Finds a session as [`find`](App::find) does, for commands that work with files only.
    pub(crate) fn find_file(&self, wanted: impl AsRef<OsStr>) -> Result<PathBuf, CommandError> {
        let found = match database::address(wanted.as_ref()) {
            Some(_) => None,
            None => Some(self.find(wanted)?).filter(|path| !database::is_address(path)),
        };
        found.ok_or_else(|| {
            let failure = Failure::new("this works with files only, not with sessions in a database");
            failure.hint("`offshoot db pull` copies a session into a file").into()
        })
    }

    /// Finds a session: a path, an address in a database, an id, the beginning of an id, a name, or `-` for the latest one
    /// of this project.
    ///
    /// Without `--pi` or `--session-dir` our own sessions are asked first, then those of pi.
    pub(crate) fn find(&self, wanted: impl AsRef<OsStr>) -> Result<PathBuf, CommandError> {
        let path = Path::new(wanted.as_ref());
        if let Some(address) = database::address(wanted.as_ref()) {
            return self.databases.add(address, &self.env);
        }
        // Only a path can be invalid UTF-8.
        let Some(wanted) = wanted.as_ref().to_str() else {
            let found = path.is_file().then(|| path.to_path_buf());
            return found.ok_or_else(|| Failure::new(format!("there is no file {}", path.display())).into());
        };
        if wanted == "-" {
            return self.latest();
        }
        // A path needs no home.
        if Path::new(wanted).is_file() && (wanted.contains(['/', '\\']) || wanted.ends_with(".jsonl")) {
            return Ok(PathBuf::from(wanted));
        }
        let cwd = self.env.cwd()?;
        for catalog in self.catalogs()? {
            match catalog.find(wanted, Some(&cwd)) {
                Err(Error::UnknownSession { .. }) => {}
                found => return Ok(found?),
            }
        }
        if Path::new(wanted).is_file() {
            return Ok(PathBuf::from(wanted));
        }
        Err(not_found(wanted))
    }

    fn latest(&self) -> Result<PathBuf, CommandError> {
        let cwd = self.env.cwd()?;
        for catalog in self.catalogs()? {
            let listing = catalog.list(&cwd);
            if let Some(failure) = listing.problems().first().and_then(database::failure) {
                return Err(failure.into());
            }
            let mut rows = listing.rows().into_iter();
            if let Some(latest) = rows.find(|row| row.is_session() && !row.is_sub_agent) {
                return Ok(latest.path);
            }
        }
        let failure = Failure::new(format!("no session was made in {cwd} yet"));
        Err(failure.hint("`offshoot sessions --all` lists the sessions of all projects").into())
    }

    /// Opens a session for reading. Writes nothing.
    pub(crate) fn open(&self, wanted: impl AsRef<OsStr>) -> Result<Session, CommandError> {
        match Path::new(wanted.as_ref()) {
            path if is_stream(path) => Ok(self.options().from_bytes(read_stream(path)?)?),
            _ => Ok(self.options().open_read_only(self.find(wanted)?)?),
        }
    }

    /// Opens a session to read the path to its leaf, which is all that is read from a database.
    pub(crate) fn open_path(&self, wanted: &OsStr) -> Result<Session, CommandError> {
        match Path::new(wanted) {
            path if is_stream(path) => self.open(wanted),
            _ => Ok(self.options().open_path(self.find(wanted)?)?),
        }
    }

    /// Opens a session for appending, or for reading in a dry run.
    pub(crate) fn open_to_change(
        &mut self,
        wanted: impl AsRef<OsStr>,
        dry_run: bool,
    ) -> Result<Session, CommandError> {
        let session = self.options().open(self.find(&wanted)?)?;
        // A dry run must fail too if the session cannot be written.
        if let Some(reason) = session.read_only() {
            return Err(Error::ReadOnly { reason: reason.clone() }.into());
        }
        if dry_run {
            if session.needs_migration() {
                let version = session.header().version();
                self.ui.tell(&format!(
                    "would bring version {version} to version 3 first, and keep the original"
                ))?;
            }
            return self.open(wanted);
        }
        Ok(session)
    }

    /// Migrates a session if the next append would do so, and reports where the original is kept.
    pub(crate) fn migrate(&mut self, session: &mut Session) -> Result<(), CommandError> {
        if !session.needs_migration() {
            return Ok(());
        }
        let version = session.header().version();
        let Some(kept) = session.migrate()? else { return Ok(()) };
        let kept = kept.display();
        self.ui.tell(&format!("brought version {version} to version 3; the original is {kept}"))
    }
}

/// The maximum size of a session that is read from a pipe into memory.
const LONGEST_STREAM: u64 = 1 << 30;

/// Returns true for `/dev/stdin` and other pipes, such as those of `<(command)`.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Reads a session from a pipe.
pub(crate) fn read_stream(path: &Path) -> Result<Vec<u8>, CommandError> {
    let failed = |error: io::Error| CommandError::system("read", path, &error);
    let (mut bytes, file) = (Vec::new(), File::open(path).map_err(failed)?);
    file.take(LONGEST_STREAM + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST_STREAM {
        let failure = Failure::new(format!("{} gives more than 1 GiB", path.display()));
        return Err(failure.hint("save it as a file, and give the path of the file").into());
    }
    Ok(bytes)
}

/// Returns the error for a missing session.
fn not_found(wanted: &str) -> CommandError {
    let path = Path::new(wanted);
    if path.is_dir() {
        return Failure::new(format!("{wanted} is a directory"))
            .hint(format!(
                "`offshoot sessions --all --session-dir {}` lists the sessions in it",
                quoted(wanted)
            ))
            .into();
    }
    if wanted.contains(['/', '\\']) {
        return Failure::new(format!("there is no file {wanted}")).into();
    }
    Error::UnknownSession { wanted: wanted.to_owned() }.into()
}

/// Resolves a reference; the default is the leaf, which is `None` before the first entry.
pub(crate) fn resolve(session: &Session, reference: Option<&str>) -> Result<Option<Node>, CommandError> {
    match reference {
        None | Some("leaf" | ".") => Ok(session.leaf()),
        Some(reference) => Ok(Some(session_view::resolve(session, reference)?)),
    }
}

/// Returns true if two paths lead to the same file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Returns the path of a session's file as text; empty in memory.
pub(crate) fn file_of(session: &Session) -> String {
    session.file().map(|file| file.display().to_string()).unwrap_or_default()
}

/// Returns a file name that every file system accepts, the same in every version of the program.
pub(crate) fn file_name_of(name: &[u8]) -> String {
    Sha256::digest(name).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

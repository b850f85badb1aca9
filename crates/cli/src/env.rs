//! Reads the environment: directories, switches, and the clock and ids that tests fix. No other module does.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use etcetera::{BaseStrategy, choose_base_strategy};
use offshoot_tui::time::Zone;
use session_tree::{Clock, EntryId, IdSource, SystemClock, Timestamp};

use crate::error::CommandError;

/// The environment of the program.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    home: Option<PathBuf>,
    session_dir: Option<PathBuf>,
    pi_dir: Option<PathBuf>,
    pi_session_dir: Option<PathBuf>,
    /// The address of a database in `OFFSHOOT_STORE`, which overrides the setting `store`.
    pub(crate) store: Option<String>,
    /// The password of databases whose address has none, from `PGPASSWORD`.
    #[cfg(feature = "postgres")]
    pub(crate) database_password: Option<String>,
    #[cfg(feature = "postgres")]
    password_file: Option<PathBuf>,
    /// True if caches are used.
    pub(crate) use_cache: bool,
    /// True if `NO_COLOR` is set, or the terminal has no colours.
    pub(crate) no_color: bool,
    /// True if the terminal shows only ASCII characters.
    pub(crate) is_ascii: bool,
    /// The filter of the log, from `OFFSHOOT_LOG`.
    pub(crate) log: Option<String>,
    clock: Option<Timestamp>,
    ids: Option<u64>,
    /// The working directory, if it is not the one of the process.
    cwd: Option<PathBuf>,
}

/// A directory with sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionDir {
    /// The directory.
    pub(crate) path: PathBuf,
    /// True if the sessions of all projects are in one directory.
    pub(crate) is_flat: bool,
}

impl Environment {
    /// Reads the environment.
    pub(crate) fn read() -> Self {
        let path = |name| set(name).map(PathBuf::from);
        let text = |name| set(name).and_then(|value| value.into_string().ok());
        Environment {
            home: path("OFFSHOOT_HOME"),
            session_dir: path("OFFSHOOT_SESSION_DIR"),
            pi_dir: path("PI_CODING_AGENT_DIR"),
            pi_session_dir: path("PI_CODING_AGENT_SESSION_DIR"),
            store: text("OFFSHOOT_STORE"),
            #[cfg(feature = "postgres")]
            database_password: text("PGPASSWORD"),
            #[cfg(feature = "postgres")]
            password_file: path("PGPASSFILE"),
            use_cache: set("OFFSHOOT_NO_CACHE").is_none(),
            no_color: set("NO_COLOR").is_some() || text("TERM").is_some_and(|term| is_monochrome(&term)),
            is_ascii: is_ascii(),
            log: text("OFFSHOOT_LOG"),
            clock: text("OFFSHOOT_CLOCK").and_then(|text| Timestamp::parse(&text)),
            ids: text("OFFSHOOT_IDS").and_then(|text| text.parse().ok()),
            cwd: None,
        }
    }

    /// Returns the directory of offshoot's own sessions.
    pub(crate) fn own_sessions(&self) -> Result<SessionDir, CommandError> {
        if let Some(path) = &self.session_dir {
            return Ok(SessionDir { path: path.clone(), is_flat: true });
        }
        let data = match &self.home {
            Some(home) => home.clone(),
            None => base()?.data_dir().join("offshoot"),
        };
        Ok(SessionDir { path: data.join("sessions"), is_flat: false })
    }

    /// Returns true if `OFFSHOOT_SESSION_DIR` names a directory of sessions.
    pub(crate) fn has_session_dir(&self) -> bool {
        self.session_dir.is_some()
    }

    /// Returns the file with the passwords of databases: `PGPASSFILE`, or `~/.pgpass`.
    #[cfg(feature = "postgres")]
    pub(crate) fn password_file(&self) -> Option<PathBuf> {
        self.password_file.clone().or_else(|| Some(PathBuf::from(self.home()?).join(".pgpass")))
    }

    /// Returns a variable that a setting names.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        set(name).and_then(|value| value.into_string().ok())
    }

    /// Returns how many colours the terminal has, as its variables say.
    pub(crate) fn color_mode(&self, is_plain: bool) -> &'static str {
        let has = |name: &str, words: &[&str]| {
            self.variable(name).is_some_and(|value| words.iter().any(|word| value.contains(word)))
        };
        match is_plain {
            true => "none",
            false if has("COLORTERM", &["truecolor", "24bit"]) => "truecolor",
            false if has("TERM", &["256", "direct", "kitty", "alacritty", "ghostty"]) => "256color",
            false => "16color",
        }
    }

    /// Returns the directory of pi's sessions.
    pub(crate) fn pi_sessions(&self) -> Result<SessionDir, CommandError> {
        if let Some(path) = &self.pi_session_dir {
            return Ok(SessionDir { path: path.clone(), is_flat: true });
        }
        Ok(SessionDir { path: self.pi_dir()?.join("sessions"), is_flat: false })
    }

    /// Returns pi's directory of the user.
    pub(crate) fn pi_dir(&self) -> Result<PathBuf, CommandError> {
        match &self.pi_dir {
            Some(dir) => Ok(dir.clone()),
            None => Ok(base()?.home_dir().join(".pi").join("agent")),
        }
    }

    /// Returns the directory of settings and keys.
    pub(crate) fn config_dir(&self) -> Result<PathBuf, CommandError> {
        match &self.home {
            Some(home) => Ok(home.clone()),
            None => Ok(base()?.config_dir().join("offshoot")),
        }
    }

    /// Returns the directory of caches, or `None` without caches.
    pub(crate) fn cache_dir(&self) -> Option<PathBuf> {
        if self.use_cache { self.state_dir().ok() } else { None }
    }

    /// Returns the directory of state that outlives a run.
    pub(crate) fn state_dir(&self) -> Result<PathBuf, CommandError> {
        if let Some(home) = &self.home {
            return Ok(home.join("state"));
        }
        let base = base()?;
        Ok(base.state_dir().unwrap_or_else(|| base.cache_dir()).join("offshoot"))
    }

    /// Returns the same environment with another working directory.
    #[cfg(feature = "server")]
    pub(crate) fn in_directory(&self, cwd: &std::path::Path) -> Self {
        Environment { cwd: Some(cwd.to_owned()), ..self.clone() }
    }

    /// Returns the working directory.
    pub(crate) fn cwd(&self) -> Result<String, CommandError> {
        let cwd = match &self.cwd {
            Some(cwd) => cwd.clone(),
            None => env::current_dir().map_err(|error| CommandError::no_cwd(&error))?,
        };
        Ok(cwd.to_string_lossy().into_owned())
    }

    /// Returns the user's editor.
    pub(crate) fn editor(&self) -> Option<String> {
        ["VISUAL", "EDITOR"].into_iter().find_map(set).and_then(|editor| editor.into_string().ok())
    }

    /// Returns the home directory, to be shown as `~`.
    pub(crate) fn home(&self) -> Option<String> {
        set("HOME").and_then(|home| home.into_string().ok())
    }

    /// Returns the colours that the terminal reports.
    pub(crate) fn colours(&self) -> Option<String> {
        set("COLORFGBG").and_then(|colours| colours.into_string().ok())
    }

    /// Returns the variables that describe the terminal and the language.
    pub(crate) fn terminal(&self) -> Vec<(&'static str, String)> {
        const NAMES: [&str; 10] = [
            "TERM",
            "COLORTERM",
            "COLORFGBG",
            "TERM_PROGRAM",
            "TERM_PROGRAM_VERSION",
            "TMUX",
            "NO_COLOR",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
        ];
        NAMES.into_iter().filter_map(|name| Some((name, set(name)?.to_string_lossy().into_owned()))).collect()
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.unwrap_or_else(|| SystemClock.now())
    }

    /// Returns the time zone of the user; UTC with a fixed clock.
    pub(crate) fn zone(&self) -> &'static Zone {
        static ZONE: OnceLock<Zone> = OnceLock::new();
        ZONE.get_or_init(|| if self.clock.is_some() { Zone::UTC } else { system_zone() })
    }

    /// Returns the clock and the ids that `OFFSHOOT_CLOCK` and `OFFSHOOT_IDS` fix.
    pub(crate) fn fixed(&self) -> (Option<FixedClock>, Option<CountedIds>) {
        (self.clock.map(FixedClock), self.ids.map(|last| CountedIds { entries: last, sessions: last }))
    }
}

/// Returns the time zone of `TZ`, else that of the system.
fn system_zone() -> Zone {
    let named = set("TZ").and_then(|name| name.into_string().ok());
    let of_file = |path: PathBuf| Zone::tzif("local", &fs::read(path).ok()?).ok();
    let zone = match named.as_deref().map(|name| name.trim_start_matches(':')) {
        None => of_file(PathBuf::from("/etc/localtime")),
        Some(name) => {
            of_file(PathBuf::from("/usr/share/zoneinfo").join(name)).or_else(|| Zone::posix(name).ok())
        }
    };
    zone.unwrap_or(Zone::UTC)
}

/// Returns true for terminals without colours: `dumb`, and the VT series (`vt100`, `vt220`).
fn is_monochrome(term: &str) -> bool {
    term == "dumb"
        || term.strip_prefix("vt").is_some_and(|model| model.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns true if the locale has a character set other than UTF-8. Without a locale UTF-8 is assumed.
fn is_ascii() -> bool {
    let chosen = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    chosen.is_some_and(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

/// Returns a variable; an empty one counts as unset.
fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn base() -> Result<impl BaseStrategy, CommandError> {
    choose_base_strategy().map_err(|_| CommandError::no_home())
}

/// A clock with a fixed time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FixedClock(Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Sequential ids.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedIds {
    entries: u64,
    sessions: u64,
}

impl IdSource for CountedIds {
    fn entry_id(&mut self) -> EntryId {
        self.entries += 1;
        EntryId::from(format!("{:08x}", self.entries))
    }

    fn long_entry_id(&mut self) -> EntryId {
        self.entries += 1;
        EntryId::from(format!("{:08x}-0000-4000-8000-000000000000", self.entries))
    }

    fn session_id(&mut self) -> String {
        self.sessions += 1;
        format!("session-{}", self.sessions)
    }
}

//! A private PostgreSQL server in a temporary directory.

#![allow(clippy::expect_used, reason = "a test cannot go on without its server")]

use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long the server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A PostgreSQL server that only this process uses. It listens on a Unix socket, and ends with the value or the process.
pub struct PostgresServer {
    directory: TempDir,
    programs: PathBuf,
    /// A shell that ends the server and removes its directory when its input ends: also after the death of this process.
    keeper: Option<Child>,
    databases: AtomicU32,
    /// The port of a server that offers TLS.
    port: Option<u16>,
    /// True if the server waits for the disk.
    is_durable: bool,
}

impl fmt::Debug for PostgresServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresServer").field("directory", &self.directory.path()).finish_non_exhaustive()
    }
}

impl PostgresServer {
    /// Creates a cluster and starts a server for it.
    ///
    /// # Panics
    ///
    /// Panics if PostgreSQL is not installed or does not start.
    pub fn start() -> Self {
        Self::start_on(None, false)
    }

    /// Starts a server whose commits wait for the disk, for measurements.
    ///
    /// # Panics
    ///
    /// Panics if PostgreSQL is not installed or does not start.
    pub fn start_durable() -> Self {
        Self::start_on(None, true)
    }

    /// Starts a server that also listens on `localhost` and offers TLS, with a certificate that a private authority signed.
    ///
    /// # Panics
    ///
    /// Panics if PostgreSQL or `openssl` is not installed, or the server does not start.
    pub fn start_with_tls() -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        Self::start_on(Some(free.expect("a free port").port()), false)
    }

    fn start_on(port: Option<u16>, is_durable: bool) -> Self {
        // The path of a socket has a maximum length, so the directory is made in a short place.
        let directory =
            tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").expect("a temporary directory");
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777))
            .expect("the directory is ours");
        let mut server = Self {
            directory,
            programs: programs().expect("PostgreSQL is installed"),
            keeper: None,
            databases: AtomicU32::new(0),
            port,
            is_durable,
        };
        let data = server.data();
        let initdb = server.program("initdb");
        let made = unprivileged(&format!(
            "{initdb} -D {data} -U postgres -A trust --no-sync -E UTF8 --locale=C >/dev/null"
        ));
        let made = Command::new("sh").args(["-c", &made]).output().expect("a shell");
        assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        if port.is_some() {
            let make = unprivileged(&format!(
                "cd {data} && openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority \
                 -days 2 && openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost \
                 && echo subjectAltName=DNS:localhost > names && openssl x509 -req -in server.csr -CA ca.crt \
                 -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt && chmod 600 server.key \
                 && cp ca.crt .."
            ));
            let made = Command::new("sh").args(["-c", &make]).output().expect("a shell");
            assert!(made.status.success(), "openssl failed: {}", String::from_utf8_lossy(&made.stderr));
        }
        server.resume();
        server
    }

    /// Returns the address of a database over TCP, for a server that offers TLS. `host` is `localhost` or `127.0.0.1`.
    ///
    /// # Panics
    ///
    /// Panics if the server offers no TLS.
    pub fn tls_address(&self, host: &str, database: &str) -> String {
        format!("postgres://postgres@{host}:{}/{database}", self.port.expect("a server with TLS"))
    }

    /// Returns the file with the certificate of the authority.
    pub fn authority(&self) -> PathBuf {
        self.directory.path().join("ca.crt")
    }

    /// Returns the socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join(format!(".s.PGSQL.{}", self.port.unwrap_or(5432)))
    }

    fn data(&self) -> String {
        self.directory.path().join("data").display().to_string()
    }

    fn program(&self, name: &str) -> String {
        self.programs.join(name).display().to_string()
    }

    /// Starts the server again after [`kill`](PostgresServer::kill).
    pub fn resume(&mut self) {
        let (postgres, data, socket) =
            (self.program("postgres"), self.data(), self.directory.path().display().to_string());
        let network = match self.port {
            Some(port) => format!("-h 127.0.0.1 -c ssl=on -c port={port}"),
            None => "-h ''".to_owned(),
        };
        let sync = if self.is_durable { "on" } else { "off" };
        let server = format!(
            "{postgres} -D {data} -k {socket} {network} -c max_connections=200 -c fsync={sync} >>{socket}/log 2>&1 & \
             server=$!; read -r _; kill -INT $server 2>/dev/null; wait"
        );
        let killed = self.killed();
        let _ = std::fs::remove_file(&killed);
        let keeper = format!("{}; [ -e '{}' ] || rm -rf '{socket}'", unprivileged(&server), killed.display());
        let keeper = Command::new("sh").args(["-c", &keeper]).stdin(Stdio::piped()).spawn();
        self.keeper = Some(keeper.expect("a shell"));
        let deadline = Instant::now() + PATIENCE;
        while self.sql("postgres", "SELECT 1").is_err() {
            assert!(Instant::now() < deadline, "the server does not start: {}", self.log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kills the server as a power cut would: without a shutdown.
    pub fn kill(&mut self) {
        std::fs::write(self.killed(), "").expect("the directory of the server can be written to");
        let kill = format!("kill -KILL $(head -1 '{}/postmaster.pid')", self.data());
        let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
        self.wait();
    }

    /// Returns the file that keeps the directory of a server that was killed.
    fn killed(&self) -> PathBuf {
        self.directory.path().join("killed")
    }

    /// Waits for the end of the server.
    fn wait(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }

    /// Creates an empty database, and returns its address.
    pub fn database(&self) -> String {
        let name = format!("db{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}")).expect("a new database");
        self.address("postgres", &name)
    }

    /// Returns the address of a database for a login role.
    pub fn address(&self, role: &str, database: &str) -> String {
        let port = self.port.map(|port| format!("&port={port}")).unwrap_or_default();
        format!("postgres:///{database}?host={}&user={role}{port}", self.directory.path().display())
    }

    /// Runs SQL statements as a superuser.
    ///
    /// # Errors
    ///
    /// Returns the message of the server.
    pub fn sql(&self, database: &str, statements: &str) -> Result<String, String> {
        self.sql_as("postgres", database, statements)
    }

    /// Runs SQL statements as a login role.
    ///
    /// # Errors
    ///
    /// Returns the message of the server.
    pub fn sql_as(&self, role: &str, database: &str, statements: &str) -> Result<String, String> {
        let psql = Command::new(self.program("psql"))
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                role,
                "-d",
                database,
                "-c",
                statements,
            ])
            .arg("-h")
            .arg(self.directory.path())
            .args(self.port.iter().flat_map(|port| ["-p".to_owned(), port.to_string()]))
            .output()
            .map_err(|error| error.to_string())?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
        if psql.status.success() { Ok(text(psql.stdout)) } else { Err(text(psql.stderr)) }
    }

    /// Creates a superuser that has to log in with a password.
    ///
    /// # Panics
    ///
    /// Panics if the server cannot be changed.
    pub fn add_role_with_password(&self, role: &str, password: &str) {
        let rules = format!("{}/pg_hba.conf", self.data());
        let old = std::fs::read_to_string(&rules).expect("the rules of the server");
        std::fs::write(&rules, format!("local all {role} scram-sha-256\n{old}")).expect("the rules are ours");
        let statements = format!("CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{password}'");
        self.sql("postgres", &statements).expect("a new role");
        self.sql("postgres", "SELECT pg_reload_conf()").expect("new rules");
    }

    /// Returns the messages of the server.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.wait();
    }
}

/// Wraps a shell command so that it runs as an unprivileged user: the server refuses to run as root.
pub(crate) fn unprivileged(command: &str) -> String {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    let quoted = command.replace('\'', "'\\''");
    match is_root {
        true => format!("runuser -u postgres -- sh -c '{quoted}'"),
        false => command.to_owned(),
    }
}

/// Returns the directory of the server's programs.
fn programs() -> io::Result<PathBuf> {
    let has_server =
        |directory: &Path| directory.join("initdb").exists() && directory.join("postgres").exists();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    found.sort();
    if let Ok(config) = Command::new("pg_config").arg("--bindir").output() {
        found.push(PathBuf::from(String::from_utf8_lossy(&config.stdout).trim()));
    }
    let newest = found.into_iter().rev().find(|directory| has_server(directory));
    newest.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "PostgreSQL is not installed"))
}

//! PgBouncer before a PostgreSQL server, in transaction mode.

#![allow(clippy::expect_used, reason = "a test cannot go on without its pooler")]

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::postgres::{PostgresServer, unprivileged};

/// How long the pooler may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// A PgBouncer that gives each transaction one of two connections to the server. It listens on a Unix socket, and ends with the
/// value or the process.
pub struct Pooler {
    directory: TempDir,
    keeper: Child,
}

impl fmt::Debug for Pooler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pooler").field("directory", &self.directory.path()).finish_non_exhaustive()
    }
}

impl Pooler {
    /// Starts a pooler for login roles of a server.
    ///
    /// # Panics
    ///
    /// Panics if PgBouncer is not installed or does not start.
    pub fn start(server: &PostgresServer, roles: &[&str]) -> Self {
        let directory = tempfile::Builder::new().prefix("pb").tempdir_in("/tmp").expect("a directory");
        let path = directory.path();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))
            .expect("the directory is ours");
        let (place, socket) = (path.display(), server.socket());
        let server = socket.parent().expect("the directory of the socket").display();
        let settings = format!(
            "[databases]\n* = host={server}\n[pgbouncer]\nunix_socket_dir = {place}\nlisten_addr =\nlisten_port = 5432\n\
             auth_type = trust\nauth_file = {place}/users\npool_mode = transaction\ndefault_pool_size = 2\n\
             max_client_conn = 200\nlogfile = {place}/log\npidfile =\n"
        );
        std::fs::write(path.join("settings"), settings).expect("a file of settings");
        let users: String = roles.iter().map(|role| format!("\"{role}\" \"\"\n")).collect();
        std::fs::write(path.join("users"), users).expect("a file of users");
        let command = format!(
            "pgbouncer -q {place}/settings >>{place}/log 2>&1 & pooler=$!; read -r _; kill -INT $pooler; wait"
        );
        let command = unprivileged(&format!("PATH=$PATH:/usr/sbin; {command}"));
        let keeper =
            Command::new("sh").args(["-c", &command]).stdin(Stdio::piped()).spawn().expect("a shell");
        let pooler = Self { directory, keeper };
        let deadline = Instant::now() + PATIENCE;
        while UnixStream::connect(pooler.directory.path().join(".s.PGSQL.5432")).is_err() {
            let log = std::fs::read_to_string(pooler.directory.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "the pooler does not start: {log}");
            thread::sleep(Duration::from_millis(20));
        }
        pooler
    }

    /// Returns the address of a database for a login role, through the pooler.
    pub fn address(&self, role: &str, database: &str) -> String {
        format!(
            "postgres:///{database}?host={}&user={role}&pool_mode=transaction",
            self.directory.path().display()
        )
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

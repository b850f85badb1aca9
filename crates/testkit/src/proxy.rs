//! A proxy between a client and a PostgreSQL server that cuts, delays and truncates connections.

#![allow(clippy::expect_used, reason = "a test cannot go on without its proxy")]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::rng::Rng;

/// A proxy that listens on a Unix socket. It ends with the process.
#[derive(Debug)]
pub struct Proxy {
    directory: TempDir,
    faults: Arc<Faults>,
}

#[derive(Debug, Default)]
struct Faults {
    /// How many of 1,000 transfers are disturbed.
    per_mille: AtomicU64,
    count: AtomicU64,
    seed: u64,
}

/// A disturbance of one transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    None,
    /// The connection ends.
    Cut,
    /// A part of the bytes arrives, then the connection ends.
    Truncate,
    /// The bytes arrive later.
    Delay,
}

impl Proxy {
    /// Starts a proxy for the socket of a server.
    ///
    /// # Panics
    ///
    /// Panics if no socket can be made.
    pub fn start(server: PathBuf, seed: u64) -> Self {
        let directory = tempfile::Builder::new().prefix("px").tempdir_in("/tmp").expect("a directory");
        let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).expect("a socket");
        let faults = Arc::new(Faults { seed, ..Faults::default() });
        let shared = Arc::clone(&faults);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&server) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
                    let faults = Arc::clone(&shared);
                    thread::spawn(move || faults.pump(from, to));
                }
            }
        });
        Self { directory, faults }
    }

    /// Sets how many of 1,000 transfers are disturbed.
    pub fn disturb(&self, per_mille: u64) {
        self.faults.per_mille.store(per_mille, Ordering::Relaxed);
    }

    /// Returns the number of disturbances.
    pub fn count(&self) -> u64 {
        self.faults.count.load(Ordering::Relaxed)
    }

    /// Returns an address with the proxy in the place of the server.
    pub fn address(&self, role: &str, database: &str) -> String {
        format!("postgres:///{database}?host={}&user={role}", self.directory.path().display())
    }
}

impl Faults {
    fn draw(&self, rng: &mut Rng) -> Disturbance {
        if rng.below(1_000) >= self.per_mille.load(Ordering::Relaxed) {
            return Disturbance::None;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        match rng.below(3) {
            0 => Disturbance::Cut,
            1 => Disturbance::Truncate,
            _ => Disturbance::Delay,
        }
    }

    fn pump(&self, mut from: UnixStream, mut to: UnixStream) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut rng = Rng::new(self.seed + NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let fault = self.draw(&mut rng);
            let sent = match fault {
                Disturbance::Cut => 0,
                Disturbance::Truncate => count / 2,
                Disturbance::None | Disturbance::Delay => count,
            };
            if fault == Disturbance::Delay {
                thread::sleep(Duration::from_millis(rng.below(30)));
            }
            if to.write_all(&buffer[..sent]).is_err()
                || matches!(fault, Disturbance::Cut | Disturbance::Truncate)
            {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}

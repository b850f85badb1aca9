//! The wait for the append lock. It has a limit, because every program that can read a file can also lock it.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::FileJournal;
use crate::error::{Error, Result};
use crate::fs::{FsFile, LockHolder};

/// How long to wait for the lock, unless another limit is set.
const LIMIT: Duration = Duration::from_secs(10);
/// How long to wait before the application is notified.
const NOTICE_AFTER: Duration = Duration::from_secs(1);
/// The pauses between two attempts: an append takes well below a millisecond, a migration may take seconds.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const MAX_PAUSE: Duration = Duration::from_millis(5);

/// A function that is called once while a lock is waited for.
pub(crate) type LockNotice = Arc<dyn Fn(Option<&LockHolder>) + Send + Sync>;

/// The limit of a wait for the lock of a file, and the function that is notified of it.
#[derive(Clone)]
pub(crate) struct LockWait {
    pub(crate) limit: Duration,
    pub(crate) notice: Option<LockNotice>,
}

impl Default for LockWait {
    fn default() -> Self {
        LockWait { limit: LIMIT, notice: None }
    }
}

impl fmt::Debug for LockWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockWait").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl FileJournal {
    pub(crate) fn with_lock_wait(mut self, wait: LockWait) -> Self {
        self.lock_wait = wait;
        self
    }

    /// Takes the lock of a file.
    ///
    /// Tries again and again instead of blocking in the kernel, where a wait has no limit.
    pub(super) fn take_lock(&self, file: &dyn FsFile) -> Result<()> {
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut notice = self.lock_wait.notice.as_ref();
        loop {
            match file.try_lock() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(Error::Io { action: "lock", path: self.path.clone(), source }),
            }
            let waited = start.elapsed();
            let left = self.lock_wait.limit.saturating_sub(waited);
            if left.is_zero() {
                let holder = file.lock_holder();
                return Err(Error::Locked { path: self.path.clone(), waited: self.lock_wait.limit, holder });
            }
            if waited >= NOTICE_AFTER
                && let Some(notify) = notice.take()
            {
                notify(file.lock_holder().as_ref());
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }
}

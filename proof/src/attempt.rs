//! Runs work that may panic, on all cores, and notices work that does not end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

thread_local! {
    /// The message of the last panic of this thread; `None`: panics are printed (default).
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic becomes an error that says what the panic said.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    listen();
    let before = SAID.replace(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let said = SAID.replace(before).unwrap_or_default();
    result.map_err(|_| said)
}

/// Lets panics inside of [`attempt`] be kept instead of printed.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            let is_kept = SAID.with_borrow_mut(|said| match said {
                Some(said) => {
                    *said = about.to_string();
                    true
                }
                None => false,
            });
            if !is_kept {
                usual(about);
            }
        }));
    });
}

/// Does the work for the numbers `0..count` on all cores; gives the sum of the results, or the first failure.
pub fn sum_over(count: u64, work: impl Fn(u64) -> Result<u64, String> + Sync) -> Result<u64, String> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let one = || {
        let mut sum = 0;
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            match attempt(|| work(number)).and_then(|result| result) {
                Ok(done) => sum += done,
                Err(reason) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(reason);
                }
            }
        }
        Ok(sum)
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..cores).map(|_| scope.spawn(one)).collect();
        let results =
            all.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a thread died".into())));
        results.collect::<Result<Vec<u64>, String>>().map(|sums| sums.into_iter().sum())
    })
}

/// The current work of each thread, with its start.
#[derive(Default)]
pub struct Watch {
    busy: Mutex<HashMap<ThreadId, (Instant, String)>>,
}

impl Watch {
    /// Does a named piece of work, which is reported if it does not end.
    pub fn during<T>(&self, what: String, work: impl FnOnce() -> T) -> T {
        let me = thread::current().id();
        self.busy().insert(me, (Instant::now(), what));
        let done = work();
        self.busy().remove(&me);
        done
    }

    fn busy(&self) -> std::sync::MutexGuard<'_, HashMap<ThreadId, (Instant, String)>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn overdue(&self, limit: Duration) -> Option<String> {
        self.busy().values().find(|(since, _)| since.elapsed() > limit).map(|(_, what)| what.clone())
    }
}

/// Does work whose pieces end within a limit; calls `give_up` with the name of one that does not.
///
/// A piece that hangs cannot be ended from outside, so `give_up` had better end the process.
pub fn watched<T>(limit: Duration, give_up: impl Fn(&str) + Sync, work: impl FnOnce(&Watch) -> T) -> T {
    let (watch, give_up) = (&Watch::default(), &give_up);
    let (done, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(limit / 20) == Err(RecvTimeoutError::Timeout) {
                if let Some(what) = watch.overdue(limit) {
                    give_up(&what);
                }
            }
        });
        // Gone when the work ends, also by a panic: the other thread then ends, too.
        let _done = done;
        work(watch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        let said = attempt(|| panic!("the disk is gone")).unwrap_err();
        assert!(said.contains("the disk is gone"), "{said}");
        assert_eq!(attempt(|| 7), Ok(7));
    }

    #[test]
    fn work_is_summed_up_and_the_first_failure_ends_it() {
        assert_eq!(sum_over(100, Ok), Ok(4950));
        let failed = sum_over(1000, |n| if n == 3 { Err("three".into()) } else { Ok(1) });
        assert_eq!(failed, Err("three".into()));
    }

    #[test]
    fn work_that_does_not_end_is_noticed_while_it_runs() {
        let noticed = Mutex::new(None);
        let is_noticed = || noticed.lock().is_ok_and(|what| what.is_some());
        let limit = Duration::from_millis(20);
        watched(
            limit,
            |what| *noticed.lock().unwrap() = Some(what.to_owned()),
            |watch| {
                watch.during("the first".into(), || ());
                watch.during("the second".into(), || while !is_noticed() {});
            },
        );
        assert_eq!(noticed.into_inner().unwrap().as_deref(), Some("the second"));
    }
}

//! Several programs on one session: real processes, real files, real kills.
//!
//! The test binary starts itself again: `child_process_entry` is the `main` of a child, which reads commands line by
//! line (`child`). A test starts children, sends commands and checks their answers and the file (`fleet`, `view`). The
//! test process itself never takes a lock, so its time limit always works.

mod child;
mod creating;
mod fleet;
mod killing;
mod reading;
mod view;

// Elsewhere a lock also blocks programs that do not lock, and an open file cannot be renamed.
mod migrating;
mod sharing;

/// The main function of a child process; does nothing in a normal test run.
#[test]
fn child_process_entry() {
    if let Ok(name) = std::env::var(fleet::CHILD) {
        child::Child::new(name).run();
    }
}

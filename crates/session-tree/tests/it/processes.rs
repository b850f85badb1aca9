//! Several programs on one session: real processes, real files, real kills.
//!
//! The test binary starts itself again: `child_process_entry` is the `main` of a child, which obeys commands that
//! it reads line by line (`child`). A test starts children, tells them what to do and looks at what they answer
//! and at what is in the file afterwards (`fleet`, `view`). A test process itself never takes a lock, so it can
//! always notice that a minute is over.

mod child;
mod creating;
mod fleet;
mod killing;
mod reading;
mod view;

// Elsewhere a lock also stops those who do not ask for it, and an open file keeps its name.
mod migrating;
mod sharing;

/// What a child process runs; does nothing in a normal test run.
#[test]
fn child_process_entry() {
    if let Ok(name) = std::env::var(fleet::CHILD) {
        child::Child::new(name).obey();
    }
}

//! Killed writers: acknowledged entries stay, and no lock remains.

use std::collections::HashSet;
use std::fs::{self, OpenOptions, TryLockError};
use std::path::Path;

use session_tree::Session;
use testkit::rng::Rng;
use testkit::soak::rounds;

use super::fleet::only;
use super::fleet::{Fleet, Process, all};
use super::view::{View, start_session};
use crate::support::live::{Folder, codes};

const WRITERS: usize = 8;
const APPENDS: usize = 500;
const VICTIMS: usize = 3;

/// The answers of one writer, and whether it survived.
struct Account {
    name: String,
    acknowledged: Vec<String>,
    survived: bool,
}

impl Account {
    fn of(name: &str, answers: &[String], survived: bool) -> Self {
        let failures = all("failed", answers);
        assert!(failures.is_empty(), "{name}: {failures:?}");
        let acknowledged: Vec<String> = all("ack", answers).into_iter().map(str::to_owned).collect();
        if survived && !acknowledged.is_empty() {
            let leaf = all("leaf", answers);
            assert_eq!(
                leaf.last().copied(),
                acknowledged.last().map(String::as_str),
                "{name} left its branch"
            );
        }
        Account { name: name.to_owned(), acknowledged, survived }
    }
}

/// Waits until a writer has acknowledged this many entries. Returns its answers.
fn wait_for_appends(process: &mut Process, count: usize) -> Vec<String> {
    let mut heard = Vec::new();
    while all("ack", &heard).len() < count {
        heard.push(process.answer().expect("a writer that nobody killed"));
    }
    heard
}

/// Runs eight writers at once and kills some of them.
fn run_round(fleet: &Fleet, path: &Path, seed: u64) -> Vec<Account> {
    let mut rng = Rng::new(seed);
    let mut writers = fleet.start_at('w', WRITERS, path);
    let mut probe = fleet.start_at('p', 1, path).remove(0);
    probe.ask("open");
    for writer in &mut writers {
        writer.ask("open");
    }
    for writer in &mut writers {
        writer.send(&format!("append {APPENDS}"));
    }
    let mut accounts = Vec::new();
    let mut probed = Vec::new();
    let mut moments: Vec<usize> = (0..VICTIMS).map(|_| rng.below(APPENDS as u64 / 2) as usize).collect();
    moments.sort_unstable();
    for moment in moments {
        let mut victim = writers.swap_remove(rng.below(writers.len() as u64) as usize);
        let mut heard = wait_for_appends(&mut victim, moment);
        let name = victim.name.clone();
        heard.extend(victim.kill());
        accounts.push(Account::of(&name, &heard, false));
        // The next append succeeds in any state of the victim.
        probed.extend(probe.ask("append 1"));
    }
    for mut writer in writers {
        let heard = writer.wait_for("done");
        accounts.push(Account::of(&writer.name, &heard, true));
        writer.finish();
    }
    accounts.push(Account::of(&probe.name, &probed, true));
    probe.finish();
    accounts
}

fn check_round(path: &Path, start: &str, accounts: &[Account], about: &str) {
    let view = View::of(path);
    view.assert_ids_are_unique(about);
    assert!(view.broken <= VICTIMS, "{about}: {} broken lines", view.broken);
    assert_eq!((view.headers, view.blank), (1, 0), "{about}");
    for account in accounts {
        view.assert_chain(&account.name, Some(start), about);
        let written: Vec<&str> = view.of_writer(&account.name).map(|entry| entry.id.as_str()).collect();
        // A victim may have died after its last write and before its acknowledgement.
        let extra = usize::from(!account.survived);
        let acknowledged = &account.acknowledged;
        assert!(written.len() <= acknowledged.len() + extra, "{about}: {} wrote too much", account.name);
        assert!(
            written.len() >= acknowledged.len() && written[..acknowledged.len()] == acknowledged[..],
            "{about}: entries of {} are lost",
            account.name
        );
    }
    let written: usize = accounts.iter().map(|account| view.of_writer(&account.name).count()).sum();
    assert_eq!(view.entries.len(), 1 + written, "{about}: an entry of nobody");
    let session = Session::open_read_only(path).unwrap();
    assert_eq!(session.tree().len(), view.entries.len(), "{about}");
    assert_eq!(session.diagnostics().len(), view.broken, "{about}: {:?}", codes(&session));
}

#[test]
fn eight_processes_append_at_once_and_the_killed_ones_take_nothing_with_them() {
    let fleet = Fleet::new();
    for seed in 1..=u64::from(rounds(3)) {
        let dir = Folder::new();
        let path = dir.at("s.jsonl");
        let start = start_session(&path);
        let accounts = run_round(&fleet, &path, seed);
        let survivors = accounts.iter().filter(|account| account.survived && account.name != "p0");
        let counts: HashSet<usize> = survivors.map(|account| account.acknowledged.len()).collect();
        assert_eq!(counts, HashSet::from([APPENDS]), "seed {seed}");
        check_round(&path, &start, &accounts, &format!("seed {seed}"));
        assert_eq!(dir.names(), ["s.jsonl"], "seed {seed}: nothing else is left in the directory");
    }
}

#[test]
fn a_lock_dies_with_the_process_that_held_it() {
    let fleet = Fleet::new();
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    start_session(&path);
    let mut processes = fleet.start_at('w', 2, &path);
    let mut writer = processes.remove(0);
    let mut holder = processes.remove(0);
    writer.ask("open");
    holder.ask("hold");
    let file = OpenOptions::new().append(true).open(&path).unwrap();
    assert!(matches!(file.try_lock(), Err(TryLockError::WouldBlock)), "the lock is held");
    writer.send("append 1");
    // Longer than a writer that does not wait would need.
    holder.ask("raw 300");
    assert_eq!(
        View::of(&path).of_writer("w0").count(),
        0,
        "nobody writes while somebody else holds the lock"
    );
    holder.kill();
    assert_eq!(all("ack", &writer.wait_for("done")).len(), 1);
    file.try_lock().expect("nobody holds the lock any more");
    assert_eq!(dir.names(), ["s.jsonl"], "a lock is no file");
    let view = View::of(&path);
    assert_eq!((view.entries.len(), view.broken), (302, 0));
    assert_eq!(view.entries.last().map(|entry| entry.writer.as_str()), Some("w0"));
}

/// Lets a process write a line of many megabytes and kills it when a part is in the file, if that can be observed; such
/// a process holds the lock.
fn kill_inside_a_write(mut victim: Process, path: &Path, bytes: u64) -> Vec<String> {
    let before = fs::metadata(path).unwrap().len();
    victim.send(&format!("huge {bytes}"));
    while fs::metadata(path).unwrap().len() == before {
        victim.check_time();
        std::thread::yield_now();
    }
    victim.kill()
}

#[test]
fn a_writer_killed_inside_a_write_leaves_a_torn_tail_that_the_next_append_closes_off() {
    const BYTES: u64 = 24 << 20;
    let fleet = Fleet::new();
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let start = start_session(&path);
    let mut survivor = fleet.start_at('s', 1, &path).remove(0);
    survivor.ask("open");
    for round in 1..=rounds(4) {
        let mut victim = fleet.start_at('v', 1, &path).remove(0);
        victim.ask("open");
        let before = View::of(&path);
        let answers = kill_inside_a_write(victim, &path, BYTES);
        let torn = !fs::read(&path).unwrap().ends_with(b"\n");
        assert!(all("ack", &answers).is_empty() || !torn, "what is torn was not acknowledged");
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        file.try_lock().expect("the lock died with the writer");
        file.unlock().unwrap();
        only("ack", &survivor.ask("append 1"));
        let after = View::of(&path);
        assert_eq!(after.broken, before.broken + usize::from(torn), "round {round}");
        assert_eq!(after.entries.len(), before.entries.len() + 1 + usize::from(!torn), "round {round}");
        after.assert_chain("s0", Some(&start), "after a kill");
    }
    assert_eq!(survivor.ask("foreign").len(), Session::open_read_only(&path).unwrap().tree().len() - 1 - 4);
    assert_eq!(dir.names(), ["s.jsonl"]);
}

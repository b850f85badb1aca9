use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::*;

/// Creates a file of this size and age.
fn log(directory: &Path, name: &str, bytes: u64, hours: u64, now: SystemTime) {
    let file = File::create(directory.join(name)).unwrap();
    file.set_len(bytes).unwrap();
    file.set_modified(now - Duration::from_secs(hours * 3600)).unwrap();
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn stale_logs_and_the_oldest_beyond_the_limit_are_removed() {
    let (dir, now) = (tempfile::tempdir().unwrap(), SystemTime::now());
    for (name, bytes, hours) in [
        ("offshoot-bash-a.log", 10, 1),
        ("offshoot-bash-b.log", 60, 2),
        ("offshoot-bash-c.log", 50, 3),
        ("offshoot-bash-d.log", 1, 24 * 8),
        ("unrelated.log", 1000, 24 * 8),
    ] {
        log(dir.path(), name, bytes, hours, now);
    }
    sweep(dir.path(), 100, now);
    assert_eq!(names(dir.path()), ["offshoot-bash-a.log", "offshoot-bash-b.log", "unrelated.log"]);
}

#[test]
fn a_directory_that_others_can_enter_or_a_link_is_not_used() {
    let temp = tempfile::tempdir().unwrap();
    let directory = private_directory(temp.path()).unwrap();
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(private_directory(temp.path()).is_ok(), "it is used again");
    fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
    assert!(private_directory(temp.path()).is_err());
    fs::remove_dir(&directory).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &directory).unwrap();
    assert!(private_directory(temp.path()).is_err());
}

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn the_file_is_private_and_its_size_is_limited() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state/offshoot.log");
    append(&path, "first").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(MAX_FILE).unwrap();
    append(&path, "second").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "second\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::metadata(previous(&path)).unwrap().len() == MAX_FILE);
}

#[test]
fn the_latest_problems_are_the_warnings_and_errors_of_both_files() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("offshoot.log");
    fs::write(previous(&path), "t1  WARN old\nt2 DEBUG fine\nt3 ERROR bad\n").unwrap();
    fs::write(&path, "t4  INFO fine\n    t9  WARN forged\nt5  WARN new\n").unwrap();
    assert_eq!(latest_problems(&path, 2), ["t3 ERROR bad", "t5  WARN new"]);
    assert_eq!(latest_problems(&path, 9).len(), 3);
    assert_eq!(latest_problems(&home.path().join("other/offshoot.log"), 9), [] as [&str; 0]);
}

#[test]
fn a_long_line_is_cut() {
    let output = Output { keeps_recent: true, ..Output::default() };
    let line = format!("{}\n", "ü".repeat(MAX_LINE));
    assert_eq!((&output).write(line.as_bytes()).unwrap(), line.len());
    assert_eq!(recent(1), ["ü".repeat(MAX_LINE / 2)]);
}

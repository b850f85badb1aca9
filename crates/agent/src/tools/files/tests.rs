use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;
use crate::tools::paths;

fn at(path: impl AsRef<Path>) -> ResolvedPath {
    ResolvedPath::new(Path::new("/"), path.as_ref()).unwrap()
}

#[test]
fn replacing_keeps_the_mode_and_leaves_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("run.sh");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o751)).unwrap();
    let before = fs::metadata(&script).unwrap().ino();
    replace(&at(&script), b"new").unwrap();
    let after = fs::metadata(&script).unwrap();
    assert_eq!(fs::read(&script).unwrap(), b"new");
    assert_eq!(after.permissions().mode() & 0o777, 0o751);
    assert_ne!(after.ino(), before, "a new file took the place of the old one");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_new_file_has_the_mode_that_any_program_would_give_it() {
    let dir = tempfile::tempdir().unwrap();
    replace(&at(dir.path().join("a/b/new")), b"x").unwrap();
    fs::write(dir.path().join("plain"), "x").unwrap();
    let mode = |path: &str| fs::metadata(dir.path().join(path)).unwrap().permissions().mode();
    assert_eq!(mode("a/b/new"), mode("plain"));
}

#[test]
fn a_link_stays_and_its_target_changes() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("real")).unwrap();
    fs::write(dir.path().join("real/file"), "old").unwrap();
    symlink("real/file", dir.path().join("link")).unwrap();
    symlink("real/later", dir.path().join("dangling")).unwrap();
    replace(&at(dir.path().join("link")), b"new").unwrap();
    replace(&at(dir.path().join("dangling")), b"made").unwrap();
    assert!(fs::symlink_metadata(dir.path().join("link")).unwrap().is_symlink());
    assert_eq!(fs::read(dir.path().join("real/file")).unwrap(), b"new");
    assert_eq!(fs::read(dir.path().join("real/later")).unwrap(), b"made");
}

#[test]
fn a_file_that_is_not_regular_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert!(matches!(open(&at(&pipe)), Err(FileError::Special)));
    assert!(matches!(replace(&at(&pipe), b"x"), Err(FileError::Special)));
    assert!(matches!(open(&at(dir.path())), Err(FileError::Directory)));
    assert!(matches!(replace(&at(dir.path()), b"x"), Err(FileError::Directory)));
    assert!(matches!(open(&at(dir.path().join("none"))), Err(FileError::Missing)));
}

#[test]
fn a_read_only_file_is_refused_even_for_root() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(replace(&at(&file), b"new"), Err(FileError::ReadOnly)));
    assert_eq!(fs::read(&file).unwrap(), b"old");
}

#[test]
fn two_names_of_one_file_share_a_queue() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    symlink("file", dir.path().join("link")).unwrap();
    let real = |name: &str| stripe(&paths::real(&dir.path().join(name)).unwrap());
    assert_eq!(real("file"), real("link"));
}

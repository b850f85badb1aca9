use std::os::unix::fs::symlink;

use super::*;

#[test]
fn paths_start_at_the_working_directory_or_at_home() {
    let cwd = Path::new("/project");
    assert_eq!(resolve(cwd, Path::new("src/a.rs")), Path::new("/project/src/a.rs"));
    assert_eq!(resolve(cwd, Path::new("@src/a.rs")), Path::new("/project/src/a.rs"));
    assert_eq!(resolve(cwd, Path::new("/etc/hosts")), Path::new("/etc/hosts"));
    assert_eq!(resolve(cwd, Path::new("~x/y")), Path::new("/project/~x/y"));
    assert_eq!(resolve(cwd, Path::new("~/y")), env::home_dir().unwrap().join("y"));
}

#[test]
fn links_are_followed_also_where_nothing_exists_yet() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("elsewhere/dir")).unwrap();
    fs::create_dir(root.join("project")).unwrap();
    symlink("../elsewhere/dir", root.join("project/out")).unwrap();
    symlink("nowhere/file", root.join("project/dangling")).unwrap();

    let real = |path: &str| real(&root.join(path)).unwrap();
    assert_eq!(real("project/out/new"), root.join("elsewhere/dir/new"));
    assert_eq!(real("project/out/../new"), root.join("elsewhere/new"), "`..` leaves the link's target");
    assert_eq!(real("project/./a/../b"), root.join("project/b"));
    assert_eq!(real("project/dangling"), root.join("project/nowhere/file"));
    assert_eq!(real("../../../../../../../../.."), Path::new("/"));
}

#[test]
fn links_in_a_circle_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    symlink("b", dir.path().join("a")).unwrap();
    symlink("a", dir.path().join("b")).unwrap();
    assert!(real(&dir.path().join("a/x")).is_err());
}

#[test]
fn odd_names_cannot_fake_lines() {
    assert_eq!(shown(Path::new("/p"), Path::new("/p/a\nb\u{1b}[2J")), "a\\nb\\u{1b}[2J");
    assert_eq!(shown(Path::new("/p"), Path::new("/p")), ".");
    assert_eq!(shown(Path::new("/p"), Path::new("/q/x")), "/q/x");
}

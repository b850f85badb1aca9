//! Planted names, links and files: nothing outside the chosen directory is read as a session, changed or replaced.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use session_tree::{Destination, Error, NewSession, Options, Session, is_valid_session_id};
use testkit::drawing::session_text;

use crate::support::live::{Folder, user};

/// Things that another program may have put at the target path.
const PLANTED: [&str; 6] =
    ["file", "link to a file", "link to nothing", "link to a device", "directory", "pipe"];

fn plant(what: &str, at: &Path, outside: &Path) {
    let victim = outside.join("victim");
    match what {
        "file" => fs::write(at, "theirs").unwrap(),
        "link to a file" => symlink(&victim, at).unwrap(),
        "link to nothing" => symlink(outside.join("nothing"), at).unwrap(),
        "link to a device" => symlink("/dev/null", at).unwrap(),
        "directory" => fs::create_dir(at).unwrap(),
        _ => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
    }
}

/// Maps every name below a directory to its content: the target of a link, the bytes of a file.
fn snapshot(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()) {
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let what = if kind.is_symlink() {
            format!("-> {}", fs::read_link(&path).unwrap().display())
        } else if kind.is_file() {
            String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
        } else {
            format!("{kind:?}")
        };
        found.insert(path, what);
    }
    found
}

struct Trap {
    inside: Folder,
    outside: Folder,
}

impl Trap {
    fn new() -> Self {
        let trap = Trap { inside: Folder::new(), outside: Folder::new() };
        trap.outside.put("victim", "precious");
        trap
    }

    fn set(&self, what: &str, name: &str) -> PathBuf {
        let at = self.inside.at(name);
        plant(what, &at, self.outside.at("").as_path());
        at
    }

    fn assert_untouched(&self, what: &str) {
        let outside: Vec<(PathBuf, String)> = snapshot(&self.outside.at("")).into_iter().collect();
        assert_eq!(outside, [(self.outside.at("victim"), "precious".to_owned())], "{what}");
    }
}

#[test]
fn a_new_session_takes_the_place_of_nothing_that_is_there() {
    for what in PLANTED {
        let trap = Trap::new();
        let path = trap.set(what, "s.jsonl");
        let before = snapshot(&trap.inside.at(""));
        let made =
            Options::new().create(&path, "/w").and_then(|mut session| session.append_message(&user("x")));
        assert!(made.is_err(), "{what}");
        assert_eq!(snapshot(&trap.inside.at("")), before, "{what}: nothing is left, nothing is changed");
        trap.assert_untouched(what);
    }
}

#[test]
fn a_fork_takes_the_place_of_nothing_that_is_there() {
    let mut source = Options::new().in_memory("/w").unwrap();
    let id = source.append_message(&user("x")).unwrap();
    for what in PLANTED {
        let trap = Trap::new();
        let path = trap.set(what, "f.jsonl");
        let before = snapshot(&trap.inside.at(""));
        let made = source.create_branched_session(id.as_str(), Destination::File(path), Options::new());
        assert!(made.is_err(), "{what}");
        assert_eq!(snapshot(&trap.inside.at("")), before, "{what}");
        trap.assert_untouched(what);
    }
}

#[test]
fn a_migration_goes_around_what_is_planted_under_its_names() {
    for what in PLANTED {
        let temporary = format!(".s.jsonl.{}-0.session-tree.tmp", std::process::id());
        for name in [temporary.as_str(), "s.jsonl.bak-v1"] {
            let trap = Trap::new();
            let path = trap.inside.put("s.jsonl", OLD);
            trap.set(what, name);
            let planted = snapshot(&trap.inside.at("")).remove(&trap.inside.at(name));
            let kept = Session::open(&path).unwrap().migrate().unwrap().unwrap();
            assert_eq!(fs::read_to_string(&kept).unwrap(), OLD, "{what} at {name}");
            assert_eq!(Session::open_read_only(&path).unwrap().header().version(), 3, "{what} at {name}");
            assert_eq!(
                snapshot(&trap.inside.at("")).remove(&trap.inside.at(name)),
                planted,
                "{what} at {name}"
            );
            trap.assert_untouched(what);
        }
    }
}

#[test]
fn a_file_that_is_no_session_is_refused_at_once() {
    for what in PLANTED {
        let trap = Trap::new();
        let path = trap.set(what, "s.jsonl");
        let before = snapshot(&trap.inside.at(""));
        assert!(Session::open(&path).is_err(), "{what}");
        assert!(Session::open_read_only(&path).is_err(), "{what}");
        // A link to a missing file may become a new session; writing it fails.
        let opened = Options::new().open_or_create(&path, "/w");
        assert!(opened.and_then(|mut session| session.append_message(&user("x"))).is_err(), "{what}");
        assert_eq!(snapshot(&trap.inside.at("")), before, "{what}: nothing is left, nothing is changed");
        trap.assert_untouched(what);
    }
}

#[test]
fn an_empty_file_behind_a_link_gets_no_header() {
    let trap = Trap::new();
    let empty = trap.outside.put("empty", "");
    let link = trap.inside.at("s.jsonl");
    symlink(&empty, &link).unwrap();
    let error = Options::new().open_or_create(&link, "/w").unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    assert_eq!(fs::read(&empty).unwrap(), b"");
    // A directory may be a link; the file is then in its target.
    let elsewhere = trap.inside.at("elsewhere");
    symlink(trap.outside.at(""), &elsewhere).unwrap();
    Options::new().open_or_create(elsewhere.join("empty"), "/w").unwrap();
    assert_ne!(fs::read(&empty).unwrap(), b"");
}

#[test]
fn a_link_is_followed_once_and_then_the_file_stays_the_same() {
    let trap = Trap::new();
    let real = trap.inside.put("real.jsonl", session_text("a user hello"));
    let link = trap.inside.at("link.jsonl");
    symlink(&real, &link).unwrap();
    let mut session = Session::open(&link).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(trap.outside.at("victim"), &link).unwrap();
    session.append_message(&user("more")).unwrap();
    assert_eq!(Session::open_read_only(&real).unwrap().tree().len(), 2);
    trap.assert_untouched("a link that was turned elsewhere");
}

#[test]
fn a_file_that_is_swapped_while_it_is_written_to_never_gets_bytes_of_ours() {
    let trap = Trap::new();
    let path = trap.inside.put("s.jsonl", session_text("a user hello"));
    let (aside, victim) =
        (trap.inside.at("aside"), trap.inside.put("victim.jsonl", "precious, and no session\n"));
    let mut session = Session::open(&path).unwrap();
    for round in 0..testkit::soak::rounds(200) {
        fs::rename(&path, &aside).unwrap();
        fs::rename(&victim, &path).unwrap();
        match session.append_message(&user("lost?")) {
            Err(Error::Replaced { .. } | Error::ReadOnly { .. }) => {}
            other => panic!("round {round}: {other:?}"),
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious, and no session\n", "round {round}");
        fs::rename(&path, &victim).unwrap();
        fs::rename(&aside, &path).unwrap();
        session = Session::open(&path).unwrap();
    }
}

/// Returns names that try to leave their directory, to hide, or that are special to a system.
fn hostile_names() -> Vec<String> {
    let parts = [
        "..",
        ".",
        "",
        "/",
        "//",
        "\\",
        "\0",
        "\n",
        "\r",
        "\t",
        "\u{1b}[2J",
        "\u{202e}",
        "*",
        "?",
        "~",
        "$HOME",
        ":",
        "|",
    ];
    let mut names: Vec<String> = parts.iter().map(ToString::to_string).collect();
    for part in parts.iter().filter(|part| !["", "."].contains(part)) {
        names.extend([format!("x/{part}/y"), format!("{part}x"), format!("x{part}"), format!("../{part}")]);
    }
    names
        .extend(["x/../../escaped", "/etc/passwd", "C:\\x", "-rf", ".hidden", "x.", "x "].map(str::to_owned));
    names.push("x".repeat(129));
    names
}

#[test]
fn no_session_id_leaves_its_directory() {
    let names = hostile_names();
    assert!(names.len() >= 80, "{}", names.len());
    for name in names {
        let trap = Trap::new();
        assert!(!is_valid_session_id(&name), "{name:?}");
        let new = NewSession { id: Some(name.clone()), ..NewSession::from("/w") };
        let made = Options::new().create_in(trap.inside.at("here"), new);
        assert!(made.and_then(|mut session| session.append_message(&user("x"))).is_err(), "{name:?}");
        assert_eq!(snapshot(&trap.inside.at("")), BTreeMap::new(), "{name:?}");
        trap.assert_untouched(&name);
    }
}

const OLD: &str = "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/p\"}\n\
    {\"type\":\"message\",\"timestamp\":\"2025-01-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"old\"}}\n";

/// Returns the modes of everything below a directory, by name.
fn modes(dir: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()) {
        let meta = fs::metadata(&path).unwrap();
        found.insert(
            path.file_name().unwrap().to_string_lossy().into_owned(),
            meta.permissions().mode() & 0o777,
        );
        if meta.is_dir() {
            found.extend(modes(&path));
        }
    }
    found
}

fn private(names: &[&str]) -> BTreeMap<String, u32> {
    let mode = |name: &str| if name.contains('.') { 0o600 } else { 0o700 };
    names.iter().map(|name| (name.to_string(), mode(name))).collect()
}

#[test]
fn files_that_a_migration_leaves_are_private_too() {
    let dir = Folder::new();
    let path = dir.put("s.jsonl", OLD);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Session::open(&path).unwrap().append_message(&user("x")).unwrap();
    assert_eq!(modes(&dir.at("")), private(&["s.jsonl", "s.jsonl.bak-v1"]));
}

/// The environment variable with the directory of the child process.
const CHILD_DIR: &str = "SESSION_TREE_UMASK_DIR";

/// The main function of a child process with another umask; does nothing in a normal test run.
#[test]
fn child_with_a_umask() {
    let Some(dir) = std::env::var_os(CHILD_DIR).map(PathBuf::from) else { return };
    Session::open(dir.join("old.jsonl")).unwrap().migrate().unwrap().unwrap();
    let path = dir.join("deep/er/new.jsonl");
    let mut session = Options::new().create(&path, "/w").unwrap();
    let id = session.append_message(&user("x")).unwrap();
    let fork = Destination::File(dir.join("deep/er/fork.jsonl"));
    session.create_branched_session(id.as_str(), fork, Options::new()).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(session.append_message(&user("y")), Err(Error::Replaced { rescue: Some(_), .. })));
}

#[test]
fn files_are_private_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let dir = Folder::new();
        let old = dir.put("old.jsonl", OLD);
        fs::set_permissions(&old, fs::Permissions::from_mode(0o666)).unwrap();
        let script = format!("umask {umask} && exec \"$0\" \"$@\"");
        let status = Command::new("sh")
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "planted_files::child_with_a_umask"])
            .env(CHILD_DIR, dir.at(""))
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "umask {umask}");
        let names = ["old.jsonl", "old.jsonl.bak-v1", "deep", "er", "fork.jsonl", "new.rescue-1.jsonl"];
        assert_eq!(modes(&dir.at("")), private(&names), "umask {umask}");
    }
}

//! New session files: empty ones, forks, clones, imports and exports.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use testkit::drawing::{header_line, session_text};

use crate::support::{Home, files};
use crate::undoing::undo;

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
    u5<a2 user Use Rust
    a6<u5 assistant Done, 1 ms
    l7<a6 label u5 rust
";

/// The tree of a session file, every entry with its id.
fn tree(home: &Home, file: &str) -> String {
    home.run(&["tree", file, "--filter", "all", "--ids"]).ok().to_owned()
}

/// The path that a command printed.
fn path(run: &crate::support::Run) -> String {
    run.ok().lines().next().unwrap().to_owned()
}

#[test]
fn a_new_session_is_a_file_at_once() {
    let home = Home::new();
    let run = home.run(&["new"]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--[home]-project--/2025-01-01T02-00-00-000Z_session-241.jsonl
    --- words
    created a session of [home]/project as [home]/offshoot/sessions/--[home]-project--/2025-01-01T02-00-00-000Z_session-241.jsonl
    undo: rm [home]/offshoot/sessions/--[home]-project--/2025-01-01T02-00-00-000Z_session-241.jsonl
    ");
    let cwd = home.path("project").to_str().unwrap().to_owned();
    assert_snapshot!(fs::read_to_string(path(&run)).unwrap().replace(&cwd, "[cwd]"), @r#"{"type":"session","version":3,"id":"session-241","timestamp":"2025-01-01T02:00:00.000Z","cwd":"[cwd]"}"#);
    home.run(&["name", "-", "The latest one"]).ok();
    assert_snapshot!(home.run(&["name", "-"]), @"The latest one");
    undo(&home, &run);
    assert!(!Path::new(&path(&run)).exists());
}

#[test]
fn a_new_session_gets_the_name_the_directory_and_the_id_that_were_asked_for() {
    let home = Home::new();
    let elsewhere = home.path("else where");
    fs::create_dir(&elsewhere).unwrap();
    let run = home.run(&["new", "--name", "My\nname", "--cwd", "../else where", "--id", "mine"]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--[home]-else where--/2025-01-01T02-00-00-000Z_mine.jsonl
    --- words
    created the session `My name` of [home]/else where as [home]/offshoot/sessions/--[home]-else where--/2025-01-01T02-00-00-000Z_mine.jsonl
    undo: rm '[home]/offshoot/sessions/--[home]-else where--/2025-01-01T02-00-00-000Z_mine.jsonl'
    ");
    assert_snapshot!(home.run(&["name", "mine"]), @"My name");
    let header = fs::read_to_string(path(&run)).unwrap();
    assert!(header.contains(&format!("\"cwd\":\"{}\"", elsewhere.to_str().unwrap())), "{header}");
    undo(&home, &run);
    assert_snapshot!(home.run(&["new", "--json"]), @r#"{"action":"create","path":"[home]/offshoot/sessions/--[home]-project--/2025-01-01T02-00-00-000Z_session-241.jsonl","id":"session-241","name":null,"cwd":"[home]/project","dryRun":false,"undo":"rm [home]/offshoot/sessions/--[home]-project--/2025-01-01T02-00-00-000Z_session-241.jsonl"}"#);
}

#[test]
fn a_new_session_that_cannot_be_is_refused() {
    let home = Home::new();
    home.run(&["new", "--id", "mine"]).ok();
    let before = files(&home.path("offshoot/sessions"));
    assert_snapshot!(home.run(&["new", "--id", "mine"]), @"
    --- words
    error: [home]/offshoot/sessions/--[home]-project--/2025-01-01T02-00-00-000Z_mine.jsonl has the id `mine` already
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["new", "--id", "../mine"]), @"
    --- words
    error: `../mine` cannot be a session id: letters and digits, with `.`, `_`, `-` inside, at most 128
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["new", "--cwd", "nowhere"]), @"
    --- words
    error: cannot find nowhere: No such file or directory (os error 2)
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["new", "--dry-run", "--name", "x"]), @"
    --- words
    would create the session `x` of [home]/project as a new file in [home]/offshoot/sessions/--[home]-project--
    ");
    assert_eq!(files(&home.path("offshoot/sessions")), before);
}

#[test]
fn a_fork_at_a_prompt_ends_before_it() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = fs::read(&file).unwrap();
    let run = home.run(&["fork", &file, "@rust"]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    --- words
    forked 2 entries of [home]/project/s.jsonl as [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    undo: rm [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    the prompt was:
      Use Rust
    ");
    assert_snapshot!(tree(&home, &path(&run)), @"
    u1       • user: Build a CLI
    a2       • assistant: Which language? ← active
    ");
    assert_eq!(fs::read(&file).unwrap(), before);
    undo(&home, &run);
    assert!(!Path::new(&path(&run)).exists());
}

#[test]
fn a_fork_keeps_ids_and_sets_labels_again() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["fork", &file]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    --- words
    forked 4 entries of [home]/project/s.jsonl as [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    undo: rm [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    ");
    assert_snapshot!(home.run(&["tree", &path(&run), "--ids"]), @"
    u1       • user: Build a CLI
    a2       • assistant: Which language?
    u5       • [rust] user: Use Rust
    a6       • assistant: Done, 1 ms ← active
    ");
    let at = home.run(&["fork", &file, "u3", "--at", "-o", "at.jsonl"]);
    assert_snapshot!(at, @"
    at.jsonl
    --- words
    forked 3 entries of [home]/project/s.jsonl as at.jsonl
    undo: rm at.jsonl
    ");
    assert_snapshot!(tree(&home, "at.jsonl"), @"
    u1       • user: Build a CLI
    a2       • assistant: Which language?
    u3       • user: Use Node ← active
    ");
    assert_snapshot!(home.run(&["fork", &file, "a4", "-o", "other.jsonl"]), @"
    other.jsonl
    --- words
    forked 4 entries of [home]/project/s.jsonl as other.jsonl
    undo: rm other.jsonl
    ");
}

#[test]
fn a_fork_as_json_gives_the_path_and_the_prompt() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["fork", &file, "u3", "--json"]), @r#"{"action":"fork","path":"[home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl","id":"session-241","parentSession":"[home]/project/s.jsonl","entries":2,"targetId":"a2","prompt":"Use Node","images":[],"dryRun":false,"undo":"rm [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl"}"#);
}

#[test]
fn a_fork_before_the_first_prompt_is_empty_and_a_file_all_the_same() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["fork", &file, "u1"]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    --- words
    forked 0 entries of [home]/project/s.jsonl as [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    undo: rm [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    the prompt was:
      Build a CLI
    ");
    assert_snapshot!(home.run(&["tree", &path(&run)]), @"
    --- words
    no entries found
    ");
}

#[test]
fn a_dry_run_makes_no_file() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["fork", &file, "u3", "--dry-run"]), @"
    --- words
    would fork 2 entries of [home]/project/s.jsonl as a new file in [home]/offshoot/sessions/--w--
    the prompt was:
      Use Node
    ");
    assert_snapshot!(home.run(&["fork", &file, "-n", "-o", "x.jsonl", "--json"]), @r#"{"action":"fork","path":"x.jsonl","id":null,"parentSession":"[home]/project/s.jsonl","entries":4,"targetId":"l7","prompt":null,"images":[],"dryRun":true,"undo":null}"#);
    assert_snapshot!(home.run(&["clone", &file, "-n"]), @"
    --- words
    would clone 4 entries of [home]/project/s.jsonl as a new file in [home]/offshoot/sessions/--w--
    ");
    assert_snapshot!(home.run(&["clone", &file, "-n", "--all"]), @"
    --- words
    would clone all 7 entries of [home]/project/s.jsonl as a new file in [home]/offshoot/sessions/--w--
    ");
    assert_snapshot!(home.run(&["import", &file, "-n"]), @"
    --- words
    would import 7 entries of [home]/project/s.jsonl into [home]/offshoot/sessions/--w--
    ");
    assert_snapshot!(home.run(&["export-branch", &file, "u3", "-n"]), @"
    --- words
    would export 4 entries of [home]/project/s.jsonl as branch-u3.jsonl
    ");
    assert_snapshot!(home.run(&["export-branch", &file, "u3", "-n", "-o", "x.jsonl", "--json"]), @r#"{"action":"export","path":"x.jsonl","id":null,"parentSession":"[home]/project/s.jsonl","entries":4,"dryRun":true,"undo":null}"#);
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn forks_that_cannot_be_are_refused() {
    let home = Home::new();
    let file = home.session(TREE);
    let empty = home.file("project/empty.jsonl", header_line());
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["fork", &file, "a4", "--before"]), @"
    --- words
    error: entry a4 is not a prompt
    hint: without `--before` the fork ends at the entry
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["fork", &file, "none"]), @"
    --- words
    error: Entry none not found
    hint: `offshoot tree --flat SESSION` lists the ids of all entries
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["fork", &file, "u3", "-o", "s.jsonl"]), @"
    --- words
    error: s.jsonl exists already
    hint: choose another name; no file is ever replaced
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["fork", &empty]), @"
    --- words
    error: Nothing to fork yet
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["clone", &empty]), @"
    --- words
    error: Nothing to clone yet
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["clone", &empty, "--all"]), @"
    --- words
    error: Nothing to clone yet
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["clone", &file, "-o", "s.jsonl", "--dry-run"]), @"
    --- words
    error: s.jsonl exists already
    hint: choose another name; no file is ever replaced
    --- exit code 1
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn a_clone_is_the_active_path_or_the_whole_tree() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["clone", &file]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    --- words
    cloned 4 entries of [home]/project/s.jsonl as [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    undo: rm [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl
    ");
    assert_snapshot!(home.run(&["tree", &path(&run)]), @"
    • user: Build a CLI
    • assistant: Which language?
    • [rust] user: Use Rust
    • assistant: Done, 1 ms ← active
    ");
    undo(&home, &run);
    let run = home.run(&["clone", &file, "--all", "-o", "all.jsonl"]);
    assert_snapshot!(run, @"
    all.jsonl
    --- words
    cloned all 7 entries of [home]/project/s.jsonl as all.jsonl
    undo: rm all.jsonl
    ");
    assert_eq!(tree(&home, "all.jsonl"), tree(&home, &file));
    assert_snapshot!(home.run(&["clone", &file, "--all", "--json"]), @r#"{"action":"clone","path":"[home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl","id":"session-241","parentSession":"[home]/project/s.jsonl","entries":7,"dryRun":false,"undo":"rm [home]/offshoot/sessions/--w--/2025-01-01T02-00-00-000Z_session-241.jsonl"}"#);
}

#[test]
fn an_old_session_is_forked_and_cloned_without_being_touched() {
    let home = Home::new();
    let old: &[u8] = include_bytes!("v1.jsonl");
    let file = home.file("project/old.jsonl", old);
    home.run(&["fork", &file, "-o", "fork.jsonl"]).ok();
    home.run(&["clone", &file, "--all", "-o", "clone.jsonl"]).ok();
    home.run(&["export-branch", &file, "root", "-o", "export.jsonl"]).ok();
    assert_eq!(fs::read(&file).unwrap(), old);
    let names: Vec<_> = files(&home.path("project")).into_iter().map(|(path, _)| path).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for copy in ["fork.jsonl", "clone.jsonl", "export.jsonl"] {
        assert_eq!(tree(&home, copy), tree(&home, &file), "{copy}");
    }
}

#[test]
fn an_import_is_a_copy_byte_for_byte_under_a_free_name() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["import", &file]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--w--/s.jsonl
    --- words
    imported 7 entries of [home]/project/s.jsonl
    undo: rm [home]/offshoot/sessions/--w--/s.jsonl
    it belongs to /w; `offshoot sessions --all` lists it
    ");
    assert_eq!(fs::read(path(&run)).unwrap(), fs::read(&file).unwrap());
    let again = home.run(&["import", &file]);
    assert_snapshot!(again, @"
    [home]/offshoot/sessions/--w--/s-1.jsonl
    --- words
    imported 7 entries of [home]/project/s.jsonl as s-1.jsonl
    undo: rm [home]/offshoot/sessions/--w--/s-1.jsonl
    warning: another session has the id `ses` too; their paths tell them apart
    it belongs to /w; `offshoot sessions --all` lists it
    ");
    undo(&home, &again);
    assert!(!Path::new(&path(&again)).exists());
    assert_snapshot!(home.run(&["import", &path(&run)]), @"
    [home]/offshoot/sessions/--w--/s.jsonl
    --- words
    left [home]/offshoot/sessions/--w--/s.jsonl where it is
    it belongs to /w; `offshoot sessions --all` lists it
    ");
    assert_snapshot!(home.run(&["import", &path(&run), "--dry-run"]), @"
    --- words
    would leave [home]/offshoot/sessions/--w--/s.jsonl where it is
    ");
    assert_snapshot!(home.run(&["import", &file, "--json"]), @r#"{"action":"import","path":"[home]/offshoot/sessions/--w--/s-1.jsonl","id":"ses","entries":7,"dryRun":false,"undo":"rm [home]/offshoot/sessions/--w--/s-1.jsonl"}"#);
}

#[test]
fn old_sessions_and_those_that_spell_ids_uuid_are_imported() {
    let home = Home::new();
    let old: &[u8] = include_bytes!("v1.jsonl");
    let file = home.file("project/old.jsonl", old);
    let run = home.run(&["import", &file]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--w--/old.jsonl
    --- words
    imported 2 entries of [home]/project/old.jsonl
    undo: rm [home]/offshoot/sessions/--w--/old.jsonl
    it has version 1; the first change migrates it to version 3
    it belongs to /w; `offshoot sessions --all` lists it
    ");
    assert_eq!(fs::read(path(&run)).unwrap(), old);
    let text = concat!(
        r#"{"type":"session","uuid":"00000000-0000-4000-8000-000000000001","parentUuid":null,"version":2,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","uuid":"00000000-0000-4000-8000-000000000002","parentUuid":"00000000-0000-4000-8000-000000000001","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hello"}}"#,
        "\n",
    );
    let file = home.file("project/uuid.jsonl", text);
    let run = home.run(&["import", &file]);
    assert_snapshot!(run, @"
    [home]/offshoot/sessions/--w--/uuid.jsonl
    --- words
    imported 1 entry of [home]/project/uuid.jsonl
    undo: rm [home]/offshoot/sessions/--w--/uuid.jsonl
    migrated version 2, with ids spelled `uuid`, to version 3
    it belongs to /w; `offshoot sessions --all` lists it
    ");
    assert_snapshot!(fs::read_to_string(path(&run)).unwrap(), @r#"
    {"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}
    {"type":"message","id":"00000000-0000-4000-8000-000000000002","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hello"}}
    "#);
}

#[test]
fn what_is_no_session_is_not_imported() {
    let home = Home::new();
    let file = home.file("project/notes.jsonl", "not a session\n");
    assert_snapshot!(home.run(&["import", &file]), @"
    --- words
    error: Session file is not a valid pi session: [home]/project/notes.jsonl
    hint: it has no session header; the file was not changed
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["import", "missing.jsonl"]), @"
    --- words
    error: no session missing.jsonl
    hint: `offshoot sessions --all` lists the sessions
    --- exit code 1
    ");
    assert!(!home.path("offshoot/sessions").exists());
}

#[test]
fn a_branch_is_exported_with_everything_below_it() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["export-branch", &file, "u3", "-"]), @r#"
    {"type":"session","version":3,"id":"session-241","timestamp":"2025-01-01T02:00:00.000Z","cwd":"/w","parentSession":"[home]/project/s.jsonl"}
    {"type":"message","id":"u1","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"Build a CLI","timestamp":1735689601000}}
    {"type":"message","id":"a2","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Which language?"}],"api":"api","provider":"prov","model":"mod","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1735689602000}}
    {"type":"message","id":"u3","parentId":"a2","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"user","content":"Use Node","timestamp":1735689603000}}
    {"type":"message","id":"a4","parentId":"u3","timestamp":"2025-01-01T00:00:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done, 60 ms"}],"api":"api","provider":"prov","model":"mod","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1735689604000}}
    --- words
    exported 4 entries of [home]/project/s.jsonl
    "#);
    let run = home.run(&["export-branch", &file, "a2", "-o", "a2.jsonl"]);
    assert_snapshot!(run, @"
    a2.jsonl
    --- words
    exported 6 entries of [home]/project/s.jsonl as a2.jsonl
    undo: rm a2.jsonl
    ");
    assert_snapshot!(tree(&home, "a2.jsonl"), @"
    u1       • user: Build a CLI
    a2       • assistant: Which language?
    u5       ├⊟ • [rust] user: Use Rust
    a6       │     • assistant: Done, 1 ms
    d5c87937 │     • [label: rust] ← active
    u3       └⊟ user: Use Node
    a4             assistant: Done, 60 ms
    ");
    undo(&home, &run);
    assert!(!home.path("project/a2.jsonl").exists());
    home.run(&["export-branch", &file, "a2", "--path", "-o", "path.jsonl"]).ok();
    assert_snapshot!(tree(&home, "path.jsonl"), @"
    u1       • user: Build a CLI
    a2       • assistant: Which language? ← active
    ");
    home.run(&["export-branch", &file, "u5", "--subtree", "-o", "subtree.jsonl"]).ok();
    assert_snapshot!(tree(&home, "subtree.jsonl"), @"
    u5       • [rust] user: Use Rust
    a6       • assistant: Done, 1 ms
    d5c87937 • [label: rust] ← active
    ");
}

#[test]
fn exports_replace_no_file_and_need_one_for_json() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["export-branch", &file, "u3", "-o", "s.jsonl"]), @"
    --- words
    error: [home]/project/s.jsonl exists already
    hint: choose another name; no file is ever replaced
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["export-branch", &file, "u3", "--path", "--subtree"]), @"
    --- words
    error: the argument '--path' cannot be used with '--subtree'

    Usage: offshoot export-branch --path <SESSION> <REF> [FILE]

    For more information, try '--help'.
    --- exit code 2
    ");
    assert_eq!(files(&home.path(".")), before);
    assert_snapshot!(home.run(&["export-branch", &file, "u3", "-o", "x.jsonl", "--json"]), @r#"{"action":"export","path":"x.jsonl","id":"session-241","parentSession":"[home]/project/s.jsonl","entries":4,"dryRun":false,"undo":"rm x.jsonl"}"#);
}

#[test]
fn a_reader_that_goes_away_ends_an_export_quietly() {
    let home = Home::new();
    let long = format!("u1 user {}\na2<u1 assistant {}", "x".repeat(300_000), "y".repeat(300_000));
    let file = home.file("project/s.jsonl", session_text(&long));
    let mut child = home.command(&["export-branch", &file, "u1", "-"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Runs a command of a person whose new files have these bits taken away.
fn run_masked(home: &Home, mask: &str, arguments: &[&str], input: &str) {
    let plain = home.command(arguments);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("umask {mask}; exec \"$0\" \"$@\" < {input}")]);
    command.arg(plain.get_program()).args(plain.get_args()).current_dir(plain.get_current_dir().unwrap());
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = command.stdin(Stdio::null()).output().unwrap();
    assert!(run.status.success(), "{mask}, {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}

/// Everything below a directory with its permission bits.
fn modes(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for path in fs::read_dir(dir).unwrap().map(|item| item.unwrap().path()) {
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            found.extend(modes(&path));
        }
        found.push((path, meta.permissions().mode() & 0o777));
    }
    found
}

#[test]
fn new_files_are_private_with_any_umask() {
    for mask in ["000", "022", "077"] {
        let home = Home::new();
        home.session(TREE);
        home.file("project/old.jsonl", include_bytes!("v1.jsonl"));
        home.file(
            "input",
            "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"hi\",\"timestamp\":1}}\n",
        );
        for (arguments, input) in [
            (&["append", "made/deep/new.jsonl", "--create"][..], "../input"),
            (&["migrate", "old.jsonl"], "/dev/null"),
            (&["fork", "s.jsonl", "a4", "-o", "fork.jsonl"], "/dev/null"),
            (&["clone", "s.jsonl", "--all", "-o", "clone.jsonl"], "/dev/null"),
            (&["export-branch", "s.jsonl", "u3", "-o", "branch.jsonl"], "/dev/null"),
            (&["repair", "s.jsonl", "--copy", "copy.jsonl"], "/dev/null"),
            (&["-p", "hello"], "/dev/null"),
            (&["sessions"], "/dev/null"),
        ] {
            run_masked(&home, mask, arguments, input);
        }
        let mut all = modes(&home.path("project"));
        all.retain(|(path, _)| path != &home.path("project/s.jsonl"));
        let own = fs::metadata(home.path("offshoot")).unwrap().permissions().mode() & 0o777;
        all.push((home.path("offshoot"), own));
        all.extend(modes(&home.path("offshoot")));
        assert!(all.len() >= 10, "{all:?}");
        for (path, mode) in all {
            assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{mask}: {}", path.display());
        }
    }
}

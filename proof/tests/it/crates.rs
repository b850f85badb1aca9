//! The lints of the workspace, which forbid `unsafe`, hold for every crate.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of all crates.
fn crates() -> Vec<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    crates.chain(["benches", "proof"].map(|name| root.join(name))).collect()
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace_which_forbid_unsafe() {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")).unwrap();
    assert!(manifest.contains("members = [\"crates/*\", \"benches\", \"proof\"]"));
    assert!(manifest.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"), "{manifest}");
    for member in crates() {
        let manifest = fs::read_to_string(member.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true\n"), "{}", member.display());
        // A crate that is a workspace of its own has the same lints.
        if manifest.contains("[workspace]\n") {
            assert!(
                manifest.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"),
                "{}",
                member.display()
            );
        }
    }
}

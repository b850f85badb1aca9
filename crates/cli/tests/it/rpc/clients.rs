//! The ready clients: their examples walk and branch a session.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::TREE;
use crate::support::Home;

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients");

/// Runs an example on a copy of the tree and returns what it prints.
fn example(mut command: Command, file: &Path) -> String {
    let home = Home::new();
    let session = home.session(TREE);
    let own = home.command(&[]);
    let variables = own.get_envs().map(|(key, value)| (key, value.unwrap()));
    let path = std::env::var_os("PATH").unwrap();
    command.arg(file).arg(env!("CARGO_BIN_EXE_offshoot")).arg(session).env_clear().env("PATH", path);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.envs(variables).current_dir(home.path("project")).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out
}

const EXPECTED: &str = "\
user: Build a CLI
  assistant: Which language?
    user: Use Rust
      assistant: Done, 1 ms
    user: Use Node
      assistant: Done, 60 ms
back to: Use Node
answered: True
branches: 3
";

#[test]
fn the_example_in_python_walks_and_branches_a_session() {
    let file = PathBuf::from(CLIENTS).join("python/example.py");
    assert_eq!(example(Command::new("python3"), &file), EXPECTED);
}

#[test]
fn examples_fit_on_a_screen() {
    for file in ["python/example.py", "typescript/example.ts"] {
        let text = std::fs::read_to_string(Path::new(CLIENTS).join(file)).unwrap();
        assert!(text.lines().count() <= 40, "{file}");
    }
}

//! Runs the undo command that another command printed, in a shell.

use std::process::Command;

use crate::support::{Home, Run};

/// Undoes a command. Returns the printed undo line.
pub(crate) fn undo(home: &Home, run: &Run) -> String {
    let line = run.err().lines().find_map(|line| line.strip_prefix("undo: "));
    let line = line.unwrap_or_else(|| panic!("no undo in: {run}"));
    let script = match line.strip_prefix("offshoot ") {
        Some(arguments) => format!("'{}' {arguments}", env!("CARGO_BIN_EXE_offshoot")),
        None => line.to_owned(),
    };
    let like = home.command(&[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &script]).env_clear().env("PATH", "/usr/bin:/bin");
    shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(like.get_current_dir().unwrap());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    line.to_owned()
}

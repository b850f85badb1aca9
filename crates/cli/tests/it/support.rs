//! Runs the program in a private home: cleared environment, fixed clock and ids, nothing of the machine visible.

use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use testkit::drawing::session_text;

/// The time at which commands run, two hours after the header of a drawing.
pub(crate) const NOW: &str = "2025-01-01T02:00:00.000Z";

/// A temporary home, with a project directory in which commands run.
pub(crate) struct Home {
    dir: tempfile::TempDir,
}

/// The output of a command and its exit code. Its text form is for snapshots: paths of the home are `[home]`.
pub(crate) struct Run {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) code: i32,
    home: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("project")).unwrap();
        Home { dir }
    }

    /// Returns a path below the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a private file below the home; gives its path as an argument.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes the session of a drawing (see `testkit::drawing`) into the project directory as `s.jsonl`.
    pub(crate) fn session(&self, drawing: &str) -> String {
        self.file("project/s.jsonl", session_text(drawing))
    }

    /// Runs a command in the project directory.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with_input(arguments, b"")
    }

    /// Runs a command that gets `input` on standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A command may end without reading what it gets.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Run::of(self, output)
    }

    /// Returns a command that is ready to run, its output piped.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offshoot"));
        command.args(arguments).env_clear().current_dir(self.path("project"));
        command.envs(self.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let home = self.dir.path().to_str().unwrap();
        vec![
            ("HOME", home.to_owned()),
            ("OFFSHOOT_HOME", format!("{home}/offshoot")),
            ("PI_CODING_AGENT_DIR", format!("{home}/pi")),
            ("OFFSHOOT_CLOCK", NOW.to_owned()),
            ("OFFSHOOT_IDS", "240".to_owned()),
        ]
    }

    /// Runs a command on a terminal of `columns`; gives every byte that reached it.
    pub(crate) fn on_terminal(&self, columns: u16, arguments: &[&str]) -> Vec<u8> {
        self.with_terminal(columns, arguments, None)
    }

    /// Runs a command on a terminal, and types `input` when `question` has been asked; gives what could be seen.
    pub(crate) fn at_terminal(
        &self,
        columns: u16,
        arguments: &[&str],
        question: &str,
        input: &str,
    ) -> String {
        let seen = self.with_terminal(columns, arguments, Some((question, input)));
        String::from_utf8_lossy(&seen).into_owned()
    }

    fn with_terminal(&self, columns: u16, arguments: &[&str], answer: Option<(&str, &str)>) -> Vec<u8> {
        let size = PtySize { rows: 200, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_offshoot"));
        command.args(arguments);
        command.env_clear();
        command.cwd(self.path("project"));
        command.env("TERM", "xterm-256color");
        for (name, value) in self.variables() {
            command.env(name, value);
        }
        let mut reader = pty.master.try_clone_reader().unwrap();
        let mut child = pty.slave.spawn_command(command).unwrap();
        drop(pty.slave);
        let mut seen = Vec::new();
        if let Some((question, input)) = answer {
            let mut byte = [0];
            while !String::from_utf8_lossy(&seen).contains(question)
                && reader.read(&mut byte).unwrap_or(0) > 0
            {
                seen.push(byte[0]);
            }
            pty.master.take_writer().unwrap().write_all(input.as_bytes()).unwrap();
        }
        // The end of a terminal is an error on some systems.
        drop(reader.read_to_end(&mut seen));
        child.wait().unwrap();
        seen
    }
}

impl Run {
    /// Takes the output of a command that ran in a home.
    pub(crate) fn of(home: &Home, output: std::process::Output) -> Self {
        Run {
            stdout: output.stdout,
            stderr: output.stderr,
            code: output.status.code().unwrap(),
            home: home.dir.path().to_str().unwrap().to_owned(),
        }
    }

    /// Returns standard output as text, after checking that the command succeeded.
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.code, 0, "{self}");
        self.out()
    }

    /// Returns standard output as text.
    pub(crate) fn out(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Returns standard error as text.
    pub(crate) fn err(&self) -> &str {
        std::str::from_utf8(&self.stderr).unwrap()
    }

    /// Reads standard output as one JSON value, after checking that the command succeeded.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.ok()).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As it stands in the names of project directories, too.
        let encoded = self.home.replace('/', "-");
        let shown = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&self.home, "[home]").replace(&encoded, "-[home]")
        };
        write!(f, "{}", shown(&self.stdout))?;
        if !self.stderr.is_empty() {
            write!(f, "--- words\n{}", shown(&self.stderr))?;
        }
        if self.code != 0 {
            writeln!(f, "--- exit code {}", self.code)?;
        }
        Ok(())
    }
}

/// Lists all files below a directory with their bytes.
pub(crate) fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for item in fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => found.push((path.clone(), fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

//! An installed pi: started as a person starts it, and asked what it makes of files.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use testkit::pi::Pi;

/// An installed pi.
pub(crate) struct Peer {
    pi: Pi,
}

impl Peer {
    /// Finds the one that `OFFSHOOT_PI` names: a directory where its package is installed.
    pub(crate) fn installed() -> Self {
        let Some(directory) = std::env::var_os("OFFSHOOT_PI") else {
            panic!("OFFSHOOT_PI does not say where pi is installed");
        };
        Peer { pi: Pi::find(Path::new(&directory)).unwrap() }
    }

    /// Tells whether it is of a version that knows context edits and counts what it does not understand as data.
    pub(crate) fn is_recent(&self) -> bool {
        self.pi.is_recent()
    }

    /// Asks what it makes of files.
    pub(crate) fn contexts(&self, files: &[PathBuf]) -> Vec<Json> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pi/context.mjs");
        let output = self.pi.node().arg(script).arg(self.pi.library()).args(files).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Makes a home where the model `lab/test` answers at an address.
    pub(crate) fn make_home(home: &Path, url: &str) {
        std::fs::create_dir_all(home).unwrap();
        let model = json!({
            "id": "test", "reasoning": true, "input": ["text", "image"], "contextWindow": 100_000, "maxTokens": 8_000,
        });
        let provider = json!({
            "baseUrl": url, "api": "anthropic-messages", "apiKey": "none", "models": [model],
        });
        let models = json!({"providers": {"lab": provider}});
        std::fs::write(home.join("models.json"), models.to_string()).unwrap();
    }

    /// Lets it answer a prompt, as `pi -p` does. Tells whether it went well.
    pub(crate) fn print(&self, home: &Path, cwd: &Path, arguments: &[&str]) -> bool {
        let mut command = self.pi.node();
        command.arg(self.pi.program()).args(["-p", "--model", "lab/test"]).args(arguments).current_dir(cwd);
        command.env("HOME", home).env("PI_CODING_AGENT_DIR", home).env("PI_OFFLINE", "1");
        command.stdin(std::process::Stdio::null());
        command.output().unwrap().status.success()
    }
}

/// Finds the session files below a directory, oldest name first.
pub(crate) fn session_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(session_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

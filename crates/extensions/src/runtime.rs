//! Programs that can run extensions besides the embedded engine: which there are, and which one is wanted.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The engine that extensions run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineChoice {
    /// The embedded engine, and Node for an extension that needs more.
    #[default]
    Auto,
    /// The embedded engine.
    Embedded,
    /// A child process of Node.
    Node,
}

impl FromStr for EngineChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(EngineChoice::Auto),
            "embedded" => Ok(EngineChoice::Embedded),
            "node" => Ok(EngineChoice::Node),
            _ => Err(format!("there is no engine `{name}`: it is `auto`, `embedded` or `node`")),
        }
    }
}

/// The places of Node, in the order in which they are tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runtimes(Vec<PathBuf>);

impl Runtimes {
    /// Returns those that a search path has. Nothing is run.
    pub fn on_path(path: &OsStr) -> Self {
        let directories = std::env::split_paths(path);
        Runtimes(directories.map(|directory| directory.join("node")).filter(|file| file.is_file()).collect())
    }

    /// Returns one at a known place.
    pub fn at(node: PathBuf) -> Self {
        Runtimes(vec![node])
    }

    /// Returns true if no program is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn programs(&self) -> &[PathBuf] {
        &self.0
    }
}

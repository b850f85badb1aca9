//! What the program is made of: licences, sources and banned crates, as `deny.toml` has them.
//!
//! Reads the same file as `cargo deny check licenses bans sources`, so that the test command needs no other tool; that
//! tool understands more of the file and is what a release is checked with.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::part::{Done, Outcome, Plan};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Checks every package of the lock file, and that every crate of ours forbids `unsafe`.
pub fn run(_: &Plan) -> Outcome {
    let rules = Rules::read(&Path::new(ROOT).join("deny.toml"))?;
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let wrong: Vec<String> = packages.iter().filter_map(|package| rules.complaint(package)).collect();
    if wrong.is_empty() {
        return Ok(Done::new(
            packages.len() as u64,
            "packages with allowed licences and sources, none banned",
        ));
    }
    Err(wrong.join("\n"))
}

fn metadata() -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let output =
        Command::new(cargo).args(arguments).current_dir(ROOT).output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The part of `deny.toml` that is checked here.
struct Rules {
    licences: BTreeSet<String>,
    banned: BTreeSet<String>,
    sources: BTreeSet<String>,
}

impl Rules {
    fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let rules = Self {
            licences: strings(&text, "licenses", "allow"),
            banned: strings(&text, "bans", "deny"),
            sources: strings(&text, "sources", "allow-registry"),
        };
        if rules.licences.is_empty() || rules.banned.is_empty() || rules.sources.is_empty() {
            return Err("deny.toml lacks a list".into());
        }
        Ok(rules)
    }

    fn complaint(&self, package: &Value) -> Option<String> {
        let name = package["name"].as_str().unwrap_or_default();
        let source = package["source"].as_str();
        let Some(source) = source else {
            return forbids_unsafe(package).err().or_else(|| any_version(package));
        };
        if self.banned.contains(name) {
            return Some(format!("{name} is banned"));
        }
        if !self.sources.iter().any(|allowed| source == format!("registry+{allowed}")) {
            return Some(format!("{name} comes from {source}"));
        }
        let licence = package["license"].as_str().unwrap_or("none");
        (!self.allows(licence)).then(|| format!("{name} has the licence {licence}"))
    }

    /// Whether one of the ways to read a licence is allowed: `OR` is a choice, `AND` asks for all.
    fn allows(&self, licence: &str) -> bool {
        let licence = licence.replace(['(', ')'], " ").replace('/', " OR ");
        let all = licence.split(" AND ");
        all.into_iter().all(|part| part.split(" OR ").any(|name| self.licences.contains(name.trim())))
    }
}

/// Our own crates take the lints of the workspace, which forbid `unsafe`.
fn forbids_unsafe(package: &Value) -> Result<(), String> {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    let text = std::fs::read_to_string(manifest).map_err(|error| format!("{manifest}: {error}"))?;
    let takes_lints = text.contains("[lints]\nworkspace = true");
    if takes_lints { Ok(()) } else { Err(format!("{manifest} does not take the lints of the workspace")) }
}

/// Finds a dependency of ours that takes any version of a package that is not ours.
fn any_version(package: &Value) -> Option<String> {
    let dependencies = package["dependencies"].as_array()?;
    let any = dependencies.iter().find(|one| one["req"] == "*" && one["path"].is_null())?;
    Some(format!("{} takes any version of {}", package["name"], any["name"]))
}

/// The strings of a list in a section of a TOML file.
fn strings(text: &str, section: &str, key: &str) -> BTreeSet<String> {
    let Some((_, rest)) = text.split_once(&format!("[{section}]\n")) else { return BTreeSet::new() };
    let body = rest.split("\n[").next().unwrap_or_default();
    let Some((_, list)) =
        body.split_once(&format!("\n{key} = [")).or_else(|| body.split_once(&format!("{key} = [")))
    else {
        return BTreeSet::new();
    };
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        let text = "[licenses]\nallow = [\n  \"MIT\",\n  \"Apache-2.0\", # of many\n]\n[bans]\ndeny = [\"openssl\"]\n[sources]\nallow-registry = [\"r\"]\n";
        Rules {
            licences: strings(text, "licenses", "allow"),
            banned: strings(text, "bans", "deny"),
            sources: strings(text, "sources", "allow-registry"),
        }
    }

    #[test]
    fn a_licence_is_allowed_if_one_of_its_choices_is() {
        for (licence, allowed) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0", false),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR Apache-2.0) AND MIT", true),
            ("none", false),
        ] {
            assert_eq!(rules().allows(licence), allowed, "{licence}");
        }
    }

    #[test]
    fn a_package_is_refused_for_its_name_its_source_or_its_licence() {
        let package = |name: &str, source: &str, licence: &str| serde_json::json!({"name": name, "source": source, "license": licence});
        assert_eq!(rules().complaint(&package("a", "registry+r", "MIT")), None);
        assert!(rules().complaint(&package("openssl", "registry+r", "MIT")).is_some());
        assert!(rules().complaint(&package("a", "git+https://example.org", "MIT")).is_some());
        assert!(rules().complaint(&package("a", "registry+r", "GPL-3.0")).is_some());
        let of_any = serde_json::json!({"name": "ours", "dependencies": [{"name": "a", "req": "*"}]});
        let of_ours =
            serde_json::json!({"name": "ours", "dependencies": [{"name": "b", "req": "*", "path": "/b"}]});
        assert!(any_version(&of_any).is_some() && any_version(&of_ours).is_none());
    }
}

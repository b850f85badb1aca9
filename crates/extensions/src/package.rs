//! Packages: directories with extensions, skills, prompt templates and themes.
//!
//! `package.json` -> **manifest** -> files inside the package, chosen by a **filter**
//!
//! Without a manifest the directories `extensions`, `skills`, `prompts` and `themes` count. Never installs anything.

mod patterns;

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use offshoot_agent::resources::{LooseFiles, skill_files};
use serde_json::{Map, Value as Json};

use crate::discover::{self, Dialect, FoundExtension, Origin};
use patterns::is_glob;
pub use patterns::{Patterns, is_override};

/// The deepest directory that a glob or a directory of resources is searched to.
const DEEPEST: usize = 16;
/// The most entries that are looked at.
const MOST_ENTRIES: usize = 20_000;
/// The maximum size of a `package.json` in bytes.
const LONGEST_MANIFEST: u64 = 4 << 20;

/// A kind of resource. A package declares each kind as a list of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceKind {
    /// Programs.
    Extensions,
    /// Instructions for the model.
    Skills,
    /// Prompt templates.
    Prompts,
    /// Colours of the chat.
    Themes,
}

impl ResourceKind {
    /// All kinds.
    pub const ALL: [ResourceKind; 4] =
        [ResourceKind::Extensions, ResourceKind::Skills, ResourceKind::Prompts, ResourceKind::Themes];

    /// Returns the key in a manifest, which is also the name of the directory.
    pub fn key(self) -> &'static str {
        match self {
            ResourceKind::Extensions => "extensions",
            ResourceKind::Skills => "skills",
            ResourceKind::Prompts => "prompts",
            ResourceKind::Themes => "themes",
        }
    }
}

/// A package on the disk.
#[derive(Debug, Clone)]
pub struct Package {
    /// The directory.
    pub root: PathBuf,
    /// The name in `package.json`, or that of the directory.
    pub name: String,
    /// The version in `package.json`.
    pub version: Option<String>,
    /// The member `offshoot` or `pi` of `package.json`.
    manifest: Map<String, Json>,
    /// The problems that were found.
    pub warnings: Vec<String>,
}

impl Package {
    /// Reads the manifest of a package. The error is the reason why it cannot be used.
    pub fn read(root: &Path) -> Result<Self, String> {
        if !root.is_dir() {
            return Err(format!("{} is no directory", root.display()));
        }
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let json = read_json(&root.join("package.json"))?;
        let own = ["offshoot", "pi"].iter().find_map(|key| json[*key].as_object());
        let name = json["name"].as_str().map(str::to_owned);
        Ok(Package {
            name: name.unwrap_or_else(|| root.file_name().unwrap_or_default().to_string_lossy().into_owned()),
            version: json["version"].as_str().map(str::to_owned),
            manifest: own.cloned().unwrap_or_default(),
            warnings: Vec::new(),
            root,
        })
    }

    /// Returns true if the package names any resources, or has a directory of them.
    pub fn has_resources(&self) -> bool {
        ResourceKind::ALL
            .iter()
            .any(|kind| self.manifest.contains_key(kind.key()) || self.root.join(kind.key()).is_dir())
    }

    /// Finds the files of a kind that the package declares, in the order of the manifest. Files outside the package are
    /// left out with a warning.
    pub fn files(&mut self, kind: ResourceKind) -> Vec<PathBuf> {
        let listed = self
            .manifest
            .get(kind.key())
            .and_then(Json::as_array)
            .map(|list| list.iter().filter_map(Json::as_str).map(str::to_owned).collect::<Vec<String>>());
        let has_manifest = ResourceKind::ALL.iter().any(|kind| self.manifest.contains_key(kind.key()));
        let mut found = match listed {
            None if has_manifest => return Vec::new(),
            None => self.below(&self.root.join(kind.key()), kind),
            Some(entries) => {
                let paths = entries.iter().filter(|entry| !is_override(entry));
                let paths: Vec<PathBuf> = paths.flat_map(|entry| self.expand(entry)).collect();
                let files = paths.iter().flat_map(|path| self.below(path, kind)).collect();
                let overrides = entries.iter().map(String::as_str).filter(|entry| is_override(entry));
                Patterns::new(overrides).select(files, &self.root)
            }
        };
        let mut seen = std::collections::HashSet::new();
        found.retain(|path| seen.insert(path.clone()) && self.contains(path));
        found
    }

    /// Returns an extension of the package as it is loaded.
    pub fn extension(&self, path: &Path, is_only_one: bool) -> FoundExtension {
        let dialect =
            self.manifest.get("dialect").and_then(|value| serde_json::from_value(value.clone()).ok());
        let engine = self.manifest.get("engine").and_then(|value| serde_json::from_value(value.clone()).ok());
        let name = match is_only_one {
            true => self.name.clone(),
            false => format!("{}/{}", self.name, name_of(path)),
        };
        FoundExtension {
            name,
            path: path.to_owned(),
            root: self.root.clone(),
            dialect: dialect.unwrap_or(Dialect::Extension),
            origin: Origin::default(),
            engine,
            is_confined: false,
        }
    }

    /// Returns the paths that an entry of the manifest names.
    fn expand(&self, entry: &str) -> Vec<PathBuf> {
        if !is_glob(entry) {
            return vec![clean(&self.root.join(entry))];
        }
        let patterns = Patterns::new([entry.trim_start_matches("./")]);
        let mut paths: Vec<PathBuf> = walk(&self.root, entry.contains("node_modules")).collect();
        paths.retain(|path| patterns.matches_path(path, &self.root));
        paths
    }

    /// Returns the files of a kind that a path stands for: itself, or what its directory holds.
    fn below(&mut self, path: &Path, kind: ResourceKind) -> Vec<PathBuf> {
        if path.is_file() {
            return vec![path.to_owned()];
        }
        if !path.is_dir() || !self.contains(path) {
            return Vec::new();
        }
        let ending = match kind {
            ResourceKind::Extensions => {
                let found = discover::by_path(path).unwrap_or_default();
                return found.into_iter().map(|one| one.path).collect();
            }
            ResourceKind::Skills => return skill_files(path, LooseFiles::Direct, &mut self.warnings),
            ResourceKind::Prompts => "md",
            ResourceKind::Themes => "json",
        };
        let is_wanted = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|own| own == ending);
        walk(path, false).filter(is_wanted).collect()
    }

    /// Returns true if a path lies in the package after links are followed. Adds a warning if it exists elsewhere.
    fn contains(&mut self, path: &Path) -> bool {
        let Ok(real) = fs::canonicalize(path) else { return false };
        let is_inside = fs::canonicalize(&self.root).is_ok_and(|root| real.starts_with(root));
        if !is_inside {
            self.warnings.push(format!(
                "package {}: {} lies outside of it and is not loaded",
                self.name,
                path.display()
            ));
        }
        is_inside
    }
}

/// Returns the visible files and directories below a directory, sorted. Links to directories are followed once.
fn walk(directory: &Path, in_node_modules: bool) -> impl Iterator<Item = PathBuf> + use<> {
    let walk = WalkBuilder::new(directory)
        .follow_links(true)
        .git_global(false)
        .git_exclude(false)
        .git_ignore(false)
        .parents(false)
        .max_depth(Some(DEEPEST))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| {
            in_node_modules || entry.depth() == 0 || entry.file_name() != "node_modules"
        })
        .build();
    walk.take(MOST_ENTRIES).flatten().filter(|entry| entry.depth() > 0).map(ignore::DirEntry::into_path)
}

/// Reads a `package.json`; null if it does not exist.
fn read_json(path: &Path) -> Result<Json, String> {
    let Ok(found) = fs::metadata(path) else { return Ok(Json::Null) };
    if !found.is_file() || found.len() > LONGEST_MANIFEST {
        return Err(format!("{} is no file of at most 4 MiB", path.display()));
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    serde_json::from_str(text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Removes `.` and `..` from a path without looking at the disk.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(clean.pop()),
            std::path::Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

/// Returns the name of an extension in its package: that of the file, or of the directory of an index.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    let name = if stem == "index" { path.parent().and_then(Path::file_name).unwrap_or(stem) } else { stem };
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;

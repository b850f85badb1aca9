//! Finds extensions: in directories, in manifests, by path. Whether a project is trusted is decided elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::runtime::EngineChoice;

/// The endings of extension files.
const ENDINGS: [&str; 4] = ["ts", "js", "mts", "mjs"];
/// The directories of extensions below the directory of the user.
pub const USER_DIRECTORIES: [&str; 2] = ["extensions", "hooks"];
/// The directories of extensions below the directory of a project: ours first, then pi's.
pub const PROJECT_DIRECTORIES: [&str; 4] =
    [".offshoot/extensions", ".offshoot/hooks", ".pi/extensions", ".pi/hooks"];

/// How an extension speaks with its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// As pi's extensions do.
    #[default]
    Extension,
    /// As the older hooks did: a command gets its context alone and may return a prompt.
    Hooks,
    /// With methods of the event instead of returned objects; receives cancelled navigations too.
    Events,
}

/// The origin of an extension. Extensions of one origin may share a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Origin {
    /// The user's own.
    #[default]
    User,
    /// Named on the command line.
    CommandLine,
    /// Part of a project.
    Project,
}

/// A file that can be loaded as an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundExtension {
    /// Its name: that of the file, or of its directory.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The directory with everything that belongs to it.
    pub root: PathBuf,
    /// How it speaks.
    pub dialect: Dialect,
    /// Its origin.
    pub origin: Origin,
    /// The engine that its manifest chooses.
    pub engine: Option<EngineChoice>,
    /// Whether it may import only what lies in its directory: what was trusted by its hash.
    pub is_confined: bool,
}

impl FoundExtension {
    /// Returns the name that rules for tool calls use: that of its package or directory, or of its file. The `./` of an
    /// extension of a project keeps it apart from those of the user.
    pub(crate) fn rule_name(&self) -> String {
        let place = if self.is_confined { "./" } else { "" };
        format!("{place}{}", self.name)
    }
}

/// Finds the extensions in a directory, sorted by name: `*.ts`, `*.js`, `*/index.ts`, `*/package.json`.
pub fn in_directory(directory: &Path) -> Vec<FoundExtension> {
    visible(directory).iter().flat_map(|path| at(path)).collect()
}

/// Returns what a directory holds and does not hide, sorted by name.
fn visible(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let is_hidden =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    paths.retain(|path| !is_hidden(path));
    paths
}

/// Finds what a path names: a file, or a directory with a manifest or an index, or a directory of extensions.
///
/// # Errors
///
/// The path, if nothing is there.
pub fn by_path(path: &Path) -> Result<Vec<FoundExtension>, PathBuf> {
    let mut found = at(path);
    if found.is_empty() {
        found = in_directory(path);
    }
    if found.is_empty() { Err(path.to_path_buf()) } else { Ok(found) }
}

/// Finds the extensions of a project.
pub fn in_project(project: &Path) -> Vec<FoundExtension> {
    let found = PROJECT_DIRECTORIES.iter().flat_map(|directory| in_directory(&project.join(directory)));
    found.map(|one| FoundExtension { is_confined: true, origin: Origin::Project, ..one }).collect()
}

/// Finds the extensions of a user.
pub fn in_user_directory(directory: &Path) -> Vec<FoundExtension> {
    USER_DIRECTORIES.iter().flat_map(|name| in_directory(&directory.join(name))).collect()
}

/// Finds what is at one path of a directory.
fn at(path: &Path) -> Vec<FoundExtension> {
    let of_manifest = of_manifest(path);
    if of_manifest.is_empty() { script_at(path).into_iter().collect() } else { of_manifest }
}

/// Finds the script at one path: a file, or the index of a directory.
fn script_at(path: &Path) -> Option<FoundExtension> {
    if path.is_file() {
        let is_script = path.extension().is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one));
        let is_declaration = path.to_string_lossy().ends_with(".d.ts");
        return (is_script && !is_declaration).then(|| found(path, stem(path)));
    }
    let index = ENDINGS.iter().map(|ending| path.join(format!("index.{ending}"))).find(|path| path.is_file());
    index.map(|index| found(&index, file_name(path)))
}

/// Finds the extensions that the manifest of a package names.
fn of_manifest(directory: &Path) -> Vec<FoundExtension> {
    let text = fs::read_to_string(directory.join("package.json")).unwrap_or_default();
    let manifest = serde_json::from_str::<Json>(&text).unwrap_or_default();
    let own = ["offshoot", "pi"].iter().map(|key| &manifest[*key]).find(|own| own.is_object());
    let Some(own) = own else { return Vec::new() };
    let dialect = Dialect::deserialize(&own["dialect"]).ok();
    let engine = EngineChoice::deserialize(&own["engine"]).ok();
    let names = own["extensions"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let paths: Vec<PathBuf> = names.map(|name| directory.join(name)).filter(|path| path.exists()).collect();
    let is_one = paths.len() == 1;
    let files = paths.iter().flat_map(|path| match (path.is_dir(), script_at(path)) {
        // The other files of a directory with an index belong to it.
        (true, Some(index)) => vec![index],
        (true, None) if is_below(path, directory) => in_directory(path),
        // Manifests in there are not read: they may name the directory of this one.
        (true, None) => visible(path).iter().filter_map(|path| script_at(path)).collect(),
        (false, _) => vec![found(path, stem(path))],
    });
    let name =
        |one: FoundExtension| if is_one { FoundExtension { name: file_name(directory), ..one } } else { one };
    let root = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    files
        .map(|one| FoundExtension {
            dialect: dialect.unwrap_or(one.dialect),
            root: root.clone(),
            engine,
            ..name(one)
        })
        .collect()
}

/// Returns true if a directory lies in another one after links are followed, so that recursion ends.
fn is_below(path: &Path, directory: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(path)
        .zip(real(directory))
        .is_some_and(|(path, directory)| path != directory && path.starts_with(directory))
}

fn found(path: &Path, name: String) -> FoundExtension {
    let is_in_hooks = path.ancestors().skip(1).take(2).any(|directory| directory.ends_with("hooks"));
    let dialect = if is_in_hooks { Dialect::Hooks } else { Dialect::Extension };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let root = path.parent().map(Path::to_path_buf).unwrap_or_default();
    FoundExtension { name, path, root, dialect, origin: Origin::default(), engine: None, is_confined: false }
}

/// Returns the name of a file without its ending, or that of its directory if it is an index.
fn stem(path: &Path) -> String {
    let named = match path.file_stem() {
        Some(stem) if stem == "index" => path.parent().and_then(Path::file_name).or(Some(stem)),
        stem => stem,
    };
    named.unwrap_or_default().to_string_lossy().into_owned()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;

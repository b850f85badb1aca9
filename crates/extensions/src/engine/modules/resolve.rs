//! The file or the module of ours that a name means: Node's rules for packages, and those of TypeScript projects for files.
//!
//! `exports` and `imports` with conditions, sub-paths and patterns; `main`; packages that import themselves; `node_modules`
//! up the tree; files without ending, directories, and `.js` for a `.ts`. Reads manifests and looks for files; loads nothing.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use serde_json::Value as Json;

use crate::builtin::{FILES, NODE_ONLY_MODULES};

/// Endings that are tried if a file of the exact name is not there.
const ENDINGS: [&str; 9] = [".ts", ".tsx", ".js", ".mts", ".mjs", ".cts", ".cjs", ".jsx", ".json"];
/// The files that a directory starts with.
const INDEXES: [&str; 8] =
    ["index.ts", "index.tsx", "index.js", "index.mts", "index.mjs", "index.cjs", "index.cts", "index.json"];

/// The conditions of a package's `exports` that hold for `import` and for `require`.
const IMPORT: [&str; 4] = ["node", "import", "module-sync", "default"];
const REQUIRE: [&str; 4] = ["node", "require", "module-sync", "default"];

/// The meaning of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module of ours.
    Own(&'static str),
    /// A file.
    File(PathBuf),
}

/// Finds files. Manifests that were read are kept.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    manifests: HashMap<PathBuf, Option<Rc<Json>>>,
}

impl Finder {
    /// Finds what a name means in the file `base`.
    pub(crate) fn find(&mut self, base: &str, name: &str, is_require: bool) -> Result<Target, String> {
        let plain = name.strip_prefix("node:").unwrap_or(name);
        if let Some((own, ..)) = FILES.iter().find(|(_, _, names)| names.contains(&plain)) {
            return Ok(Target::Own(own));
        }
        if NODE_ONLY_MODULES.contains(&plain.trim_end_matches('/')) && !self.is_installed(base, name) {
            return Err(format!(
                "`{name}` needs Node, which the embedded engine does not have (imported by {base})"
            ));
        }
        let found = match name.strip_prefix("file://") {
            Some(path) => file(Path::new(&decoded(path))),
            None if is_path(name) => {
                let directory = Path::new(base).parent().unwrap_or(Path::new("/"));
                self.file_or_directory(&directory.join(name))
            }
            None if name.starts_with('#') => self.internal(base, name, is_require)?,
            None => self.package(base, name, is_require)?,
        };
        let found = found.ok_or_else(|| format!("cannot find module `{name}` (imported by {base})"))?;
        Ok(Target::File(found))
    }

    /// Returns true if a package has the name of a module of Node, such as `punycode`.
    fn is_installed(&mut self, base: &str, name: &str) -> bool {
        !name.starts_with("node:") && matches!(self.package(base, name, false), Ok(Some(_)))
    }

    /// Returns true if the package of a file says that its `.js` files are modules.
    pub(super) fn is_module_package(&mut self, path: &Path) -> bool {
        self.scope(path).is_some_and(|(_, manifest)| manifest["type"] == "module")
    }

    fn file_or_directory(&mut self, path: &Path) -> Option<PathBuf> {
        let path = normal(path);
        file(&path).or_else(|| self.directory(&path))
    }

    /// Finds the file that a directory starts with.
    fn directory(&mut self, path: &Path) -> Option<PathBuf> {
        if !path.is_dir() {
            return None;
        }
        let manifest = self.manifest(path);
        let main =
            manifest.as_deref().into_iter().flat_map(|manifest| [&manifest["module"], &manifest["main"]]);
        let mut main = main.filter_map(Json::as_str).map(|main| normal(&path.join(main)));
        main.find_map(|main| file(&main).or_else(|| index(&main))).or_else(|| index(path))
    }

    fn manifest(&mut self, directory: &Path) -> Option<Rc<Json>> {
        if let Some(known) = self.manifests.get(directory) {
            return known.clone();
        }
        let text = fs::read_to_string(directory.join("package.json")).ok();
        let manifest = text.and_then(|text| serde_json::from_str(&text).ok()).map(Rc::new);
        self.manifests.insert(directory.to_owned(), manifest.clone());
        manifest
    }

    /// Returns the package that a file belongs to.
    fn scope(&mut self, path: &Path) -> Option<(PathBuf, Rc<Json>)> {
        for directory in path.ancestors().skip(1) {
            if directory.ends_with("node_modules") {
                return None;
            }
            if let Some(manifest) = self.manifest(directory) {
                return Some((directory.to_owned(), manifest));
            }
        }
        None
    }

    /// Finds a name that begins with `#` in the `imports` of the importing package.
    fn internal(&mut self, base: &str, name: &str, is_require: bool) -> Result<Option<PathBuf>, String> {
        let Some((directory, manifest)) = self.scope(Path::new(base)) else { return Ok(None) };
        let Some(imports) = manifest["imports"].as_object() else { return Ok(None) };
        for conditions in order(is_require) {
            match matched(imports.iter(), name, conditions) {
                Some(target) if target.starts_with("./") => {
                    return Ok(self.file_or_directory(&directory.join(target)));
                }
                Some(target) => return self.package(base, &target, is_require),
                None => {}
            }
        }
        Ok(None)
    }

    /// Finds a package: the importing one if it has this name, or one in the `node_modules` of the importing file's
    /// directory and those above.
    fn package(&mut self, base: &str, name: &str, is_require: bool) -> Result<Option<PathBuf>, String> {
        let parts = if name.starts_with('@') { 2 } else { 1 };
        let split = name.match_indices('/').nth(parts - 1).map_or(name.len(), |(at, _)| at);
        let (package, rest) = (&name[..split], &name[split..]);
        if let Some((directory, manifest)) = self.scope(Path::new(base))
            && manifest["name"] == package
            && !manifest["exports"].is_null()
        {
            return self.exported(&directory, &manifest, rest, is_require).map(Some);
        }
        for directory in Path::new(base).ancestors().skip(1).filter(|one| !one.ends_with("node_modules")) {
            let directory = directory.join("node_modules").join(package);
            if !directory.is_dir() {
                continue;
            }
            // The packages of a package lie beside the real one.
            let directory = fs::canonicalize(&directory).unwrap_or(directory);
            let found = match self.manifest(&directory) {
                Some(manifest) if !manifest["exports"].is_null() => {
                    return self.exported(&directory, &manifest, rest, is_require).map(Some);
                }
                _ => self.file_or_directory(&directory.join(rest.trim_start_matches('/'))),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Finds the file that a package exports under a sub-path, which is empty or begins with a slash.
    fn exported(
        &mut self,
        directory: &Path,
        manifest: &Json,
        rest: &str,
        is_require: bool,
    ) -> Result<PathBuf, String> {
        let exports = &manifest["exports"];
        let key = format!(".{rest}");
        let paths = exports.as_object().filter(|map| map.keys().any(|key| key.starts_with('.')));
        for conditions in order(is_require) {
            let target = match paths {
                Some(paths) => matched(paths.iter(), &key, conditions),
                None if rest.is_empty() => chosen(exports, conditions),
                None => None,
            };
            let found = target.map(|target| normal(&directory.join(target)));
            // A package exports nothing outside itself.
            let found = found.filter(|path| path.starts_with(directory)).and_then(|path| file(&path));
            if let Some(found) = found {
                return Ok(found);
            }
        }
        let name = manifest["name"].as_str().unwrap_or("?");
        Err(format!(
            "the package `{name}` does not export `{key}` ({})",
            directory.join("package.json").display()
        ))
    }
}

/// Both kinds of conditions, those of the request first: pi's loader is as lenient.
fn order(is_require: bool) -> [&'static [&'static str]; 2] {
    if is_require { [&REQUIRE, &IMPORT] } else { [&IMPORT, &REQUIRE] }
}

/// Finds the entry of `exports` or `imports` for a key: the exact one, or the pattern with the longest beginning.
fn matched<'a>(
    entries: impl Iterator<Item = (&'a String, &'a Json)>,
    key: &str,
    conditions: &[&str],
) -> Option<String> {
    let mut best: Option<(usize, &Json, &str)> = None;
    for (pattern, target) in entries {
        if pattern == key {
            return chosen(target, conditions);
        }
        let (start, end) = match pattern.split_once('*') {
            Some(parts) => parts,
            None if pattern.ends_with('/') => (pattern.as_str(), ""),
            None => continue,
        };
        let rest =
            key.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)).filter(|rest| !rest.is_empty());
        if let Some(rest) = rest
            && best.is_none_or(|(length, ..)| start.len() > length)
        {
            best = Some((start.len(), target, rest));
        }
    }
    let (_, target, rest) = best?;
    let target = chosen(target, conditions)?;
    Some(if target.ends_with('/') { target + rest } else { target.replace('*', rest) })
}

/// Returns the first target whose conditions hold.
fn chosen(target: &Json, conditions: &[&str]) -> Option<String> {
    match target {
        Json::String(target) => Some(target.clone()),
        Json::Array(targets) => targets.iter().find_map(|target| chosen(target, conditions)),
        Json::Object(map) => {
            let holds = |(key, _): &(&String, &Json)| conditions.contains(&key.as_str());
            map.iter().filter(holds).find_map(|(_, target)| chosen(target, conditions))
        }
        _ => None,
    }
}

/// Returns true for a name that is a path.
fn is_path(name: &str) -> bool {
    name.starts_with(['/']) || matches!(name, "." | "..") || name.starts_with("./") || name.starts_with("../")
}

/// Finds the file that a path means, as TypeScript projects write it: with or without ending, `.js` for `.ts`.
fn file(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let text = path.to_string_lossy().into_owned();
    let typed = [(".js", ".ts"), (".js", ".tsx"), (".mjs", ".mts"), (".cjs", ".cts"), (".jsx", ".tsx")];
    let typed = typed.iter().filter_map(|(js, ts)| Some(format!("{}{ts}", text.strip_suffix(js)?)));
    let endings = ENDINGS.iter().map(|ending| format!("{text}{ending}"));
    typed.chain(endings).map(PathBuf::from).find(|path| path.is_file())
}

fn index(directory: &Path) -> Option<PathBuf> {
    INDEXES.iter().map(|name| directory.join(name)).find(|path| path.is_file())
}

/// Takes `.` and `..` out of a path without looking at the disk.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

/// Decodes the path of a `file:` URL.
fn decoded(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests;

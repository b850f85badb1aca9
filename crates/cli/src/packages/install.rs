//! Installs packages with npm and git, each into a separate directory.
//!
//! source -> beside its place -> checked -> **named in one step** -> lock file
//!
//! A failed or interrupted installation leaves the package as it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use offshoot_agent::small_file::SmallFile;
use offshoot_extensions::package::Package;
use serde_json::{Map, Value as Json, json};

use super::{Scope, Source};
use crate::error::{CommandError, Failure};
use crate::project_file::read_if_present;

/// The most lines of the output of a failed program that are shown.
const MOST_LINES: usize = 8;
/// The beginning of the names of directories that are not complete.
const UNFINISHED: &str = ".unfinished-";

/// A package that was installed.
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    /// The version, or the commit; `None` if it is not known.
    pub(crate) version: Option<String>,
    /// The directory or the file.
    pub(crate) root: PathBuf,
}

/// Installs a package, in place of what is installed. `allows_scripts` runs the scripts of the package and of those that it
/// depends on.
pub(crate) fn install(
    source: &Source,
    scope: &Scope,
    allows_scripts: bool,
) -> Result<Installed, CommandError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| CommandError::system("write", &path, &error)
    };
    fs::create_dir_all(&scope.directory).map_err(failed(&scope.directory))?;
    let guard = SmallFile::lock(&scope.directory.join("lock")).map_err(failed(&scope.directory))?;
    remove_leftovers(&scope.directory);
    let beside = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&scope.directory);
    let beside = beside.map_err(failed(&scope.directory))?;
    let locked = match source {
        Source::Git { url, reference, .. } => {
            clone(url, reference.as_deref(), beside.path(), allows_scripts)?
        }
        Source::Npm { .. } | Source::Path(_) => fetch(source, beside.path(), allows_scripts)?,
    };
    let root = root_in(source, beside.path());
    let package = Package::read(&root).map_err(|reason| not_usable(source, &reason))?;
    if !package.has_resources() {
        return Err(not_usable(source, "it has no extensions, skills, prompt templates or themes"));
    }
    check_lock(source, scope, &locked)?;
    let place = scope.place(source);
    let old = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&scope.directory);
    let old = old.map_err(failed(&scope.directory))?;
    if place.exists() {
        fs::rename(&place, old.path().join("old")).map_err(failed(&place))?;
    }
    fs::rename(beside.path(), &place).map_err(failed(&place))?;
    // Nothing is left to remove.
    drop(beside.keep());
    drop(guard);
    let version = ["version", "commit"].iter().find_map(|key| locked[*key].as_str()).map(str::to_owned);
    write_lock(scope, |lock| drop(lock.insert(source.identity(), locked)))?;
    Ok(Installed { version, root: root_in(source, &place) })
}

/// Removes an installed package.
pub(crate) fn uninstall(source: &Source, scope: &Scope) -> Result<(), CommandError> {
    let place = scope.place(source);
    if source.is_copied() && place.exists() {
        fs::remove_dir_all(&place).map_err(|error| CommandError::system("remove", &place, &error))?;
    }
    if scope.lock_file.exists() {
        write_lock(scope, |lock| drop(lock.shift_remove(&source.identity())))?;
    }
    Ok(())
}

/// Returns the directory of the package in the directory that it is installed to.
pub(crate) fn root_in(source: &Source, place: &Path) -> PathBuf {
    match source {
        Source::Npm { name, .. } => place.join("node_modules").join(name),
        Source::Git { .. } => place.to_owned(),
        Source::Path(path) if !source.is_copied() => path.clone(),
        Source::Path(_) => {
            let text = fs::read_to_string(place.join("package.json")).unwrap_or_default();
            let json = serde_json::from_str::<Json>(&text).unwrap_or_default();
            let name = json["dependencies"].as_object().and_then(|all| all.keys().next());
            place.join("node_modules").join(name.map_or("-", String::as_str))
        }
    }
}

fn not_usable(source: &Source, reason: &str) -> CommandError {
    Failure::new(format!("{} is not installed: {reason}", source.spec())).into()
}

/// Removes directories of installations that were interrupted. The caller holds the lock. Best effort.
fn remove_leftovers(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Installs a package of npm below a directory. Returns its entry of the lock file.
fn fetch(source: &Source, directory: &Path, allows_scripts: bool) -> Result<Json, CommandError> {
    let manifest = directory.join("package.json");
    fs::write(&manifest, "{\"name\": \"offshoot-package\", \"private\": true}\n")
        .map_err(|error| CommandError::system("write", &manifest, &error))?;
    let spec = source.spec();
    let mut arguments = npm_options(allows_scripts);
    arguments.extend(["--", &spec]);
    run("npm", &arguments, directory)?;
    let text = fs::read_to_string(directory.join("package-lock.json")).unwrap_or_default();
    let lock = serde_json::from_str::<Json>(&text).unwrap_or_default();
    let root = root_in(source, directory);
    let key = root.strip_prefix(directory).unwrap_or(&root).to_string_lossy().into_owned();
    let entry = &lock["packages"][&key];
    let version = Package::read(&root).ok().and_then(|package| package.version);
    Ok(json!({"source": spec, "version": version, "integrity": entry["integrity"]}))
}

fn npm_options(allows_scripts: bool) -> Vec<&'static str> {
    let scripts = if allows_scripts { "--ignore-scripts=false" } else { "--ignore-scripts" };
    // What the program provides itself is a peer dependency of packages, and is not installed.
    vec![
        "install",
        scripts,
        "--omit=dev",
        "--legacy-peer-deps",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]
}

/// Clones a repository into a directory. Returns its entry of the lock file.
fn clone(url: &str, reference: Option<&str>, to: &Path, allows_scripts: bool) -> Result<Json, CommandError> {
    run("git", &["clone", "--quiet", "--", url, "."], to)?;
    if let Some(reference) = reference {
        run("git", &["checkout", "--quiet", "--detach", reference], to)?;
    }
    let commit = run("git", &["rev-parse", "HEAD"], to)?;
    let manifest = fs::read_to_string(to.join("package.json")).unwrap_or_default();
    let manifest = serde_json::from_str::<Json>(&manifest).unwrap_or_default();
    if manifest["dependencies"].as_object().is_some_and(|all| !all.is_empty()) {
        run("npm", &npm_options(allows_scripts), to)?;
    }
    Ok(json!({"source": url, "commit": commit.trim()}))
}

/// Runs a program and returns its output. It asks nothing.
fn run(program: &str, arguments: &[&str], directory: &Path) -> Result<String, CommandError> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).env("GIT_TERMINAL_PROMPT", "0");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("{program} is not installed"))
                .hint(format!(
                    "packages of this kind are installed with {program}; a path needs neither npm nor git"
                ))
                .into());
        }
        Err(error) => return Err(CommandError::system("run", program.as_ref(), &error)),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines =
        text.lines().filter(|line| !line.trim().is_empty() && !line.contains("A complete log of this run"));
    let shown: Vec<&str> = lines.take(MOST_LINES).collect();
    let failure = Failure::new(format!("{program} failed: nothing was changed\n{}", shown.join("\n")));
    Err(failure.hint("it needs a network, unless the source is a file").into())
}

/// Refuses a version whose content differs from that in the lock file.
fn check_lock(source: &Source, scope: &Scope, locked: &Json) -> Result<(), CommandError> {
    let known = read_lock(scope)?;
    let Some(known) = known.get(&source.identity()) else { return Ok(()) };
    let is_same = |key: &str| known[key] == locked[key];
    if is_same("version") && !known["integrity"].is_null() && !is_same("integrity") && is_same("source") {
        let version = known["version"].as_str().unwrap_or_default();
        return Err(Failure::new(format!(
            "{} is not installed: version {version} has changed",
            source.spec()
        ))
        .hint(format!(
            "its content is not that of {}; `offshoot remove` forgets it",
            scope.lock_file.display()
        ))
        .into());
    }
    Ok(())
}

fn read_lock(scope: &Scope) -> Result<Map<String, Json>, CommandError> {
    let Some(text) = read_if_present(&scope.lock_file)? else { return Ok(Map::new()) };
    serde_json::from_str(&text).map_err(|error| {
        Failure::new(format!("{}: {error}", scope.lock_file.display()))
            .hint("it is written by `offshoot install`; remove it to forget all versions")
            .into()
    })
}

fn write_lock(scope: &Scope, change: impl FnOnce(&mut Map<String, Json>)) -> Result<(), CommandError> {
    let failed = |error: io::Error| CommandError::system("write", &scope.lock_file, &error);
    let file = SmallFile::lock(&scope.lock_file).map_err(failed)?;
    let mut lock = read_lock(scope)?;
    change(&mut lock);
    lock.sort_keys();
    file.replace(format!("{:#}\n", Json::Object(lock)).as_bytes()).map_err(failed)
}

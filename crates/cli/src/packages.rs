//! Packages: those that settings name, where they are installed, and the files that they provide.
//!
//! settings of the user, of a trusted project, of pi -> **declared packages** -> files, chosen by filters
//!
//! Reading never installs anything: a package that is missing is a warning.

mod declared;
mod install;
mod source;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use offshoot_extensions::discover::{self, FoundExtension, Origin};
use offshoot_extensions::package::{Package, Patterns, ResourceKind};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::error::CommandError;
use crate::setup::Setup;

pub(crate) use declared::{change_settings, entry_source};
pub(crate) use install::{Installed, install, root_in, uninstall};
pub(crate) use source::Source;

/// The settings that name a package: those of the user, of the project, or of pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PackageOwner {
    User,
    Project,
    Pi,
}

/// The files of packages that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) owner: PackageOwner,
    /// The settings file.
    pub(crate) settings: PathBuf,
    /// The file with versions and digests.
    pub(crate) lock_file: PathBuf,
    /// The directory with a directory for each package.
    pub(crate) directory: PathBuf,
}

impl Scope {
    /// Returns the scope of the user.
    pub(crate) fn user(config: &Path) -> Self {
        let directory = config.join("packages");
        Scope {
            owner: PackageOwner::User,
            settings: config.join("settings.json"),
            lock_file: directory.join("lock.json"),
            directory,
        }
    }

    /// Returns the scope of a project. Its packages are installed beside those of the user, because a repository must not
    /// bring code that only looks installed.
    pub(crate) fn project(config: &Path, project: &Path) -> Self {
        let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
        let hash: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Scope {
            owner: PackageOwner::Project,
            settings: project.join(".offshoot/settings.json"),
            lock_file: project.join(".offshoot/packages.lock.json"),
            directory: config.join("packages").join(format!("project-{hash}")),
        }
    }

    /// Returns the directory that a package is installed to.
    pub(crate) fn place(&self, source: &Source) -> PathBuf {
        self.directory.join(source.directory())
    }
}

/// A package that a settings file names.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) source: Source,
    /// The source as it was written.
    pub(crate) text: String,
    pub(crate) owner: PackageOwner,
    /// The directory of the package, which need not exist.
    pub(crate) root: PathBuf,
    /// The lists of patterns by kind; an object or null.
    pub(crate) filter: Json,
}

/// A file of a package.
#[derive(Debug, Clone)]
pub(crate) struct PackageFile {
    pub(crate) path: PathBuf,
    /// False if a filter leaves it out.
    pub(crate) is_enabled: bool,
}

impl Declared {
    /// Returns the package of a path of the command line.
    pub(crate) fn at(path: &Path) -> Self {
        let root = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let text = path.display().to_string();
        Declared {
            source: Source::Path(root.clone()),
            text,
            owner: PackageOwner::User,
            root,
            filter: Json::Null,
        }
    }

    /// Returns true if the package is there.
    pub(crate) fn is_installed(&self) -> bool {
        match &self.source {
            Source::Path(path) if !self.source.is_copied() => path.exists(),
            Source::Npm { .. } => self.root.join("package.json").is_file(),
            Source::Git { .. } | Source::Path(_) => self.root.is_dir(),
        }
    }

    /// Reads the package. The error is the reason why it cannot be used.
    pub(crate) fn read(&self) -> Result<Package, String> {
        if !self.is_installed() {
            let hint = match self.owner {
                PackageOwner::Pi => {
                    format!("`pi update --extensions` or `offshoot install {}` installs it", self.text)
                }
                PackageOwner::User | PackageOwner::Project => "`offshoot install` installs it".to_owned(),
            };
            return Err(format!("package {} is not installed; {hint}", self.text));
        }
        Package::read(&self.root).map_err(|reason| format!("package {}: {reason}", self.text))
    }

    /// Returns the files of a kind.
    pub(crate) fn files(&self, package: &mut Package, kind: ResourceKind) -> Vec<PackageFile> {
        let all = package.files(kind);
        let chosen: HashSet<PathBuf> = match self.filter.get(kind.key()).and_then(Json::as_array) {
            None => all.iter().cloned().collect(),
            Some(list) if list.is_empty() => HashSet::new(),
            Some(list) => {
                let patterns = Patterns::new(list.iter().filter_map(Json::as_str));
                patterns.select(all.clone(), &package.root).into_iter().collect()
            }
        };
        let file = |path: PathBuf| PackageFile { is_enabled: chosen.contains(&path), path };
        all.into_iter().map(file).collect()
    }

    /// Finds the extensions that are loaded. Adds warnings.
    pub(crate) fn extensions(&self, warnings: &mut Vec<String>) -> Vec<FoundExtension> {
        if self.root.is_file() {
            return discover::by_path(&self.root).unwrap_or_default();
        }
        let mut package = match self.read() {
            Ok(package) => package,
            Err(text) => {
                warnings.push(text);
                return Vec::new();
            }
        };
        if !package.has_resources() {
            let found = discover::by_path(&self.root).unwrap_or_default();
            if found.is_empty() {
                warnings.push(format!("package {} has nothing that can be loaded", self.text));
            }
            return found;
        }
        let files = self.files(&mut package, ResourceKind::Extensions);
        let enabled: Vec<PathBuf> =
            files.into_iter().filter(|file| file.is_enabled).map(|file| file.path).collect();
        let origin = if self.owner == PackageOwner::Project { Origin::Project } else { Origin::User };
        let found = enabled.iter().map(|path| package.extension(path, enabled.len() == 1));
        let found = found.map(|one| FoundExtension { origin, ..one }).collect();
        warnings.append(&mut package.warnings);
        found
    }

    /// Finds the files of a kind that are loaded. Adds warnings; a missing package is reported with its extensions.
    pub(crate) fn enabled(&self, kind: ResourceKind, warnings: &mut Vec<String>) -> Vec<PathBuf> {
        let Some(mut package) = self.root.is_dir().then(|| self.read().ok()).flatten() else {
            return Vec::new();
        };
        let files = self.files(&mut package, kind);
        warnings.append(&mut package.warnings);
        files.into_iter().filter(|file| file.is_enabled).map(|file| file.path).collect()
    }
}

/// Returns the packages of a trusted project, of the user and of pi. Of two declarations of a package the first counts.
/// Sources that cannot be parsed are warnings.
pub(crate) fn declared(setup: &Setup, app: &App, warnings: &mut Vec<String>) -> Vec<Declared> {
    let mut found = Vec::new();
    let home = app.env.home();
    let mut add = |scope: &Scope, entries: &[Json]| {
        let base = scope.settings.parent().unwrap_or(Path::new("."));
        for entry in entries {
            let text = entry_source(entry);
            let source = match Source::parse(text, base, home.as_deref()) {
                Ok(source) => source,
                Err(failure) => {
                    warnings.push(failure.message);
                    continue;
                }
            };
            let root = match scope.owner {
                PackageOwner::Pi => declared::pi_root(&source, base),
                PackageOwner::User | PackageOwner::Project => root_in(&source, &scope.place(&source)),
            };
            let filter = if entry.is_object() { entry.clone() } else { Json::Null };
            found.push(Declared { source, text: text.to_owned(), owner: scope.owner, root, filter });
        }
    };
    if let Some(project) = &setup.project {
        add(&Scope::project(setup.config_dir(), &project.dir), &setup.settings.packages(true));
    }
    add(&Scope::user(setup.config_dir()), &setup.settings.packages(false));
    if let Some(pi) = &setup.pi {
        let entries = pi.settings["packages"].as_array().cloned().unwrap_or_default();
        add(
            &Scope {
                settings: pi.dir.join("settings.json"),
                owner: PackageOwner::Pi,
                ..Scope::user(&pi.dir)
            },
            &entries,
        );
    }
    let mut seen = HashSet::new();
    found.retain(|package| seen.insert(package.source.identity()));
    found
}

/// Returns the scope that a command changes.
pub(crate) fn scope(is_local: bool, setup: &Setup) -> Result<Scope, CommandError> {
    if !is_local {
        return Ok(Scope::user(setup.config_dir()));
    }
    let cwd = setup.cwd.canonicalize().map_err(|error| CommandError::no_cwd(&error))?;
    let dir = match &setup.project {
        Some(project) => project.dir.clone(),
        None => crate::trust::root(&cwd).to_owned(),
    };
    Ok(Scope::project(setup.config_dir(), &dir))
}

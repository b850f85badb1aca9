//! The sources of extensions: the command line, the user's directories and settings, a trusted project.
//!
//! Reads the directories again at every call: files come and go, and a changed project is not trusted.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use offshoot_extensions::discover::{self, FoundExtension, Origin};
use offshoot_extensions::package::{Package, is_override};

use super::Args;
use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::packages::{self, Declared, PackageOwner};
use crate::settings::ListedPath;
use crate::setup::Setup;
use crate::trust::Project;

/// The sources of extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// The paths of the command line.
    given: Vec<PathBuf>,
    /// The user's directories: offshoot's, then pi's.
    own: Vec<PathBuf>,
    /// The paths of the settings.
    listed: Vec<PathBuf>,
    /// The packages.
    packages: Vec<Declared>,
    /// Warnings about their declarations.
    warnings: Vec<String>,
    /// The project and its trusted digest.
    project: Option<(PathBuf, String)>,
}

impl Sources {
    /// Collects the sources. `with_project` is true if a trusted project counts; without a user to ask, only the
    /// command line allows that.
    pub(crate) fn new(
        args: &Args,
        setup: &Setup,
        with_project: bool,
        app: &App,
    ) -> Result<Self, CommandError> {
        if let Some(path) = args.paths.iter().find(|path| !can_load(path)) {
            return Err(Failure::new(format!("there is no extension at {}", path.display()))
                .hint("it is a file that ends in .ts or .js, or a directory with such files")
                .into());
        }
        let mut sources = Sources { given: args.paths.clone(), ..Sources::default() };
        if args.no_extensions {
            return Ok(sources);
        }
        sources.own.push(setup.config_dir().to_owned());
        sources.own.extend(setup.pi.as_ref().map(|pi| pi.dir.clone()));
        let listed = setup.settings.resources("extensions", app.env.home().as_deref().map(Path::new));
        let is_path = |listed: &ListedPath| !is_override(&listed.text);
        sources.listed = listed.into_iter().filter(is_path).map(|listed| listed.path).collect();
        if let Some(pi) = &setup.pi {
            let listed = pi.listed("extensions", app.env.home().as_deref().map(Path::new));
            let paths = listed.into_iter().filter(is_path).map(|listed| listed.path);
            // pi's own extensions have names instead of paths.
            sources.listed.extend(paths.filter(|path| path.exists()));
        }
        let declared = packages::declared(setup, app, &mut sources.warnings);
        sources.packages = declared
            .into_iter()
            .filter(|package| with_project || package.owner != PackageOwner::Project)
            .collect();
        let project = setup.project.as_ref().filter(|_| with_project);
        sources.project = project.map(|project| (project.dir.clone(), project.digest.clone()));
        Ok(sources)
    }

    /// Collects the sources of a run without a user to ask for trust: those of the project are loaded only if
    /// `is_approved`.
    pub(crate) fn for_one_run(
        args: &Args,
        setup: &Setup,
        is_approved: bool,
        app: &mut App,
    ) -> Result<Self, CommandError> {
        if !is_approved && !args.no_extensions && setup.project.as_ref().is_some_and(Project::has_code) {
            app.ui.tell("note: the extensions of this project are not loaded: this run cannot ask whether you trust them")?;
            app.ui.tell("hint: `--approve` loads them in this run")?;
        }
        Self::new(args, setup, is_approved, app)
    }

    /// Returns true if there is nothing to load.
    pub(crate) fn is_empty(&self) -> bool {
        let (found, odd) = self.find();
        found.is_empty() && odd.is_empty()
    }

    /// Finds all extensions in loading order, each once. Also returns warnings.
    pub(crate) fn find(&self) -> (Vec<FoundExtension>, Vec<String>) {
        let mut odd = self.warnings.clone();
        let given = self.given.iter().map(|path| Declared::at(path));
        let mut found: Vec<FoundExtension> = given.flat_map(|package| package.extensions(&mut odd)).collect();
        found.iter_mut().for_each(|one| one.origin = Origin::CommandLine);
        found.extend(self.own.iter().flat_map(|directory| discover::in_user_directory(directory)));
        found.extend(named(&self.listed, &mut odd));
        match self.in_project() {
            Ok(some) => found.extend(some),
            Err(text) => odd.push(text),
        }
        found.extend(self.packages.iter().flat_map(|package| package.extensions(&mut odd)));
        let mut seen = HashSet::new();
        found.retain(|one| seen.insert(fs::canonicalize(&one.path).unwrap_or_else(|_| one.path.clone())));
        (found, odd)
    }

    /// Finds the extensions of the project if its digest is still trusted.
    fn in_project(&self) -> Result<Vec<FoundExtension>, String> {
        let Some((dir, digest)) = &self.project else { return Ok(Vec::new()) };
        match Project::at(dir) {
            Ok(Some(project)) if project.digest == *digest => Ok(discover::in_project(dir)),
            _ => Err(format!(
                "the extensions of {} are not loaded: they changed since you trusted them",
                dir.display()
            )),
        }
    }
}

/// Returns true if a path of the command line is an extension or a package.
fn can_load(path: &Path) -> bool {
    discover::by_path(path).is_ok() || Package::read(path).is_ok_and(|package| package.has_resources())
}

/// Finds the extensions of paths, and adds a warning for each path without one.
fn named(paths: &[PathBuf], odd: &mut Vec<String>) -> Vec<FoundExtension> {
    let mut found = Vec::new();
    for path in paths {
        match discover::by_path(path) {
            Ok(some) => found.extend(some),
            Err(path) => odd.push(format!("there is no extension at {}", path.display())),
        }
    }
    found
}

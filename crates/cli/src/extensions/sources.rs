//! The sources of extensions: the command line, the user's directories and settings, a trusted project.
//!
//! Reads the directories again at every call: files come and go, and a changed project is not trusted.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use offshoot_extensions::discover::{self, FoundExtension, Origin};

use super::Args;
use crate::app::App;
use crate::error::{CommandError, Failure};
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
        if let Some(path) = args.paths.iter().find(|path| discover::by_path(path).is_err()) {
            return Err(Failure::new(format!("there is no extension at {}", path.display()))
                .hint("it is a file that ends in .ts or .js, or a directory with such files")
                .into());
        }
        let mut sources = Sources { given: args.paths.clone(), ..Sources::default() };
        if args.no_extensions {
            return Ok(sources);
        }
        sources.own.push(setup.config_dir().to_owned());
        if setup.settings.uses_pi_extensions() {
            sources.own.extend(app.env.pi_dir().ok());
        }
        sources.listed = setup.settings.extensions(app.env.home().as_deref());
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
        if !is_approved && !args.no_extensions && setup.project.as_ref().is_some_and(has_extensions) {
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
        let mut odd = Vec::new();
        let mut found = named(&self.given, &mut odd);
        found.iter_mut().for_each(|one| one.origin = Origin::CommandLine);
        found.extend(self.own.iter().flat_map(|directory| discover::in_user_directory(directory)));
        found.extend(named(&self.listed, &mut odd));
        match self.in_project() {
            Ok(some) => found.extend(some),
            Err(text) => odd.push(text),
        }
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

/// Returns true if a project has extensions.
fn has_extensions(project: &Project) -> bool {
    project.items.iter().any(|item| item.purpose == crate::trust::CODE)
}

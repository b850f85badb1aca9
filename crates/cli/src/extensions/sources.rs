//! Where extensions lie: on the command line, in the person's directories and settings, in a trusted project.
//!
//! Only looks. Looks anew whenever it is asked: files come and go, and a project that changed is not the one that was
//! trusted.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use offshoot_extensions::discover::{self, FoundExtension};

use super::Args;
use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::setup::Setup;
use crate::trust::Project;

/// Where extensions lie.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// Those of the command line.
    given: Vec<PathBuf>,
    /// The person's own directories: ours, then pi's.
    own: Vec<PathBuf>,
    /// Those that the settings name.
    listed: Vec<PathBuf>,
    /// The project, and the digest that was trusted.
    project: Option<(PathBuf, String)>,
}

impl Sources {
    /// Puts together where extensions are looked for. `with_project` says whether a trusted project counts: where
    /// nobody can be asked, only if the command line says so.
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

    /// Finds the extensions for a run without a user who could be asked for trust: those of the project are loaded only
    /// if `is_approved`.
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

    /// Tells whether there is nothing to load.
    pub(crate) fn is_empty(&self) -> bool {
        let (found, odd) = self.find();
        found.is_empty() && odd.is_empty()
    }

    /// Finds all extensions in the order in which they are loaded, each once; tells what is odd.
    pub(crate) fn find(&self) -> (Vec<FoundExtension>, Vec<String>) {
        let mut odd = Vec::new();
        let mut found = named(&self.given, &mut odd);
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

    /// Finds the extensions of the project, if it is still what was trusted.
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

/// Finds what paths name; tells which of them name nothing.
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

/// Tells whether a project has extensions.
fn has_extensions(project: &Project) -> bool {
    project.items.iter().any(|item| item.purpose == crate::trust::CODE)
}

//! `install`, and what `remove`, `update`, `list` and `config` share: the scope, its settings, the JSON of a package.

use std::path::Path;

use offshoot_extensions::discover;
use offshoot_extensions::package::Package;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::packages::{
    self, Declared, Installed, PackageOwner, Scope, Source, change_settings, entry_source,
};
use crate::setup::{Setup, UnusedProject};
use crate::trust::{self, Project, TrustFile};

/// Install a package of extensions, skills, prompt templates and themes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
SOURCE is npm:NAME, npm:NAME@VERSION, git:URL, git:URL@REF, or a path. A directory is used where it
is. Without SOURCE everything that the settings name and that is missing is installed.

The package is added to `packages` in your settings, or with --local in those of the project. A
package can contain programs, which run with your rights: look at it first.

Example:
  offshoot install npm:@example/tools@1.2.0")]
pub(crate) struct Args {
    /// The source of the package.
    #[arg(value_name = "SOURCE")]
    source: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Run the scripts of the package and of its dependencies while they are installed.
    #[arg(long, conflicts_with = "ignore_scripts")]
    allow_scripts: bool,
    /// Run no scripts (default).
    #[arg(long)]
    ignore_scripts: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

// The options about the owner of a package. (A documentation comment would replace the help of a command.)
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub(super) struct ScopeArgs {
    /// Change the settings of the project instead of your own.
    #[arg(long, short)]
    local: bool,
}

/// The JSON of a package that was installed, updated or removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedPackage {
    /// The source, as in the settings.
    pub(super) source: String,
    /// The version, or the commit; null if it is not known.
    pub(super) version: Option<String>,
    /// The directory; null if it is gone.
    pub(super) path: Option<String>,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let target = Target::open(args.scope, app)?;
    let mut changed = Vec::new();
    match &args.source {
        Some(text) => {
            let cwd = target.setup.cwd.clone();
            let source = target.parse(text, &cwd, app)?;
            let installed = add(&source, &target.scope, args.allow_scripts)?;
            target.declare(&source, text, app)?;
            changed.push(installed.changed(&target.stored(&source, text)));
        }
        None => {
            for package in target.declared(app) {
                if !package.is_installed() {
                    let installed = add(&package.source, &target.scope, args.allow_scripts)?;
                    changed.push(installed.changed(&package.text));
                }
            }
        }
    }
    report(&changed, "installed", args.json, app)
}

/// Installs a package, or looks at one that is used where it is.
fn add(source: &Source, scope: &Scope, allows_scripts: bool) -> Result<Installed, CommandError> {
    if source.is_copied() {
        return packages::install(source, scope, allows_scripts);
    }
    let root = packages::root_in(source, &scope.place(source));
    let is_usable = discover::by_path(&root).is_ok();
    let version = match Package::read(&root) {
        Ok(package) if package.has_resources() || is_usable => package.version,
        Err(_) if root.is_file() && is_usable => None,
        Ok(_) => {
            return Err(Failure::new(format!("{} has nothing that can be loaded", root.display()))
                .hint("a package has extensions, skills, prompts or themes")
                .into());
        }
        Err(reason) => return Err(Failure::new(reason).into()),
    };
    Ok(Installed { version, root })
}

/// Prints what was done.
pub(super) fn report(
    changed: &[ChangedPackage],
    verb: &str,
    is_json: bool,
    app: &mut App,
) -> Result<(), CommandError> {
    if is_json {
        return app.ui.json_list(changed.iter().map(Ok));
    }
    for package in changed {
        let version = package.version.as_ref().map(|version| format!(" ({version})")).unwrap_or_default();
        app.ui.tell(&format!("{verb} {}{version}", package.source))?;
    }
    if changed.is_empty() { app.ui.tell("there is nothing to do") } else { Ok(()) }
}

impl Installed {
    pub(super) fn changed(self, source: &str) -> ChangedPackage {
        let path = Some(self.root.display().to_string());
        ChangedPackage { source: source.to_owned(), version: self.version, path }
    }
}

/// The settings and directories that a command changes.
pub(super) struct Target {
    pub(super) setup: Setup,
    pub(super) scope: Scope,
    /// True if the project is trusted, so that it stays trusted after our own changes.
    trusts_project: bool,
}

impl Target {
    /// Finds what to change. A project must be trusted, or bring nothing yet.
    pub(super) fn open(args: ScopeArgs, app: &App) -> Result<Self, CommandError> {
        let (setup, unused) = Setup::read(app, trust::Args::default())?;
        if args.local
            && let Some(UnusedProject::Undecided { .. } | UnusedProject::Unreadable(_)) = unused
        {
            return Err(Failure::new("the packages of this project are not changed: it is not trusted")
                .hint("`offshoot trust` shows and trusts it")
                .into());
        }
        let scope = packages::scope(args.local, &setup)?;
        let is_new = Project::find(&setup.cwd)?.is_none();
        let trusts_project = args.local && (setup.project.is_some() || is_new);
        if args.local && !trusts_project {
            return Err(Failure::new(
                "the packages of this project are not changed: you refused to trust it",
            )
            .hint("`offshoot trust` changes that")
            .into());
        }
        Ok(Target { setup, scope, trusts_project })
    }

    pub(super) fn parse(&self, text: &str, base: &Path, app: &App) -> Result<Source, CommandError> {
        Ok(Source::parse(text, base, app.env.home().as_deref())?)
    }

    /// Returns the packages that the settings of this scope name.
    pub(super) fn declared(&self, app: &App) -> Vec<Declared> {
        let mut found = packages::declared(&self.setup, app, &mut Vec::new());
        found.retain(|package| package.owner == self.scope.owner);
        found
    }

    /// Returns a source as it is stored: paths with all their parts.
    pub(super) fn stored(&self, source: &Source, text: &str) -> String {
        match source {
            Source::Path(path) => path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string(),
            Source::Npm { .. } | Source::Git { .. } => text.trim().to_owned(),
        }
    }

    /// Adds a package to the settings, or replaces its source.
    fn declare(&self, source: &Source, text: &str, app: &App) -> Result<(), CommandError> {
        let stored = self.stored(source, text);
        self.change(app, |packages, target| {
            let known = packages.iter_mut().find(|entry| target.is(entry, source, app));
            match known {
                Some(Json::Object(entry)) => drop(entry.insert("source".to_owned(), stored.into())),
                Some(entry) => *entry = stored.into(),
                None => packages.push(stored.into()),
            }
            Ok(())
        })
    }

    /// Returns true if an entry of the settings names a package.
    pub(super) fn is(&self, entry: &Json, source: &Source, app: &App) -> bool {
        let base = self.scope.settings.parent().unwrap_or(Path::new("."));
        self.parse(entry_source(entry), base, app).is_ok_and(|own| own.identity() == source.identity())
    }

    /// Changes the list of packages. A trusted project stays trusted.
    pub(super) fn change<T>(
        &self,
        app: &App,
        change: impl FnOnce(&mut Vec<Json>, &Self) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let done = change_settings(&self.scope.settings, |packages| change(packages, self))?;
        self.keep_trust(app)?;
        Ok(done)
    }

    /// Trusts the project as the user has just changed it.
    pub(super) fn keep_trust(&self, app: &App) -> Result<(), CommandError> {
        if self.scope.owner == PackageOwner::Project && self.trusts_project {
            let dir = self.scope.settings.ancestors().nth(2).unwrap_or(Path::new("."));
            if let Some(project) = Project::at(dir)? {
                TrustFile::in_directory(&app.env.state_dir()?).remember(&project, true)?;
            }
        }
        Ok(())
    }

    /// Finds a package that the settings name, by its source or its name.
    pub(super) fn find(&self, text: &str, app: &App) -> Result<Declared, CommandError> {
        let declared = self.declared(app);
        let wanted = self.parse(text, &self.setup.cwd, app).ok().map(|source| source.identity());
        let is_it = |package: &&Declared| {
            let identity = package.source.identity();
            package.text == text
                || Some(&identity) == wanted.as_ref()
                || identity.split_once(':').is_some_and(|(_, name)| name == text)
        };
        declared.iter().find(is_it).cloned().ok_or_else(|| {
            Failure::new(format!("there is no package {text} in {}", self.scope.settings.display()))
                .hint("`offshoot list` lists the packages; `--local` means those of the project")
                .into()
        })
    }
}

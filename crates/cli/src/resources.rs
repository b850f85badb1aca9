//! The places of skills, prompt templates and themes, and the options that choose among them.
//!
//! command line, project, user, packages -> **files** -> resources of the agent
//!
//! The first resource of a name counts. Nothing of a project is read that is not currently trusted.

use std::path::{Path, PathBuf};

use offshoot_agent::resources::{LooseFiles, Resources, skill_files, template_files};
use offshoot_extensions::package::{Patterns, ResourceKind, is_override};

use crate::app::App;
use crate::packages::{self, Declared};
use crate::settings::ListedPath;
use crate::setup::Setup;
use crate::slash;
use crate::trust;

// The options about skills and prompt templates. (A documentation comment would replace the help of a command.)
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Load this skill, a file or a directory; can be repeated.
    #[arg(long = "skill", value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    skills: Vec<PathBuf>,
    /// Load no skills but those of `--skill`.
    #[arg(long)]
    no_skills: bool,
    /// Load this prompt template, a file or a directory; can be repeated.
    #[arg(long = "prompt-template", value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    templates: Vec<PathBuf>,
    /// Load no prompt templates but those of `--prompt-template`.
    #[arg(long)]
    no_prompt_templates: bool,
}

impl Args {
    /// Loads all resources; `packages` are those of the command line. Problems are warnings of the result.
    pub(crate) fn load(&self, packages: &[PathBuf], setup: &Setup, app: &App) -> Resources {
        let mut resources = Resources::default();
        let cwd = &setup.cwd;
        self.skills.iter().for_each(|path| resources.add_skills_at(&cwd.join(path)));
        self.templates.iter().for_each(|path| resources.add_templates_at(&cwd.join(path)));
        let mut places = Places::new(setup, app);
        for package in packages.iter().map(|path| Declared::at(&cwd.join(path))) {
            let mut find = |kind| package.enabled(kind, &mut places.warnings);
            find(ResourceKind::Skills).iter().for_each(|path| resources.add_skill(path));
            find(ResourceKind::Prompts).iter().for_each(|path| resources.add_template(path));
            resources.themes.extend(find(ResourceKind::Themes));
        }
        if !self.no_skills {
            places.find(ResourceKind::Skills).iter().for_each(|path| resources.add_skill(path));
        }
        if !self.no_prompt_templates {
            places.find(ResourceKind::Prompts).iter().for_each(|path| resources.add_template(path));
        }
        resources.themes.extend(places.find(ResourceKind::Themes));
        places.warnings.into_iter().for_each(|text| resources.warn(text));
        warn_of_commands(&mut resources);
        resources
    }
}

/// Warns about templates that the chat cannot reach.
fn warn_of_commands(resources: &mut Resources) {
    let templates: Vec<(String, PathBuf)> = resources
        .commands()
        .filter(|command| command.source == "prompt")
        .map(|command| (command.name, command.path.to_owned()))
        .collect();
    if templates.is_empty() {
        return;
    }
    let own: Vec<String> = slash::specs().into_iter().map(|command| command.name).collect();
    for (name, path) in templates.iter().filter(|(name, _)| own.contains(name)) {
        resources.warn(format!("prompt template {}: /{name} is a command of offshoot", path.display()));
    }
}

/// The places of resources besides the command line.
struct Places<'a> {
    setup: &'a Setup,
    home: Option<PathBuf>,
    packages: Vec<Declared>,
    warnings: Vec<String>,
}

impl<'a> Places<'a> {
    fn new(setup: &'a Setup, app: &App) -> Self {
        // Problems with declarations are reported when extensions are loaded.
        let packages = packages::declared(setup, app, &mut Vec::new());
        Places { setup, home: app.env.home().map(PathBuf::from), packages, warnings: Vec::new() }
    }

    /// Finds all files of a kind: those of the project, then those of the user.
    fn find(&mut self, kind: ResourceKind) -> Vec<PathBuf> {
        let mut found = self.in_project(kind);
        found.extend(self.of_user(kind));
        for package in &self.packages {
            found.extend(package.enabled(kind, &mut self.warnings));
        }
        found
    }

    fn in_project(&mut self, kind: ResourceKind) -> Vec<PathBuf> {
        let Some(project) = &self.setup.project else { return Vec::new() };
        let dir = project.dir.clone();
        let mut found = self.in_directory(&dir.join(".offshoot"), kind);
        found.extend(self.in_directory(&dir.join(".pi"), kind));
        if kind == ResourceKind::Skills {
            let root = trust::root(&dir);
            let up: Vec<&Path> =
                dir.ancestors().take_while(|directory| directory.starts_with(root)).collect();
            found.extend(up.into_iter().flat_map(|directory| self.agents_skills(directory)));
            found.extend(self.in_directory(&dir.join(".claude"), kind));
        }
        found
    }

    fn of_user(&mut self, kind: ResourceKind) -> Vec<PathBuf> {
        let listed = self.setup.settings.resources(kind.key(), self.home.as_deref());
        let own = self.setup.config_dir().to_owned();
        let mut found = self.listed_and_found(kind, listed, &own);
        if let Some(pi) = self.setup.pi.clone() {
            let listed = pi.listed(kind.key(), self.home.as_deref());
            found.extend(self.listed_and_found(kind, listed, &pi.dir));
        }
        found
    }

    /// Finds the files that a settings file lists and those of its directory, as the patterns in the list allow.
    fn listed_and_found(&mut self, kind: ResourceKind, listed: Vec<ListedPath>, base: &Path) -> Vec<PathBuf> {
        let (patterns, paths): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|listed| is_override(&listed.text));
        let patterns = Patterns::new(patterns.iter().map(|listed| listed.text.as_str()));
        let mut found = Vec::new();
        for listed in paths {
            found.extend(self.at(&listed.path, kind).into_iter().map(|file| (file, base.to_owned())));
        }
        found.extend(self.in_directory(base, kind).into_iter().map(|file| (file, base.to_owned())));
        let is_own = base == self.setup.config_dir() && kind == ResourceKind::Skills;
        if let Some(home) = self.home.clone().filter(|_| is_own) {
            let (agents, claude) = (home.join(".agents"), home.join(".claude"));
            found.extend(self.agents_skills(&home).into_iter().map(|file| (file, agents.clone())));
            found.extend(self.in_directory(&claude, kind).into_iter().map(|file| (file, claude.clone())));
        }
        found.retain(|(file, base)| patterns.allows(file, base));
        found.into_iter().map(|(file, _)| file).collect()
    }

    /// Finds the files in the directory of a kind.
    fn in_directory(&mut self, base: &Path, kind: ResourceKind) -> Vec<PathBuf> {
        let directory = base.join(kind.key());
        match kind {
            ResourceKind::Skills => skill_files(&directory, LooseFiles::Direct, &mut self.warnings),
            ResourceKind::Prompts => template_files(&directory),
            ResourceKind::Themes => files_with_ending(&directory, "json"),
            // The loader of extensions finds those itself.
            ResourceKind::Extensions => Vec::new(),
        }
    }

    fn agents_skills(&mut self, directory: &Path) -> Vec<PathBuf> {
        skill_files(&directory.join(".agents/skills"), LooseFiles::Nested, &mut self.warnings)
    }

    /// Returns the files of a path that a setting lists.
    fn at(&mut self, path: &Path, kind: ResourceKind) -> Vec<PathBuf> {
        if path.is_file() {
            return vec![path.to_owned()];
        }
        if !path.is_dir() {
            self.warnings.push(format!("the setting `{}`: {} does not exist", kind.key(), path.display()));
            return Vec::new();
        }
        match kind {
            ResourceKind::Skills => skill_files(path, LooseFiles::Direct, &mut self.warnings),
            ResourceKind::Prompts => template_files(path),
            ResourceKind::Themes => files_with_ending(path, "json"),
            ResourceKind::Extensions => Vec::new(),
        }
    }
}

/// Returns the visible files in a directory with an ending, sorted.
fn files_with_ending(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_wanted = |path: &PathBuf| {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !is_hidden && path.extension().is_some_and(|own| own == ending) && path.is_file()
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_wanted).collect();
    found.sort();
    found
}

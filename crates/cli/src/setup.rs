//! The set-up of every front end: the effective settings, the project if it is trusted, and the models.
//!
//! configuration directory, working directory -> trust -> **setup** -> instructions, providers
//!
//! Reports warnings about settings and the unused parts of the project. Asks no questions, writes nothing.

use std::path::{Path, PathBuf};

use offshoot_agent::secrets::Secrets;
use offshoot_agent::system::{Instructions, context_file, context_files};
use offshoot_extensions::theme::Themes;
use offshoot_providers::{Catalogue, Credentials, CredentialsFile, Providers, Secret};

use crate::app::App;
use crate::database::Databases;
use crate::error::CommandError;
use crate::pi::{PiSetup, PiUse};
use crate::project_file::{KeptRules, read_if_present};
use crate::settings::Settings;
use crate::trust::{self, Project, TrustFile, TrustState};

/// The set-up of a front end.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The effective settings.
    pub(crate) settings: Settings,
    /// The project, if it is trusted and would load anything.
    pub(crate) project: Option<Project>,
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// pi's set-up, if the user wants it.
    pub(crate) pi: Option<PiSetup>,
    /// pi's set-up, if the user has not decided.
    pub(crate) undecided_pi: Option<PiSetup>,
    config: PathBuf,
    databases: Databases,
    /// Files that control the program; tools ask before they open them.
    private_files: Vec<PathBuf>,
}

impl Setup {
    /// Reads the settings of the user and of a trusted project. Reports warnings and an unused project.
    pub(crate) fn load(app: &mut App, trust: trust::Args) -> Result<Self, CommandError> {
        let (setup, left_out) = Self::read(app, trust)?;
        let words = setup.warnings().into_iter().chain(left_out.iter().flat_map(UnusedProject::words));
        for text in words.collect::<Vec<_>>() {
            app.ui.tell(&text)?;
        }
        for text in setup.undecided_pi.iter().flat_map(PiSetup::words) {
            app.ui.tell(&text)?;
        }
        Ok(setup)
    }

    /// Reads the settings of the user and of a trusted project. Returns an unused project.
    pub(crate) fn read(app: &App, trust: trust::Args) -> Result<(Self, Option<UnusedProject>), CommandError> {
        let config = app.env.config_dir()?;
        let cwd = PathBuf::from(app.env.cwd()?);
        let mut settings = Settings::read(&config)?;
        let (project, left_out) = match trusted_project(app, trust, &settings, &cwd)? {
            None => (None, None),
            Some(Ok(project)) => (Some(project), None),
            Some(Err(left_out)) => (None, Some(left_out)),
        };
        if let Some((path, text)) =
            project.as_ref().and_then(|project| project.text(&[".offshoot/settings.json"]))
        {
            settings = settings.with_project(path, text)?;
        }
        let private_files = private_files(app, &config);
        let databases = app.databases.clone();
        let (pi, undecided_pi) = match PiUse::find(app, &settings)? {
            PiUse::Used(pi) => (Some(pi), None),
            PiUse::Undecided(pi) => (None, Some(pi)),
            PiUse::Unused => (None, None),
        };
        Ok((Setup { settings, project, cwd, pi, undecided_pi, config, databases, private_files }, left_out))
    }

    /// Returns the warnings about the settings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.settings.warnings().map(|warning| format!("warning: {warning}")).collect()
    }

    /// Returns the directory of the user's settings, keys and extensions.
    pub(crate) fn config_dir(&self) -> &Path {
        &self.config
    }

    /// Returns the rules that the user has allowed always in this project.
    pub(crate) fn project_rules(&self) -> KeptRules {
        KeptRules::of_project(&self.config, &self.cwd)
    }

    /// Returns the rules that the user has allowed always in all projects.
    pub(crate) fn user_rules(&self) -> KeptRules {
        KeptRules::everywhere(&self.config)
    }

    /// Returns the models with their keys.
    pub(crate) fn providers(&self) -> Result<Providers, CommandError> {
        let credentials = Credentials::from_environment().with_file(&credentials_file(&self.config))?;
        Ok(Providers::new(Catalogue::built_in().merged(self.settings.models()), credentials))
    }

    /// Returns the variables that commands do not inherit, the files that tools do not open and the texts to mask.
    pub(crate) fn secrets(&self) -> Result<Secrets, CommandError> {
        let providers = self.providers()?;
        let keys = providers.secrets();
        Ok(Secrets::new()
            .denying([credentials_file(&self.config).path().to_owned()])
            .asking_for(self.private_files.iter().cloned())
            .masking(keys.iter().map(Secret::reveal))
            .masking(self.databases.passwords().iter().map(String::as_str))
            .withholding(providers.keys().into_iter().flat_map(|key| key.variables))
            .passing(self.settings.passed_variables()))
    }

    /// Returns the files that name MCP servers: that of the user, then those of a trusted project.
    pub(crate) fn mcp_files(&self) -> Result<Vec<McpFile>, CommandError> {
        let path = self.config.join(MCP);
        let own = read_if_present(&path)?.map(|text| McpFile { path, text, is_project: false });
        let of_project = PROJECT_MCP.iter().filter_map(|name| {
            let (path, text) = self.project.as_ref()?.text(&[name])?;
            Some(McpFile { path, text: text.to_owned(), is_project: true })
        });
        Ok(own.into_iter().chain(of_project).collect())
    }

    /// Reads themes. Returns warnings about files that cannot be used.
    pub(crate) fn themes(&self, app: &App, files: &[PathBuf]) -> (Themes, Vec<String>) {
        let themes = Themes::default();
        let mut problems = themes.load(files);
        themes.set_mode(app.env.color_mode(app.ui.is_plain()));
        if let Some(name) = self.settings.theme_name() {
            problems.extend(themes.choose(&name).err());
        }
        (themes, problems)
    }

    /// Returns the instructions for models: those of the user, then those of the project.
    ///
    /// Context files are read from any project, because a model could read them by itself. Files that replace or extend
    /// the system prompt are read only from a trusted project.
    pub(crate) fn instructions(&self, with_context_files: bool) -> Result<Instructions, CommandError> {
        let mut instructions = Instructions::default();
        let of_project = |name: &str| {
            let names = [format!(".offshoot/{name}"), format!(".pi/{name}")];
            let found = self.project.as_ref()?.text(&names.each_ref().map(String::as_str))?;
            Some(found.1.to_owned())
        };
        let own = |name: &str| read_if_present(&self.config.join(name));
        instructions.base = of_project(SYSTEM).or(own(SYSTEM)?);
        instructions.appended.extend(of_project(APPEND_SYSTEM).or(own(APPEND_SYSTEM)?));
        if with_context_files {
            instructions.files.extend(self.pi.as_ref().and_then(|pi| context_file(&pi.dir)));
            instructions.files.extend(context_file(&self.config));
            instructions.files.extend(context_files(trust::root(&self.cwd), &self.cwd));
        }
        Ok(instructions)
    }
}

/// The MCP servers of the user.
const MCP: &str = "mcp.json";
/// The MCP servers of a project.
const PROJECT_MCP: [&str; 3] = [".offshoot/mcp.json", ".pi/mcp.json", ".mcp.json"];
/// Replaces the default system prompt.
const SYSTEM: &str = "SYSTEM.md";
/// Is added after it.
const APPEND_SYSTEM: &str = "APPEND_SYSTEM.md";

/// Returns the credentials file.
pub(crate) fn credentials_file(config: &Path) -> CredentialsFile {
    CredentialsFile::new(config.join("credentials.json"))
}

/// Returns the files that control the program.
fn private_files(app: &App, config: &Path) -> Vec<PathBuf> {
    let trust = app.env.state_dir().ok().map(|state| TrustFile::in_directory(&state).path().to_owned());
    let rules = KeptRules::everywhere(config).path().to_owned();
    [config.join("settings.json"), config.join(MCP), rules].into_iter().chain(trust).collect()
}

/// A file that names MCP servers.
#[derive(Debug)]
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "used with the feature `mcp`"))]
pub(crate) struct McpFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// True for a file of a project.
    pub(crate) is_project: bool,
}

/// A project that is not used, and the reason.
#[derive(Debug)]
pub(crate) enum UnusedProject {
    /// The project cannot be read.
    Unreadable(String),
    /// The user has not trusted the current files.
    Undecided {
        /// The project.
        project: Box<Project>,
        /// True if the user trusted other content.
        is_changed: bool,
    },
}

impl UnusedProject {
    /// Describes the reason and the command to decide.
    pub(crate) fn words(&self) -> Vec<String> {
        let (project, is_changed) = match self {
            UnusedProject::Unreadable(why) => {
                return vec![format!("note: nothing of this project is used: {why}")];
            }
            UnusedProject::Undecided { project, is_changed } => (project, *is_changed),
        };
        let why = if is_changed { "changed since you trusted it" } else { "is not trusted yet" };
        let first = project.items.first().map(|item| item.path.display().to_string()).unwrap_or_default();
        let more = if project.items.len() > 1 { " and more" } else { "" };
        vec![
            format!("note: {first}{more} of this project is not used: it {why}"),
            "hint: `offshoot trust` shows and trusts it, `--approve` uses it once".to_owned(),
        ]
    }
}

/// Returns the project if it is trusted, else the reason why it is not used.
fn trusted_project(
    app: &App,
    trust: trust::Args,
    settings: &Settings,
    cwd: &Path,
) -> Result<Option<Result<Project, UnusedProject>>, CommandError> {
    if trust.refuses() {
        return Ok(None);
    }
    let found = match Project::find(cwd) {
        Ok(found) => found,
        Err(error) if trust.is_used() => return Err(error),
        Err(error) => {
            let why = error.failure().map(|failure| failure.message.clone()).unwrap_or_default();
            return Ok(Some(Err(UnusedProject::Unreadable(why))));
        }
    };
    let Some(project) = found else { return Ok(None) };
    let file = TrustFile::in_directory(&app.env.state_dir()?);
    let undecided = |project, is_changed| {
        Ok(Some(Err(UnusedProject::Undecided { project: Box::new(project), is_changed })))
    };
    match trust.standing(&project, &file, settings.default_trust())? {
        TrustState::Trusted => Ok(Some(Ok(project))),
        TrustState::Refused => Ok(None),
        TrustState::Changed => undecided(project, true),
        TrustState::Undecided => undecided(project, false),
    }
}

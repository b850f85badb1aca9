//! The program as the chat sees it: commands, settings, models, extensions and files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, CherryPick, MergeDraft};
use offshoot_agent::error::AgentError;
use offshoot_agent::handle::{AgentHandle, Reply};
use offshoot_agent::model::Model;
use offshoot_agent::permission::Rule;
use offshoot_agent::shared::SharedSession;
use offshoot_agent::tools::ToolBox;
use offshoot_extensions::host::{FrontEnd, Host, Mode};
use offshoot_extensions::theme::Themes;
use offshoot_providers::{OfflineModel, Providers};
use offshoot_tui::app::{
    self as chat, AvailableModel, ChangeCommand, ChatSettings, ErrorText, Line, Report, RuleScope, RunChange,
    Services, SessionChange, TrustQuestion,
};
use offshoot_tui::chat::working::Activity;
use offshoot_tui::keys::Keymap;
use offshoot_web::ExportOptions;
use session_tree::{Catalog, Options, Session, SessionSummary};

use super::presence::{self, Presence};
use super::trash::Trash;
use crate::app::App;
use crate::cmd::{self, Outcome, SessionCommand, Work};
use crate::database;
use crate::error::{CommandError, chain};
use crate::exporting::{Export, Form, default_name, free, new_header};
use crate::extensions::{self, Extended, ExtensionFrontEnd, Sources};
use crate::mcp::ToolServers;
use crate::setup::{Setup, UnusedProject};
use crate::slash::{self, Slash};
use crate::talk;
use crate::trust::{CODE_NOTE, Project, TrustFile};

/// The program as the chat sees it.
pub(super) struct ChatServices<'a> {
    app: &'a App,
    args: &'a talk::Args,
    setup: Setup,
    providers: Providers,
    /// The sources of extensions, until the host is created.
    sources: Option<Sources>,
    extended: Option<Extended>,
    servers: ToolServers,
    presence: Presence,
    themes: Arc<Themes>,
    trash: Trash,
    /// The reloaded setup, and the project that it does not use.
    again: Option<(Setup, Option<Box<Project>>)>,
}

impl<'a> ChatServices<'a> {
    pub(super) fn new(
        app: &'a App,
        args: &'a talk::Args,
        setup: Setup,
        sources: Sources,
        servers: ToolServers,
        themes: Themes,
    ) -> Result<Self, CommandError> {
        Ok(ChatServices {
            providers: setup.providers()?,
            app,
            args,
            setup,
            sources: Some(sources),
            extended: None,
            servers,
            presence: Presence::default(),
            themes: Arc::new(themes),
            trash: Trash::default(),
            again: None,
        })
    }

    /// Returns the command that applies a change.
    fn change(
        &self,
        activity: Option<Activity>,
        change: impl AsyncFnOnce(&mut Work<'_>) -> Outcome + 'static,
    ) -> ChangeCommand {
        let mut app = self.app.capturing(None);
        let run: Box<RunChange> = Box::new(|agent, cancel| {
            let (agent, cancel) = (agent.clone(), cancel.clone());
            Box::pin(async move {
                let mut work =
                    Work { agent: &agent, app: &mut app, dry_run: false, is_chat: true, cancel: &cancel };
                match change(&mut work).await {
                    Ok(change) => {
                        Ok(Applied::Done(SessionChange { text: change.text(), effect: change.effect }))
                    }
                    Err(CommandError::Interrupted) => Ok(Applied::Cancelled(CancelledBy::User)),
                    Err(CommandError::CancelledByHook(name, _)) => {
                        Ok(Applied::Cancelled(CancelledBy::Hook(name)))
                    }
                    Err(error) => Err(error.into()),
                }
            })
        });
        ChangeCommand { activity, run }
    }

    fn session_command(&self, command: SessionCommand, line: &str) -> chat::SessionCommand {
        match command {
            SessionCommand::Fork(args) if args.at.is_none() => {
                let in_tree = line.starts_with("/branch") && self.setup.settings.chooses_tree();
                chat::SessionCommand::ChooseFork { in_tree }
            }
            SessionCommand::CherryPick(args) => chat::SessionCommand::CherryPick(args.request()),
            SessionCommand::Merge(args) if !args.no_review => chat::SessionCommand::Merge(args.request(true)),
            SessionCommand::Push(args) if !args.force => chat::SessionCommand::Push(args.name.join(" ")),
            command => {
                let activity = match &command {
                    SessionCommand::Compact(_) => Some(Activity::Compaction),
                    command => command.writes_summary().then_some(Activity::Summary),
                };
                let run = async move |work: &mut Work<'_>| command.run(work).await;
                chat::SessionCommand::Change(self.change(activity, run))
            }
        }
    }

    /// Prints a report into a text.
    fn print(
        &self,
        columns: usize,
        print: impl FnOnce(&mut App) -> Result<(), CommandError>,
    ) -> Result<String, ErrorText> {
        let mut app = self.app.capturing(Some(columns));
        print(&mut app)?;
        Ok(app.ui.captured().trim_end().to_owned())
    }
}

impl Services for ChatServices<'_> {
    fn settings(&self) -> Result<ChatSettings, ErrorText> {
        let (keymap, warnings) = keymap(self.app, &self.setup)?;
        let settings = &self.setup.settings;
        Ok(ChatSettings {
            keymap,
            warnings,
            double_escape: settings.double_escape(),
            tree_filter: settings.tree_filter(),
            skips_summary_question: settings.skips_summary_question(),
            shows_hook_cancel: settings.shows_hook_cancel(),
        })
    }

    fn options(&self) -> Options {
        self.app.options()
    }

    fn catalogs(&self) -> Vec<Catalog> {
        self.app.catalogs().into_iter().flatten().collect()
    }

    fn find_session(&self, wanted: &str) -> Result<PathBuf, ErrorText> {
        Ok(self.app.find(wanted)?)
    }

    fn trash(&mut self, file: &Path) -> io::Result<()> {
        if database::is_address(file) {
            return Err(io::Error::other("`offshoot db delete` deletes a session of a database"));
        }
        let state = self.app.env.state_dir();
        let state = state.map_err(|_| io::Error::other("no state directory for the trash"))?;
        self.trash.add(&state, file)
    }

    fn restore(&mut self, file: &Path) -> io::Result<()> {
        self.trash.restore(file)
    }

    fn announce(&mut self, session_id: &str) {
        if let Ok(state) = self.app.env.state_dir() {
            self.presence.announce(&state, session_id);
        }
    }

    fn open_elsewhere(&self, sessions: &[SessionSummary]) -> HashSet<PathBuf> {
        let Ok(state) = self.app.env.state_dir() else { return HashSet::new() };
        let names = presence::held(&state);
        let is_open = |row: &&SessionSummary| names.contains(&presence::name(&row.id));
        sessions.iter().filter(is_open).map(|row| row.path.clone()).collect()
    }

    fn is_open_elsewhere(&self, session_id: &str) -> bool {
        self.app.env.state_dir().is_ok_and(|state| presence::is_held(&state, session_id))
    }

    fn damage(&self, session: &Session) -> Option<String> {
        talk::damage(session)
    }

    fn parse(&self, line: &str) -> Line {
        match slash::parse(line) {
            slash::Line::Command(command) => match *command {
                Slash::Chat(command) => Line::Chat(command),
                Slash::Session(command) => Line::Session(self.session_command(command, line)),
            },
            slash::Line::Incomplete(name) => Line::Incomplete(name),
            slash::Line::Help(help) => Line::Help(help),
            slash::Line::Wrong(error) => Line::Wrong(error),
            slash::Line::Unknown(name, near) => Line::Unknown(name, near),
            slash::Line::Text => Line::Text,
        }
    }

    fn parse_words(&self, words: &[&str]) -> Result<chat::SessionCommand, ErrorText> {
        match slash::parse_words(words)? {
            Slash::Session(command) => Ok(self.session_command(command, "")),
            Slash::Chat(_) => Err(format!("/{} does not change the session", words.join(" "))),
        }
    }

    fn open_source(&self, reference: &str) -> Result<(Option<SharedSession>, String), ErrorText> {
        Ok(cmd::cherry_pick::open_source(reference, self.app)?)
    }

    fn apply_pick(&self, pick: CherryPick) -> ChangeCommand {
        self.change(None, async move |work| cmd::cherry_pick::apply(pick, work).await)
    }

    fn apply_merge(&self, draft: MergeDraft) -> ChangeCommand {
        self.change(None, async move |work| cmd::merge::apply(&draft, work).await)
    }

    fn report(&self, report: Report<'_>, session: &Session, columns: usize) -> Result<String, ErrorText> {
        match report {
            Report::Tree => self.print(columns, |app| cmd::print_tree(session, app)),
            Report::Stats => self.print(columns, |app| cmd::print_stats(session, app)),
            Report::Diff(one, other) => self.print(columns, |app| cmd::print_diff(session, one, other, app)),
            Report::ToolServers => Ok(self.servers.report()),
            Report::Log(count) => Ok(match crate::log::recent(count) {
                lines if lines.is_empty() => {
                    "The log is empty. OFFSHOOT_LOG=debug in the environment logs more, also to a file."
                        .to_owned()
                }
                lines => lines.join("\n"),
            }),
            Report::Settings => {
                let lines = self.setup.settings.list().into_iter().map(|listed| {
                    let from = listed.files.last().map_or("(default)", String::as_str);
                    format!("{:<32} {:<20} {from}", listed.key, listed.value.to_string())
                });
                Ok(lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }

    fn export(&self, file: &str, agent: &AgentHandle, stop: &Cancel) -> Result<chat::Export, ErrorText> {
        let file = file.trim_matches(['"', '\'']);
        let (name, header, saved) = agent.read(|session| {
            let leaf = session.leaf().map(|leaf| session.tree().id(leaf).to_string());
            let saved = session.file().filter(|_| session.is_saved()).map(|file| (file.to_path_buf(), leaf));
            (default_name(session), new_header(session, self.app), saved)
        });
        let path = self.setup.cwd.join(if file.is_empty() { name.as_os_str() } else { file.as_ref() });
        let form = free(&path).and_then(|path| Form::of(&path))?;
        let options = ExportOptions { home: self.app.env.home(), ..ExportOptions::default() };
        let export = Export { form, options, has_all: false, header };
        let (to, stop, options) = (path.clone(), stop.clone(), self.app.options());
        let write = move |session: &Session| -> Result<(), ErrorText> {
            Ok(export.write_file(session, &to, false, &mut |_, _| {}, &stop).map(drop)?)
        };
        let Some((file, leaf)) = saved else {
            let written = agent.read(write);
            return Ok(chat::Export { path, work: Box::pin(async { written }) });
        };
        // The file is read again on another thread, because a large one takes a while.
        let open = move || -> Result<Session, CommandError> {
            let mut session = options.open_read_only(file)?;
            match leaf {
                Some(leaf) => session.branch(&leaf)?,
                None => session.reset_leaf(),
            }
            Ok(session)
        };
        let work = async move {
            let writing = tokio::task::spawn_blocking(move || write(&open()?));
            writing.await.unwrap_or_else(|error| Err(chain(&error)))
        };
        Ok(chat::Export { path, work: Box::pin(work) })
    }

    fn describe(&self, error: AgentError) -> ErrorText {
        CommandError::from(error).into()
    }

    fn keep_rule(&self, rule: &Rule, scope: RuleScope) -> Result<(), ErrorText> {
        let rules = match scope {
            RuleScope::Project => self.setup.project_rules(),
            RuleScope::User => self.setup.user_rules(),
        };
        Ok(rules.add(rule)?)
    }

    fn models(&self) -> Vec<AvailableModel> {
        let own: Vec<_> =
            self.extended.iter().flat_map(Extended::own_models).map(|model| model.spec().clone()).collect();
        let listed = self.providers.models().into_iter();
        let others = listed.filter(|model| own.iter().all(|own| own.provider != model.spec.provider));
        let others: Vec<_> =
            others.map(|model| AvailableModel { spec: model.spec, has_key: model.has_key }).collect();
        own.into_iter().map(|spec| AvailableModel { spec, has_key: true }).chain(others).collect()
    }

    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ErrorText> {
        if let Some(model) = self.extended.as_ref().and_then(|extended| extended.model(name)) {
            return Ok(model);
        }
        self.providers.model(name).map_err(|error| CommandError::from(error).into())
    }

    fn themes(&self) -> Arc<Themes> {
        self.themes.clone()
    }

    fn is_offline(&self, provider: &str) -> bool {
        provider == OfflineModel::PROVIDER
    }

    fn has_extensions(&self) -> bool {
        self.sources.as_ref().is_some_and(|sources| !sources.is_empty())
    }

    fn make_host(
        &mut self,
        agent: &AgentHandle,
        front_end: FrontEnd,
    ) -> Result<Option<Arc<Host>>, ErrorText> {
        let sources = match self.sources.take() {
            Some(sources) => sources,
            None => Sources::new(&self.args.extensions, &self.setup, true, self.app)?,
        };
        let output = ExtensionFrontEnd { mode: Mode::Tui, front_end, themes: self.themes.clone() };
        let (args, setup) = (&self.args.extensions, &self.setup);
        self.extended = Extended::new(args, sources, agent, setup, output, self.app)?;
        Ok(self.extended.as_ref().map(|extended| {
            extended.host.tools.want(self.args.wanted_tools());
            self.servers.use_host(&extended.host);
            extended.host.clone()
        }))
    }

    fn load_extensions(&self, agent: &AgentHandle, is_first: bool) -> Result<Reply<()>, ErrorText> {
        let instructions = self.args.instructions(&self.setup)?;
        let extended = self.extended.as_ref();
        Ok(match is_first {
            true => extensions::start(agent, extended, Some(instructions)),
            false => agent.reload(extended.map(|extended| extended.system_prompt(instructions))),
        })
    }

    fn check_extensions(&self) -> Result<(), ErrorText> {
        let known = self.extended.as_ref();
        let tools = known.map_or_else(ToolBox::all, |extended| extended.host.tools.all());
        self.args.extensions.check_flags(known)?;
        self.args.extensions.check_model(known)?;
        Ok(self.args.check_tools(&tools)?)
    }

    fn read_again(&mut self) -> Result<Option<TrustQuestion>, ErrorText> {
        let (setup, left_out) = self.args.setup_again(self.app)?;
        let Some(UnusedProject::Undecided { project, is_changed }) = left_out else {
            self.again = Some((setup, None));
            return Ok(None);
        };
        let items = project.items.iter();
        let mut files: Vec<String> =
            items.map(|item| format!("{} {}", item.purpose, item.path.display())).collect();
        if project.has_code() {
            files.push(format!("\nnote: {CODE_NOTE}"));
        }
        self.again = Some((setup, Some(project)));
        Ok(Some(TrustQuestion { is_changed, files }))
    }

    fn trust_project(&mut self) -> Result<(), ErrorText> {
        if let Some((_, Some(project))) = &self.again {
            TrustFile::in_directory(&self.app.env.state_dir()?).remember(project, true)?;
        }
        self.again = Some((self.args.setup_again(self.app)?.0, None));
        Ok(())
    }

    fn use_again(&mut self, agent: &AgentHandle) -> Result<Reply<()>, ErrorText> {
        if let Some((setup, _)) = self.again.take() {
            self.setup = setup;
        }
        self.providers = self.setup.providers()?;
        if let Some(extended) = &self.extended {
            extended.set_sources(Sources::new(&self.args.extensions, &self.setup, true, self.app)?);
        }
        self.servers.restart(self.args, &self.setup, agent)?;
        self.servers.problems().iter().for_each(|problem| agent.warn(problem));
        let resources = self.args.resources.load(self.args.extensions.paths(), &self.setup, self.app);
        resources.warnings().iter().for_each(|text| agent.warn(text));
        let system = self.args.system_prompt(&self.setup, &resources)?;
        drop(agent.set_resources(resources));
        let settings = self.args.agent_settings(&self.setup);
        Ok(agent.configure(settings, Arc::new(self.setup.secrets()?), system))
    }
}

impl From<CommandError> for ErrorText {
    /// Returns the message with its hints.
    fn from(error: CommandError) -> Self {
        let Some(failure) = error.failure() else { return "stopped".to_owned() };
        let hints = failure.hints.iter().map(|hint| format!("\nhint: {hint}"));
        format!("{}{}", failure.message, hints.collect::<String>())
    }
}

/// Reads the key bindings, and warnings about invalid ones.
fn keymap(app: &App, setup: &Setup) -> Result<(Keymap, Vec<String>), CommandError> {
    let preset = setup.settings.keymap();
    let path = app.env.config_dir()?.join("keybindings.json");
    match fs::read_to_string(&path) {
        Ok(text) => {
            let (keymap, errors) = Keymap::with_file(preset, &text);
            Ok((keymap, errors.iter().map(|error| format!("{}: {error}", path.display())).collect()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((Keymap::new(preset), Vec::new())),
        Err(error) => Err(CommandError::system("read", &path, &error)),
    }
}

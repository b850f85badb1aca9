//! The program as servers see it: commands, models, session files and exports.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::{Model, ModelSpec};
use offshoot_providers::{OfflineModel, Providers};
use offshoot_server::program::{CommandFuture, List, SessionsQuery, TextFuture, TypedCommand};
use offshoot_server::{Failure, FailureKind, Program};
use offshoot_web::ExportOptions;
use serde::Serialize;
use serde_json::Value as Json;
use session_tree::{Options, Session};

use crate::app::App;
use crate::cmd::sessions::Sort;
use crate::cmd::{Work, branches, labels, sessions};
use crate::error::CommandError;
use crate::exporting::{Export, Form, default_name, free, new_header};
use crate::extensions::Extended;
use crate::interactive::trash::Trash;
use crate::setup::Setup;
use crate::slash::{self, Line, Slash};

/// The commands that can be typed into an editor. Others open another session, which the editor would not know.
const TYPED: [&str; 12] = [
    "switch",
    "branch-here",
    "undo",
    "pop",
    "push",
    "label",
    "name",
    "compact",
    "cherry-pick",
    "merge",
    "export-branch",
    "permissions",
];

/// The program as servers see it.
pub(crate) struct ServerProgram {
    app: App,
    providers: Providers,
    cwd: PathBuf,
    extended: Option<Extended>,
}

impl ServerProgram {
    pub(crate) fn new(app: &App, setup: &Setup, extended: Option<Extended>) -> Result<Self, CommandError> {
        Ok(ServerProgram {
            app: app.capturing(None),
            providers: setup.providers()?,
            cwd: PathBuf::from(&setup.cwd),
            extended,
        })
    }
}

impl Program for ServerProgram {
    fn options(&self) -> Options {
        self.app.options()
    }

    fn find_session(&self, wanted: &str) -> Result<PathBuf, Failure> {
        let found = self.app.find(wanted);
        found.map_err(|error| Failure { kind: FailureKind::BadInput, ..Failure::from(error) })
    }

    fn list_sessions(&self, query: &SessionsQuery) -> Result<Vec<Json>, Failure> {
        let sort = if query.threaded { Sort::Threaded } else { Sort::Recent };
        let (_, rows) = sessions::find(&query.query, query.all, Some(sort), &mut self.app.capturing(None))?;
        rows.iter().map(spelled).collect()
    }

    fn list(&self, session: &Session, list: List) -> Result<Json, Failure> {
        match list {
            List::Branches => branches::numbered(session, true)?.map(|row| spelled(&row?)).collect(),
            List::Labels => labels::rows(session).map(|row| spelled(&row?)).collect(),
        }
    }

    fn models(&self) -> Vec<ModelSpec> {
        let usable = self.providers.models().into_iter().filter(|model| model.has_key);
        let (offline, others): (Vec<ModelSpec>, Vec<ModelSpec>) =
            usable.map(|model| model.spec).partition(|spec| spec.provider == OfflineModel::PROVIDER);
        let own: Vec<ModelSpec> =
            self.extended.iter().flat_map(Extended::own_models).map(|model| model.spec().clone()).collect();
        let others = others.into_iter().filter(|spec| own.iter().all(|own| own.provider != spec.provider));
        let others: Vec<ModelSpec> = others.chain(own.iter().cloned()).collect();
        // The offline model is listed only without other models.
        if others.is_empty() { offline } else { others }
    }

    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Failure> {
        if let Some(model) = self.extended.as_ref().and_then(|extended| extended.model(name)) {
            return Ok(model);
        }
        Ok(self.providers.model(name).map_err(CommandError::from)?)
    }

    fn trash(&self, file: &Path) -> io::Result<()> {
        let state = self.app.env.state_dir();
        let state = state.map_err(|_| io::Error::other("no state directory for the trash"))?;
        Trash::default().add(&state, file)
    }

    fn export_html(&self, session: &Session, file: Option<&str>) -> Result<PathBuf, Failure> {
        let path = match file {
            Some(file) => self.cwd.join(file),
            None => self.cwd.join(default_name(session)),
        };
        free(&path)?;
        let options = ExportOptions { home: self.app.env.home(), ..ExportOptions::default() };
        let header = new_header(session, &self.app);
        let export = Export { form: Form::Page, options, has_all: false, header };
        export.write_file(session, &path, false, &mut |_, _| {}, &Cancel::new())?;
        Ok(path)
    }

    fn typed_commands(&self) -> Vec<TypedCommand> {
        let specs = slash::specs().into_iter().filter(|spec| TYPED.contains(&spec.name.as_str()));
        specs
            .map(|spec| TypedCommand { name: spec.name, arguments: spec.arguments, description: spec.what })
            .collect()
    }

    fn run_typed<'a>(
        &'a self,
        line: &'a str,
        agent: &'a AgentHandle,
        cancel: &'a Cancel,
    ) -> Option<TextFuture<'a>> {
        let name = line.strip_prefix('/')?.split_whitespace().next()?;
        TYPED.contains(&name).then_some(())?;
        let parsed = slash::parse(line);
        Some(Box::pin(async move {
            let command = match parsed {
                Line::Command(command) => *command,
                Line::Help(text) => return Ok(text),
                Line::Wrong(text) => return Err(Failure::of(FailureKind::BadInput, text)),
                Line::Incomplete(_) | Line::Unknown(..) | Line::Text => {
                    let text = format!("an argument is missing; `/{name} --help` shows the arguments");
                    return Err(Failure::of(FailureKind::BadInput, text));
                }
            };
            let Slash::Session(command) = command else {
                return Err(Failure::new("this command needs the chat"));
            };
            let mut app = self.app.capturing(None);
            let mut work = Work { agent, app: &mut app, dry_run: false, is_chat: false, cancel };
            let change = command.run(&mut work).await?;
            Ok(change.full_text())
        }))
    }

    fn run<'a>(
        &'a self,
        words: Vec<String>,
        agent: &'a AgentHandle,
        dry_run: bool,
        cancel: &'a Cancel,
    ) -> CommandFuture<'a> {
        Box::pin(async move {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let command = match slash::parse_words(&words) {
                Ok(Slash::Session(command)) => command,
                Ok(Slash::Chat(_)) => return Err(Failure::new("this command needs the chat")),
                Err(text) => return Err(Failure::of(FailureKind::BadInput, text)),
            };
            let mut app = self.app.capturing(None);
            let mut work = Work { agent, app: &mut app, dry_run, is_chat: false, cancel };
            let change = command.run(&mut work).await?;
            Ok(change.into_json(dry_run)?)
        })
    }
}

fn spelled(value: &impl Serialize) -> Result<Json, Failure> {
    serde_json::to_value(value).map_err(|error| Failure::new(error.to_string()))
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        let kind = match &error {
            CommandError::Usage(_) => FailureKind::BadInput,
            CommandError::CancelledByHook(..) | CommandError::Interrupted => FailureKind::Cancelled,
            _ => FailureKind::Failed,
        };
        Failure::of(kind, String::from(error))
    }
}

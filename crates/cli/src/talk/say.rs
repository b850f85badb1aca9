//! Runs one prompt without a terminal: loads extensions, runs the prompt or the command of an extension, and prints the
//! answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use offshoot_agent::agent::{Submission, Submitted};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::{AgentEvent, Event, Events};
use offshoot_agent::extension::{CommandRun, numbered};
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::hooks::HookFailure;
use offshoot_agent::model::Answer;
use offshoot_agent::permission::Mode as PermissionMode;
use offshoot_agent::turn::Outcome;
use offshoot_extensions::host::Mode as HostMode;
use offshoot_tui::app::{ChatCommand, lock_notice};
use serde_json::json;
use session_tree::{EntryId, Message, Position, Role, Session};

use super::{Args, Mode, give_text, waiting};
use crate::app::{App, file_of};
use crate::change::Changing;
use crate::cmd::{Work, print_tree, spawn};
use crate::error::{CommandError, Failure};
use crate::extensions::{self, Extended, ExtensionFrontEnd, Sources};
use crate::mcp::ToolServers;
use crate::setup::Setup;
use crate::slash::{self, Line, Slash};
use crate::ui;

/// Runs a prompt, or the command of an extension that it names, and prints the answer.
pub(super) fn run(args: &Args, text: &str, is_typed: bool, app: &mut App) -> Result<(), CommandError> {
    let setup = Setup::load(app, args.trust)?;
    let printer = Printer { mode: args.mode, runs_command: Arc::default() };
    let agent = args.agent_for(&setup, PermissionMode::DenyAsking, printer.events(), app)?;
    let agent = spawn(agent)?;
    let instructions = args.instructions(&setup)?;
    let before = agent.read(Session::leaf_id);
    let sources = Sources::for_one_run(&args.extensions, &setup, args.trust.approves(), app)?;
    let servers = ToolServers::start(args, &setup, &agent)?;
    servers.problems().iter().for_each(|problem| ui::words(&format!("warning: {problem}")));
    let said = waiting(async |cancel| {
        let output = printer.front_end();
        let extended = Extended::new(&args.extensions, sources, &agent, &setup, output, app)?;
        if let Some(extended) = &extended {
            extended.host.tools.want(args.wanted_tools());
            servers.use_host(&extended.host);
        }
        extensions::start(&agent, extended.as_ref(), Some(instructions)).unless(cancel).await?;
        args.check(extended.as_ref())?;
        servers.settled(cancel).await;
        let typed = args.prompt.join(" ");
        let submission = Submission { typed, is_literal: !is_typed, ..Submission::typed(text) };
        for file in submission.missing_files(&setup.cwd) {
            ui::words(&format!("warning: {file} does not exist, so nothing was attached for it"));
        }
        let said = say(&agent, submission, is_typed, &printer, app, cancel).await;
        agent.quit().await?;
        said
    })??;
    args.give(&agent, before.as_ref(), said, app)
}

/// Prints events besides the answer: messages on standard error, or lines of JSON.
#[derive(Debug, Clone)]
struct Printer {
    mode: Mode,
    /// True while a command of an extension runs; its messages are then the output of the program.
    runs_command: Arc<AtomicBool>,
}

impl Printer {
    /// Returns the front end that prints what extensions report and show.
    fn front_end(&self) -> ExtensionFrontEnd {
        let mode = match self.mode {
            Mode::Json => HostMode::Json,
            _ => HostMode::Print,
        };
        ExtensionFrontEnd::printing(mode, self.runs_command.clone())
    }

    /// Returns an event stream that is printed. The text of an answer is printed when it is complete.
    fn events(&self) -> Events {
        let printer = self.clone();
        let mut answer = Answer::default();
        Events::new(move |Event { event, .. }| {
            printer.warn(event);
            if printer.mode == Mode::Json && !matches!(event, AgentEvent::QueueChanged) {
                ui::json_line(&event.to_json_in(&mut answer));
            }
        })
    }

    fn prints_messages(&self) -> bool {
        self.mode == Mode::Text && self.runs_command.load(Ordering::Relaxed)
    }

    /// Prints messages of a command of an extension, and warnings.
    fn warn(&self, event: &AgentEvent) {
        match event {
            AgentEvent::Message { message, .. } if self.prints_messages() && is_shown(message) => {
                ui::text(&message.text());
            }
            event => warn(event),
        }
    }
}

/// Prints warnings on standard error.
pub(crate) fn warn(event: &AgentEvent) {
    match event {
        AgentEvent::HookFailed(HookFailure { handler, event, message }) => {
            ui::words(&format!("warning: extension `{handler}` ({event}): {message}"));
        }
        AgentEvent::SessionLocked { path, holder } => {
            ui::words(&lock_notice(Some(path), holder.as_ref()));
        }
        AgentEvent::Warning { text } => ui::words(&format!("warning: {text}")),
        AgentEvent::ToolRefused { call, reason } => {
            ui::words(&format!("warning: a call of `{}` was not run: {reason}", call.name));
        }
        AgentEvent::RetryStart { attempt, delay, error } => {
            let seconds = delay.as_secs_f64();
            ui::words(&format!("note: {error}; attempt {attempt} to ask again in {seconds:.1} s"));
        }
        AgentEvent::CompactionEnd { error: Some(text), .. }
        | AgentEvent::CompactionEnd { warning: Some(text), .. } => {
            ui::words(&format!("warning: compaction: {text}"));
        }
        AgentEvent::Message { message, .. } if is_cut(message) => {
            ui::words("warning: the answer was cut off at the output limit");
        }
        _ => {}
    }
}

fn is_cut(message: &Message) -> bool {
    let stop = message.value().get("stopReason").and_then(|stop| stop.as_str());
    message.role() == Role::Assistant && stop.as_deref() == Some("length")
}

/// Returns true if a message of an extension is shown.
fn is_shown(message: &Message) -> bool {
    let display = message.value().get("display").and_then(|display| display.as_bool());
    message.role() == Role::Custom && display == Some(true)
}

/// Runs the input. Returns `None` if no model was asked.
async fn say(
    agent: &AgentHandle,
    said: Submission,
    is_typed: bool,
    printer: &Printer,
    app: &mut App,
    cancel: &Cancel,
) -> Result<Option<Outcome>, CommandError> {
    let text = said.text.clone();
    let unknown = match slash::parse(&text) {
        _ if !is_typed => return submit(agent, said, cancel).await,
        Line::Text => return submit(agent, said, cancel).await,
        Line::Unknown(..) if names_resource(agent, &text) => return submit(agent, said, cancel).await,
        Line::Command(command) => {
            return run_command(*command, agent, printer, app, cancel).await.map(|()| None);
        }
        Line::Help(help) => return app.ui.plain(&help).map(|()| None),
        Line::Wrong(error) => return Err(CommandError::Usage(Failure::new(error))),
        Line::Incomplete(name) => {
            let failure = Failure::new(format!("/{name} needs an argument"));
            return Err(CommandError::Usage(failure.hint(format!("`/{name} --help` explains it"))));
        }
        Line::Unknown(name, near) => {
            let failure = Failure::new(format!("there is no command /{name}"));
            near.map_or(failure.clone(), |near| failure.hint(format!("did you mean /{near}?")))
        }
    };
    let line = text.trim_start_matches('/');
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    printer.runs_command.store(true, Ordering::Relaxed);
    let run = agent.run_extension_command(name.to_owned(), arguments.to_owned()).unless(cancel).await;
    printer.runs_command.store(false, Ordering::Relaxed);
    match run? {
        CommandRun::Unknown => {
            Err(CommandError::Usage(unknown.hint("a space before the slash makes it a prompt")))
        }
        CommandRun::Done(Some(prompt)) => submit(agent, Submission::typed(prompt), cancel).await,
        CommandRun::Done(None) if cancel.is_cancelled() => Err(CommandError::Interrupted),
        CommandRun::Done(None) => Ok(None),
        CommandRun::Failed(error) => Err(Failure::new(format!("/{name} failed: {error}")).into()),
    }
}

/// Returns true if a line names a template or a skill, and no command of an extension.
fn names_resource(agent: &AgentHandle, line: &str) -> bool {
    let state = agent.state();
    let name = line.trim_start_matches('/').split(char::is_whitespace).next().unwrap_or_default();
    let is_extension = || numbered(&state.commands).iter().any(|(known, _)| known == name);
    state.resources.has_command(line) && !is_extension()
}

/// Runs a command of the program, as `offshoot x` does.
async fn run_command(
    command: Slash,
    agent: &AgentHandle,
    printer: &Printer,
    app: &mut App,
    cancel: &Cancel,
) -> Result<(), CommandError> {
    match command {
        Slash::Session(command) => {
            agent.until_unlocked().unless(cancel).await?;
            let mut work = Work { agent, app, dry_run: false, is_chat: false, cancel };
            let change = command.run(&mut work).await?;
            change.tell(app, Changing { dry_run: false, json: printer.mode == Mode::Json })
        }
        Slash::Chat(ChatCommand::Tree { .. }) => agent.read(|session| print_tree(session, app)),
        Slash::Chat(_) => Err(Failure::new("this command needs the chat").hint("`offshoot` opens it").into()),
    }
}

async fn submit(
    agent: &AgentHandle,
    said: Submission,
    cancel: &Cancel,
) -> Result<Option<Outcome>, CommandError> {
    match agent.prompt(said).unless(cancel).await? {
        Submitted::Answered(outcome) => Ok(Some(outcome)),
        Submitted::Handled => Ok(None),
    }
}

impl Args {
    /// Prints the answer that follows an entry.
    fn give(
        &self,
        agent: &AgentHandle,
        before: Option<&EntryId>,
        said: Option<Outcome>,
        app: &mut App,
    ) -> Result<(), CommandError> {
        let answer = agent.read(|session| answer_since(session, before))?.unwrap_or_default();
        match self.mode {
            Mode::Json => agent.read(give_totals)?,
            _ => give_text(&answer, app)?,
        }
        if said == Some(Outcome::Done) && answer.trim().is_empty() {
            ui::words("warning: the answer of the model is empty");
        }
        match said {
            None | Some(Outcome::Done) => Ok(()),
            Some(Outcome::Aborted) => Err(CommandError::Interrupted),
            Some(Outcome::Failed(error)) => Err(Failure::new(error.to_string()).into()),
        }
    }
}

/// Prints the cost of this branch and of the whole file.
fn give_totals(session: &Session) -> Result<(), CommandError> {
    let branch = session_view::Stats::of_path(session, session.leaf())?.usage;
    let file = session_view::Stats::of(session)?.usage;
    ui::json_line(&json!({
        "type": "session_totals", "sessionId": session.header().id(), "sessionFile": file_of(session),
        "thisBranch": branch, "wholeFile": file,
    }));
    Ok(())
}

/// Returns the text of the last answer on the path after an entry.
fn answer_since(session: &Session, before: Option<&EntryId>) -> Result<Option<String>, CommandError> {
    let tree = session.tree();
    let path = session.branch_path(Position::Leaf);
    let mut since = path.into_iter().rev().take_while(|node| Some(tree.id(*node)) != before.cloned());
    let Some(node) = since.find(|node| tree.role(*node) == Some(Role::Assistant)) else { return Ok(None) };
    let message = session.entry_at(node)?.to_message();
    Ok(message.map(|message| message.text().into_owned()))
}

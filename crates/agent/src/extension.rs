//! Commands of extensions, and of programs that embed the agent.

use std::pin::{Pin, pin};
use std::sync::Arc;

use session_tree::Message;

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::handle::AgentHandle;
use crate::hooks::Hooks;

/// A running command. A text that it returns is the next prompt.
pub type CommandFuture<'a> =
    Pin<Box<dyn Future<Output = std::result::Result<Option<String>, String>> + Send + 'a>>;

/// The completions of the arguments of a command.
pub type CompletionFuture<'a> = Pin<Box<dyn Future<Output = Vec<String>> + Send + 'a>>;

/// A command that is not part of the agent.
pub trait ExtensionCommand: std::fmt::Debug + Send + Sync {
    /// Returns the name without a slash.
    fn name(&self) -> &str;

    /// Returns a description of one line.
    fn description(&self) -> &str {
        ""
    }

    /// Returns completions of the arguments.
    fn complete<'a>(&'a self, _prefix: &'a str) -> CompletionFuture<'a> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Runs the command. Requests sent through the handle run while the command waits for their replies.
    fn run<'a>(&'a self, arguments: &'a str, agent: &'a AgentHandle, cancel: &'a Cancel)
    -> CommandFuture<'a>;
}

/// The hooks and commands of extensions.
#[derive(Debug, Clone, Default)]
pub struct ExtensionBundle {
    /// Their handlers.
    pub hooks: Hooks,
    /// Their commands.
    pub commands: Vec<Arc<dyn ExtensionCommand>>,
}

impl From<Hooks> for ExtensionBundle {
    fn from(hooks: Hooks) -> Self {
        ExtensionBundle { hooks, commands: Vec::new() }
    }
}

/// The result of running a command by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandRun {
    /// No command has this name.
    Unknown,
    /// The command ran. The text that it returned is the next prompt.
    Done(Option<String>),
    /// The command failed.
    Failed(String),
}

/// Returns the commands with the names under which they run. Commands of the same name are numbered.
pub fn numbered(commands: &[Arc<dyn ExtensionCommand>]) -> Vec<(String, Arc<dyn ExtensionCommand>)> {
    let named = |name: &str| commands.iter().filter(|command| command.name() == name).count();
    let mut found: Vec<(String, Arc<dyn ExtensionCommand>)> = Vec::new();
    for command in commands {
        let name = command.name();
        let before = found.iter().filter(|(_, other)| other.name() == name).count();
        let name = if named(name) > 1 { format!("{name}:{}", before + 1) } else { name.to_owned() };
        found.push((name, command.clone()));
    }
    found
}

impl Agent {
    /// Replaces the hooks and commands of extensions.
    pub fn install(&mut self, bundle: ExtensionBundle) {
        self.hooks = bundle.hooks;
        self.commands = bundle.commands;
        self.publish_state();
    }

    /// Runs the command that a line names, without its slash. A line that names none is a prompt.
    pub(crate) async fn run_line(&mut self, line: &str, cancel: &Cancel) -> Result<()> {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let prompt = match self.run_extension_command(name, arguments, cancel).await {
            // As in pi, skills and templates are for the user to name.
            CommandRun::Unknown => format!("/{line}"),
            CommandRun::Done(Some(prompt)) => prompt,
            // The failure is already reported.
            CommandRun::Done(None) | CommandRun::Failed(_) => return Ok(()),
        };
        let message = Message::user(&prompt).with_time(self.session().now());
        self.prompt(vec![message], cancel).await.map(drop)
    }

    /// Runs a registered command, and the requests that it sends while it runs.
    pub async fn run_extension_command(
        &mut self,
        name: &str,
        arguments: &str,
        cancel: &Cancel,
    ) -> CommandRun {
        let known = numbered(&self.commands).into_iter().find(|(known, _)| known == name);
        let Some((_, command)) = known else { return CommandRun::Unknown };
        let handle = self.handle().for_extensions();
        let mut running = pin!(command.run(arguments, &handle, cancel));
        let done = loop {
            tokio::select! {
                biased;
                done = &mut running => break done,
                job = self.queue.next_job() => self.run_job(job, cancel).await,
            }
        };
        self.run_queue(cancel).await;
        match done {
            Ok(prompt) => CommandRun::Done(prompt.filter(|text| !text.trim().is_empty())),
            Err(error) => CommandRun::Failed(error),
        }
    }
}

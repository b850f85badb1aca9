//! Commands that extensions, and programs that embed the agent, bring along.

use std::pin::{Pin, pin};
use std::sync::Arc;

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::handle::AgentHandle;
use crate::hooks::Hooks;

/// What a command becomes while it runs. It may give a text, which becomes the next prompt.
pub type CommandFuture<'a> = Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send + 'a>>;

/// What the arguments of a command could go on with, as soon as it is known.
pub type CompletionFuture<'a> = Pin<Box<dyn Future<Output = Vec<String>> + Send + 'a>>;

/// A command that does not come with the agent.
pub trait ExtensionCommand: std::fmt::Debug + Send + Sync {
    /// Returns its name, without a slash.
    fn name(&self) -> &str;

    /// Returns what it does, in one line.
    fn description(&self) -> &str {
        ""
    }

    /// Returns what its arguments could go on with.
    fn complete<'a>(&'a self, _prefix: &'a str) -> CompletionFuture<'a> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Runs it. What takes the whole agent is wished for through the handle, and granted while the command waits.
    fn run<'a>(&'a self, arguments: &'a str, agent: &'a AgentHandle, cancel: &'a Cancel)
    -> CommandFuture<'a>;
}

/// What extensions bring along.
#[derive(Debug, Clone, Default)]
pub struct Brought {
    /// Their handlers.
    pub hooks: Hooks,
    /// Their commands.
    pub commands: Vec<Arc<dyn ExtensionCommand>>,
}

impl From<Hooks> for Brought {
    fn from(hooks: Hooks) -> Self {
        Brought { hooks, commands: Vec::new() }
    }
}

/// What came of running a command by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandRun {
    /// There is none of this name.
    Unknown,
    /// It ran; the text it gave is the next prompt.
    Done(Option<String>),
    /// It failed.
    Failed(String),
}

/// Names commands as they run: of several that want one name, each gets a number.
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
    /// Brings a command along.
    pub fn register_command(&mut self, command: Arc<dyn ExtensionCommand>) {
        self.commands.push(command);
    }

    /// Takes what extensions bring along in place of what others brought.
    pub fn bring(&mut self, brought: Brought) {
        self.hooks = brought.hooks;
        self.commands = brought.commands;
    }

    /// Lists the commands that were brought along, under the names by which they run: of several that want one name,
    /// each gets a number.
    pub fn extension_commands(&self) -> Vec<(String, Arc<dyn ExtensionCommand>)> {
        numbered(&self.commands)
    }

    /// Runs a command that was brought along, and grants what it wishes for meanwhile.
    pub async fn run_extension_command(
        &mut self,
        name: &str,
        arguments: &str,
        cancel: &Cancel,
    ) -> CommandRun {
        let known = self.extension_commands().into_iter().find(|(known, _)| known == name);
        let Some((_, command)) = known else { return CommandRun::Unknown };
        let handle = self.handle();
        let mut running = pin!(command.run(arguments, &handle, cancel));
        let done = loop {
            tokio::select! {
                biased;
                done = &mut running => break done,
                wish = self.next_task() => self.run_task(wish, cancel).await,
            }
        };
        self.run_tasks(cancel).await;
        match done {
            Ok(prompt) => CommandRun::Done(prompt.filter(|text| !text.trim().is_empty())),
            Err(error) => CommandRun::Failed(error),
        }
    }
}

//! A command of an extension, as the agent knows commands.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::{CommandFuture, CompletionFuture, ExtensionCommand};
use offshoot_agent::handle::AgentHandle;

use crate::extension::Extension;
use crate::registry::CommandSpec;

/// A command of an extension.
#[derive(Debug)]
pub(crate) struct LoadedCommand {
    pub(crate) extension: Extension,
    pub(crate) spec: CommandSpec,
}

impl ExtensionCommand for LoadedCommand {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn description(&self) -> &str {
        &self.spec.description
    }

    fn complete<'a>(&'a self, prefix: &'a str) -> CompletionFuture<'a> {
        Box::pin(async move {
            if !self.spec.completes {
                return Vec::new();
            }
            // An extension that does not answer before the next key is typed completes nothing.
            let asked = self.extension.complete_argument(&self.spec.name, prefix);
            let asked = tokio::time::timeout(self.extension.handle.limits.screen, asked).await;
            let items = asked.ok().and_then(Result::ok).unwrap_or_default();
            items.iter().filter_map(|item| item["value"].as_str().map(str::to_owned)).collect()
        })
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a AgentHandle, cancel: &'a Cancel) -> CommandFuture<'a> {
        Box::pin(self.extension.run_command(&self.spec.name, arguments, cancel))
    }
}

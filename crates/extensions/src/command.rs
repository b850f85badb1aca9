//! A command of an extension, as the agent knows commands.

use std::fmt;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::{CommandFuture, CompletionFuture, ExtensionCommand};
use offshoot_agent::handle::AgentHandle;
use serde_json::Value as Json;

use crate::extension::Extension;
use crate::registry::CommandSpec;

/// A command of an extension.
pub(crate) struct LoadedCommand {
    extension: Extension,
    spec: CommandSpec,
}

impl LoadedCommand {
    pub(crate) fn new(extension: Extension, spec: CommandSpec) -> Self {
        LoadedCommand { extension, spec }
    }

    /// Asks the extension; nothing if it does not answer before the next key is typed.
    async fn completions(&self, prefix: &str) -> Option<Vec<Json>> {
        let asked = self.extension.complete_argument(&self.spec.name, prefix);
        tokio::time::timeout(self.extension.handle.limits.screen, asked).await.ok()?.ok()
    }
}

impl fmt::Debug for LoadedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedCommand").field("name", &self.spec.name).finish_non_exhaustive()
    }
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
            let items = self.completions(prefix).await.unwrap_or_default();
            items.iter().filter_map(|item| item["value"].as_str().map(str::to_owned)).collect()
        })
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a AgentHandle, cancel: &'a Cancel) -> CommandFuture<'a> {
        Box::pin(self.extension.run_command(&self.spec.name, arguments, cancel))
    }
}

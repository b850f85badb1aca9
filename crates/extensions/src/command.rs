//! A command of an extension, as the agent knows commands.

use std::fmt;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::{CommandFuture, ExtensionCommand};
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

    /// Asks the extension from a thread that may wait: whoever completes what is typed does not.
    fn completions(&self, prefix: &str) -> Option<Vec<Json>> {
        let (extension, name, prefix) = (self.extension.clone(), self.spec.name.clone(), prefix.to_owned());
        let asked = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().ok()?;
            let asked = extension.complete_argument(&name, &prefix);
            let limit = extension.handle.limits.screen;
            runtime.block_on(async { tokio::time::timeout(limit, asked).await }).ok()?.ok()
        });
        asked.join().ok().flatten()
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

    fn complete(&self, prefix: &str) -> Vec<String> {
        if !self.spec.completes {
            return Vec::new();
        }
        let items = self.completions(prefix).unwrap_or_default();
        items.iter().filter_map(|item| item["value"].as_str().map(str::to_owned)).collect()
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a AgentHandle, cancel: &'a Cancel) -> CommandFuture<'a> {
        Box::pin(self.extension.run_command(&self.spec.name, arguments, cancel))
    }
}

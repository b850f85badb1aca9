//! The tools of an agent with extensions: its own and theirs, those that the model may call, and who owns which.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::ToolSpec;
use offshoot_agent::system::{Instructions, system_prompt};
use offshoot_agent::tools::ToolBox;
use offshoot_extensions::Extensions;

/// The extensions that are loaded, and the tools of everybody.
pub(crate) struct Roster {
    agent: AgentHandle,
    cwd: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    extensions: Extensions,
    /// The tools that the command line names.
    wanted: Option<Vec<String>>,
    /// The tools that an extension chose, and the ones that were known then.
    chosen: Option<(Vec<String>, Vec<String>)>,
}

impl Roster {
    /// Makes a roster without extensions.
    pub(super) fn new(agent: AgentHandle, cwd: PathBuf) -> Self {
        Roster { agent, cwd, inner: Mutex::default() }
    }

    /// Lets the model call these tools alone.
    pub(crate) fn want(&self, names: Option<Vec<String>>) {
        self.inner().wanted = names;
        self.give();
    }

    /// Returns the extensions that are loaded.
    pub(super) fn extensions(&self) -> Extensions {
        self.inner().extensions.clone()
    }

    /// Puts extensions into the place of those that were there; the model gets their tools.
    pub(super) fn put(&self, extensions: Extensions) {
        let mut inner = self.inner();
        let old = std::mem::replace(&mut inner.extensions, extensions);
        inner.chosen = None;
        drop(inner);
        // Their threads end here, if nobody else needs them.
        drop(old);
        self.give();
    }

    /// Lets the model call the tools that an extension chose.
    pub(super) fn choose(&self, names: Vec<String>) {
        let known = self.all().names().map(str::to_owned).collect();
        self.inner().chosen = Some((names, known));
        self.give();
    }

    /// Gives the model the tools that it may call now.
    pub(super) fn give(&self) {
        self.agent.set_tools(self.active());
    }

    /// Returns all tools, whether the model may call them or not.
    pub(crate) fn all(&self) -> ToolBox {
        let mut tools = ToolBox::all();
        self.inner().extensions.tools().into_iter().for_each(|tool| tools.add(tool));
        tools
    }

    /// Returns the tools that the model may call.
    pub(crate) fn active(&self) -> ToolBox {
        let mut tools = self.all();
        let usual: Vec<String> = ToolBox::coding().names().map(str::to_owned).collect();
        let built_in: Vec<String> = ToolBox::all().names().map(str::to_owned).collect();
        let inner = self.inner();
        tools.retain(|name| match (&inner.chosen, &inner.wanted) {
            // What came since is there to be used.
            (Some((chosen, known)), _) => has(chosen, name) || !has(known, name),
            (None, Some(wanted)) => has(wanted, name),
            (None, None) => has(&usual, name) || !has(&built_in, name),
        });
        tools
    }

    /// Returns what the model is told before the conversation, with what the tools of extensions have to say.
    pub(crate) fn system(&self, mut instructions: Instructions) -> String {
        let active = self.active();
        let owned = self.extensions();
        let mut lines: Vec<String> = Vec::new();
        for tool in owned.iter().flat_map(|extension| extension.registry().tools) {
            if active.tool(&tool.spec.name).is_some() {
                lines.extend(tool.prompt_snippet.map(|text| format!("- {}: {text}", tool.spec.name)));
                lines.extend(tool.prompt_guidelines.into_iter().map(|text| format!("- {text}")));
            }
        }
        if !lines.is_empty() {
            instructions.appended.push(lines.join("\n"));
        }
        system_prompt(&self.cwd, &active.specs(), &instructions)
    }

    /// Returns all tools as models see them.
    pub(super) fn specs(&self) -> Vec<ToolSpec> {
        self.all().specs()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|other| other == name)
}

//! The tools of an agent with extensions: its own and theirs, and those that the model may call.

use std::path::Path;
use std::sync::Arc;

use offshoot_agent::handle::AgentHandle;
use offshoot_agent::system::{Instructions, system_prompt};
use offshoot_agent::tool::Tool;
use offshoot_agent::tools::ToolBox;
use parking_lot::Mutex;

use crate::load::Extensions;

/// The loaded extensions and all tools.
pub struct Tools {
    agent: AgentHandle,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    extensions: Extensions,
    /// The tools of other programs, such as MCP servers.
    connected: Vec<Arc<dyn Tool>>,
    /// The tools that the command line names.
    wanted: Option<Vec<String>>,
    /// The tools that an extension chose, and those that were known then.
    chosen: Option<(Vec<String>, Vec<String>)>,
}

impl Tools {
    pub(super) fn new(agent: AgentHandle) -> Self {
        Tools { agent, inner: Mutex::default() }
    }

    /// Restricts the model to these tools.
    pub fn want(&self, names: Option<Vec<String>>) {
        self.inner.lock().wanted = names;
        self.apply();
    }

    /// Replaces the tools of other programs, such as MCP servers.
    pub fn connect(&self, tools: Vec<Arc<dyn Tool>>) {
        self.inner.lock().connected = tools;
        self.apply();
    }

    /// Returns the loaded extensions.
    pub fn extensions(&self) -> Extensions {
        self.inner.lock().extensions.clone()
    }

    /// Replaces the extensions; the model gets the tools of the new ones.
    pub fn replace(&self, extensions: Extensions) {
        let mut inner = self.inner.lock();
        let old = std::mem::replace(&mut inner.extensions, extensions);
        inner.chosen = None;
        drop(inner);
        // Their threads end here, unless something else uses them.
        drop(old);
        self.apply();
    }

    /// Lets the model call the tools that an extension chose.
    pub fn choose(&self, names: Vec<String>) {
        let known = names_of(&self.all());
        self.inner.lock().chosen = Some((names, known));
        self.apply();
    }

    /// Gives the model the tools that it may call now.
    pub(super) fn apply(&self) {
        self.agent.set_tools(self.active());
    }

    /// Returns all tools, whether the model may call them or not.
    pub fn all(&self) -> ToolBox {
        let mut tools = ToolBox::all();
        let connected = self.inner.lock().connected.clone();
        connected.into_iter().for_each(|tool| tools.add(tool));
        self.inner.lock().extensions.tools().into_iter().for_each(|tool| tools.add(tool));
        tools
    }

    /// Returns the tools that the model may call.
    pub fn active(&self) -> ToolBox {
        let mut tools = self.all();
        let (default, built_in) = (names_of(&ToolBox::coding()), names_of(&ToolBox::all()));
        let inner = self.inner.lock();
        let has = |names: &[String], name: &str| names.iter().any(|other| other == name);
        tools.retain(|name| match (&inner.chosen, &inner.wanted) {
            // Tools that were registered after the choice are active.
            (Some((chosen, known)), _) => has(chosen, name) || !has(known, name),
            (None, Some(wanted)) => has(wanted, name),
            (None, None) => has(&default, name) || !has(&built_in, name),
        });
        tools
    }

    /// Returns the system prompt with the remarks of the extensions about their tools.
    pub fn system_prompt(&self, cwd: &Path, mut instructions: Instructions) -> String {
        let active = self.active();
        let mut lines: Vec<String> = Vec::new();
        for tool in self.extensions().iter().flat_map(|extension| extension.registry().tools) {
            if active.tool(&tool.spec.name).is_some() {
                lines.extend(tool.prompt_snippet.map(|text| format!("- {}: {text}", tool.spec.name)));
                lines.extend(tool.prompt_guidelines.into_iter().map(|text| format!("- {text}")));
            }
        }
        if !lines.is_empty() {
            instructions.appended.push(lines.join("\n"));
        }
        system_prompt(cwd, &active.specs(), &instructions)
    }
}

fn names_of(tools: &ToolBox) -> Vec<String> {
    tools.names().map(str::to_owned).collect()
}

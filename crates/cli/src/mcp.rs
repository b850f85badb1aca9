//! The MCP servers of one agent: which are started, and how their tools reach the model.
//!
//! mcp.json of the user and of a trusted project -> **servers in the background** -> tools of the agent
//!
//! Without an `mcp.json` nothing of this exists: no thread, no process.

/// The beginning of the names of tools of MCP servers.
pub(crate) const PREFIX: &str = "mcp__";

#[cfg(feature = "mcp")]
pub(crate) use with_mcp::{ToolServers, read, report};
#[cfg(not(feature = "mcp"))]
pub(crate) use without_mcp::ToolServers;

#[cfg(feature = "mcp")]
mod with_mcp {
    use std::path::Path;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    use offshoot_agent::cancel::Cancel;
    use offshoot_agent::handle::AgentHandle;
    use offshoot_agent::tool::Tool;
    use offshoot_agent::tools::ToolBox;
    use offshoot_extensions::host::Host;
    use offshoot_mcp::client::{
        ClientOptions, ConfigFile, ConfigProblem, Problem, START_LIMIT, ServerConfig, Servers, State, Status,
        read_configs,
    };
    use serde_json::{Value as Json, json};

    use crate::error::CommandError;
    use crate::setup::Setup;
    use crate::talk;
    use crate::ui::count;

    /// How long a prompt of `-p` waits for servers that start.
    const PATIENCE: Duration = Duration::from_secs(35);

    /// The MCP servers of one agent.
    pub(crate) struct ToolServers {
        servers: Option<Servers>,
        problems: Vec<String>,
        tools: Arc<ToolSink>,
        /// The configuration of the servers that an editor lists.
        of_editor: Option<String>,
    }

    /// The receiver of tools: the host of extensions, which chooses among all tools, or the agent.
    struct ToolSink {
        agent: AgentHandle,
        own: ToolBox,
        wanted: Option<Vec<String>>,
        inner: Mutex<SinkState>,
    }

    #[derive(Default)]
    struct SinkState {
        tools: Vec<Arc<dyn Tool>>,
        host: Option<Arc<Host>>,
    }

    impl ToolSink {
        /// Changes the state, and gives the model the tools that it may call now.
        fn update(&self, change: impl FnOnce(&mut SinkState)) {
            let mut state = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut state);
            let tools = state.tools.clone();
            match &state.host {
                Some(host) => host.tools.connect(tools),
                None => {
                    let mut all = self.own.clone();
                    tools.into_iter().for_each(|tool| all.add(tool));
                    if let Some(wanted) = &self.wanted {
                        all.retain(|name| wanted.iter().any(|wanted| wanted == name));
                    }
                    self.agent.set_tools(all);
                }
            }
        }
    }

    impl ToolServers {
        /// Starts the servers in the background.
        pub(crate) fn start(
            args: &talk::AgentArgs,
            setup: &Setup,
            agent: &AgentHandle,
        ) -> Result<Self, CommandError> {
            Self::start_for_editor(args, setup, agent, &[])
        }

        /// Starts the servers of the configuration and those that an editor lists.
        pub(crate) fn start_for_editor(
            args: &talk::AgentArgs,
            setup: &Setup,
            agent: &AgentHandle,
            listed: &[Json],
        ) -> Result<Self, CommandError> {
            let tools = ToolSink {
                agent: agent.clone(),
                own: args.tool_box(),
                wanted: args.wanted_tools(),
                inner: Mutex::default(),
            };
            let mut servers = ToolServers {
                servers: None,
                problems: Vec::new(),
                tools: Arc::new(tools),
                of_editor: (!listed.is_empty()).then(|| config_text(listed)),
            };
            servers.restart(args, setup, agent)?;
            Ok(servers)
        }

        /// Ends the servers and starts those of the configuration as it is now.
        pub(crate) fn restart(
            &mut self,
            _: &talk::AgentArgs,
            setup: &Setup,
            agent: &AgentHandle,
        ) -> Result<(), CommandError> {
            if let Some(old) = self.servers.take() {
                self.tools.update(|state| state.tools.clear());
                // Servers take a moment to end, and the chat must not wait for them.
                std::thread::spawn(move || drop(old));
            }
            let (configs, problems) = read_with(setup, self.of_editor.as_deref())?;
            self.problems = problems.iter().map(ToString::to_string).collect();
            if !configs.is_empty() {
                let (tools, agent) = (self.tools.clone(), agent.clone());
                let options = ClientOptions {
                    cwd: setup.cwd.clone(),
                    secrets: Arc::new(setup.secrets()?),
                    start_limit: START_LIMIT,
                    on_change: Arc::new(move |all| tools.update(|state| state.tools = all)),
                    on_failure: Arc::new(move |name, problem| agent.warn(warning(name, problem))),
                };
                self.servers = Some(Servers::start(configs, &options));
            }
            Ok(())
        }

        /// Returns what is wrong with the configuration.
        pub(crate) fn problems(&self) -> &[String] {
            &self.problems
        }

        /// Gives the tools to the host of extensions from now on.
        pub(crate) fn use_host(&self, host: &Arc<Host>) {
            self.tools.update(|state| state.host = Some(host.clone()));
        }

        /// Waits until all servers have answered or failed.
        pub(crate) async fn settled(&self, cancel: &Cancel) {
            let Some(servers) = &self.servers else { return };
            tokio::select! {
                () = servers.settled(PATIENCE) => {}
                () = cancel.cancelled() => {}
            }
        }

        /// Describes all servers.
        pub(crate) fn report(&self) -> String {
            let status = self.servers.as_ref().map(Servers::status).unwrap_or_default();
            let problems = self.problems.iter().map(|problem| format!("\nnot used: {problem}"));
            format!("{}{}", report(&status), problems.collect::<String>())
        }
    }

    fn warning(name: &str, problem: &Problem) -> String {
        format!("the MCP server `{name}` does not run: {}\nhint: {}", problem.reason, problem.hint)
    }

    /// Reads the configuration.
    pub(crate) fn read(setup: &Setup) -> Result<(Vec<ServerConfig>, Vec<ConfigProblem>), CommandError> {
        read_with(setup, None)
    }

    /// Reads the configuration, and the one of an editor.
    fn read_with(
        setup: &Setup,
        of_editor: Option<&str>,
    ) -> Result<(Vec<ServerConfig>, Vec<ConfigProblem>), CommandError> {
        let files = setup.mcp_files()?;
        let mut files: Vec<ConfigFile<'_>> = files
            .iter()
            .map(|file| ConfigFile { path: &file.path, text: &file.text, is_project: file.is_project })
            .collect();
        files.extend(of_editor.map(|text| ConfigFile {
            path: Path::new("the editor"),
            text,
            is_project: false,
        }));
        Ok(read_configs(&files, &setup.secrets()?, &|name| std::env::var(name).ok()))
    }

    /// Spells the servers that an editor lists as an `mcp.json`.
    fn config_text(listed: &[Json]) -> String {
        let pairs = |list: &Json| -> Json {
            let pairs = list.as_array().into_iter().flatten();
            pairs
                .filter_map(|pair| Some((pair["name"].as_str()?.to_owned(), pair["value"].clone())))
                .collect()
        };
        let server = |server: &Json| -> Option<(String, Json)> {
            let mut config = match server["url"].as_str() {
                Some(url) => json!({"type": "http", "url": url, "headers": pairs(&server["headers"])}),
                None => {
                    json!({"command": server["command"], "args": server["args"], "env": pairs(&server["env"])})
                }
            };
            // Servers with events over HTTP alone are not supported; the type in the configuration names them.
            if server["type"] == "sse" {
                config["type"] = "sse".into();
            }
            Some((server["name"].as_str()?.to_owned(), config))
        };
        json!({"mcpServers": listed.iter().filter_map(server).collect::<Json>()}).to_string()
    }

    /// Describes servers, each with its state, its tools and what to do about a failure.
    pub(crate) fn report(servers: &[Status]) -> String {
        if servers.is_empty() {
            return "no MCP servers; `mcp.json` names them, see docs/mcp.md".to_owned();
        }
        let server = |status: &Status| {
            let state = match &status.state {
                State::Disabled => "turned off".to_owned(),
                State::Starting => "starting".to_owned(),
                State::Ready => format!("ready, {}", count(status.tools.len(), "tool")),
                State::Waiting(problem) => {
                    format!("failed, is started again: {}\n    hint: {}", problem.reason, problem.hint)
                }
                State::Failed(problem) => format!("failed: {}\n    hint: {}", problem.reason, problem.hint),
            };
            let tools = status.tools.iter().map(|tool| format!("\n    {tool}")).collect::<String>();
            format!("{}  {state}\n    {}  ({}){tools}", status.name, status.target, status.source.display())
        };
        servers.iter().map(server).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(not(feature = "mcp"))]
mod without_mcp {
    use std::sync::Arc;

    use offshoot_agent::cancel::Cancel;
    use offshoot_agent::handle::AgentHandle;
    use offshoot_extensions::host::Host;

    use crate::error::CommandError;
    use crate::setup::Setup;
    use crate::talk;

    /// No servers: the program is built without MCP.
    pub(crate) struct ToolServers {
        problems: Vec<String>,
    }

    impl ToolServers {
        pub(crate) fn start(
            _: &talk::AgentArgs,
            setup: &Setup,
            _: &AgentHandle,
        ) -> Result<Self, CommandError> {
            let mut servers = ToolServers { problems: Vec::new() };
            servers.read(setup)?;
            Ok(servers)
        }

        #[cfg(feature = "server")]
        pub(crate) fn start_for_editor(
            args: &talk::AgentArgs,
            setup: &Setup,
            agent: &AgentHandle,
            listed: &[serde_json::Value],
        ) -> Result<Self, CommandError> {
            let mut servers = Self::start(args, setup, agent)?;
            let problem = |server: &serde_json::Value| {
                format!("{} is not used: this offshoot was built without the feature `mcp`", server["name"])
            };
            servers.problems.extend(listed.iter().map(problem));
            Ok(servers)
        }

        pub(crate) fn restart(
            &mut self,
            _: &talk::AgentArgs,
            setup: &Setup,
            _: &AgentHandle,
        ) -> Result<(), CommandError> {
            self.read(setup)
        }

        fn read(&mut self, setup: &Setup) -> Result<(), CommandError> {
            let problem = |path: &std::path::Path| {
                format!("{} is not used: this offshoot was built without the feature `mcp`", path.display())
            };
            self.problems = setup.mcp_files()?.iter().map(|file| problem(&file.path)).collect();
            Ok(())
        }

        pub(crate) fn problems(&self) -> &[String] {
            &self.problems
        }

        pub(crate) fn use_host(&self, _: &Arc<Host>) {}

        pub(crate) async fn settled(&self, _: &Cancel) {}

        pub(crate) fn report(&self) -> String {
            "this offshoot was built without the feature `mcp`".to_owned()
        }
    }
}

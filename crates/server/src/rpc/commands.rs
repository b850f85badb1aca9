//! The commands of pi 1.5.0, except `prompt`.

use std::path::PathBuf;
use std::rc::Rc;

use offshoot_agent::agent::ChosenBy;
use offshoot_agent::command::{Applied, ForkRequest, NewRequest};
use offshoot_agent::error::AgentError;
use offshoot_agent::extension::numbered;
use offshoot_agent::handle::ChangeSettings;
use offshoot_agent::model::{ModelSpec, ThinkingLevel};
use offshoot_agent::queue::Delivery;
use offshoot_agent::tools::UserCommand;
use serde::Serialize;
use serde_json::{Value as Json, json};
use session_tree::{Error, ForkPosition, Kind, NewSession, Position, Role, Session};
use session_view::Stats;

use super::client::Reply;
use super::events::{WireEvent, compaction_json, message_json, queue_texts};
use super::protocol::{
    Cancellable, Command, ContextUsage, ForkMessage, SendMode, SessionStats, State, Tokens,
};
use super::server::Server;
use crate::failure::Failure;
use crate::sessions;

const TOO_SMALL: &str = "Nothing to compact (session too small)";
const NO_CLONE: &str = "Cannot clone session: no current entry selected";

/// Spells the data of an answer.
pub(crate) fn data(value: &impl Serialize) -> Reply {
    serde_json::to_string(value).map_err(|error| Failure::new(format!("cannot spell the answer: {error}")))
}

/// Returns an answer without data.
pub(crate) fn done() -> Reply {
    Ok(String::new())
}

impl Command {
    /// Returns true for commands that change nothing and wait for nothing.
    pub(crate) fn is_read(&self) -> bool {
        matches!(
            self,
            Command::GetState {}
                | Command::GetAvailableModels {}
                | Command::GetAvailableThinkingLevels {}
                | Command::GetSessionStats {}
                | Command::GetForkMessages {}
                | Command::GetEntries { .. }
                | Command::GetTree { .. }
                | Command::GetLastAssistantText {}
                | Command::GetMessages {}
                | Command::GetLabels {}
                | Command::ListBranches {}
                | Command::ListSessions { .. }
                | Command::GetEntry { .. }
                | Command::GetPath { .. }
                | Command::GetContext { .. }
                | Command::ResolveRef { .. }
                | Command::Diff { .. }
                | Command::ExtensionUiResponse { .. }
        )
    }
}

impl Server {
    /// Runs a command of pi. Returns any other command.
    pub(crate) async fn run_of_pi(
        self: &Rc<Self>,
        id: Option<&Json>,
        command: Command,
    ) -> Result<Reply, Command> {
        Ok(match command {
            Command::Steer { message, images } => self.queue(message, images, Delivery::Steer),
            Command::FollowUp { message, images } => self.queue(message, images, Delivery::FollowUp),
            Command::Abort {} => self.abort().await,
            Command::ClearQueue {} => {
                let texts = queue_texts(&self.agent);
                self.agent.take_back();
                data(&texts)
            }
            Command::NewSession { parent_session } => self.new_session(parent_session).await,
            Command::GetState {} => self.state(),
            Command::SetModel { provider, model_id } => self.set_model(&provider, &model_id).await,
            Command::CycleModel {} => self.cycle_model().await,
            Command::GetAvailableModels {} => {
                let models: Vec<Json> = self.program.models().iter().map(model_json).collect();
                data(&json!({ "models": models }))
            }
            Command::SetThinkingLevel { level } => self.set_thinking(level).await,
            Command::CycleThinkingLevel {} => self.cycle_thinking().await,
            Command::GetAvailableThinkingLevels {} => data(&json!({"levels": self.thinking_levels()})),
            Command::SetSteeringMode { mode } => {
                self.change_settings(Box::new(move |settings| settings.steering_mode = mode.into())).await
            }
            Command::SetFollowUpMode { mode } => {
                self.change_settings(Box::new(move |settings| settings.follow_up_mode = mode.into())).await
            }
            Command::Compact { custom_instructions } => self.compact(custom_instructions).await,
            Command::SetAutoCompaction { enabled } => {
                self.change_settings(Box::new(move |settings| settings.compaction.enabled = enabled)).await
            }
            Command::SetAutoRetry { enabled } => self.set_auto_retry(enabled).await,
            Command::AbortRetry {} => {
                if self.translator.borrow().is_waiting_to_retry {
                    self.agent.abort();
                }
                done()
            }
            Command::Bash { command, exclude_from_context } => {
                let is_private = exclude_from_context.unwrap_or_default();
                self.bash(id, UserCommand { command, is_private }).await
            }
            Command::AbortBash {} => {
                self.commands.borrow().iter().for_each(|(_, cancel)| cancel.cancel());
                done()
            }
            Command::GetSessionStats {} => self.stats(),
            Command::ExportHtml { output_path } => self
                .agent
                .read(|session| self.program.export_html(session, output_path.as_deref()))
                .and_then(|path| data(&json!({ "path": path }))),
            Command::SwitchSession { session_path } => self.switch_session(&session_path).await,
            Command::Fork { entry_id } => self.fork(entry_id).await,
            Command::Clone {} => self.clone_session().await,
            Command::GetForkMessages {} => self.agent.read(fork_messages),
            Command::GetEntries { since } => self.agent.read(|session| entries(session, since.as_deref())),
            Command::GetTree { preview } => self.agent.read(|session| super::tree::tree(session, preview)),
            Command::GetLastAssistantText {} => self.agent.read(last_text),
            Command::SetSessionName { name } => self.set_name(&name),
            Command::GetMessages {} => self.agent.read(|session| {
                let messages: Vec<Json> = session.context()?.messages().map(message_json).collect();
                data(&json!({ "messages": messages }))
            }),
            Command::GetCommands {} => {
                let state = self.agent.state();
                let of_extensions = numbered(&state.commands).into_iter().map(|(name, command)| {
                    json!({"name": name, "description": command.description(), "source": "extension"})
                });
                let of_files = state.resources.commands().map(|command| {
                    json!({"name": command.name, "description": command.description, "source": command.source})
                });
                data(&json!({"commands": of_extensions.chain(of_files).collect::<Vec<_>>()}))
            }
            other => return Err(other),
        })
    }

    async fn abort(&self) -> Reply {
        self.agent.abort();
        self.agent.wait_until_idle().await?;
        done()
    }

    fn state(&self) -> Reply {
        let (agent, settings) = (self.agent.state(), self.agent.state().settings);
        let queue = queue_texts(&self.agent);
        let is_compacting = self.translator.borrow().is_compacting;
        self.agent.read(|session| {
            data(&State {
                model: agent.model.as_ref().map(|model| model_json(model.spec())),
                thinking_level: agent.thinking,
                is_streaming: self.is_streaming(),
                is_compacting,
                steering_mode: SendMode::from(settings.steering_mode),
                follow_up_mode: SendMode::from(settings.follow_up_mode),
                session_file: file(session),
                session_id: session.header().id().into_owned(),
                session_name: session.name().map(str::to_owned),
                auto_compaction_enabled: settings.compaction.enabled,
                message_count: session.context()?.items.len(),
                pending_message_count: queue.steering.len() + queue.follow_up.len(),
            })
        })
    }

    async fn set_model(&self, provider: &str, id: &str) -> Reply {
        let name = format!("{provider}/{id}");
        let is_known = self.program.models().iter().any(|spec| spec.full_name() == name);
        let model = self.program.model(&name).ok().filter(|_| is_known);
        let Some(model) = model else { return Err(Failure::new(format!("Model not found: {name}"))) };
        let spec = model.spec().clone();
        self.agent.choose_model(model, ChosenBy::Name).await?;
        data(&model_json(&spec))
    }

    async fn cycle_model(&self) -> Reply {
        let models = self.program.models();
        if models.len() < 2 {
            return data(&Json::Null);
        }
        let current = self.agent.state().model.map(|model| model.spec().full_name());
        let at = models.iter().position(|spec| Some(spec.full_name()) == current).unwrap_or(0);
        let next = &models[(at + 1) % models.len()];
        self.agent.choose_model(self.program.model(&next.full_name())?, ChosenBy::Cycling).await?;
        let level = self.agent.state().thinking;
        data(&json!({"model": model_json(next), "thinkingLevel": level, "isScoped": false}))
    }

    async fn set_thinking(&self, level: ThinkingLevel) -> Reply {
        let state = self.agent.state();
        let level = state.model.as_ref().map_or(level, |model| model.spec().clamp(level));
        if level != state.thinking {
            self.agent.choose_thinking(level).await?;
        }
        done()
    }

    async fn cycle_thinking(&self) -> Reply {
        let levels = self.thinking_levels();
        if levels.len() < 2 {
            return data(&Json::Null);
        }
        let current = self.agent.state().thinking;
        let at = levels.iter().position(|level| *level == current).unwrap_or(0);
        let next = levels[(at + 1) % levels.len()];
        self.agent.choose_thinking(next).await?;
        data(&json!({ "level": next }))
    }

    fn thinking_levels(&self) -> Vec<ThinkingLevel> {
        let model = self.agent.state().model;
        let known = model.map(|model| model.spec().thinking_levels.clone()).unwrap_or_default();
        let others = known.into_iter().filter(|level| *level != ThinkingLevel::Off);
        std::iter::once(ThinkingLevel::Off).chain(others).collect()
    }

    async fn change_settings(&self, change: ChangeSettings) -> Reply {
        self.agent.change_settings(change).await?;
        done()
    }

    async fn set_auto_retry(&self, enabled: bool) -> Reply {
        let usual = offshoot_agent::turn::RetryPolicy::default().most;
        let change = move |settings: &mut offshoot_agent::settings::Settings| {
            settings.retry.most = match enabled {
                false => 0,
                true if settings.retry.most == 0 => usual,
                true => settings.retry.most,
            };
        };
        self.change_settings(Box::new(change)).await
    }

    async fn compact(&self, focus: Option<String>) -> Reply {
        match self.agent.compact(focus).await {
            Ok(Applied::Done(id)) => data(&compaction_json(&self.agent, &id)),
            Ok(Applied::Cancelled(_)) => Err(Failure::new("Compaction cancelled")),
            Err(error) => {
                let text = match &error {
                    AgentError::NothingSaid | AgentError::Session(Error::NothingToCompact) => TOO_SMALL,
                    AgentError::Session(Error::AlreadyCompacted) => "Already compacted",
                    _ => return Err(error.into()),
                };
                // The agent did not begin; pi reports the attempt all the same.
                self.publish([
                    WireEvent::new("compaction_start", json!({"reason": "manual"})),
                    WireEvent::new(
                        "compaction_end",
                        json!({
                            "reason": "manual", "aborted": false, "willRetry": false,
                            "errorMessage": format!("Compaction failed: {text}"),
                        }),
                    ),
                ])
                .await;
                Err(Failure::new(text))
            }
        }
    }

    async fn bash(&self, id: Option<&Json>, command: UserCommand) -> Reply {
        let running = self.agent.run_command(command);
        self.commands.borrow_mut().push((id.cloned(), running.canceller()));
        let ran = running.await;
        // Commands run one after the other, so the first one is this one.
        let rest = ran.as_ref().ok().and_then(|ran| {
            let value = ran.message.value();
            let output = value.get("output").and_then(|output| output.as_str()).unwrap_or_default();
            self.translator.borrow_mut().bash_output(&output, id)
        });
        self.publish(rest).await;
        self.translator.borrow_mut().end_bash();
        self.commands.borrow_mut().remove(0);
        let message = message_json(&ran?.message);
        let mut result = json!({});
        for field in ["output", "exitCode", "cancelled", "truncated", "fullOutputPath"] {
            if let Some(value) = message.get(field).filter(|value| !value.is_null()) {
                result[field] = value.clone();
            }
        }
        data(&result)
    }

    fn stats(&self) -> Reply {
        let model = self.agent.state().model;
        self.agent.read(|session| {
            let stats = Stats::of(session)?;
            let usage = &stats.usage;
            let count = |role| stats.messages(role).count;
            let context_usage = match model.map(|model| model.spec().context_window) {
                Some(window) if window > 0 => {
                    let tokens = session.context_estimate(Position::Leaf)?.tokens;
                    #[expect(clippy::cast_precision_loss, reason = "no window has 2^53 tokens")]
                    let percent = tokens as f64 / window as f64 * 100.0;
                    Some(ContextUsage {
                        tokens: Some(tokens),
                        context_window: window,
                        percent: Some(percent),
                    })
                }
                _ => None,
            };
            data(&SessionStats {
                session_file: file(session),
                session_id: session.header().id().into_owned(),
                user_messages: count(Role::User),
                assistant_messages: count(Role::Assistant),
                tool_calls: stats.tool_calls(),
                tool_results: count(Role::ToolResult),
                total_messages: stats.kind(Kind::Message).count,
                tokens: Tokens {
                    input: usage.input,
                    output: usage.output,
                    cache_read: usage.cache_read,
                    cache_write: usage.cache_write,
                    total: usage.input + usage.output + usage.cache_read + usage.cache_write,
                },
                cost: usage.cost,
                context_usage,
            })
        })
    }

    async fn new_session(&self, parent: Option<String>) -> Reply {
        let new = NewSession { parent_session: parent, ..NewSession::default() };
        let request = NewRequest { new, ..NewRequest::default() };
        cancellable(&sessions::new_session(&self.agent, request, &*self.program).await?)
    }

    async fn switch_session(&self, path: &str) -> Reply {
        let file = self.program.find_session(path)?;
        cancellable(&sessions::resume(&self.agent, file, &*self.program).await?)
    }

    async fn fork(&self, entry: String) -> Reply {
        let entry = match self.agent.find(&entry) {
            Ok(id) => id.to_string(),
            Err(_) => return Err(Failure::new("Invalid entry ID for forking")),
        };
        let position = Some(ForkPosition::Before);
        let request = ForkRequest { position, ..ForkRequest::at(entry) };
        match self.agent.fork_at(request, self.program.options()).await {
            Ok(Applied::Done(forked)) => {
                let text = Some(forked.editor_text.unwrap_or_default());
                data(&Cancellable { text, cancelled: false })
            }
            Ok(Applied::Cancelled(_)) => data(&Cancellable { text: None, cancelled: true }),
            Err(AgentError::Session(Error::NotAPrompt { .. })) => {
                Err(Failure::new("Invalid entry ID for forking"))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn clone_session(&self) -> Reply {
        let planned = match self.agent.plan_clone(None).await {
            Ok(planned) => planned,
            Err(AgentError::NothingToClone) => return Err(Failure::new(NO_CLONE)),
            Err(error) => return Err(error.into()),
        };
        cancellable(&self.agent.fork(planned, self.program.options()).await?)
    }

    pub(crate) fn set_name(&self, name: &str) -> Reply {
        match name.trim() {
            "" => Err(Failure::new("Session name cannot be empty")),
            name => {
                self.agent.set_session_name(name)?;
                done()
            }
        }
    }
}

fn cancellable<T>(applied: &Applied<T>) -> Reply {
    data(&Cancellable { text: None, cancelled: applied.cancelled_by().is_some() })
}

/// Spells a model.
fn model_json(spec: &ModelSpec) -> Json {
    spec.to_json()
}

fn file(session: &Session) -> Option<String> {
    session.file().map(|file| PathBuf::from(file).display().to_string())
}

fn fork_messages(session: &Session) -> Reply {
    let tree = session.tree();
    let mut messages = Vec::new();
    for node in tree.nodes().filter(|node| tree.role(*node) == Some(Role::User)) {
        let text = session.entry_at(node)?.to_message().map(|message| message.text().into_owned());
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            messages.push(ForkMessage { entry_id: tree.id(node), text });
        }
    }
    data(&json!({ "messages": messages }))
}

/// Spells all entries, or those after one, as they are in the file.
fn entries(session: &Session, since: Option<&str>) -> Reply {
    let tree = session.tree();
    let mut nodes = tree.nodes();
    if let Some(since) = since {
        let Some(after) = tree.node(since) else {
            return Err(Failure::new(format!("Entry not found: {since}")));
        };
        nodes.by_ref().find(|node| *node == after);
    }
    super::tree::entry_list(session, nodes).map(|entries| {
        let leaf = json!(session.leaf_id());
        format!("{{\"entries\":{entries},\"leafId\":{leaf}}}")
    })
}

fn last_text(session: &Session) -> Reply {
    let tree = session.tree();
    let path = session.branch_path(Position::Leaf).into_iter().rev();
    for node in path.filter(|node| tree.role(*node) == Some(Role::Assistant)) {
        let text = session.entry_at(node)?.to_message().map(|message| message.text().into_owned());
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            return data(&json!({ "text": text }));
        }
    }
    data(&json!({"text": null}))
}

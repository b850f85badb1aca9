//! A stage for extensions: an agent with a scripted model, and a host whose person follows a script too.

#[path = "theatre.rs"]
mod theatre;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use offshoot_agent::agent::{
    Agent, NavigateRequest, NavigationResult, Submission, Submitted, SummaryRequest,
};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::Applied;
use offshoot_agent::extension::{CommandRun, ExtensionBundle};
use offshoot_agent::hooks::Handler;
use offshoot_agent::model::{
    AnswerEvent, AnswerStream, BlockEnd, BlockStart, Model, ModelSpec, Price, Request, StopReason,
    ThinkingLevel, Usage,
};
use offshoot_agent::permission::{self, Permissions};
use offshoot_agent::tool::{ToolCall, ToolOutput, ToolPlace};
use offshoot_extensions::discover::{self, FoundExtension};
use offshoot_extensions::host::{ExtensionFailure, Host, Mode};
use offshoot_extensions::network::Network;
use offshoot_extensions::{Extension, Extensions, Limits, LoadError, LoadOptions};
use serde_json::{Value as Json, json};
use session_tree::{Message, Options, Position, Session, Timestamp};
use testkit::clock::TickingClock;
use testkit::ids::CountingIds;

use theatre::{Says, Theatre};

/// A model that says what a test wants, and keeps what it was asked.
#[derive(Debug)]
pub(crate) struct Scripted {
    spec: ModelSpec,
    replies: Mutex<VecDeque<&'static str>>,
    pub(crate) requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(provider: &str, id: &str, replies: &[&'static str]) -> Arc<Self> {
        let spec = ModelSpec {
            provider: provider.into(),
            id: id.into(),
            name: id.into(),
            api: "test".into(),
            context_window: 200_000,
            max_output: 8_000,
            thinking_levels: vec![ThinkingLevel::Off, ThinkingLevel::High],
            reads_images: true,
            price: Price::default(),
        };
        Arc::new(Scripted {
            spec,
            replies: Mutex::new(replies.iter().copied().collect()),
            requests: Mutex::default(),
        })
    }
}

impl Model for Scripted {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn answer(&self, request: Request) -> AnswerStream {
        self.requests.lock().unwrap().push(request);
        let text = self.replies.lock().unwrap().pop_front().unwrap_or("(the script is over)");
        let usage = Usage { input: 10, output: 5, cache_read: 0, cache_write: 0 };
        Box::pin(stream::iter(vec![
            Ok(AnswerEvent::Begin { response_id: None }),
            Ok(AnswerEvent::BlockStart { index: 0, block: BlockStart::Text }),
            Ok(AnswerEvent::BlockDelta { index: 0, text: text.into() }),
            Ok(AnswerEvent::BlockEnd { index: 0, end: BlockEnd::default() }),
            Ok(AnswerEvent::Usage(usage)),
            Ok(AnswerEvent::End { stop: StopReason::Stop }),
        ]))
    }
}

/// Everything that an extension needs.
pub(crate) struct Stage {
    pub(crate) agent: Agent,
    pub(crate) host: Arc<Host>,
    pub(crate) theatre: Arc<Theatre>,
    pub(crate) extensions: Extensions,
    pub(crate) errors: Vec<LoadError>,
    pub(crate) model: Arc<Scripted>,
    pub(crate) home: Arc<tempfile::TempDir>,
    next_call: usize,
}

/// How a stage is set up.
pub(crate) struct Setup {
    pub(crate) has_ui: bool,
    pub(crate) trusted: bool,
    pub(crate) confined: bool,
    pub(crate) replies: Vec<&'static str>,
    pub(crate) model: (&'static str, &'static str),
    pub(crate) limits: Limits,
    pub(crate) flags: Json,
    pub(crate) session: Option<Session>,
    pub(crate) network: Option<Arc<dyn Network>>,
    /// The engine, in options that have nothing else.
    pub(crate) engine: LoadOptions,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            has_ui: true,
            trusted: true,
            confined: false,
            replies: Vec::new(),
            model: ("prov", "mod"),
            limits: Limits { stuck: Duration::from_millis(200), ..Limits::default() },
            flags: json!({}),
            session: None,
            network: None,
            engine: crate::engine(),
        }
    }
}

pub(crate) fn options() -> Options {
    let clock = TickingClock::new(Timestamp::from_millis(1_735_689_600_000), 1_000);
    Options::new().clock(clock).ids(CountingIds::default())
}

impl Setup {
    /// Loads files that are written into a directory of their own.
    pub(crate) async fn with(self, files: &[(&str, &str)]) -> Stage {
        let home = Arc::new(tempfile::tempdir().unwrap());
        let mut found = Vec::new();
        for (name, text) in files {
            let path = home.path().join("extensions").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            found.extend(discover::by_path(&path).unwrap());
        }
        self.load(home, found).await
    }

    /// Loads files that are there.
    pub(crate) async fn of(self, paths: &[PathBuf]) -> Stage {
        let found = paths.iter().flat_map(|path| discover::by_path(path).unwrap()).collect();
        self.load(Arc::new(tempfile::tempdir().unwrap()), found).await
    }

    async fn load(self, home: Arc<tempfile::TempDir>, found: Vec<FoundExtension>) -> Stage {
        let project = home.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let model = Scripted::new(self.model.0, self.model.1, &self.replies);
        let session = self.session.unwrap_or_else(|| options().in_memory("/w").unwrap());
        let shared: Arc<dyn Model> = model.clone();
        let agent = Agent::new(session, &project).with_model(shared.clone(), ThinkingLevel::Off);
        let allowed = Arc::new(Permissions::new(permission::Mode::AllowAll));
        let mut agent = agent.with_system("You are a test.").with_approver(allowed);
        let theatre = Arc::new(Theatre::default());
        let mut host = Host::new(&agent.handle(), &project, home.path().join("config"));
        host.mode = if self.has_ui { Mode::Tui } else { Mode::Print };
        host.is_project_trusted = true;
        host.models = vec![shared.clone()];
        host.options = Arc::new(options);
        host.front_end = theatre.front_end();
        host.network = self.network;
        host.state().system = "You are a test.".into();
        host.state().model = Some(shared.spec().clone());
        let host = Arc::new(host);
        let flags = self.flags.as_object().cloned().unwrap_or_default();
        let found: Vec<FoundExtension> =
            found.into_iter().map(|one| FoundExtension { is_confined: self.confined, ..one }).collect();
        let options = LoadOptions { limits: self.limits, trusted: self.trusted, flags, ..self.engine };
        let (extensions, errors) = Extensions::load(&found, &host, &options).await;
        host.tools.replace(extensions.clone());
        agent.install(ExtensionBundle { hooks: extensions.hooks(), commands: extensions.commands() });
        Stage { agent, host, theatre, extensions, errors, model, home, next_call: 0 }
    }
}

/// Loads one extension, with everything else as usual.
pub(crate) async fn stage(text: &str) -> Stage {
    let stage = Setup::default().with(&[("one.ts", text)]).await;
    assert_eq!(stage.errors, []);
    stage
}

impl Drop for Stage {
    /// Ends the extensions, which the host would keep.
    fn drop(&mut self) {
        self.host.tools.replace(Extensions::default());
    }
}

impl Stage {
    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    pub(crate) fn only(&self) -> Extension {
        self.extensions.iter().next().expect("one extension").clone()
    }

    /// Lets the person say something when asked next.
    pub(crate) fn says(&self, what: impl Into<Json>) {
        self.theatre.says.lock().unwrap().push_back(Says::This(what.into()));
    }

    pub(crate) fn types(&self, keys: &[&'static str]) {
        self.theatre.says.lock().unwrap().push_back(Says::Keys(keys.to_vec()));
    }

    pub(crate) fn stays_silent(&self) {
        self.theatre.says.lock().unwrap().push_back(Says::Silence);
    }

    /// Takes what was shown since the last time, without colours.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = std::mem::take(&mut *self.theatre.notes.lock().unwrap());
        notes.iter().map(|note| plain(note)).collect()
    }

    /// Takes what components drew since the last time, without colours.
    pub(crate) fn screens(&self) -> Vec<String> {
        let screens = std::mem::take(&mut *self.theatre.screens.lock().unwrap());
        screens.iter().map(|screen| plain(screen)).collect()
    }

    /// Draws the footer, header or widget that was set last, without colours.
    pub(crate) async fn drawn(&self) -> String {
        self.try_drawn().await.unwrap()
    }

    pub(crate) async fn try_drawn(&self) -> Result<String, String> {
        let component = self.theatre.kept.lock().unwrap().last().expect("a component").clone();
        Ok(plain(&component.render(72).await?.join("\n")))
    }

    /// Waits until something is shown that contains a text; gives all that was shown until then.
    pub(crate) async fn shown(&self, text: &str) -> Vec<String> {
        let mut all = Vec::new();
        let begin = std::time::Instant::now();
        while begin.elapsed() < Duration::from_secs(20) {
            all.extend(self.notes());
            if all.iter().any(|note| note.contains(text)) {
                return all;
            }
            tokio::task::yield_now().await;
        }
        panic!("{text:?} is not shown: {all:?}");
    }

    pub(crate) fn troubles(&self) -> Vec<ExtensionFailure> {
        std::mem::take(&mut *self.theatre.troubles.lock().unwrap())
    }

    /// Returns the names of the tools that the model may call.
    pub(crate) fn active_tools(&self) -> Vec<String> {
        self.host.tools.active().names().map(str::to_owned).collect()
    }

    /// Asks all extensions about an event, as the agent would, one after the other; the last answer that says something.
    pub(crate) async fn fire(&self, event: &str, payload: Json) -> Json {
        let mut last = Json::Null;
        for extension in self.extensions.iter().filter(|one| one.wants(event)) {
            let answer = Handler::call(extension, event, &payload, &Cancel::new()).await.unwrap();
            if !answer.is_null() {
                last = answer;
            }
        }
        last
    }

    /// Runs a command as a person types it, and serves its requests to the agent.
    pub(crate) async fn command(&mut self, line: &str) -> Result<Option<String>, String> {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        match self.agent.run_extension_command(name, arguments, &Cancel::new()).await {
            CommandRun::Done(prompt) => Ok(prompt),
            CommandRun::Failed(error) => Err(error),
            CommandRun::Unknown => panic!("no command {name}"),
        }
    }

    /// Submits what a person typed.
    pub(crate) async fn submit(&mut self, text: &str) -> Submitted {
        let submitted = self.agent.submit(Submission::typed(text), &Cancel::new()).await.unwrap();
        self.serve().await;
        submitted
    }

    /// Does what extensions have asked of the agent.
    pub(crate) async fn serve(&mut self) {
        self.agent.run_queue(&Cancel::new()).await;
    }

    /// Waits for the next thing that an extension asks of the agent, and does it.
    pub(crate) async fn serve_one(&mut self) {
        self.agent.run_next(&Cancel::new()).await;
    }

    /// Moves the leaf.
    pub(crate) async fn navigate(
        &mut self,
        target: &str,
        summary: SummaryRequest,
    ) -> Applied<NavigationResult> {
        let request = NavigateRequest { target: target.into(), summary, label: None };
        self.agent.navigate_tree(&request, &Cancel::new()).await.unwrap()
    }

    /// Calls a tool as a model would, and puts call and result into the session.
    pub(crate) async fn tool(&mut self, name: &str, arguments: Json) -> ToolOutput {
        self.next_call += 1;
        let id = format!("call-{}", self.next_call);
        let tools = self.extensions.tools();
        let tool = tools.iter().find(|tool| tool.spec().name == name).expect("the tool").clone();
        let call = ToolCall { id: id.clone(), name: name.into(), arguments: arguments.clone() };
        let block = json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
        self.append(
            json!({"role": "assistant", "content": [block], "stopReason": "toolUse", "usage": usage()}),
        );
        let place = ToolPlace::new(self.project(), Cancel::new());
        let output = tool.run(call, &place).await;
        self.append(json!({
            "role": "toolResult", "toolCallId": id, "toolName": name, "content": output.content,
            "details": output.details, "isError": output.is_error,
        }));
        output
    }

    /// Appends a message to the session and gives its id.
    pub(crate) fn append(&self, mut message: Json) -> String {
        message["timestamp"] = json!(1);
        let message = Message::from_serialize(&message).unwrap();
        self.agent.session().append_message(&message).unwrap().to_string()
    }

    /// Returns the custom message of a type that is in the session.
    pub(crate) fn only_message(&self, custom_type: &str) -> Json {
        let session = self.agent.session();
        let entries = session.tree().nodes().map(|node| session.entry_at(node).unwrap());
        let mut values = entries.filter_map(|entry| entry.value().and_then(|value| value.to_serde()));
        values.find(|value| value["customType"] == custom_type).expect("the message")
    }

    pub(crate) fn user(&self, text: &str) -> String {
        self.append(json!({"role": "user", "content": text}))
    }

    pub(crate) fn assistant(&self, text: &str) -> String {
        let content = json!([{"type": "text", "text": text}]);
        self.append(json!({"role": "assistant", "content": content, "stopReason": "stop", "usage": usage()}))
    }

    /// Spells the path: role and text of every message, other entries by their type.
    pub(crate) fn path(&self) -> Vec<String> {
        let session = self.agent.session();
        let spell = |node| {
            let entry = session.entry_at(node).unwrap();
            match entry.message().map(|message| Message::parse(message.raw()).unwrap()) {
                Some(message) => format!("{}: {}", message.role(), message.text()),
                None => {
                    let value = entry.value().and_then(|value| value.to_serde()).unwrap();
                    let more = ["customType", "label", "name", "summary"]
                        .iter()
                        .find_map(|key| value[*key].as_str());
                    format!("{} {}", entry.type_name(), more.unwrap_or_default())
                }
            }
        };
        session.branch_path(Position::Leaf).into_iter().map(spell).collect()
    }
}

fn usage() -> Json {
    let cost = json!({"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.25});
    json!({"input": 1000, "output": 500, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1500, "cost": cost})
}

/// Takes colours out of a text.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        let end =
            code.find(|c: char| c.is_ascii_alphabetic() || c == '\u{7}').map_or(code.len(), |at| at + 1);
        rest = &code[end..];
    }
    plain + rest
}

/// Runs git in a directory, without the settings of the user.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

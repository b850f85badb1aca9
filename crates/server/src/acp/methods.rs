//! The methods of the protocol.

use std::path::PathBuf;
use std::rc::Rc;

use offshoot_agent::command::{Applied, ForkRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use session_tree::{EntryId, ForkPosition};

use super::connection::Connection;
use super::session::AcpSession;
use super::{SessionChoice, history};
use crate::failure::{Failure, FailureKind};
use crate::page::Page;

/// The version of the protocol.
const VERSION: u64 = 1;

/// The sessions of one page of a list.
const PAGE: usize = 100;

/// The extension methods, and the commands that they run.
const TREE_METHODS: [(&str, &str); 4] = [
    ("_offshoot/tree", "get_tree"),
    ("_offshoot/navigate", "navigate_tree"),
    ("_offshoot/label", "set_label"),
    ("_offshoot/branches", "list_branches"),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: String,
}

/// The parameters of `session/new`, `load`, `resume` and `fork`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Open {
    #[serde(default)]
    session_id: String,
    cwd: PathBuf,
    #[serde(default)]
    mcp_servers: Vec<Json>,
    #[serde(default, rename = "_meta")]
    meta: Json,
}

impl Connection {
    /// Runs a request.
    pub(super) async fn call(
        self: &Rc<Self>,
        method: &str,
        params: Map<String, Json>,
    ) -> Result<Json, Failure> {
        if let Some((_, command)) = TREE_METHODS.iter().find(|(name, _)| *name == method) {
            return self.run_of_tree(command, params).await;
        }
        match method {
            "initialize" => Ok(self.initialize(params)),
            "authenticate" => Err(Failure::of(
                FailureKind::BadInput,
                "no method of authentication is offered: keys of model services are stored with `offshoot login`",
            )),
            "session/new" => {
                let open: Open = read(params)?;
                let session = self.open(&open, SessionChoice::New).await?;
                Ok(with_id(&session))
            }
            "session/load" => {
                let open: Open = read(params)?;
                let session = self.open(&open, SessionChoice::Existing(&open.session_id)).await?;
                self.replay(&session).await?;
                Ok(session.state())
            }
            "session/resume" => {
                let open: Open = read(params)?;
                Ok(self.open(&open, SessionChoice::Existing(&open.session_id)).await?.state())
            }
            "session/fork" => self.fork(&read(params)?).await,
            "session/list" => self.list(&params),
            "session/close" => {
                let OfSession { session_id } = read(params)?;
                let session = self.session(&session_id)?;
                self.sessions.borrow_mut().remove(&session_id);
                session.close().await;
                Ok(json!({}))
            }
            "session/delete" => {
                let OfSession { session_id } = read(params)?;
                let open = self.sessions.borrow_mut().remove(&session_id);
                if let Some(session) = open {
                    session.close().await;
                }
                self.workspace.trash(&session_id)?;
                Ok(json!({}))
            }
            "session/prompt" => {
                let session = self.session_of(&params)?;
                session.prompt(self, params.get("prompt").unwrap_or(&Json::Null)).await
            }
            "session/set_mode" => self.session_of(&params)?.set_mode(text(&params, "modeId")?),
            "session/set_config_option" => {
                let session = self.session_of(&params)?;
                session.set_option(text(&params, "configId")?, text(&params, "value")?).await
            }
            method => Err(Failure::of(FailureKind::UnknownCommand, format!("there is no method `{method}`"))),
        }
    }

    /// Takes a notification; unknown ones are ignored.
    pub(super) fn notified(&self, method: &str, params: &Map<String, Json>) {
        if method != "session/cancel" {
            return;
        }
        match self.session_of(params) {
            Ok(session) => session.cancel(),
            Err(failure) => tracing::warn!(failure.message, "session/cancel"),
        }
    }

    fn session_of(&self, params: &Map<String, Json>) -> Result<Rc<AcpSession>, Failure> {
        self.session(text(params, "sessionId")?)
    }

    fn initialize(&self, mut params: Map<String, Json>) -> Json {
        let capabilities = params.remove("clientCapabilities").unwrap_or_default();
        self.capabilities.replace(capabilities);
        let methods: Vec<&str> = TREE_METHODS.iter().map(|(name, _)| *name).collect();
        json!({
            "protocolVersion": VERSION,
            "agentInfo": {
                "name": "offshoot", "title": "offshoot", "version": env!("CARGO_PKG_VERSION"),
            },
            "authMethods": [],
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
                "mcpCapabilities": {"http": self.workspace.uses_servers(), "sse": false},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}},
                "_meta": {"offshoot": {"methods": methods, "messageIdsAreEntryIds": true}},
            },
        })
    }

    /// Starts an agent, unless the session is open already.
    async fn open(
        self: &Rc<Self>,
        open: &Open,
        choice: SessionChoice<'_>,
    ) -> Result<Rc<AcpSession>, Failure> {
        if !open.cwd.is_absolute() {
            return Err(Failure::of(FailureKind::BadInput, "`cwd` must be an absolute path"));
        }
        let known = match choice {
            SessionChoice::New => None,
            SessionChoice::Existing(id) => self.sessions.borrow().get(id).cloned(),
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let started = self.workspace.start(&open.cwd, choice, &open.mcp_servers)?;
        let session = AcpSession::start(self, started).await?;
        self.sessions.borrow_mut().insert(session.id(), session.clone());
        Ok(session)
    }

    /// Sends the path of the leaf as updates.
    async fn replay(&self, session: &AcpSession) -> Result<(), Failure> {
        let updates = session.server.agent.read(history::updates)?;
        let id = session.id();
        for update in updates {
            self.update(&id, update).await;
        }
        Ok(())
    }

    /// Forks a session: at the leaf, or at the entry that `_meta.offshoot.entryId` names. All entries keep their ids.
    async fn fork(self: &Rc<Self>, open: &Open) -> Result<Json, Failure> {
        let source = self.sessions.borrow().get(&open.session_id).cloned();
        let leaf = source.and_then(|open| open.server.agent.read(|session| session.leaf_id()));
        let wanted = open.meta["offshoot"]["entryId"].as_str().map(str::to_owned);
        let choice = SessionChoice::Existing(&open.session_id);
        let started = self.workspace.start(&open.cwd, choice, &open.mcp_servers)?;
        let session = AcpSession::start(self, started).await?;
        if let Err(failure) = fork_in_place(&session, wanted, leaf).await {
            session.close().await;
            return Err(failure);
        }
        session.events_sent().await;
        self.sessions.borrow_mut().insert(session.id(), session.clone());
        self.replay(&session).await?;
        Ok(with_id(&session))
    }

    fn list(&self, params: &Map<String, Json>) -> Result<Json, Failure> {
        let cwd = params.get("cwd").and_then(Json::as_str).map(PathBuf::from);
        let rows = self.workspace.list(cwd.as_deref())?;
        let cursor = params.get("cursor").and_then(Json::as_str);
        let Page { rows, next, .. } = Page::of(rows, cursor, PAGE)?;
        let mut list = json!({"sessions": rows.iter().map(session_info).collect::<Vec<Json>>()});
        if let Some(next) = next {
            list["nextCursor"] = next.into();
        }
        Ok(list)
    }

    async fn run_of_tree(&self, command: &str, mut params: Map<String, Json>) -> Result<Json, Failure> {
        let session = self.session_of(&params)?;
        params.remove("sessionId");
        params.remove("_meta");
        if command == "get_tree" {
            params.entry("preview").or_insert(true.into());
        }
        let result = session.server.call(command, params).await?;
        session.events_sent().await;
        Ok(result)
    }
}

/// Lets the agent of a session continue in a fork at an entry: the wanted one, or the leaf that an editor sees, or its own leaf.
async fn fork_in_place(
    session: &AcpSession,
    wanted: Option<String>,
    leaf: Option<EntryId>,
) -> Result<(), Failure> {
    let agent = &session.server.agent;
    let at = match wanted.or(leaf.map(|id| id.to_string())) {
        Some(reference) => Some(agent.find(&reference)?),
        None => agent.read(|session| session.leaf_id()),
    };
    let at = at.ok_or_else(|| Failure::of(FailureKind::BadInput, "the session has no entry to fork at"))?;
    let request = ForkRequest { position: Some(ForkPosition::At), ..ForkRequest::at(at.to_string()) };
    match agent.fork_at(request, session.server.program.options()).await? {
        Applied::Done(_) => Ok(()),
        Applied::Cancelled(by) => Err(Failure::cancelled(&by)),
    }
}

fn with_id(session: &AcpSession) -> Json {
    let mut state = session.state();
    state["sessionId"] = session.id().into();
    state
}

/// Spells a session of a list.
fn session_info(row: &Json) -> Json {
    let title = row["name"].as_str().or(row["firstMessage"].as_str()).unwrap_or_default();
    let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(100).collect();
    let mut info = json!({"sessionId": row["id"], "cwd": row["cwd"], "updatedAt": row["modified"]});
    if !title.is_empty() {
        info["title"] = title.into();
    }
    info
}

fn read<T: DeserializeOwned>(params: Map<String, Json>) -> Result<T, Failure> {
    serde_json::from_value(Json::Object(params))
        .map_err(|error| Failure::of(FailureKind::BadInput, error.to_string()))
}

fn text<'p>(params: &'p Map<String, Json>, key: &str) -> Result<&'p str, Failure> {
    params
        .get(key)
        .and_then(Json::as_str)
        .ok_or_else(|| Failure::of(FailureKind::BadInput, format!("`{key}` must be a text")))
}

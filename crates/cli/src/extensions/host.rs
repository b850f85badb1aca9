//! The surroundings of extensions in this program: a plain host, the tools, and somebody who is told the rest.
//!
//! Called from the threads of extensions. What belongs on a screen is handed to whoever draws; without a screen
//! questions have the answers of the plain host.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::Brought;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::{ModelSpec, ToolSpec};
use offshoot_agent::secrets::Secrets;
use offshoot_extensions::host::{
    Action, Command, Host, HostFuture, Mode, Notice, PlainHost, Question, State, Trouble,
};
use serde_json::Value as Json;
use session_tree::{EntryId, Node, Session};
use tokio::sync::oneshot;

use super::Roster;

/// Takes what extensions want to be known, from whichever thread.
pub(crate) type Tell = Arc<dyn Fn(Told) + Send + Sync>;

/// What extensions want to be known.
#[derive(Debug)]
pub(crate) enum Told {
    /// Something went wrong.
    Failed(String),
    /// Something is to be shown.
    Show {
        /// Who shows it.
        extension: String,
        /// What.
        notice: Notice,
    },
    /// A person is to be asked.
    Ask(AskedBy),
    /// Nobody waits for the answer to this question any more.
    Close(u64),
    /// Extensions are loaded, perhaps anew.
    Loaded,
    /// One of them has registered something new.
    Registered,
    /// An extension moved the leaf away from this entry.
    Moved(Option<EntryId>),
    /// A text for the editor, if nothing is typed there.
    Offer(String),
    /// Extensions are to be loaded anew.
    Reload,
    /// The program is to end.
    Shutdown,
}

/// A question of an extension.
#[derive(Debug)]
pub(crate) struct AskedBy {
    /// Its number.
    pub(crate) id: u64,
    /// Who asks.
    pub(crate) extension: String,
    /// What is asked.
    pub(crate) question: Question,
    /// Where the answer goes.
    pub(crate) answer: oneshot::Sender<Option<Json>>,
}

/// The surroundings of extensions in this program.
pub(crate) struct ExtensionHost {
    plain: PlainHost,
    roster: Roster,
    tell: Tell,
    questions: AtomicU64,
}

impl ExtensionHost {
    /// Makes a host that tells somebody what it cannot do itself.
    pub(super) fn new(plain: PlainHost, roster: Roster, tell: Tell) -> Self {
        ExtensionHost { plain, roster, tell, questions: AtomicU64::new(1) }
    }

    /// Returns the extensions and the tools.
    pub(crate) fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Returns the handle of the agent.
    pub(super) fn agent(&self) -> &AgentHandle {
        self.plain.agent()
    }

    /// Notes how the agent and the screen are.
    pub(crate) fn set_state(&self, change: impl FnOnce(&mut State)) {
        self.plain.set_state(change);
    }

    pub(super) fn tell(&self, told: Told) {
        (self.tell)(told);
    }

    /// Something new is registered: the model gets the tools, the agent the commands.
    fn take_registered(&self) {
        self.roster.give();
        let extensions = self.roster.extensions();
        self.plain.agent().when_idle(move |agent, _| {
            let hooks = agent.hooks().clone();
            agent.bring(Brought { hooks, commands: extensions.commands() });
            Box::pin(std::future::ready(()))
        });
        self.tell(Told::Registered);
    }
}

/// Returns true if the leaf is still where it was, or on the first entry appended there.
fn goes_on_from(session: &Session, before: Option<&EntryId>) -> bool {
    let leaf = session.leaf();
    let tree = session.tree();
    let is_before = |node: Option<Node>| node.map(|node| tree.id(node)).as_ref() == before;
    is_before(leaf) || is_before(leaf.and_then(|leaf| tree.parent(leaf)))
}

/// Says that nobody waits for an answer any more, when it is dropped.
struct Open {
    id: u64,
    tell: Tell,
}

impl Drop for Open {
    fn drop(&mut self) {
        (self.tell)(Told::Close(self.id));
    }
}

impl Host for ExtensionHost {
    fn mode(&self) -> Mode {
        self.plain.mode()
    }

    fn has_ui(&self) -> bool {
        self.mode() == Mode::Tui
    }

    fn cwd(&self) -> PathBuf {
        self.plain.cwd()
    }

    fn config_dir(&self) -> PathBuf {
        self.plain.config_dir()
    }

    fn secrets(&self) -> Arc<Secrets> {
        self.plain.secrets()
    }

    fn is_project_trusted(&self) -> bool {
        self.plain.is_project_trusted()
    }

    fn with_session(&self, work: &mut dyn FnMut(&mut Session)) {
        let mut moved_from = None;
        self.plain.with_session(&mut |session| {
            let before = session.leaf_id();
            work(session);
            if !goes_on_from(session, before.as_ref()) {
                moved_from = Some(before);
            }
        });
        if let Some(before) = moved_from {
            self.tell(Told::Moved(before));
        }
    }

    fn state(&self) -> State {
        let active_tools = self.roster.active().names().map(str::to_owned).collect();
        State { active_tools, ..self.plain.state() }
    }

    fn models(&self) -> Vec<ModelSpec> {
        self.plain.models()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.roster.specs()
    }

    fn act(&self, extension: &str, action: Action) -> Result<(), String> {
        match action {
            Action::SetActiveTools(names) => self.roster.choose(names),
            Action::Registered => self.take_registered(),
            Action::Shutdown => self.tell(Told::Shutdown),
            action => return self.plain.act(extension, action),
        }
        Ok(())
    }

    fn command(&self, extension: &str, command: Command, cancel: Cancel) -> HostFuture<Result<Json, String>> {
        if command == Command::Reload {
            self.tell(Told::Reload);
            return Box::pin(std::future::ready(Ok(Json::Null)));
        }
        let done = self.plain.command(extension, command, cancel);
        let tell = self.tell.clone();
        Box::pin(async move {
            let answer = done.await?;
            // Who goes back to a prompt finds it in the editor.
            if let Some(text) = answer["editorText"].as_str() {
                tell(Told::Offer(text.to_owned()));
            }
            Ok(answer)
        })
    }

    fn ask(&self, extension: &str, question: Question, cancel: Cancel) -> HostFuture<Option<Json>> {
        if !self.has_ui() {
            return self.plain.ask(extension, question, cancel);
        }
        let id = self.questions.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.tell(Told::Ask(AskedBy { id, extension: extension.to_owned(), question, answer }));
        let open = Open { id, tell: self.tell.clone() };
        Box::pin(async move {
            let answer = answered.await.ok().flatten();
            drop(open);
            answer
        })
    }

    fn show(&self, extension: &str, notice: Notice) {
        self.tell(Told::Show { extension: extension.to_owned(), notice });
    }

    fn report(&self, trouble: Trouble) {
        self.tell(Told::Failed(trouble.to_string()));
    }
}

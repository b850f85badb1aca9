//! A host whose person follows a script.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{ModelSpec, ToolSpec};
use offshoot_agent::secrets::Secrets;
use offshoot_extensions::Component;
use offshoot_extensions::host::{
    Action, Command, Host, HostFuture, Mode, Notice, PlainHost, Question, State, Trouble, WidgetContent,
};
use serde_json::Value as Json;
use session_tree::Session;

/// What the person does when asked.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    /// Answers.
    This(Json),
    /// Types these keys, one after the other, and closes what is still open.
    Keys(Vec<&'static str>),
    /// Never answers.
    Silence,
}

/// A host whose person follows a script; it writes down everything that is shown.
pub(crate) struct Theatre {
    pub(crate) plain: PlainHost,
    has_ui: bool,
    pub(crate) says: Mutex<VecDeque<Says>>,
    pub(crate) notes: Mutex<Vec<String>>,
    pub(crate) screens: Arc<Mutex<Vec<String>>>,
    pub(crate) kept: Mutex<Vec<Component>>,
    pub(crate) troubles: Arc<Mutex<Vec<Trouble>>>,
    pub(crate) actions: Mutex<Vec<Action>>,
}

impl Theatre {
    pub(crate) fn new(plain: PlainHost, has_ui: bool) -> Self {
        Theatre {
            plain,
            has_ui,
            says: Mutex::default(),
            notes: Mutex::default(),
            screens: Arc::default(),
            kept: Mutex::default(),
            troubles: Arc::default(),
            actions: Mutex::default(),
        }
    }

    fn note(&self, note: String) {
        self.notes.lock().unwrap().push(note);
    }
}

impl Host for Theatre {
    fn mode(&self) -> Mode {
        if self.has_ui { Mode::Tui } else { Mode::Print }
    }
    fn has_ui(&self) -> bool {
        self.has_ui
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
        true
    }
    fn with_session(&self, work: &mut dyn FnMut(&mut Session)) {
        self.plain.with_session(work);
    }
    fn state(&self) -> State {
        self.plain.state()
    }
    fn models(&self) -> Vec<ModelSpec> {
        self.plain.models()
    }
    fn tools(&self) -> Vec<ToolSpec> {
        self.plain.tools()
    }
    fn act(&self, extension: &str, action: Action) -> Result<(), String> {
        self.actions.lock().unwrap().push(action.clone());
        if action == Action::Shutdown {
            self.note("shutdown".into());
        }
        self.plain.act(extension, action)
    }
    fn command(&self, extension: &str, command: Command, cancel: Cancel) -> HostFuture<Result<Json, String>> {
        if command == Command::Reload {
            self.note("reload".into());
            return Box::pin(std::future::ready(Ok(Json::Null)));
        }
        self.plain.command(extension, command, cancel)
    }
    fn ask(&self, _: &str, question: Question, _: Cancel) -> HostFuture<Option<Json>> {
        let says = self.says.lock().unwrap().pop_front();
        let spelled = match &question {
            Question::Select { title, options } => format!("select {title} {options:?}"),
            Question::Confirm { title, .. } => format!("confirm {title}"),
            Question::Input { title, .. } => format!("input {title}"),
            Question::Editor { title, prefill } => format!("editor {title} {prefill:?}"),
            Question::Custom { .. } => "custom".to_owned(),
        };
        self.note(spelled);
        let screens = self.screens.clone();
        Box::pin(async move {
            match (question, says) {
                (_, Some(Says::Silence)) => std::future::pending().await,
                (Question::Custom { component, .. }, says) => {
                    let keys = match says {
                        Some(Says::Keys(keys)) => keys,
                        _ => Vec::new(),
                    };
                    let draw = async || {
                        let drawn = component.render(72).await.unwrap().join("\n");
                        screens.lock().unwrap().push(drawn);
                    };
                    draw().await;
                    for key in keys {
                        if component.input(key).await.unwrap() {
                            return None;
                        }
                        draw().await;
                    }
                    component.close().await.unwrap();
                    None
                }
                (_, Some(Says::This(answer))) => Some(answer),
                (_, says) => panic!("nobody knows what to say: {says:?}"),
            }
        })
    }
    fn show(&self, extension: &str, notice: Notice) {
        let note = match notice {
            Notice::Notify { message, level } => format!("{level}: {message}"),
            Notice::Status { key, text } => format!("status {key}: {}", text.unwrap_or("-".into())),
            Notice::Widget { key, content, below } => {
                let content = match content {
                    Some(WidgetContent::Lines(lines)) => lines.join("|"),
                    Some(WidgetContent::Component(component)) => {
                        self.kept.lock().unwrap().push(component);
                        "component".into()
                    }
                    None => "-".into(),
                };
                format!("widget {key}{}: {content}", if below { " below" } else { "" })
            }
            Notice::Footer(component) => {
                self.keep(component, "footer");
                return;
            }
            Notice::Header(component) => {
                self.keep(component, "header");
                return;
            }
            Notice::Title(text) => format!("title {text}"),
            Notice::EditorText(text) => format!("editor text {text}"),
            Notice::Paste(text) => format!("paste {text}"),
            Notice::Working(text) => format!("working {}", text.unwrap_or("-".into())),
            Notice::Waiting { event } => format!("waiting for {extension} ({event})"),
            Notice::Redraw(_) => return,
            Notice::Other { name, arguments } => format!("{name} {arguments}"),
            other => format!("{other:?}"),
        };
        self.note(note);
    }
    fn report(&self, trouble: Trouble) {
        self.troubles.lock().unwrap().push(trouble);
    }
}

impl Theatre {
    /// Keeps a component that stays, and notes that it is there. It is drawn later: its thread is busy with this call.
    fn keep(&self, component: Option<Component>, what: &str) {
        self.note(format!("{what} {}", if component.is_some() { "set" } else { "-" }));
        self.kept.lock().unwrap().extend(component);
    }
}

//! A front end whose user follows a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use offshoot_extensions::Component;
use offshoot_extensions::host::{AskedQuestion, ExtensionFailure, FrontEnd, HostEvent, Notice, Question};
use serde_json::Value as Json;

/// A reaction of the user.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    /// Answers.
    This(Json),
    /// Types these keys, one after the other, and closes what is still open.
    Keys(Vec<&'static str>),
    /// Never answers.
    Silence,
}

/// A front end whose user follows a script; it writes down everything that is shown.
#[derive(Default)]
pub(crate) struct Theatre {
    pub(crate) says: Mutex<VecDeque<Says>>,
    pub(crate) notes: Mutex<Vec<String>>,
    pub(crate) screens: Mutex<Vec<String>>,
    pub(crate) kept: Mutex<Vec<Component>>,
    pub(crate) troubles: Mutex<Vec<ExtensionFailure>>,
    /// How often something was registered after loading.
    pub(crate) registered: Mutex<usize>,
    /// Questions that are never answered; they stay open.
    open: Mutex<Vec<AskedQuestion>>,
}

impl Theatre {
    pub(crate) fn front_end(self: &Arc<Self>) -> FrontEnd {
        let own = self.clone();
        Arc::new(move |event| own.take(event))
    }

    fn note(&self, note: impl Into<String>) {
        self.notes.lock().unwrap().push(note.into());
    }

    fn take(self: &Arc<Self>, event: HostEvent) {
        match event {
            HostEvent::Failed(trouble) => self.troubles.lock().unwrap().push(trouble),
            HostEvent::Registered => *self.registered.lock().unwrap() += 1,
            HostEvent::Show(extension, notice) => self.show(|id| extension.component(id), notice),
            HostEvent::Waiting(extension, event) => self.note(format!("waiting for {extension} ({event})")),
            HostEvent::Ask(asked) => self.ask(asked),
            HostEvent::Theme(theme) => self.note(format!("theme {}", theme.name)),
            HostEvent::Reload => self.note("reload"),
            HostEvent::Shutdown => self.note("shutdown"),
            HostEvent::NotLoaded(_)
            | HostEvent::Loaded
            | HostEvent::Close(_)
            | HostEvent::Moved(_)
            | HostEvent::EditorText(_) => {}
        }
    }

    fn ask(self: &Arc<Self>, asked: AskedQuestion) {
        let says = self.says.lock().unwrap().pop_front();
        self.note(match &asked.question {
            Question::Select { title, options } => format!("select {title} {options:?}"),
            Question::Confirm { title, .. } => format!("confirm {title}"),
            Question::Input { title, .. } => format!("input {title}"),
            Question::Editor { title, prefill } => format!("editor {title} {prefill:?}"),
            Question::Custom { .. } => "custom".to_owned(),
        });
        match (&asked.question, says) {
            (_, Some(Says::Silence)) => self.open.lock().unwrap().push(asked),
            (Question::Custom { component, .. }, says) => {
                let component = asked.extension.component(*component);
                let keys = match says {
                    Some(Says::Keys(keys)) => keys,
                    _ => Vec::new(),
                };
                let own = self.clone();
                tokio::spawn(async move {
                    own.type_keys(&component, keys).await;
                    drop(asked.answer.send(None));
                });
            }
            (_, Some(Says::This(answer))) => drop(asked.answer.send(Some(answer))),
            (_, says) => panic!("no answer for {says:?}"),
        }
    }

    async fn type_keys(&self, component: &Component, keys: Vec<&'static str>) {
        let draw = async || {
            let drawn = component.render(72).await.unwrap().join("\n");
            self.screens.lock().unwrap().push(drawn);
        };
        draw().await;
        for key in keys {
            if component.input(key).await.unwrap() {
                return;
            }
            draw().await;
        }
        component.close().await.unwrap();
    }

    fn show(&self, component: impl Fn(u64) -> Component, notice: Notice) {
        match notice {
            Notice::Notify { message, level } => self.note(format!("{level}: {message}")),
            Notice::Status { key, text } => {
                self.note(format!("status {key}: {}", text.unwrap_or("-".into())));
            }
            Notice::Widget { key, lines, component: id, below } => {
                let content = match (lines, id) {
                    (Some(lines), _) => lines.join("|"),
                    (None, Some(id)) => {
                        self.kept.lock().unwrap().push(component(id));
                        "component".into()
                    }
                    (None, None) => "-".into(),
                };
                self.note(format!("widget {key}{}: {content}", if below { " below" } else { "" }));
            }
            Notice::Footer { component: id } => self.keep(id.map(component), "footer"),
            Notice::Header { component: id } => self.keep(id.map(component), "header"),
            Notice::Title { text } => self.note(format!("title {text}")),
            Notice::EditorText { text } => self.note(format!("editor text {text}")),
            Notice::Paste { text } => self.note(format!("paste {text}")),
            Notice::Working { text } => self.note(format!("working {}", text.unwrap_or("-".into()))),
            Notice::Copy { text } => self.note(format!("copy {text}")),
            Notice::WorkingVisible { visible } => self.note(format!("working visible {visible}")),
            Notice::WorkingIndicator { frames, .. } => self.note(format!("working frames {frames:?}")),
            Notice::ThinkingLabel { text } => self.note(format!("thinking label {text:?}")),
            Notice::ToolsExpanded { expanded } => self.note(format!("tools expanded {expanded}")),
            Notice::TerminalInput { listens } => self.note(format!("terminal input {listens}")),
            Notice::Redraw { .. } => {}
        }
    }

    /// Keeps a component that stays, and notes that it is there. It is drawn later: its thread is busy with this call.
    fn keep(&self, component: Option<Component>, what: &str) {
        self.note(format!("{what} {}", if component.is_some() { "set" } else { "-" }));
        self.kept.lock().unwrap().extend(component);
    }
}

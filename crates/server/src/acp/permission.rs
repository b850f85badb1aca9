//! Questions for the person at the editor: approvals of tool calls, and dialogs of extensions.

use std::rc::Rc;

use offshoot_agent::approval::{ApprovalAnswer, ApprovalRequest};
use offshoot_extensions::host::{AskedQuestion, HostEvent, Notice, Question};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::session::AcpSession;
use super::update::{call_fields, difference};

impl AcpSession {
    /// Sends requests for approval to the editor, one after the other.
    pub(super) async fn ask_for_approvals(
        self: Rc<Self>,
        mut requests: mpsc::UnboundedReceiver<ApprovalRequest>,
    ) {
        while let Some(mut request) = requests.recv().await {
            self.events_sent().await;
            let (call, options) = self.question(&request);
            let chosen = tokio::select! {
                chosen = self.ask(call, options) => chosen,
                // The prompt was cancelled.
                () = request.over() => continue,
            };
            let answer = match chosen.as_deref() {
                Some("yes") => ApprovalAnswer::Yes,
                Some("always") if request.rule.is_some() => ApprovalAnswer::Always,
                _ => ApprovalAnswer::No(String::new()),
            };
            request.answer(answer);
        }
    }

    /// Spells the call that is asked about, and the answers.
    fn question(&self, request: &ApprovalRequest) -> (Json, Vec<Json>) {
        let id = self.updates.borrow().call_id(&request.call_id);
        let mut call = call_fields(&id, &request.tool, &request.arguments);
        call["status"] = "pending".into();
        let about = json!({"type": "content", "content": {"type": "text", "text": request.about}});
        call["content"] = match (&request.change, request.paths.first()) {
            (Some(change), Some(path)) => {
                json!([difference(&path.to_string_lossy(), change.old.as_deref(), &change.new), about])
            }
            _ => json!([about]),
        };
        let mut options = vec![option("yes", "Allow", "allow_once")];
        if let Some(rule) = &request.rule {
            options.push(option("always", &format!("Always allow {rule}"), "allow_always"));
        }
        options.push(option("no", "Reject", "reject_once"));
        (call, options)
    }

    /// Asks the person to choose an option. Returns none if the question was cancelled.
    async fn ask(&self, call: Json, options: Vec<Json>) -> Option<String> {
        let connection = self.connection.upgrade()?;
        let params = json!({"sessionId": self.id(), "toolCall": call, "options": options});
        match connection.request("session/request_permission", params).await {
            Ok(answer) if answer["outcome"]["outcome"] == "selected" => {
                answer["outcome"]["optionId"].as_str().map(str::to_owned)
            }
            Ok(_) => None,
            Err(failure) => {
                tracing::warn!(failure.message, "the editor did not answer a request for permission");
                None
            }
        }
    }

    /// Shows what an extension shows and asks what it asks, as far as an editor can.
    pub(super) async fn take_host_event(self: &Rc<Self>, event: HostEvent) {
        match event {
            HostEvent::Ask(asked) => {
                let session = self.clone();
                tokio::task::spawn_local(async move { session.answer_question(asked).await });
            }
            HostEvent::Show(_, Notice::Notify { message, .. }) => {
                tracing::info!(message, "an extension reports");
            }
            HostEvent::Failed(failure) => {
                tracing::warn!(failure.extension, failure.message, "an extension failed");
            }
            HostEvent::NotLoaded(text) => tracing::warn!(text, "an extension was not loaded"),
            HostEvent::Reload => drop(self.server.agent.reload(None)),
            _ => {}
        }
    }

    /// Answers a question of an extension. Questions for text get no answer: the protocol has none that every editor knows.
    async fn answer_question(&self, asked: AskedQuestion) {
        let AskedQuestion { question, answer, .. } = asked;
        let (title, choices) = match &question {
            Question::Select { title, options } => (title.clone(), options.clone()),
            Question::Confirm { title, message } => {
                (format!("{title}\n{message}"), vec!["Yes".to_owned(), "No".to_owned()])
            }
            Question::Input { .. } | Question::Editor { .. } | Question::Custom { .. } => {
                return drop(answer.send(None));
            }
        };
        let call = json!({
            "toolCallId": Uuid::new_v4().to_string(), "title": title, "kind": "other", "status": "pending",
        });
        let options = choices.iter().enumerate().map(|(number, name)| {
            let kind = if name == "No" { "reject_once" } else { "allow_once" };
            option(&number.to_string(), name, kind)
        });
        let chosen = self.ask(call, options.collect()).await.and_then(|id| id.parse::<usize>().ok());
        let value = match question {
            Question::Confirm { .. } => Some(Json::Bool(chosen == Some(0))),
            _ => chosen.and_then(|number| choices.get(number)).map(|name| name.as_str().into()),
        };
        // The extension may have given up.
        drop(answer.send(value));
    }
}

fn option(id: &str, name: &str, kind: &str) -> Json {
    json!({"optionId": id, "name": name, "kind": kind})
}

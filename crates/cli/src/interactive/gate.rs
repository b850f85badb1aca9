//! Permissions: what the rules do not decide, the person is asked.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use offshoot_agent::agent::{Gatekeeper, Permit};
use offshoot_agent::permission::{Caution, Decision, Permissions, Reason, Rule};
use offshoot_agent::tool::{Effect, ToolCall};
use offshoot_tui::dialog::{Item, Question};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// Asks the person at the terminal.
pub(super) struct AskingGate {
    permissions: Mutex<Permissions>,
    cwd: PathBuf,
    questions: UnboundedSender<Asked>,
}

/// A call that waits for an answer.
#[derive(Debug)]
pub(super) struct Asked {
    tool: String,
    about: String,
    /// The rule that would allow this and what is like it.
    rule: Option<Rule>,
    answer: oneshot::Sender<Answered>,
}

/// What the person said.
#[derive(Debug)]
enum Answered {
    Once,
    Always(Rule),
    No,
}

impl AskingGate {
    /// Makes a gate that sends its questions away.
    pub(super) fn new(permissions: Permissions, cwd: PathBuf, questions: UnboundedSender<Asked>) -> Self {
        AskingGate { permissions: Mutex::new(permissions), cwd, questions }
    }

    async fn ask(&self, call: &ToolCall, about: String, effect: &Effect) -> Permit {
        let (answer, answered) = oneshot::channel();
        let asked = Asked { tool: call.name.clone(), about, rule: rule(&call.name, effect), answer };
        if self.questions.send(asked).is_err() {
            return Permit::No("nobody can be asked".to_owned());
        }
        match answered.await {
            Ok(Answered::Once) => Permit::Yes,
            Ok(Answered::Always(rule)) => {
                self.permissions.lock().unwrap_or_else(PoisonError::into_inner).add(rule);
                Permit::Yes
            }
            Ok(Answered::No) | Err(_) => Permit::No("the person did not allow it".to_owned()),
        }
    }
}

impl fmt::Debug for AskingGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AskingGate")
    }
}

impl Gatekeeper for AskingGate {
    fn permit<'a>(
        &'a self,
        call: &'a ToolCall,
        effect: &'a Effect,
        caution: Option<Caution>,
    ) -> Pin<Box<dyn Future<Output = Permit> + Send + 'a>> {
        let verdict = {
            let permissions = self.permissions.lock().unwrap_or_else(PoisonError::into_inner);
            permissions.judge_after(caution, &call.name, effect, &self.cwd)
        };
        match verdict.decision {
            Decision::Allow => Box::pin(std::future::ready(Permit::Yes)),
            Decision::Deny => {
                Box::pin(std::future::ready(Permit::No(format!("not allowed: {}", verdict.reason))))
            }
            Decision::Ask => Box::pin(self.ask(call, about(effect, &verdict.reason), effect)),
        }
    }
}

impl Asked {
    /// Returns the question as it is shown.
    pub(super) fn question(&self) -> Question {
        let mut answers = vec![Item::new("Yes", "this time")];
        if let Some(rule) = &self.rule {
            answers.push(Item::new("Always", format!("{rule}, until you leave")));
        }
        answers.push(Item::new("No", "the model is told so"));
        Question::new(format!("May {} do this?", self.tool), &*self.about, answers)
    }

    /// Tells whether nobody waits for the answer any more.
    pub(super) fn is_over(&self) -> bool {
        self.answer.is_closed()
    }

    /// Gives the answer with this number; none means no.
    pub(super) fn give(self, answer: Option<usize>) {
        let said = match (answer, self.rule) {
            (Some(0), _) => Answered::Once,
            (Some(1), Some(rule)) => Answered::Always(rule),
            _ => Answered::No,
        };
        // Who asked may have been stopped meanwhile.
        drop(self.answer.send(said));
    }
}

/// What would happen, in full.
fn about(effect: &Effect, reason: &Reason) -> String {
    let what = match effect {
        Effect::Runs(command) => command.clone(),
        Effect::Reads(paths) | Effect::Writes(paths) => {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        }
        Effect::Other(words) => words.clone(),
    };
    match (effect, reason) {
        (_, Reason::Caution(caution)) => format!("{what}\nasked because {caution}"),
        (Effect::Runs(_), _) => what,
        _ => reason.to_string(),
    }
}

/// The rule that would allow this and what is like it; none where nothing sensible can be said.
fn rule(tool: &str, effect: &Effect) -> Option<Rule> {
    let text = match effect {
        Effect::Runs(command) => format!("bash({} *)", first_word(command)?),
        Effect::Writes(_) => "write(./**)".to_owned(),
        Effect::Reads(paths) => format!("read({})", paths.first()?.display()),
        Effect::Other(_) => tool.to_owned(),
    };
    Rule::parse(Decision::Allow, &text).ok()
}

/// The program that a plain command runs.
fn first_word(command: &str) -> Option<&str> {
    let word = command.split_whitespace().next()?;
    let is_plain = |c: char| c.is_alphanumeric() || "-_./+".contains(c);
    word.chars().all(is_plain).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_means_what_is_like_it() {
        let always = |effect: &Effect| rule("todo", effect).map(|rule| rule.to_string());
        assert_eq!(always(&Effect::Runs("cargo test -p x".into())).as_deref(), Some("bash(cargo *)"));
        assert_eq!(always(&Effect::Runs("$(x) y".into())), None);
        assert_eq!(always(&Effect::Writes(vec!["a".into()])).as_deref(), Some("write(./**)"));
        assert_eq!(always(&Effect::Other("a tool".into())).as_deref(), Some("todo"));
    }
}

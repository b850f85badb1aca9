//! Permissions: what the rules do not decide, the person is asked.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use offshoot_agent::agent::{Gatekeeper, Permit};
use offshoot_agent::permission::{Caution, Decision, Mode, Permissions, Reason, Rule};
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
    Always(Box<Rule>),
    No,
}

impl AskingGate {
    /// Makes a gate that sends its questions away.
    pub(super) fn new(permissions: Permissions, cwd: PathBuf, questions: UnboundedSender<Asked>) -> Self {
        AskingGate { permissions: Mutex::new(permissions), cwd, questions }
    }

    async fn ask(&self, call: &ToolCall, effect: &Effect, reason: Reason) -> Permit {
        let (answer, answered) = oneshot::channel();
        let without_rules = Permissions::new(Mode::AskFor).judge(&call.name, effect, &self.cwd).reason;
        let about = about(effect, &reason, &without_rules);
        let asked = Asked { tool: call.name.clone(), about, rule: self.rule(call, effect, &reason), answer };
        if self.questions.send(asked).is_err() {
            return Permit::No("nobody can be asked".to_owned());
        }
        match answered.await {
            Ok(Answered::Once) => Permit::Yes,
            Ok(Answered::Always(rule)) => {
                self.permissions.lock().unwrap_or_else(PoisonError::into_inner).add(*rule);
                Permit::Yes
            }
            Ok(Answered::No) | Err(_) => Permit::No("the person did not allow it".to_owned()),
        }
    }

    /// The rule that would allow this and what is like it; none if this would be asked about all the same.
    fn rule(&self, call: &ToolCall, effect: &Effect, reason: &Reason) -> Option<Rule> {
        // What is asked about out of caution is allowed already.
        let rule = rule(&call.name, effect).filter(|_| !matches!(reason, Reason::Caution(_)))?;
        let mut permissions = self.permissions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        permissions.add(rule.clone());
        let verdict = permissions.judge(&call.name, effect, &self.cwd);
        (verdict.decision == Decision::Allow).then_some(rule)
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
            Decision::Ask => Box::pin(self.ask(call, effect, verdict.reason)),
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
            (Some(1), Some(rule)) => Answered::Always(Box::new(rule)),
            _ => Answered::No,
        };
        // Who asked may have been stopped meanwhile.
        drop(self.answer.send(said));
    }
}

/// What would happen, in full; before it why somebody is asked, unless that says the same.
fn about(effect: &Effect, reason: &Reason, without_rules: &Reason) -> String {
    let what = what(effect, without_rules);
    match reason {
        Reason::Rule(_) => format!("asked because of {reason}\n{what}"),
        Reason::MayConcern(_) | Reason::Caution(_) => format!("asked because {reason}\n{what}"),
        _ => what,
    }
}

/// What would happen: the whole command, or every path as the model wrote it and where it leads.
fn what(effect: &Effect, without_rules: &Reason) -> String {
    let paths = match effect {
        Effect::Runs(text) | Effect::Other(text) => return text.clone(),
        Effect::Reads(paths) | Effect::Writes(paths) => paths,
    };
    match (paths.as_slice(), without_rules) {
        ([path], Reason::Writes(real) | Reason::ReadsOutside(real)) if real.ends_with(path) => {
            without_rules.to_string()
        }
        _ => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("{}\n{without_rules}", paths.join("\n"))
        }
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
    use std::path::Path;

    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn always_means_what_is_like_it() {
        let always = |effect: &Effect| rule("todo", effect).map(|rule| rule.to_string());
        assert_eq!(always(&Effect::Runs("cargo test -p x".into())).as_deref(), Some("bash(cargo *)"));
        assert_eq!(always(&Effect::Runs("$(x) y".into())), None);
        assert_eq!(always(&Effect::Writes(vec!["a".into()])).as_deref(), Some("write(./**)"));
        assert_eq!(always(&Effect::Other("a tool".into())).as_deref(), Some("todo"));
    }

    /// Asks a gate with these rules about a call; gives what it is about, and the rule of "Always".
    fn asked(
        rules: &[(Decision, &str)],
        cwd: &Path,
        tool: &str,
        effect: &Effect,
    ) -> (String, Option<String>) {
        let mut permissions = Permissions::new(Mode::AskFor);
        rules.iter().for_each(|(decision, text)| permissions.add(Rule::parse(*decision, text).unwrap()));
        let (ask, mut questions) = tokio::sync::mpsc::unbounded_channel();
        let gate = AskingGate::new(permissions, cwd.to_owned(), ask);
        let call = ToolCall { id: "1".into(), name: tool.into(), arguments: serde_json::Value::Null };
        // Nobody answers; who asked just waits.
        assert!(gate.permit(&call, effect, None).now_or_never().is_none());
        let asked = questions.try_recv().unwrap();
        (asked.about, asked.rule.map(|rule| rule.to_string()))
    }

    #[test]
    fn a_question_names_every_file_whatever_rule_asks_it() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap();
        let inside = Effect::Writes(vec!["a.txt".into()]);
        let (about, always) = asked(&[], &cwd, "write", &inside);
        assert_eq!(about, format!("it changes {}", cwd.join("a.txt").display()));
        assert_eq!(always.as_deref(), Some("write(./**)"));
        // A rule that asks beats one that allows, so "Always" would be none.
        let (about, always) = asked(&[(Decision::Ask, "write")], &cwd, "write", &inside);
        let changes = format!("it changes {}", cwd.join("a.txt").display());
        assert_eq!((about, always), (format!("asked because of the rule `write`\n{changes}"), None));
        // A link that leads elsewhere is shown with where it leads.
        let other = tempfile::tempdir().unwrap();
        let real = other.path().canonicalize().unwrap().join("b.txt");
        std::os::unix::fs::symlink(&real, cwd.join("link")).unwrap();
        let (about, always) = asked(&[], &cwd, "write", &Effect::Writes(vec!["link".into()]));
        assert_eq!((about, always), (format!("link\nit changes {}", real.display()), None));
    }
}

//! Approval of tool calls: a call that the rules do not decide about is shown to the user.

use std::fmt;
use std::path::{Component, Path};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use offshoot_agent::agent::{Approval, Approver};
use offshoot_agent::permission::{Decision, Mode, Permissions, Reason, Rule, is_risky_program};
use offshoot_agent::tool::{Effect, Preview};
use offshoot_agent::tools::ReadyCall;
use offshoot_tui::dialog::{Approval as ApprovalDialog, Decided, Item};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::listen::text_of;

/// Asks the user at the terminal.
pub(super) struct TerminalApprover {
    permissions: Mutex<Permissions>,
    questions: UnboundedSender<Asked>,
}

/// A call that waits for an answer.
#[derive(Debug)]
pub(super) struct Asked {
    tool: String,
    about: String,
    /// The change that the call would make.
    diff: String,
    /// The rule that would allow this call and similar ones.
    rule: Option<Rule>,
    answer: oneshot::Sender<Option<Decided>>,
}

impl TerminalApprover {
    /// Makes an approver that sends its questions away.
    pub(super) fn new(permissions: Permissions, questions: UnboundedSender<Asked>) -> Self {
        TerminalApprover { permissions: Mutex::new(permissions), questions }
    }

    fn permissions(&self) -> MutexGuard<'_, Permissions> {
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, request: &ReadyCall, reason: Reason) -> Approval {
        let diff = match request.preview().await {
            Preview::Nothing => String::new(),
            Preview::Diff(diff) => diff,
            // A call that would change nothing needs no approval.
            Preview::Fails(output) => return Approval::No(text_of(&output)),
        };
        let rule = self.rule(request, &reason);
        let (answer, answered) = oneshot::channel();
        let asked = Asked {
            tool: request.call.name.clone(),
            about: about(request, &reason),
            diff,
            rule: rule.clone(),
            answer,
        };
        if self.questions.send(asked).is_err() {
            return Approval::No("not allowed: the chat has ended, so the user cannot be asked".to_owned());
        }
        match (answered.await.ok().flatten(), rule) {
            (Some(Decided { answer: 0, .. }), _) => Approval::Yes,
            (Some(Decided { answer: 1, .. }), Some(rule)) => {
                self.permissions().rules.push(rule);
                Approval::Yes
            }
            (Some(Decided { reason, .. }), _) if !reason.is_empty() => {
                Approval::No(format!("declined by the user: {reason}"))
            }
            _ => Approval::No("declined by the user".to_owned()),
        }
    }

    /// Returns the rule that would allow this call and similar ones; none if the user would still be asked.
    fn rule(&self, request: &ReadyCall, reason: &Reason) -> Option<Rule> {
        // A call that is shown out of caution is allowed already; places of secrets are asked about each time.
        let rule = always_rule(request)
            .filter(|_| !matches!(reason, Reason::Caution(_) | Reason::OpensSecrets(_)))?;
        let mut permissions = self.permissions().clone();
        permissions.rules.push(rule.clone());
        (permissions.judge_call(request).decision == Decision::Allow).then_some(rule)
    }
}

impl fmt::Debug for TerminalApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TerminalApprover")
    }
}

impl Approver for TerminalApprover {
    fn approve<'a>(&'a self, request: &'a ReadyCall) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        let verdict = self.permissions().judge_call(request);
        match verdict.decision {
            Decision::Allow => Box::pin(std::future::ready(Approval::Yes)),
            Decision::Deny => {
                Box::pin(std::future::ready(Approval::No(format!("not allowed: {}", verdict.reason))))
            }
            Decision::Ask => Box::pin(self.ask(request, verdict.reason)),
        }
    }
}

impl Asked {
    /// Returns the question as it is shown.
    pub(super) fn question(&self) -> ApprovalDialog {
        let mut answers = vec![Item::new("Yes", "this time")];
        if let Some(rule) = &self.rule {
            answers.push(Item::new("Always", format!("{rule}, until you leave")));
        }
        answers.push(Item::new("No", ""));
        let no = Item::new("No, and", "tell the model why");
        let title = format!("May {} do this?", self.tool);
        ApprovalDialog::new(title, &self.about, &self.diff, answers, no)
    }

    /// Tells whether nobody waits for the answer any more.
    pub(super) fn is_over(&self) -> bool {
        self.answer.is_closed()
    }

    /// Gives the answer; none means no.
    pub(super) fn give(self, decided: Option<Decided>) {
        // The call may have been stopped in the meantime.
        drop(self.answer.send(decided));
    }
}

/// Describes what would happen, in full, and why the user is asked if that is not obvious.
fn about(request: &ReadyCall, reason: &Reason) -> String {
    let without_rules = Permissions::new(Mode::AskFor).judge_call(request).reason;
    let what = what(&request.effect, &without_rules);
    match reason {
        Reason::Rule(_) => format!("asked because of {reason}\n{what}"),
        Reason::MayConcern(_) | Reason::Caution(_) | Reason::OpensSecrets(_)
            if !what.contains(&reason.to_string()) =>
        {
            format!("asked because {reason}\n{what}")
        }
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

/// Returns a rule that would allow this call and similar ones; none where such a rule would allow too much.
fn always_rule(request: &ReadyCall) -> Option<Rule> {
    let text = match &request.effect {
        Effect::Runs(command) => format!("bash({})", similar_commands(command)?),
        Effect::Writes(_) => format!("write({})", similar_files(request)?),
        Effect::Reads(paths) => format!("read({})", paths.first()?.display()),
        Effect::Other(_) => request.call.name.clone(),
    };
    Rule::parse(Decision::Allow, &text).ok()
}

/// Programs that only show something harmless, whatever they are called with.
const HARMLESS: &[&str] = &["date", "echo", "false", "ls", "pwd", "sleep", "true", "wc", "which"];

/// Commands of programs that build or test a project, or show its state.
const HARMLESS_COMMANDS: &[(&str, &[&str])] = &[
    ("cargo", &["bench", "build", "check", "clippy", "doc", "fmt", "metadata", "test", "tree"]),
    ("git", &["blame", "diff", "log", "ls-files", "rev-parse", "show", "status"]),
    ("go", &["build", "fmt", "test", "vet"]),
    ("npm", &["ls", "test"]),
];

/// Returns the pattern of commands that are like this one: with other arguments if that is harmless, else the command
/// itself. None for a command that is not plain, or that deletes, gains rights or runs other programs.
fn similar_commands(command: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./+:,=@%".contains(c);
    if !command.chars().all(is_plain) {
        return None;
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let program = *words.first()?;
    if program.contains('=') || words.iter().any(|word| is_risky_program(word)) {
        return None;
    }
    let has_harmless = |command: &str| {
        HARMLESS_COMMANDS.iter().any(|(name, commands)| *name == program && commands.contains(&command))
    };
    Some(match words.get(1) {
        _ if HARMLESS.contains(&program) => format!("{program} *"),
        Some(command) if has_harmless(command) => format!("{program} {command} *"),
        // Most other commands of git change the history or the working tree.
        _ if program == "git" => return None,
        _ => words.join(" "),
    })
}

/// Returns the pattern of files that are like the one that is written: all in its directory, or the file itself at the
/// top of the project. None outside of the project, for a hidden file and in a hidden directory.
fn similar_files(request: &ReadyCall) -> Option<String> {
    let [path] = &request.place.paths[..] else { return None };
    let project = request.place.cwd.canonicalize().ok()?;
    let inside = path.real()?.strip_prefix(project).ok()?;
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    if inside.components().any(is_hidden) || inside.to_string_lossy().contains(['*', '?', '[', '{', '(', ')'])
    {
        return None;
    }
    match inside.parent().filter(|parent| *parent != Path::new("")) {
        Some(parent) => Some(format!("{}/**", parent.display())),
        None => Some(format!("./{}", inside.display())),
    }
}

#[cfg(test)]
mod tests;

//! The commands of the chat: what is typed becomes a command, and its result is shown.
//!
//! [`Services`](super::Services) parses lines and performs the commands that change a session. These modules ask for
//! missing arguments, open lists and show results.

mod branches;
mod labels;
mod models;
mod session;
mod themes;

use crate::chat::item::Tone;
use crate::chat::working::Activity;
use crate::dialog::{Item, Question};
use crate::help::Help;
use crate::keys::Action;
use offshoot_agent::command::{Applied, Replaced};
use offshoot_agent::tools::UserCommand;
use session_tree::{EntryId, Position, Role, Session};

use super::App;
use super::completion::resource_commands;
use super::services::{
    ChangeCommand, ChangeEffect, ChangeResult, ChatCommand, Line, Report, SessionChange, SessionCommand,
};
use super::views::{Chosen, View};

/// The commands that need an entry, with the title of the tree to choose it from and what Enter does there.
const CHOICES: &[(&str, &str, &str)] = &[
    ("branch-here", "Branch from which entry?", "branch here"),
    ("export-branch", "Export the branch of which entry?", "export it"),
    ("diff", "Compare the branch of which entry?", "compare"),
    ("cherry-pick", "Copy which entry here?", "copy it here"),
    ("merge", "Merge the branch of which entry?", "merge its branch"),
];

impl App<'_> {
    /// Runs what was typed: a command, a shell command, or a prompt.
    pub(super) fn submit(&mut self, text: &str) {
        match self.services.parse(text) {
            Line::Chat(command) => {
                if !needs_idle_agent(&command) || self.can_run(text) {
                    self.chat_command(command);
                }
            }
            Line::Session(command) => {
                if self.can_run(text) {
                    self.session_command(command, text);
                }
            }
            Line::Unknown(..) | Line::Text if self.run_extension_command(text) => {}
            Line::Unknown(..) if self.agent.state().resources.has_command(text) => self.say(text),
            Line::Text => match UserCommand::parse(text) {
                Some(command) => self.run_shell(command),
                None => self.say(text),
            },
            Line::Incomplete(name) => self.choose_argument(&name, text),
            Line::Help(help) => self.print(help),
            Line::Wrong(error) => self.refuse(text, &error),
            Line::Unknown(name, near) => {
                let near = near.map(|near| format!("; did you mean /{near}?")).unwrap_or_default();
                let error = format!(
                    "there is no command /{name}{near}\nhint: a space before the slash makes it a prompt"
                );
                self.refuse(text, &error);
            }
        }
    }

    /// Shows an error and leaves the text in the editor.
    fn refuse(&mut self, text: &str, error: &str) {
        self.fail(error);
        if self.chat.editor.is_blank() {
            self.chat.editor.set_text(text);
        }
    }

    /// Asks for the entry that a command lacks, and runs it then.
    fn choose_argument(&mut self, name: &str, text: &str) {
        if name == "switch" {
            return self.branches();
        }
        let Some((_, title, confirm)) = CHOICES.iter().find(|(own, ..)| *own == name) else {
            return self.refuse(text, &format!("/{name} needs an argument; /{name} --help explains it"));
        };
        let text = text.trim_end().to_owned();
        self.choose_entry(None, Some((title, confirm)), Some(with_entry(text)));
    }

    /// Returns true if a command can run now. Otherwise it waits, or goes back into the editor.
    fn can_run(&mut self, text: &str) -> bool {
        if self.extensions.is_loading() {
            self.queue_command(text);
            return false;
        }
        let is_refused = self.is_refused_now();
        if is_refused {
            self.chat.editor.set_text(text);
        }
        !is_refused
    }

    fn session_command(&mut self, command: SessionCommand, text: &str) {
        match command {
            SessionCommand::ChooseFork { in_tree } => self.choose_fork(text, in_tree),
            SessionCommand::CherryPick(request) => self.plan_pick(request),
            SessionCommand::Merge(request) => self.plan_merge(request),
            SessionCommand::Push(label) => self.ask_to_push(label),
            SessionCommand::Change(command) => self.run_change(command),
        }
    }

    /// Labels this position; asks first if another label would be replaced.
    fn ask_to_push(&mut self, label: String) {
        let reply = self.agent.plan_push(label.clone());
        self.call(reply, move |app, plan| {
            let previous = match plan {
                Ok(plan) if plan.is_noop() => None,
                Ok(plan) => plan.previous,
                Err(error) => return app.fail_with(error),
            };
            let push = move |app: &mut App<'_>| app.run_words_now(&["push", "--force", "--", &label]);
            let Some(previous) = previous else { return push(app) };
            let answers = vec![Item::new("Replace it", ""), Item::new("Keep it", "nothing changes")];
            let title = format!("This entry has the label `{previous}` already");
            app.open_question(Question::new(title, "", answers), move |app, answer| match answer {
                Some(0) => push(app),
                _ => app.tell(Tone::Info, "nothing changed"),
            });
        });
    }

    fn chat_command(&mut self, command: ChatCommand) {
        match command {
            ChatCommand::Tree { print: true, .. } => self.print_report(Report::Tree),
            ChatCommand::Tree { at, .. } => self.tree_command(at.as_deref()),
            ChatCommand::Back => {
                let planned = self.agent.plan_back();
                self.start_planned(planned, "back; /forward returns");
            }
            ChatCommand::Forward => {
                let planned = self.agent.plan_forward();
                self.start_planned(planned, "forward; /back returns");
            }
            ChatCommand::Branches => self.branches(),
            ChatCommand::Labels => self.labels(),
            ChatCommand::Diff { one, other } => self.print_diff(&one, other.as_deref()),
            ChatCommand::Export { file } => self.export(&file.join(" ")),
            ChatCommand::Session => self.print_report(Report::Stats),
            ChatCommand::Resume { session } => self.resume(&session.join(" ")),
            ChatCommand::Copy { at } => self.copy(at.as_deref()),
            ChatCommand::Model { name } => self.model_command(name.as_deref().unwrap_or_default()),
            ChatCommand::Theme { name } => self.theme_command(name.as_deref().unwrap_or_default()),
            ChatCommand::Thinking { level } => self.thinking_command(level.as_deref().unwrap_or_default()),
            ChatCommand::Settings => self.print_report(Report::Settings),
            ChatCommand::Mcp => self.print_report(Report::ToolServers),
            ChatCommand::Hotkeys => self.views.open(View::Keys(Help::default())),
            ChatCommand::Reload => self.reload(),
            ChatCommand::Help { name } => self.help(name.as_deref().unwrap_or_default()),
            ChatCommand::Log { count } => self.print_report(Report::Log(count)),
            ChatCommand::Quit => self.is_over = true,
        }
    }

    /// Runs a command that a list or the tree chose, given as words.
    pub(super) fn run_words(&mut self, words: &[&str]) {
        if !self.is_refused_now() {
            self.run_words_now(words);
        }
    }

    fn run_words_now(&mut self, words: &[&str]) {
        match self.services.parse_words(words) {
            Ok(SessionCommand::Change(command)) => self.run_change(command),
            Ok(_) => {}
            Err(error) => self.fail(&error),
        }
    }

    /// Runs a command that changes the session.
    pub(super) fn run_change(&mut self, command: ChangeCommand) {
        let asks = self.extensions.are_there().then(|| Activity::Other("Asking extensions…".to_owned()));
        if let Some(activity) = command.activity.or(asks) {
            self.begin(activity);
        }
        let work = (command.run)(&self.agent, &self.leaving);
        self.call(work, |app, result| app.finish_change(result));
    }

    fn finish_change(&mut self, result: ChangeResult) {
        self.chat.working.end();
        match result {
            Ok(Applied::Done(change)) => self.show_change(change),
            Ok(Applied::Cancelled(by)) => self.show_cancelled(&by),
            Err(error) => self.fail_with(error),
        }
        self.refresh_branches();
    }

    /// Shows the result of a command.
    fn show_change(&mut self, change: SessionChange) {
        let text = change.text;
        match change.effect {
            ChangeEffect::None => self.tell(Tone::Success, text),
            ChangeEffect::Appended { model } => {
                self.show_path("appended");
                self.tell(Tone::Success, format!("{text}; /undo takes it back"));
                self.restore_model(model);
            }
            ChangeEffect::Moved { prompt, images, remembered } => {
                self.arrive(prompt.as_deref(), images, Some(&format!("{text}; /back returns")));
                if let Some(prompt) = remembered {
                    self.chat.editor.remember(&prompt);
                }
            }
            ChangeEffect::Replaced { prompt, images, replaced } => {
                let old = replaced.previous_session_file.clone();
                self.show_replaced("a new session");
                self.edit_again(prompt.as_deref(), images);
                let back = old.map(|old| format!("; /resume {} goes back", old.display()));
                self.tell(Tone::Success, format!("{text}{}", back.unwrap_or_default()));
                self.session_replaced(replaced);
            }
        }
    }

    /// Reports what is unusual about a session that was opened, and uses its model.
    pub(super) fn session_replaced(&mut self, replaced: Replaced) {
        if let Some(cwd) = replaced.other_cwd {
            self.warn(format!("the session was made in {cwd}; tools work here"));
        }
        if let Some(damage) = self.agent.read(|session| self.services.damage(session)) {
            self.warn(damage);
        }
        self.restore_model(replaced.model);
    }

    /// Runs what a key is bound to.
    pub(super) fn act(&mut self, action: Action) -> std::io::Result<()> {
        match action {
            Action::Suspend => return self.suspend(),
            Action::ExternalEditor => self.edit_prompt(),
            Action::ToolsExpand => self.open_viewer(),
            Action::ThinkingToggle => self.toggle_thinking(),
            Action::ThinkingCycle => self.cycle_thinking(),
            Action::ModelCycleForward => self.cycle_model(1),
            Action::ModelCycleBackward => self.cycle_model(-1),
            Action::ModelSelect => self.model_command(""),
            Action::MessageCopy => self.copy(None),
            Action::PasteImage => self.paste_image(),
            Action::SessionTree => self.open_tree(None),
            Action::SessionNew => self.submit("/new"),
            Action::SessionFork => self.submit("/fork"),
            Action::SessionResume => self.submit("/resume"),
            Action::LeafBack => self.submit("/back"),
            Action::LeafForward => self.submit("/forward"),
            _ => {}
        }
        Ok(())
    }

    fn help(&mut self, name: &str) {
        let name = name.trim_start_matches('/');
        if let Line::Help(help) = self.services.parse(&format!("/{name} --help")) {
            return self.print(help);
        }
        let own = self
            .chat
            .commands
            .iter()
            .map(|one| (format!("/{} {}", one.name, one.arguments), one.what.clone()));
        let others = self.extensions.offered_commands().into_iter().chain(resource_commands(&self.agent));
        let all = own.chain(others.map(|one| (format!("/{}", one.text), one.what)));
        let all: Vec<(String, String)> =
            all.filter(|(call, _)| name.is_empty() || call.trim_end() == format!("/{name}")).collect();
        if all.is_empty() {
            return self.tell(Tone::Warning, format!("there is no command /{name}"));
        }
        let widest = all.iter().map(|(call, _)| call.len()).max().unwrap_or(0);
        let lines: Vec<String> = all.iter().map(|(call, what)| format!("{call:widest$}  {what}")).collect();
        let more = "\n/COMMAND --help shows the options of a command.\nA REF is an entry: an id, @label, branch:2, leaf~1 (the latest prompt), ^ (the parent), - (the previous position).\n!command runs in the shell and its output goes to the model; !!command keeps it from the model. /hotkeys lists the keys.";
        let more = if name.is_empty() { more } else { "" };
        self.print(format!("{}{more}", lines.join("\n")));
    }

    fn tree_command(&mut self, reference: Option<&str>) {
        let start = match reference {
            None => None,
            Some(reference) => match self.resolve(reference) {
                Some(id) => self.agent.read(|session| session.tree().node(&id)),
                None => return,
            },
        };
        self.open_tree(start);
    }

    /// Prints a text about this session.
    fn print_report(&mut self, report: Report<'_>) {
        let columns = usize::from(self.screen.columns());
        match self.agent.read(|session| self.services.report(report, session, columns)) {
            Ok(text) => self.print(text),
            Err(error) => self.fail_with(error),
        }
    }

    /// Prints the comparison of two branches.
    pub(super) fn print_diff(&mut self, one: &str, other: Option<&str>) {
        let Some(one) = self.resolve(one) else { return };
        let Some(other) = self.resolve(other.unwrap_or("leaf")) else { return };
        self.print_report(Report::Diff(&one, &other));
    }

    /// Copies an answer: the last one, or the text of an entry.
    fn copy(&mut self, reference: Option<&str>) {
        match reference {
            Some(reference) => {
                if let Some(id) = self.resolve(reference) {
                    self.copy_entry(&id);
                }
            }
            None => {
                let last = self.agent.read(last_answer);
                match last {
                    Some(text) => self.copy_text(&text, "the last answer"),
                    None => self.tell(Tone::Warning, "there is no answer to copy yet"),
                }
            }
        }
    }

    /// Resolves a reference to an id; reports if there is no such entry.
    pub(super) fn resolve(&mut self, reference: &str) -> Option<String> {
        match self.agent.find(reference) {
            Ok(id) => Some(id.to_string()),
            Err(error) => {
                self.fail_with(error);
                None
            }
        }
    }
}

/// Returns true for commands that cannot run while the agent works.
fn needs_idle_agent(command: &ChatCommand) -> bool {
    matches!(
        command,
        ChatCommand::Back
            | ChatCommand::Forward
            | ChatCommand::Export { .. }
            | ChatCommand::Resume { .. }
            | ChatCommand::Model { .. }
            | ChatCommand::Thinking { .. }
            | ChatCommand::Reload
    )
}

/// Returns a step that runs a typed command with the entry that was chosen.
fn with_entry(text: String) -> Chosen<EntryId> {
    Box::new(move |app, id| app.submit(&format!("{text} {id}")))
}

/// Returns the text of the last answer of the path that has any.
fn last_answer(session: &Session) -> Option<String> {
    let path = session.branch_path(Position::Leaf);
    let answers = path.into_iter().rev().filter(|node| session.tree().role(*node) == Some(Role::Assistant));
    let texts =
        answers.filter_map(|node| Some(session.entry_at(node).ok()?.to_message()?.text().into_owned()));
    texts.into_iter().find(|text| !text.trim().is_empty())
}

//! The commands of the chat: what is typed becomes a command, and its result is shown.
//!
//! [`slash`] parses, `cmd` performs the commands that change a session. What is here only asks for missing arguments, opens
//! lists and shows results.

mod branches;
mod label;
mod model;
mod session;

use offshoot_agent::command::Applied;
use offshoot_agent::tools::UserCommand;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::chat::working::Activity;
use offshoot_tui::dialog::{Item, Question};
use offshoot_tui::help::Help;
use offshoot_tui::keys::Action;
use session_tree::{EntryId, Position, Role, Session};

use super::front::Front;
use super::view::{Chosen, View};
use crate::change::{Change, Effect};
use crate::cmd::{Outcome, SessionCommand, Work, push};
use crate::error::CommandError;
use crate::slash::{self, ChatCommand, Line, Slash};
use crate::talk::damage;

/// The commands that need an entry, with the title of the tree to choose it from and what Enter does there.
const CHOICES: &[(&str, &str, &str)] = &[
    ("branch-here", "Branch from which entry?", "branch here"),
    ("export-branch", "Export the branch of which entry?", "export it"),
    ("diff", "Compare the branch of which entry?", "compare"),
    ("cherry-pick", "Copy which entry here?", "copy it here"),
    ("merge", "Merge the branch of which entry?", "merge its branch"),
];

impl Front<'_> {
    /// Runs what was typed: a command, a shell command, or a prompt.
    pub(super) fn submit(&mut self, text: &str) {
        match slash::parse(text) {
            Line::Command(command) => self.command(*command, text),
            Line::Unknown(..) | Line::Text if self.run_foreign(text) => {}
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
        let chosen: Chosen<EntryId> = Box::new(move |front, id| front.submit(&format!("{text} {id}")));
        self.choose_entry(None, Some((title, confirm)), Some(chosen));
    }

    fn command(&mut self, command: Slash, text: &str) {
        let works_always = match &command {
            Slash::Session(_) => false,
            Slash::Chat(command) => !matches!(
                command,
                ChatCommand::Back
                    | ChatCommand::Forward
                    | ChatCommand::Export { .. }
                    | ChatCommand::Resume { .. }
                    | ChatCommand::Model { .. }
                    | ChatCommand::Thinking { .. }
                    | ChatCommand::Reload
            ),
        };
        if !works_always && self.guests.is_loading() {
            return self.queue_command(text);
        }
        if !works_always && self.is_refused_now() {
            return self.chat.editor.set_text(text);
        }
        match command {
            Slash::Session(command) => self.session_command(command, text),
            Slash::Chat(command) => self.chat_command(command),
        }
    }

    fn session_command(&mut self, command: SessionCommand, text: &str) {
        match &command {
            SessionCommand::Fork(args) if args.at.is_none() => {
                self.choose_fork(text, text.starts_with("/branch") && self.setup.settings.chooses_tree());
            }
            SessionCommand::CherryPick(args) => self.plan_pick(args.request()),
            SessionCommand::Merge(args) if !args.no_review => self.plan_merge(args.request(true)),
            SessionCommand::Push(args) if !args.force => self.ask_to_push(args.clone()),
            _ => self.run_session_command(command),
        }
    }

    /// Labels this position; asks first if another label would be replaced.
    fn ask_to_push(&mut self, args: push::Args) {
        let reply = self.agent.plan_push(args.name.join(" "));
        self.call(reply, move |front, plan| {
            let previous = match plan {
                Ok(plan) if plan.is_noop() => None,
                Ok(plan) => plan.previous,
                Err(error) => return front.fail_with(error),
            };
            let push = |force| SessionCommand::Push(push::Args { force, ..args });
            let Some(previous) = previous else { return front.run_session_command(push(false)) };
            let answers = vec![Item::new("Replace it", ""), Item::new("Keep it", "nothing changes")];
            let title = format!("This entry has the label `{previous}` already");
            let chosen: Chosen<Option<usize>> = Box::new(move |front, answer| match answer {
                Some(0) => front.run_session_command(push(true)),
                _ => front.tell(Tone::Info, "nothing changed"),
            });
            front.open_view(View::Question(Question::new(title, "", answers), chosen));
        });
    }

    fn chat_command(&mut self, command: ChatCommand) {
        match command {
            ChatCommand::Tree { print: true, .. } => self.print_reading(crate::cmd::print_tree),
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
            ChatCommand::Session => self.print_reading(crate::cmd::print_stats),
            ChatCommand::Resume { session } => self.resume(&session.join(" ")),
            ChatCommand::Copy { at } => self.copy(at.as_deref()),
            ChatCommand::Model { name } => self.model_command(name.as_deref().unwrap_or_default()),
            ChatCommand::Thinking { level } => self.thinking_command(level.as_deref().unwrap_or_default()),
            ChatCommand::Settings => self.show_settings(),
            ChatCommand::Hotkeys => self.open_view(View::Keys(Help::default())),
            ChatCommand::Reload => self.reload(),
            ChatCommand::Help { name } => self.help(name.as_deref().unwrap_or_default()),
            ChatCommand::Log { count } => self.show_log(count),
            ChatCommand::Quit => self.leave(),
        }
    }

    /// Runs a command that a list or the tree chose, given as words.
    pub(super) fn run_words(&mut self, words: &[&str]) {
        match slash::parse_words(words) {
            Ok(Slash::Session(command)) if !self.is_refused_now() => self.run_session_command(command),
            Ok(_) => {}
            Err(error) => self.fail(&error),
        }
    }

    /// Runs a command that changes the session.
    fn run_session_command(&mut self, command: SessionCommand) {
        let activity = match &command {
            SessionCommand::Compact(_) => Some(Activity::Compaction),
            command if command.writes_summary() => Some(Activity::Summary),
            _ if self.guests.are_there() => Some(Activity::Other("Asking extensions…".to_owned())),
            _ => None,
        };
        if let Some(activity) = activity {
            let now = self.now();
            self.chat.working.begin(activity, now);
        }
        self.start_work(async move |work| command.run(work).await);
    }

    /// Runs a change of the session and shows its result.
    pub(super) fn start_work(&mut self, change: impl AsyncFnOnce(&mut Work<'_>) -> Outcome + 'static) {
        let (mut app, agent, cancel) = (self.app.capturing(None), self.agent.clone(), self.leaving.clone());
        let work = async move {
            let mut work =
                Work { agent: &agent, app: &mut app, dry_run: false, is_chat: true, cancel: &cancel };
            change(&mut work).await
        };
        self.call(work, |front, outcome| front.finish_command(outcome));
    }

    fn finish_command(&mut self, outcome: Outcome) {
        self.chat.working.end();
        match outcome {
            Ok(Applied::Done(change)) => self.show_change(change),
            Ok(Applied::Cancelled(by)) => self.show_cancelled(&by),
            Err(error) => self.fail_with(error),
        }
        self.refresh_branches();
    }

    /// Shows the result of a command.
    fn show_change(&mut self, change: Change) {
        let text = change.text();
        match change.effect {
            Effect::None => self.tell(Tone::Success, text),
            Effect::Appended { model } => {
                self.show_path("appended");
                self.tell(Tone::Success, format!("{text}; /undo takes it back"));
                self.restore_model(model);
            }
            Effect::Moved { prompt, images, remembered } => {
                self.arrive(prompt.as_deref(), images, Some(&format!("{text}; /back returns")));
                if let Some(prompt) = remembered {
                    self.chat.editor.remember(&prompt);
                }
            }
            Effect::Replaced { prompt, images, replaced } => {
                let old = replaced.previous_session_file.clone();
                self.take_place("a new session");
                self.edit_again(prompt.as_deref(), images);
                let back = old.map(|old| format!("; /resume {} goes back", old.display()));
                self.tell(Tone::Success, format!("{text}{}", back.unwrap_or_default()));
                self.session_replaced(replaced);
            }
        }
    }

    /// Reports what is unusual about a session that was opened, and uses its model.
    fn session_replaced(&mut self, replaced: offshoot_agent::command::Replaced) {
        if let Some(cwd) = replaced.other_cwd {
            self.warn(format!("the session was made in {cwd}; tools work here"));
        }
        if let Some(damage) = self.agent.read(damage) {
            self.warn(damage);
        }
        self.restore_model(replaced.model);
    }

    /// Runs what a key is bound to.
    pub(super) fn act(&mut self, action: Action) -> Result<(), CommandError> {
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
        if let Line::Help(help) = slash::parse(&format!("/{name} --help")) {
            return self.print(help);
        }
        let own = self
            .chat
            .commands
            .iter()
            .map(|one| (format!("/{} {}", one.name, one.arguments), one.what.clone()));
        let foreign = self.guests.offered_commands().into_iter();
        let all = own.chain(foreign.map(|one| (format!("/{}", one.text), one.what)));
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

    fn show_log(&mut self, count: usize) {
        let lines = crate::log::recent(count);
        match lines.is_empty() {
            true => self
                .print("The log is empty. OFFSHOOT_LOG=debug in the environment logs more, also to a file."),
            false => self.print(lines.join("\n")),
        }
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

    /// Prints a text that a command of the command line makes of this session.
    fn print_reading(
        &mut self,
        read: impl FnOnce(&Session, &mut crate::app::App) -> Result<(), CommandError>,
    ) {
        let mut app = self.app.capturing(Some(usize::from(self.columns)));
        match self.agent.read(|session| read(session, &mut app)) {
            Ok(()) => self.print(app.ui.captured().trim_end()),
            Err(error) => self.fail_with(error),
        }
    }

    /// Prints the comparison of two branches.
    pub(super) fn print_diff(&mut self, one: &str, other: Option<&str>) {
        let Some(one) = self.resolve(one) else { return };
        let Some(other) = self.resolve(other.unwrap_or("leaf")) else { return };
        self.print_reading(|session, app| crate::cmd::print_diff(session, &one, &other, app));
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

/// The text of the last answer of the path that has any.
fn last_answer(session: &Session) -> Option<String> {
    let path = session.branch_path(Position::Leaf);
    let answers = path.into_iter().rev().filter(|node| session.tree().role(*node) == Some(Role::Assistant));
    let texts =
        answers.filter_map(|node| Some(session.entry_at(node).ok()?.to_message()?.text().into_owned()));
    texts.into_iter().find(|text| !text.trim().is_empty())
}

//! What the commands of the chat do: the table that says which name means what, and the words around it.
//!
//! Names, arguments and completion are data in the terminal crate; how things are done is the agent's business.

mod branches;
mod graft;
mod label;
mod model;
mod moves;
mod session;

use offshoot_agent::agent::Agent;
use offshoot_agent::tools::UserCommand;
use offshoot_tui::chat::command::{Arguments, COMMANDS, CommandSpec, Typed, find, read};
use offshoot_tui::chat::item::Tone;
use offshoot_tui::dialog::{Item, Question};
use offshoot_tui::help::Help;
use offshoot_tui::keys::Action;
use session_tree::{Role, Session};

use super::front::Front;
use super::view::{Chosen, View};
use crate::error::CommandError;

impl Front<'_> {
    /// Does what was typed: a command, a shell command, or something to say.
    pub(super) fn submit(&mut self, text: &str) {
        match read(text) {
            Typed::Command(command, rest) => self.command(command, &rest, text),
            Typed::Unknown(..) | Typed::Text(_) if self.run_foreign(text) => {}
            Typed::Unknown(name, near) => self.ask_unknown(text, &name, near),
            Typed::Text(text) => match UserCommand::parse(&text) {
                Some(command) => self.run_shell(command),
                None => self.say(&text),
            },
        }
    }

    fn ask_unknown(&mut self, text: &str, name: &str, near: Option<&'static CommandSpec>) {
        let mut answers = vec![Item::new("Back to the editor", "")];
        if let Some(near) = near {
            answers.push(Item::new(format!("/{}", near.name), near.what));
        }
        answers.push(Item::new("Send it as text", "to the model"));
        let last = answers.len() - 1;
        let text = text.to_owned();
        let chosen: Chosen<Option<usize>> = Box::new(move |front, answer| match (answer, near) {
            (Some(at), _) if at == last => front.say(&text),
            (Some(1), Some(near)) => {
                let rest = text.trim().split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim());
                front.command(near, rest, &text);
            }
            _ => front.chat.editor.set_text(&text),
        });
        let question = Question::new(format!("There is no command /{name}"), "", answers);
        self.open_view(View::Question(question, chosen));
    }

    fn command(&mut self, command: &'static CommandSpec, rest: &str, text: &str) {
        let arguments = match Arguments::read(command, rest) {
            Ok(arguments) => arguments,
            Err(error) => {
                self.chat.editor.set_text(text);
                return self.tell(Tone::Error, error);
            }
        };
        let works_always = matches!(
            command.name,
            "help" | "hotkeys" | "quit" | "tree" | "copy" | "session" | "labels" | "branches" | "diff"
        );
        if !works_always && self.is_refused_now() {
            return self.chat.editor.set_text(text);
        }
        self.run_command(command.name, &arguments, rest);
    }

    fn run_command(&mut self, name: &str, arguments: &Arguments, rest: &str) {
        match name {
            "tree" => self.tree_command(arguments),
            "undo" => self.undo(),
            "back" => self.back(),
            "forward" => self.forward(),
            "branch-here" => self.branch_here(arguments),
            "branches" => self.branches(),
            "switch" => self.switch(arguments),
            "pop" => self.pop(arguments),
            "push" => self.push(rest),
            "label" => self.label_command(arguments),
            "labels" => self.labels(),
            "name" => self.name_command(arguments, rest),
            "merge" => self.merge_command(arguments),
            "cherry-pick" => self.pick_command(arguments),
            "diff" => self.diff(arguments),
            "fork" | "branch" => self.fork_command(arguments),
            "clone" => self.clone_session(),
            "export-branch" => self.export_branch(arguments),
            "export" => self.export(rest),
            "import" => self.import(rest),
            "session" => self.show_session(),
            "resume" => self.resume(rest),
            "new" => self.new_session(arguments),
            "compact" => self.compact(rest),
            "copy" => self.copy(arguments),
            "model" => self.model_command(rest),
            "thinking" => self.thinking_command(rest),
            "settings" => self.show_settings(),
            "reload" => self.reload(),
            "hotkeys" => self.open_view(View::Keys(Help::default())),
            "help" => self.help(rest),
            "quit" => self.leave(),
            _ => {}
        }
    }

    /// Does what a key is bound to.
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
            Action::MessageCopy => self.copy(&Arguments::default()),
            Action::PasteImage => self.paste_image(),
            Action::SessionTree => self.open_tree(None),
            Action::SessionNew
            | Action::SessionFork
            | Action::SessionResume
            | Action::LeafBack
            | Action::LeafForward => {
                let name = match action {
                    Action::SessionNew => "new",
                    Action::SessionFork => "fork",
                    Action::SessionResume => "resume",
                    Action::LeafBack => "back",
                    _ => "forward",
                };
                if let Some(command) = find(name) {
                    self.command(command, "", "");
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn help(&mut self, name: &str) {
        let name = name.trim_start_matches('/');
        let wanted = |command: &&CommandSpec| name.is_empty() || command.name == name;
        let widest = COMMANDS
            .iter()
            .filter(wanted)
            .map(|one| one.name.len() + one.arguments.len() + 2)
            .max()
            .unwrap_or(0);
        let line = |command: &CommandSpec| {
            let call = format!("/{} {}", command.name, command.arguments);
            let options: Vec<&str> = command.options.iter().map(|(name, _)| *name).collect();
            let options =
                if options.is_empty() { String::new() } else { format!("  [{}]", options.join(" ")) };
            format!("{call:widest$}  {}{options}", command.what)
        };
        let mut lines: Vec<String> = COMMANDS.iter().filter(wanted).map(line).collect();
        let foreign = self.guests.offered_commands().into_iter();
        let foreign = foreign.filter(|one| name.is_empty() || one.text == name);
        lines.extend(foreign.map(|one| format!("{:widest$}  {}", format!("/{}", one.text), one.what)));
        if lines.is_empty() {
            return self.tell(Tone::Warning, format!("there is no command /{name}"));
        }
        let more = "\nA REF is an entry: an id, @label, #2 (a branch), ~1 (the latest prompt), ^ (the parent), - (where you were).\n!command runs in the shell and the model hears of it; !!command is for your eyes only. /hotkeys lists the keys.";
        let more = if name.is_empty() { more } else { "" };
        self.print(format!("{}{more}", lines.join("\n")));
    }

    /// Copies an answer: the last one, or that of an entry.
    fn copy(&mut self, arguments: &Arguments) {
        match arguments.first() {
            Some(reference) => {
                if let Some(id) = self.resolve(reference) {
                    self.copy_entry(&id);
                }
            }
            None => {
                let last = self.desk.read(last_answer);
                match last {
                    Some(text) => self.copy_text(&text, "the last answer is in the clipboard"),
                    None => self.tell(Tone::Warning, "there is no answer to copy yet"),
                }
            }
        }
    }

    /// Returns the agent; tells that something has to wait if it works.
    pub(super) fn free_agent(&mut self) -> Option<&mut Agent> {
        if self.is_refused_now() {
            return None;
        }
        self.desk.agent()
    }

    /// Finds an entry; tells if there is none.
    pub(super) fn resolve(&mut self, reference: &str) -> Option<String> {
        let found = match self.desk.agent() {
            Some(agent) => agent.resolve(reference),
            // Where the leaf was before only the agent knows.
            None => self.desk.read(|session| session.resolve(reference)).map_err(Into::into),
        };
        match found {
            Ok(node) => Some(self.desk.read(|session| session.tree().id(node).to_string())),
            Err(error) => {
                self.fail_with(error);
                None
            }
        }
    }
}

/// The text of the last answer of the path that says something.
fn last_answer(session: &Session) -> Option<String> {
    let path = session.branch_path(None);
    let answers = path.into_iter().rev().filter(|node| session.tree().role(*node) == Some(Role::Assistant));
    let texts =
        answers.filter_map(|node| Some(session.entry_at(node).ok()?.to_message()?.text().into_owned()));
    texts.into_iter().find(|text| !text.trim().is_empty())
}

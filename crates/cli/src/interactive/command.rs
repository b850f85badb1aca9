//! What the commands of the chat do: the table that says which name means what, and the words around it.
//!
//! Names, arguments and completion are data in the terminal crate; how things are done is the agent's business.

mod branches;
mod diff;
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

/// What a command does, with its arguments as they were read and as they were typed.
type Deed = fn(&mut Front<'_>, &Arguments, &str);

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
        if let Some(deed) = deed(command.name) {
            deed(self, &arguments, rest);
        }
    }

    fn command_without_arguments(&mut self, name: &str) {
        if let Some(command) = find(name) {
            self.command(command, "", "");
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
            Action::SessionNew => self.command_without_arguments("new"),
            Action::SessionFork => self.command_without_arguments("fork"),
            Action::SessionResume => self.command_without_arguments("resume"),
            Action::LeafBack => self.command_without_arguments("back"),
            Action::LeafForward => self.command_without_arguments("forward"),
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

/// Finds what a command of the program does.
fn deed(name: &str) -> Option<Deed> {
    let deed: Deed = match name {
        "tree" => |front, arguments, _| front.tree_command(arguments),
        "undo" => |front, _, _| front.undo(),
        "back" => |front, _, _| front.back(),
        "forward" => |front, _, _| front.forward(),
        "branch-here" => |front, arguments, _| front.branch_here(arguments),
        "branches" => |front, _, _| front.branches(),
        "switch" => |front, arguments, _| front.switch(arguments),
        "pop" => |front, arguments, _| front.pop(arguments),
        "push" => |front, _, rest| front.push(rest),
        "label" => |front, arguments, _| front.label_command(arguments),
        "labels" => |front, _, _| front.labels(),
        "name" => |front, arguments, rest| front.name_command(arguments, rest),
        "merge" => |front, arguments, _| front.merge_command(arguments),
        "cherry-pick" => |front, arguments, _| front.pick_command(arguments),
        "diff" => |front, arguments, _| front.diff(arguments),
        "fork" => |front, arguments, _| front.fork_command(arguments),
        "branch" => |front, arguments, _| front.branch_command(arguments),
        "clone" => |front, _, _| front.clone_session(),
        "export-branch" => |front, arguments, _| front.export_branch(arguments),
        "export" => |front, _, rest| front.export(rest),
        "import" => |front, _, rest| front.import(rest),
        "session" => |front, _, _| front.show_session(),
        "resume" => |front, _, rest| front.resume(rest),
        "new" => |front, arguments, _| front.new_session(arguments),
        "compact" => |front, _, rest| front.compact(rest),
        "copy" => |front, arguments, _| front.copy(arguments),
        "model" => |front, _, rest| front.model_command(rest),
        "thinking" => |front, _, rest| front.thinking_command(rest),
        "settings" => |front, _, _| front.show_settings(),
        "reload" => |front, _, _| front.reload(),
        "hotkeys" => |front, _, _| front.open_view(View::Keys(Help::default())),
        "help" => |front, _, rest| front.help(rest),
        "quit" => |front, _, _| front.leave(),
        _ => return None,
    };
    Some(deed)
}

/// The text of the last answer of the path that says something.
fn last_answer(session: &Session) -> Option<String> {
    let path = session.branch_path(None);
    let answers = path.into_iter().rev().filter(|node| session.tree().role(*node) == Some(Role::Assistant));
    let texts =
        answers.filter_map(|node| Some(session.entry_at(node).ok()?.to_message()?.text().into_owned()));
    texts.into_iter().find(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_offered_does_something() {
        for command in COMMANDS {
            assert!(deed(command.name).is_some(), "/{}", command.name);
        }
        assert!(deed("nonsense").is_none());
    }
}

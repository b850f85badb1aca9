//! Commands about models and settings: `/model`, `/thinking`, `/settings`, `/reload`.

use std::sync::Arc;

use offshoot_agent::agent::ChosenBy;
use offshoot_agent::model::ThinkingLevel;
use offshoot_providers::{Available, OfflineModel};
use offshoot_tui::chat::item::{Look, Tone};
use offshoot_tui::dialog::{Item, SelectList};
use offshoot_tui::keys::Action;
use offshoot_tui::numbers::tokens;
use session_tree::ModelRef;

use super::super::front::Front;
use super::super::view::{Chosen, View};
use crate::error::CommandError;
use crate::settings::Listed;

impl Front<'_> {
    pub(super) fn model_command(&mut self, wanted: &str) {
        if self.is_refused_now() {
            return;
        }
        if !wanted.is_empty() {
            return self.choose_model(wanted, ChosenBy::Name);
        }
        let models = self.providers.models();
        let here = self.model.as_ref().map(|spec| spec.full_name());
        let at = models.iter().position(|model| Some(model.spec.full_name()) == here).unwrap_or(0);
        let items = models.iter().map(item).collect();
        let chosen: Chosen<usize> = Box::new(move |front, item| {
            if let Some(model) = models.get(item) {
                front.choose_model(&model.spec.full_name(), ChosenBy::Name);
            }
        });
        let list = SelectList::searchable("Model", items).starting_at(at);
        self.open_view(View::List(Box::new(list), chosen));
    }

    fn choose_model(&mut self, name: &str, by: ChosenBy) {
        let model = match self.providers.model(name) {
            Ok(model) => model,
            Err(error) => return self.fail_with(error),
        };
        if self.is_refused_now() {
            return;
        }
        let said = format!("{} answers from now on", model.spec().full_name());
        let reply = self.agent.choose_model(model, by);
        self.call(reply, |front, chosen| match chosen {
            Ok(_) => front.tell(Tone::Success, said),
            Err(error) => front.fail_with(error),
        });
    }

    /// Lets the model answer that the branch names now. What it names may come from elsewhere: only a model that is set
    /// up here is used, and the offline one is no choice that anybody made.
    pub(in super::super) fn restore_model(&mut self, named: Option<ModelRef>) {
        let Some(named) = named.filter(|named| named.provider != OfflineModel::PROVIDER) else { return };
        let name = format!("{}/{}", named.provider, named.model_id);
        let model = self.providers.model(&name).ok().filter(|model| model.spec().full_name() == name);
        match model {
            Some(model) => {
                let reply = self.agent.restore_model(model, None);
                self.call(reply, |_, _| {});
            }
            None => self.warn(format!("{name} cannot be used here; /model shows what can")),
        }
    }

    /// Goes through the models whose keys are there.
    pub(super) fn cycle_model(&mut self, step: isize) {
        let ready: Vec<Available> =
            self.providers.models().into_iter().filter(|model| model.has_key).collect();
        if ready.len() < 2 {
            return self
                .tell(Tone::Info, "there is only this model; `offshoot login` stores a key for others");
        }
        if self.is_refused_now() {
            return;
        }
        let here = self.model.as_ref().map(|spec| spec.full_name());
        let at = ready.iter().position(|model| Some(model.spec.full_name()) == here).unwrap_or(0);
        let next = (at as isize + step).rem_euclid(ready.len() as isize) as usize;
        self.choose_model(&ready[next].spec.full_name(), ChosenBy::Cycling);
    }

    pub(super) fn thinking_command(&mut self, wanted: &str) {
        if !wanted.is_empty() {
            return match ThinkingLevel::from_name(wanted) {
                Some(level) => self.choose_thinking(level),
                None => self.tell(Tone::Warning, "levels are: off, minimal, low, medium, high, xhigh, max"),
            };
        }
        let levels = self.levels();
        let items = levels.iter().map(|level| Item::new(level.name(), "")).collect();
        let at = levels.iter().position(|level| *level == self.thinking).unwrap_or(0);
        let chosen: Chosen<usize> = Box::new(move |front, item| {
            if let Some(level) = levels.get(item) {
                front.choose_thinking(*level);
            }
        });
        let list = SelectList::new("How hard to think", items).starting_at(at);
        self.open_view(View::List(Box::new(list), chosen));
    }

    /// The levels that the model knows.
    fn levels(&self) -> Vec<ThinkingLevel> {
        let known = self.model.as_ref().map(|spec| spec.thinking_levels.clone()).unwrap_or_default();
        let mut levels = vec![ThinkingLevel::Off];
        levels.extend(known.into_iter().filter(|level| *level != ThinkingLevel::Off));
        levels
    }

    fn choose_thinking(&mut self, level: ThinkingLevel) {
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.choose_thinking(level);
        self.call(reply, |front, chosen| match chosen {
            Ok(_) => {
                front.refresh();
                let said = format!("thinking: {}", front.thinking.name());
                front.tell(Tone::Success, said);
            }
            Err(error) => front.fail_with(error),
        });
    }

    pub(super) fn cycle_thinking(&mut self) {
        let levels = self.levels();
        if levels.len() < 2 {
            return self.tell(Tone::Info, "this model does not think");
        }
        let at = levels.iter().position(|level| *level == self.thinking).unwrap_or(0);
        self.choose_thinking(levels[(at + 1) % levels.len()]);
    }

    /// Shows or hides thoughts, from now on.
    pub(super) fn toggle_thinking(&mut self) {
        let look = self.chat.transcript.look().clone();
        let shows_thinking = !look.shows_thinking;
        self.chat.transcript.set_look(Look { shows_thinking, ..look });
        let said =
            if shows_thinking { "thoughts show from now on" } else { "thoughts are hidden from now on" };
        self.tell(Tone::Info, said);
    }

    pub(super) fn show_settings(&mut self) {
        let line = |listed: Listed| {
            let from = listed.files.last().map_or_else(|| "(as usual)".to_owned(), Clone::clone);
            format!("{:<32} {:<20} {from}", listed.key, listed.value.to_string())
        };
        let lines: Vec<String> = self.setup.settings.list().into_iter().map(line).collect();
        self.print(lines.join("\n"));
    }

    /// Uses the settings, API keys, key bindings and context files of the setup that was read again.
    pub(in super::super) fn use_setup(&mut self) -> Result<(), CommandError> {
        let (keymap, warnings) = super::super::keymap(self.app, &self.setup)?;
        let system = self.args.system_prompt(&self.setup)?;
        let settings = self.args.agent_settings(&self.setup);
        self.providers = self.setup.providers()?;
        let reply = self.agent.configure(settings, Arc::new(self.setup.secrets()?), system);
        self.call(reply, |_, _| {});
        self.chat.double_escape = self.setup.settings.double_escape();
        // What was printed keeps the names of the old keys.
        let expand_key = keymap.name(Action::ToolsExpand).unwrap_or_default();
        let look = self.chat.transcript.look().clone();
        self.chat.transcript.set_look(Look { expand_key, ..look });
        self.chat.keymap = keymap.clone();
        self.keymap = keymap;
        warnings.iter().for_each(|warning| self.fail(warning));
        Ok(())
    }
}

fn item(model: &Available) -> Item {
    let window = format!("{} window", tokens(model.spec.context_window));
    let key = if model.has_key { "" } else { " · no key: offshoot login" };
    Item::new(model.spec.full_name(), format!("{window}{key}"))
}

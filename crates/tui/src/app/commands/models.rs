//! Commands about the model: `/model` and `/thinking`.

use crate::chat::item::{ItemStyle, Tone};
use crate::dialog::{Item, SelectList};
use crate::numbers::tokens;
use offshoot_agent::agent::ChosenBy;
use offshoot_agent::model::ThinkingLevel;
use session_tree::ModelRef;

use super::super::App;
use super::super::services::AvailableModel;

impl App<'_> {
    pub(super) fn model_command(&mut self, wanted: &str) {
        if self.is_refused_now() {
            return;
        }
        if !wanted.is_empty() {
            return self.choose_model(wanted, ChosenBy::Name);
        }
        let models = self.services.models();
        let here = self.status.model_name();
        let at = models.iter().position(|model| Some(model.spec.full_name()) == here).unwrap_or(0);
        let items = models.iter().map(item).collect();
        self.open_list(SelectList::searchable("Model", items).starting_at(at), move |app, item| {
            if let Some(model) = models.get(item) {
                app.choose_model(&model.spec.full_name(), ChosenBy::Name);
            }
        });
    }

    fn choose_model(&mut self, name: &str, by: ChosenBy) {
        let model = match self.services.model(name) {
            Ok(model) => model,
            Err(error) => return self.fail_with(error),
        };
        if self.is_refused_now() {
            return;
        }
        let said = format!("{} answers from now on", model.spec().full_name());
        let reply = self.agent.choose_model(model, by);
        self.call(reply, |app, chosen| match chosen {
            Ok(_) => app.tell(Tone::Success, said),
            Err(error) => app.fail_with(error),
        });
    }

    /// Uses the model that the branch names, if it is set up here. The offline model is never restored.
    pub(in super::super) fn restore_model(&mut self, named: Option<ModelRef>) {
        let Some(named) = named.filter(|named| !self.services.is_offline(&named.provider)) else { return };
        let name = format!("{}/{}", named.provider, named.model_id);
        let model = self.services.model(&name).ok().filter(|model| model.spec().full_name() == name);
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
        let ready: Vec<AvailableModel> =
            self.services.models().into_iter().filter(|model| model.has_key).collect();
        if ready.len() < 2 {
            return self
                .tell(Tone::Info, "there is only this model; `offshoot login` stores a key for others");
        }
        if self.is_refused_now() {
            return;
        }
        let here = self.status.model_name();
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
        let at = levels.iter().position(|level| *level == self.status.thinking()).unwrap_or(0);
        self.open_list(SelectList::new("How hard to think", items).starting_at(at), move |app, item| {
            if let Some(level) = levels.get(item) {
                app.choose_thinking(*level);
            }
        });
    }

    /// The levels that the model knows.
    fn levels(&self) -> Vec<ThinkingLevel> {
        let known = self.status.model().map(|spec| spec.thinking_levels.clone()).unwrap_or_default();
        let mut levels = vec![ThinkingLevel::Off];
        levels.extend(known.into_iter().filter(|level| *level != ThinkingLevel::Off));
        levels
    }

    fn choose_thinking(&mut self, level: ThinkingLevel) {
        if self.is_refused_now() {
            return;
        }
        let reply = self.agent.choose_thinking(level);
        self.call(reply, |app, chosen| match chosen {
            Ok(_) => {
                app.refresh();
                let said = format!("thinking: {}", app.status.thinking().name());
                app.tell(Tone::Success, said);
            }
            Err(error) => app.fail_with(error),
        });
    }

    pub(super) fn cycle_thinking(&mut self) {
        let levels = self.levels();
        if levels.len() < 2 {
            return self.tell(Tone::Info, "this model does not think");
        }
        let at = levels.iter().position(|level| *level == self.status.thinking()).unwrap_or(0);
        self.choose_thinking(levels[(at + 1) % levels.len()]);
    }

    /// Shows or hides thoughts, from now on.
    pub(super) fn toggle_thinking(&mut self) {
        let item_style = self.chat.transcript.item_style().clone();
        let shows_thinking = !item_style.shows_thinking;
        self.chat.transcript.set_item_style(ItemStyle { shows_thinking, ..item_style });
        let said =
            if shows_thinking { "thoughts show from now on" } else { "thoughts are hidden from now on" };
        self.tell(Tone::Info, said);
    }
}

fn item(model: &AvailableModel) -> Item {
    let window = format!("{} window", tokens(model.spec.context_window));
    let key = if model.has_key { "" } else { " · no key: offshoot login" };
    Item::new(model.spec.full_name(), format!("{window}{key}"))
}

//! Commands that name things: `/label`, `/labels`, `/name`.

use offshoot_agent::command::{LabelPlan, LabelRequest};
use offshoot_tui::chat::command::Arguments;
use offshoot_tui::chat::item::Tone;
use offshoot_tui::dialog::{Item, SelectList};

use super::super::desk::Then;
use super::super::front::Front;
use super::super::view::{Chosen, View};

impl Front<'_> {
    /// `/label NAME` labels the last answer, `/label REF NAME` an entry, `/label -d REF` takes a label off.
    pub(super) fn label_command(&mut self, arguments: &Arguments) {
        let request = match (arguments.has("-d"), arguments.words.as_slice()) {
            (true, [target]) => LabelRequest { target: Some(target.clone()), label: None },
            (true, _) => return self.tell(Tone::Warning, "/label -d REF: name one entry"),
            (false, []) => {
                return self.tell(Tone::Info, "/label NAME names the last answer, /label REF NAME an entry");
            }
            (false, [name]) => LabelRequest { target: None, label: Some(name.clone()) },
            (false, [target, ..]) => match self.desk.agent().map(|agent| agent.resolve(target).is_ok()) {
                Some(true) => LabelRequest { target: Some(target.clone()), label: arguments.rest(1) },
                _ => LabelRequest { target: None, label: arguments.rest(0) },
            },
        };
        match self.free_agent().map(|agent| agent.plan_label(&request)) {
            Some(Ok(plan)) => self.label_as_planned(plan),
            Some(Err(error)) => self.fail_with(error),
            None => {}
        }
    }

    /// Sets or clears a label, as the tree wants.
    pub(in super::super) fn set_label(&mut self, id: &str, label: Option<&str>) {
        let request = LabelRequest { target: Some(id.to_owned()), label: label.map(str::to_owned) };
        match self.free_agent().map(|agent| agent.plan_label(&request)) {
            Some(Ok(plan)) => self.label_as_planned(plan),
            Some(Err(error)) => self.fail_with(error),
            None => {}
        }
    }

    fn label_as_planned(&mut self, plan: LabelPlan) {
        let said = match (&plan.label, &plan.previous) {
            (Some(label), _) => format!("labelled; @{label} goes there from any command"),
            (None, Some(label)) => format!("the label {label} is off"),
            (None, None) => "there was no label".to_owned(),
        };
        self.apply_label(plan, &said);
    }

    pub(super) fn apply_label(&mut self, plan: LabelPlan, said: &str) {
        let said = said.to_owned();
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.label(&plan, &cancel).await;
            let then: Then = Box::new(move |front| {
                match result {
                    Ok(_) => front.tell(Tone::Success, said),
                    Err(error) => front.fail_with(error),
                }
                front.refresh_branches();
            });
            (agent, then)
        });
    }

    pub(super) fn labels(&mut self) {
        let labels: Vec<(String, String)> = self.desk.read(|session| {
            let labels = session.labels();
            labels
                .into_iter()
                .map(|(node, label)| (session.tree().id(node).to_string(), label.text.clone()))
                .collect()
        });
        if labels.is_empty() {
            return self.tell(Tone::Info, "no labels yet: /label NAME names the last answer");
        }
        let items = labels.iter().map(|(id, label)| Item::new(format!("@{label}"), id.clone())).collect();
        let chosen: Chosen<usize> = Box::new(move |front, item| {
            if let Some((id, _)) = labels.get(item) {
                front.ask_to_go(id.as_str().into(), |front, id| front.go_to(id), |front, _| front.labels());
            }
        });
        self.open_view(View::List(Box::new(SelectList::searchable("Labels", items)), chosen));
    }

    pub(super) fn name_command(&mut self, arguments: &Arguments, text: &str) {
        let is_clear = arguments.has("--clear");
        if !is_clear && text.trim().is_empty() {
            let name = self.desk.read(|session| session.name().map(str::to_owned));
            let said =
                name.map_or_else(|| "no name yet: /name TEXT".to_owned(), |name| format!("name: {name}"));
            return self.tell(Tone::Info, said);
        }
        let name = Some(text).filter(|_| !is_clear);
        let Some(plan) = self.free_agent().map(|agent| agent.plan_name(name)) else { return };
        self.desk.start(move |mut agent, cancel| async move {
            let result = agent.name_session(&plan, &cancel).await;
            let then: Then = Box::new(move |front| match (result, plan.name) {
                (Ok(_), Some(name)) => front.tell(Tone::Success, format!("this session is called {name}")),
                (Ok(_), None) => front.tell(Tone::Success, "the name is gone"),
                (Err(error), _) => front.fail_with(error),
            });
            (agent, then)
        });
    }
}

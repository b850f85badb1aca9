//! `/fork` without an entry, and `/export`.

use offshoot_agent::cancel::Cancel;

use super::super::App;
use super::super::services::Export;
use super::super::views::View;
use super::with_entry;
use crate::chat::item::Tone;
use crate::chat::working::Activity;
use crate::prompts::PromptList;

impl App<'_> {
    /// Asks where to fork, and runs the typed command with that entry: a flat list of prompts, or the tree.
    pub(super) fn choose_fork(&mut self, text: &str, in_tree: bool) {
        let chosen = with_entry(text.trim_end().to_owned());
        if in_tree {
            return self.choose_entry(None, Some(("Fork from which entry?", "fork here")), Some(chosen));
        }
        match self.agent.read(PromptList::open) {
            Some(list) => self.views.open(View::Prompts(Box::new(list), chosen)),
            None => self.tell(Tone::Info, "the session is empty, so there is nothing to fork"),
        }
    }

    /// Writes the session as a page, as Markdown or as a session file, beside the loop: a large one takes a while.
    pub(super) fn export(&mut self, file: &str) {
        let stop = Cancel::new();
        let Export { path, work } = match self.services.export(file, &self.agent, &stop) {
            Ok(export) => export,
            Err(error) => return self.fail_with(error),
        };
        self.begin(Activity::Other(format!("Writing {}", path.display())));
        self.stop_export = Some(stop.clone());
        self.call(work, move |app, written| {
            app.stop_export = None;
            app.chat.working.end();
            match written {
                Err(_) if stop.is_cancelled() => app.tell(Tone::Info, "stopped; nothing was written"),
                Ok(()) => app.tell(Tone::Success, format!("written to {}", path.display())),
                Err(error) => app.fail_with(error),
            }
        });
    }
}

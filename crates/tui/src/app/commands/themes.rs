//! `/theme`: a list of themes with a preview of the one under the cursor.

use crossterm::event::Event;
use offshoot_extensions::theme::ThemeFile;

use super::super::App;
use super::super::views::View;
use crate::chat::item::Tone;
use crate::dialog::{Answer, Item, SelectList};
use crate::theme::Theme;

impl App<'_> {
    pub(super) fn theme_command(&mut self, wanted: &str) {
        if self.environment.is_plain {
            return self.tell(Tone::Warning, "this terminal shows no colours");
        }
        let themes = self.services.themes();
        if !wanted.is_empty() {
            return match themes.choose(wanted) {
                Ok(theme) => self.keep_theme(&theme),
                Err(error) => self.fail(&error),
            };
        }
        let listed = themes.list();
        let current = themes.current().1.map(|theme| theme.name);
        let at = listed.iter().position(|(name, _)| Some(name) == current.as_ref()).unwrap_or(0);
        let item = |(name, path): &(String, Option<std::path::PathBuf>)| {
            let path = path.as_ref().map_or_else(|| "built in".to_owned(), |path| path.display().to_string());
            Item::new(name.clone(), path)
        };
        let list = SelectList::new("Theme", listed.iter().map(item).collect()).starting_at(at);
        let before = self.chat.transcript.item_style().theme;
        self.views.open(View::Themes(Box::new(list), before));
    }

    /// Shows the theme under the cursor. Enter keeps it, Escape brings the one before back.
    pub(in super::super) fn theme_event(&mut self, mut list: Box<SelectList>, before: Theme, event: &Event) {
        let keymap = &self.settings.keymap;
        let answer = list.input(keymap, event).and_then(|input| list.update(&input));
        let themes = self.services.themes();
        let names: Vec<String> = themes.list().into_iter().map(|(name, _)| name).collect();
        match answer {
            None => {
                let theme = list.selected().and_then(|at| themes.find(names.get(at)?));
                if let Some(theme) = theme {
                    self.use_theme(&theme);
                }
                self.views.put(View::Themes(list, before));
            }
            Some(Answer::Cancelled) => self.restyle(|style| style.theme = before),
            Some(Answer::Given(at)) => match names.get(at).and_then(|name| themes.choose(name).ok()) {
                Some(theme) => self.keep_theme(&theme),
                None => self.restyle(|style| style.theme = before),
            },
        }
    }

    fn keep_theme(&mut self, theme: &ThemeFile) {
        self.use_theme(theme);
        self.tell(
            Tone::Success,
            format!("the theme is {}; the setting `theme` chooses it for every start", theme.name),
        );
    }
}

//! Draws the selector. Reads state, writes cells, decides nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use session_view::{Filter, SearchProgress};

use super::line::{RowLayout, line};
use super::view::Pane;
use super::{Mode, TreeSelector};
use crate::keys::{Action, Keymap, Screen};
use crate::layout::take_rows;
use crate::paint::{self, span};
use crate::theme::{Role, Theme};

/// The keys under the list: as many as fit.
const HINTS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "go"),
    (Action::Help, "all keys"),
    (Action::SelectCancel, "back"),
    (Action::TreeBranchHere, "go, no summary"),
    (Action::TreeEditLabel, "label"),
    (Action::TreeFilterNext, "filter"),
    (Action::TreeFold, "fold"),
    (Action::TreePreview, "preview"),
    (Action::TreeFork, "fork"),
    (Action::TreeMerge, "merge"),
];

/// The keys while a query is typed.
const SEARCH_HINTS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "go"),
    (Action::SelectCancel, "clear the search"),
    (Action::TreeBranchHere, "go, no summary"),
    (Action::TreeFilterAll, "search everything"),
];

impl TreeSelector {
    /// Draws what [`prepare`](TreeSelector::prepare) read for this area.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        paint::wipe(area, buf);
        if let Mode::Help(overlay) = &mut self.mode {
            overlay.draw(theme, keymap, "Keys of the tree", &Screen::Tree.groups(), area, buf);
            return;
        }
        let areas = self.view.areas;
        self.draw_title(theme, areas.title, buf);
        let found = self.search.map(|progress| self.matches(progress)).unwrap_or_default();
        let found = Line::styled(found, theme.style(Role::Muted));
        paint::left_and_right(paint::query(theme, self.query(), "type to search"), &found, areas.query, buf);
        paint::rule(theme, areas.rule, buf);
        self.draw_rows(theme, areas.list, buf);
        if let Some(pane) = areas.preview {
            self.draw_preview(theme, pane, areas.rule, buf);
        }
        let mut foot = areas.foot;
        if let Mode::Label(_, prompt) = &mut self.mode {
            prompt.draw(theme, keymap, foot, buf);
        } else {
            self.draw_status(theme, take_rows(&mut foot, 1), buf);
            paint::line(&paint::keys_line(theme, keymap, &self.hints(), usize::from(area.width)), foot, buf);
        }
        paint::finish(theme, area, buf);
    }

    /// Returns the keys of the last row, and what they do now. A key that would go elsewhere has no place in a
    /// selector with a purpose.
    fn hints(&self) -> Vec<(Action, &str)> {
        let hints = if self.query().is_empty() { HINTS } else { SEARCH_HINTS };
        let Some(purpose) = &self.options.purpose else { return hints.to_vec() };
        let goes = [Action::TreeBranchHere, Action::TreeEditLabel, Action::TreeFork, Action::TreeMerge];
        let fits = hints.iter().filter(|(action, _)| !goes.contains(action));
        let named = |(action, what): &(Action, &'static str)| match action {
            Action::SelectConfirm => (*action, purpose.confirm.as_str()),
            _ => (*action, *what),
        };
        fits.map(named).collect()
    }

    fn draw_title(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let title = self.options.purpose.as_ref().map_or("Session Tree", |purpose| purpose.title.as_str());
        let counts = self.counts.join(theme.pick(" · ", " | "));
        let left = Line::from(vec![
            span(&format!(" {title}"), theme.style(Role::Title)),
            span(&format!("  {counts}"), theme.style(Role::Muted)),
        ]);
        let (words, name) = match self.filter() {
            Filter::Default => (Role::Dim, Role::Dim),
            _ => (Role::Muted, Role::Accent),
        };
        let right = Line::from(vec![
            Span::styled("filter: ", theme.style(words)),
            Span::styled(format!("{} ", self.filter().name()), theme.style(name)),
        ]);
        paint::left_and_right(left, &right, area, buf);
    }

    /// Returns how many rows match, and how many more the filter hides.
    fn matches(&self, progress: SearchProgress) -> String {
        let (rows, found) = (self.outline.len(), progress.hits);
        let noun = if found == 1 { "match" } else { "matches" };
        let of = if rows < found { format!("{rows} of {found}") } else { found.to_string() };
        format!("{of} {noun}{}", if progress.done { " " } else { "… " })
    }

    fn draw_rows(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let rows = &self.view.rows;
        if rows.is_empty() {
            let (text, role) = match &self.view.error {
                Some(error) => (error.as_str(), Role::Error),
                None if self.is_searching() => ("searching…", Role::Muted),
                None => ("No entries found", Role::Muted),
            };
            return paint::line(&Line::from(span(&format!("  {text}"), theme.style(role))), area, buf);
        }
        let layout = RowLayout {
            theme,
            columns: usize::from(area.width),
            pan: self.view.pan,
            label_times: self.view.local.filter(|_| self.label_times),
        };
        let cursor = self.position().unwrap_or(0) - self.view.first;
        paint::list(theme, rows.len(), cursor, area, buf, |at, is_here| line(&rows[at], layout, is_here));
    }

    fn draw_preview(&self, theme: Theme, pane: Pane, top: Rect, buf: &mut Buffer) {
        if pane.beside {
            paint::pane_rule(theme, pane.rule, top, buf);
        } else {
            paint::titled_rule(theme, "preview", pane.rule, buf);
        }
        if let Some(preview) = &self.view.preview {
            paint::rows(preview.lines.iter().skip(self.preview_top), pane.area, buf);
        }
    }

    fn draw_status(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let at = self.position().map_or(0, |row| row + 1);
        let label_times = if self.label_times { "[+label time]" } else { "" };
        let suffixes = [self.filter().suffix(), label_times].into_iter().filter(|suffix| !suffix.is_empty());
        let suffixes: String = suffixes.map(|suffix| format!(" {suffix}")).collect();
        let status = format!("  ({at}/{}){suffixes}", self.outline.len());
        let mut left = vec![Span::styled(status, theme.style(Role::Muted))];
        if let Some(notice) = &self.notice {
            left.push(span(&format!("  {notice}"), theme.style(Role::Warning)));
        }
        paint::lines([Line::from(left)], area, buf);
    }
}

//! Draws the selector. Reads state, writes cells, decides nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use session_tree::{Filter, SearchProgress};

use super::line::{Cursor, Look};
use super::view::Pane;
use super::{Mode, TreeSelector, help, line};
use crate::keys::{Action, Keymap};
use crate::numbers::count;
use crate::paint::{self, span};
use crate::theme::{Role, Theme};

impl TreeSelector {
    /// Draws what [`prepare`](TreeSelector::prepare) read for this area.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        paint::wipe(area, buf);
        if let Mode::Help(overlay) = &mut self.mode {
            overlay.draw(theme, keymap, "Keys of the tree", help::GROUPS, area, buf);
            return;
        }
        let areas = self.view.areas;
        self.draw_title(theme, areas.title, buf);
        self.draw_query(theme, areas.query, buf);
        paint::rule(theme, areas.rule, buf);
        self.draw_rows(theme, areas.list, buf);
        if let Some(pane) = areas.preview {
            self.draw_preview(theme, pane, areas.rule, buf);
        }
        self.draw_status(theme, areas.status, buf);
        let keys = paint::keys_line(theme, keymap, &self.hints(), usize::from(area.width));
        paint::line(&keys, areas.keys, buf);
        paint::finish(theme, area, buf);
    }

    /// Returns the keys of the last row, and what they do now.
    fn hints(&self) -> Vec<(Action, &str)> {
        let (hints, is_search) = match self.mode {
            Mode::Label { .. } => return help::LABEL_HINTS.to_vec(),
            Mode::Browse | Mode::Help(_) if self.query().is_empty() => (help::HINTS, false),
            Mode::Browse | Mode::Help(_) => (help::SEARCH_HINTS, true),
        };
        let Some(purpose) = &self.options.purpose else { return hints.to_vec() };
        let confirm = (Action::SelectConfirm, purpose.confirm.as_str());
        let common = if is_search { help::SEARCH_PURPOSE_HINTS } else { help::PURPOSE_HINTS };
        std::iter::once(confirm).chain(common.iter().copied()).collect()
    }

    fn draw_title(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let title = self.options.purpose.as_ref().map_or("Session Tree", |purpose| purpose.title.as_str());
        let counts = &self.counts;
        let dot = theme.pick(" · ", " | ");
        let name = if counts.name.is_empty() { String::new() } else { format!("{}{dot}", counts.name) };
        let told =
            format!("  {name}{}{dot}{}", count(counts.entries, "entry"), count(counts.branches, "branch"));
        let left = Line::from(vec![
            span(&format!(" {title}"), theme.style(Role::Title)),
            span(&told, theme.style(Role::Muted)),
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

    fn draw_query(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let right = match self.search {
            Some(progress) => Line::styled(self.matches(progress), theme.style(Role::Muted)),
            None => Line::default(),
        };
        let mut left = vec![Span::styled(theme.pick(" ⌕ ", " / "), theme.style(Role::Accent))];
        if self.query().is_empty() {
            left.push(Span::styled("type to search", theme.style(Role::Dim)));
        } else {
            left.push(span(self.query(), theme.style(Role::Text)));
            left.push(Span::styled(theme.pick("▏", "_"), theme.style(Role::Accent)));
        }
        paint::left_and_right(Line::from(left), &right, area, buf);
    }

    /// How many rows match, and how many more the filter hides.
    fn matches(&self, progress: SearchProgress) -> String {
        let (rows, found) = (self.outline.len(), progress.hits);
        let noun = if found == 1 { "match" } else { "matches" };
        let of = if rows < found { format!("{rows} of {found}") } else { found.to_string() };
        format!("{of} {noun}{}", if progress.done { " " } else { "… " })
    }

    fn draw_rows(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        if let Some(trouble) = &self.view.trouble {
            paint::line(&Line::from(span(&format!("  {trouble}"), theme.style(Role::Error))), area, buf);
            return;
        }
        if self.view.rows.is_empty() {
            let none = if self.is_searching() { "  searching…" } else { "  No entries found" };
            paint::line(&Line::styled(none, theme.style(Role::Muted)), area, buf);
            return;
        }
        let look = Look {
            theme,
            columns: usize::from(area.width),
            pan: self.view.pan,
            label_times: self.view.local.filter(|_| self.label_times),
        };
        for ((number, row), y) in self.view.rows.iter().enumerate().zip(area.top()..area.bottom()) {
            let at = Rect { y, height: 1, ..area };
            let cursor = self.cursor_at(self.view.first + number);
            if cursor != Cursor::Away {
                paint::tint(theme.style(Role::Selection), at, buf);
            }
            paint::line(&line::line(row, look, cursor), at, buf);
        }
    }

    fn cursor_at(&self, row: usize) -> Cursor {
        let at = self.position();
        let other = self.mark.and_then(|mark| self.outline.position_of(mark));
        match (at, other) {
            (Some(at), _) if at == row => Cursor::Here,
            (Some(at), Some(other)) if (at.min(other)..=at.max(other)).contains(&row) => Cursor::Marked,
            _ => Cursor::Away,
        }
    }

    fn draw_preview(&self, theme: Theme, pane: Pane, top: Rect, buf: &mut Buffer) {
        if pane.beside {
            let style = theme.style(Role::Border);
            for y in pane.rule.top()..pane.rule.bottom() {
                buf.set_string(pane.rule.x, y, theme.pick("│", "|"), style);
            }
            if !top.is_empty() {
                buf.set_string(pane.rule.x, top.y, theme.pick("┬", "+"), style);
            }
        } else {
            paint::titled_rule(theme, "preview", pane.rule, buf);
        }
        let Some(preview) = &self.view.preview else { return };
        let lines = preview.lines.iter().skip(self.preview_top);
        for (line, y) in lines.zip(pane.area.top()..pane.area.bottom()) {
            paint::line(line, Rect { y, height: 1, ..pane.area }, buf);
        }
    }

    fn draw_status(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        if let Mode::Label { input, .. } = &self.mode {
            let ask = " Label (empty to remove): ";
            paint::line(&Line::styled(ask, theme.style(Role::Warning)), area, buf);
            let taken = (ask.len() as u16).min(area.width);
            input.draw(theme, Rect { x: area.x + taken, width: area.width - taken, ..area }, buf);
            return;
        }
        let at = self.position().map_or(0, |row| row + 1);
        let mut left =
            vec![Span::styled(format!("  ({at}/{})", self.outline.len()), theme.style(Role::Muted))];
        let suffixes = [self.filter().suffix(), if self.label_times { "[+label time]" } else { "" }];
        for suffix in suffixes.into_iter().filter(|suffix| !suffix.is_empty()) {
            left.push(Span::styled(format!(" {suffix}"), theme.style(Role::Muted)));
        }
        if let Some(notice) = &self.notice {
            left.push(span(&format!("  {notice}"), theme.style(Role::Warning)));
        }
        paint::line(&paint::shorten(Line::from(left), usize::from(area.width)), area, buf);
    }
}

//! Draws the picker. Reads state, writes cells, decides nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use session_tree::SessionSummary;
use session_view::Level;

use super::arrange::Place;
use super::preview::summary_lines;
use super::{Loading, Mode, Scope, SessionPicker, Sort};
use crate::clean::clean;
use crate::keys::{Action, Keymap, Screen};
use crate::layout::take_rows;
use crate::paint::{self, span};
use crate::theme::{Role, Theme};
use crate::time::{Local, age};
use crate::width::cut;

const KEYS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "open"),
    (Action::Help, "all keys"),
    (Action::SelectCancel, "back"),
    (Action::PickerScope, "scope"),
    (Action::PickerSort, "sort"),
    (Action::PickerNamed, "named"),
    (Action::PickerRename, "rename"),
    (Action::PickerDelete, "delete"),
    (Action::PickerBranches, "branches"),
];

/// From this width on the preview is beside the list.
const WIDE: u16 = 100;

impl SessionPicker {
    /// Draws the picker.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, local: Local, area: Rect, buf: &mut Buffer) {
        self.freshen();
        paint::wipe(area, buf);
        if let Mode::Help(overlay) = &mut self.mode {
            return overlay.draw(
                theme,
                keymap,
                "Keys of the session picker",
                &Screen::Picker.groups(),
                area,
                buf,
            );
        }
        let mut left = area;
        self.draw_title(theme, take_rows(&mut left, 1), buf);
        self.draw_query(theme, take_rows(&mut left, 1), buf);
        let rule = take_rows(&mut left, 1);
        paint::rule(theme, rule, buf);
        let dialog_rows = match &self.mode {
            Mode::Rename(..) => 3,
            Mode::Delete(_, question) => question.height(area.width),
            Mode::Browse | Mode::Help(_) => 2,
        };
        let list_rows = left.height.saturating_sub(dialog_rows);
        let list = take_rows(&mut left, list_rows);
        self.draw_body(theme, keymap, local, list, rule, buf);
        match &mut self.mode {
            Mode::Rename(_, prompt) => prompt.draw(theme, keymap, left, buf),
            Mode::Delete(_, question) => question.draw(theme, keymap, left, buf),
            Mode::Browse | Mode::Help(_) => {
                self.draw_status(theme, keymap, take_rows(&mut left, 1), buf);
                paint::line(&paint::keys_line(theme, keymap, KEYS, usize::from(area.width)), left, buf);
            }
        }
        paint::finish(theme, area, buf);
    }

    fn draw_title(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let scope = match self.scope {
            Scope::Folder => "this folder",
            Scope::All => "all folders",
        };
        let sort = match self.sort {
            Sort::Threaded => "threads",
            Sort::Recent => "recent",
            Sort::Relevance => "best match",
        };
        let named = if self.named_only { "named only  " } else { "" };
        let left = Line::from(vec![
            Span::styled(" Resume Session", theme.style(Role::Title)),
            Span::styled(format!("  {scope}"), theme.style(Role::Muted)),
        ]);
        let right = Line::styled(format!("{named}sort: {sort} "), theme.style(Role::Muted));
        paint::left_and_right(left, &right, area, buf);
    }

    fn draw_query(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let hint = "type to search · \"phrase\" · re:pattern · cwd: before: has:branch";
        let left = paint::query(theme, &self.query, hint);
        let right = match self.listed().loading {
            Loading::Running { done, total } if total > 0 => {
                Line::styled(format!("reading {done}/{total} "), theme.style(Role::Muted))
            }
            Loading::Running { .. } => Line::styled("reading… ", theme.style(Role::Muted)),
            Loading::NotAsked | Loading::Done => Line::default(),
        };
        paint::left_and_right(left, &right, area, buf);
    }

    fn draw_body(
        &mut self,
        theme: Theme,
        keymap: &Keymap,
        local: Local,
        area: Rect,
        rule: Rect,
        buf: &mut Buffer,
    ) {
        let wide = area.width >= WIDE;
        self.shows_preview = self.preview.unwrap_or(wide) && wide;
        let mut list = area;
        if self.shows_preview {
            list.width = area.width * 3 / 5;
            let line = Rect { x: list.right(), width: 1, ..area };
            paint::pane_rule(theme, line, rule, buf);
            let pane = Rect { x: line.x + 2, width: (area.right() - line.x).saturating_sub(3), ..area };
            self.draw_preview(theme, local, pane, buf);
        }
        self.page = usize::from(list.height).max(1);
        if self.places.is_empty() {
            let text = format!("  {}", self.why_empty(keymap));
            paint::lines([Line::styled(text, theme.style(Role::Muted))], list, buf);
        }
        let columns = usize::from(list.width);
        paint::list(theme, self.places.len(), self.position().unwrap_or(0), list, buf, |at, is_here| {
            self.row(theme, local, &self.places[at], is_here, columns)
        });
    }

    fn why_empty(&self, keymap: &Keymap) -> String {
        let key = |action| keymap.name(action).unwrap_or_default();
        match (self.query.is_empty(), self.named_only, self.scope, self.listed().loading) {
            (.., Loading::Running { .. }) => "reading sessions…".to_owned(),
            (_, true, ..) => format!("no sessions with a name · {} shows all", key(Action::PickerNamed)),
            (false, _, Scope::Folder, _) => {
                format!("nothing found here · {} searches all", key(Action::PickerScope))
            }
            (false, _, Scope::All, _) => "nothing found".to_owned(),
            (true, _, Scope::Folder, _) => {
                format!("no sessions in this folder · {} lists all", key(Action::PickerScope))
            }
            (true, _, Scope::All, _) => "no sessions yet".to_owned(),
        }
    }

    fn row(&self, theme: Theme, local: Local, place: &Place, is_here: bool, columns: usize) -> Line<'static> {
        let Some(row) = self.rows.get(&place.path) else { return Line::default() };
        let style = if self.current.as_ref() == Some(&row.path) {
            theme.style(Role::Accent)
        } else if row.name.is_some() {
            theme.style(Role::Warning)
        } else {
            theme.style(Role::Text)
        };
        let bold = if is_here { Modifier::BOLD } else { Modifier::empty() };
        let mut left = vec![paint::cursor(theme, is_here)];
        left.push(Span::styled(guide(theme, &place.levels), theme.style(Role::Dim)));
        if row.damage.is_some() {
            left.push(Span::styled(theme.pick("⚠ ", "! "), theme.style(Role::Error)));
        }
        left.push(span(row.title(), style.add_modifier(bold)));
        if self.current.as_ref() == Some(&row.path) {
            left.push(Span::styled(theme.pick(" ← open here", " <- open here"), theme.style(Role::Accent)));
        } else if self.open_elsewhere.contains(&row.path) {
            left.push(Span::styled(" (open elsewhere)", theme.style(Role::Warning)));
        }
        let right = Line::from(span(&self.right_side(theme, local, row), theme.style(Role::Muted)));
        paint::spread(Line::from(left), right, columns)
    }

    fn right_side(&self, theme: Theme, local: Local, row: &SessionSummary) -> String {
        let mut parts = Vec::new();
        if self.shows_paths {
            parts.push(row.path.display().to_string());
        }
        if self.scope == Scope::All {
            parts.push(row.cwd.clone());
        }
        if row.tip_count > 1 {
            parts.push(format!("{}{}", theme.pick("⎇", "b"), row.tip_count));
        }
        if row.is_complete {
            parts.push(format!("{:>4}", row.message_count));
        }
        parts.push(format!("{:>4} ", age(local.now, row.modified)));
        parts.join(" ")
    }

    fn draw_preview(&self, theme: Theme, local: Local, area: Rect, buf: &mut Buffer) {
        let Some(row) = self.selected() else { return };
        let mut lines = summary_lines(row, theme, local);
        if let Some((_, preview)) = self.previews.as_ref().filter(|(path, _)| *path == row.path) {
            lines.extend(preview.lines(theme, usize::from(area.width)));
        }
        paint::lines(lines, area, buf);
    }

    fn draw_status(&self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let at = self.position().map_or(0, |at| at + 1);
        let mut left =
            vec![Span::styled(format!("  ({at}/{})", self.places.len()), theme.style(Role::Muted))];
        if let Some(notice) = &self.notice {
            left.push(span(&format!("  {notice}"), theme.style(Role::Warning)));
        } else if let Some(gone) = self.trash.last().and_then(|path| self.rows.get(path)) {
            let title = clean(gone.title());
            let title = cut(&title, 30);
            let key = keymap.name(Action::PickerUndo).unwrap_or_default();
            let text = format!("  \"{title}\" is in the trash · {key} takes it back");
            left.push(span(&text, theme.style(Role::Dim)));
        }
        paint::lines([Line::from(left)], area, buf);
    }
}

fn guide(theme: Theme, levels: &[Level]) -> String {
    let draw = |level: &Level| match level {
        Level::Blank => "   ",
        Level::Line => theme.pick("│  ", "|  "),
        Level::Tee => theme.pick("├─ ", "|- "),
        Level::Corner => theme.pick("└─ ", "`- "),
    };
    levels.iter().map(draw).collect()
}

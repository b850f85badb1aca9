//! Draws the list of branches. Reads state, writes cells, decides nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use session_view::BranchRow;

use super::{BranchList, Mode};
use crate::clean::clean;
use crate::keys::{Action, Keymap, Screen};
use crate::layout::take_rows;
use crate::numbers::{count, money, tokens};
use crate::paint::{self, span};
use crate::theme::{Role, Theme};
use crate::time::{Local, age};
use crate::width::{cut, pad};

const KEYS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "switch"),
    (Action::Help, "all keys"),
    (Action::SelectCancel, "back"),
    (Action::BranchSummarize, "with summary"),
    (Action::BranchMerge, "merge"),
    (Action::BranchPick, "pick"),
    (Action::BranchLabel, "label"),
    (Action::BranchHide, "hide"),
    (Action::BranchExport, "export"),
    (Action::BranchDiff, "diff"),
    (Action::BranchSearch, "search"),
];

/// Below this width marks have no words.
const NARROW: usize = 60;

/// A column after the name: its title, its width, and the width of the screen from which on it shows.
struct Column(&'static str, usize, usize, fn(&BranchRow, Local) -> String);

const COLUMNS: [Column; 6] = [
    Column("from", 16, 90, |row, _| left(row.branch.from.as_deref().unwrap_or_default(), 16)),
    Column("turns", 5, 0, |row, _| row.branch.turns.to_string()),
    Column("tokens", 6, NARROW, |row, _| tokens(row.stats.own.usage.total)),
    Column("cost", 6, NARROW, |row, _| money(row.stats.own.usage.cost)),
    Column("model", 16, 110, |row, _| {
        left(row.stats.own.last_model.as_ref().map(|model| model.model_id.as_str()).unwrap_or_default(), 16)
    }),
    Column("last", 4, 0, |row, local| age(local.now, row.branch.last_activity)),
];

impl BranchList {
    /// Draws the list.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, local: Local, area: Rect, buf: &mut Buffer) {
        paint::wipe(area, buf);
        if let Mode::Help(help) = &mut self.mode {
            return help.draw(
                theme,
                keymap,
                "Keys of the list of branches",
                &Screen::Branches.groups(),
                area,
                buf,
            );
        }
        let mut left = area;
        self.draw_title(theme, take_rows(&mut left, 1), buf);
        let columns = usize::from(area.width);
        let head = Line::styled(header(columns), theme.style(Role::Dim));
        paint::line(&head, take_rows(&mut left, 1), buf);
        let foot = if matches!(self.mode, Mode::Label(..)) { 3 } else { 1 };
        let rows = left.height.saturating_sub(foot);
        let list = take_rows(&mut left, rows);
        self.page = usize::from(rows.max(1));
        self.draw_rows(theme, local, list, buf);
        match &mut self.mode {
            Mode::Label(_, prompt) => prompt.draw(theme, keymap, left, buf),
            Mode::Browse | Mode::Help(_) => {
                paint::line(&paint::keys_line(theme, keymap, KEYS, columns), left, buf);
            }
        }
        paint::finish(theme, area, buf);
    }

    fn draw_title(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let name = if self.session_name.is_empty() {
            String::new()
        } else {
            format!(" of \"{}\"", self.session_name)
        };
        let mut left = vec![span(&format!(" Branches{name}"), theme.style(Role::Title))];
        if let Some(query) = &self.query {
            left.extend(paint::query(theme, query, "type to search").spans);
        }
        let hidden = self.rows.iter().filter(|row| row.branch.is_hidden).count();
        let hidden = if hidden > 0 { format!(", {hidden} hidden") } else { String::new() };
        let right =
            Line::styled(format!("{}{hidden} ", count(self.rows.len(), "tip")), theme.style(Role::Muted));
        paint::left_and_right(Line::from(left), &right, area, buf);
    }

    fn draw_rows(&self, theme: Theme, local: Local, area: Rect, buf: &mut Buffer) {
        if self.shown.is_empty() {
            paint::line(&Line::styled("  no branches found", theme.style(Role::Muted)), area, buf);
            return;
        }
        paint::list(theme, self.shown.len(), self.position().unwrap_or(0), area, buf, |at, is_here| {
            self.line(theme, local, self.shown[at], is_here, usize::from(area.width))
        });
    }

    fn line(&self, theme: Theme, local: Local, at: usize, is_here: bool, columns: usize) -> Line<'static> {
        let row = &self.rows[at];
        let dot = if row.branch.is_current { theme.pick("● ", "* ") } else { "  " };
        let bold = if is_here { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        Line::from(vec![
            paint::cursor(theme, is_here),
            Span::styled(dot, theme.style(Role::Accent)),
            Span::styled(format!("{:>2} ", at + 1), theme.style(Role::Dim)),
            span(&left(&row.branch.name, name_width(columns)), bold),
            span(&cells(columns, |column| (column.3)(row, local)), theme.style(Role::Muted)),
            span(&self.marks(theme, row, columns >= NARROW), theme.style(Role::Warning)),
        ])
    }

    /// Returns the marks of a branch, with words where there is room for them.
    fn marks(&self, theme: Theme, row: &BranchRow, in_words: bool) -> String {
        let branch = &row.branch;
        let merged = || {
            let into = self.rows.iter().position(|row| Some(row.branch.tip) == branch.merged_into);
            into.map_or_else(|| "merged".to_owned(), |at| format!("merged into {}", at + 1))
        };
        let marks = [
            (branch.is_current, theme.pick("◀", "<"), "here".to_owned()),
            (branch.merged_into.is_some(), theme.pick("⇢", ">"), merged()),
            (branch.compacted, theme.pick("⌂", "c"), "compacted".to_owned()),
            (branch.ends_in_error, theme.pick("⚠", "!"), "ends in error".to_owned()),
            (branch.is_hidden, theme.pick("∅", "-"), "hidden".to_owned()),
        ];
        let shown = marks.into_iter().filter(|(holds, ..)| *holds);
        match in_words {
            true => shown.map(|(_, sign, words)| format!("  {sign} {words}")).collect(),
            false => shown.map(|(_, sign, _)| format!(" {sign}")).collect(),
        }
    }
}

fn name_width(columns: usize) -> usize {
    if columns < NARROW { columns.saturating_sub(24).clamp(8, 24) } else { 26 }
}

/// Pads a text to the width of its column.
fn left(text: &str, columns: usize) -> String {
    pad(&cut(&clean(text), columns), columns, false)
}

fn header(columns: usize) -> String {
    let name = pad("name", name_width(columns), false);
    let title = |column: &Column| match column.0 {
        "from" | "model" => left(column.0, column.1),
        title => title.to_owned(),
    };
    format!("     # {name}{}", cells(columns, title))
}

/// Returns the cells of a row, or of the header, in a screen of this width.
fn cells(columns: usize, value: impl Fn(&Column) -> String) -> String {
    let shown = COLUMNS.iter().filter(|column| columns >= column.2);
    shown.map(|column| format!("  {}", pad(&value(column), column.1, true))).collect()
}

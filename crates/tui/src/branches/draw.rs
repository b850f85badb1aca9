//! Draws the list of branches. Reads state, writes cells, decides nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use session_tree::BranchRow;

use super::{BranchList, GROUPS, Mode};
use crate::clean::clean;
use crate::keys::{Action, Keymap};
use crate::layout::take_rows;
use crate::numbers::{count, money, tokens};
use crate::paint::{self, span};
use crate::theme::{Role, Theme};
use crate::time::Local;
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

/// From these widths on there is room for where a branch came from, and for its model.
const WITH_ORIGIN: usize = 90;
const WITH_MODEL: usize = 110;
/// Below this width only name, turns and age are told.
const NARROW: usize = 60;

impl BranchList {
    /// Draws the list.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, local: Local, area: Rect, buf: &mut Buffer) {
        paint::wipe(area, buf);
        if let Mode::Help(help) = &mut self.mode {
            return help.draw(theme, keymap, "Keys of the list of branches", GROUPS, area, buf);
        }
        let mut left = area;
        self.draw_title(theme, take_rows(&mut left, 1), buf);
        let columns = usize::from(area.width);
        let head = Line::styled(header(columns), theme.style(Role::Dim));
        paint::line(&head, take_rows(&mut left, 1), buf);
        let foot = if matches!(self.mode, Mode::Label(..)) { 3 } else { 1 };
        let rows = usize::from(left.height.saturating_sub(foot));
        let list = take_rows(&mut left, rows);
        self.page = rows.max(1);
        self.draw_rows(theme, local, list, buf);
        match &self.mode {
            Mode::Label(_, prompt) => prompt.draw(theme, keymap, left, buf),
            Mode::Browse | Mode::Search | Mode::Help(_) => {
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
        if matches!(self.mode, Mode::Search) || !self.query.is_empty() {
            left.push(Span::styled(theme.pick("  ⌕ ", "  / "), theme.style(Role::Accent)));
            left.push(span(&self.query, theme.style(Role::Text)));
            left.push(Span::styled(theme.pick("▏", "_"), theme.style(Role::Accent)));
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
        let height = usize::from(area.height);
        let at = self.position().unwrap_or(0);
        let first = at.saturating_sub(height / 2).min(self.shown.len().saturating_sub(height));
        let rows = self.shown.iter().enumerate().skip(first);
        for ((number, row), y) in rows.zip(area.top()..area.bottom()) {
            let place = Rect { y, height: 1, ..area };
            if number == at {
                paint::tint(theme.style(Role::Selection), place, buf);
            }
            let line = self.line(theme, local, *row, number == at, usize::from(area.width));
            paint::line(&paint::shorten(line, usize::from(area.width)), place, buf);
        }
    }

    fn line(&self, theme: Theme, local: Local, at: usize, here: bool, columns: usize) -> Line<'static> {
        let row = &self.rows[at];
        let cursor = if here { theme.pick("› ", "> ") } else { "  " };
        let dot = if row.branch.is_current { theme.pick("● ", "* ") } else { "  " };
        let bold = if here { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let cells = cells(row, local, columns);
        Line::from(vec![
            Span::styled(cursor, theme.style(Role::Accent)),
            Span::styled(dot, theme.style(Role::Accent)),
            Span::styled(format!("{:>2} ", at + 1), theme.style(Role::Dim)),
            span(&cell(&row.branch.name, name_width(columns)), bold),
            span(&cells, theme.style(Role::Muted)),
            span(&self.marks(theme, row, columns >= NARROW), theme.style(Role::Warning)),
        ])
    }

    /// What is special about a branch; in words where there is room for them.
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
        let told = marks.into_iter().filter(|(holds, ..)| *holds);
        match in_words {
            true => told.map(|(_, sign, words)| format!("  {sign} {words}")).collect(),
            false => told.map(|(_, sign, _)| format!(" {sign}")).collect(),
        }
    }
}

fn name_width(columns: usize) -> usize {
    if columns < NARROW { columns.saturating_sub(24).clamp(8, 24) } else { 26 }
}

fn cell(text: &str, columns: usize) -> String {
    pad(&cut(&clean(text), columns), columns, false)
}

fn header(columns: usize) -> String {
    let mut head = format!("     # {}", pad("name", name_width(columns), false));
    if columns >= WITH_ORIGIN {
        head.push_str(&format!("  {}", pad("from", 16, false)));
    }
    head.push_str("  turns");
    if columns >= NARROW {
        head.push_str("  tokens    cost");
    }
    if columns >= WITH_MODEL {
        head.push_str(&format!("  {}", pad("model", 16, false)));
    }
    head + "  last"
}

/// The figures of a branch, below their headings.
fn cells(row: &BranchRow, local: Local, columns: usize) -> String {
    let mut cells = String::new();
    if columns >= WITH_ORIGIN {
        cells.push_str(&format!("  {}", cell(row.branch.from.as_deref().unwrap_or_default(), 16)));
    }
    cells.push_str(&format!("  {:>5}", row.branch.turns));
    let own = &row.figures.own;
    if columns >= NARROW {
        cells.push_str(&format!("  {:>6}  {:>6}", tokens(own.usage.total), money(own.usage.cost)));
    }
    if columns >= WITH_MODEL {
        let model = own.last_model.as_ref().map(|model| model.model_id.as_str()).unwrap_or_default();
        cells.push_str(&format!("  {}", cell(model, 16)));
    }
    cells.push_str(&format!("  {:>4}", local.age(row.branch.last_activity)));
    cells
}

//! The footer: where we are, in which branch, what it cost, and which model answers. Two rows, always there.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::clean::clean;
use crate::numbers::{money, tokens};
use crate::paint;
use crate::theme::{Role, Theme};
use crate::width::{cut, width};

/// How many rows the footer takes.
pub(crate) const HEIGHT: u16 = 2;

/// Narrower terminals do without the name of the service.
const ROOMY: u16 = 60;

/// The contents of the footer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Footer {
    /// The working directory, with the home spelled `~`.
    pub cwd: String,
    /// The branch of git.
    pub git_branch: Option<String>,
    /// The name of the session.
    pub session: Option<String>,
    /// The branch of the session.
    pub branch: Option<BranchPlace>,
    /// Tokens sent, of all branches.
    pub input: u64,
    /// Tokens received, of all branches.
    pub output: u64,
    /// Tokens read from caches, of all branches.
    pub cached: u64,
    /// The cost of all branches.
    pub cost: f64,
    /// Tokens of the context; nothing if they are not known.
    pub context: Option<u64>,
    /// Tokens that the model has room for.
    pub window: u64,
    /// The service of the model.
    pub provider: String,
    /// The model; nothing if none is chosen.
    pub model: Option<String>,
    /// How hard it thinks; nothing if it does not think at all.
    pub thinking: Option<String>,
    /// Something to know about the session: that others work in it, that it is only read.
    pub remark: Option<String>,
}

/// Which branch it is, of how many.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BranchPlace {
    /// The name.
    pub name: String,
    /// Its number, from one.
    pub number: usize,
    /// How many there are.
    pub count: usize,
}

impl Footer {
    /// Draws the footer.
    pub fn draw(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let row = |nth: u16| Rect { y: area.y + nth, height: 1, ..area };
        if area.height > 0 {
            paint::left_and_right(self.place(theme), &self.branch_line(theme, area.width), row(0), buf);
        }
        if area.height > 1 {
            let model = self.model_line(theme, area.width);
            let room = usize::from(area.width).saturating_sub(model.width() + 1);
            paint::left_and_right(self.figures(theme, room), &model, row(1), buf);
        }
    }

    fn place(&self, theme: Theme) -> Line<'static> {
        let muted = theme.style(Role::Muted);
        let mut spans = vec![paint::span(&self.cwd, muted)];
        if let Some(branch) = &self.git_branch {
            spans.push(paint::span(&format!(" ({branch})"), muted));
        }
        for (text, role) in [(&self.session, Role::Text), (&self.remark, Role::Warning)] {
            if let Some(text) = text {
                spans.push(Span::styled(theme.pick(" • ", " - "), theme.style(Role::Dim)));
                spans.push(paint::span(text, theme.style(role)));
            }
        }
        Line::from(spans)
    }

    fn branch_line(&self, theme: Theme, columns: u16) -> Line<'static> {
        let Some(BranchPlace { name, number, count }) = &self.branch else { return Line::default() };
        let place = format!("branch {number}/{count}");
        let room = usize::from(columns / 3).max(6);
        let mut spans = vec![Span::styled(place, theme.style(Role::Accent))];
        if !name.is_empty() {
            let name = clean(name).into_owned();
            spans.push(Span::styled(theme.pick(" · ", " - "), theme.style(Role::Dim)));
            spans.push(Span::styled(cut(&name, room).into_owned(), theme.style(Role::Muted)));
        }
        Line::from(spans)
    }

    /// Context, cost and tokens, the most important first; what does not fit whole is left out.
    fn figures(&self, theme: Theme, room: usize) -> Line<'static> {
        let mut line = Line::default();
        if self.window > 0 {
            let percent = self.context.map(|used| used as f64 * 100.0 / self.window as f64);
            let role = match percent {
                Some(percent) if percent > 90.0 => Role::Error,
                Some(percent) if percent > 70.0 => Role::Warning,
                _ => Role::Muted,
            };
            let share = percent.map_or_else(|| "?".to_owned(), |percent| format!("{percent:.1}%"));
            let text = format!("context {share} of {}", tokens(self.window));
            line.push_span(Span::styled(text, theme.style(role)));
        }
        let (up, down) = (theme.pick("↑", "in "), theme.pick("↓", "out "));
        let sums = format!("{up}{} {down}{}", tokens(self.input), tokens(self.output));
        let cached = (self.cached > 0).then(|| format!("cached {}", tokens(self.cached)));
        let mut between = if line.spans.is_empty() { "" } else { theme.pick(" · ", " - ") };
        for piece in [money(self.cost), sums].into_iter().chain(cached) {
            if line.width() + width(between) + width(&piece) > room {
                break;
            }
            line.push_span(Span::styled(between, theme.style(Role::Dim)));
            line.push_span(Span::styled(piece, theme.style(Role::Muted)));
            between = " ";
        }
        line
    }

    fn model_line(&self, theme: Theme, columns: u16) -> Line<'static> {
        let Some(model) = &self.model else {
            return Line::styled("no model: /model", theme.style(Role::Warning));
        };
        let mut spans = vec![paint::span(model, theme.style(Role::Muted))];
        if columns >= ROOMY {
            spans.insert(0, paint::span(&format!("{}/", self.provider), theme.style(Role::Dim)));
        }
        if let Some(level) = &self.thinking {
            spans.push(Span::styled(theme.pick(" • ", " - "), theme.style(Role::Dim)));
            spans.push(paint::span(level, theme.style(Role::Muted)));
        }
        let line = Line::from(spans);
        if width(&self.provider) + width(model) > 60 { paint::shorten(line, 60) } else { line }
    }
}

#[cfg(test)]
mod tests;

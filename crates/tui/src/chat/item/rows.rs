//! Items as rows: how each thing of a conversation is drawn. Reads items, decides nothing.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Item, ShellItem, Tone, ToolItem, ToolState, capped, tool};
use crate::chat::highlight::CodeCache;
use crate::chat::markdown;
use crate::clean::{clean, clean_lines};
use crate::numbers;
use crate::theme::{Role, Theme};
use crate::wrap::{Margin, wrap};

/// How many rows of output show while the rest is folded.
const OUTPUT_ROWS: usize = 6;
/// How many rows of a difference show while the rest is folded.
const DIFF_ROWS: usize = 24;
/// How many rows of a summary show while the rest is folded.
const SUMMARY_ROWS: usize = 12;

/// How items are drawn.
#[derive(Debug, Clone)]
pub struct ItemStyle {
    /// The theme.
    pub theme: Theme,
    /// Whether long parts show in full.
    pub is_expanded: bool,
    /// Whether thoughts show.
    pub shows_thinking: bool,
    /// The text in place of thoughts that are hidden.
    pub thinking_label: Option<String>,
    /// The key that shows folded parts in full.
    pub expand_key: String,
}

impl ItemStyle {
    /// Makes a look with everything folded.
    pub fn new(theme: Theme) -> Self {
        ItemStyle {
            theme,
            is_expanded: false,
            shows_thinking: true,
            thinking_label: None,
            expand_key: "Ctrl+O".to_owned(),
        }
    }

    fn limit(&self, folded: usize) -> usize {
        if self.is_expanded { usize::MAX } else { folded }
    }
}

/// Draws an item as rows of at most `columns`. An item that is hidden has none.
pub fn rows(
    item: &Item,
    columns: usize,
    item_style: &ItemStyle,
    codes: &mut CodeCache,
) -> Vec<Line<'static>> {
    let mut pen =
        RowWriter { columns: columns.max(8), item_style, theme: item_style.theme, codes, out: Vec::new() };
    match item {
        Item::Prompt { text, images } => pen.prompt(text, *images),
        Item::Text(text) => pen.markdown(text, &Margin::default(), Style::new(), usize::MAX),
        Item::Thinking(text) => pen.thinking(text),
        Item::Tool(tool) => pen.tool(tool),
        Item::Shell(shell) => pen.shell(shell),
        Item::Custom { kind, text } => pen.custom(kind, text),
        Item::Summary { title, text } => pen.summary(title, text),
        Item::Setting(text) => pen.plain(text, Role::Dim),
        Item::Notice(tone, text) => pen.notice(*tone, text),
        Item::Divider(title) => pen.divider(title),
        Item::Drawn(lines) => pen.out.extend(lines.iter().cloned()),
    }
    pen.out
}

struct RowWriter<'a> {
    columns: usize,
    item_style: &'a ItemStyle,
    theme: Theme,
    codes: &'a mut CodeCache,
    out: Vec<Line<'static>>,
}

impl RowWriter<'_> {
    fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    fn plain(&mut self, text: &str, role: Role) {
        let style = self.style(role);
        self.lines(text, style, &Margin::default());
    }

    /// Draws text line by line.
    fn lines(&mut self, text: &str, style: Style, margin: &Margin) {
        let below = Margin { first: margin.rest.clone(), rest: margin.rest.clone() };
        for (nth, line) in clean_lines(&capped(text)).enumerate() {
            let margin = if nth == 0 { margin } else { &below };
            wrap(&[Span::styled(line.into_owned(), style)], self.columns, margin, &mut self.out);
        }
    }

    fn prompt(&mut self, text: &str, images: usize) {
        let theme = self.theme;
        let bar = Span::styled(theme.pick("▌ ", "> "), theme.style(Role::Accent));
        let from = self.out.len();
        let shown = match (text.trim_end(), images) {
            ("", 0) => "(empty)".to_owned(),
            (text, 0) => text.to_owned(),
            (text, images) => format!(
                "{text}{}[{}]",
                if text.is_empty() { "" } else { "\n" },
                numbers::count(images, "image")
            ),
        };
        self.lines(&shown, theme.style(Role::Text), &Margin::same(bar));
        self.fill(from, theme.style(Role::UserMessage));
    }

    /// Draws Markdown, at most `most` rows of it.
    fn markdown(&mut self, text: &str, margin: &Margin, style: Style, most: usize) {
        let text = capped(text.trim());
        let inside: usize = margin.rest.iter().map(Span::width).sum();
        let room = self.columns.saturating_sub(inside);
        let rows = markdown::rows(&text, room, self.theme, self.codes);
        let left_out = rows.len().saturating_sub(most);
        for (nth, row) in rows.into_iter().take(most).enumerate() {
            let mut spans = if nth == 0 { margin.first.clone() } else { margin.rest.clone() };
            // The style of the block fills in what the text leaves open.
            spans.extend(
                row.spans.into_iter().map(|span| Span::styled(span.content, style.patch(span.style))),
            );
            self.out.push(Line::from(spans).style(row.style));
        }
        self.note_folded(left_out);
    }

    fn thinking(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let style = self.style(Role::Thinking);
        if !self.item_style.shows_thinking && !self.item_style.is_expanded {
            let label = self.item_style.thinking_label.as_deref().unwrap_or("Thinking…");
            return self.plain(label, Role::Thinking);
        }
        self.lines(text.trim(), style, &Margin::same(Span::raw("  ")));
    }

    fn tool(&mut self, tool: &ToolItem) {
        let (mark, role) = match tool.state {
            ToolState::Running => (self.theme.pick("◌ ", "o "), Role::Accent),
            ToolState::Done => (self.theme.pick("● ", "* "), Role::Success),
            ToolState::Failed => (self.theme.pick("✗ ", "x "), Role::Error),
            ToolState::Interrupted => (self.theme.pick("○ ", "- "), Role::Warning),
        };
        let arguments = tool::arguments(tool);
        self.title(mark, role, &tool.name, &tool::subject(&tool.name, &arguments));
        match (&tool.diff, tool.name.as_str()) {
            (Some(diff), _) if !diff.is_empty() && tool.state != ToolState::Failed => self.diff(diff),
            (_, "write") if tool.state != ToolState::Failed => {
                let content = arguments.get("content").and_then(serde_json::Value::as_str);
                self.output(content.unwrap_or(&tool.output), false, false);
            }
            (_, "read" | "ls" | "find" | "grep")
                if tool.state == ToolState::Done && !self.item_style.is_expanded =>
            {
                self.out.push(self.note(&numbers::count(tool.output.lines().count(), "line")));
            }
            _ => self.output(&tool.output, tool.name == "bash", tool.state == ToolState::Failed),
        }
        if tool.images > 0 {
            let images = format!("  [{}]", numbers::count(tool.images, "image"));
            self.plain(&images, Role::Muted);
        }
        if tool.state == ToolState::Interrupted {
            self.plain("  interrupted: no result", Role::Warning);
        }
    }

    fn title(&mut self, mark: &'static str, role: Role, name: &str, subject: &str) {
        let spans = [
            Span::styled(format!("{} ", clean(name)), self.style(Role::ToolTitle)),
            Span::styled(clean(subject).into_owned(), self.style(Role::Text)),
        ];
        let margin = Margin::mark(Span::styled(mark, self.style(role)));
        let mut rows = Vec::new();
        wrap(&spans, self.columns, &margin, &mut rows);
        rows.truncate(self.item_style.limit(4));
        self.out.extend(rows);
    }

    /// Draws what a tool returned: of a command the end, of anything else the beginning.
    fn output(&mut self, text: &str, is_end: bool, is_error: bool) {
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        let style = self.style(if is_error { Role::Error } else { Role::ToolOutput });
        let margin = self.guide();
        let from = self.out.len();
        self.lines(text, style, &margin);
        let most = self.item_style.limit(OUTPUT_ROWS);
        let all = self.out.len() - from;
        if all <= most.saturating_add(1) {
            return;
        }
        match is_end {
            true => drop(self.out.drain(from..self.out.len() - most)),
            false => self.out.truncate(from + most),
        }
        let note = self.folded(all - most, if is_end { "above" } else { "more" });
        self.out.insert(if is_end { from } else { self.out.len() }, note);
    }

    fn guide(&self) -> Margin {
        Margin::same(Span::styled(self.theme.pick("│ ", "| "), self.style(Role::Border)))
    }

    fn folded(&self, rows: usize, word: &str) -> Line<'static> {
        self.note(&format!("… {} {word}", numbers::count(rows, "row")))
    }

    /// Makes a row that names the key for the rest.
    fn note(&self, text: &str) -> Line<'static> {
        let mut spans = self.guide().first;
        spans.push(Span::styled(format!("{text} · {}", self.item_style.expand_key), self.style(Role::Dim)));
        Line::from(spans)
    }

    /// Says how many rows are folded, if there are any.
    fn note_folded(&mut self, rows: usize) {
        if rows > 0 {
            let note = self.folded(rows, "more");
            self.out.push(note);
        }
    }

    fn diff(&mut self, diff: &str) {
        let diff = capped(diff);
        let margin = self.guide();
        let most = self.item_style.limit(DIFF_ROWS);
        let from = self.out.len();
        for line in clean_lines(&diff) {
            let role = Role::of_diff(&line);
            wrap(&[Span::styled(line.into_owned(), self.style(role))], self.columns, &margin, &mut self.out);
        }
        let left_out = (self.out.len() - from).saturating_sub(most);
        self.out.truncate(from.saturating_add(most));
        self.note_folded(left_out);
    }

    fn shell(&mut self, shell: &ShellItem) {
        let mark = if shell.is_private { "!! " } else { "! " };
        self.title(mark, Role::Shell, &shell.command, "");
        self.output(&shell.output, true, false);
        let end = match (shell.is_running, shell.is_cancelled, shell.exit_code) {
            (true, ..) | (_, false, Some(0)) => None,
            (_, true, _) => Some("stopped".to_owned()),
            (_, _, Some(code)) => Some(format!("exit code {code}")),
            (_, _, None) => Some("ended by a signal".to_owned()),
        };
        if let Some(end) = end {
            self.plain(&format!("  {end}"), Role::Error);
        }
        if shell.is_private && !shell.is_running {
            self.plain("  not sent to the model", Role::Dim);
        }
    }

    fn custom(&mut self, kind: &str, text: &str) {
        let from = self.out.len();
        let label = format!("[{}]", clean(kind));
        self.out.push(Line::from(vec![Span::raw(" "), Span::styled(label, self.style(Role::CustomLabel))]));
        let most = self.item_style.limit(SUMMARY_ROWS * 2);
        let style = self.style(Role::CustomText);
        self.markdown(text, &Margin::same(Span::raw(" ")), style, most);
        self.fill(from, self.style(Role::CustomMessage));
    }

    fn summary(&mut self, title: &str, text: &str) {
        let style = self.style(Role::Warning);
        self.lines(title, style, &Margin::mark(Span::styled(self.theme.pick("◆ ", "# "), style)));
        let margin = self.guide();
        self.markdown(text, &margin, Style::new(), self.item_style.limit(SUMMARY_ROWS));
    }

    fn notice(&mut self, tone: Tone, text: &str) {
        let (mark, role) = tone.mark(self.theme);
        let text_role = if tone == Tone::Error { Role::Error } else { Role::Muted };
        let style = self.style(text_role);
        self.lines(text, style, &Margin::mark(Span::styled(mark, self.style(role))));
    }

    fn divider(&mut self, title: &str) {
        let dash = self.theme.pick("─", "-");
        let title = clean(title);
        let title = crate::width::cut(&title, self.columns.saturating_sub(6));
        let rest = self.columns.min(100).saturating_sub(crate::width::width(&title) + 5);
        self.out.push(Line::from(vec![
            Span::styled(dash.repeat(2), self.style(Role::Border)),
            Span::styled(format!(" {title} "), self.style(Role::Accent)),
            Span::styled(dash.repeat(rest), self.style(Role::Border)),
        ]));
    }

    /// Puts a background behind rows; it reaches to the edge of the terminal.
    fn fill(&mut self, from: usize, style: Style) {
        for row in &mut self.out[from..] {
            row.style = style.patch(row.style);
        }
    }
}

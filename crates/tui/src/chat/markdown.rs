//! Markdown as rows of styled text: what models answer, and the summaries they make.
//!
//! text -> events (pulldown-cmark) -> **rows**
//!
//! HTML is text like any other. Links show where they lead. Every text goes through [`clean`](crate::clean).

mod table;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::highlight::CodeCache;
use crate::clean::{clean, clean_lines};
use crate::theme::{Role, Theme};
use crate::wrap::{Margin, without_end_blanks, wrap};
use table::Table;

/// The maximum depth of indented containers.
const DEEPEST: usize = 12;

/// Draws Markdown as rows of at most `columns`.
///
/// `codes` remembers what was read of code, so that a text that grows is not read again.
pub fn rows(text: &str, columns: usize, theme: Theme, codes: &mut CodeCache) -> Vec<Line<'static>> {
    let mut writer = Writer {
        theme,
        columns: columns.max(4),
        codes,
        out: Vec::new(),
        inline: Vec::new(),
        styles: vec![theme.style(Role::Text)],
        containers: Vec::new(),
        items: 0,
        drawn: 0,
        link: None,
        code: None,
        table: None,
        pieces: 0,
        is_apart: false,
    };
    for event in Parser::new_ext(text, options()) {
        writer.take(event);
    }
    writer.flush();
    writer.out
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Returns where the last block of a text begins: what stands before it no longer changes when the text grows.
pub(crate) fn stable_end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut last = 0;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    last = range.start;
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => last = range.start,
            _ => {}
        }
    }
    last
}

/// Something that other blocks stand in.
#[derive(Debug)]
enum Container {
    Quote,
    /// A list and its next number, if it has numbers.
    List(Option<u64>),
    /// An item, its mark, and whether the mark was drawn.
    Item {
        mark: String,
        is_drawn: bool,
    },
}

struct Writer<'a> {
    theme: Theme,
    columns: usize,
    codes: &'a mut CodeCache,
    out: Vec<Line<'static>>,
    inline: Vec<Span<'static>>,
    styles: Vec<Style>,
    containers: Vec<Container>,
    /// The number of containers that are items, and of those drawn from the outermost on. Counting them again for each
    /// of a hundred thousand quotations would be slow.
    items: usize,
    drawn: usize,
    link: Option<(String, usize)>,
    code: Option<(String, String)>,
    table: Option<Table>,
    /// How many pieces of code there were.
    pieces: usize,
    /// Whether the next block is to stand apart from the last.
    is_apart: bool,
}

impl Writer<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                let style = self.style().patch(self.theme.style(Role::Code));
                self.push(&code, style);
            }
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::SoftBreak => self.push(" ", self.style()),
            Event::HardBreak => self.flush(),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }, self.style()),
            Event::FootnoteReference(name) => self.push(&format!("[{name}]"), self.style()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { level, .. } => self.begin_heading(level),
            Tag::BlockQuote(_) => self.open(Container::Quote),
            Tag::CodeBlock(kind) => self.begin_code(&kind),
            Tag::List(first) => self.open(Container::List(first)),
            Tag::Item => self.begin_item(),
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table::new(alignments.len()));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.next_row();
                }
            }
            Tag::TableCell => self.inline.clear(),
            Tag::Emphasis => self.emphasize(Modifier::ITALIC),
            Tag::Strong => self.emphasize(Modifier::BOLD),
            Tag::Strikethrough => self.emphasize(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.inline.len()));
                self.styles.push(self.style().patch(self.theme.style(Role::Link)));
            }
            Tag::Image { dest_url, .. } => {
                self.push("[image: ", self.style());
                self.link = Some((dest_url.into_string(), self.inline.len()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) => self.close(),
            TagEnd::Item => self.end_item(),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link => {
                self.styles.pop();
                self.end_link();
            }
            TagEnd::Image => {
                self.link = None;
                self.push("]", self.style());
            }
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn emphasize(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            return code.push_str(text);
        }
        let style = self.style();
        for (nth, line) in text.split('\n').enumerate() {
            if nth > 0 && !self.inline.is_empty() {
                self.flush();
            }
            self.push(line, style);
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        if !text.is_empty() {
            self.inline.push(Span::styled(clean(text).into_owned(), style));
        }
    }

    /// Adds the target of a link, unless it is the text.
    fn end_link(&mut self) {
        let Some((target, from)) = self.link.take() else { return };
        let said: String = self.inline.iter().skip(from).map(|span| span.content.as_ref()).collect();
        if said != clean(&target) && !target.is_empty() {
            self.push(&format!(" ({target})"), self.theme.style(Role::Dim));
        }
    }

    fn begin_heading(&mut self, level: HeadingLevel) {
        self.begin_block();
        let mut style = self.theme.style(Role::Heading);
        if level == HeadingLevel::H1 {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        self.styles.push(style);
    }

    fn open(&mut self, container: Container) {
        self.flush();
        if self.items == 0 {
            self.begin_block();
        }
        self.containers.push(container);
        self.is_apart = false;
    }

    fn close(&mut self) {
        self.flush();
        self.pop_container();
        self.is_apart = self.items == 0;
    }

    fn begin_item(&mut self) {
        self.flush();
        let mark = match self.containers.last_mut() {
            Some(Container::List(Some(number))) => {
                *number = number.saturating_add(1);
                format!("{}. ", number.saturating_sub(1))
            }
            _ => self.theme.pick("• ", "- ").to_owned(),
        };
        self.containers.push(Container::Item { mark, is_drawn: false });
        self.items += 1;
    }

    fn end_item(&mut self) {
        if matches!(self.containers.last(), Some(Container::Item { is_drawn: false, .. })) {
            self.flush_always();
        }
        self.flush();
        self.pop_container();
        self.items = self.items.saturating_sub(1);
        self.is_apart = false;
    }

    fn pop_container(&mut self) {
        self.containers.pop();
        self.drawn = self.drawn.min(self.containers.len());
    }

    /// Leaves a row free before a block that stands apart.
    fn begin_block(&mut self) {
        self.flush();
        if self.is_apart && !self.out.is_empty() {
            let row = without_end_blanks(self.margin().rest);
            self.out.push(Line::from(row));
        }
        self.is_apart = false;
    }

    fn end_block(&mut self) {
        self.flush();
        self.is_apart = true;
    }

    fn begin_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.begin_block();
        let language = match kind {
            CodeBlockKind::Indented => "",
            CodeBlockKind::Fenced(language) => language,
        };
        self.code = Some((language.to_owned(), String::new()));
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let cleaned: Vec<_> = clean_lines(&code).collect();
        let mut lines: Vec<&str> = cleaned.iter().map(AsRef::as_ref).collect();
        let parts = self.codes.parts(self.pieces, &language, &lines);
        self.pieces += 1;
        if lines.last() == Some(&"") {
            lines.pop();
        }
        for (line, parts) in lines.iter().zip(parts) {
            let mut margin = self.margin();
            margin.first.push(Span::raw("  "));
            margin.rest.push(Span::raw("    "));
            let spans: Vec<Span<'static>> = parts
                .into_iter()
                .map(|(range, role)| Span::styled(line[range].to_owned(), self.theme.style(role)))
                .collect();
            wrap(&spans, self.columns, &margin, &mut self.out);
            self.note_drawn();
        }
        self.is_apart = true;
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let margin = self.margin();
        let used: usize = margin.rest.iter().map(Span::width).sum();
        for row in table.rows(self.columns.saturating_sub(used), self.theme) {
            let margin = self.margin();
            wrap(&row, self.columns, &margin, &mut self.out);
            self.note_drawn();
        }
        self.is_apart = true;
    }

    fn rule(&mut self) {
        self.begin_block();
        let dash = self.theme.pick("─", "-").repeat(self.columns.min(40));
        self.out.push(Line::styled(dash, self.theme.style(Role::Border)));
        self.is_apart = true;
    }

    /// Draws what was collected, if there is something.
    fn flush(&mut self) {
        if !self.inline.is_empty() && self.table.is_none() {
            self.flush_always();
        }
    }

    fn flush_always(&mut self) {
        let spans = std::mem::take(&mut self.inline);
        let margin = self.margin();
        wrap(&spans, self.columns, &margin, &mut self.out);
        self.note_drawn();
    }

    /// Returns the start of the next rows: bars of quotations, the mark of a new item.
    fn margin(&self) -> Margin {
        let mut margin = Margin::default();
        for container in self.containers.iter().take(DEEPEST) {
            match container {
                Container::List(_) => {}
                Container::Quote => {
                    let bar = Span::styled(self.theme.pick("│ ", "| "), self.theme.style(Role::Quote));
                    margin.first.push(bar.clone());
                    margin.rest.push(bar);
                }
                Container::Item { mark, is_drawn } => {
                    let blanks = Span::raw(" ".repeat(mark.chars().count()));
                    let shown = Span::styled(mark.clone(), self.theme.style(Role::Accent));
                    margin.first.push(if *is_drawn { blanks.clone() } else { shown });
                    margin.rest.push(blanks);
                }
            }
        }
        margin
    }

    fn note_drawn(&mut self) {
        for container in &mut self.containers[self.drawn..] {
            if let Container::Item { is_drawn, .. } = container {
                *is_drawn = true;
            }
        }
        self.drawn = self.containers.len();
    }
}

#[cfg(test)]
mod tests;
